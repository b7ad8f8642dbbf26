"""The report on a terminal: every lane and pool, and names that hold rich's own markup."""

import io
from typing import Any

import pytest

from fleet.report import Report
from fleet.report.terminal import write
from tests.fleet.report.reports import report_json
from tests.fleet.samples import SHIPPED, every_key, loaded, shipped_stack


def printed(report: dict[str, Any], more: str = "") -> str:
    out = io.StringIO()
    write(out, Report.model_validate(report), more)
    return out.getvalue()


@pytest.mark.parametrize("name", SHIPPED)
def test_the_terminal_shows_every_lane_with_its_labels_every_pool_and_the_cost(name: str) -> None:
    report = report_json(loaded(shipped_stack(name)), stack=name)
    text = printed(report)
    assert text.startswith(f"Fleet {name}, {report['date']}\n")
    money = report["totals"]["usd_per_month"]
    idle, full = money["floor"], money["ceiling"]
    assert f"{idle:,.0f} USD per month idle, {full:,.0f} USD at full size" in text
    for cluster in report["clusters"].values():
        assert all(pool in text for pool in cluster["pools"])
        for lane in cluster["lanes"].values():
            wanted = (
                f"runs-on: {lane['name']}"
                if lane["forge"] == "github"
                else f"tags: [{', '.join(lane['write'])}]"
            )
            assert wanted in text
            assert f"drain {lane['drain_minutes']} min" in text
    for quota in report["quotas"]:
        assert f"{quota['needed']:,} {quota['unit']}" in text


def test_a_pipe_gets_no_colour_and_wide_tables() -> None:
    text = printed(report_json(loaded(every_key())))
    assert "\x1b[" not in text
    assert max(map(len, text.splitlines())) <= 160


def test_names_that_hold_markup_are_shown_as_they_are() -> None:
    report = report_json(loaded(every_key()))
    report["clusters"]["ci"]["lanes"]["github/gpu"]["write"] = ["[bold]x[/bold]"]
    one = {"rule": "r", "severity": "warning", "path": "p", "message": "[red]odd", "remedy": "mend"}
    report["findings"] = [one]
    text = printed(report)
    assert "runs-on: [bold]x[/bold]" in text
    assert "warning: p: [red]odd\n    mend (r)\n" in text


def test_silenced_findings_are_shown_with_their_reason() -> None:
    report = report_json(loaded(every_key()))
    one = {"rule": "r", "severity": "note", "path": "p", "message": "m", "remedy": "x"}
    report["silenced"] = [{**one, "reason": "is meant so"}]
    assert "silenced: p: is meant so\n" in printed(report)


def test_markdown_that_follows_the_report_is_rendered() -> None:
    text = printed(report_json(loaded(every_key())), "## Difference\n\n- pool `t4`")
    assert "• pool t4" in text.partition("Difference")[2]


def test_an_empty_report_is_printed() -> None:
    assert "Fleet" in printed({})
