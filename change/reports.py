"""The reports of base and head, and what their difference says that the engine cannot know.

The base's is made by the base's own code, in its own environment, where that code knows how.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from pulumi_rehearsal import children, workspace
from pulumi_rehearsal.errors import RehearsalError

from change.document import Rename
from change.preview import Side
from fleet.report.read import part, parts, text, words
from rehearsal import checks

LIMIT_S: Final = 60.0
"""A report takes under a second."""

MOST_CHARACTERS: Final = 1_000_000
"""Of a report or a difference in `diff.json`, which holds three such things and more."""

_KINDS: Final = {"github": "GitHub lane", "gitlab": "GitLab lane"}


def base_report(base: Side) -> dict[str, Any] | None:
    """By the base's own code, else by ours; None where neither can."""
    found = _by_its_own_code(base)
    if found is not None:
        return found
    try:
        return checks.report_data(base.file)
    except RehearsalError:
        return None


def _by_its_own_code(base: Side) -> dict[str, Any] | None:
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
        found: object = json.loads("\n".join(lines)) if code == 0 else None
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def slim(report: dict[str, Any] | None) -> dict[str, Any] | None:
    """As much of a report as `diff.json` has room for: a large one without pools and lanes."""
    if report is None or _fits(report):
        return report
    clusters: dict[str, Any] = {
        name: {**cluster, "pools": {}, "lanes": {}} for name, cluster in parts(report, "clusters")
    }
    slimmer = {**report, "clusters": clusters}
    return slimmer if _fits(slimmer) else None


def slim_difference(difference: dict[str, Any] | None) -> dict[str, Any] | None:
    """The difference of two reports, where `diff.json` has room for it."""
    return difference if difference is None or _fits(difference) else None


def renames(
    difference: Mapping[str, Any], base: Mapping[str, Any], head: Mapping[str, Any]
) -> Iterator[Rename]:
    """Pools and lanes that the reports take for the same though more than the name changed.

    A word of a lane is lost where no lane of the head answers to it.
    """
    for old, new in part(difference, "pools", "renamed").items():
        cluster, _, before = old.partition("/")
        yield Rename(kind="pool", cluster=cluster, old=before, new=str(new).partition("/")[2])
    for old, new in part(difference, "lanes", "renamed").items():
        cluster, _, lane = old.partition("/")
        forge, _, before = lane.partition("/")
        if forge in _KINDS:
            lost = _words(base, forge, before) - _words(head, forge)
            yield Rename.model_validate(
                {
                    "kind": _KINDS[forge],
                    "cluster": cluster,
                    "old": before,
                    "new": str(new).rpartition("/")[2],
                    "lost": tuple(sorted(lost)),
                }
            )


def _words(report: Mapping[str, Any], forge: str, name: str | None = None) -> set[str]:
    """Everything that a job may say to some lane, or to the lanes of that name."""
    return {
        word
        for _, cluster in parts(report, "clusters")
        for _, lane in parts(cluster, "lanes")
        if text(lane, "forge") == forge and name in (None, text(lane, "name"))
        for word in words(lane, "write")
    }


def _fits(data: Mapping[str, Any]) -> bool:
    return len(json.dumps(data, indent=2)) <= MOST_CHARACTERS
