"""Actions Runner Controller: one per cluster, and what its scale sets share.

The controller, its CRDs and the credentials must outlive every scale set, because the controller
clears their finalizers (https://github.com/actions/actions-runner-controller/issues/2781).
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from components.helm import install, namespace
from fleet.runners.github import ArcControllerPlan


class ArcController(pulumi.ComponentResource):
    """Namespaces of controller and runners, CRDs, the App's Secret, and the controller."""

    ready: list[pulumi.Resource]
    """Prerequisites of every scale set, so that a destroy removes the scale sets first."""

    def __init__(
        self,
        name: str,
        *,
        plan: ArcControllerPlan,
        private_key: pulumi.Input[str] | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the controller; `private_key` is the App's key, if this program has it."""
        super().__init__("gpu-runners:runners:ArcController", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        runners = namespace(
            f"{name}-runners",
            plan.runner_namespace,
            child,
            depends_on=depends_on,
            privileged=plan.privileged_runners,
        )
        system = namespace(
            f"{name}-namespace", plan.release.namespace, child, depends_on=depends_on
        )
        # Helm installs CRDs but never upgrades them, so they are a separate resource.
        crds = kubernetes.yaml.v2.ConfigGroup(
            f"{name}-crds",
            files=list(plan.crd_files),
            opts=pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(depends_on=list(depends_on))
            ),
        )
        controller = install(
            f"{name}-release", plan.release, child, depends_on=[system, crds, *depends_on]
        )
        self.ready = [controller, crds, runners]
        if plan.app is not None and private_key is not None:
            secret = kubernetes.core.v1.Secret(
                f"{name}-github-app",
                metadata={"name": plan.credentials, "namespace": plan.runner_namespace},
                string_data={
                    "github_app_id": str(plan.app.id),
                    "github_app_installation_id": str(plan.app.installation_id),
                    "github_app_private_key": pulumi.Output.secret(private_key),
                },
                opts=pulumi.ResourceOptions.merge(
                    child, pulumi.ResourceOptions(depends_on=[runners])
                ),
            )
            self.ready.append(secret)
        self.register_outputs({"version": plan.release.version})
