"""What must be seen first: what the engine says, what only the reports know, a removed stack."""

from __future__ import annotations

from typing import Any

import pytest

from change import alerts, wording
from change.comment import comment
from tests.change.diffs import diff, group, resource


def update(effect: str = "shrunk", what: str = "pool", name: str = "ci/t4") -> dict[str, Any]:
    return {"what": what, "id": name, "effect": effect, "nodes": 1, "says": "@hostile"}


def told(*updates: dict[str, Any], **more: Any) -> list[str]:
    document = diff(difference={"base": True, "updates": list(updates)}, **more)
    return [wording.plain(phrase) for phrase in alerts.alerts(document)]


def test_a_pool_that_shrinks_is_named_though_the_engine_only_updates_it() -> None:
    document = diff(
        subjects=[group("update")],
        counts={"update": 1},
        difference={"base": True, "updates": [update(), update("rolled", name="ci/cpu")]},
    )
    text = comment(document)
    assert "## `prod`: 1 rolled, 1 shrunk\n" in text
    assert (
        "> - pool `ci/t4` is SHRUNK (at most 1 node): if more nodes run than the new maximum"
        in text
    )
    assert "@hostile" not in text.partition("### ")[0], "only our own words stand outside of code"


@pytest.mark.parametrize(
    ("one", "name", "what"),
    [
        (group("replace", called_out=True), "ci/t4", "pool"),
        (group("replace", name="new", renamed_from="t4", called_out=True), "ci/t4", "pool"),
        (
            group("delete", kind="GitHub lane", name="gpu", called_out=True),
            "ci/github/gpu",
            "lane",
        ),
        (group("replace", kind="network", name="network", called_out=True), "ci", "cluster"),
        (
            group("delete", kind="cluster", cluster="", name="ci", called_out=True),
            "ci",
            "cluster",
        ),
    ],
)
def test_a_thing_that_the_engine_calls_out_is_told_once(one: Any, name: str, what: str) -> None:
    assert len(told(update("replaced", what, name), subjects=[one])) == 1
    assert len(told(update("replaced", what, f"other-{name}"), subjects=[one])) == 2


@pytest.mark.parametrize("odd", [update("new nodes only"), update("exploded"), {"what": []}, {}])
def test_what_jobs_do_not_feel_and_what_nobody_knows_is_no_caution(odd: dict[str, Any]) -> None:
    assert told(odd) == []


def test_a_removed_stack_says_that_nothing_is_destroyed_and_what_stays() -> None:
    report = {"clusters": {"ci": {"pools": {"t4": {}, "cpu": {}}, "lanes": {"github/gpu": {}}}}}
    text = comment(diff(removed=True, base_report=report, stack="staging"))
    assert "## `staging`: the stack file is removed" in text
    assert "but that deletes nothing" in text
    assert "until you run `pulumi destroy --stack staging`" in text
    assert "- cluster `ci`; pools `t4`, `cpu`; lane `github/gpu`\n" in text
    assert text.index("CAUTION") < text.index("no preview") < text.index("### What stays")


def test_many_pools_of_a_removed_stack_are_cut_and_no_report_is_said() -> None:
    report = {"clusters": {"ci": {"pools": {str(number): {} for number in range(60)}}}}
    (line,) = alerts.remaining(diff(removed=True, base_report=report))
    assert wording.plain(line).endswith(" and 10 more; no lane")
    (line,) = alerts.remaining(diff(removed=True))
    assert "is unknown" in wording.plain(line)


def test_a_refusal_comes_first_and_what_is_protected_is_folded() -> None:
    gone = [resource("delete", name=f"vpc-{number}", protected=True) for number in range(30)]
    one = group("delete", called_out=True, resources=gone)
    text = comment(diff(refused=("the engine refuses",), subjects=[one], counts={"delete": 30}))
    order = ["CAUTION", "**This cannot be deployed:**", "<summary>30 protected", "vpc-29", "30 del"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "vpc-0" not in text.partition("<details>")[0]


def test_one_is_not_spoken_of_as_many() -> None:
    assert "1 changed resource" in comment(diff(subjects=[group()], counts={"update": 1}))
    assert "2 changed resources\n" in comment(diff(subjects=[group()], counts={"update": 2}))
    assert "1 resource the same" in comment(diff(unchanged=1))


def test_a_lane_with_another_name_is_renamed_and_not_removed() -> None:
    gone = {**update("renamed", "lane", "ci/github/old"), "says": "it is called new now"}
    text = comment(diff(report={"clusters": {}}, difference={"base": True, "updates": [gone]}))
    assert "lane `ci/github/old` **renamed**: it is called new now" in text


def test_without_a_difference_there_is_no_picture() -> None:
    report = {"clusters": {"ci": {}}}
    assert "mermaid" not in comment(diff(report=report))
    settings = [{"path": "a", "change": "add", "new": 1}]
    assert "mermaid" in comment(diff(report=report, settings=settings))
