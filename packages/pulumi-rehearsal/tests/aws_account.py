"""An account in which a test makes, changes and deletes things as the server does."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from cloud_account import CloudAccount
from pulumi_rehearsal.standin.aws import KINDS, LOOKUPS, tokens
from pulumi_rehearsal.standin.kind import Properties, Resource

SCOPE = "aws:us-west-2"
AWS_POLICY = "arn:aws:iam::aws:policy/"
NODE_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKS_CNI_Policy",
)

_KINDS = {kind.token: kind for kind in KINDS}
_LOOKUPS = {lookup.token: lookup for lookup in LOOKUPS}


def trust(service: str, *actions: str) -> str:
    statement = {
        "Effect": "Allow",
        "Action": list(actions) or ["sts:AssumeRole"],
        "Principal": {"Service": service},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def user_data(document: str, kind: str = "application/node.eks.aws") -> str:
    archive = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n'
        f"--//\nContent-Type: {kind}\n\n{document}\n--//--\n"
    )
    return base64.b64encode(archive.encode()).decode()


@dataclass
class Account(CloudAccount):
    """One account in one region."""

    kinds = _KINDS
    lookups = _LOOKUPS
    home = SCOPE

    # Larger things

    def role(
        self, name: str, service: str, *policies: str, actions: tuple[str, ...] = ()
    ) -> Resource:
        role = self.make(tokens.ROLE, name, assumeRolePolicy=trust(service, *actions))
        for policy in policies:
            self.attach(role, policy)
        return role

    def attach(self, role: Resource, policy: str) -> Resource:
        return self.make(
            tokens.ROLE_POLICY_ATTACHMENT,
            f"{role.name}-{policy}",
            role=role.outputs["name"],
            policyArn=AWS_POLICY + policy,
        )

    def vpc(self, name: str = "net", block: str = "10.0.0.0/16") -> Resource:
        return self.make(tokens.VPC, name, cidrBlock=block)

    def subnet(
        self, vpc: Resource, name: str, block: str, zone: str = "a", **inputs: Any
    ) -> Resource:
        return self.make(
            tokens.SUBNET,
            name,
            vpcId=vpc.id,
            cidrBlock=block,
            availabilityZone=f"us-west-2{zone}",
            **inputs,
        )

    def route(self, name: str, vpc: Resource, subnets: list[Resource], **target: str) -> Resource:
        table = self.make(tokens.ROUTE_TABLE, f"{name}-table", vpcId=vpc.id)
        self.make(
            tokens.ROUTE,
            f"{name}-route",
            routeTableId=table.id,
            destinationCidrBlock="0.0.0.0/0",
            **target,
        )
        for subnet in subnets:
            self.make(
                tokens.ROUTE_TABLE_ASSOCIATION,
                f"{name}-{subnet.name}",
                routeTableId=table.id,
                subnetId=subnet.id,
            )
        return table


@dataclass
class Fleet(Account):
    """An account with a network, a cluster with the add-ons of nodes, and a node role."""

    def __post_init__(self) -> None:
        self.network = self.vpc()
        gateway = self.make(tokens.INTERNET_GATEWAY, "gateway", vpcId=self.network.id)
        self.public = self.subnet(self.network, "public", "10.0.0.0/24", mapPublicIpOnLaunch=True)
        self.private = [
            self.subnet(self.network, "private-a", "10.0.1.0/24", "a"),
            self.subnet(self.network, "private-b", "10.0.2.0/24", "b"),
        ]
        self.route("public", self.network, [self.public], gatewayId=gateway.id)
        eip = self.make(tokens.EIP, "nat", domain="vpc")
        self.nat = self.make(
            tokens.NAT_GATEWAY, "nat", subnetId=self.public.id, allocationId=eip.id
        )
        self.route("private", self.network, self.private, natGatewayId=self.nat.id)
        self.cluster_role = self.role("control", "eks.amazonaws.com", "AmazonEKSClusterPolicy")
        self.node_role = self.role("node", "ec2.amazonaws.com", *NODE_POLICIES)
        self.cluster = self.make_cluster("ci")
        for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
            self.addon(name)

    @property
    def private_ids(self) -> list[str]:
        return [subnet.id for subnet in self.private]

    def make_cluster(self, name: str, /, **inputs: Any) -> Resource:
        given = {
            "name": name,
            "roleArn": self.cluster_role.outputs["arn"],
            "version": "1.35",
            "vpcConfig": {"subnetIds": self.private_ids},
            "accessConfig": {"authenticationMode": "API"},
            "bootstrapSelfManagedAddons": False,
        }
        return self.make(tokens.CLUSTER, name, **{**given, **inputs})

    def addon(self, name: str, /, **inputs: Any) -> Resource:
        return self.make(tokens.ADDON, name, clusterName=self.cluster.id, addonName=name, **inputs)

    def template(self, name: str = "t4", /, **inputs: Any) -> Resource:
        return self.make(tokens.LAUNCH_TEMPLATE, name, **inputs)

    def pool(
        self,
        name: str = "t4",
        /,
        *,
        sizes: tuple[int, int, int] = (0, 0, 4),
        template: Resource | None = None,
        **inputs: Any,
    ) -> Resource:
        """`sizes` are min, desired, max; a GPU pool unless told otherwise."""
        low, wanted, high = sizes
        given: Properties = {
            "amiType": "AL2023_x86_64_NVIDIA",
            "clusterName": self.cluster.id,
            "instanceTypes": ["g4dn.xlarge"],
            "nodeRoleArn": self.node_role.outputs["arn"],
            "scalingConfig": {"minSize": low, "desiredSize": wanted, "maxSize": high},
            "subnetIds": self.private_ids,
        }
        if template is not None:
            given["launchTemplate"] = {
                "id": template.id,
                "version": str(self.now(template).outputs["latestVersion"]),
            }
        merged = {**given, **inputs}
        known = {key: value for key, value in merged.items() if value is not None}
        return self.make(tokens.NODE_GROUP, name, **known)

    def system_pool(self, **inputs: Any) -> Resource:
        return self.pool(
            "system",
            sizes=(2, 2, 4),
            **{
                "amiType": "AL2023_x86_64_STANDARD",
                "instanceTypes": ["m6i.large"],
                "labels": {"gpu-runners/role": "system"},
                **inputs,
            },
        )
