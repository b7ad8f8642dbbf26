"""What a reader of a diff must see first, as phrases.

That is: what the engine replaces, renames or deletes; what running jobs notice although the engine
only updates (pools that shrink or roll); a stack whose file is removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from change import wording
from change.consequences import SEVERE, Update, consequence
from change.document import Document, Group
from change.escape import Name, Phrase
from fleet.report.phrases import count

_MAX_NAMES: Final = 50
"""Maximum number of pools, and of lanes, that the line of a cluster names."""

_ORDER: Final = ("replaced", "renamed", "deleted", "rolled", "shrunk")
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
    engine = [
        wording.called_out(one, document.renames) for one in document.groups if one.called_out
    ]
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
    known = {_identity(one) for one in document.groups if one.called_out}
    for update in document.difference.updates:
        text = _sentence(update, document)
        if update.effect not in SEVERE or not text or (update.what, update.id) in known:
            continue
        effect = _EFFECTS.get(update.effect, update.effect)
        nodes = f" (at most {count(update.nodes, 'node')})" if update.what != "lane" else ""
        title = (f"{update.what} ", Name(update.id), f" is {effect.upper()}{nodes}: {text}")
        yield effect, title


def _sentence(update: Update, document: Document) -> str:
    cluster, _, rest = update.id.partition("/")
    report = document.base_report
    platform = report.clusters[cluster].kind if report and cluster in report.clusters else ""
    variant = rest.partition("/")[0] if update.what == "lane" else platform
    return consequence(update.what, update.effect, variant)


def _identity(group: Group) -> tuple[str, str]:
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
