"""Alerts: from the engine, from the difference of the reports, for a removed stack file."""

from typing import Any

import pytest

from change import alerts, wording
from change.comment import comment
from tests.change.diffs import diff, group, resource


def update(effect: str = "shrunk", what: str = "pool", name: str = "ci/t4") -> dict[str, Any]:
    return {"what": what, "id": name, "effect": effect, "nodes": 1, "says": "@hostile"}


def alerts_of(*updates: dict[str, Any], **more: Any) -> list[str]:
    document = diff(difference={"base": True, "updates": list(updates)}, **more)
    return [wording.plain(phrase) for phrase in alerts.alerts(document)]


def test_a_shrinking_pool_is_an_alert_although_the_engine_only_updates_it() -> None:
    document = diff(
        subjects=[group("update")],
        counts={"update": 1},
        difference={"base": True, "updates": [update(), update("rolled", name="ci/cpu")]},
    )
    text = comment(document)
    assert "## `prod`: 1 rolled, 1 shrunk\n" in text
    assert (
        "> - pool `ci/t4` is SHRUNK, at most 1 node: if more nodes run than the new maximum" in text
    )
    assert "@hostile" not in text.partition("### ")[0], "only our own sentences are outside of code"


@pytest.mark.parametrize(
    ("one", "name", "what"),
    [
        (group("replace", called_out=True), "ci/t4", "pool"),
        (group("replace", name="new", renamed_from="t4", called_out=True), "ci/t4", "pool"),
        (group("delete", kind="GitHub lane", name="gpu", called_out=True), "ci/github/gpu", "lane"),
        (group("replace", kind="network", name="network", called_out=True), "ci", "cluster"),
        (group("delete", kind="cluster", cluster="", name="ci", called_out=True), "ci", "cluster"),
    ],
)
def test_an_update_that_the_engine_also_shows_is_one_alert(one: Any, name: str, what: str) -> None:
    assert len(alerts_of(update("replaced", what, name), subjects=[one])) == 1
    assert len(alerts_of(update("replaced", what, f"other-{name}"), subjects=[one])) == 2


BASE: dict[str, Any] = {
    "clusters": {
        "ci": {
            "kind": "eks",
            "pools": {"t4": {"max": 10, "advertised": 2, "drain_minutes": 15}},
            "lanes": {
                "github/gpu": {
                    "pools": ["t4"],
                    "job": {"gpus": 1},
                    "placements": [{"pool": "t4", "jobs_per_node": 2}],
                    "most_jobs": 7,
                    "drain_minutes": 240,
                }
            },
        }
    }
}


def test_a_drained_lane_is_one_alert_with_its_cause_its_jobs_and_the_limit() -> None:
    """The engine creates and deletes a dozen objects; the reports say why."""
    one = group("replace", kind="GitHub lane", name="gpu", called_out=True)
    reported = {**update("replaced", "lane", "ci/github/gpu"), "because": ["write", "@hostile"]}
    (text,) = alerts_of(reported, subjects=[one], base_report=BASE)
    assert text == (
        "GitHub lane gpu of ci is REPLACED because of its labels: a new scale set takes the "
        "next jobs, and the old one is deleted. The update waits at most 240 minutes for its "
        "running jobs (at most 7). The change ends no job of a lane: if one takes longer, the "
        "update fails, and the next one waits on"
    )


def test_a_lane_that_helm_installed_needs_a_refresh_after_a_failure() -> None:
    """Helm purges the record of a release whose removal it does not wait for to the end."""
    release = resource("delete", type="kubernetes:helm.sh/v3:Release")
    one = group("replace", kind="GitHub lane", name="gpu", called_out=True, resources=[release])
    (text,) = alerts_of(subjects=[one])
    assert text.endswith("after a failure, run pulumi refresh before the next update")


def test_a_lane_that_moves_is_not_called_lost() -> None:
    one = group("delete", kind="GitHub lane", name="gpu", called_out=True)
    moved = {**update("moved", "lane", "ci/github/gpu"), "to": "other"}
    (text,) = alerts_of(moved, subjects=[one], base_report=BASE)
    assert "is DELETED, it moves to cluster other: its new scale set takes the next jobs" in text
    (alone,) = alerts_of(moved, base_report=BASE)
    assert alone.startswith("lane ci/github/gpu is MOVED, it moves to cluster other: its new")


@pytest.mark.parametrize("subjects", [(), (group("replace", called_out=True),)])
def test_an_alert_of_a_pool_names_its_lanes_and_bounds_its_jobs(subjects: tuple[Any, ...]) -> None:
    reported = {**update("replaced"), "nodes": 10, "jobs": 7, "lanes": ["ci/github/gpu"]}
    (text,) = alerts_of(reported, subjects=subjects, base_report=BASE)
    assert (
        "is REPLACED, at most 10 nodes with at most 7 jobs of ci/github/gpu: new nodes are "
        "created, then the old ones are deleted. EKS waits at most 5 minutes" in text
    )


def test_many_lanes_of_a_pool_are_cut() -> None:
    lanes = [f"ci/github/{number}" for number in range(8)]
    (text,) = alerts_of({**update("rolled"), "jobs": 1, "lanes": lanes})
    assert "at most 1 job of ci/github/0, " in text
    assert "ci/github/4 and 3 more:" in text


@pytest.mark.parametrize("odd", [update("new nodes only"), update("exploded"), {"what": []}, {}])
def test_updates_without_effect_on_jobs_and_unknown_ones_are_no_alert(odd: dict[str, Any]) -> None:
    assert alerts_of(odd) == []


def test_a_removed_stack_file_lists_what_stays_in_the_account() -> None:
    report = {"clusters": {"ci": {"pools": {"t4": {}, "cpu": {}}, "lanes": {"github/gpu": {}}}}}
    text = comment(diff(removed=True, base_report=report, stack="staging"))
    assert "## `staging`: the stack file is removed" in text
    assert "but that deletes nothing" in text
    assert "until you run `pulumi destroy --stack staging`" in text
    assert "- cluster `ci`; pools `t4`, `cpu`; lane `github/gpu`\n" in text
    assert text.index("CAUTION") < text.index("no preview") < text.index("### What stays")


def test_many_pools_of_a_removed_stack_are_cut() -> None:
    report = {"clusters": {"ci": {"pools": {str(number): {} for number in range(60)}}}}
    (line,) = alerts.remaining(diff(removed=True, base_report=report))
    assert wording.plain(line).endswith(" and 10 more; no lane")
    (line,) = alerts.remaining(diff(removed=True))
    assert "is unknown" in wording.plain(line)


def test_refusals_come_first_and_protected_resources_are_folded() -> None:
    gone = [resource("delete", name=f"vpc-{number}", protected=True) for number in range(30)]
    one = group("delete", called_out=True, resources=gone)
    text = comment(diff(refused=("the engine refuses",), subjects=[one], counts={"delete": 30}))
    order = ["CAUTION", "**This cannot be deployed:**", "<summary>30 protected", "vpc-29", "30 del"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "vpc-0" not in text.partition("<details>")[0]


def test_counts_have_a_singular() -> None:
    assert "1 changed resource" in comment(diff(subjects=[group()], counts={"update": 1}))
    assert "2 changed resources\n" in comment(diff(subjects=[group()], counts={"update": 2}))
    assert "1 resource the same" in comment(diff(unchanged=1))


def test_a_renamed_lane_is_not_removed() -> None:
    gone = {**update("renamed", "lane", "ci/github/old"), "says": "it is called new now"}
    text = comment(diff(report={"clusters": {}}, difference={"base": True, "updates": [gone]}))
    assert "lane `ci/github/old` **renamed**: it is called new now" in text


def test_without_a_difference_there_is_no_picture() -> None:
    report = {"clusters": {"ci": {}}}
    assert "mermaid" not in comment(diff(report=report))
    settings = [{"path": "a", "change": "add", "new": 1}]
    assert "mermaid" in comment(diff(report=report, settings=settings))
