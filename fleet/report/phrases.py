"""Amounts, lanes and pools as text, the same for every rendering of a report.

Only `code`, `plain` and `table` return Markdown; they accept any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fleet.kubernetes.labels import GPU_RESOURCE
from fleet.report.model import Cluster, Lane, Placement, Pool

_PLATFORMS = {"eks": "EKS", "oke": "OKE", "existing": "existing"}
_RESOURCES = {"ephemeral-storage": "disk", "cpu": "CPU"}
"""Resource names of Kubernetes that a report spells differently."""


def count(number: int, noun: str) -> str:
    """Return a number with its noun in the right form."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def dollars(amount: float) -> str:
    """Return a monthly amount in whole USD."""
    return f"{amount:,.0f} USD"


def hourly(amount: float) -> str:
    """Return an hourly amount in USD, with a third digit below 1 USD."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.3f}"


def span(low: str, high: str) -> str:
    """Return a range, or the one value if both ends are equal."""
    return low if low == high else f"{low} to {high}"


def cpu(millicores: int) -> str:
    """Return millicores as cores, like "3.92 CPU"."""
    return f"{millicores / 1000:g} CPU"


def size(mib: int) -> str:
    """Return MiB, or GiB with one digit, rounded down."""
    if mib < 1024:
        return f"{mib} MiB"
    tenths = mib * 10 // 1024
    return f"{tenths // 10} GiB" if tenths % 10 == 0 else f"{tenths / 10} GiB"


def cluster_title(cluster: Cluster) -> str:
    """Return kind, version and place of a cluster, like "EKS 1.35 in us-west-2"."""
    version = (cluster.version or "").removeprefix("v")
    title = " ".join(part for part in (platform_name(cluster.kind), version) if part)
    if cluster.region:
        title += f" in {cluster.region}"
    return f"{title}, kubeconfig context {cluster.context}" if cluster.context else title


def platform_name(kind: str) -> str:
    """Return how people spell the kind of a cluster."""
    return _PLATFORMS.get(kind, kind)


def gpus_of(pool: Pool) -> str:
    """Return the GPUs of a node, like "1 x T4 (16 GB)"; empty without GPUs."""
    if not pool.gpu:
        return ""
    text = f"{pool.gpus} x {pool.gpu}"
    if pool.mig_instances > 1:
        text += f", each in {pool.mig_instances} MIG instances"
    if pool.gpu_memory_gb:
        text += f" ({pool.gpu_memory_gb} GB)"
    if pool.time_slices > 1:
        text += f", each time-sliced for {pool.time_slices} jobs"
    return text


def bounds_of(pool: Pool) -> str:
    """Return the minimum and maximum number of nodes, like "0 to 10"."""
    return span(str(pool.min), str(pool.max))


def state_of(pool: Pool) -> str:
    """Return whether the pool is paused, or how many nodes idle runners keep running."""
    if pool.paused:
        return "paused"
    return f"{pool.idle} held by waiting runners" if pool.idle > pool.min else ""


def nodes_of(pool: Pool) -> str:
    """Return the bounds of a pool and its state."""
    return ", ".join(part for part in (bounds_of(pool), state_of(pool)) if part)


def free_of(pool: Pool) -> str:
    """Return what jobs can use on an empty node, with its host devices."""
    free = pool.free
    parts = [cpu(free.cpu_m), f"{size(free.memory_mib)} memory", f"{size(free.disk_mib)} disk"]
    parts += [f"/dev/{name} for {jobs} jobs" for name, jobs in pool.devices.items()]
    return ", ".join(parts)


def job_of(lane: Lane) -> str:
    """Return the resources of a job, without those that it does not request."""
    job = lane.job
    parts = [count(job.gpus, "GPU")] if job.gpus else []
    if job.device:
        parts.append(f"/dev/{job.device}")
    if job.cpu_m:
        parts.append(cpu(job.cpu_m))
    for mib, name in ((job.memory_mib, "memory"), (job.disk_mib, "disk")):
        if mib:
            parts.append(f"{size(mib)} {name}")
    return ", ".join(parts)


def selector_of(lane: Lane) -> str:
    """Return the line that selects the lane in a job: `runs-on: gpu-t4`, `tags: [gpu, t4]`."""
    if lane.forge == "github":
        return f"runs-on: {lane.write[0]}" if lane.write else "runs-on:"
    return f"tags: [{', '.join(lane.write)}]"


def other_labels(lane: Lane) -> list[str]:
    """Return the labels, other than the lane's name, that `runs-on` may list on GitHub."""
    return lane.write[1:] if lane.forge == "github" else []


def jobs_of(lane: Lane) -> str:
    """Return how many jobs the lane runs, and how many of them fit on full pools."""
    if lane.paused:
        return "paused"
    most, room, waiting = lane.most_jobs, lane.jobs_on_full_pools, lane.least_jobs
    parts = [
        str(most),
        f"room for {room}" if room < most else "",
        f"{count(waiting, 'runner')} waiting" if waiting else "",
    ]
    return ", ".join(part for part in parts if part)


def drain_of(lane: Lane) -> str:
    """Return how long a change waits for running jobs, at most; empty if unknown."""
    return f"{lane.drain_minutes} min" if lane.drain_minutes is not None else ""


def jobs_per_node(lane: Lane) -> list[tuple[str, str]]:
    """Return the pools in order of preference, each with the number of jobs that a node takes."""
    by_pool: dict[str, list[Placement]] = {pool: [] for pool in lane.pools}
    for placement in lane.placements:
        by_pool.setdefault(placement.pool, []).append(placement)
    return [(pool, _fit(placements)) for pool, placements in by_pool.items()]


def _fit(placements: list[Placement]) -> str:
    several = len({one.jobs_per_node for one in placements}) > 1
    parts: dict[str, None] = {}
    for one in placements:
        if one.limited_by == "paused":
            parts["paused"] = None
            continue
        kind = f"{one.kind}: " if several else ""
        # If GPUs run out first, or together with something else, no GPU is stranded.
        resource = _RESOURCES.get(one.limited_by, one.limited_by)
        limit = "" if one.limited_by in ("", GPU_RESOURCE) else f", limited by {resource}"
        parts[f"{kind}{one.jobs_per_node} a node{limit}"] = None
    return "; ".join(parts)


def lane_price(lane: Lane) -> str:
    """Return the price of a job-hour on a full node, in USD; empty if no pool has a price."""
    price = lane.usd_per_job_hour
    return span(hourly(price.floor), hourly(price.ceiling)) if price else ""


def code(value: str) -> str:
    """Return a code span that holds any text, backticks included."""
    line = " ".join(value.split())
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


_ACTIVE = re.compile(r"[\\`*_\[\]<>~&]")


def plain(value: str) -> str:
    """Escape text so that it renders as it is: no markup, no HTML, no mention of a user."""
    line = _ACTIVE.sub(lambda found: f"\\{found[0]}", " ".join(value.split()))
    return line.replace("@", "@\u200b")


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> list[str]:
    """Return a Markdown table of cells that are Markdown already.

    A column whose title ends in a space is aligned to the right. A pipe is escaped, because it
    would end its cell even inside a code span.
    """
    titles = list(head)
    rule = ["---:" if title.endswith(" ") else "---" for title in titles]
    return [
        f"| {' | '.join(title.strip() for title in titles)} |",
        f"|{'|'.join(rule)}|",
        *(f"| {' | '.join(map(_cell, cells))} |" for cells in lines),
    ]


def _cell(markdown: str) -> str:
    return markdown.replace("|", "\\|")
