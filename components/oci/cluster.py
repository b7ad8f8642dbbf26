"""The control plane of one OKE cluster. No node is made here.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengclustersnodes.htm
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_oci as oci
import yaml

from fleet.clusters.oke import CNI_TYPE, OkePlan, kubeconfig_user
from fleet.clusters.oke_network import Role


@dataclass(frozen=True, kw_only=True)
class OkeClusterArgs:
    """The plan of the cluster, and subnets and security groups of its network."""

    plan: OkePlan
    vcn_id: pulumi.Input[str]
    subnet_ids: Mapping[Role, pulumi.Input[str]]
    security_group_ids: Mapping[Role, Sequence[pulumi.Input[str]]]
    protect: bool = False
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class OkeCluster(pulumi.ComponentResource):
    """The cluster; it is ENHANCED, as add-on settings and workload identity demand."""

    cluster: oci.containerengine.Cluster
    """The raw cluster."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig (JSON) with an exec plugin; secret, because it names the endpoint and CA."""

    def __init__(
        self, name: str, args: OkeClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:oci:OkeCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        balancers = args.subnet_ids.get("load-balancer")
        self.cluster = oci.containerengine.Cluster(
            f"{name}-cluster",
            name=plan.name,
            compartment_id=plan.compartment_id,
            kubernetes_version=plan.version,
            type="ENHANCED_CLUSTER",
            vcn_id=args.vcn_id,
            cluster_pod_network_options=[
                oci.containerengine.ClusterClusterPodNetworkOptionArgs(cni_type=CNI_TYPE)
            ],
            endpoint_config=oci.containerengine.ClusterEndpointConfigArgs(
                subnet_id=args.subnet_ids["endpoint"],
                is_public_ip_enabled=bool(plan.allow),
                nsg_ids=list(args.security_group_ids["endpoint"]),
            ),
            options=oci.containerengine.ClusterOptionsArgs(
                kubernetes_network_config=(
                    oci.containerengine.ClusterOptionsKubernetesNetworkConfigArgs(
                        services_cidr=plan.network.services_cidr
                    )
                ),
                service_lb_subnet_ids=[balancers] if balancers is not None else None,
            ),
            freeform_tags=plan.tags,
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(depends_on=args.after, protect=args.protect or None),
            ),
        )
        self.kubeconfig = pulumi.Output.secret(_kubeconfig(plan, self.cluster, self))
        self.register_outputs({"name": self.cluster.name, "kubeconfig": self.kubeconfig})


def _kubeconfig(
    plan: OkePlan, cluster: oci.containerengine.Cluster, parent: pulumi.Resource
) -> pulumi.Output[str]:
    """OKE tells the cluster's certificate authority in a kubeconfig of its own, and nowhere else.

    What else that one says depends on who asked for it, so only the authority is taken.
    """
    given = oci.containerengine.get_cluster_kube_config_output(
        cluster_id=cluster.id,
        endpoint="PUBLIC_ENDPOINT" if plan.allow else "PRIVATE_ENDPOINT",
        token_version="2.0.0",  # noqa: S106 -- the format of the answer, no token
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    endpoint = cluster.endpoints[0]
    return pulumi.Output.all(
        cluster_id=cluster.id,
        server=endpoint.public_endpoint if plan.allow else endpoint.private_endpoint,
        content=given.content,
    ).apply(
        lambda known: json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {
                        "name": plan.name,
                        "cluster": {
                            "server": f"https://{known['server']}",
                            "certificate-authority-data": _authority(known["content"]),
                        },
                    }
                ],
                "users": [{"name": plan.name, "user": kubeconfig_user(plan, known["cluster_id"])}],
                "contexts": [
                    {"name": plan.name, "context": {"cluster": plan.name, "user": plan.name}}
                ],
                "current-context": plan.name,
            }
        )
    )


def _authority(kubeconfig: str) -> str:
    return yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]["certificate-authority-data"]
