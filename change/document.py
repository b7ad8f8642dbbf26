"""The content of `diff.json`: what a branch changes, strictly validated on the way in and out.

A job with rights renders it from the artifact of a job without any, so every string in it may be
hostile: sizes and patterns are bounded here, and `change.comment` escapes what remains.
Nothing here imports an engine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from fleet.config.base import Model

MAX_BYTES: Final = 8_000_000
"""A `diff.json` that is larger is not read; `tools/hostile.py` unpacks no larger one."""

MAX_TEXT: Final = 4_000
"""Characters of one value, line or remark."""

MAX_REMARKS: Final = 100
"""Reasons and notes."""

MAX_RESOURCES: Final = 2_000
"""Resources that are listed one by one; the counts are of all."""

MAX_PROPERTIES: Final = 200
"""Properties that are listed of one resource."""

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
Change = Literal["add", "update", "delete"]
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
"""What a component of the program is to a reader."""


class Property(Model):
    """One property, by the engine's path, before and after.

    A value is None where it is absent. Secrets keep theirs to themselves; `known` is false where
    the new value comes from the cloud.
    """

    path: Path_
    change: Change
    old: Value = None
    new: Value = None
    replaces: bool = False
    secret: bool = False
    known: bool = True


class Resource(Model):
    """What the engine means to do with one resource."""

    operation: Operation
    type: Token
    name: Path_
    urn: Text
    protected: bool = False
    reasons: tuple[Path_, ...] = Field(default=(), max_length=MAX_PROPERTIES)
    """Properties that the engine names as the cause of a replacement."""
    properties: tuple[Property, ...] = Field(default=(), max_length=MAX_PROPERTIES)


class Subject(Model):
    """A thing that people name (a cluster, a pool, a lane), with its resources that change."""

    kind: Kind
    cluster: Path_ = ""
    name: Path_
    operation: Operation
    renamed_from: Path_ | None = None
    called_out: bool = False
    """A replace or delete of a cluster, pool or lane."""
    causes: tuple[Property, ...] = Field(default=(), max_length=MAX_PROPERTIES)
    """The properties that force the replacement, or that change in what defines it."""
    resources: tuple[Resource, ...] = Field(default=(), max_length=MAX_RESOURCES)


class Setting(Model):
    """A difference of the two stack files, by its path; the values of whole maps are JSON."""

    path: Path_
    change: Change
    old: Value = None
    new: Value = None


class Rename(Model):
    """A thing of the stack file that kept what it says and got another name."""

    kind: Literal["cluster", "pool", "GitHub lane", "GitLab lane"]
    cluster: Path_ = ""
    old: Path_
    new: Path_
    lost: tuple[Path_, ...] = Field(default=(), max_length=100)
    """Words of jobs that nobody answers to any more."""


class Base(Model):
    """What the head is compared with."""

    ref: Path_
    commit: Commit


class Document(Model):
    """The difference of a stack between two revisions."""

    format: Literal[1] = 1
    stack: StackName
    engine: Path_
    """Version of the CLI."""
    base: Base | None
    """None where there is nothing to compare with."""
    head: Commit
    dirty: bool = False
    """The head has changes that are in no commit."""
    program_changed: bool = False
    """More differs than stack files: the program, or what it needs."""
    removed: bool = False
    """The head has removed the stack file; `base_report` says what its stack holds."""
    problem: Text | None = None
    """Why the base could not be rehearsed; the head is then shown against nothing."""
    refused: tuple[Text, ...] = Field(default=(), max_length=MAX_REMARKS)
    """Why the head cannot be deployed."""
    notes: tuple[Text, ...] = Field(default=(), max_length=MAX_REMARKS)
    counts: dict[Operation, Count] = Field(default={})
    unchanged: Count = 0
    settings: tuple[Setting, ...] = Field(default=(), max_length=MAX_RESOURCES)
    renames: tuple[Rename, ...] = Field(default=(), max_length=MAX_RESOURCES)
    subjects: tuple[Subject, ...] = Field(default=(), max_length=MAX_RESOURCES)
    left_out: Count = 0
    """Resources that are counted but not listed."""
    report: dict[str, Any] | None = None
    """The head's report as JSON, without pools and lanes where it would be too large."""
    base_report: dict[str, Any] | None = None
    difference: dict[str, Any] | None = None
    """Of the two reports, as `fleet.report.compare` gives it."""


class WrongDocument(Exception):  # noqa: N818 - what a user reads
    """A file that is no `diff.json`: where, and what is wrong."""


def read(path: Path) -> Document:
    """A `diff.json`. Raises `WrongDocument` for everything that this module does not describe."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise WrongDocument(f"{path}: has {size} bytes, {MAX_BYTES} are the most")
        return Document.model_validate_json(path.read_bytes())
    except OSError as error:
        raise WrongDocument(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:200]
        raise WrongDocument(f"{path}: is no diff.json: {where}: {first['msg']}") from None
