"""What the engine says about each resource in a preview, from its events."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pulumi import automation
from pulumi_rehearsal.engine import UNCHANGED

from change import values
from change.document import MAX_PROPERTIES, Operation, Property

_OPERATIONS: Final[Mapping[str, Operation]] = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
    "import": "import",
}

_PARTS_OF_REPLACEMENT: Final = frozenset(
    {"create-replacement", "delete-replaced", "discard-replaced", "remove-pending-replace"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One resource; `operation` is None where it stays as it is."""

    urn: str
    type: str
    parent: str
    operation: Operation | None
    protected: bool = False
    reasons: tuple[str, ...] = ()
    properties: tuple[Property, ...] = field(default=())

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]


def steps(
    events: Iterable[automation.events.EngineEvent], protected: Container[str] = ()
) -> list[Step]:
    """A step for each resource that the engine named, those that stay too.

    `protected` are URNs of resources whose protection was lifted for the preview.
    """
    found: dict[str, Step] = {}
    for event in events:
        if event.resource_pre_event is None:
            continue
        metadata = event.resource_pre_event.metadata
        operation = str(metadata.op.value)
        # A replacement is several steps; the one that says "replace" stands for all of them.
        if operation in _PARTS_OF_REPLACEMENT or metadata.type == "pulumi:pulumi:Stack":
            continue
        state = metadata.new or metadata.old
        found[metadata.urn] = Step(
            urn=metadata.urn,
            type=metadata.type,
            parent=state.parent if state is not None else "",
            operation=None if operation in UNCHANGED else _OPERATIONS.get(operation, "other"),
            protected=metadata.urn in protected
            or bool(metadata.old is not None and metadata.old.protect),
            reasons=tuple(metadata.keys or ())[:MAX_PROPERTIES],
            properties=tuple(_properties(metadata))[:MAX_PROPERTIES],
        )
    return list(found.values())


def _properties(metadata: automation.events.StepEventMetadata) -> Iterator[Property]:
    """Old and new values; a resource that comes or goes as a whole has none to compare."""
    old, new = metadata.old, metadata.new
    if old is None or new is None:
        return
    reasons = set(metadata.keys or ())
    detailed = metadata.detailed_diff or {}
    for path in detailed or metadata.diffs or ():
        kind = str(detailed[path].diff_kind.value) if path in detailed else ""
        before, after = _values(old, new, path)
        found = list(values.differences(before, after, path)) or [
            # Nothing that events show differs: the values are secrets, or the provider's own.
            Property(path=path[:500], change="update", secret=True)
        ]
        for one in found:
            yield one.model_copy(
                update={"replaces": kind.endswith("-replace") or (not kind and path in reasons)}
            )


def _values(
    old: automation.events.StepEventStateMetadata,
    new: automation.events.StepEventStateMetadata,
    path: str,
) -> tuple[Any, Any]:
    before, after = values.at(old.inputs or {}, path), values.at(new.inputs or {}, path)
    if before is values.ABSENT and after is values.ABSENT:
        return values.at(old.outputs or {}, path), values.at(new.outputs or {}, path)
    return before, after
