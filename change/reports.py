"""The reports of base and head, and the renames that their difference shows."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Final, TypeVar

from pulumi_rehearsal import children, workspace
from pulumi_rehearsal.errors import RehearsalError
from pydantic import BaseModel, ValidationError

from change.difference import Difference, lost_labels
from change.document import Rename
from change.preview import Side
from fleet.report.model import Report
from rehearsal import checks

LIMIT_S: Final = 60.0
"""Making a report takes under a second."""

MAX_CHARACTERS: Final = 1_000_000
"""Upper limit of a report, and of a difference, in `diff.json`."""

_KINDS: Final = {"github": "GitHub lane", "gitlab": "GitLab lane"}

SomeModel = TypeVar("SomeModel", bound=BaseModel)


def base_report(base: Side) -> Report | None:
    """Return the base's report, made by its own code or else by ours; `None` if both fail."""
    found = _by_own_code(base)
    if found is not None:
        return found
    try:
        return checks.report_data(base.file)
    except RehearsalError:
        return None


def _by_own_code(base: Side) -> Report | None:
    lines: list[str] = []
    command = [str(base.python), "-m", "fleet.report", "--format", "json"]
    try:
        with workspace.clean_environment():
            code = children.run(
                [*command, "--config", str(base.file.path)],
                folder=base.project,
                on_output=lines.append,
                timeout_s=LIMIT_S,
            )
        return Report.model_validate_json("\n".join(lines)) if code == 0 else None
    except (subprocess.TimeoutExpired, ValidationError):
        return None


def limited_report(report: Report | None) -> Report | None:
    """Return the report if `diff.json` has room for it; a large one without pools and lanes."""
    if report is None or limited(report) is not None:
        return report
    empty: dict[str, object] = {"pools": {}, "lanes": {}}
    clusters = {name: body.model_copy(update=empty) for name, body in report.clusters.items()}
    return limited(report.model_copy(update={"clusters": clusters}))


def limited(model: SomeModel | None) -> SomeModel | None:
    """Return the model if `diff.json` has room for it."""
    fits = model is not None and len(model.model_dump_json(indent=2)) <= MAX_CHARACTERS
    return model if fits else None


def renames(difference: Difference, base: Report, head: Report) -> Iterator[Rename]:
    """Yield the renamed clusters, then pools, then lanes."""
    for old, new in difference.clusters.renamed.items():
        yield Rename(kind="cluster", old=old, new=new)
    for old, new in difference.pools.renamed.items():
        cluster, _, name = old.partition("/")
        yield Rename(kind="pool", cluster=cluster, old=name, new=new.partition("/")[2])
    for old, new in difference.lanes.renamed.items():
        cluster, forge, name = old.split("/")
        lost = lost_labels(base, head, forge, name)
        yield Rename.model_validate(
            {
                "kind": _KINDS[forge],
                "cluster": cluster,
                "old": name,
                "new": new.rpartition("/")[2],
                "lost": tuple(lost[:100]),
            }
        )
