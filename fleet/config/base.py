"""The base model and the small validated types that the stack file is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Final, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.limits import SCALE_SET
from fleet.catalog.tokens import TOKEN_START
from fleet.kubernetes.resources import parse_cpu, parse_memory_mib


class Rule(NamedTuple):
    """A rule that a model breaks: the field (empty for the model), what is wrong, what to do."""

    field: str
    message: str
    remedy: str


class Model(BaseModel):
    """Frozen, strict, and closed: an unknown key or a number written as text is an error.

    pydantic checks each field, then `rules()` what several fields of one model must agree on.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True
    )

    def rules(self) -> Iterator[Rule]:
        """Yield the rules that this model breaks, its children aside."""
        yield from ()

    @model_validator(mode="after")
    def _keeps_its_rules(self) -> Self:
        if broken := tuple(self.rules()):
            text = "; ".join(f"{rule.field} {rule.message}".strip() for rule in broken)
            raise PydanticCustomError("rule", "{text}", {"rules": broken, "text": text})
        return self


NAME: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_CONFIG_KEY = r"[A-Za-z][A-Za-z0-9_-]*"


def _name(limit: int) -> AfterValidator:
    def validate(value: str) -> str:
        if len(value) > limit:
            raise ValueError(
                f"is a name of {len(value)} characters; shorten it to {limit} or fewer"
            )
        if not re.fullmatch(NAME, value):
            raise ValueError(
                "is not a usable name; use lower-case letters, digits and hyphens, and start with "
                "a letter"
            )
        return value

    return AfterValidator(validate)


def _name_schema(limit: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^{NAME}$", "maxLength": limit})


def _quantity(parse: Callable[[str], int], smallest: str, example: str) -> BeforeValidator:
    def validate(value: object) -> int:
        amount = None
        if isinstance(value, str | int) and not isinstance(value, bool):
            with suppress(ValueError):
                amount = parse(str(value))
        if amount is None:
            raise ValueError(
                f"is not a quantity; write it as Kubernetes does, for example {example}"
            )
        # 16 is 16 bytes to Kubernetes; whoever writes it means 16Gi.
        if amount == 0 and str(value) != "0":
            raise ValueError(f"is less than {smallest}; add a unit, for example {example}")
        return amount

    return BeforeValidator(validate)


def _more_than_nothing(value: int) -> int:
    if value == 0:
        raise ValueError("is nothing; give an amount, or remove the key for the default")
    return value


def _private_cidr(value: str) -> str:
    try:
        network = IPv4Network(value)
    except ValueError:
        raise ValueError(
            "is not an IPv4 range; write it like 10.1.0.0/16 (host bits zero)"
        ) from None
    if not 16 <= network.prefixlen <= 20:
        raise ValueError("has a prefix that AWS or the subnet plan refuses; use /16 to /20")
    return value


def _cidr(value: str) -> str:
    try:
        IPv4Network(value)
    except ValueError:
        raise ValueError("is not an IPv4 range; write it like 203.0.113.0/24") from None
    return value


def _source_range(value: str) -> str:
    try:
        alone = IPv4Address(value)
    except ValueError:
        return _cidr(value)
    raise ValueError(f"is an address without a mask; write {alone}/32 for this one alone")


def _kubernetes_minor(value: str) -> str:
    if value not in KUBERNETES_VERSIONS:
        raise ValueError(
            "is not a Kubernetes version that this program offers; "
            f"use one of {', '.join(KUBERNETES_VERSIONS)}, in quotes"
        )
    return value


def _zone(value: str) -> str:
    if not re.fullmatch(_ZONE, value):
        raise ValueError("is not an availability zone; write it like us-west-2a")
    return value


def _secret_name(value: str) -> str:
    if TOKEN_START.match(value) or not re.fullmatch(_CONFIG_KEY, value):
        raise ValueError(
            "is not a name of a Pulumi secret; write the key only, like githubAppKey, and set its "
            "value with `pulumi config set --secret gpu-runners:githubAppKey`"
        )
    return value


Name = Annotated[str, _name(36), _name_schema(36)]
"""Name of a cluster or pool: with the longest suffix a role name stays within IAM's 64."""

LaneName = Annotated[str, _name(SCALE_SET.max_length), _name_schema(SCALE_SET.max_length)]
"""Name of a lane: what a workflow writes, and a Helm release's name."""

ObjectName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]
"""Name of a Kubernetes object that somebody else makes."""

KubernetesMinor = Annotated[
    str,
    AfterValidator(_kubernetes_minor),
    WithJsonSchema({"type": "string", "enum": list(KUBERNETES_VERSIONS)}),
]

_ZONE = r"[a-z]{2}(-[a-z]+)+-\d[a-z]"
Zone = Annotated[
    str, AfterValidator(_zone), WithJsonSchema({"type": "string", "pattern": f"^{_ZONE}$"})
]
Driver = Annotated[str, Field(pattern=r"^\d{3}(\.\d+){0,2}$")]
"""Version of NVIDIA's driver, or its branch alone."""

CudaVersion = Annotated[str, Field(pattern=r"^\d{1,2}\.\d$")]

VpcCidr = Annotated[str, AfterValidator(_private_cidr)]
Cidr = Annotated[str, AfterValidator(_cidr)]
SourceRange = Annotated[str, AfterValidator(_source_range)]
"""Addresses from which somebody comes."""

_QUANTITY = {
    "type": ["string", "integer"],
    "pattern": r"^\+?[0-9.]+([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?$",
}
_CPU = _quantity(parse_cpu, "1m", '"500m" or 2')
_MEMORY = _quantity(parse_memory_mib, "1Mi", "8Gi")
_CPU_SCHEMA = WithJsonSchema({**_QUANTITY, "minimum": 0, "examples": ["500m", 2]})
_MEMORY_SCHEMA = WithJsonSchema({**_QUANTITY, "minimum": 0, "examples": ["512Mi", "8Gi"]})

Cpu = Annotated[int, _CPU, AfterValidator(_more_than_nothing), _CPU_SCHEMA]
"""CPU as Kubernetes writes it; held in millicores."""

Memory = Annotated[int, _MEMORY, AfterValidator(_more_than_nothing), _MEMORY_SCHEMA]
"""Memory or disk as Kubernetes writes it; held in MiB."""

CpuOrNone = Annotated[int, _CPU, _CPU_SCHEMA]
"""The same, where 0 has a meaning."""

MemoryOrNone = Annotated[int, _MEMORY, _MEMORY_SCHEMA]
"""The same, where 0 has a meaning."""


class Secret(Model):
    """A flat Pulumi secret, named where it is used."""

    secret: Annotated[
        str,
        AfterValidator(_secret_name),
        WithJsonSchema({"type": "string", "pattern": f"^{_CONFIG_KEY}$"}),
    ] = Field(description="key of a Pulumi secret: pulumi config set --secret gpu-runners:<key>")


def _no_comma(value: str) -> str:
    if "," in value:
        raise ValueError("holds a comma; write each word as an entry of its own, like [a, b]")
    return value


WithoutComma = AfterValidator(_no_comma)
"""For words of a lane: GitLab and GitHub take a comma for the end of one."""


def exactly_one(model: Model, *fields: str) -> Iterator[Rule]:
    """Yield a broken rule unless exactly one of the optional fields is present."""
    present = [field for field in fields if getattr(model, field) is not None]
    choice = ", ".join(fields)
    if len(present) > 1:
        yield Rule("", f"has {' and '.join(present)}", f"keep one of {choice}")
    if not present:
        yield Rule("", f"has no {' or '.join(fields)}", f"add exactly one of {choice}")
