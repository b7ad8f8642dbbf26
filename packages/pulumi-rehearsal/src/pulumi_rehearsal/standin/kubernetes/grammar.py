"""Kubernetes' grammar of names, labels, keys and quantities, as functions that say what is wrong.

Each function returns the reason, or an empty string. Sources: kubernetes/kubernetes
staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, pkg/api/resource/quantity.go and
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from pulumi_rehearsal.standin.values import UNKNOWN, Properties

Problem = tuple[str, str]
"""A path, and what is wrong there."""

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
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


def below(path: str, inner: str) -> str:
    """A path in what lies at `path`; an empty `inner` is the thing itself."""
    return f"{path}.{inner}" if inner else path


def dns_label(name: str) -> str:
    """A name of at most 63 characters without dots, such as a Namespace's."""
    if len(name) > 63:
        return f"has {len(name)} characters, the limit is 63"
    if _LABEL.fullmatch(name) is None:
        return "must be lower-case letters, digits and '-', and begin and end with one of the first"
    return ""


def dns_subdomain(name: str) -> str:
    """A name of at most 253 characters, labels joined by dots: what most objects have."""
    if len(name) > 253:
        return f"has {len(name)} characters, the limit is 253"
    if any(_LABEL.fullmatch(part) is None for part in name.split(".")):
        return (
            "must be lower-case letters, digits, '-' and '.', "
            "each part beginning and ending with a letter or digit"
        )
    return ""


def path_segment(name: str) -> str:
    """A name that only has to fit into a URL, such as a Role's."""
    if name in (".", "..") or "/" in name or "%" in name:
        return "must not be '.' or '..' and hold neither '/' nor '%'"
    return ""


def label_key(key: str) -> str:
    """The key of a label or annotation: `[prefix/]name`."""
    prefix, slash, name = key.rpartition("/")
    if slash and (not prefix or dns_subdomain(prefix)):
        return "the part before '/' must be a DNS name"
    if len(name) > 63:
        return f"the name part has {len(name)} characters, the limit is 63"
    if _QUALIFIED.fullmatch(name) is None:
        return (
            "the name part must be letters, digits, '-', '_' and '.', "
            "and begin and end with a letter or digit"
        )
    return ""


def label_value(value: str) -> str:
    """The value of a label; it may be empty."""
    if len(value) > 63:
        return f"has {len(value)} characters, the limit is 63"
    if value and _QUALIFIED.fullmatch(value) is None:
        return "must be letters, digits, '-', '_' and '.', and begin and end with a letter or digit"
    return ""


def data_key(key: str) -> str:
    """A key in a Secret or ConfigMap."""
    if len(key) > 253 or key in (".", "..") or _DATA_KEY.fullmatch(key) is None:
        return "must be at most 253 of letters, digits, '-', '_' and '.'"
    return ""


def label_problems(labels: Properties, path: str) -> Iterator[Problem]:
    """What is wrong with a mapping of labels."""
    for key, value in labels.items():
        if reason := label_key(key):
            yield f"{path}.{key}", reason
        if isinstance(value, str) and (reason := label_value(value)):
            yield f"{path}.{key}", reason


def annotation_problems(annotations: Properties, path: str) -> Iterator[Problem]:
    """What is wrong with a mapping of annotations: keys only, values are free."""
    for key in annotations:
        # Prefixes of annotations are compared without regard to case.
        if reason := label_key(key.lower()):
            yield f"{path}.{key}", reason


def quantity(value: Any) -> Decimal | None:
    """The number that a resource quantity means, in its base unit; None where it is none."""
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
