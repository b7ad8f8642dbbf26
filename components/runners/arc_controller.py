"""Actions Runner Controller: one per cluster, and what its scale sets share.

The controller, its CRDs and the credentials must outlive every scale set, because the controller
clears their finalizers (https://github.com/actions/actions-runner-controller/issues/2781).
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from components import intent
from components.helm import install, namespace
from components.intent import AnyPool
from components.runners.job_budget import job_budget
from fleet.checks.versions import server_fault
from fleet.config.github import GitHubAccess
from fleet.runners.github import ArcControllerPlan, arc_controller_plan


class ArcController(pulumi.ComponentResource):
    """Namespaces of controller and runners, CRDs, the App's Secret, and the controller."""

    plan: ArcControllerPlan
    ready: list[pulumi.Resource]
    """Prerequisites of every scale set, so that a destroy removes the scale sets first."""

    def __init__(
        self,
        name: str,
        *,
        plan: ArcControllerPlan | None = None,
        url: str | None = None,
        server_version: str | None = None,
        app_id: int | None = None,
        installation_id: int | None = None,
        private_key: pulumi.Input[str] | None = None,
        existing_secret: str | None = None,
        existing_namespace: bool = False,
        privileged_runners: bool = False,
        system_pools: Sequence[AnyPool] = (),
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the controller from a plan, or for the runners of `url`.

        The credentials are a GitHub App (`app_id`, `installation_id`, `private_key`) or the Secret
        `existing_secret` in the namespace arc-runners. With it, or with `existing_namespace`, the
        namespace must exist. The URL of a GitHub Enterprise Server needs `server_version`.
        `privileged_runners` admits privileged pods in that namespace, for lanes with container mode
        dind. The controller and the listeners run on `system_pools`, by default on any node without
        a taint.
        """
        if plan is None:
            app = {
                "id": app_id,
                "installation_id": installation_id,
                "private_key": {"secret": "privateKey"} if private_key is not None else None,
            }
            given = {key: value for key, value in app.items() if value is not None}
            if not given and existing_secret is None:
                raise intent.InvalidArguments(
                    f"ArcController {name}",
                    [
                        "  app_id: is missing.\n    Pass app_id, installation_id and private_key "
                        "of a GitHub App, or existing_secret, the name of a Secret with them."
                    ],
                )
            access = intent.read(
                GitHubAccess,
                f"ArcController {name}",
                {
                    "url": url,
                    "server_version": server_version,
                    "app": given or None,
                    "existing_secret": existing_secret,
                    "existing_namespace": existing_namespace or None,
                },
            )
            fault = server_fault(access)
            if fault is not None and fault[0] == "error":
                _, message, remedy = fault
                raise intent.InvalidArguments(
                    f"ArcController {name}", [f"  server_version: {message}.\n    {remedy}"]
                )
            plan = arc_controller_plan(
                access, intent.system_placement(system_pools), privileged=privileged_runners
            )
        self.plan = plan
        super().__init__("gpu-runners:runners:ArcController", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        runners = namespace(
            f"{name}-runners",
            plan.runner_namespace,
            child,
            depends_on=depends_on,
            privileged=plan.privileged_runners,
            exists=plan.existing_namespace,
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
        budget = job_budget(f"{name}-budget", plan.runner_namespace, child, depends_on=[runners])
        self.ready = [controller, crds, runners, budget]
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
