"""What the engine does with each resource in a preview, read from its events."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pulumi import automation
from pulumi_rehearsal.engine import UNCHANGED

from change.document import MAX_PROPERTIES, Operation, Property, scalar
from change.escape import clipped
from change.values import ABSENT, SECRET, at, leaves

_OPERATIONS: Final[Mapping[str, Operation]] = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
    "import": "import",
}

_NOTHING: Final = UNCHANGED | {"discard"}
"""Operations that change nothing in a cloud; a resource that was only read is discarded."""

_PARTS_OF_REPLACEMENT: Final = frozenset(
    {"create-replacement", "delete-replaced", "discard-replaced", "remove-pending-replace"}
)


UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's mark for a value that is known only after `up`
(pulumi/pulumi sdk/go/common/resource/plugin/rpc.go, UnknownStringValue)."""

OUTPUT: Final = re.compile(r"output<[^>]*>")
"""How the engine's events show an unknown value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What happens to one resource; `operation` is `None` if nothing does."""

    urn: str
    type: str
    parent: str
    operation: Operation | None
    protected: bool = False
    reasons: tuple[str, ...] = ()
    properties: tuple[Property, ...] = field(default=())

    @property
    def name(self) -> str:
        return self.urn.rpartition("::")[2]


def steps(
    events: Iterable[automation.events.EngineEvent], protected: Container[str] = ()
) -> list[Step]:
    """Return a step for each resource of the preview, unchanged ones too.

    `protected`: URNs of resources whose protection was lifted for the preview.
    """
    found: dict[str, Step] = {}
    for event in events:
        if event.resource_pre_event is None:
            continue
        metadata = event.resource_pre_event.metadata
        operation = str(metadata.op.value)
        # A replacement is several steps; only the one with the operation "replace" is kept.
        if operation in _PARTS_OF_REPLACEMENT or metadata.type == "pulumi:pulumi:Stack":
            continue
        state = metadata.new or metadata.old
        found[metadata.urn] = Step(
            urn=metadata.urn,
            type=metadata.type,
            parent=state.parent if state is not None else "",
            operation=None if operation in _NOTHING else _OPERATIONS.get(operation, "other"),
            protected=metadata.urn in protected
            or bool(metadata.old is not None and metadata.old.protect),
            reasons=tuple(metadata.keys or ())[:MAX_PROPERTIES],
            properties=tuple(_properties(metadata))[:MAX_PROPERTIES],
        )
    return list(found.values())


def _properties(metadata: automation.events.StepEventMetadata) -> Iterator[Property]:
    """Yield old and new values; a resource that is created or deleted has none to compare."""
    old, new = metadata.old, metadata.new
    if old is None or new is None:
        return
    reasons = set(metadata.keys or ())
    detailed = metadata.detailed_diff or {}
    for path in detailed or metadata.diffs or ():
        kind = str(detailed[path].diff_kind.value) if path in detailed else ""
        replaces = kind.endswith("-replace") or (not kind and path in reasons)
        found = list(differences(*_values(old, new, path), path)) or [
            # The events show no difference: the values are secrets, or internal to the provider.
            Property(path=clipped(path, 500), change="update", secret=True)
        ]
        for one in found:
            yield one.model_copy(update={"replaces": replaces})


def differences(old: Any, new: Any, path: str) -> Iterator[Property]:
    """Yield the leaves of a property that differ; a secret has no values."""
    for leaf in leaves(old, new, path, engine=True):
        where = clipped(leaf.path, 500)
        if SECRET in (leaf.old, leaf.new):
            yield Property(path=where, change=leaf.change, secret=True)
            continue
        known = not _is_unknown(leaf.new)
        yield Property(
            path=where,
            change=leaf.change,
            old=scalar(leaf.old),
            new=scalar(leaf.new) if known else None,
            known=known,
        )


def _is_unknown(value: Any) -> bool:
    return isinstance(value, str) and (value == UNKNOWN or OUTPUT.fullmatch(value) is not None)


def _values(
    old: automation.events.StepEventStateMetadata,
    new: automation.events.StepEventStateMetadata,
    path: str,
) -> tuple[Any, Any]:
    before, after = at(old.inputs or {}, path), at(new.inputs or {}, path)
    if before is ABSENT and after is ABSENT:
        return at(old.outputs or {}, path), at(new.outputs or {}, path)
    return before, after
