"""The fleet as a Mermaid flowchart, which GitHub and GitLab draw.

What a job says -> lane -> its pools, numbered in order of preference, inside their cluster. A fleet
of too many boxes is drawn by GPU model, and one of far too many by cluster.
Escapes: https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
"""

from __future__ import annotations

import re

from fleet.report.phrases import bounds_of, gpus_of, kind_of, state_of, written
from fleet.report.read import Data, count, lanes, part, parts, pools, text, words

MOST_BOXES = 60
"""Above it a picture is no longer read, and GitHub's limit on text comes near."""

_FORGES = {"github": "GitHub", "gitlab": "GitLab"}
_CLASSES = (
    "classDef gpu stroke-width:3px",
    "classDef paused stroke-dasharray:4 4",
)


def picture(report: Data, *, most: int = MOST_BOXES) -> str:
    """The flowchart, without a fence around it; of at most `most` boxes."""
    for draw in (_by_pool, _by_model):
        lines, boxes = draw(report)
        if boxes <= most:
            break
    else:
        lines = _by_cluster(report, most)
    return "\n".join(("flowchart LR", *(f"  {line}" for line in lines)))


def escaped(value: str) -> str:
    """Text of a label: whatever could mean something to Mermaid becomes an entity code."""
    line = " ".join(value.split())
    return re.sub(r"[^A-Za-z0-9 ./_,()\[\]-]", lambda found: f"#{ord(found[0])};", line)


def _label(*lines: str) -> str:
    return "<br/>".join(escaped(line) for line in lines if line)


def _by_pool(report: Data) -> tuple[list[str], int]:
    lines: list[str] = []
    said: list[str] = []
    edges: list[str] = []
    boxes = 0
    pool_ids: dict[tuple[str, str], str] = {}
    for index, (cluster, body) in enumerate(parts(report, "clusters")):
        lines.append(f'subgraph c{index}["{_label(cluster, kind_of(body))}"]')
        for name, lane in parts(body, "lanes"):
            box = f"l{len(said)}"
            said.append(f'w{len(said)}(["{_label(written(lane))}"]) --> {box}')
            most = f"{count(lane, 'most_jobs')} at once"
            lines.append(f'  {box}["{_label(name, "paused" if lane.get("paused") else most)}"]')
            for rank, pool in enumerate(words(lane, "pools"), start=1):
                target = pool_ids.setdefault((cluster, pool), f"p{len(pool_ids)}")
                several = len(words(lane, "pools")) > 1
                edges.append(f"{box} {f'-->|{rank}|' if several else '-->'} {target}")
            boxes += 2
        for name, pool in parts(body, "pools"):
            box = pool_ids.setdefault((cluster, name), f"p{len(pool_ids)}")
            lines.append(f'  {box}[("{_pool_label(name, pool)}")]{_class(pool)}')
            boxes += 1
        lines.append("end")
    return [*said, *lines, *edges, *_CLASSES], boxes


def _pool_label(name: str, pool: Data) -> str:
    kinds = words(pool, "kinds")
    kind = f"{kinds[0]}{' and others' if len(kinds) > 1 else ''}" if kinds else ""
    return _label(
        name,
        f"{bounds_of(pool)} x {kind}" if kind != name else f"{bounds_of(pool)} nodes",
        state_of(pool),
        gpus_of(pool),
        text(pool, "capacity") if pool.get("not_counted") else "",
    )


def _class(pool: Data) -> str:
    if pool.get("paused"):
        return ":::paused"
    return ":::gpu" if pool.get("gpu") else ""


def _by_model(report: Data) -> tuple[list[str], int]:
    """Lanes and pools of one GPU model of a cluster are one box each."""
    lines: list[str] = []
    edges: dict[str, None] = {}
    boxes = len(_forges(report))
    for index, (cluster, body) in enumerate(parts(report, "clusters")):
        models = {name: text(pool, "gpu") or "CPU" for name, pool in parts(body, "pools")}
        lines.append(f'subgraph c{index}["{_label(cluster, kind_of(body))}"]')
        for rank, model in enumerate(dict.fromkeys(models.values())):
            of_model = [pool for name, pool in parts(body, "pools") if models[name] == model]
            most = sum(count(pool, "max") for pool in of_model)
            box = f"c{index}p{rank}"
            label = _label(model, f"{_many(len(of_model), 'pool')}, {_many(most, 'node')} at most")
            lines.append(f'  {box}[("{label}")]{":::gpu" if model != "CPU" else ""}')
            boxes += 1
            for forge, number in _lanes_on(body, models, model).items():
                lane_box = f"c{index}p{rank}{forge}"
                lines.append(f'  {lane_box}["{_label(_many(number, "lane"))}"]')
                edges[f"{forge} --> {lane_box}"] = None
                edges[f"{lane_box} --> {box}"] = None
                boxes += 1
        lines.append("end")
    return [*_forge_boxes(report), *lines, *edges, *_CLASSES], boxes


def _lanes_on(cluster: Data, models: dict[str, str], model: str) -> dict[str, int]:
    """Lanes by forge whose first pool is of that model."""
    found: dict[str, int] = {}
    for _, lane in parts(cluster, "lanes"):
        names = words(lane, "pools")
        forge = text(lane, "forge")
        if names and models.get(names[0]) == model and forge in _FORGES:
            found[forge] = found.get(forge, 0) + 1
    return found


def _by_cluster(report: Data, most: int) -> list[str]:
    lines: list[str] = []
    clusters = list(parts(report, "clusters"))
    shown = max(0, most - len(_forges(report)) - 1)
    for index, (cluster, body) in enumerate(clusters[:shown]):
        said = (_many(len(part(body, "lanes")), "lane"), _many(len(part(body, "pools")), "pool"))
        lines.append(f'c{index}["{_label(cluster, kind_of(body), ", ".join(said))}"]')
        lines += [f"{forge} --> c{index}" for forge in _forges({"clusters": {cluster: body}})]
    rest = clusters[shown:]
    if rest:
        number = sum(1 for _ in pools({"clusters": dict(rest)}))
        label = _label(f"{_many(len(rest), 'more cluster')}", f"with {_many(number, 'pool')}")
        lines.append(f'rest["{label}"]')
        lines += [f"{forge} --> rest" for forge in _forges({"clusters": dict(rest)})]
    return [*_forge_boxes(report), *lines]


def _forges(report: Data) -> list[str]:
    used = {text(lane, "forge") for _, _, lane in lanes(report)}
    return [forge for forge in _FORGES if forge in used]


def _forge_boxes(report: Data) -> list[str]:
    return [f'{forge}(["{_FORGES[forge]}"])' for forge in _forges(report)]


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
