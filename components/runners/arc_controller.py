"""Actions Runner Controller: one per cluster, and what its scale sets share.

It must outlive every scale set, and so must its CRDs and the credentials: it clears the finalizers
(https://github.com/actions/actions-runner-controller/issues/2781). No scale set is made here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes

from components.helm import install, namespace
from fleet.runners.github import ArcControllerPlan


@dataclass(frozen=True, kw_only=True)
class ArcControllerArgs:
    """The plan, the App's private key where this program makes the Secret, and what comes first."""

    plan: ArcControllerPlan
    private_key: pulumi.Input[str] | None = None
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class ArcController(pulumi.ComponentResource):
    """Namespaces of controller and runners, CRDs, the App's Secret, and the controller."""

    ready: list[pulumi.Resource]
    """What a scale set depends on, so that it is removed before any of it."""

    def __init__(
        self, name: str, args: ArcControllerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:runners:ArcController", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        runners = namespace(
            f"{name}-runners",
            plan.runner_namespace,
            child,
            after=args.after,
            privileged=plan.privileged_runners,
        )
        system = namespace(f"{name}-namespace", plan.release.namespace, child, after=args.after)
        # Helm installs CRDs once and never upgrades them, so they are a resource of their own.
        crds = kubernetes.yaml.v2.ConfigGroup(
            f"{name}-crds",
            files=list(plan.crd_files),
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=args.after)),
        )
        controller = install(
            f"{name}-release", plan.release, child, after=[system, crds, *args.after]
        )
        self.ready = [controller, crds, runners]
        if plan.app is not None and args.private_key is not None:
            secret = kubernetes.core.v1.Secret(
                f"{name}-github-app",
                metadata=kubernetes.meta.v1.ObjectMetaArgs(
                    name=plan.credentials, namespace=plan.runner_namespace
                ),
                string_data={
                    "github_app_id": str(plan.app.id),
                    "github_app_installation_id": str(plan.app.installation_id),
                    "github_app_private_key": pulumi.Output.secret(args.private_key),
                },
                opts=pulumi.ResourceOptions.merge(
                    child, pulumi.ResourceOptions(depends_on=[runners])
                ),
            )
            self.ready.append(secret)
        self.register_outputs({"version": plan.release.version})
