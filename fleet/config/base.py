"""The base model of a stack file, and the validated types of its single values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Final, Literal, LiteralString, NamedTuple, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.limits import SCALE_SET
from fleet.catalog.tokens import TOKEN_START
from fleet.kubernetes.resources import parse_cpu, parse_memory_mib


class Rule(NamedTuple):
    """A broken rule of a model: the field (empty for the model), what is wrong, what to change."""

    field: str
    message: str
    remedy: str


class Model(BaseModel):
    """Frozen and strict: unknown keys and numbers written as text are errors.

    pydantic validates each field. If all are valid, `rules()` validates what several fields of the
    model must agree on.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True
    )

    def rules(self) -> Iterator[Rule]:
        """Yield the rules that this model breaks."""
        yield from ()

    @model_validator(mode="after")
    def _keeps_its_rules(self) -> Self:
        if broken := tuple(self.rules()):
            text = "; ".join(f"{rule.field} {rule.message}".strip() for rule in broken)
            raise PydanticCustomError("rule", "{text}", {"rules": broken, "text": text})
        return self


def refusal(message: str, remedy: str, kind: LiteralString = "value_error") -> PydanticCustomError:
    """Return the error of one value: what is wrong with it, and what to change."""
    return PydanticCustomError(kind, "{message}; {remedy}", {"message": message, "remedy": remedy})


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern that a text must match, and an example, which the error shows."""

    pattern: str
    example: str
    message: str = ""

    def __get_pydantic_core_schema__(
        self, source: type[str], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "pattern": self.pattern, "examples": [self.example]}

    def _check(self, value: str) -> str:
        if not re.fullmatch(self.pattern, value):
            remedy = f"write it like {flow(self.example)}"
            if self.message:
                raise refusal(self.message, remedy)
            raise refusal("does not have the required form", remedy, "string_pattern_mismatch")
        return value


def flow(value: object) -> str:
    """Return an example as YAML in flow style."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return f"{{{', '.join(f'{key}: {flow(item)}' for key, item in items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(flow(item) for item in cast('list[object]', value))}]"
    if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
        return value
    return json.dumps(value)


def one_of(values: Iterable[str]) -> WithJsonSchema:
    """Return the schema of a text that is one of `values`."""
    return WithJsonSchema({"type": "string", "enum": list(values)})


def minor_of(versions: Collection[str], platform: str) -> AfterValidator:
    """Return a validator of Kubernetes minor versions."""

    def validate(value: str) -> str:
        if value not in versions:
            raise refusal(
                f"is not a Kubernetes version that this program supports on {platform}",
                f"use one of {', '.join(versions)}, in quotes",
            )
        return value

    return AfterValidator(validate)


NAME: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_CONFIG_KEY = r"[A-Za-z][A-Za-z0-9_-]*"


def _name(limit: int) -> AfterValidator:
    def validate(value: str) -> str:
        if len(value) > limit:
            raise refusal(
                f"is a name of {len(value)} characters",
                f"shorten it to at most {limit} characters, the limit for names derived from it",
            )
        if not re.fullmatch(NAME, value):
            raise refusal(
                "is not a valid name",
                "use lower-case letters, digits and hyphens, and start with a letter, like t4-spot",
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
            raise refusal("is not a Kubernetes quantity", f"write it like {example}")
        # Kubernetes reads 16 as 16 bytes; a user who writes it means 16Gi.
        if amount == 0 and str(value) != "0":
            raise refusal(f"is less than {smallest}", f"add a unit, like {example}")
        return amount

    return BeforeValidator(validate)


def _positive(value: int) -> int:
    if value == 0:
        raise refusal("is 0", "write an amount, or remove the key for the default")
    return value


def _vpc_cidr(value: str) -> str:
    try:
        network = IPv4Network(value)
    except ValueError:
        raise refusal(
            "is not an IPv4 range", "write it like 10.1.0.0/16 (the host bits are zero)"
        ) from None
    if not 16 <= network.prefixlen <= 20:
        raise refusal(
            f"is a /{network.prefixlen}, from which the subnets cannot be made",
            "use a range of /16 to /20, like 10.1.0.0/16",
        )
    return value


def _cidr(value: str) -> str:
    try:
        IPv4Network(value)
    except ValueError:
        raise refusal("is not an IPv4 range", "write it like 203.0.113.0/24") from None
    return value


def _source_range(value: str) -> str:
    try:
        address = IPv4Address(value)
    except ValueError:
        return _cidr(value)
    raise refusal("is an address without a mask", f"write {address}/32 for this one address")


def _secret_name(value: str) -> str:
    if TOKEN_START.match(value) or not re.fullmatch(_CONFIG_KEY, value):
        raise refusal(
            "is not the name of a Pulumi secret",
            "write only the name, like githubAppKey, and set the value with "
            "`pulumi config set --secret gpu-runners:githubAppKey`",
        )
    return value


def _gpu_model(value: str) -> str:
    if value not in GPU_MODELS:
        # By edit distance, A100 is closer to A10 than to A100-40GB and A100-80GB.
        near = [name for name in GPU_MODELS if name.lower().startswith(value.lower())]
        near = near or get_close_matches(value, GPU_MODELS, n=1)
        hint = f"did you mean {' or '.join(near)}? " if value and near else ""
        raise refusal(
            "is not a GPU model of the catalog", f"{hint}the models are {', '.join(GPU_MODELS)}"
        )
    return value


def known(value: str, catalog: Collection[str], what: str, example: str) -> str:
    """Return `value`; raise with the nearest names if the catalog lacks it."""
    if value not in catalog:
        near = get_close_matches(value, catalog, n=3, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(near)}?"
            if near
            else f"use one of stack.schema.json, like {example}"
        )
        raise refusal(f"is not an {what} of the catalog", hint)
    return value


def _no_comma(value: str) -> str:
    if "," in value:
        raise refusal(
            "contains a comma, which separates labels and tags",
            "write an entry for each, like [a, b]",
        )
    return value


Name = Annotated[str, _name(36), _name_schema(36)]
"""Name of a cluster or pool. With the longest suffix, a role name stays within IAM's 64."""

LaneName = Annotated[str, _name(SCALE_SET.max_length), _name_schema(SCALE_SET.max_length)]
"""Name of a lane, which is also that of its Helm release and, on GitHub, its `runs-on` label."""

ObjectName = Annotated[
    str, Field(max_length=253), Form(r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "runner-token")
]
"""Name of a Kubernetes object that exists outside this stack."""

Zone = Annotated[
    str, Form(r"^[a-z]{2}(-[a-z]+)+-\d[a-z]$", "us-west-2a", "is not an availability zone")
]
Driver = Annotated[str, Form(r"^\d{3}(\.\d+){0,2}$", "580.95.05")]
"""Version of NVIDIA's driver, or its branch alone."""

CudaVersion = Annotated[str, Form(r"^\d{1,2}\.\d$", "12.9")]

VpcCidr = Annotated[str, AfterValidator(_vpc_cidr)]
Cidr = Annotated[str, AfterValidator(_cidr)]
SourceRange = Annotated[str, AfterValidator(_source_range)]
"""Client addresses, as a range."""

WithoutComma = AfterValidator(_no_comma)
"""GitHub and GitLab split labels and tags at commas."""

GpuModelName = Annotated[str, AfterValidator(_gpu_model), one_of(GPU_MODELS)]

Device = Literal["dri", "kvm"]
"""A host device for jobs: /dev/dri (Vulkan, WebGPU) or /dev/kvm."""

_QUANTITY = {
    "type": ["string", "integer"],
    "pattern": r"^\+?[0-9.]+([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?$",
}
_CPU = _quantity(parse_cpu, "1m", '"500m" or 2')
_MEMORY = _quantity(parse_memory_mib, "1Mi", "8Gi")
_CPU_SCHEMA = WithJsonSchema({**_QUANTITY, "minimum": 0, "examples": ["500m", 2]})
_MEMORY_SCHEMA = WithJsonSchema({**_QUANTITY, "minimum": 0, "examples": ["512Mi", "8Gi"]})

Cpu = Annotated[int, _CPU, AfterValidator(_positive), _CPU_SCHEMA]
"""CPU as a Kubernetes quantity; held in millicores."""

Memory = Annotated[int, _MEMORY, AfterValidator(_positive), _MEMORY_SCHEMA]
"""Memory or disk as a Kubernetes quantity; held in MiB."""

CpuOrZero = Annotated[int, _CPU, _CPU_SCHEMA]
MemoryOrZero = Annotated[int, _MEMORY, _MEMORY_SCHEMA]


class ApiAccess(Model):
    """Access to the Kubernetes API server of a cluster."""

    allow: tuple[SourceRange, ...] = Field(
        default=(),
        description="public IPv4 ranges with access to the endpoint; default: private access only",
        examples=[["203.0.113.0/24"]],
    )


class Secret(Model):
    """A reference to a flat Pulumi secret."""

    secret: Annotated[
        str,
        AfterValidator(_secret_name),
        WithJsonSchema({"type": "string", "pattern": f"^{_CONFIG_KEY}$"}),
    ] = Field(
        description="name of a Pulumi secret: pulumi config set --secret gpu-runners:<name>",
        examples=["githubAppKey"],
    )


def exactly_one(model: Model, *fields: str, example: str) -> Iterator[Rule]:
    """Yield a rule unless exactly one of the optional fields is set."""
    present = [field for field in fields if getattr(model, field) is not None]
    choice = " or ".join(fields)
    if len(present) > 1:
        yield Rule("", f"has {' and '.join(present)}, but takes only one", f"keep {choice}")
    if not present:
        yield Rule("", f"has no {choice}", f"add exactly one of them, like {example}")
