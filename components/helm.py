"""Helm charts and namespaces, registered in one way for every component."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pulumi
import pulumi_kubernetes as kubernetes

from fleet.kubernetes.labels import PRIVILEGED
from fleet.kubernetes.releases import Release

SCALE_SET = "kubernetes:actions.github.com/v1alpha1:AutoscalingRunnerSet"
MANAGER = "kubernetes:apps/v1:Deployment"

_OF_A_SET = {
    # ARC writes the id once GitHub knows the set, and the phase once it has asked for the listener;
    # whether the listener's pod runs, it does not write
    # (actions/actions-runner-controller autoscalingrunnerset_controller.go).
    "pulumi.com/waitFor": json.dumps(
        [
            "jsonpath={.metadata.annotations.runner-scale-set-id}",
            "jsonpath={.status.phase}=Running",
        ]
    ),
    # The provider deletes in the foreground by default. Then Kubernetes deletes the dependents
    # first, down to the pods of running jobs; ARC would have let them end
    # (kubernetes pkg/controller/garbagecollector/garbagecollector.go, attemptToDeleteItem).
    "pulumi.com/deletionPropagationPolicy": "background",
}
"""Annotations of a scale set, which the provider reads."""

_REMOVAL_S = 120
"""Time to remove a set or a manager without jobs."""


def install(
    logical_name: str,
    release: Release[Any],
    opts: pulumi.ResourceOptions,
    *,
    depends_on: Sequence[pulumi.Resource],
) -> kubernetes.helm.v3.Release:
    """Register a release. Helm waits until it is ready and does not roll back a failed change."""
    return kubernetes.helm.v3.Release(
        logical_name,
        **_chart(release),
        values=release.values,
        timeout=release.timeout_s,
        atomic=False,
        opts=pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(depends_on=list(depends_on))
        ),
    )


def install_lane(
    logical_name: str,
    release: Release[Any],
    opts: pulumi.ResourceOptions,
    *,
    depends_on: Sequence[pulumi.Resource],
    wiring: Mapping[str, pulumi.Input[Any]] | None = None,
) -> kubernetes.helm.v4.Chart:
    """Register each object of a lane's chart as a resource, without a release of Helm.

    Helm's record of a release is a second state: a failed uninstall purges it, a killed install
    blocks its name, and it does not show that an object is gone. As resources, objects that are
    gone are found by a refresh and made again, and a deletion that waits for running jobs can be
    repeated (https://github.com/pulumi/pulumi-kubernetes/issues/2817).
    `wiring` adds top-level values that come from other resources; never a secret value.
    """
    return kubernetes.helm.v4.Chart(
        logical_name,
        **_chart(release),
        values={**release.values, **(wiring or {})},
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(depends_on=list(depends_on), transforms=[_waits(release)]),
        ),
    )


def _chart(release: Release[Any]) -> dict[str, Any]:
    """Return the arguments that name the chart and its place in the cluster."""
    return {
        "name": release.name,
        "namespace": release.namespace,
        "chart": release.chart,
        "repository_opts": {"repo": release.repository} if release.repository is not None else None,
        "version": release.version,
        "skip_crds": release.skip_crds,
    }


def _waits(release: Release[Any]) -> pulumi.ResourceTransform:
    """Return a function that says how long the objects of a lane are waited for.

    A scale set is created once GitHub knows it and ARC starts its listener. A deletion waits for
    the running jobs: ARC keeps the set until then, and also its accounts and roles, whose
    finalizers it removes last. A manager's pods end after their last job.
    """
    created = f"{release.timeout_s}s"
    removed = f"{(release.drain_s or 0) + _REMOVAL_S}s"
    timeouts = pulumi.CustomTimeouts(create=created, update=created, delete=removed)

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if not args.custom:
            return None
        props = cast("dict[str, Any]", dict(args.props))
        if args.type_ == SCALE_SET:
            annotations = {**props["metadata"].get("annotations", {}), **_OF_A_SET}
            props["metadata"] = {**props["metadata"], "annotations": annotations}
        return pulumi.ResourceTransformResult(
            props=props,
            opts=pulumi.ResourceOptions.merge(
                args.opts, pulumi.ResourceOptions(custom_timeouts=timeouts)
            ),
        )

    return transform


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
