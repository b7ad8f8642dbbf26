"""What a reader must see of a diff before anything else, as phrases (`change.wording`).

That is what the engine replaces, renames or deletes, what running jobs feel though the engine only
updates (pools that shrink or roll), and a stack whose file is removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from change import wording
from change.document import Document, Subject
from change.wording import Name, Phrase
from fleet.report.read import count, part, parts, rows, text

_MAX_NAMES: Final = 50
"""Pools and lanes of a cluster that are named."""

_ENDS: Final = "jobs that run there end"

_UPDATES: Final = {
    ("cluster", "replaced"): f"it or its network is made anew, and {_ENDS}",
    ("cluster", "removed"): f"its pools and lanes go with it, and {_ENDS}",
    ("pool", "replaced"): f"its nodes are replaced, and {_ENDS}",
    ("pool", "removed"): f"its nodes go, and {_ENDS}",
    ("pool", "rolled"): f"its nodes are replaced one by one, and {_ENDS}",
    ("pool", "shrunk"): "nodes above its new maximum go, and the jobs that run on them",
    ("lane", "replaced"): "while it is installed anew, jobs that ask for it wait",
    ("lane", "renamed"): "jobs that ask for its old name find no runner",
    ("lane", "removed"): "jobs that ask for it find no runner",
}
"""Our words, by what and effect: those of a document may be anybody's."""

_EFFECTS: Final = {"removed": "deleted"}
"""The reports' word for what the engine deletes."""

_ORDER: Final = ("replaced", "renamed", "deleted", "rolled", "shrunk")
_WHOLE: Final = frozenset({"cluster", "control plane", "network"})
_FORGES: Final = {"GitHub lane": "github", "GitLab lane": "gitlab"}


def title(document: Document) -> str:
    """How many things meet with what, as in "1 replaced, 2 shrunk"; empty where none does."""
    found = Counter(_happens(one) for one in document.subjects if one.called_out)
    found.update(effect for effect, _ in _felt(document))
    return ", ".join(f"{found[word]} {word}" for word in _ORDER if found[word])


def lines(document: Document) -> list[Phrase]:
    """A line for each such thing."""
    if document.removed:
        return [_removed(document)]
    engine = [
        wording.called_out(one, document.renames) for one in document.subjects if one.called_out
    ]
    return [*engine, *(phrase for _, phrase in _felt(document))]


def holdings(document: Document) -> Iterator[Phrase]:
    """What the account still holds of a stack whose file is removed: a line for each cluster."""
    if document.base_report is None:
        yield ("what it holds is not known, for the base's report cannot be made",)
        return
    for cluster, body in parts(document.base_report, "clusters"):
        phrase = ["cluster ", Name(cluster)]
        for noun in ("pool", "lane"):
            names = [str(name) for name in part(body, f"{noun}s")]
            phrase.append("; no " + noun if not names else f"; {noun}{'s' * (len(names) > 1)} ")
            for index, name in enumerate(names[:_MAX_NAMES]):
                phrase += [", " if index else "", Name(name)]
            if len(names) > _MAX_NAMES:
                phrase.append(f" and {len(names) - _MAX_NAMES} more")
        yield phrase


def _removed(document: Document) -> Phrase:
    return (
        "the stack file is removed, which destroys nothing by itself: what its stack holds stays "
        "in the account, and costs, until ",
        Name(f"pulumi destroy --stack {document.stack}"),
        " is run where the file is still there",
    )


def _happens(subject: Subject) -> str:
    if subject.renamed_from is not None:
        return "renamed"
    return "deleted" if subject.operation == "delete" else "replaced"


def _felt(document: Document) -> Iterator[tuple[str, Phrase]]:
    """What the reports' difference says of things that the engine's part does not call out."""
    known = {_identity(one) for one in document.subjects if one.called_out}
    for update in rows(document.difference or {}, "updates"):
        what, effect, name = (text(update, key) for key in ("what", "effect", "id"))
        means = _UPDATES.get((what, effect))
        if means is None or (what, name) in known:
            continue
        word = _EFFECTS.get(effect, effect)
        nodes = count(update, "nodes")
        most = f" ({wording.number(nodes, 'node', 'nodes')} at most)" if what != "lane" else ""
        phrase = (f"{what} ", Name(name), f" is {word.upper()}{most}: {means}")
        yield word, phrase


def _identity(subject: Subject) -> tuple[str, str]:
    """What the reports' difference calls it."""
    name = subject.renamed_from or subject.name
    if subject.kind in _WHOLE:
        return "cluster", subject.cluster or name
    if subject.kind in _FORGES:
        return "lane", f"{subject.cluster}/{_FORGES[subject.kind]}/{name}"
    return "pool", f"{subject.cluster}/{name}"
