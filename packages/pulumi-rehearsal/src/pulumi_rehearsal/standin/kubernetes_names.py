"""Kubernetes' syntax of names, labels, keys and quantities.

The functions return why a text is invalid, or an empty string. Sources: kubernetes/kubernetes
staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, pkg/api/resource/quantity.go,
pkg/apis/core/validation/validation.go and
https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from pulumi_rehearsal.standin.values import UNKNOWN

_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DOMAIN: Final = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"

LABEL_KEY: Final = re.compile(f"({_DOMAIN}/)?{_NAME}")
LABEL_VALUE: Final = re.compile(f"({_NAME})?")
NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

_DATA_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_QUANTITY: Final = re.compile(r"([+-]?[0-9.]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?")

_FACTORS: Final[Mapping[str, Decimal]] = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}


def dns_label(name: str) -> str:
    """Check a name without dots, such as that of a Namespace."""
    if NAMESPACE.fullmatch(name) is None:
        return (
            "must be 1 to 63 lower-case letters, digits and '-', "
            "and begin and end with a letter or digit"
        )
    return ""


def dns_subdomain(name: str) -> str:
    """Check a name that may hold dots, which most kinds of object take."""
    if len(name) > 253:
        return f"has {len(name)} characters, the limit is 253"
    if any(_DNS_LABEL.fullmatch(part) is None for part in name.split(".")):
        return (
            "must be lower-case letters, digits, '-' and '.', "
            "each part beginning and ending with a letter or digit"
        )
    return ""


def path_segment(name: str) -> str:
    """Check a name that only has to fit into a URL, such as that of a Role."""
    if name in (".", "..") or "/" in name or "%" in name:
        return "must not be '.' or '..' and must not hold '/' or '%'"
    return ""


def label_key(key: str) -> str:
    """Check the key of a label or annotation: `[prefix/]name`."""
    prefix, slash, name = key.rpartition("/")
    if slash and (not prefix or dns_subdomain(prefix)):
        return "the part before '/' must be a DNS name"
    if re.fullmatch(_NAME, name) is None:
        return (
            "the name part must be 1 to 63 letters, digits, '-', '_' and '.', "
            "and begin and end with a letter or digit"
        )
    return ""


def label_value(value: str) -> str:
    """Check the value of a label, which may be empty."""
    if LABEL_VALUE.fullmatch(value) is None:
        return (
            "must be at most 63 letters, digits, '-', '_' and '.', "
            "and begin and end with a letter or digit"
        )
    return ""


def data_key(key: str) -> str:
    """Check a key of a Secret or ConfigMap."""
    if len(key) > 253 or key in (".", "..") or _DATA_KEY.fullmatch(key) is None:
        return "must be at most 253 letters, digits, '-', '_' and '.'"
    return ""


def quantity(value: Any) -> Decimal | None:
    """Return the number that a resource quantity means, in its base unit; `None` if invalid."""
    if value is UNKNOWN or isinstance(value, bool):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, suffix = match.group(1), match.group(2) or ""
    try:
        if suffix[:1] in ("e", "E") and suffix[-1].isdigit():
            return Decimal(f"{number}{suffix}")
        return Decimal(number) * _FACTORS[suffix]
    except InvalidOperation:
        return None
