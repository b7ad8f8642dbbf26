"""The reports of both sides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from change import reports
from change.preview import Side
from change.reports import base_report, renames, slim, slim_difference
from fleet.report import compare
from rehearsal import stackfile
from tests.stackfiles import ROOT

STAGING = ROOT / "Pulumi.staging.yaml"


def side(folder: Path, body: str, config: Path = STAGING) -> Side:
    """A base whose Python is a script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    python.chmod(0o755)
    return Side(project=folder, python=python, file=stackfile.read(config))


def test_the_base_reports_by_its_own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    answer = 'echo "{\\"said\\": \\"$*\\", \\"key\\": \\"$AWS_SECRET_ACCESS_KEY\\"}"'
    found = base_report(side(tmp_path, answer))
    assert found == {
        "said": f"-m fleet.report --format json --config {STAGING}",
        "key": "",
    }, "asked of the base's Python, without credentials"


@pytest.mark.parametrize("body", ["exit 1", "echo no JSON", "echo []", "sleep 60"])
def test_where_the_base_cannot_report_our_code_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(reports, "LIMIT_S", 0.5)
    found = base_report(side(tmp_path, body))
    assert found is not None
    assert found["stack"] == "staging"
    assert "ci-staging" in found["clusters"]


def test_where_neither_can_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.old.yaml"
    file.write_text("config:\n  gpu-runners:stack:\n    clusters: {}\n", encoding="utf-8")
    assert base_report(side(tmp_path, "exit 1", file)) is None


def test_a_large_report_keeps_its_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    report = staging()
    assert slim(report) == report
    assert (slim(None), slim_difference(None)) == (None, None)
    monkeypatch.setattr(reports, "MOST_CHARACTERS", 4_000)
    kept = slim(report)
    assert kept is not None
    assert kept["totals"] == report["totals"]
    assert kept["clusters"]["ci-staging"]["pools"] == {}
    monkeypatch.setattr(reports, "MOST_CHARACTERS", 10)
    assert slim(report) is None
    assert slim_difference({"lanes": "many"}) is None


def staging() -> dict[str, Any]:
    """The report of staging, by code that reads it as the base would be."""
    file = stackfile.read(STAGING)
    return json.loads(json.dumps(reports.checks.report_data(file)))


def test_a_lane_that_also_changed_is_renamed_where_the_reports_say_so() -> None:
    base, head = staging(), staging()
    lanes = head["clusters"]["ci-staging"]["lanes"]
    lane = lanes.pop("github/gpu-t4-staging")
    lanes["github/gpu-next"] = {
        **lane,
        "name": "gpu-next",
        "write": ["gpu-next"],
        "most_jobs": 1,
    }
    pools = head["clusters"]["ci-staging"]["pools"]
    pools["cpu"] = pools.pop("system")
    found = [told(one) for one in renames(compare(base, head), base, head)]
    assert found == [
        ("pool", "ci-staging", "system", "cpu", ()),
        ("GitHub lane", "ci-staging", "gpu-t4-staging", "gpu-next", ("gpu-t4-staging",)),
    ]


def test_a_word_that_another_lane_answers_to_is_not_lost() -> None:
    base, head = staging(), staging()
    lanes = head["clusters"]["ci-staging"]["lanes"]
    lane = lanes.pop("gitlab/t4-staging")
    lanes["gitlab/next"] = {**lane, "name": "next"}
    (one,) = renames(compare(base, head), base, head)
    assert (one.kind, one.new, one.lost) == ("GitLab lane", "next", ()), "its tags stay"


def test_a_report_of_another_shape_renames_nothing() -> None:
    difference = {"lanes": {"renamed": {"odd": "other", "c/forge/lane": "x"}}}
    assert list(renames(difference, {}, {})) == []


def told(one: Any) -> tuple[str, str, str, str, tuple[str, ...]]:
    return one.kind, one.cluster, one.old, one.new, one.lost
