"""One GitLab lane: a runner at GitLab, its token in a Secret, and its runner manager.

https://docs.gitlab.com/runner/install/kubernetes_helm_chart_configuration/
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pulumi
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes

from components.helm import install
from components.runners.job_access import job_access
from fleet.runners.gitlab import GitLabLanePlan, RunnerPlan


class GitLabLane(pulumi.ComponentResource):
    """RBAC of the jobs, the runner at GitLab if planned, the Secret with its token, the release."""

    def __init__(
        self,
        name: str,
        *,
        plan: GitLabLanePlan,
        token: pulumi.Input[str] | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the lane; `token` is that of an existing runner."""
        super().__init__("gpu-runners:runners:GitLabLane", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        prerequisites = [
            *depends_on,
            *job_access(f"{name}-jobs", plan.access, child, depends_on=depends_on),
        ]
        if plan.runner is not None:
            token = _runner(f"{name}-runner", plan.runner, child).token
        if token is not None:
            prerequisites.append(
                kubernetes.core.v1.Secret(
                    f"{name}-token",
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
        install(
            f"{name}-release",
            plan.release,
            child,
            depends_on=prerequisites,
            wiring={"podAnnotations": {"gpu-runners/token": _fingerprint(token)}}
            if token is not None
            else None,
        )
        self.register_outputs({"tags": list(plan.labels)})


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
