"""EC2 instance types: size, GPUs, instance store, network, price.

Units: memory in MiB as EC2 advertises it (the kernel shows less: see `kubelet`), GPU memory per
device that the plugin advertises, instance store in GB (10^9 bytes), price in USD per hour on
demand for Linux in us-east-1 (us-west-2 is the same for g4dn to g6e). `max_pods` is the VPC CNI's
formula without prefix delegation: interfaces x (addresses - 1) + 2, of the default network card.

Sources:
- sizes, instance store, EFA, cards: EC2 DescribeInstanceTypes as stored in moto 5.2.5
  (getmoto/moto moto/ec2/resources/instance_types.json.gz, 2026-10-27);
- interfaces and addresses: the same, equal to awslabs/amazon-eks-ami
  nodeadm/internal/kubelet/instance-info.jsonl for every type there;
- p3.2xlarge, p3.8xlarge and p3.16xlarge are in neither any more. Size: EC2's P3 page as given in
  kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/ec2_instance_types.go; pods: an older
  awslabs/amazon-eks-ami files/eni-max-pods.txt.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

from fleet.catalog.gpus import GPU_MODELS


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """One EC2 instance type; `gpu` is a key of `GPU_MODELS`, None where there is none."""

    name: str
    vcpu: int
    memory_mib: int
    gpus: int
    """Devices that the plugin advertises; a fractional type advertises one."""
    gpu: str | None
    gpu_memory_gb: int
    """Per advertised device; 0 without a GPU."""
    nvme_gb: int
    """Instance store in total; 0 where there is none."""
    nvme_disks: int
    max_pods: int
    efa_interfaces: int
    network_cards: int
    usd_per_hour: float
    price_date: date | None
    """Day of the price list that was read; None where it carried no date."""
    source: str

    @property
    def price_source(self) -> str:
        """Where the price was read."""
        return self.source.partition(_PRICE)[2]

    @property
    def family(self) -> str:
        """The part before the dot, such as `g4dn`."""
        return self.name.partition(".")[0]

    @property
    def fractional(self) -> bool:
        """Whether the one advertised device is a slice of a card (an NVIDIA vGPU).

        EC2 reports 0 GPUs for such a type and so does the autoscaler's table, which therefore
        needs a resource tag on the group.
        """
        return self.gpu is not None and self.gpu_memory_gb < GPU_MODELS[self.gpu].memory_gb


class UnknownInstanceType(ValueError):  # noqa: N818 (it reads as what it says)
    """The catalog has no such EC2 instance type; the message names the nearest ones."""


def instance_type(name: str) -> InstanceType:
    """Return the instance type of that name.

    Raises:
        UnknownInstanceType: the catalog does not have it.

    """
    known = INSTANCE_TYPES.get(name)
    if known is None:
        from difflib import get_close_matches  # noqa: PLC0415 (only a wrong name pays for it)

        nearest = get_close_matches(name, INSTANCE_TYPES, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(nearest)}?" if nearest else "see fleet/catalog/ec2.py"
        raise UnknownInstanceType(f'"{name}" is not an EC2 instance type of the catalog: {hint}')
    return known


PRICE_REGION: Final = "us-east-1"
"""Whose prices they are."""

_PRICE: Final = "; price: "

_PRICES: Final[Mapping[str, tuple[date | None, str]]] = MappingProxyType(
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

_Row = tuple[str, int, int, int, str | None, int, int, int, int, int, int, float, str]
_PRO = "RTX PRO 6000"

# fmt: off
_ROWS: Final[tuple[_Row, ...]] = (
    # name              vCPU  GiB GPUs model       GB   NVMe GB disks pods EFA cards USD/h    price
    ("g4dn.xlarge",        4,  16, 1, "T4",        16,    125, 1,  29,  0,  1,  0.526,    "a"),
    ("g4dn.2xlarge",       8,  32, 1, "T4",        16,    225, 1,  29,  0,  1,  0.752,    "a"),
    ("g4dn.4xlarge",      16,  64, 1, "T4",        16,    225, 1,  29,  0,  1,  1.204,    "a"),
    ("g4dn.8xlarge",      32, 128, 1, "T4",        16,    900, 1,  58,  1,  1,  2.176,    "a"),
    ("g4dn.12xlarge",     48, 192, 4, "T4",        16,    900, 1, 234,  1,  1,  3.912,    "a"),
    ("g4dn.16xlarge",     64, 256, 1, "T4",        16,    900, 1,  58,  1,  1,  4.352,    "a"),
    ("g4dn.metal",        96, 384, 8, "T4",        16,   1800, 2, 737,  1,  1,  7.824,    "a"),
    ("g5.xlarge",          4,  16, 1, "A10G",      24,    250, 1,  58,  0,  1,  1.006,    "b"),
    ("g5.2xlarge",         8,  32, 1, "A10G",      24,    450, 1,  58,  0,  1,  1.212,    "b"),
    ("g5.4xlarge",        16,  64, 1, "A10G",      24,    600, 1, 234,  0,  1,  1.624,    "a"),
    ("g5.8xlarge",        32, 128, 1, "A10G",      24,    900, 1, 234,  1,  1,  2.448,    "a"),
    ("g5.12xlarge",       48, 192, 4, "A10G",      24,   3800, 1, 737,  1,  1,  5.672,    "a"),
    ("g5.16xlarge",       64, 256, 1, "A10G",      24,   1900, 1, 234,  1,  1,  4.096,    "a"),
    ("g5.24xlarge",       96, 384, 4, "A10G",      24,   3800, 1, 737,  1,  1,  8.144,    "a"),
    ("g5.48xlarge",      192, 768, 8, "A10G",      24,   7600, 2, 345,  1,  1, 16.288,    "a"),
    ("g6.xlarge",          4,  16, 1, "L4",        24,    250, 1,  58,  0,  1,  0.8048,   "b"),
    ("g6.2xlarge",         8,  32, 1, "L4",        24,    450, 1,  58,  0,  1,  0.9776,   "b"),
    ("g6.4xlarge",        16,  64, 1, "L4",        24,    600, 1, 234,  0,  1,  1.3232,   "a"),
    ("g6.8xlarge",        32, 128, 1, "L4",        24,    900, 2, 234,  1,  1,  2.0144,   "a"),
    ("g6.12xlarge",       48, 192, 4, "L4",        24,   3760, 4, 234,  1,  1,  4.6016,   "a"),
    ("g6.16xlarge",       64, 256, 1, "L4",        24,   1880, 2, 737,  1,  1,  3.3968,   "a"),
    ("g6.24xlarge",       96, 384, 4, "L4",        24,   3760, 4, 737,  1,  1,  6.6752,   "a"),
    ("g6.48xlarge",      192, 768, 8, "L4",        24,   7520, 8, 737,  1,  1, 13.3504,   "a"),
    ("g6f.large",          2,   8, 1, "L4",         3,    100, 1,  20,  0,  1,  0.202,    "c"),
    ("g6f.xlarge",         4,  16, 1, "L4",         3,    100, 1,  58,  0,  1,  0.2375,   "c"),
    ("g6f.2xlarge",        8,  32, 1, "L4",         6,    200, 1,  58,  0,  1,  0.475,    "c"),
    ("g6f.4xlarge",       16,  64, 1, "L4",        12,    450, 1, 234,  0,  1,  0.95,     "c"),
    ("gr6.4xlarge",       16, 128, 1, "L4",        24,    600, 1, 234,  0,  1,  1.5392,   "a"),
    ("gr6.8xlarge",       32, 256, 1, "L4",        24,    900, 2, 234,  1,  1,  2.4464,   "a"),
    ("gr6f.4xlarge",      16, 128, 1, "L4",        12,    450, 1, 234,  0,  1,  1.066,    "c"),
    ("g6e.xlarge",         4,  32, 1, "L40S",      48,    250, 1,  58,  0,  1,  1.861,    "b"),
    ("g6e.2xlarge",        8,  64, 1, "L40S",      48,    450, 1,  58,  0,  1,  2.24208,  "b"),
    ("g6e.4xlarge",       16, 128, 1, "L40S",      48,    600, 1, 234,  0,  1,  3.00424,  "b"),
    ("g6e.8xlarge",       32, 256, 1, "L40S",      48,    900, 2, 234,  1,  1,  4.52856,  "b"),
    ("g6e.12xlarge",      48, 384, 4, "L40S",      48,   3800, 2, 292,  1,  1, 10.49264,  "b"),
    ("g6e.16xlarge",      64, 512, 1, "L40S",      48,   1900, 2, 737,  1,  1,  7.57719,  "a"),
    ("g6e.24xlarge",      96, 768, 4, "L40S",      48,   3800, 2, 492,  2,  2, 15.06559,  "a"),
    ("g6e.48xlarge",     192, 1536, 8, "L40S",     48,   7600, 4, 492,  4,  4, 30.13118,  "a"),
    ("g7e.2xlarge",        8,  64, 1, _PRO,        96,   1900, 1, 254,  0,  1,  3.36312,  "a"),
    ("g7e.4xlarge",       16, 128, 1, _PRO,        96,   1900, 1, 506,  0,  1,  3.99816,  "a"),
    ("g7e.8xlarge",       32, 256, 1, _PRO,        96,   1900, 1, 506,  1,  1,  5.26824,  "a"),
    ("g7e.12xlarge",      48, 512, 2, _PRO,        96,   3800, 1, 632,  1,  1,  8.28608,  "a"),
    ("g7e.24xlarge",      96, 1024, 4, _PRO,       96,   7600, 2, 632,  2,  2, 16.57216,  "a"),
    ("g7e.48xlarge",     192, 2048, 8, _PRO,       96,  15200, 4, 632,  4,  4, 33.14432,  "a"),
    ("p3.2xlarge",         8,  61, 1, "V100",      16,      0, 0,  58,  0,  1,  3.06,     "a"),
    ("p3.8xlarge",        32, 244, 4, "V100",      16,      0, 0, 234,  0,  1, 12.24,     "a"),
    ("p3.16xlarge",       64, 488, 8, "V100",      16,      0, 0, 234,  0,  1, 24.48,     "a"),
    ("p3dn.24xlarge",     96, 768, 8, "V100-32GB", 32,   1800, 2, 737,  1,  1, 31.212,    "a"),
    ("p4d.24xlarge",      96, 1152, 8, "A100-40GB", 40,  8000, 8, 737,  4,  4, 21.957642, "d"),
    ("p4de.24xlarge",     96, 1152, 8, "A100-80GB", 80,  8000, 8, 737,  4,  4, 27.44705,  "d"),
    ("p5.4xlarge",        16, 256, 1, "H100",      80,   3800, 1, 118,  1,  1,  6.88,     "a"),
    ("p5.48xlarge",      192, 2048, 8, "H100",     80,  30400, 8, 100, 32, 32, 55.04,     "d"),
    ("p5en.48xlarge",    192, 2048, 8, "H200",    141,  30400, 8, 198, 16, 16, 63.296,    "a"),
    ("p6-b200.48xlarge", 192, 2048, 8, "B200",    180,  30400, 8, 198,  8,  8, 113.9328,  "a"),
    ("m5.large",           2,   8, 0, None,         0,      0, 0,  29,  0,  1,  0.096,    "e"),
    ("m5.xlarge",          4,  16, 0, None,         0,      0, 0,  58,  0,  1,  0.192,    "e"),
    ("m5.2xlarge",         8,  32, 0, None,         0,      0, 0,  58,  0,  1,  0.384,    "e"),
    ("m5.4xlarge",        16,  64, 0, None,         0,      0, 0, 234,  0,  1,  0.768,    "e"),
    ("m6i.large",          2,   8, 0, None,         0,      0, 0,  29,  0,  1,  0.096,    "e"),
    ("m6i.xlarge",         4,  16, 0, None,         0,      0, 0,  58,  0,  1,  0.192,    "e"),
    ("m6i.2xlarge",        8,  32, 0, None,         0,      0, 0,  58,  0,  1,  0.384,    "e"),
    ("m6i.4xlarge",       16,  64, 0, None,         0,      0, 0, 234,  0,  1,  0.768,    "e"),
    ("m7i.large",          2,   8, 0, None,         0,      0, 0,  29,  0,  1,  0.1008,   "e"),
    ("m7i.xlarge",         4,  16, 0, None,         0,      0, 0,  58,  0,  1,  0.2016,   "e"),
    ("m7i.2xlarge",        8,  32, 0, None,         0,      0, 0,  58,  0,  1,  0.4032,   "e"),
    ("m7i.4xlarge",       16,  64, 0, None,         0,      0, 0, 234,  0,  1,  0.8064,   "e"),
)
# fmt: on


def _from_row(row: _Row) -> InstanceType:
    (name, vcpu, gib, gpus, gpu, gpu_gb, nvme_gb, disks, pods, efa, cards, usd, price) = row
    price_date, price_source = _PRICES[price]
    return InstanceType(
        name=name,
        vcpu=vcpu,
        memory_mib=gib * 1024,
        gpus=gpus,
        gpu=gpu,
        gpu_memory_gb=gpu_gb,
        nvme_gb=nvme_gb,
        nvme_disks=disks,
        max_pods=pods,
        efa_interfaces=efa,
        network_cards=cards,
        usd_per_hour=usd,
        price_date=price_date,
        source=f"size: see the module's sources{_PRICE}{price_source}",
    )


INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = MappingProxyType(
    {row[0]: _from_row(row) for row in _ROWS}
)
