"""The report as Markdown, for a pull request: money and picture first, then what is behind them.

It is made of the data (`fleet.report.shape`) and of nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fleet.catalog.ec2 import PRICE_REGION
from fleet.report.phrases import (
    code,
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
    other_labels,
    plain,
    span,
    table,
    written,
)
from fleet.report.picture import picture
from fleet.report.read import Data, count, lanes, part, parts, pools, rows, text, usd, words

SEVERITIES = ("error", "warning", "note")


def markdown(report: Data) -> str:
    """The whole report; headings begin at the second level."""
    blocks = (
        headline(report),
        _picture(report),
        _lanes(report),
        _pools(report),
        _quotas(report),
        _versions(report),
        _findings(report),
    )
    return "\n\n".join("\n".join(block) for block in map(list, blocks) if block) + "\n"


def headline(report: Data) -> Iterator[str]:
    """Money, GPUs, clusters, lanes and findings in one small table."""
    totals = part(report, "totals")
    gpus = [f"{n} x {plain(m)}" for m, n in part(totals, "gpus").items() if n]
    clusters = [
        f"{code(name)} ({plain(kind_of(body))})" for name, body in parts(report, "clusters")
    ]
    every = [lane for _, _, lane in lanes(report)]
    paused = sum(1 for lane in every if lane.get("paused"))
    name = text(report, "stack")
    yield from (f"## Fleet {code(name)}" if name else "## Fleet", "")
    yield from table(
        ("", ""),
        (
            ("Cost a month", _cost(totals)),
            ("GPUs when full", ", ".join(gpus) or "none"),
            ("Clusters", "<br>".join(clusters)),
            ("Lanes", f"{len(every)}" + (f", {paused} paused" if paused else "")),
            ("Findings", f"{_counts(report)}, as of {text(report, 'date')}"),
        ),
    )


def _cost(totals: Data) -> str:
    """Of the nodes, which is what a change of pools and lanes moves."""
    money, dates = part(totals, "usd_per_month"), words(totals, "price_dates")
    if not usd(money, "ceiling"):
        return "no node here is priced"
    when = f" of {span(dates[0], dates[-1])}" if dates else ""
    return (
        f"**{dollars(usd(money, 'floor'))}** idle, **{dollars(usd(money, 'ceiling'))}** full: "
        f"nodes only, at prices on demand{when}, AWS as in {PRICE_REGION}; control planes, NAT and "
        "disks are extra"
    )


def _counts(report: Data) -> str:
    found = Counter(text(one, "severity") for one in rows(report, "findings"))
    said = [
        f"{found[one]} {one}{'' if found[one] == 1 else 's'}" for one in SEVERITIES if found[one]
    ]
    silenced = len(rows(report, "silenced"))
    return ", ".join([*(said or ["none"]), *([f"{silenced} silenced"] if silenced else [])])


def _picture(report: Data) -> Iterator[str]:
    yield from ("```mermaid", picture(report), "```")


def _lanes(report: Data) -> Iterator[str]:
    several = len(part(report, "clusters")) > 1
    head = ("Lane", "Write", "Lands on", "A job gets", "Jobs at once", "USD a job-hour ")
    yield from ("## Lanes", "")
    yield from table(
        ("Cluster", *head) if several else head,
        (
            ((plain(cluster), *cells) if several else cells)
            for cluster, name, lane in lanes(report)
            for cells in (_lane(name, lane),)
        ),
    )
    yield from (
        "",
        "A job-hour is the price of the node, shared by the jobs that fill it: of the cheapest and "
        "of the dearest node that the lane may use.",
    )


def _lane(name: str, lane: Data) -> tuple[str, ...]:
    more = other_labels(lane)
    write = code(written(lane)) + (f"<br>also {', '.join(map(code, more))}" if more else "")
    found = landings(lane)
    number = len(found) > 1
    return (
        plain(name),
        write,
        "<br>".join(
            f"{f'{rank}. ' if number else ''}{code(pool)}: {plain(fit)}"
            for rank, (pool, fit) in enumerate(found, start=1)
        ),
        plain(job_of(lane)),
        jobs_of(lane),
        lane_price(lane),
    )


def _pools(report: Data) -> Iterator[str]:
    yield from ("## Pools", "")
    several = len(part(report, "clusters")) > 1
    head = (
        *("Pool", "Nodes", "Kind", "GPUs a node", "Free for jobs", "Capacity"),
        *("USD an hour ", "USD a month "),
    )
    yield from table(
        ("Cluster", *head) if several else head,
        (
            ((plain(cluster), *cells) if several else cells)
            for cluster, name, pool in pools(report)
            for cells in (_pool(name, pool),)
        ),
    )
    yield from _what_is_counted(report)
    yield from _moving_images(report)


def _pool(name: str, pool: Data) -> tuple[str, ...]:
    money = part(pool, "usd_per_month")
    return (
        code(name),
        nodes_of(pool),
        plain(", ".join(words(pool, "kinds"))),
        plain(gpus_of(pool)) or "none",
        plain(free_of(pool)),
        plain(text(pool, "capacity")),
        hourly(usd(part(pool, "price"), "usd_per_hour")) if pool.get("price") else "",
        span(f"{usd(money, 'floor'):,.0f}", f"{usd(money, 'ceiling'):,.0f}") if money else "",
    )


def _what_is_counted(report: Data) -> Iterator[str]:
    """Whose prices these are, of which day, and what they leave out."""
    prices: dict[tuple[str, str, str], list[str]] = {}
    notes: dict[str, list[str]] = {}
    for cluster, name, pool in pools(report):
        price = part(pool, "price")
        if price:
            key = (text(price, "region"), text(price, "date"), text(price, "source"))
            prices.setdefault(key, []).append(text(price, "kind"))
        if text(pool, "not_counted"):
            notes.setdefault(text(pool, "not_counted"), []).append(f"{cluster}/{name}")
        if pool.get("paused") and price:
            notes.setdefault("paused, so nothing is counted", []).append(f"{cluster}/{name}")
    free = [name for name, body in parts(report, "clusters") if text(body, "kind") == "existing"]
    yield ""
    if prices:
        yield (
            "Prices are on demand (Linux), a month has 730 hours; disks, traffic, NAT and control "
            "planes are extra."
        )
        yield ""
    for (region, day, source), kinds in prices.items():
        where = f" in {region}" if region else ""
        yield (
            f"- {plain(', '.join(dict.fromkeys(kinds)))}{where}: {f'{day}, ' if day else ''}"
            f"{plain(source)}"
        )
    for note, names in notes.items():
        yield f"- {', '.join(map(code, names))}: {plain(note)}"
    for name in free:
        yield f"- {code(name)}: somebody else's nodes; they cost this stack nothing"


def _moving_images(report: Data) -> Iterator[str]:
    """Images that nobody pinned: what a pool runs then depends on the day."""
    moving = [
        f"{cluster}/{name}"
        for cluster, body in parts(report, "clusters")
        if text(body, "kind") == "oke"
        for name, pool in parts(body, "pools")
        if not text(part(pool, "made_of"), "image")
    ]
    if moving:
        yield (
            f"- {', '.join(map(code, moving))}: the newest node image of the day; pin `image_id` "
            "for production"
        )


def _quotas(report: Data) -> Iterator[str]:
    found = rows(report, "quotas")
    if not found:
        return
    yield from ("## Quotas at full size", "")
    yield from table(
        ("Quota", "Where", "Needed ", "A new account has", "Pools"), map(_quota, found)
    )


def _quota(quota: Data) -> tuple[str, ...]:
    domains = words(quota, "domains")
    account = text(quota, "account")
    name = plain(text(quota, "name"))
    default = text(quota, "default")
    return (
        f"{name} ({code(text(quota, 'code'))})" if quota.get("code") else name,
        plain(text(quota, "region"))
        + (f", profile {code(account)}" if account else "")
        + (f"<br>over {plain(', '.join(domains))}" if domains else ""),
        f"{count(quota, 'needed'):,} {plain(text(quota, 'unit'))}",
        default or ("often 0" if text(quota, "unit") == "GPUs" else ""),
        ", ".join(map(code, words(quota, "pools"))),
    )


def _versions(report: Data) -> Iterator[str]:
    yield from ("## Versions", "")
    yield from table(("What", "Version", "Supported until", "Where"), version_rows(report))


def version_rows(report: Data) -> list[tuple[str, str, str, str]]:
    """What runs in which version, until when, and where; marked up."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for cluster, body in parts(report, "clusters"):
        if text(body, "version"):
            what = f"Kubernetes ({kind_of({'kind': body.get('kind')})})"
            found.setdefault((what, text(body, "version"), _until(body)), {})[cluster] = None
        for _, pool in parts(body, "pools"):
            image = text(part(pool, "made_of"), "image")
            if image:
                found.setdefault(("Node image", image, ""), {})[cluster] = None
        drivers = part(body, "drivers")
        for driver in drivers:
            until = f"{text(drivers, driver)} (its branch)" if drivers[driver] else ""
            found.setdefault(("NVIDIA driver, at least", driver, until), {})[cluster] = None
        for chart, version in part(body, "charts").items():
            found.setdefault((f"Chart {chart}", str(version), ""), {})[cluster] = None
    return [
        (plain(what), code(version), plain(until), ", ".join(map(code, where)))
        for (what, version, until), where in found.items()
    ]


def _until(cluster: Data) -> str:
    end, rule = text(cluster, "support_end"), text(cluster, "support_rule")
    return f"{end} ({rule})" if end and rule else end or rule


def _findings(report: Data) -> Iterator[str]:
    found = rows(report, "findings")
    silenced = rows(report, "silenced")
    if not found and not silenced:
        return
    notes = [one for one in found if text(one, "severity") == "note"]
    loud = [finding_line(one) for one in found if one not in notes]
    blocks = [["## Findings"], *([loud] if loud else [])]
    if notes:
        blocks.append(_folded(f"{len(notes)} note{'' if len(notes) == 1 else 's'}", notes))
    if silenced:
        blocks.append(_folded(f"{len(silenced)} silenced", silenced))
    yield "\n\n".join("\n".join(block) for block in blocks)


def finding_line(finding: Data) -> str:
    """One finding as an item of a list: where, what, what to do, and which rule says so."""
    reason = text(finding, "reason")
    message, remedy = plain(text(finding, "message")), plain(text(finding, "remedy"))
    return (
        f"- {code(text(finding, 'path')) or 'the whole stack'}: {message}; {remedy} "
        f"({code(text(finding, 'rule'))})" + (f"<br>silenced: {plain(reason)}" if reason else "")
    )


def _folded(summary: str, findings: list[Data]) -> list[str]:
    opened = ["<details>", f"<summary>{summary}</summary>", ""]
    return [*opened, *map(finding_line, findings), "", "</details>"]
