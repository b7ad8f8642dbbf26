"""One GitHub lane: a runner scale set of ARC.

GitHub reads labels and URL only when a scale set is created, and a new controller deletes the sets
of another minor version (https://github.com/actions/actions-runner-controller/issues/4422). So a
change of these makes a successor with another name and the same labels. The old set takes no new
jobs and goes when its running ones have ended, see `LanePlan.generation`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, Unpack

import pulumi
import pulumi_kubernetes as kubernetes

from components import intent
from components.helm import install_lane
from components.intent import AnyPool, LaneOptions
from components.runners.arc_controller import ArcController
from components.runners.job_access import job_access
from fleet.config.github import ContainerMode, GitHub
from fleet.runners.github import GitHubLanePlan, github_lane_plan


class ArcLaneOptions(LaneOptions, total=False):
    """The keys of a GitHub lane in a stack file, see `fleet.config.github.GitHubLane`."""

    min_runners: int
    max_runners: int
    group: str | None
    labels: Sequence[str]
    container_mode: ContainerMode
    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None
    device: str | None
    device_access: Literal["plugin", "privileged"]
    run_as_root: bool
    supplemental_groups: Sequence[int]


class ArcLane(pulumi.ComponentResource):
    """RBAC of the jobs, the ConfigMap of the job pod's template, and the scale set."""

    def __init__(
        self,
        name: str,
        *,
        plan: GitHubLanePlan | None = None,
        controller: ArcController | None = None,
        pools: Sequence[AnyPool] = (),
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
        **lane: Unpack[ArcLaneOptions],
    ) -> None:
        """Register a lane from a plan, or from the keywords of a lane in a stack file.

        Without a plan, the lane has the name of the component. It depends on its controller and on
        its pools, which are listed in order of preference.
        """
        if plan is None:
            plan = _plan(name, controller, pools, lane)
        own = controller.ready if controller is not None else []
        depends_on = [*own, *intent.pool_resources(pools), *depends_on]
        super().__init__("gpu-runners:runners:ArcLane", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        prerequisites = [
            *depends_on,
            *job_access(f"{name}-jobs", plan.access, child, depends_on=depends_on),
        ]
        if plan.hook_template is not None:
            prerequisites.append(
                kubernetes.core.v1.ConfigMap(
                    f"{name}-job-pod",
                    metadata={"name": plan.hook_template.name, "namespace": plan.release.namespace},
                    # The hooks parse YAML, of which JSON is a subset.
                    data={
                        plan.hook_template.file: json.dumps(plan.hook_template.content, indent=2)
                    },
                    opts=pulumi.ResourceOptions.merge(
                        child, pulumi.ResourceOptions(depends_on=list(depends_on))
                    ),
                )
            )
        generation = f"{name}-{plan.generation}"
        prerequisites += job_access(f"{generation}-hooks", plan.hooks, child, depends_on=depends_on)
        install_lane(generation, plan.release, child, depends_on=prerequisites)
        self.register_outputs({"runs_on": plan.labels})


def _plan(
    name: str,
    controller: ArcController | None,
    pools: Sequence[AnyPool],
    lane: ArcLaneOptions,
) -> GitHubLanePlan:
    component = f"ArcLane {name}"
    if controller is None:
        raise intent.InvalidArguments(
            component,
            ["  controller: is missing.\n    Pass the ArcController of the cluster."],
        )
    plans = intent.lane_pools(component, pools, lane.get("gpus", 0))
    github = intent.read(
        GitHub,
        component,
        {
            "url": controller.plan.url,
            "existing_secret": controller.plan.credentials,
            "lanes": {name: intent.lane_keywords(lane, plans)},
        },
        within=f"lanes.{name}",
    )
    if github.privileged and not controller.plan.privileged_runners:
        raise intent.InvalidArguments(
            component,
            [
                "  container_mode or device_access: needs privileged pods, which the namespace of "
                "the runners refuses.\n    Pass privileged_runners=True to the ArcController."
            ],
        )
    return github_lane_plan(
        name,
        github.lanes[name],
        cluster=plans[0].cluster,
        pools=plans,
        controller=controller.plan,
    )
