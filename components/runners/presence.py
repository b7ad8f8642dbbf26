"""A look at what runs the jobs of a lane, in every `up`: it exists, stays, and takes jobs.

The engine compares a resource with its own record, and calls a scale set unchanged that somebody
deletes, or that an earlier `up` began to delete before the change was taken back. Such a set takes
no jobs and disappears with its last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

_OUTDATED: Final = "Outdated"
"""Phase of a set whose runners exit with code 7; in ARC 0.14 nothing ends it but a new set
(https://github.com/actions/actions-runner-controller/issues/4595, issues/4596)."""


class Live(pulumi.CustomResource):
    """An object of a chart as it is in the cluster; the engine reads it and never changes it."""

    metadata: pulumi.Output[dict[str, Any] | None]
    status: pulumi.Output[dict[str, Any] | None]

    def __init__(
        self, name: str, token: str, object_id: pulumi.Input[str], opts: pulumi.ResourceOptions
    ) -> None:
        """Read the object with that id."""
        super().__init__(
            token,
            name,
            {"metadata": None, "status": None},
            # The version of the SDK's own classes, which else would have another default provider.
            pulumi.ResourceOptions.merge(
                opts,
                pulumi.ResourceOptions(id=object_id, version=metadata.version("pulumi_kubernetes")),
            ),
        )


def present(
    name: str,
    token: str,
    object_id: str,
    chart: kubernetes.helm.v4.Chart,
    child: pulumi.ResourceOptions,
) -> None:
    """Fail `up` if an object of the chart is being deleted or takes no jobs; a preview warns."""
    live = Live(
        name,
        token,
        chart.resources.apply(lambda found: _id(found or (), object_id)),
        pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[chart])),
    )
    # A mock of the engine reads nothing.
    pulumi.Output.all(live.metadata, live.status).apply(
        lambda found: judge(token, object_id, found[0] or {}, found[1] or {})
    )


def _id(found: Sequence[Any], object_id: str) -> Any:
    """Return the id once the object exists: in the preview of a new lane it is unknown.

    The SDK gives a resource for a type that it has a class for, else its id.
    """
    ids = [one.id for one in found if isinstance(one, kubernetes.apps.v1.Deployment)]
    return object_id if object_id in found else next(iter(ids), pulumi.UNKNOWN)


def judge(token: str, object_id: str, found: Mapping[str, Any], status: Mapping[str, Any]) -> None:
    """Refuse an object that is being deleted or takes no jobs; a preview warns."""
    noun = token.rpartition(":")[2]
    since = found.get("deletionTimestamp")
    if since is not None:
        problem = (
            f"{noun} {object_id} is being deleted since {since}: it takes no new jobs and is gone "
            "when its running ones have ended.\n    Then run `pulumi refresh` and `make up`, which "
            "makes it again."
        )
    elif status.get("phase") == _OUTDATED:
        namespace, _, name = object_id.partition("/")
        problem = (
            f"{noun} {object_id} takes no jobs: GitHub refuses its runners as too old, and ARC "
            "stopped its listener.\n    Set a newer runner image for the lane (or take a newer "
            f"release of this program), then: kubectl delete {noun.lower()} {name} -n {namespace}, "
            "`pulumi refresh`, `make up`."
        )
    else:
        return
    if pulumi.runtime.is_dry_run():
        pulumi.log.warn(problem)
    else:
        raise pulumi.RunError(problem)
