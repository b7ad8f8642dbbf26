"""One GitHub lane: a runner scale set of ARC.

A change of chart version, label or URL uninstalls the set, waits, and installs it anew: a new
controller deletes sets of another minor version, and GitHub learns labels only when a set is made
(https://github.com/actions/actions-runner-controller/issues/4422).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes

from components.helm import install
from components.runners.job_access import job_access
from fleet.runners.github import GitHubLanePlan


@dataclass(frozen=True, kw_only=True)
class ArcLaneArgs:
    """The plan of the lane, and what must outlive it: controller, credentials, GPU stack, pools."""

    plan: GitHubLanePlan
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class ArcLane(pulumi.ComponentResource):
    """The jobs' rights where they have any, the job pod's template where there is one, the set."""

    def __init__(
        self, name: str, args: ArcLaneArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:runners:ArcLane", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        after = [
            *args.after,
            *job_access(f"{name}-jobs", plan.access, child, after=args.after),
        ]
        if plan.hook_template is not None:
            after.append(
                kubernetes.core.v1.ConfigMap(
                    f"{name}-job-pod",
                    metadata=kubernetes.meta.v1.ObjectMetaArgs(
                        name=plan.hook_template.name, namespace=plan.release.namespace
                    ),
                    # JSON is YAML, which is what the hooks parse.
                    data={
                        plan.hook_template.file: json.dumps(plan.hook_template.content, indent=2)
                    },
                    opts=pulumi.ResourceOptions.merge(
                        child, pulumi.ResourceOptions(depends_on=args.after)
                    ),
                )
            )
        install(f"{name}-release", plan.release, child, after=after)
        self.register_outputs({"runs_on": plan.labels})
