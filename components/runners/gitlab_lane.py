"""One GitLab lane: a runner at GitLab, its token in a Secret, and the manager that serves it.

https://docs.gitlab.com/runner/install/kubernetes_helm_chart_configuration/
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pulumi
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes

from components.helm import install
from components.runners.job_access import job_access
from fleet.runners.gitlab import GitLabLanePlan, RunnerPlan


@dataclass(frozen=True, kw_only=True)
class GitLabLaneArgs:
    """The plan of the lane, the token of a runner that exists, and what must come first."""

    plan: GitLabLanePlan
    token: pulumi.Input[str] | None = None
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class GitLabLane(pulumi.ComponentResource):
    """The jobs' rights, the runner (where this program makes it), its token's Secret, release."""

    def __init__(
        self, name: str, args: GitLabLaneArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:runners:GitLabLane", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        after = [
            *args.after,
            *job_access(f"{name}-jobs", plan.access, child, after=args.after),
        ]
        token = args.token
        if plan.runner is not None:
            token = _runner(f"{name}-runner", plan.runner, child).token
        if token is not None:
            after.append(
                kubernetes.core.v1.Secret(
                    f"{name}-token",
                    metadata=kubernetes.meta.v1.ObjectMetaArgs(
                        name=plan.secret_name, namespace=plan.release.namespace
                    ),
                    # The chart projects both keys, also when the second is empty.
                    string_data={
                        "runner-token": pulumi.Output.secret(token),
                        "runner-registration-token": "",
                    },
                    opts=pulumi.ResourceOptions.merge(
                        child, pulumi.ResourceOptions(depends_on=args.after)
                    ),
                )
            )
        install(
            f"{name}-release",
            plan.release,
            child,
            after=after,
            wiring={"podAnnotations": {"gpu-runners/token": _fingerprint(token)}}
            if token is not None
            else None,
        )
        self.register_outputs({"tags": list(plan.labels)})


def _fingerprint(token: pulumi.Input[str]) -> pulumi.Output[str]:
    """Changes with the token, so that the manager restarts: the chart watches no Secret of ours.

    Twelve digits of a hash tell nothing of a token of twenty random characters.
    """
    digest = pulumi.Output.from_input(token).apply(
        lambda text: hashlib.sha256(text.encode()).hexdigest()[:12]
    )
    return pulumi.Output.unsecret(digest)


def _runner(name: str, plan: RunnerPlan, child: pulumi.ResourceOptions) -> gitlab.UserRunner:
    """Tags, protection and time limit are properties of the runner at GitLab, not of the chart."""
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
