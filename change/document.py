"""The content of `diff.json`: what a branch changes, validated when it is written and read.

A CI job with write access renders the artifact of a job that ran code of a fork. So every string
may be hostile: this module limits sizes and patterns, and `change.comment` escapes the rest.
Nothing here imports the Pulumi SDK.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from change.difference import Difference
from change.escape import clipped
from change.values import ABSENT, Change
from fleet.config.base import Model
from fleet.report.model import Report

MAX_BYTES: Final = 8_000_000
"""Upper limit of `diff.json`; `tools/untrusted.py` unpacks no larger one."""

MAX_TEXT: Final = 4_000
"""Maximum length of one value, reason or note."""

MAX_REMARKS: Final = 100
"""Maximum number of reasons, and of notes."""

MAX_RESOURCES: Final = 2_000
"""Maximum number of resources in the list; the counts include all resources."""

MAX_PROPERTIES: Final = 200
"""Maximum number of properties in the list of one resource."""

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Path_ = Annotated[str, Field(max_length=500)]
Token = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z0-9:/._-]*$")]
StackName = Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9_.-]+$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")]
Float = Annotated[float, Field(allow_inf_nan=False)]
Integer = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Value = bool | Integer | Float | Text | None
Count = Annotated[int, Field(ge=0, le=10_000_000)]

Operation = Literal["create", "update", "replace", "delete", "import", "other"]
Kind = Literal[
    "cluster",
    "control plane",
    "network",
    "pool",
    "GitHub lane",
    "GitLab lane",
    "GPU stack",
    "autoscaler",
    "add-ons",
    "controller",
    "provider",
    "other",
]
"""Kind of a component, as the diff prints it."""


def _readable(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    try:
        return validate(value)
    except ValidationError:
        return None


Readable = WrapValidator(_readable)
"""Reads as `None` if it does not have the expected shape: another revision may have written it."""


class Property(Model):
    """One property, by the engine's path, before and after; `None` for an absent value."""

    path: Path_
    change: Change
    old: Value = None
    new: Value = None
    replaces: bool = False
    secret: bool = False
    """A secret has no values here."""
    known: bool = True
    """False if the new value is known only after `up`."""


class Resource(Model):
    """What the engine does with one resource."""

    operation: Operation
    type: Token
    name: Path_
    urn: Text
    protected: bool = False
    reasons: tuple[Path_, ...] = Field(default=(), max_length=MAX_PROPERTIES)
    """Properties that the engine names as the cause of a replacement."""
    properties: tuple[Property, ...] = Field(default=(), max_length=MAX_PROPERTIES)


class Group(Model):
    """The resources of one cluster, pool or lane (or other component) that change."""

    kind: Kind
    cluster: Path_ = ""
    name: Path_
    operation: Operation
    renamed_from: Path_ | None = None
    called_out: bool = False
    """Whether a cluster, pool or lane is replaced, renamed or deleted."""
    causes: tuple[Property, ...] = Field(default=(), max_length=MAX_PROPERTIES)
    """Properties that force the replacement, or that change in the defining resource."""
    resources: tuple[Resource, ...] = Field(default=(), max_length=MAX_RESOURCES)


class Setting(Model):
    """A difference of the two stack files, by its path; a whole map is a value as JSON."""

    path: Path_
    change: Change
    old: Value = None
    new: Value = None


class Rename(Model):
    """A cluster, pool or lane with a new name and (nearly) the same settings."""

    kind: Literal["cluster", "pool", "GitHub lane", "GitLab lane"]
    cluster: Path_ = ""
    old: Path_
    new: Path_
    lost: tuple[Path_, ...] = Field(default=(), max_length=100)
    """Labels or tags that no lane has any more."""


class Base(Model):
    """The commit that the head is compared with."""

    ref: Path_
    commit: Commit


class Document(Model):
    """The difference of a stack between two revisions."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    format: Literal[1] = 1
    stack: StackName
    engine: Path_
    """Version of the Pulumi CLI."""
    base: Base | None
    """`None` if there is no base."""
    head: Commit
    dirty: bool = False
    """Whether the working tree has changes that are not committed."""
    program_changed: bool = False
    """Whether the program or its requirements differ, and not only stack files."""
    removed: bool = False
    """Whether the head removes the stack file; `base_report` has the content of its stack."""
    problem: Text | None = None
    """Why the base could not be rehearsed; everything then shows as new."""
    refused: tuple[Text, ...] = Field(default=(), max_length=MAX_REMARKS)
    """Why the head cannot be deployed."""
    notes: tuple[Text, ...] = Field(default=(), max_length=MAX_REMARKS)
    counts: dict[Operation, Count] = Field(default={})
    unchanged: Count = 0
    settings: tuple[Setting, ...] = Field(default=(), max_length=MAX_RESOURCES)
    renames: tuple[Rename, ...] = Field(default=(), max_length=MAX_RESOURCES)
    groups: tuple[Group, ...] = Field(
        default=(),
        max_length=MAX_RESOURCES,
        validation_alias="subjects",
        serialization_alias="subjects",
    )
    left_out: Count = 0
    """Resources that are counted but not listed."""
    report: Annotated[Report | None, Readable] = None
    """The head's report, without pools and lanes if it would be too large."""
    base_report: Annotated[Report | None, Readable] = None
    difference: Annotated[Difference | None, Readable] = None


class InvalidDocumentError(Exception):
    """A file is not a valid `diff.json`; the message names the key and the error."""


def read(path: Path) -> Document:
    """Read a `diff.json`. Raises `InvalidDocumentError`."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InvalidDocumentError(f"{path}: has {size} bytes; the limit is {MAX_BYTES}")
        return Document.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidDocumentError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:200]
        raise InvalidDocumentError(
            f"{path}: is not a valid diff.json: {where}: {first['msg']}"
        ) from None


def scalar(value: Any) -> Value:
    """Return a value that `diff.json` can hold: maps and lists as JSON, long text cut."""
    if value is ABSENT or value is None:
        return None
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clipped(text, MAX_TEXT)
