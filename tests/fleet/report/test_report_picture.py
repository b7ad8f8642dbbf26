"""The picture: a Mermaid flowchart that no name breaks and no fleet makes too large.

That such text is a flowchart was tried with Mermaid 11 itself; here its grammar is held.
"""

import copy
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fleet.report.picture import MAX_BOXES, escaped
from tests.cases import for_each
from tests.fleet.report.reports import picture_of, report_json
from tests.fleet.samples import SHIPPED, every_key, loaded, shipped_stack

T4 = "clusters.ci.eks.pools.t4"
GPU = "clusters.ci.github.lanes.gpu"

_TEXT = r'"(?:[A-Za-z0-9 ./_,()\[\]-]|#\d+;|<br/>)*"'
_ID = r"[a-z0-9]+"
_BOX = rf"{_ID}(?:\[{_TEXT}\]|\(\[{_TEXT}\]\)|\[\({_TEXT}\)\])(?::::(?:gpu|paused))?"
GRAMMAR = re.compile(
    rf"subgraph {_ID}\[{_TEXT}\]|end|{_BOX}|{_BOX} --> {_ID}|{_ID} -->(?:\|\d+\|)? {_ID}"
    r"|classDef (?:gpu|paused) [a-z-]+:[0-9a-z ]+"
)
HOSTILE = (
    *("end", 'a"b', "`x`", "style: x#1;", "-->", "%% c", "<script>", "a;b", "classDef x", "x:::y"),
    *("{{x}}", "[x](y)", '"] --> z["', "#quot;", "&lt;", "\n\nend\n", "ü@b", "subgraph", "|"),
)


def lines(text: str) -> list[str]:
    head, *rest = text.split("\n")
    assert head == "flowchart LR"
    return [line.strip() for line in rest]


def drawn(text: str) -> list[str]:
    """Lines that make a box."""
    return [line for line in lines(text) if re.match(_BOX, line)]


def report(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    return report_json(loaded(every_key(changes)))


def of_ci(changes: dict[str, Any] | None = None) -> str:
    """The picture of one cluster of it."""
    whole = report(changes)
    return picture_of({**whole, "clusters": {"ci": whole["clusters"]["ci"]}})


def label(text: str, name: str) -> str:
    """The box whose label begins with that name."""
    (line,) = [
        line for line in drawn(text) if re.search(rf'"{re.escape(escaped(name))}(<br/>|")', line)
    ]
    return line


def follows_the_grammar(text: str) -> None:
    odd = [line for line in lines(text) if not GRAMMAR.fullmatch(line)]
    assert not odd, "Mermaid would not draw it, or draw something else"
    opened = sum(line.startswith("subgraph") for line in lines(text))
    assert opened == lines(text).count("end")


@for_each("name", SHIPPED)
def test_the_picture_shows_every_lane_with_its_labels_and_every_pool(name: str) -> None:
    whole = report_json(loaded(shipped_stack(name)))
    text = picture_of(whole)
    follows_the_grammar(text)
    for cluster, body in whole["clusters"].items():
        assert f'["{cluster}#58; ' in text
        for pool in body["pools"]:
            assert f'[("{pool}<br/>' in text
        for name_, lane in body["lanes"].items():
            assert f'["{name_}<br/>' in text
            wanted = lane["name"] if lane["forge"] == "github" else f"[{', '.join(lane['write'])}]"
            assert f' {escaped(wanted)}"])' in text
    assert len(drawn(text)) <= MAX_BOXES


def test_pools_are_numbered_in_order_of_preference_and_a_single_one_is_not() -> None:
    text = of_ci({f"{GPU}.pools": ["t4", "a100"], f"{GPU}.disk": "1Gi"})
    first, second = (label(text, name).partition("[")[0] for name in ("t4", "a100"))
    box = label(text, "github/gpu").partition("[")[0]
    assert f"{box} -->|1| {first}" in lines(text)
    assert f"{box} -->|2| {second}" in lines(text)
    alone = label(text, "github/big").partition("[")[0]
    assert f"{alone} --> {second}" in lines(text)


def test_paused_lanes_and_pools_and_waiting_runners_are_marked() -> None:
    paused = of_ci({f"{T4}.paused": True, f"{GPU}.paused": True})
    assert "<br/>paused" in label(paused, "t4")
    assert label(paused, "t4").endswith(":::paused")
    assert "<br/>paused" in label(paused, "github/gpu")
    held = of_ci()
    assert "<br/>1 held by waiting runners" in label(held, "t4")
    assert label(held, "t4").endswith(":::gpu")
    assert label(held, "system").endswith(")]"), "a CPU pool is drawn thin"


def hostile(name: str) -> dict[str, Any]:
    """A report in which everything is called that."""
    whole = report()
    body = copy.deepcopy(whole["clusters"]["ci"])
    body["region"] = name
    pool, lane = body["pools"]["t4"], body["lanes"]["github/gpu"]
    pool |= {"kinds": [name], "gpu": name, "capacity": name}
    lane |= {"write": [name], "pools": [name]}
    whole["clusters"] = {name: {**body, "pools": {name: pool}, "lanes": {name: lane}}}
    return whole


@for_each("name", HOSTILE)
@for_each("most", [60, 3, 1])
def test_no_name_can_break_the_picture(name: str, most: int) -> None:
    follows_the_grammar(picture_of(hostile(name), max_boxes=most))


@given(st.text(max_size=20))
def test_no_text_can_break_a_label(text: str) -> None:
    assert re.fullmatch(_TEXT, f'"{escaped(text)}"')
    assert "<" not in escaped(text), "only the picture itself breaks lines"


@given(st.text(alphabet=st.characters(exclude_categories=["Z", "C"]), max_size=20))
def test_an_escaped_text_decodes_to_itself(text: str) -> None:
    assert re.sub(r"#(\d+);", lambda found: chr(int(found[1])), escaped(text)) == text


def many(clusters: int, pools: int, lanes: int) -> dict[str, Any]:
    """A large fleet; half of the pools have GPUs, and the lanes use those."""
    body = report()["clusters"]["ci"]
    gpu, cpu, lane = body["pools"]["t4"], body["pools"]["system"], body["lanes"]["github/gpu"]
    names = [f"p{number}" for number in range(pools)]
    return {
        "clusters": {
            f"c{number}": {
                **body,
                "pools": {name: gpu if index % 2 == 0 else cpu for index, name in enumerate(names)},
                "lanes": {
                    f"github/l{index}": {**lane, "pools": [names[2 * index % pools]]}
                    for index in range(lanes)
                },
            }
            for number in range(clusters)
        }
    }


def test_a_large_fleet_is_drawn_by_gpu_model_with_counts() -> None:
    text = picture_of(many(2, 100, 60))
    follows_the_grammar(text)
    assert len(drawn(text)) <= MAX_BOXES
    assert text.count('("T4<br/>50 pools, at most 500 nodes")') == 2
    assert text.count('("CPU<br/>50 pools, at most 200 nodes")') == 2
    assert text.count('["60 lanes"]') == 2


@for_each("clusters", [40, 300])
def test_a_fleet_of_many_clusters_is_drawn_by_cluster(clusters: int) -> None:
    text = picture_of(many(clusters, 4, 2))
    follows_the_grammar(text)
    assert len(drawn(text)) <= MAX_BOXES
    assert '["c0<br/>EKS 1.35 in us-west-2<br/>2 lanes, 4 pools"]' in text
    rest = re.search(r'rest\["(\d+) more clusters', text)
    shown = sum(1 for line in drawn(text) if re.match(r"c\d+\[", line))
    assert shown + (int(rest[1]) if rest else 0) == clusters, "none is forgotten"


@for_each("most", range(1, 40))
def test_a_picture_never_has_more_boxes_than_it_may(most: int) -> None:
    text = picture_of(report(), max_boxes=most)
    follows_the_grammar(text)
    forges = 2
    assert len(drawn(text)) <= max(most, forges + 1), "the forges and the rest are always there"


def test_reports_without_keys_are_drawn() -> None:
    for odd in ({}, {"clusters": {"c": {}}}, {"clusters": {"c": {"lanes": {"x": {}}}}}):
        follows_the_grammar(picture_of(odd))
