"""A diff in words: the same for the terminal and for the comment, which decides how names look.

A phrase is a sequence of parts; a `Name` among them is a word of the document's, which may be
hostile, everything else is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from change.document import Document, Kind, Operation, Property, Rename, Setting, Subject

MAX_CAUSES: Final = 3
"""Causes that one line names."""

WINDOW: Final = 48
"""Characters shown of a value in a line."""

_EVENTS: Final[dict[Operation, str]] = {
    "create": "is created",
    "update": "is changed",
    "replace": "is REPLACED",
    "delete": "is DELETED",
    "import": "is imported",
    "other": "is touched",
}

_JOBS_GO: Final = "the old ones go, and the jobs that run on them"

_EFFECTS: Final[dict[tuple[Kind, Operation], str]] = {
    ("cluster", "delete"): "its pools and lanes go with it, and every running job",
    ("control plane", "replace"): (
        "the cluster is made anew: its pools and lanes go with it, and every running job"
    ),
    ("control plane", "delete"): "its pools and lanes go with it, and every running job",
    ("network", "replace"): "the cluster in it is made anew, and every running job goes",
    ("network", "delete"): "the cluster in it goes, and every running job",
    ("pool", "replace"): f"new nodes come, {_JOBS_GO}",
    ("pool", "delete"): "its nodes go, and the jobs that run on them",
    ("GitHub lane", "replace"): "while it is installed anew, jobs that ask for it wait",
    ("GitHub lane", "delete"): "jobs that ask for it find no runner",
    ("GitLab lane", "replace"): "while it is installed anew, jobs that ask for it wait",
    ("GitLab lane", "delete"): "jobs that ask for it find no runner",
}


class Name(str):
    """A word of the document's: shown as such, never as markup."""

    __slots__ = ()


Phrase = Sequence[str]


def counts(document: Document) -> Phrase:
    """How many resources meet with each operation."""
    told = [f"{count} {operation}" for operation, count in document.counts.items() if count]
    if document.removed:
        return ("nothing to preview, for the stack file is removed",)
    if not told and document.refused:
        return ("not previewed",)
    if not told:
        stay = number(document.unchanged, "resource stays as it is", "resources stay as they are")
        return (f"no changes, {stay}",)
    return (", ".join([*sorted(told), f"{document.unchanged} same"]),)


def compared(document: Document) -> Phrase:
    """What is compared with what."""
    head = "The working tree" if document.dirty else Name(document.head[:9])
    if document.base is None or document.problem is not None:
        return (head, " compared with nothing")
    base = document.base
    return (head, " compared with ", Name(base.ref), " (", Name(base.commit[:9]), ")")


def called_out(subject: Subject, renames: Sequence[Rename]) -> Phrase:
    """One line for a replace or delete of a cluster, pool or lane: what, why, and what it means."""
    return (*thing(subject), " ", *event(subject), *_because(subject), *_effect(subject, renames))


def thing(subject: Subject) -> Phrase:
    """What it is called; a renamed one by its old name."""
    name = subject.renamed_from or subject.name
    # A cluster has one autoscaler, one control plane: those have no name of their own.
    named = (f"{subject.kind} ", Name(name)) if name not in ("", subject.kind) else (subject.kind,)
    return (*named, " of ", Name(subject.cluster)) if subject.cluster else named


def event(subject: Subject) -> Phrase:
    """What happens to it."""
    if subject.renamed_from is not None:
        return ("is RENAMED ", Name(subject.name))
    return (_EVENTS[subject.operation],)


def changes(subject: Subject) -> list[Property]:
    """The properties to name first: what forces it, or what differs in its resources."""
    if subject.causes:
        return list(subject.causes)
    return [one for resource in subject.resources for one in resource.properties]


def change(one: Property) -> Phrase:
    """A property with its values."""
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
    """A setting of the stack file with its values."""
    return change(Property(path=one.path, change=one.change, old=one.old, new=one.new))


def rename(one: Rename) -> Phrase:
    """A renamed thing of the stack file."""
    named = (f"{one.kind} ", Name(one.old), " is now ", Name(one.new))
    return (*named, " of ", Name(one.cluster)) if one.cluster else named


def follows(subject: Subject, document: Document) -> bool:
    """Whether it changes though neither its own settings nor the program did."""
    if document.program_changed or not (document.settings or document.renames):
        return False
    if subject.renamed_from is not None:
        return False
    own = _settings_of(subject)
    return bool(own) and not any(
        one.path == path or one.path.startswith(f"{path}.") or path.startswith(f"{one.path}.")
        for one in document.settings
        for path in own
    )


def protected(document: Document) -> list[str]:
    """Type and name of every listed resource that the engine refuses to replace or delete."""
    return [
        f"{one.type} {one.name}"
        for subject in document.subjects
        for one in subject.resources
        if one.protected and one.operation in ("replace", "delete")
    ]


def is_protected(subject: Subject) -> bool:
    """Whether the engine will refuse a part of it."""
    return any(
        one.protected and one.operation in ("replace", "delete") for one in subject.resources
    )


def shown(value: object) -> str:
    """A value as the stack file would have it."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def window(old: str, new: str, most: int = WINDOW) -> tuple[str, str]:
    """Of two long values, the part where they begin to differ."""
    start = 0
    if max(len(old), len(new)) > most and old and new:
        same = next(
            (i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0
        )
        start = max(0, same - most // 4)
    return _cut(old, start, most), _cut(new, start, most)


def number(count: int, one: str, many: str) -> str:
    """A count with its noun."""
    return f"{count} {one if count == 1 else many}"


def plain(phrase: Phrase) -> str:
    """A phrase without any markup."""
    return "".join(phrase)


def _cut(text: str, start: int, most: int) -> str:
    part = text[start : start + most]
    return f"{'…' if start else ''}{part}{'…' if start + most < len(text) else ''}"


def _because(subject: Subject) -> Phrase:
    causes = subject.causes
    if subject.operation != "replace" or not causes:
        return ()
    parts: list[str] = [" ("]
    for index, one in enumerate(causes[:MAX_CAUSES]):
        parts += [", " if index else "", *change(one)]
    more = len(causes) - MAX_CAUSES
    return (*parts, f", {more} more)" if more > 0 else ")")


def _effect(subject: Subject, renames: Sequence[Rename]) -> Iterator[str]:
    if subject.renamed_from is not None:
        yield from _renamed(subject, renames)
    elif (subject.kind, subject.operation) in _EFFECTS:
        yield f": {_EFFECTS[subject.kind, subject.operation]}"
    if is_protected(subject):
        yield "; it is protected, so the engine refuses"


def _renamed(subject: Subject, renames: Sequence[Rename]) -> Iterator[str]:
    """What a new name means to jobs: the old thing goes, and a new one comes."""
    if subject.kind == "pool":
        yield f": new nodes come under the new name, {_JOBS_GO}"
    elif subject.kind == "cluster":
        yield ": it is made anew under the new name, and every running job goes with the old one"
    else:
        new = "a new scale set" if subject.kind == "GitHub lane" else "a new runner"
        lost = next(
            (
                one.lost
                for one in renames
                if (one.kind, one.cluster, one.new) == (subject.kind, subject.cluster, subject.name)
            ),
            (),
        )
        yield f": {new} comes, the old one goes"
        key = "runs-on" if subject.kind == "GitHub lane" else "tags"
        for word in lost:
            yield f"; jobs that still say {key}: "
            yield Name(word)
            yield " wait for ever"
        if not lost:
            yield "; jobs find it by the same tags"


def _settings_of(subject: Subject) -> list[str]:
    """Where the stack file speaks of it."""
    cluster = f"clusters.{subject.cluster}"
    match subject.kind:
        case "pool":
            return [f"{cluster}.{kind}.pools.{subject.name}" for kind in ("eks", "oke")]
        case "GitHub lane":
            return [f"{cluster}.github.lanes.{subject.name}"]
        case "GitLab lane":
            return [f"{cluster}.gitlab.lanes.{subject.name}"]
        case _:
            return []
