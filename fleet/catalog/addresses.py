"""IPv4 addresses: how many a cloud reserves in a subnet, and how many an EKS node holds.

A pool without free addresses fails to start nodes or pods long after `pulumi up`, without a message
that names the reason.

Sources:
- AWS reserves the first four and the last address of a subnet:
  https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html (from memory, not confirmed);
- OCI reserves the first two and the last: https://docs.oracle.com/en-us/iaas/Content/Network/Tasks/
  Overview_of_VCNs_and_Subnets.htm ;
- warm interfaces: https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html and
  https://awslabs.github.io/ai-on-eks/docs/bestpractices/networking (the tests use its examples).
"""

from typing import Final

from fleet.catalog.ec2 import InstanceType

AWS_RESERVED_PER_SUBNET: Final = 5
OCI_RESERVED_PER_SUBNET: Final = 3


def node_addresses(instance: InstanceType, pods: int) -> int:
    """Return the addresses that a node with that many pods takes from its subnet.

    The VPC CNI takes the addresses of one interface at a time and keeps one interface of free
    addresses (WARM_ENI_TARGET=1, the default). Do not count pods on the host network.
    """
    usable = instance.addresses_per_interface - 1
    interfaces = (instance.max_pods - 2) // usable
    return min(-(-pods // usable) + 1, interfaces) * instance.addresses_per_interface
