"""The report on a terminal, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from fleet.catalog.ec2 import PRICE_REGION
from fleet.report.model import Lane, Report
from fleet.report.phrases import (
    cluster_title,
    dollars,
    drain_of,
    free_of,
    gpus_of,
    hourly,
    job_of,
    jobs_of,
    jobs_per_node,
    lane_price,
    nodes_of,
    selector_of,
)

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
_WIDTH = 160
"""Columns in a file or a pipe."""


def write(out: IO[str], report: Report, more: str = "") -> None:
    """Print the report, and the Markdown that follows it."""
    console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDTH)
    for part in (*_headline(report), *_tables(report), *_findings(report)):
        console.print(part)
    if more:
        console.print(Markdown(more))


def _headline(report: Report) -> Iterator[Text]:
    month = report.totals.usd_per_month
    gpus = [f"{number} x {model}" for model, number in report.totals.gpus.items() if number]
    yield Text(f"Fleet {report.stack or ''}, {report.date}", style="bold")
    cost = "no pool has a price"
    if month.ceiling:
        cost = (
            f"{dollars(month.floor)} per month idle, {dollars(month.ceiling)} at full size "
            f"(nodes only, on demand, AWS: prices of {PRICE_REGION})"
        )
    yield Text(f"{cost}; {', '.join(gpus) or 'no GPU'}")
    for name, body in report.clusters.items():
        until = body.support_end or body.support_rule
        yield Text(
            f"{name}: {cluster_title(body)}" + (f", supported until {until}" if until else "")
        )


def _tables(report: Report) -> Iterator[Table]:
    head = ("Cluster", "Lane", "Write in the job", "Runs on", "A job gets", "At a time")
    yield _table(
        "Lanes",
        (*head, "USD per job-hour"),
        (
            (
                *(cluster, name, selector_of(lane)),
                "\n".join(f"{pool}: {fit}" for pool, fit in jobs_per_node(lane)),
                *(job_of(lane), _jobs(lane), lane_price(lane)),
            )
            for cluster, name, lane in report.lanes()
        ),
    )
    yield _table(
        "Pools",
        ("Cluster", "Pool", "Nodes", "Kind", "GPUs per node", "Free for jobs", "USD per hour"),
        (
            (
                *(cluster, name, nodes_of(pool), "\n".join(pool.kinds)),
                *(gpus_of(pool), free_of(pool)),
                hourly(pool.price.usd_per_hour) if pool.price else "",
            )
            for cluster, name, pool in report.pools()
        ),
    )
    yield _table(
        "Quotas at full size",
        ("Quota", "Where", "Needed", "Pools"),
        (
            (quota.name, quota.region, f"{quota.needed:,} {quota.unit}", ", ".join(quota.pools))
            for quota in report.quotas
        ),
    )


def _jobs(lane: Lane) -> str:
    drain = drain_of(lane)
    return "\n".join([jobs_of(lane), *([f"drain {drain}"] if drain else [])])


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table of plain text: rich interprets no markup in a cell."""
    found = Table(title=title, title_justify="left", show_lines=False)
    for name in head:
        right = name.startswith("USD")
        found.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        found.add_row(*map(Text, row))
    return found


def _findings(report: Report) -> Iterator[Text]:
    for one in report.findings:
        yield Text(
            f"{one.severity}: {one.path}: {one.message}\n    {one.remedy} ({one.rule})",
            style=_STYLES.get(one.severity, ""),
        )
    for silenced in report.silenced:
        yield Text(f"silenced: {silenced.path}: {silenced.reason}", style="dim")
