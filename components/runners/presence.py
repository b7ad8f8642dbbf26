"""A look at what runs the jobs of a lane, in every `up`: it exists and is not being deleted.

The engine compares a resource with its own record, and calls a scale set unchanged that somebody
deletes, or that an earlier `up` began to delete before the change was taken back. Such a set takes
no jobs and disappears with its last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes


class Live(pulumi.CustomResource):
    """An object of a chart as it is in the cluster; the engine reads it and never changes it."""

    metadata: pulumi.Output[dict[str, Any] | None]

    def __init__(
        self, name: str, token: str, object_id: pulumi.Input[str], opts: pulumi.ResourceOptions
    ) -> None:
        """Read the object with that id."""
        super().__init__(
            token,
            name,
            {"metadata": None},
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
    """Fail `up` if an object of the chart is being deleted; a preview warns."""
    live = Live(
        name,
        token,
        chart.resources.apply(lambda found: _id(found or (), object_id)),
        pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[chart])),
    )
    live.metadata.apply(lambda found: _refuse_a_removal(token, object_id, found))


def _id(found: Sequence[Any], object_id: str) -> Any:
    """Return the id once the object exists: in the preview of a new lane it is unknown.

    The SDK gives a resource for a type that it has a class for, else its id.
    """
    ids = [one.id for one in found if isinstance(one, kubernetes.apps.v1.Deployment)]
    return object_id if object_id in found else next(iter(ids), pulumi.UNKNOWN)


def _refuse_a_removal(token: str, object_id: str, found: dict[str, Any] | None) -> None:
    # A mock of the engine reads nothing.
    since = (found or {}).get("deletionTimestamp")
    if since is None:
        return
    text = (
        f"{token.rpartition(':')[2]} {object_id} is being deleted since {since}: it takes no new "
        "jobs and is gone when its running ones have ended.\n"
        "    Then run `pulumi refresh` and `make up`, which makes it again."
    )
    if pulumi.runtime.is_dry_run():
        pulumi.log.warn(text)
    else:
        raise pulumi.RunError(text)
