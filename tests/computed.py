"""Computed outputs of every resource type that the program registers.

The table also lists types that compute only an ID. The fake engine refuses a type that is missing.
Keys have the provider's spelling.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

ACCOUNT: Final = "111122223333"
GITLAB_TOKEN: Final = "glrt-computed-by-gitlab"
"""Secret text: what GitLab returns when a runner is created."""

OCI_CLIENT_SECRET: Final = "secret-that-oci-makes-up"
"""Secret text: what an application of an identity domain signs in with."""

Computed = Callable[[str, Mapping[str, Any]], dict[str, Any]]


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:us-west-2:{ACCOUNT}:{resource}"


def _nothing(_name: str, _inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _arn_of(service: str, kind: str) -> Computed:
    return lambda name, _inputs: {"arn": _arn(service, f"{kind}/{name}")}


def _named(service: str, kind: str) -> Computed:
    """For what the AWS provider names itself: logical name and seven hexadecimal digits."""
    return lambda name, _inputs: {
        "name": f"{name}-1a2b3c4",
        "arn": _arn(service, f"{kind}/{name}-1a2b3c4"),
    }


def _role(name: str, _inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": f"{name}-1a2b3c4", "arn": f"arn:aws:iam::{ACCOUNT}:role/{name}-1a2b3c4"}


def _cluster(_name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    called = inputs["name"]
    return {
        "arn": _arn("eks", f"cluster/{called}"),
        "endpoint": f"https://{called}.gr7.us-west-2.eks.amazonaws.com",
        "certificateAuthority": {"data": "Y2VydGlmaWNhdGU="},
        "vpcConfig": {"clusterSecurityGroupId": f"sg-cluster-{called}", "vpcId": "vpc-1"},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks/{called}"}]}],
        "platformVersion": "eks.5",
        "status": "ACTIVE",
    }


def _node_group(name: str, _inputs: Mapping[str, Any]) -> dict[str, Any]:
    physical = f"{name}-1a2b3c4"
    return {
        "nodeGroupName": physical,
        "arn": _arn("eks", f"nodegroup/{physical}"),
        "resources": [
            {
                "autoscalingGroups": [{"name": f"eks-{physical}-0000"}],
                "remoteAccessSecurityGroupId": "",
            }
        ],
        "status": "ACTIVE",
    }


def _launch_template(name: str, _inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{name}-1a2b3c4",
        "arn": _arn("ec2", f"launch-template/{name}"),
        "latestVersion": 3,
        "defaultVersion": 1,
    }


def _oke_cluster(_name: str, _inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "endpoints": [
            {
                "ipv6endpoint": "",
                "kubernetes": "",
                "privateEndpoint": "10.2.1.2:6443",
                "publicEndpoint": "203.0.113.9:6443",
                "vcnHostnameEndpoint": "",
            }
        ],
        "state": "ACTIVE",
    }


OKE_KUBECONFIG: Final = """\
clusters:
- name: theirs
  cluster: {certificate-authority-data: Y2VydGlmaWNhdGU=, server: "https://elsewhere:6443"}
"""

OCI_CALLS: Final[Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {
    "oci:Core/getServices:getServices": lambda _arguments: {
        "id": "services",
        "services": [
            {
                "id": "ocid1.service.oc1.iad.all",
                "name": "All IAD Services In Oracle Services Network",
                "cidrBlock": "all-iad-services-in-oracle-services-network",
                "description": "all",
            }
        ],
    },
    "oci:ContainerEngine/getClusterKubeConfig:getClusterKubeConfig": lambda arguments: {
        "id": "kubeconfig",
        "clusterId": arguments["clusterId"],
        "content": OKE_KUBECONFIG,
    },
    "oci:ContainerEngine/getNodePools:getNodePools": lambda arguments: {
        "id": "pools",
        "compartmentId": arguments["compartmentId"],
        "nodePools": [],
    },
    "oci:ContainerEngine/getNodePoolOption:getNodePoolOption": lambda arguments: {
        "id": "options",
        "nodePoolOptionId": "all",
        "sources": [
            {
                "imageId": f"ocid1.image.oc1.iad.{kind or 'plain'}",
                "sourceName": f"Oracle-Linux-9.7{kind}-2026.06.15-0-OKE-"
                f"{arguments['nodePoolK8sVersion'].removeprefix('v')}-1505",
                "sourceType": "IMAGE",
            }
            for kind in ("", "-Gen2-GPU")
        ],
        "images": [],
        "kubernetesVersions": [],
        "shapes": [],
    },
}
"""Answers of OCI before the resources of the stack exist."""


COMPUTED: Final[Mapping[str, Computed]] = {
    "aws:autoscaling/tag:Tag": _nothing,
    "aws:cloudwatch/logGroup:LogGroup": _arn_of("logs", "log-group"),
    "aws:ec2/eip:Eip": lambda name, _inputs: {"allocationId": f"eipalloc-{name}"},
    "aws:ec2/internetGateway:InternetGateway": _arn_of("ec2", "internet-gateway"),
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:ec2/natGateway:NatGateway": lambda _name, _inputs: {"publicIp": "203.0.113.7"},
    "aws:ec2/placementGroup:PlacementGroup": _named("ec2", "placement-group"),
    "aws:ec2/route:Route": _nothing,
    "aws:ec2/routeTable:RouteTable": _arn_of("ec2", "route-table"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _nothing,
    "aws:ec2/securityGroup:SecurityGroup": _named("ec2", "security-group"),
    "aws:ec2/subnet:Subnet": _arn_of("ec2", "subnet"),
    "aws:ec2/vpc:Vpc": _arn_of("ec2", "vpc"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _arn_of("ec2", "vpc-endpoint"),
    "aws:eks/accessEntry:AccessEntry": lambda name, _inputs: {
        "accessEntryArn": _arn("eks", f"access-entry/{name}")
    },
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _nothing,
    "aws:eks/addon:Addon": lambda name, _inputs: {
        "arn": _arn("eks", f"addon/{name}"),
        "addonVersion": "v1.0.0-eksbuild.1",
    },
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": lambda name, _inputs: {
        "associationId": f"a-{name}"
    },
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": lambda _name, inputs: {
        "arn": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{str(inputs.get('url')).removeprefix('https://')}"
    },
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": lambda name, _inputs: {"name": f"{name}-1a2b3c4"},
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _nothing,
    "aws:kms/alias:Alias": _nothing,
    "aws:kms/key:Key": lambda name, _inputs: {"keyId": name, "arn": _arn("kms", f"key/{name}")},
    "aws:s3/bucket:Bucket": lambda name, inputs: {
        "bucket": inputs.get("bucket", f"{name}-1a2b3c4"),
        "arn": f"arn:aws:s3:::{inputs.get('bucket', f'{name}-1a2b3c4')}",
    },
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _nothing,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _nothing,
    "aws:s3/bucketPolicy:BucketPolicy": _nothing,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _nothing,
    "aws:s3/bucketServerSideEncryptionConfiguration:"
    "BucketServerSideEncryptionConfiguration": _nothing,
    "aws:s3/bucketVersioning:BucketVersioning": _nothing,
    "oci:ContainerEngine/addon:Addon": lambda _name, _inputs: {"state": "ACTIVE"},
    "oci:ContainerEngine/cluster:Cluster": _oke_cluster,
    "oci:ContainerEngine/nodePool:NodePool": lambda _name, _inputs: {"state": "ACTIVE"},
    "oci:Core/internetGateway:InternetGateway": _nothing,
    "oci:Core/natGateway:NatGateway": lambda _name, _inputs: {"natIp": "203.0.113.8"},
    "oci:Core/networkSecurityGroup:NetworkSecurityGroup": _nothing,
    "oci:Core/networkSecurityGroupSecurityRule:NetworkSecurityGroupSecurityRule": _nothing,
    "oci:Core/routeTable:RouteTable": _nothing,
    "oci:Core/securityList:SecurityList": _nothing,
    "oci:Core/serviceGateway:ServiceGateway": _nothing,
    "oci:Core/subnet:Subnet": _nothing,
    "oci:Core/vcn:Vcn": _nothing,
    "oci:Identity/domainsApp:DomainsApp": lambda name, _inputs: {
        "name": f"client-id-of-{name}",
        "clientSecret": OCI_CLIENT_SECRET,
    },
    "oci:Identity/domainsGroup:DomainsGroup": _nothing,
    "oci:Identity/domainsIdentityPropagationTrust:DomainsIdentityPropagationTrust": _nothing,
    "oci:Identity/domainsUser:DomainsUser": _nothing,
    "oci:Identity/policy:Policy": _nothing,
    "gitlab:index/userRunner:UserRunner": lambda _name, _inputs: {"token": GITLAB_TOKEN},
    "kubernetes:apps/v1:DaemonSet": _nothing,
    "kubernetes:core/v1:ServiceAccount": _nothing,
    "kubernetes:rbac.authorization.k8s.io/v1:Role": _nothing,
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": _nothing,
    "kubernetes:core/v1:ConfigMap": _nothing,
    "kubernetes:core/v1:Namespace": _nothing,
    "kubernetes:core/v1:Secret": _nothing,
    "kubernetes:policy/v1:PodDisruptionBudget": _nothing,
    "kubernetes:helm.sh/v3:Release": lambda _name, inputs: {
        "status": {"status": "deployed", "version": inputs["version"]}
    },
    "kubernetes:helm.sh/v4:Chart": lambda _name, _inputs: {"resources": []},
    "kubernetes:yaml/v2:ConfigGroup": lambda _name, _inputs: {"resources": []},
    "pulumi:providers:aws": _nothing,
    "pulumi:providers:gitlab": _nothing,
    "pulumi:providers:kubernetes": _nothing,
    "pulumi:providers:oci": _nothing,
}
