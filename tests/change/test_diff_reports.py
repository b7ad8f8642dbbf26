"""The reports of both sides."""

from pathlib import Path
from typing import Any

import pytest

from change import reports
from change.difference import Difference, compare
from change.document import Rename
from change.preview import Side
from change.reports import base_report, limited, limited_report, renames
from fleet.report import Report
from rehearsal import stackfile
from tests.stackfiles import ROOT

STAGING = ROOT / "Pulumi.staging.yaml"


def side(folder: Path, body: str, config: Path = STAGING) -> Side:
    """A base whose Python is a script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    python.chmod(0o755)
    return Side(project=folder, python=python, file=stackfile.read(config))


def test_the_base_makes_its_report_with_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real")
    answer = 'echo "{\\"stack\\": \\"$*\\", \\"date\\": \\"$AWS_SECRET_ACCESS_KEY\\"}"'
    found = base_report(side(tmp_path, answer))
    assert found == Report(stack=f"-m fleet.report --format json --config {STAGING}"), (
        "the base's Python runs without credentials"
    )


@pytest.mark.parametrize(
    "body", ["exit 1", "echo no JSON", "echo []", 'echo {\\"clusters\\": 1}', "sleep 60"]
)
def test_this_code_makes_the_base_report_if_the_base_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(reports, "LIMIT_S", 0.5)
    found = base_report(side(tmp_path, body))
    assert found is not None
    assert found.stack == "staging"
    assert "ci-staging" in found.clusters


def test_without_a_base_report_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.old.yaml"
    file.write_text("config:\n  gpu-runners:stack:\n    clusters: {}\n", encoding="utf-8")
    assert base_report(side(tmp_path, "exit 1", file)) is None


def test_a_large_report_keeps_its_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report.model_validate(staging())
    assert limited_report(report) == report
    assert (limited_report(None), limited(None)) == (None, None)
    monkeypatch.setattr(reports, "MAX_CHARACTERS", 4_000)
    kept = limited_report(report)
    assert kept is not None
    assert kept.totals == report.totals
    assert kept.clusters["ci-staging"].pools == {}
    monkeypatch.setattr(reports, "MAX_CHARACTERS", 10)
    assert limited_report(report) is None
    assert limited(Difference(stack="staging")) is None


def staging() -> dict[str, Any]:
    """Return the report of staging as the base would print it."""
    return reports.checks.report_data(stackfile.read(STAGING)).model_dump(mode="json")


def renamed(base: dict[str, Any], head: dict[str, Any]) -> list[Rename]:
    old, new = Report.model_validate(base), Report.model_validate(head)
    return [*renames(compare(old, new), old, new)]


def test_pools_and_lanes_with_a_new_name_are_renamed_even_if_a_setting_changes_too() -> None:
    head = staging()
    lanes = head["clusters"]["ci-staging"]["lanes"]
    lane = lanes.pop("github/gpu-t4-staging")
    changes = {"name": "gpu-next", "write": ["gpu-next"], "most_jobs": 1}
    lanes["github/gpu-next"] = {**lane, **changes}
    pools = head["clusters"]["ci-staging"]["pools"]
    pools["cpu"] = pools.pop("system")
    lost = ("gpu-t4-staging",)
    assert renamed(staging(), head) == [
        Rename(kind="pool", cluster="ci-staging", old="system", new="cpu"),
        Rename(kind="GitHub lane", cluster="ci-staging", old=lost[0], new="gpu-next", lost=lost),
    ]


def test_a_cluster_with_a_new_name_is_renamed_with_everything_in_it() -> None:
    head = staging()
    head["clusters"] = {"ci-next": head["clusters"]["ci-staging"]}
    assert renamed(staging(), head) == [Rename(kind="cluster", old="ci-staging", new="ci-next")]


def test_a_tag_of_another_lane_is_not_lost() -> None:
    head = staging()
    lanes = head["clusters"]["ci-staging"]["lanes"]
    lane = lanes.pop("gitlab/t4-staging")
    lanes["gitlab/next"] = {**lane, "name": "next"}
    (one,) = renamed(staging(), head)
    assert (one.kind, one.new, one.lost) == ("GitLab lane", "next", ()), "its tags stay"
