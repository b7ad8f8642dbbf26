"""IP addresses: what a cloud keeps of a subnet, and what an EKS node takes of it.

Counts are of IPv4 addresses. A pool that cannot get one fails to start nodes or pods with no word
about the reason, long after `up`.

Sources:
- AWS keeps the first four and the last address of a subnet:
  https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (from memory, not confirmed);
- OCI keeps the first two and the last: https://docs.oracle.com/en-us/iaas/Content/Network/Tasks/
  Overview_of_VCNs_and_Subnets.htm ;
- `ADDRESSES_PER_INTERFACE`: `Ipv4AddressesPerInterface` of EC2 DescribeInstanceTypes as stored in
  moto 5.2.5; p3 from an older awslabs/amazon-eks-ami files/eni-max-pods.txt, by its formula;
- warm interfaces: https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html and
  https://awslabs.github.io/ai-on-eks/docs/bestpractices/networking (its examples are tests here);
- service ranges: API_KubernetesNetworkConfigRequest; which of the two: the rule by which older
  awslabs/amazon-eks-ami files/bootstrap.sh finds the cluster's DNS address.
"""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network
from types import MappingProxyType
from typing import Final

from fleet.catalog.ec2 import InstanceType

AWS_RESERVED_PER_SUBNET: Final = 5
OCI_RESERVED_PER_SUBNET: Final = 3

EKS_SERVICE_RANGES: Final = (IPv4Network("10.100.0.0/16"), IPv4Network("172.20.0.0/16"))
"""What EKS gives to Services where the cluster names no range of its own."""

_TEN: Final = IPv4Network("10.0.0.0/8")


def eks_service_range(vpc: Iterable[IPv4Network]) -> IPv4Network:
    """Return the Service range that EKS takes by itself in a VPC of those ranges.

    It avoids 10.100.0.0/16 as soon as the VPC has any range in 10.0.0.0/8. It looks at nothing
    else, so the answer can still overlap a VPC in 172.20.0.0/16, or a peered network.
    """
    avoided = any(network.overlaps(_TEN) for network in vpc)
    return EKS_SERVICE_RANGES[1] if avoided else EKS_SERVICE_RANGES[0]


# A type's most pods, interfaces x (addresses - 1) + 2, tells its addresses per interface: the
# factors are the same for every type of the catalog with that number.
ADDRESSES_PER_INTERFACE: Final[Mapping[int, int]] = MappingProxyType(
    {
        20: 10,
        29: 10,
        58: 15,
        100: 50,
        118: 30,
        198: 50,
        234: 30,
        254: 64,
        292: 30,
        345: 50,
        492: 50,
        506: 64,
        632: 64,
        737: 50,
    }
)
"""`InstanceType.max_pods` -> addresses of one network interface, its own primary included."""


def node_addresses(instance: InstanceType, pods: int) -> int:
    """Return the addresses that a node with that many pods keeps from its subnet.

    The VPC CNI keeps one whole interface's worth of addresses free (WARM_ENI_TARGET=1, the
    default) and takes addresses an interface at a time. `pods` leaves out those on the host's
    network.
    """
    per_interface = ADDRESSES_PER_INTERFACE[instance.max_pods]
    usable = per_interface - 1
    most = (instance.max_pods - 2) // usable
    return min(-(-pods // usable) + 1, most) * per_interface
