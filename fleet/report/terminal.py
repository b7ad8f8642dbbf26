"""The report on a terminal: the tables of the Markdown, in colours where there are any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fleet.catalog.ec2 import PRICE_REGION
from fleet.report.difference import is_empty
from fleet.report.phrases import (
    dollars,
    free_of,
    gpus_of,
    hourly,
    job_of,
    jobs_of,
    kind_of,
    landings,
    lane_price,
    nodes_of,
    written,
)
from fleet.report.read import Data, count, lanes, part, parts, pools, rows, text, usd, words

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
_WIDE = 160
"""Columns where nobody is there to read: in a file or a pipe."""


def write(report: Data, difference: Data | None, out: IO[str]) -> None:
    """Print the report, and the difference to a base where there is one."""
    console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDE)
    for one in (*_headline(report), *_tables(report), *_findings(report)):
        console.print(one)
    if difference is not None:
        for line in _difference(difference):
            console.print(line)


def _headline(report: Data) -> Iterator[Text]:
    money = part(report, "totals", "usd_per_month")
    gpus = [f"{n} x {model}" for model, n in part(report, "totals", "gpus").items() if n]
    yield Text(f"Fleet {text(report, 'stack')}, {text(report, 'date')}", style="bold")
    cost = "no node here is priced"
    if usd(money, "ceiling"):
        cost = (
            f"{dollars(usd(money, 'floor'))} a month idle, {dollars(usd(money, 'ceiling'))} full "
            f"(nodes only, on demand, AWS as in {PRICE_REGION})"
        )
    yield Text(f"{cost}; {', '.join(gpus) or 'no GPU'}")
    for name, body in parts(report, "clusters"):
        until = text(body, "support_end") or text(body, "support_rule")
        yield Text(f"{name}: {kind_of(body)}" + (f", supported until {until}" if until else ""))


def _tables(report: Data) -> Iterator[Table]:
    yield _table(
        "Lanes",
        ("Cluster", "Lane", "Write", "Lands on", "A job gets", "At once", "USD a job-hour"),
        (
            (
                *(cluster, name, written(lane)),
                "\n".join(f"{pool}: {fit}" for pool, fit in landings(lane)),
                *(job_of(lane), jobs_of(lane), lane_price(lane)),
            )
            for cluster, name, lane in lanes(report)
        ),
    )
    yield _table(
        "Pools",
        ("Cluster", "Pool", "Nodes", "Kind", "GPUs a node", "Free for jobs", "USD an hour"),
        (
            (
                *(cluster, name, nodes_of(pool), "\n".join(words(pool, "kinds"))),
                *(gpus_of(pool), free_of(pool)),
                hourly(usd(part(pool, "price"), "usd_per_hour")) if pool.get("price") else "",
            )
            for cluster, name, pool in pools(report)
        ),
    )
    yield _table(
        "Quotas at full size",
        ("Quota", "Where", "Needed", "Pools"),
        (
            (
                *(text(one, "name"), text(one, "region")),
                f"{count(one, 'needed'):,} {text(one, 'unit')}",
                ", ".join(words(one, "pools")),
            )
            for one in rows(report, "quotas")
        ),
    )


def _table(title: str, head: Iterable[str], lines: Iterable[Iterable[str]]) -> Table:
    """Cells are plain text: names may hold what rich would take for markup."""
    table = Table(title=title, title_justify="left", show_lines=False)
    for name in head:
        money = name.startswith("USD")
        table.add_column(name, justify="right" if money else "left", overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def _findings(report: Data) -> Iterator[Text]:
    for one in rows(report, "findings"):
        severity = text(one, "severity")
        yield Text(
            f"{severity}: {text(one, 'path')}: {text(one, 'message')}\n    {text(one, 'remedy')} "
            f"({text(one, 'rule')})",
            style=_STYLES.get(severity, ""),
        )
    for one in rows(report, "silenced"):
        yield Text(f"silenced: {text(one, 'path')}: {text(one, 'reason')}", style="dim")


def _difference(difference: Data) -> Iterator[Text | Table]:
    yield Text("Difference", style="bold")
    if not difference.get("base"):
        yield Text("there is no base: everything is new")
        return
    if is_empty(difference):
        yield Text("nothing differs in what the reports say")
        return
    for one in rows(difference, "updates"):
        yield Text(
            f"{text(one, 'what')} {text(one, 'id')} {text(one, 'effect')}, "
            f"{count(one, 'nodes')} nodes at most: {text(one, 'says')}",
            style="yellow",
        )
    money = part(difference, "money")
    for key, name in (("floor", "idle"), ("ceiling", "full")):
        if change := part(money, key):
            old, new = usd(change, "old"), usd(change, "new")
            yield Text(f"a month {name}: {dollars(old)} -> {dollars(new)} ({new - old:+,.0f} USD)")
    yield _table("Changes", ("What", "Field", "Before", "Now"), _changes(difference))


def _changes(difference: Data) -> Iterator[tuple[str, str, str, str]]:
    for model in part(difference, "gpus"):
        change = part(difference, "gpus", model)
        yield ("GPUs", model, str(count(change, "old")), str(count(change, "new")))
    for key in ("clusters", "pools", "lanes"):
        change = part(difference, key)
        for verb in ("added", "removed"):
            yield from ((f"{key} {verb}", name, "", "") for name in words(change, verb))
        for old, new in part(change, "renamed").items():
            yield (f"{key} renamed", "", str(old), str(new))
        for name in part(change, "changed"):
            fields = part(change, "changed", name)
            for field in fields:
                values = part(fields, field)
                yield (name, field, _said(values.get("old")), _said(values.get("new")))


def _said(value: object) -> str:
    return "none" if value is None else str(value)
