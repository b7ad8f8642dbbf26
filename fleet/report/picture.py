"""The fleet as a Mermaid flowchart, which GitHub and GitLab draw.

Selector in the job -> lane -> its pools, numbered in order of preference, inside their cluster. A
fleet with too many boxes is drawn by GPU model; if that is still too large, by cluster.
Escapes: https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from fleet.report.model import Cluster, Lane, Pool, Report
from fleet.report.phrases import bounds_of, cluster_title, count, gpus_of, selector_of, state_of

MAX_BOXES = 60
"""A larger picture is not readable, and comes near the size at which GitHub stops drawing."""

_FORGES = {"github": "GitHub", "gitlab": "GitLab"}
_CLASSES = ("classDef gpu stroke-width:3px", "classDef paused stroke-dasharray:4 4")


def picture(report: Report, *, max_boxes: int = MAX_BOXES) -> str:
    """Return the flowchart, without a fence around it, in at most `max_boxes` boxes."""
    for draw in (_by_pool, _by_model):
        lines, boxes = draw(report)
        if boxes <= max_boxes:
            break
    else:
        lines = _by_cluster(report, max_boxes)
    return "\n".join(("flowchart LR", *(f"  {line}" for line in lines)))


def escaped(value: str) -> str:
    """Replace every character that Mermaid could interpret by its entity code."""
    line = " ".join(value.split())
    return re.sub(r"[^A-Za-z0-9 ./_,()\[\]-]", lambda found: f"#{ord(found[0])};", line)


def _label(*lines: str) -> str:
    return "<br/>".join(escaped(line) for line in lines if line)


def _by_pool(report: Report) -> tuple[list[str], int]:
    lines: list[str] = []
    selectors: list[str] = []
    edges: list[str] = []
    boxes = 0
    pool_ids: dict[tuple[str, str], str] = {}
    for index, (cluster, body) in enumerate(report.clusters.items()):
        lines.append(f'subgraph c{index}["{_label(f"{cluster}: {cluster_title(body)}")}"]')
        for name, lane in body.lanes.items():
            box = f"l{len(selectors)}"
            selectors.append(f'w{len(selectors)}(["{_label(selector_of(lane))}"]) --> {box}')
            jobs = "paused" if lane.paused else f"{lane.most_jobs} at a time"
            lines.append(f'  {box}["{_label(name, jobs)}"]')
            for rank, pool in enumerate(lane.pools, start=1):
                target = pool_ids.setdefault((cluster, pool), f"p{len(pool_ids)}")
                arrow = f"-->|{rank}|" if len(lane.pools) > 1 else "-->"
                edges.append(f"{box} {arrow} {target}")
            boxes += 2
        for name, pool in body.pools.items():
            box = pool_ids.setdefault((cluster, name), f"p{len(pool_ids)}")
            lines.append(f'  {box}[("{_pool_label(name, pool)}")]{_class(pool)}')
            boxes += 1
        lines.append("end")
    return [*selectors, *lines, *edges, *_CLASSES], boxes


def _pool_label(name: str, pool: Pool) -> str:
    kind = f"{pool.kinds[0]}{' and others' if len(pool.kinds) > 1 else ''}" if pool.kinds else ""
    return _label(
        name,
        f"{bounds_of(pool)} x {kind}" if kind != name else f"{bounds_of(pool)} nodes",
        state_of(pool),
        gpus_of(pool),
        pool.capacity if pool.not_counted else "",
    )


def _class(pool: Pool) -> str:
    if pool.paused:
        return ":::paused"
    return ":::gpu" if pool.gpu else ""


def _by_model(report: Report) -> tuple[list[str], int]:
    """Draw the lanes, and the pools, of one GPU model in a cluster as one box each."""
    lines: list[str] = []
    edges: dict[str, None] = {}
    every_lane = [lane for _, _, lane in report.lanes()]
    boxes = len(_forges(every_lane))
    for index, (cluster, body) in enumerate(report.clusters.items()):
        models = {name: pool.gpu or "CPU" for name, pool in body.pools.items()}
        lines.append(f'subgraph c{index}["{_label(f"{cluster}: {cluster_title(body)}")}"]')
        for rank, model in enumerate(dict.fromkeys(models.values())):
            pools = [pool for name, pool in body.pools.items() if models[name] == model]
            nodes = count(sum(pool.max for pool in pools), "node")
            box = f"c{index}p{rank}"
            label = _label(model, f"{count(len(pools), 'pool')}, at most {nodes}")
            lines.append(f'  {box}[("{label}")]{":::gpu" if model != "CPU" else ""}')
            boxes += 1
            for forge, number in _lanes_on(body, models, model).items():
                lane_box = f"c{index}p{rank}{forge}"
                lines.append(f'  {lane_box}["{_label(count(number, "lane"))}"]')
                edges[f"{forge} --> {lane_box}"] = None
                edges[f"{lane_box} --> {box}"] = None
                boxes += 1
        lines.append("end")
    return [*_forge_boxes(every_lane), *lines, *edges, *_CLASSES], boxes


def _lanes_on(cluster: Cluster, models: dict[str, str], model: str) -> Counter[str]:
    """Count the lanes by forge whose first pool has that GPU model."""
    return Counter(
        lane.forge
        for lane in cluster.lanes.values()
        if lane.pools and models.get(lane.pools[0]) == model and lane.forge in _FORGES
    )


def _by_cluster(report: Report, max_boxes: int) -> list[str]:
    every_lane = [lane for _, _, lane in report.lanes()]
    lines = _forge_boxes(every_lane)
    clusters = list(report.clusters.items())
    shown = max(0, max_boxes - len(lines) - 1)
    for index, (cluster, body) in enumerate(clusters[:shown]):
        size = f"{count(len(body.lanes), 'lane')}, {count(len(body.pools), 'pool')}"
        lines.append(f'c{index}["{_label(cluster, cluster_title(body), size)}"]')
        lines += [f"{forge} --> c{index}" for forge in _forges(body.lanes.values())]
    rest = [body for _, body in clusters[shown:]]
    if rest:
        pools = count(sum(len(body.pools) for body in rest), "pool")
        lines.append(f'rest["{_label(count(len(rest), "more cluster"), f"with {pools}")}"]')
        forges = _forges(lane for body in rest for lane in body.lanes.values())
        lines += [f"{forge} --> rest" for forge in forges]
    return lines


def _forges(lanes: Iterable[Lane]) -> list[str]:
    used = {lane.forge for lane in lanes}
    return [forge for forge in _FORGES if forge in used]


def _forge_boxes(lanes: Iterable[Lane]) -> list[str]:
    return [f'{forge}(["{_FORGES[forge]}"])' for forge in _forges(lanes)]
