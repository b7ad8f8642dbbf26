"""One GitHub lane: a runner scale set of ARC.

A change of chart version, label or URL replaces the release. A new controller deletes scale sets of
another minor version, and GitHub registers labels only when a scale set is created
(https://github.com/actions/actions-runner-controller/issues/4422).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from components.helm import install
from components.runners.job_access import job_access
from fleet.runners.github import GitHubLanePlan


class ArcLane(pulumi.ComponentResource):
    """RBAC of the jobs, the ConfigMap of the job pod's template, and the scale set's release."""

    def __init__(
        self,
        name: str,
        *,
        plan: GitHubLanePlan,
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
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
        install(f"{name}-release", plan.release, child, depends_on=prerequisites)
        self.register_outputs({"runs_on": plan.labels})
