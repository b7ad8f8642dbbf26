"""EC2 instance types: one row each, with everything that this program knows of a type.

To add a type, add a row to `INSTANCE_TYPES`, and the GPU model to `gpus.GPU_MODELS` if it is new.
Then run `make schema`, which adds the name to the JSON schema of the stack file. Nothing else lists
types: the EC2 quota, the AMI and the labels follow from the row and the name.

Units: memory in MiB as EC2 advertises it (the kernel shows less: see `kubelet`), GPU memory per
device that the plugin advertises, instance store in GB (10^9 bytes), price in USD per hour on
demand for Linux in us-east-1 (us-west-2 is the same for g4dn to g6e).

Sources:
- sizes, instance store, interfaces, EFA: EC2 DescribeInstanceTypes as stored in moto 5.2.5
  (getmoto/moto moto/ec2/resources/instance_types.json.gz, 2026-10-27); `max_pods` agrees with
  awslabs/amazon-eks-ami nodeadm/internal/kubelet/instance-info.jsonl for every type in it;
- p3.2xlarge, p3.8xlarge and p3.16xlarge are in neither any more. Size: EC2's P3 page as given in
  kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/ec2_instance_types.go; pods and
  addresses: an older awslabs/amazon-eks-ami files/eni-max-pods.txt;
- Capacity Blocks: types by `SupportedUsageClasses` of the same DescribeInstanceTypes; regions from
  https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html , read in a copy of
  autumn 2026, without Local Zones and GovCloud.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One EC2 instance type; the fields are the columns of the table below."""

    name: str
    vcpu: int
    memory_gib: int
    gpus: int
    """Devices that the plugin advertises. A type with a fraction of a card advertises one."""
    gpu: str | None
    """Key of `GPU_MODELS`; `None` without a GPU."""
    gpu_memory_gb: int
    """Per advertised device; 0 without a GPU."""
    nvme_gb: int
    """Total instance store; 0 without one."""
    max_pods: int
    """The VPC CNI's limit without prefix delegation, with the interfaces of the default network
    card: interfaces x (addresses per interface - 1) + 2."""
    addresses_per_interface: int
    """IPv4 addresses of one network interface, including its primary address."""
    efa_interfaces: int
    usd_per_hour: float
    price_list: str
    """Key of `_PRICE_LISTS`."""
    capacity_blocks: str
    """Regions that sell Capacity Blocks of the type, separated by spaces; empty without any."""

    @property
    def memory_mib(self) -> int:
        return self.memory_gib * 1024

    @property
    def network_cards(self) -> int:
        """Return the network cards. Each type with EFA has one EFA interface per card."""
        return max(self.efa_interfaces, 1)

    @property
    def price_date(self) -> date | None:
        """Return the day of the price list; `None` if the list has no date."""
        return _PRICE_LISTS[self.price_list][0]

    @property
    def price_source(self) -> str:
        return _PRICE_LISTS[self.price_list][1]

    @property
    def capacity_block_regions(self) -> frozenset[str]:
        return frozenset(self.capacity_blocks.split())

    @property
    def family(self) -> str:
        """Return the part of the name before the dot, such as `g4dn`."""
        return self.name.partition(".")[0]

    @property
    def scarce_on_spot(self) -> bool:
        """Return whether EC2 offers the type as spot but hardly ever has capacity.

        From memory: true for p4d and newer, which are the types with Capacity Blocks. AWS publishes
        no figure. Even On-Demand can lack p4d in a zone (InsufficientInstanceCapacity,
        aws/aws-parallelcluster-node pull request 560).
        """
        return bool(self.capacity_blocks)


class UnknownInstanceTypeError(ValueError):
    """The catalog has no EC2 instance type of that name. The message names similar ones."""


def instance_type(name: str) -> InstanceType:
    """Return the instance type of that name. Raises UnknownInstanceTypeError."""
    known = INSTANCE_TYPES.get(name)
    if known is None:
        from difflib import get_close_matches  # noqa: PLC0415 -- rarely needed, slow to import

        nearest = get_close_matches(name, INSTANCE_TYPES, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(nearest)}?" if nearest else "see fleet/catalog/ec2.py"
        raise UnknownInstanceTypeError(f'"{name}" is not a known EC2 instance type: {hint}')
    return known


PRICE_REGION: Final = "us-east-1"

_PRICE_LISTS: Final[Mapping[str, tuple[date | None, str]]] = MappingProxyType(
    {
        "a": (
            date(2025, 11, 30),
            "instances.vantage.sh export: tsaol/aws-gpu data/all_gpu_instances.js",
        ),
        "b": (date(2026, 8, 17), "AWS price API capture of that day in a public cost model"),
        "c": (date(2026, 8, 26), "instances.vantage.sh export: tsaol/aws-gpu data/*_instances.js"),
        "d": (
            date(2026, 11, 9),
            "https://raw.githubusercontent.com/datareceipts/data-receipts/main/109-gpu-pricing/hyperscalers.json",
        ),
        "e": (None, "several public copies of AWS' list agree; day not recorded, not confirmed"),
    }
)

# Regions with Capacity Blocks.
_P4D: Final = "us-east-1 us-east-2 us-west-2"
_P4DE: Final = "us-east-1 us-west-2"
_P5_4XL: Final = (
    "us-east-1 us-east-2 us-west-2 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 sa-east-1"
)
_P5_COMMON: Final = (
    "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 "
    "ap-southeast-2 ap-southeast-3"
)
_P5: Final = f"{_P5_COMMON} sa-east-1"
_P5EN: Final = f"{_P5_COMMON} eu-south-2 ap-northeast-2"
_P6: Final = "us-east-1 us-east-2 us-west-2 ap-south-1 ap-south-2"

_Row = tuple[str, int, int, int, str | None, int, int, int, int, int, float, str, str]
_PRO = "RTX PRO 6000"

# fmt: off
_ROWS: Final[tuple[_Row, ...]] = (
    # name              vCPU   GiB GPUs model       GB  NVMe pods IPs EFA USD/h     price blocks
    ("g4dn.xlarge",        4,   16, 1, "T4",         16,   125,  29, 10,  0, 0.526,     "a", ""),
    ("g4dn.2xlarge",       8,   32, 1, "T4",         16,   225,  29, 10,  0, 0.752,     "a", ""),
    ("g4dn.4xlarge",      16,   64, 1, "T4",         16,   225,  29, 10,  0, 1.204,     "a", ""),
    ("g4dn.8xlarge",      32,  128, 1, "T4",         16,   900,  58, 15,  1, 2.176,     "a", ""),
    ("g4dn.12xlarge",     48,  192, 4, "T4",         16,   900, 234, 30,  1, 3.912,     "a", ""),
    ("g4dn.16xlarge",     64,  256, 1, "T4",         16,   900,  58, 15,  1, 4.352,     "a", ""),
    ("g4dn.metal",        96,  384, 8, "T4",         16,  1800, 737, 50,  1, 7.824,     "a", ""),
    ("g5.xlarge",          4,   16, 1, "A10G",       24,   250,  58, 15,  0, 1.006,     "b", ""),
    ("g5.2xlarge",         8,   32, 1, "A10G",       24,   450,  58, 15,  0, 1.212,     "b", ""),
    ("g5.4xlarge",        16,   64, 1, "A10G",       24,   600, 234, 30,  0, 1.624,     "a", ""),
    ("g5.8xlarge",        32,  128, 1, "A10G",       24,   900, 234, 30,  1, 2.448,     "a", ""),
    ("g5.12xlarge",       48,  192, 4, "A10G",       24,  3800, 737, 50,  1, 5.672,     "a", ""),
    ("g5.16xlarge",       64,  256, 1, "A10G",       24,  1900, 234, 30,  1, 4.096,     "a", ""),
    ("g5.24xlarge",       96,  384, 4, "A10G",       24,  3800, 737, 50,  1, 8.144,     "a", ""),
    ("g5.48xlarge",      192,  768, 8, "A10G",       24,  7600, 345, 50,  1, 16.288,    "a", ""),
    ("g6.xlarge",          4,   16, 1, "L4",         24,   250,  58, 15,  0, 0.8048,    "b", ""),
    ("g6.2xlarge",         8,   32, 1, "L4",         24,   450,  58, 15,  0, 0.9776,    "b", ""),
    ("g6.4xlarge",        16,   64, 1, "L4",         24,   600, 234, 30,  0, 1.3232,    "a", ""),
    ("g6.8xlarge",        32,  128, 1, "L4",         24,   900, 234, 30,  1, 2.0144,    "a", ""),
    ("g6.12xlarge",       48,  192, 4, "L4",         24,  3760, 234, 30,  1, 4.6016,    "a", ""),
    ("g6.16xlarge",       64,  256, 1, "L4",         24,  1880, 737, 50,  1, 3.3968,    "a", ""),
    ("g6.24xlarge",       96,  384, 4, "L4",         24,  3760, 737, 50,  1, 6.6752,    "a", ""),
    ("g6.48xlarge",      192,  768, 8, "L4",         24,  7520, 737, 50,  1, 13.3504,   "a", ""),
    ("g6f.large",          2,    8, 1, "L4",          3,   100,  20, 10,  0, 0.202,     "c", ""),
    ("g6f.xlarge",         4,   16, 1, "L4",          3,   100,  58, 15,  0, 0.2375,    "c", ""),
    ("g6f.2xlarge",        8,   32, 1, "L4",          6,   200,  58, 15,  0, 0.475,     "c", ""),
    ("g6f.4xlarge",       16,   64, 1, "L4",         12,   450, 234, 30,  0, 0.95,      "c", ""),
    ("gr6.4xlarge",       16,  128, 1, "L4",         24,   600, 234, 30,  0, 1.5392,    "a", ""),
    ("gr6.8xlarge",       32,  256, 1, "L4",         24,   900, 234, 30,  1, 2.4464,    "a", ""),
    ("gr6f.4xlarge",      16,  128, 1, "L4",         12,   450, 234, 30,  0, 1.066,     "c", ""),
    ("g6e.xlarge",         4,   32, 1, "L40S",       48,   250,  58, 15,  0, 1.861,     "b", ""),
    ("g6e.2xlarge",        8,   64, 1, "L40S",       48,   450,  58, 15,  0, 2.24208,   "b", ""),
    ("g6e.4xlarge",       16,  128, 1, "L40S",       48,   600, 234, 30,  0, 3.00424,   "b", ""),
    ("g6e.8xlarge",       32,  256, 1, "L40S",       48,   900, 234, 30,  1, 4.52856,   "b", ""),
    ("g6e.12xlarge",      48,  384, 4, "L40S",       48,  3800, 292, 30,  1, 10.49264,  "b", ""),
    ("g6e.16xlarge",      64,  512, 1, "L40S",       48,  1900, 737, 50,  1, 7.57719,   "a", ""),
    ("g6e.24xlarge",      96,  768, 4, "L40S",       48,  3800, 492, 50,  2, 15.06559,  "a", ""),
    ("g6e.48xlarge",     192, 1536, 8, "L40S",       48,  7600, 492, 50,  4, 30.13118,  "a", ""),
    ("g7e.2xlarge",        8,   64, 1, _PRO,         96,  1900, 254, 64,  0, 3.36312,   "a", ""),
    ("g7e.4xlarge",       16,  128, 1, _PRO,         96,  1900, 506, 64,  0, 3.99816,   "a", ""),
    ("g7e.8xlarge",       32,  256, 1, _PRO,         96,  1900, 506, 64,  1, 5.26824,   "a", ""),
    ("g7e.12xlarge",      48,  512, 2, _PRO,         96,  3800, 632, 64,  1, 8.28608,   "a", ""),
    ("g7e.24xlarge",      96, 1024, 4, _PRO,         96,  7600, 632, 64,  2, 16.57216,  "a", ""),
    ("g7e.48xlarge",     192, 2048, 8, _PRO,         96, 15200, 632, 64,  4, 33.14432,  "a", ""),
    ("p3.2xlarge",         8,   61, 1, "V100",       16,     0,  58, 15,  0, 3.06,      "a", ""),
    ("p3.8xlarge",        32,  244, 4, "V100",       16,     0, 234, 30,  0, 12.24,     "a", ""),
    ("p3.16xlarge",       64,  488, 8, "V100",       16,     0, 234, 30,  0, 24.48,     "a", ""),
    ("p3dn.24xlarge",     96,  768, 8, "V100-32GB",  32,  1800, 737, 50,  1, 31.212,    "a", ""),
    ("p4d.24xlarge",      96, 1152, 8, "A100-40GB",  40,  8000, 737, 50,  4, 21.957642, "d", _P4D),
    ("p4de.24xlarge",     96, 1152, 8, "A100-80GB",  80,  8000, 737, 50,  4, 27.44705,  "d", _P4DE),
    ("p5.4xlarge",        16,  256, 1, "H100",       80,  3800, 118, 30,  1, 6.88,    "a", _P5_4XL),
    ("p5.48xlarge",      192, 2048, 8, "H100",       80, 30400, 100, 50, 32, 55.04,     "d", _P5),
    ("p5en.48xlarge",    192, 2048, 8, "H200",      141, 30400, 198, 50, 16, 63.296,    "a", _P5EN),
    ("p6-b200.48xlarge", 192, 2048, 8, "B200",      180, 30400, 198, 50,  8, 113.9328,  "a", _P6),
    ("m5.large",           2,    8, 0, None,          0,     0,  29, 10,  0, 0.096,     "e", ""),
    ("m5.xlarge",          4,   16, 0, None,          0,     0,  58, 15,  0, 0.192,     "e", ""),
    ("m5.2xlarge",         8,   32, 0, None,          0,     0,  58, 15,  0, 0.384,     "e", ""),
    ("m5.4xlarge",        16,   64, 0, None,          0,     0, 234, 30,  0, 0.768,     "e", ""),
    ("m6i.large",          2,    8, 0, None,          0,     0,  29, 10,  0, 0.096,     "e", ""),
    ("m6i.xlarge",         4,   16, 0, None,          0,     0,  58, 15,  0, 0.192,     "e", ""),
    ("m6i.2xlarge",        8,   32, 0, None,          0,     0,  58, 15,  0, 0.384,     "e", ""),
    ("m6i.4xlarge",       16,   64, 0, None,          0,     0, 234, 30,  0, 0.768,     "e", ""),
    ("m7i.large",          2,    8, 0, None,          0,     0,  29, 10,  0, 0.1008,    "e", ""),
    ("m7i.xlarge",         4,   16, 0, None,          0,     0,  58, 15,  0, 0.2016,    "e", ""),
    ("m7i.2xlarge",        8,   32, 0, None,          0,     0,  58, 15,  0, 0.4032,    "e", ""),
    ("m7i.4xlarge",       16,   64, 0, None,          0,     0, 234, 30,  0, 0.8064,    "e", ""),
)
# fmt: on

INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = MappingProxyType(
    {row[0]: InstanceType(*row) for row in _ROWS}
)
