"""Helm releases and namespaces, registered in one way for every component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from fleet.kubernetes.labels import PRIVILEGED
from fleet.kubernetes.releases import Release


def install(
    logical_name: str,
    release: Release[Any],
    opts: pulumi.ResourceOptions,
    *,
    depends_on: Sequence[pulumi.Resource],
    wiring: Mapping[str, pulumi.Input[Any]] | None = None,
) -> kubernetes.helm.v3.Release:
    """Register a release. Helm waits until it is ready and does not roll back a failed change.

    `wiring` adds top-level values that come from other resources; never a secret value.
    A change of `release.replaced_on` deletes before it creates: one name admits one release.
    """
    return kubernetes.helm.v3.Release(
        logical_name,
        name=release.name,
        namespace=release.namespace,
        chart=release.chart,
        repository_opts=({"repo": release.repository} if release.repository is not None else None),
        version=release.version,
        values={**release.values, **(wiring or {})},
        timeout=release.timeout_s,
        skip_crds=release.skip_crds,
        atomic=False,
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                depends_on=list(depends_on),
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
    depends_on: Sequence[pulumi.Resource],
    privileged: bool = False,
    exists: bool = False,
) -> kubernetes.core.v1.Namespace:
    """Register a namespace; `privileged` admits privileged pods (Pod Security Admission).

    One that `exists` is only read: the engine fails if it is missing, and never deletes it. If this
    program made it earlier, the engine gives it up, because name and ID stay the same
    (pulumi/pulumi pkg/resource/deploy/step_generator.go, GenerateReadSteps).
    """
    opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(depends_on)))
    if exists:
        return kubernetes.core.v1.Namespace.get(logical_name, name, opts=opts)
    labels = {"app.kubernetes.io/managed-by": "pulumi"}
    if privileged:
        labels |= PRIVILEGED
    return kubernetes.core.v1.Namespace(
        logical_name,
        metadata={"name": name, "labels": labels},
        opts=opts,
    )
