"""The one way this program installs a chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from fleet.kubernetes.releases import Release


def install(
    logical_name: str,
    release: Release[Any],
    opts: pulumi.ResourceOptions,
    *,
    after: list[pulumi.Resource],
    wiring: Mapping[str, pulumi.Input[Any]] | None = None,
) -> kubernetes.helm.v3.Release:
    """Register a release; Helm waits for it, and nothing is rolled back half way.

    `wiring` adds top-level values that come from other resources, never a secret one.
    `replaced_on` deletes before it replaces: two releases of one name cannot stand side by side.
    """
    return kubernetes.helm.v3.Release(
        logical_name,
        name=release.name,
        namespace=release.namespace,
        chart=release.chart,
        repository_opts=(
            kubernetes.helm.v3.RepositoryOptsArgs(repo=release.repository)
            if release.repository is not None
            else None
        ),
        version=release.version,
        values={**release.values, **(wiring or {})},
        timeout=release.timeout_s,
        skip_crds=release.skip_crds,
        atomic=False,
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                depends_on=after,
                replace_on_changes=list(release.replaced_on) or None,
                delete_before_replace=True if release.replaced_on else None,
            ),
        ),
    )


def namespace(
    logical_name: str,
    name: str,
    opts: pulumi.ResourceOptions,
    *,
    after: list[pulumi.Resource],
    privileged: bool = False,
) -> kubernetes.core.v1.Namespace:
    """Register a namespace; `privileged` lets pods through Pod Security Admission."""
    labels = {"app.kubernetes.io/managed-by": "pulumi"}
    if privileged:
        labels["pod-security.kubernetes.io/enforce"] = "privileged"
    return kubernetes.core.v1.Namespace(
        logical_name,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(name=name, labels=labels),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=after)),
    )
