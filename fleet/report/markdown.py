"""The report as Markdown, for a pull request: cost and picture first, then the tables.

It reads the report (`fleet.report.model`) and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from fleet.catalog.ec2 import PRICE_REGION
from fleet.report.model import Cluster, Finding, Lane, Pool, Quota, Report, Silenced, Totals
from fleet.report.phrases import (
    cluster_title,
    code,
    count,
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
    other_labels,
    plain,
    platform_name,
    selector_of,
    span,
    table,
)
from fleet.report.picture import picture

SEVERITIES = ("error", "warning", "note")


def markdown(report: Report) -> str:
    """Return the whole report; its headings start at the second level."""
    blocks = (
        headline(report),
        ("```mermaid", picture(report), "```"),
        _lanes(report),
        _pools(report),
        _quotas(report),
        _versions(report),
        _findings(report),
    )
    return "\n\n".join("\n".join(block) for block in map(list, blocks) if block) + "\n"


def headline(report: Report) -> Iterator[str]:
    """Yield the heading, and a small table of cost, GPUs, clusters, lanes and findings."""
    totals = report.totals
    gpus = [f"{number} x {plain(model)}" for model, number in totals.gpus.items() if number]
    clusters = [
        f"{code(name)} ({plain(cluster_title(body))})" for name, body in report.clusters.items()
    ]
    lanes = [lane for _, _, lane in report.lanes()]
    paused = sum(lane.paused for lane in lanes)
    yield from (f"## Fleet {code(report.stack or '')}".rstrip(), "")
    yield from table(
        ("", ""),
        (
            ("Cost per month", _cost(totals)),
            ("GPUs at full size", ", ".join(gpus) or "none"),
            ("Clusters", "<br>".join(clusters)),
            ("Lanes", f"{len(lanes)}" + (f", {paused} paused" if paused else "")),
            ("Findings", f"{_counts(report)}, as of {plain(report.date)}"),
        ),
    )


def _cost(totals: Totals) -> str:
    month, dates = totals.usd_per_month, totals.price_dates
    if not month.ceiling:
        return "no pool has a price"
    when = f" of {plain(span(dates[0], dates[-1]))}" if dates else ""
    return (
        f"**{dollars(month.floor)}** idle, **{dollars(month.ceiling)}** at full size. Nodes only, "
        f"at on-demand prices{when} (AWS: prices of {PRICE_REGION}); control planes, NAT and "
        "disks are not included"
    )


def _counts(report: Report) -> str:
    number = Counter(finding.severity for finding in report.findings)
    parts = [count(number[severity], severity) for severity in SEVERITIES if number[severity]]
    silenced = [f"{len(report.silenced)} silenced"] if report.silenced else []
    return ", ".join([*(parts or ["none"]), *silenced])


def _lanes(report: Report) -> Iterator[str]:
    yield from ("## Lanes", "")
    head = ("Lane", "Write in the job", "Runs on", "A job gets", "Jobs at a time", "Drain")
    yield from _table_by_cluster(
        report,
        (*head, "USD per job-hour "),
        ((cluster, _lane(name, lane)) for cluster, name, lane in report.lanes()),
    )
    yield from (
        "",
        "Drain is the longest time that a change waits for running jobs when it replaces or "
        "removes the lane. The price of a job-hour is the price of a node divided by the jobs that "
        "fill it, for the cheapest and for the most expensive node of the lane.",
    )


def _table_by_cluster(
    report: Report, head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]
) -> list[str]:
    """Return a table that names the cluster of each row if there are several clusters."""
    if len(report.clusters) < 2:
        return table(head, (cells for _, cells in rows))
    return table(("Cluster", *head), ((plain(cluster), *cells) for cluster, cells in rows))


def _lane(name: str, lane: Lane) -> tuple[str, ...]:
    labels = other_labels(lane)
    pools = jobs_per_node(lane)
    return (
        plain(name),
        code(selector_of(lane)) + (f"<br>also {', '.join(map(code, labels))}" if labels else ""),
        "<br>".join(
            f"{f'{rank}. ' if len(pools) > 1 else ''}{code(pool)}: {plain(fit)}"
            for rank, (pool, fit) in enumerate(pools, start=1)
        ),
        plain(job_of(lane)),
        jobs_of(lane),
        drain_of(lane),
        lane_price(lane),
    )


def _pools(report: Report) -> Iterator[str]:
    yield from ("## Pools", "")
    head = ("Pool", "Nodes", "Kind", "GPUs per node", "Free for jobs", "Capacity")
    yield from _table_by_cluster(
        report,
        (*head, "USD per hour ", "USD per month "),
        ((cluster, _pool(name, pool)) for cluster, name, pool in report.pools()),
    )
    yield from _price_notes(report)
    yield from _unpinned_images(report)


def _pool(name: str, pool: Pool) -> tuple[str, ...]:
    month = pool.usd_per_month
    return (
        code(name),
        nodes_of(pool),
        plain(", ".join(pool.kinds)),
        plain(gpus_of(pool)) or "none",
        plain(free_of(pool)),
        plain(pool.capacity),
        hourly(pool.price.usd_per_hour) if pool.price else "",
        span(f"{month.floor:,.0f}", f"{month.ceiling:,.0f}") if month else "",
    )


def _price_notes(report: Report) -> Iterator[str]:
    """Yield source and date of the prices, and what they do not include."""
    sources: dict[tuple[str, str, str], list[str]] = {}
    notes: dict[str, list[str]] = {}
    for cluster, name, pool in report.pools():
        price = pool.price
        if price:
            key = (price.region or "", price.date or "", price.source)
            sources.setdefault(key, []).append(price.kind)
        if pool.not_counted:
            notes.setdefault(pool.not_counted, []).append(f"{cluster}/{name}")
        if pool.paused and price:
            notes.setdefault("paused, counted as zero", []).append(f"{cluster}/{name}")
    yield ""
    if sources:
        yield from (
            "Prices are on-demand prices for Linux; a month has 730 hours. Disks, traffic, NAT and "
            "control planes are not included.",
            "",
        )
    for (region, day, source), kinds in sources.items():
        where = f" in {plain(region)}" if region else ""
        when = f"{plain(day)}, " if day else ""
        yield f"- {plain(', '.join(dict.fromkeys(kinds)))}{where}: {when}{plain(source)}"
    for note, names in notes.items():
        yield f"- {', '.join(map(code, names))}: {plain(note)}"
    for name, body in report.clusters.items():
        if body.kind == "existing":
            yield f"- {code(name)}: an existing cluster; its nodes are not part of this cost"


def _unpinned_images(report: Report) -> Iterator[str]:
    names = [
        f"{cluster}/{name}"
        for cluster, body in report.clusters.items()
        if body.kind == "oke"
        for name, pool in body.pools.items()
        if not pool.made_of.image
    ]
    if names:
        yield (
            f"- {', '.join(map(code, names))}: no `image_id`, so new nodes use the newest image at "
            "the time of `up`; pin `image_id` for production"
        )


def _quotas(report: Report) -> Iterator[str]:
    if report.quotas:
        head = ("Quota", "Where", "Needed ", "A new account has", "Pools")
        yield from ("## Quotas at full size", "", *table(head, map(_quota, report.quotas)))


def _quota(quota: Quota) -> tuple[str, ...]:
    name = plain(quota.name)
    often_none = "often 0" if quota.unit == "GPUs" else ""
    return (
        f"{name} ({code(quota.code)})" if quota.code else name,
        plain(quota.region)
        + (f", profile {code(quota.account)}" if quota.account else "")
        + (f"<br>over {plain(', '.join(quota.domains))}" if quota.domains else ""),
        f"{quota.needed:,} {plain(quota.unit)}",
        often_none if quota.default is None else str(quota.default),
        ", ".join(map(code, quota.pools)),
    )


def _versions(report: Report) -> Iterator[str]:
    """Yield the table of versions, with the end of their support and the clusters that have them.

    Rows of several clusters with the same version are one row.
    """
    clusters: dict[tuple[str, str, str], dict[str, None]] = {}
    for cluster, body in report.clusters.items():
        for row in _versions_of(body):
            clusters.setdefault(row, {})[cluster] = None
    yield from ("## Versions", "")
    yield from table(
        ("What", "Version", "Supported until", "Where"),
        (
            (plain(what), code(version), plain(until), ", ".join(map(code, where)))
            for (what, version, until), where in clusters.items()
        ),
    )


def _versions_of(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    if cluster.version:
        end, rule = cluster.support_end, cluster.support_rule
        until = f"{end} ({rule})" if end and rule else end or rule or ""
        yield f"Kubernetes ({platform_name(cluster.kind)})", cluster.version, until
    for pool in cluster.pools.values():
        if pool.made_of.image:
            yield "Node image", pool.made_of.image, ""
    for driver, end in cluster.drivers.items():
        yield "NVIDIA driver, at least", driver, f"{end} (its branch)" if end else ""
    for chart, version in cluster.charts.items():
        yield f"Chart {chart}", version, ""


def _findings(report: Report) -> Iterator[str]:
    if not report.findings and not report.silenced:
        return
    notes = [one for one in report.findings if one.severity == "note"]
    others = [finding_line(one) for one in report.findings if one.severity != "note"]
    blocks = [["## Findings"], *([others] if others else [])]
    if notes:
        blocks.append(_folded(count(len(notes), "note"), notes))
    if report.silenced:
        blocks.append(_folded(f"{len(report.silenced)} silenced", report.silenced))
    yield "\n\n".join("\n".join(block) for block in blocks)


def finding_line(finding: Finding) -> str:
    """Return a finding as a list item: path, message, remedy and rule."""
    line = (
        f"- {code(finding.path) or 'the whole stack'}: {plain(finding.message)}; "
        f"{plain(finding.remedy)} ({code(finding.rule)})"
    )
    if isinstance(finding, Silenced):
        line += f"<br>silenced: {plain(finding.reason)}"
    return line


def _folded(summary: str, findings: Iterable[Finding]) -> list[str]:
    opened = ["<details>", f"<summary>{summary}</summary>", ""]
    return [*opened, *map(finding_line, findings), "", "</details>"]
