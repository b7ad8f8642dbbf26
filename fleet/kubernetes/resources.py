"""Amounts of CPU, memory and disk, and how Kubernetes writes them.

Units: CPU in millicores (`_m`), memory and disk in MiB (`_mib`), all as whole numbers.
Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

import re
from dataclasses import dataclass

_QUANTITY = re.compile(
    r"\+?(?=\.?\d)(?P<whole>\d*)(?:\.(?P<fraction>\d*))?"
    r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?\d{1,2}))?",
    re.ASCII,
)
_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """CPU, memory and disk that a node has or that a container requests; none by default.

    A difference may be negative. It is then the amount that is missing.
    """

    cpu_m: int = 0
    memory_mib: int = 0
    disk_mib: int = 0

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(
            cpu_m=self.cpu_m + other.cpu_m,
            memory_mib=self.memory_mib + other.memory_mib,
            disk_mib=self.disk_mib + other.disk_mib,
        )

    def __sub__(self, other: "Resources") -> "Resources":
        return self + other.scaled(-1)

    def scaled(self, count: int) -> "Resources":
        """Return `count` times these resources."""
        return Resources(
            cpu_m=self.cpu_m * count,
            memory_mib=self.memory_mib * count,
            disk_mib=self.disk_mib * count,
        )

    def fits_in(self, other: "Resources") -> bool:
        """Return whether `other` has at least as much of each of the three."""
        return (
            self.cpu_m <= other.cpu_m
            and self.memory_mib <= other.memory_mib
            and self.disk_mib <= other.disk_mib
        )


def parse_cpu(quantity: str) -> int:
    """Return the millicores of a Kubernetes CPU quantity such as `500m`, `2` or `1.5`.

    A fraction of a millicore counts as a whole one, as in Kubernetes.

    Raises:
        ValueError: `quantity` is not a Kubernetes quantity, or is negative.

    """
    cores, parts = _parse(
        quantity, remedy='write cores such as "2" or "1.5", or millicores such as "500m"'
    )
    return -(-cores * 1000 // parts)


def parse_memory_mib(quantity: str) -> int:
    """Return the MiB, rounded down, of a Kubernetes quantity such as `16Gi`, `512Mi` or `1G`.

    Raises:
        ValueError: `quantity` is not a Kubernetes quantity, or is negative.

    """
    size, parts = _parse(quantity, remedy='write a number and a unit such as "16Gi" or "512Mi"')
    return size // (parts * _MIB)


def millicores(cpu_m: int) -> str:
    """Return a CPU quantity in millicores: `2000m`."""
    return f"{cpu_m}m"


def mebibytes(mib: int) -> str:
    """Return a memory or disk quantity in MiB: `16384Mi`."""
    return f"{mib}Mi"


def format_cpu(cpu_m: int) -> str:
    """Return millicores in the shortest form: `2500m`, or `2` for whole cores."""
    return f"{cpu_m}m" if cpu_m % 1000 else str(cpu_m // 1000)


def format_memory(memory_mib: int) -> str:
    """Return MiB in the shortest form: `1234Mi`, or `16Gi` for whole GiB."""
    return f"{memory_mib}Mi" if memory_mib % 1024 or not memory_mib else f"{memory_mib // 1024}Gi"


def _parse(quantity: str, *, remedy: str) -> tuple[int, int]:
    """Return the quantity as an exact fraction of two whole numbers."""
    match = _QUANTITY.fullmatch(quantity)
    if match is None:
        raise ValueError(f'"{quantity}" is not a Kubernetes quantity: {remedy}')
    fraction = match["fraction"] or ""
    suffix = match["suffix"]
    exponent = int(match["exponent"] or _DECIMAL_EXPONENTS.get(suffix, 0)) - len(fraction)
    numerator = int(match["whole"] + fraction) << _BINARY_EXPONENTS.get(suffix, 0)
    return numerator * 10 ** max(exponent, 0), 10 ** max(-exponent, 0)
