"""One GitLab lane: a runner at GitLab, its token in a Secret, and its runner manager.

What the manager needs for its last job outlives it: the runner, the token, and its rights. A change
that replaces the runner makes all of them anew, see `LanePlan.generation`.

https://docs.gitlab.com/runner/install/kubernetes_helm_chart_configuration/
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

import pulumi
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes

from components import intent
from components.helm import install_lane
from components.intent import AnyPool, LaneOptions
from components.runners.job_access import job_access
from fleet.config.gitlab import GitLab
from fleet.runners.gitlab import GitLabLanePlan, RunnerPlan, gitlab_lane_plan


class GitLabLaneOptions(LaneOptions, total=False):
    """The keys of a GitLab lane in a stack file, see `fleet.config.gitlab.GitLabLane`."""

    concurrent: int
    hpa: Mapping[str, int] | None
    tags: Sequence[str]
    default_tags: bool
    max_cpu: int | str | None
    max_memory: str | None
    pull_policy: Sequence[Literal["always", "if-not-present", "never"]]
    driver_capabilities: Sequence[str]
    runner: Mapping[str, Any] | None
    existing_secret: str | None
    run_untagged: bool
    protected: bool
    locked: bool
    maximum_timeout: int
    services: int
    privileged: bool


class GitLabLane(pulumi.ComponentResource):
    """The runner at GitLab if planned, the Secret with its token, RBAC, and the manager."""

    def __init__(
        self,
        name: str,
        *,
        plan: GitLabLanePlan | None = None,
        url: str = "https://gitlab.com",
        pools: Sequence[AnyPool] = (),
        token: pulumi.Input[str] | None = None,
        system_pools: Sequence[AnyPool] = (),
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
        **lane: Unpack[GitLabLaneOptions],
    ) -> None:
        """Register a lane from a plan, or from the keywords of a lane in a stack file.

        Without a plan, the lane has the name of the component and depends on its pools, which are
        listed in order of preference. `token` is that of an existing runner. The runner manager
        runs on `system_pools`, by default on any node without a taint. The namespace
        gitlab-runners must exist.
        """
        if plan is None:
            plan = _plan(
                name, url=url, pools=pools, system_pools=system_pools, token=token, lane=lane
            )
        depends_on = [*intent.pool_resources(pools), *depends_on]
        super().__init__("gpu-runners:runners:GitLabLane", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        generation = f"{name}-{plan.generation}"
        prerequisites = [
            *depends_on,
            *job_access(f"{name}-jobs", plan.access, child, depends_on=depends_on),
            *job_access(f"{generation}-manager", plan.manager, child, depends_on=depends_on),
        ]
        if plan.runner is not None:
            token = _runner(f"{generation}-runner", plan.runner, child).token
        if token is not None:
            prerequisites.append(
                kubernetes.core.v1.Secret(
                    f"{generation}-token",
                    metadata={"name": plan.secret_name, "namespace": plan.release.namespace},
                    # The chart projects both keys, even if the second is empty.
                    string_data={
                        "runner-token": pulumi.Output.secret(token),
                        "runner-registration-token": "",
                    },
                    opts=pulumi.ResourceOptions.merge(
                        child, pulumi.ResourceOptions(depends_on=list(depends_on))
                    ),
                )
            )
        install_lane(
            generation,
            plan.release,
            child,
            depends_on=prerequisites,
            wiring={"podAnnotations": {"gpu-runners/token": _fingerprint(token)}}
            if token is not None
            else None,
        )
        self.register_outputs({"tags": list(plan.labels)})


def _plan(
    name: str,
    *,
    url: str,
    pools: Sequence[AnyPool],
    system_pools: Sequence[AnyPool],
    token: pulumi.Input[str] | None,
    lane: GitLabLaneOptions,
) -> GitLabLanePlan:
    component = f"GitLabLane {name}"
    plans = intent.lane_pools(component, pools, lane.get("gpus", 0))
    keywords = intent.lane_keywords(lane, plans)
    if token is not None:
        keywords["token"] = {"secret": "token"}
    forge = intent.read(
        GitLab,
        component,
        # The provider has the token that creates runners.
        {"url": url, "api_token": {"secret": "apiToken"}, "lanes": {name: keywords}},
        within=f"lanes.{name}",
    )
    return gitlab_lane_plan(
        name,
        forge.lanes[name],
        cluster=plans[0].cluster,
        pools=plans,
        url=url,
        system=intent.system_placement(system_pools),
    )


def _fingerprint(token: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return an annotation that restarts the manager when the token changes.

    The chart does not watch the Secret. Twelve hexadecimal digits of a hash do not reveal a token
    of twenty random characters.
    """
    digest = pulumi.Output.from_input(token).apply(
        lambda text: hashlib.sha256(text.encode()).hexdigest()[:12]
    )
    return pulumi.Output.unsecret(digest)


def _runner(name: str, plan: RunnerPlan, child: pulumi.ResourceOptions) -> gitlab.UserRunner:
    """Register the runner. Tags, protection and time limit are set at GitLab, not in the chart."""
    return gitlab.UserRunner(
        name,
        runner_type=plan.runner_type,
        group_id=plan.group_id,
        project_id=plan.project_id,
        description=plan.description,
        tag_lists=list(plan.tags),
        untagged=plan.run_untagged,
        access_level="ref_protected" if plan.protected else "not_protected",
        locked=plan.locked,
        maximum_timeout=plan.maximum_timeout_s,
        paused=plan.paused,
        opts=child,
    )
