"""What a reader of a diff must see first, as phrases.

That is: what the engine replaces, renames or deletes; what running jobs notice although the engine
only updates (pools that shrink or roll); a stack whose file is removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from change import wording
from change.consequences import SEVERE, consequence, variant
from change.document import Document, Group
from change.escape import Name, Phrase

_MAX_NAMES: Final = 50
"""Maximum number of pools, and of lanes, that the line of a cluster names."""

_ORDER: Final = ("replaced", "renamed", "moved", "deleted", "rolled", "shrunk")
_EFFECTS: Final = {"removed": "deleted"}
"""Effects that have another name in a diff."""


def summary(document: Document) -> str:
    """Return the number of clusters, pools and lanes by effect, like "1 replaced, 2 shrunk"."""
    found = Counter(_effect(one) for one in document.groups if one.called_out)
    found.update(effect for effect, _ in _updates(document))
    return ", ".join(f"{found[effect]} {effect}" for effect in _ORDER if found[effect])


def alerts(document: Document) -> list[Phrase]:
    """Return a line for each alert."""
    if document.removed:
        return [_removed(document)]
    engine = [wording.called_out(one, document) for one in document.groups if one.called_out]
    return [*engine, *(phrase for _, phrase in _updates(document))]


def remaining(document: Document) -> Iterator[Phrase]:
    """Yield a line for each cluster of a stack whose file is removed: its pools and lanes."""
    if document.base_report is None:
        yield ("the content of the stack is unknown: the base has no readable report",)
        return
    for cluster, body in document.base_report.clusters.items():
        phrase = ["cluster ", Name(cluster)]
        for noun, names in (("pool", [*body.pools]), ("lane", [*body.lanes])):
            phrase.append("; no " + noun if not names else f"; {noun}{'s' * (len(names) > 1)} ")
            for index, name in enumerate(names[:_MAX_NAMES]):
                phrase += [", " if index else "", Name(name)]
            if len(names) > _MAX_NAMES:
                phrase.append(f" and {len(names) - _MAX_NAMES} more")
        yield phrase


def _removed(document: Document) -> Phrase:
    return (
        "the stack file is removed, but that deletes nothing: the resources of the stack stay in "
        "the account, and cost money, until you run ",
        Name(f"pulumi destroy --stack {document.stack}"),
        " in a checkout that still has the file",
    )


def _effect(group: Group) -> str:
    if group.renamed_from is not None:
        return "renamed"
    return "deleted" if group.operation == "delete" else "replaced"


def _updates(document: Document) -> Iterator[tuple[str, Phrase]]:
    """Yield the effects that the reports show and the engine's steps do not.

    The sentences are ours, not those of the document, which may be hostile.
    """
    if document.difference is None:
        return
    known = {wording.identity(one) for one in document.groups if one.called_out}
    for update in document.difference.updates:
        kind = variant(document.base_report, update.what, update.id)
        text = consequence(
            update.what, update.effect, kind, minutes=update.minutes, jobs=update.jobs
        )
        if update.effect not in SEVERE or not text or (update.what, update.id) in known:
            continue
        effect = _EFFECTS.get(update.effect, update.effect)
        where = wording.bounds(update) if update.what != "lane" else ()
        title = (f"{update.what} ", Name(update.id), f" is {effect.upper()}")
        yield effect, (*title, *wording.why(update), *where, f": {text}")
