"""The words in which every rendering says an amount, a lane, a pool.

Nothing here is marked up but by `code`, `plain` and `table`, which take text that may hold
anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fleet.report.read import Data, count, part, rows, text, usd, words

_KINDS = {"eks": "EKS", "oke": "OKE", "existing": "existing"}

_GPU = "nvidia.com/gpu"
_RESOURCES = {"ephemeral-storage": "disk", "cpu": "CPU"}
"""Kubernetes' spelling -> what people say, where it differs."""


def dollars(amount: float) -> str:
    """A month's money: whole USD."""
    return f"{amount:,.0f} USD"


def hourly(amount: float) -> str:
    """An hour's money: USD to the cent, or to a tenth of it where it is little."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.3f}"


def span(low: str, high: str) -> str:
    """A range, or the one value that it is."""
    return low if low == high else f"{low} to {high}"


def cpu(millicores: int) -> str:
    """Cores, as people count them."""
    return f"{millicores / 1000:g} CPU"


def size(mib: int) -> str:
    """MiB, or GiB with one digit, rounded down."""
    if mib < 1024:
        return f"{mib} MiB"
    tenths = mib * 10 // 1024
    return f"{tenths // 10} GiB" if tenths % 10 == 0 else f"{tenths / 10} GiB"


def kind_of(cluster: Data) -> str:
    """EKS 1.35 in us-west-2."""
    name = _KINDS.get(text(cluster, "kind"), text(cluster, "kind"))
    version = text(cluster, "version").removeprefix("v")
    where = text(cluster, "region")
    context = text(cluster, "context")
    said = " ".join(word for word in (name, version) if word)
    if where:
        said += f" in {where}"
    return f"{said}, kubeconfig context {context}" if context else said


def gpus_of(pool: Data) -> str:
    """1 x T4 (16 GB), each for 2 jobs; nothing for a pool without."""
    model = text(pool, "gpu")
    if not model:
        return ""
    memory = count(pool, "gpu_memory_gb")
    said = f"{count(pool, 'gpus')} x {model}" + (f" ({memory} GB)" if memory else "")
    if count(pool, "mig_instances") > 1:
        said += f", each in {count(pool, 'mig_instances')} MIG instances"
    if count(pool, "time_slices") > 1:
        said += f", each for {count(pool, 'time_slices')} jobs in turn"
    return said


def bounds_of(pool: Data) -> str:
    """0 to 10 nodes."""
    return span(str(count(pool, "min")), str(count(pool, "max")))


def state_of(pool: Data) -> str:
    """What else is to be said of the number of nodes."""
    if pool.get("paused"):
        return "paused"
    idle = count(pool, "idle")
    return f"{idle} held by waiting runners" if idle > count(pool, "min") else ""


def nodes_of(pool: Data) -> str:
    """0 to 10, and what else is to be said of it."""
    return ", ".join(said for said in (bounds_of(pool), state_of(pool)) if said)


def free_of(pool: Data) -> str:
    """What jobs may use of an empty node, with the devices of its host."""
    free = part(pool, "free")
    said = [
        cpu(count(free, "cpu_m")),
        f"{size(count(free, 'memory_mib'))} memory",
        f"{size(count(free, 'disk_mib'))} disk",
    ]
    said += [f"/dev/{name} for {jobs} jobs" for name, jobs in part(pool, "devices").items()]
    return ", ".join(said)


def job_of(lane: Data) -> str:
    """What a job gets; nothing is said of what it does not ask for."""
    job = part(lane, "job")
    said: list[str] = []
    gpus = count(job, "gpus")
    if gpus:
        said.append(f"{gpus} GPU{'' if gpus == 1 else 's'}")
    if text(job, "device"):
        said.append(f"/dev/{text(job, 'device')}")
    if count(job, "cpu_m"):
        said.append(cpu(count(job, "cpu_m")))
    for key, name in (("memory_mib", "memory"), ("disk_mib", "disk")):
        if count(job, key):
            said.append(f"{size(count(job, key))} {name}")
    return ", ".join(said)


def written(lane: Data) -> str:
    """What to write in a job: `runs-on: gpu-t4`, `tags: [gpu, t4]`."""
    found = words(lane, "write")
    if text(lane, "forge") == "github":
        return f"runs-on: {found[0]}" if found else "runs-on:"
    return f"tags: [{', '.join(found)}]"


def other_labels(lane: Data) -> list[str]:
    """Further labels that `runs-on` may name on GitHub."""
    return words(lane, "write")[1:] if text(lane, "forge") == "github" else []


def jobs_of(lane: Data) -> str:
    """How many jobs at once: what the lane starts, and what full pools have room for."""
    if lane.get("paused"):
        return "paused"
    most, room = count(lane, "most_jobs"), count(lane, "jobs_on_full_pools")
    waiting = count(lane, "least_jobs")
    said = [
        str(most),
        f"room for {room}" if room < most else "",
        f"{waiting} runner{'' if waiting == 1 else 's'} waiting" if waiting else "",
    ]
    return ", ".join(one for one in said if one)


def landings(lane: Data) -> list[tuple[str, str]]:
    """Each pool in order, and how many jobs a node of it takes."""
    kinds: dict[str, list[Data]] = {pool: [] for pool in words(lane, "pools")}
    for placement in rows(lane, "placements"):
        kinds.setdefault(text(placement, "pool"), []).append(placement)
    return [(pool, _fit(found)) for pool, found in kinds.items()]


def _fit(placements: list[Data]) -> str:
    several = len({count(one, "jobs_per_node") for one in placements}) > 1
    said: dict[str, None] = {}
    for one in placements:
        jobs, limit = count(one, "jobs_per_node"), text(one, "limited_by")
        if limit == "paused":
            said["paused"] = None
            continue
        kind = f"{text(one, 'kind')}: " if several else ""
        # Where GPUs run out first, or with the rest, nothing is stranded.
        by = "" if limit in ("", _GPU) else f", limited by {_RESOURCES.get(limit, limit)}"
        said[f"{kind}{jobs} a node{by}"] = None
    return "; ".join(said)


def lane_price(lane: Data) -> str:
    """USD an hour of a job on a full node."""
    found = part(lane, "usd_per_job_hour")
    if not found:
        return ""
    return span(hourly(usd(found, "floor")), hourly(usd(found, "ceiling")))


def code(value: str) -> str:
    """Text as a code span, whatever backticks and pipes it holds."""
    line = " ".join(value.split())
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


_ACTIVE = re.compile(r"[\\`*_\[\]<>~&]")


def plain(value: str) -> str:
    """Text that shows as it is: no markup, no HTML, no mention of anybody."""
    line = _ACTIVE.sub(lambda found: f"\\{found[0]}", " ".join(value.split()))
    return line.replace("@", "@\u200b")


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table of cells that are marked up already; a title that ends in a space is right.

    A pipe would end its cell, also inside a code span.
    """
    titles = list(head)
    rule = ["---:" if title.endswith(" ") else "---" for title in titles]
    return [
        f"| {' | '.join(title.strip() for title in titles)} |",
        f"|{'|'.join(rule)}|",
        *(f"| {' | '.join(map(_cell, cells))} |" for cells in lines),
    ]


def _cell(text_: str) -> str:
    return text_.replace("|", "\\|")
