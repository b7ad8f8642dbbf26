"""The type tokens of the resources that rules refer to, as the installed pulumi_aws spells them."""

from __future__ import annotations

from typing import Final

VPC: Final = "aws:ec2/vpc:Vpc"
SUBNET: Final = "aws:ec2/subnet:Subnet"
INTERNET_GATEWAY: Final = "aws:ec2/internetGateway:InternetGateway"
EIP: Final = "aws:ec2/eip:Eip"
NAT_GATEWAY: Final = "aws:ec2/natGateway:NatGateway"
ROUTE_TABLE: Final = "aws:ec2/routeTable:RouteTable"
ROUTE: Final = "aws:ec2/route:Route"
ROUTE_TABLE_ASSOCIATION: Final = "aws:ec2/routeTableAssociation:RouteTableAssociation"
VPC_ENDPOINT: Final = "aws:ec2/vpcEndpoint:VpcEndpoint"
SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT_GROUP: Final = "aws:ec2/placementGroup:PlacementGroup"

ROLE: Final = "aws:iam/role:Role"
ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
ROLE_POLICY_ATTACHMENT: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
POLICY: Final = "aws:iam/policy:Policy"
OIDC_PROVIDER: Final = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"

CLUSTER: Final = "aws:eks/cluster:Cluster"
ADDON: Final = "aws:eks/addon:Addon"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
ACCESS_ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
ACCESS_POLICY_ASSOCIATION: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
POD_IDENTITY_ASSOCIATION: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"

AUTO_SCALING_GROUP: Final = "aws:autoscaling/group:Group"
AUTO_SCALING_TAG: Final = "aws:autoscaling/tag:Tag"

KMS_KEY: Final = "aws:kms/key:Key"
KMS_ALIAS: Final = "aws:kms/alias:Alias"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"
BUCKET: Final = "aws:s3/bucket:Bucket"
BUCKET_PUBLIC_ACCESS_BLOCK: Final = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
