"""Type tokens of OCI's resources: rules of one type refer to resources of others."""

from __future__ import annotations

from typing import Final

VCN: Final = "oci:Core/vcn:Vcn"
SUBNET: Final = "oci:Core/subnet:Subnet"
INTERNET_GATEWAY: Final = "oci:Core/internetGateway:InternetGateway"
NAT_GATEWAY: Final = "oci:Core/natGateway:NatGateway"
SERVICE_GATEWAY: Final = "oci:Core/serviceGateway:ServiceGateway"
ROUTE_TABLE: Final = "oci:Core/routeTable:RouteTable"
SECURITY_LIST: Final = "oci:Core/securityList:SecurityList"
SECURITY_GROUP: Final = "oci:Core/networkSecurityGroup:NetworkSecurityGroup"
SECURITY_RULE: Final = "oci:Core/networkSecurityGroupSecurityRule:NetworkSecurityGroupSecurityRule"

CLUSTER: Final = "oci:ContainerEngine/cluster:Cluster"
NODE_POOL: Final = "oci:ContainerEngine/nodePool:NodePool"
ADDON: Final = "oci:ContainerEngine/addon:Addon"

POLICY: Final = "oci:Identity/policy:Policy"

DOMAIN_USER: Final = "oci:Identity/domainsUser:DomainsUser"
DOMAIN_GROUP: Final = "oci:Identity/domainsGroup:DomainsGroup"
DOMAIN_APP: Final = "oci:Identity/domainsApp:DomainsApp"
DOMAIN_TRUST: Final = "oci:Identity/domainsIdentityPropagationTrust:DomainsIdentityPropagationTrust"
