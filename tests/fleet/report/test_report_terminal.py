"""The report on a terminal: every lane and pool, and names that hold rich's own markup."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pytest

from change.difference import Difference
from change.difference_page import difference_tables
from fleet.report import Report
from fleet.report.terminal import write
from tests.fleet.report.reports import difference_json, report_json
from tests.fleet.samples import SHIPPED, every_key, loaded, shipped_stack


def printed(report: dict[str, Any], base: dict[str, Any] | None = None, **rest: Any) -> str:
    out = io.StringIO()
    more: Iterable[Any] = ()
    if base is not None or rest:
        more = difference_tables(Difference.model_validate(difference_json(base, report)))
    write(out, Report.model_validate(report), more)
    return out.getvalue()


@pytest.mark.parametrize("name", SHIPPED)
def test_the_terminal_shows_every_lane_and_pool_what_to_write_and_the_money(name: str) -> None:
    report = report_json(loaded(shipped_stack(name)), stack=name)
    text = printed(report)
    assert text.startswith(f"Fleet {name}, {report['date']}\n")
    money = report["totals"]["usd_per_month"]
    assert (
        f"{money['floor']:,.0f} USD per month idle, {money['ceiling']:,.0f} USD at full size"
        in text
    )
    for cluster in report["clusters"].values():
        assert all(pool in text for pool in cluster["pools"])
        for lane in cluster["lanes"].values():
            wanted = (
                f"runs-on: {lane['name']}"
                if lane["forge"] == "github"
                else f"tags: [{', '.join(lane['write'])}]"
            )
            assert wanted in text
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


def test_what_is_silenced_is_shown_with_its_reason() -> None:
    report = report_json(loaded(every_key()))
    one = {"rule": "r", "severity": "note", "path": "p", "message": "m", "remedy": "x"}
    report["silenced"] = [{**one, "reason": "is meant so"}]
    assert "silenced: p: is meant so\n" in printed(report)


def test_the_difference_follows_the_report() -> None:
    base = report_json(loaded(every_key()))
    pool = "clusters.ci.eks.pools.t4"
    head = report_json(loaded(every_key({f"{pool}.disk_gib": 300, f"{pool}.max_size": 12})))
    text = printed(head, base).partition("\nDifference\n")[2]
    assert "pool ci/t4 rolled, at most 10 nodes: its nodes are drained" in text
    assert "per month at full size: 30,171 USD ->" in text
    rows = [line for line in text.splitlines() if "ci/t4" in line]
    assert any("made_of.disk_gib" in row and "200" in row and "300" in row for row in rows)
    assert any("│ T4" in line and "12" in line for line in text.splitlines())


def test_what_comes_goes_and_is_renamed_is_told() -> None:
    base = report_json(loaded(every_key()))
    lanes = "clusters.existing.github.lanes"
    lane = every_key()["clusters"]["existing"]["github"]["lanes"]["cpu-only"]
    other = {"pools": ["t4"], "gpus": 1, "max_runners": 1}
    stack = every_key({f"{lanes}.cpus": lane, f"{lanes}.cards": other})
    del stack["clusters"]["existing"]["github"]["lanes"]["cpu-only"]
    text = printed(report_json(loaded(stack)), base)
    assert "lane added" in text
    assert "existing/github/cards" in text
    assert "lane renamed" in text
    back = printed(base, report_json(loaded(stack)))
    assert "lane removed" in back


def test_no_base_and_no_difference_are_said() -> None:
    report = report_json(loaded(every_key()))
    assert "There is no base: everything is new." in printed(report, None, without=True)
    assert "The reports do not differ." in printed(report, report)


def test_a_report_that_lacks_everything_is_still_printed() -> None:
    assert "Fleet" in printed({})
