"""EC2 instance types: architecture, GPUs, EFA network cards.

EFA:
aws/eks-charts stable/aws-efa-k8s-device-plugin/values.yaml; network cards:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
"""

from __future__ import annotations

import re
from typing import Final

_TYPE: Final = re.compile(r"([a-z]+\d*[a-z0-9-]*)\.(\d*[a-z0-9-]+)")
_GRAVITON: Final = re.compile(r"[a-z]+\d+g[a-z]*|p6e-gb200")
_NVIDIA: Final = re.compile(r"p\d[a-z0-9-]*|g4dn|g5|g5g|g6|g6e|g6f|gr6|gr6f|g7|g7e")

_CARDS: Final = {
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "g7e.24xlarge": 2,
    "g7e.48xlarge": 4,
    "p3dn.24xlarge": 1,
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.4xlarge": 1,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
}
_SINGLE_CARD: Final = re.compile(
    r"(g4dn\.(8|12|16)xlarge|g4dn\.metal|(g5|g6|g6e)\.(8|12|16|24|48)xlarge|gr6\.8xlarge|"
    r"g7e\.(8|12|24|48)xlarge)"
)


def is_type(name: str) -> bool:
    """Whether `name` has the form of an instance type."""
    return _TYPE.fullmatch(name) is not None


def is_arm(name: str) -> bool:
    """Whether the type has an Arm processor."""
    return _GRAVITON.fullmatch(name.partition(".")[0]) is not None


def has_nvidia_gpu(name: str) -> bool:
    """Whether the type has an NVIDIA GPU, or a part of one."""
    return _NVIDIA.fullmatch(name.partition(".")[0]) is not None


def efa_cards(name: str) -> int:
    """Return the number of network cards with EFA, 0 for an unknown type."""
    return _CARDS.get(name, 1 if _SINGLE_CARD.fullmatch(name) else 0)
