"""A tenancy in which tests create, change and delete resources as the server does."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from cloud_account import CloudAccount
from pulumi_rehearsal.standin import kubernetes
from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.oci import KINDS, LOOKUPS, tokens
from pulumi_rehearsal.standin.oci.images import of_region

REGION = "us-ashburn-1"
SCOPE = f"oci:{REGION}"
COMPARTMENT = "ocid1.compartment.oc1..aaaaaaaacompartment"
VERSION = "v1.35.2"
DOMAINS = [f"Uocm:US-ASHBURN-AD-{number}" for number in (1, 2, 3)]
ANYWHERE = "0.0.0.0/0"
PLUGIN_OFF = "oci.oraclecloud.com/disable-gpu-device-plugin"
GPU_TAINT = "--register-with-taints=nvidia.com/gpu=:NoSchedule"

RIGHTS = (
    "manage cluster-node-pools",
    "manage instance-family",
    "use subnets",
    "read virtual-network-family",
    "use vnics",
    "inspect compartments",
)

_KINDS = {kind.token: kind for kind in (*KINDS, *kubernetes.PACKAGE.kinds)}
_LOOKUPS = {lookup.token: lookup for lookup in LOOKUPS}


def image(
    *, gpu: bool = False, arm: bool = False, version: str = VERSION, region: str = REGION
) -> str:
    """Return the OCID of the newest such image."""
    found = [
        one
        for one in of_region(region)
        if one.version == version and one.has_gpu_driver == gpu and one.is_arm == arm
    ]
    return max(found, key=lambda one: one.name).id


def script(arguments: str = "", *, grow: bool = True, first: str = "#!/bin/bash") -> str:
    """Return user data that starts a node with these kubelet arguments."""
    lines = [
        first,
        "curl -H 'Authorization: Bearer Oracle' -L0 "
        "http://169.254.169.254/opc/v2/instance/metadata/oke_init_script "
        "| base64 --decode > /var/run/oke-init.sh",
        "/usr/libexec/oci-growfs -y" if grow else "true",
        f'bash /var/run/oke-init.sh --kubelet-extra-args "{arguments}"'
        if arguments
        else "bash /var/run/oke-init.sh",
    ]
    return base64.b64encode("\n".join(lines).encode()).decode()


def labels(**given: str) -> list[Properties]:
    return [{"key": key, "value": value} for key, value in given.items()]


def statements(cluster: Resource, rights: tuple[str, ...] = RIGHTS, *terms: str) -> list[str]:
    condition = ", ".join(
        terms
        or (
            "request.principal.type = 'workload'",
            "request.principal.namespace = 'kube-system'",
            "request.principal.service_account = 'cluster-autoscaler'",
            f"request.principal.cluster_id = '{cluster.id}'",
        )
    )
    where = f"in compartment id {COMPARTMENT} where ALL {{{condition}}}"
    return [f"Allow any-user to {right} {where}" for right in rights]


_WITHOUT_COMPARTMENT = frozenset(
    {
        tokens.ADDON,
        tokens.SECURITY_RULE,
        tokens.DOMAIN_APP,
        tokens.DOMAIN_GROUP,
        tokens.DOMAIN_TRUST,
        tokens.DOMAIN_USER,
    }
)


@dataclass
class Tenancy(CloudAccount):
    """One compartment in one region."""

    kinds = _KINDS
    lookups = _LOOKUPS
    home = SCOPE

    def make(self, token: str, name: str, /, scope: str | None = None, **inputs: Any) -> Resource:
        given = {key: value for key, value in inputs.items() if value is not None}
        if token.startswith("oci:") and token not in _WITHOUT_COMPARTMENT:
            given = {"compartmentId": COMPARTMENT, **given}
        return super().make(token, name, scope, **given)

    def vcn(self, name: str = "net", block: str = "10.0.0.0/16", **inputs: Any) -> Resource:
        return self.make(tokens.VCN, name, cidrBlocks=[block], **inputs)

    def subnet(self, vcn: Resource, name: str, block: str, **inputs: Any) -> Resource:
        return self.make(tokens.SUBNET, name, vcnId=vcn.id, cidrBlock=block, **inputs)

    def group(self, vcn: Resource, name: str) -> Resource:
        return self.make(tokens.SECURITY_GROUP, name, vcnId=vcn.id)

    def rule(self, group: Resource, name: str, direction: str, **inputs: Any) -> Resource:
        given = {"protocol": "all", **inputs}
        return self.make(
            tokens.SECURITY_RULE,
            name,
            networkSecurityGroupId=group.id,
            direction=direction,
            **given,
        )

    def table(self, vcn: Resource, name: str, *rules: Properties) -> Resource:
        return self.make(tokens.ROUTE_TABLE, name, vcnId=vcn.id, routeRules=list(rules))

    def service(self) -> Properties:
        found = self.look(
            "oci:Core/getServices:getServices",
            filters=[{"name": "name", "regex": True, "values": ["All .* Services"]}],
        )
        return found["services"][0]


@dataclass
class Network(Tenancy):
    """A VCN with its gateways, route tables and security groups."""

    prefix: str = ""

    def __post_init__(self) -> None:
        self.build_network()

    def build_network(self, block: str = "10.0") -> None:
        name = self.prefix
        self.network = self.vcn(f"{name}net", f"{block}.0.0/16")
        vcn_id = self.network.id
        service = self.service()
        self.internet = self.make(tokens.INTERNET_GATEWAY, f"{name}internet", vcnId=vcn_id)
        self.nat = self.make(tokens.NAT_GATEWAY, f"{name}nat", vcnId=vcn_id)
        self.services = self.make(
            tokens.SERVICE_GATEWAY,
            f"{name}services",
            vcnId=vcn_id,
            services=[{"serviceId": service["id"]}],
        )
        self.public_table = self.table(
            self.network,
            f"{name}public",
            {"destination": ANYWHERE, "networkEntityId": self.internet.id},
        )
        self.private_table = self.table(
            self.network,
            f"{name}private",
            {"destination": ANYWHERE, "networkEntityId": self.nat.id},
            {
                "destination": service["cidrBlock"],
                "destinationType": "SERVICE_CIDR_BLOCK",
                "networkEntityId": self.services.id,
            },
        )
        # The default security list allows all egress, and no ingress that a cluster needs.
        self.endpoint = self.subnet(
            self.network,
            f"{name}endpoint",
            f"{block}.0.0/28",
            routeTableId=self.public_table.id,
        )
        self.workers = self.subnet(
            self.network,
            f"{name}workers",
            f"{block}.16.0/20",
            routeTableId=self.private_table.id,
            prohibitPublicIpOnVnic=True,
        )
        self.endpoint_group = self.group(self.network, f"{name}endpoint")
        self.worker_group = self.group(self.network, f"{name}workers")


@dataclass
class OkeTenancy(Network):
    """A network with an enhanced cluster that nodes can join."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.cluster = self.make_cluster("ci")
        self.rules = self.open_endpoint()

    def open_endpoint(self, *ports: int) -> list[Resource]:
        return [
            self.rule(
                self.endpoint_group,
                f"{self.prefix}in-{port}",
                "INGRESS",
                protocol="6",
                source=self.worker_group.id,
                sourceType="NETWORK_SECURITY_GROUP",
                tcpOptions={"destinationPortRange": {"min": port, "max": port}},
            )
            for port in ports or (6443, 12250)
        ]

    def make_cluster(self, name: str, /, **inputs: Any) -> Resource:
        given: Properties = {
            "name": name,
            "kubernetesVersion": VERSION,
            "vcnId": self.network.id,
            "type": "ENHANCED_CLUSTER",
            "endpointConfig": {
                "subnetId": self.endpoint.id,
                "isPublicIpEnabled": True,
                "nsgIds": [self.endpoint_group.id],
            },
        }
        return self.make(tokens.CLUSTER, name, **{**given, **inputs})

    def placement(self, number: int = 0, **inputs: Any) -> Properties:
        return {
            "availabilityDomain": DOMAINS[number],
            "subnetId": self.workers.id,
            **inputs,
        }

    def details(self, size: int = 0, *placements: Properties, **inputs: Any) -> Properties:
        return {
            "size": size,
            "nsgIds": [self.worker_group.id],
            "placementConfigs": list(placements) or [self.placement()],
            **inputs,
        }

    def pool(self, name: str = "a10", /, *, size: int = 0, **inputs: Any) -> Resource:
        """Create a GPU pool; `None` removes an input."""
        given: Properties = {
            "clusterId": self.cluster.id,
            "kubernetesVersion": VERSION,
            "nodeShape": "VM.GPU.A10.1",
            "nodeConfigDetails": self.details(size),
            "nodeSourceDetails": {
                "sourceType": "IMAGE",
                "imageId": image(gpu=True),
                "bootVolumeSizeInGbs": "400",
            },
            "nodeMetadata": {"user_data": script(GPU_TAINT), "kubelet-extra-args": GPU_TAINT},
        }
        return self.make(tokens.NODE_POOL, name, **{**given, **inputs})

    def system_pool(self, name: str = "system", /, *, size: int = 1, **inputs: Any) -> Resource:
        given: Properties = {
            "nodeShape": "VM.Standard.E5.Flex",
            "nodeShapeConfig": {"ocpus": 2, "memoryInGbs": 16},
            "nodeSourceDetails": {"sourceType": "IMAGE", "imageId": image()},
            "nodeMetadata": None,
        }
        return self.pool(name, size=size, **{**given, **inputs})

    def addon(self, name: str, /, logical: str | None = None, **inputs: Any) -> Resource:
        given = {
            "addonName": name,
            "clusterId": self.cluster.id,
            "removeAddonResourcesOnDelete": True,
        }
        return self.make(tokens.ADDON, logical or name, **{**given, **inputs})

    def policy(self, *rights: str) -> Resource:
        text = statements(self.cluster, rights or RIGHTS)
        return self.make(tokens.POLICY, "autoscaler", description="d", statements=text)

    def autoscaler(self, *, logical: str | None = None, **settings: str) -> Resource:
        configurations = [{"key": key, "value": value} for key, value in settings.items()]
        return self.addon("ClusterAutoscaler", logical, configurations=configurations)

    def kubernetes_scope(self, cluster: Resource | None = None) -> str:
        """Return the scope of a provider with the cluster's kubeconfig."""
        content = self.look(
            "oci:ContainerEngine/getClusterKubeConfig:getClusterKubeConfig",
            clusterId=(cluster or self.cluster).id,
        )["content"]
        return kubernetes.scope({"kubeconfig": content})


def as_json(value: object) -> str:
    return json.dumps(value)
