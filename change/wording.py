"""A diff in sentences, the same on the terminal and in the comment.

The comment shows every `Name` in a sentence as code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from change.consequences import (
    FIXED,
    RELEASE,
    Reach,
    Update,
    consequence,
    drained,
    reach,
    renamed_lane,
    variant,
)
from change.document import Document, Group, Operation, Property, Rename, Setting
from change.escape import Name, Phrase
from fleet.report.phrases import count

MAX_CAUSES: Final = 3
"""Maximum number of causes in one line."""

MAX_LANES: Final = 5
"""Maximum number of lanes in one line."""

WINDOW: Final = 48
"""Maximum number of characters of a value in one line."""

_EVENTS: Final[dict[Operation, str]] = {
    "create": "is created",
    "update": "is changed",
    "replace": "is REPLACED",
    "delete": "is DELETED",
    "import": "is imported",
    "other": "is refreshed",
}

_HELM: Final = (
    "An older version installed it with Helm, which waits 10 minutes: after a failure, run pulumi "
    "refresh before the next update"
)

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


def called_out(group: Group, document: Document) -> Phrase:
    """Return the phrase for a replaced, renamed or deleted group: what, why and the effect."""
    what, item = identity(group)
    found = reach(document.base_report, what, item)
    where = bounds(found) if what == "pool" else ()
    return (
        *title(group),
        " ",
        *event(group),
        *_causes(group),
        *where,
        *_consequence(group, document, found),
    )


def identity(group: Group) -> tuple[str, str]:
    """Return what the reports' difference calls a group: kind and id."""
    name = group.renamed_from or group.name
    match group.kind:
        case "GitHub lane" | "GitLab lane":
            forge = group.kind.partition(" ")[0].lower()
            return "lane", f"{group.cluster}/{forge}/{name}"
        case "pool":
            return "pool", f"{group.cluster}/{name}"
        case _:
            return "cluster", group.cluster or name


def bounds(found: Reach) -> Phrase:
    """Return how many nodes and jobs a change of a pool may touch, and of which lanes."""
    if not found.nodes:
        return ()
    parts: list[str] = [f", at most {count(found.nodes, 'node')}"]
    if found.lanes:
        parts.append(f" with at most {count(found.jobs, 'job')} of ")
    for index, lane in enumerate(found.lanes[:MAX_LANES]):
        parts += [", " if index else "", Name(lane)]
    more = len(found.lanes) - MAX_LANES
    return (*parts, f" and {more} more" if more > 0 else "")


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


def _consequence(group: Group, document: Document, found: Reach) -> Iterator[str]:
    what, item = identity(group)
    kind = variant(document.base_report, what, item) or _cloud(group)
    updates = document.difference.updates if document.difference is not None else ()
    update = next((one for one in updates if (one.what, one.id) == (what, item)), None)
    if group.renamed_from is not None and what == "lane":
        same = (group.kind, group.cluster, group.name)
        named = ((one, (one.kind, one.cluster, one.new)) for one in document.renames)
        lost = next((one.lost for one, new in named if new == same), ())
        yield ": "
        yield from renamed_lane(kind, group.name, lost)
        yield f". {drained(found.minutes, found.jobs)}"
    else:
        effect = "renamed" if group.renamed_from is not None else EFFECTS.get(group.operation, "")
        if update is not None:
            yield from why(update)
            effect = "moved" if update.effect == "moved" else effect
        if text := consequence(what, effect, kind, minutes=found.minutes, jobs=found.jobs):
            yield f": {text}"
    if what == "lane" and any(
        (one.operation, one.type) == ("delete", RELEASE) for one in group.resources
    ):
        yield f". {_HELM}"
    if any(one.protected and one.operation in ("replace", "delete") for one in group.resources):
        yield "; it is protected, so the engine refuses"


def why(update: Update) -> Phrase:
    """Return to which cluster a lane moves, or what of it has changed."""
    if update.to:
        return (", it moves to cluster ", Name(update.to))
    words = FIXED.get(variant(None, update.what, update.id), {})
    because = [words[field] for field in update.because if field in words]
    return (f" because of {' and '.join(because)}",) if because else ()


def _cloud(group: Group) -> str:
    """Return the platform of a pool by its resources, for a base without a report."""
    clouds = {one.type.partition(":")[0] for one in group.resources}
    return "eks" if "aws" in clouds else "oke" if "oci" in clouds else ""


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
