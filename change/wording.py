"""A diff in sentences, the same on the terminal and in the comment.

The comment shows every `Name` in a sentence as code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from change.consequences import consequence, renamed_lane
from change.document import Document, Group, Operation, Property, Rename, Setting
from change.escape import Name, Phrase
from fleet.report.phrases import count

MAX_CAUSES: Final = 3
"""Maximum number of causes in one line."""

WINDOW: Final = 48
"""Maximum number of characters of a value in one line."""

_EVENTS: Final[dict[Operation, str]] = {
    "create": "is created",
    "update": "is changed",
    "replace": "is REPLACED",
    "delete": "is DELETED",
    "import": "is imported",
    "other": "is refreshed or discarded",
}

EFFECTS: Final = {"replace": "replaced", "delete": "removed"}
"""Operation of the engine and effect in `change.consequences`."""


def counts(document: Document) -> Phrase:
    """Return how many resources have each operation."""
    if document.removed:
        return ("no preview, because the stack file is removed",)
    found = [f"{number} {name}" for name, number in document.counts.items() if number]
    if not found and document.refused:
        return ("no preview",)
    if not found:
        return (f"no changes, {count(document.unchanged, 'resource')} the same",)
    return (", ".join([*sorted(found), f"{document.unchanged} same"]),)


def compared(document: Document) -> Phrase:
    """Return the phrase that names head and base."""
    head = "The working tree" if document.dirty else Name(document.head[:9])
    if document.base is None or document.problem is not None:
        return (head, " without a base")
    base = document.base
    return (head, " compared with ", Name(base.ref), " (", Name(base.commit[:9]), ")")


def called_out(group: Group, renames: Sequence[Rename]) -> Phrase:
    """Return the phrase for a replaced, renamed or deleted group: what, why and the effect."""
    return (*title(group), " ", *event(group), *_causes(group), *_consequence(group, renames))


def title(group: Group) -> Phrase:
    """Return kind and name of a group; the old name if it is renamed."""
    name = group.renamed_from or group.name
    # A cluster has one control plane and one autoscaler: the diff shows no name for them.
    named = (f"{group.kind} ", Name(name)) if name not in ("", group.kind) else (group.kind,)
    return (*named, " of ", Name(group.cluster)) if group.cluster else named


def event(group: Group) -> Phrase:
    """Return the phrase for what happens to a group."""
    if group.renamed_from is not None:
        return ("is RENAMED to ", Name(group.name))
    return (_EVENTS[group.operation],)


def changes(group: Group) -> list[Property]:
    """Return the properties to name first: those that force a replacement, if any."""
    if group.causes:
        return list(group.causes)
    return [one for resource in group.resources for one in resource.properties]


def change(one: Property) -> Phrase:
    """Return a property with its values."""
    if one.secret:
        return (Name(one.path), ": a secret")
    old, new = window(shown(one.old), shown(one.new) if one.known else "")
    if not one.known:
        return (Name(one.path), ": ", Name(old), " -> known after up")
    if one.change == "add":
        return (Name(one.path), ": ", Name(new), " added")
    if one.change == "delete":
        return (Name(one.path), ": ", Name(old), " removed")
    return (Name(one.path), ": ", Name(old), " -> ", Name(new))


def setting(one: Setting) -> Phrase:
    """Return the phrase for a changed setting of the stack file."""
    return change(Property(path=one.path, change=one.change, old=one.old, new=one.new))


def rename(one: Rename) -> Phrase:
    """Return the phrase for a renamed cluster, pool or lane."""
    named = (f"{one.kind} ", Name(one.old), " is now ", Name(one.new))
    return (*named, " of ", Name(one.cluster)) if one.cluster else named


def is_indirect(group: Group, document: Document) -> bool:
    """Return whether a pool or lane changes although its settings and the program did not."""
    if document.program_changed or not (document.settings or document.renames):
        return False
    if group.renamed_from is not None:
        return False
    own = _settings_paths(group)
    return bool(own) and not any(
        one.path == path or one.path.startswith(f"{path}.") or path.startswith(f"{one.path}.")
        for one in document.settings
        for path in own
    )


def protected(document: Document) -> list[str]:
    """Return type and name of every resource that the engine refuses to replace or delete."""
    return [
        f"{one.type} {one.name}"
        for group in document.groups
        for one in group.resources
        if one.protected and one.operation in ("replace", "delete")
    ]


def shown(value: object) -> str:
    """Return a value as a stack file spells it."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def window(old: str, new: str, limit: int = WINDOW) -> tuple[str, str]:
    """Return the part of two long values where they start to differ."""
    start = 0
    if max(len(old), len(new)) > limit and old and new:
        same = next(
            (i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0
        )
        start = max(0, same - limit // 4)
    return _cut(old, start, limit), _cut(new, start, limit)


def plain(phrase: Phrase) -> str:
    """Return a phrase without markup."""
    return "".join(phrase)


def _cut(text: str, start: int, limit: int) -> str:
    part = text[start : start + limit]
    return f"{'…' if start else ''}{part}{'…' if start + limit < len(text) else ''}"


def _causes(group: Group) -> Phrase:
    causes = group.causes
    if group.operation != "replace" or not causes:
        return ()
    parts: list[str] = [" ("]
    for index, one in enumerate(causes[:MAX_CAUSES]):
        parts += [", " if index else "", *change(one)]
    more = len(causes) - MAX_CAUSES
    return (*parts, f", {more} more)" if more > 0 else ")")


def _consequence(group: Group, renames: Sequence[Rename]) -> Iterator[str]:
    what, variant = _what(group)
    if group.renamed_from is not None and what == "lane":
        same = (group.kind, group.cluster, group.name)
        lost = next((one.lost for one in renames if (one.kind, one.cluster, one.new) == same), ())
        yield ": "
        yield from renamed_lane(variant, group.name, lost)
    else:
        effect = "renamed" if group.renamed_from is not None else EFFECTS.get(group.operation, "")
        if text := consequence(what, effect, variant):
            yield f": {text}"
    if any(one.protected and one.operation in ("replace", "delete") for one in group.resources):
        yield "; it is protected, so the engine refuses"


def _what(group: Group) -> tuple[str, str]:
    """Return the kind of a group in `change.consequences`, and its platform or forge."""
    match group.kind:
        case "GitHub lane" | "GitLab lane":
            return "lane", group.kind.partition(" ")[0].lower()
        case "pool":
            clouds = {one.type.partition(":")[0] for one in group.resources}
            return "pool", "eks" if "aws" in clouds else "oke" if "oci" in clouds else ""
        case _:
            return "cluster", ""


def _settings_paths(group: Group) -> list[str]:
    """Return where the stack file defines a pool or lane."""
    cluster = f"clusters.{group.cluster}"
    match group.kind:
        case "pool":
            return [f"{cluster}.{kind}.pools.{group.name}" for kind in ("eks", "oke")]
        case "GitHub lane":
            return [f"{cluster}.github.lanes.{group.name}"]
        case "GitLab lane":
            return [f"{cluster}.gitlab.lanes.{group.name}"]
        case _:
            return []
