"""The number of MIG instances of one GPU, by model and profile.

Profiles with media extensions or attributes are left out.

Sources: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html (names
for A100-80GB) and supported-gpus.html in the same folder (maximum of each card); names for B200 and
RTX PRO 6000 and the counts 7, 4, 3, 2, 1, 1: aws/sagemaker-hyperpod-cli pull request 403. Names for
A30, A100-40GB, H100, H100-NVL and H200: from memory, not confirmed.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_SEVENTHS: Final = (7, 4, 3, 2, 1, 1)
"""Instances of the six profiles of a card with seven compute slices, the smallest first."""

# fmt: off
_PROFILES: Final = (
    ("A100-40GB", ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")),
    ("A100-80GB", ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    ("H100",      ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    ("H100-NVL",  ("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb")),
    ("H200",      ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")),
    ("B200",      ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")),
)
# fmt: on

MIG_INSTANCES: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        **{
            model: MappingProxyType(dict(zip(profiles, _SEVENTHS, strict=True)))
            for model, profiles in _PROFILES
        },
        "A30": MappingProxyType({"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1}),
        "RTX PRO 6000": MappingProxyType({"1g.24gb": 4, "2g.48gb": 2, "4g.96gb": 1}),
    }
)
"""Instances of one card by model (a key of `fleet.catalog.gpus.GPU_MODELS`) and profile."""


_USABLE_SHARE: Final = 0.97
"""Estimated share of the memory in a profile's name that a job can use.

nvidia-smi shows 9.75, 19.62, 39.5 and 79.25 GiB for the profiles of 10, 20, 40 and 80 GB.
"""


def mig_memory_gb(profile: str) -> int:
    """Return the GB in the name of a profile: 5 for `1g.5gb`."""
    return int(profile.partition(".")[2].removesuffix("gb"))


def mig_usable_mib(profile: str) -> int:
    """Return the estimated MiB for a job on an instance of that profile."""
    return int(mig_memory_gb(profile) * 1024 * _USABLE_SHARE)
