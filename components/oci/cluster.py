"""The control plane of one OKE cluster; it registers no node.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengclustersnodes.htm
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_oci as oci
import yaml

from components.oci.network import OkeNetwork
from fleet.clusters.oke import CNI_TYPE, OkePlan, kubeconfig_user
from fleet.config.gpu_stack import Advertiser


@dataclass(frozen=True, kw_only=True)
class OkeClusterAttributes:
    """Attributes of an OKE cluster that a node pool needs, of any origin.

    The plain attributes decide what a node pool registers, so they cannot be Outputs.
    """

    name: str
    id: pulumi.Input[str]
    """OCID of the cluster."""
    version: str
    """Kubernetes version as OKE writes it, like v1.35.2."""
    compartment_id: pulumi.Input[str]
    availability_domains: Sequence[str]
    """In order of preference, like Uocm:US-ASHBURN-AD-1."""
    worker_subnet_id: pulumi.Input[str]
    pod_subnet_id: pulumi.Input[str]
    worker_security_group_ids: Sequence[pulumi.Input[str]] = ()
    pod_security_group_ids: Sequence[pulumi.Input[str]] = ()
    advertiser: Advertiser = "provider"
    """Owner of `nvidia.com/gpu`; `provider` is Oracle's own device plugin."""
    operator: bool = False
    """Whether the GPU Operator runs in the cluster. Its pods take part of a node."""
    tags: dict[str, str] = field(default_factory=dict[str, str])


class OkeCluster(pulumi.ComponentResource):
    """The cluster. It is ENHANCED, because add-on settings and workload identity need that type."""

    cluster: oci.containerengine.Cluster
    attributes: OkeClusterAttributes
    """Attributes that node pools need."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig (JSON) with an exec plugin; secret, because it names the endpoint and CA."""

    def __init__(
        self,
        name: str,
        *,
        plan: OkePlan,
        network: OkeNetwork,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpu-runners:oci:OkeCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        balancers = network.subnet_ids.get("load-balancer")
        self.cluster = oci.containerengine.Cluster(
            f"{name}-cluster",
            name=plan.name,
            compartment_id=plan.compartment_id,
            kubernetes_version=plan.version,
            type="ENHANCED_CLUSTER",
            vcn_id=network.vcn_id,
            cluster_pod_network_options=[{"cni_type": CNI_TYPE}],
            endpoint_config={
                "subnet_id": network.subnet_ids["endpoint"],
                "is_public_ip_enabled": bool(plan.allow),
                "nsg_ids": list(network.security_group_ids["endpoint"]),
            },
            # An Args class, because a typed dict would send null for an absent list.
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
                pulumi.ResourceOptions(depends_on=network.ready, protect=protect or None),
            ),
        )
        self.attributes = OkeClusterAttributes(
            name=plan.name,
            id=self.cluster.id,
            version=plan.version,
            compartment_id=plan.compartment_id,
            availability_domains=plan.availability_domains,
            worker_subnet_id=network.subnet_ids["worker"],
            pod_subnet_id=network.subnet_ids["pod"],
            worker_security_group_ids=network.security_group_ids["worker"],
            pod_security_group_ids=network.security_group_ids["pod"],
            tags=plan.tags,
        )
        self.kubeconfig = pulumi.Output.secret(_kubeconfig(plan, self.cluster, self))
        self.register_outputs({"name": self.cluster.name, "kubeconfig": self.kubeconfig})


def _kubeconfig(
    plan: OkePlan, cluster: oci.containerengine.Cluster, parent: pulumi.Resource
) -> pulumi.Output[str]:
    """Return a kubeconfig that does not depend on the identity that runs Pulumi.

    OKE publishes the certificate authority only inside a generated kubeconfig, whose other fields
    depend on the caller. So only the authority is taken from it.
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
