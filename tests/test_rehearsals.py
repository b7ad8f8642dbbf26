"""Rehearsals of the shipped stacks, and of changes that disturb jobs in real clusters.

Every rehearsal ends with a preview without changes, a destroy that leaves nothing, and a search for
secrets in every written file. `Result.problems` has what went wrong.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_rehearsal.engine import Outcome
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.standin.aws import set_desired_size
from pulumi_rehearsal.standin.faults import EACH_ONCE, Fault, Step
from pulumi_rehearsal.standin.jobs import Busy
from pulumi_rehearsal.standin.world import World

from rehearsal.run import rehearse
from tests.exhaustive import exhaustive
from tests.stackfiles import ROOT
from tests.test_policy_engine import PACK, PACK_IS_COMPLETE

STAGING = ROOT / "Pulumi.staging.yaml"
POOL = "clusters.ci-staging.eks.pools.t4"
LANE = "clusters.ci-staging.github.lanes.gpu-t4-staging"

pytestmark = pytest.mark.engine


def changed(folder: Path, name: str, changes: Mapping[str, Any]) -> Path:
    """Write a copy of staging with some dotted keys set, or removed if the value is `None`."""
    document = yaml.safe_load(STAGING.read_text(encoding="utf-8"))
    for path, value in changes.items():
        holder: Any = document["config"]["gpu-runners:stack"]
        *parents, last = path.split(".")
        for part in parents:
            holder = holder.setdefault(part, {})
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    file = folder / f"Pulumi.{name}.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return file


def names(outcome: Outcome, operation: str) -> set[str]:
    """Return the logical names of the resources with that operation."""
    return {change.name for change in outcome.differences if change.operation == operation}


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One stack that is changed four times in different places, with a job on every lane."""
    folder = tmp_path_factory.mktemp("changes")
    upgrade = {"charts.arc_version": "0.15.0"}
    sizes = {f"{POOL}.min_size": 2, f"{POOL}.max_size": 3}
    labels = {**upgrade, f"{LANE}.labels": ["other"]}
    replacement = {**labels, f"{POOL}.instance_types": ["g4dn.2xlarge"]}
    removal = {**replacement, f"{POOL}.max_size": 5, "clusters.ci-staging.gitlab": None}
    # The sizes of t4 that the autoscaler has set before each change.
    live = iter([1, 2, 2, 2])

    def between(world: World) -> None:
        set_desired_size(world, "ci-staging", "t4", next(live))
        world.jobs.start()

    return rehearse(
        STAGING,
        to=[
            changed(folder, "upgrade", {**upgrade, **sizes}),
            changed(folder, "labels", {**labels, **sizes}),
            changed(folder, "replacement", replacement),
            changed(folder, "removal", removal),
        ],
        between=between,
        busy=[Busy(runners="*", minutes=30)],
        folder=folder / "left",
    )


@pytest.mark.parametrize("stack", ["staging", "prod"])
def test_a_shipped_stack_is_created_unchanged_and_destroyed(stack: str, tmp_path: Path) -> None:
    # CI also runs the pack on prod: .ci/run.
    policy = PACK if stack == "staging" and PACK_IS_COMPLETE else None
    result = rehearse(ROOT / f"Pulumi.{stack}.yaml", folder=tmp_path / "left", policy=policy)
    assert result.problems == ()
    assert not [one for one in result.warnings if "policy" in one]
    left = {file.name for file in result.folder.iterdir()}
    assert left == {"report.md", "preview.json", "state.json", "engine.log"}
    assert result.placeholders, "the stack has secrets, so that the search for leaks is not empty"
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert "runs-on:" in report, "the report shows what to write in a workflow"
    assert "tags: [" in report, "the report shows what to write in a pipeline"
    state = json.loads((result.folder / "state.json").read_text(encoding="utf-8"))
    releases = [
        resource["inputs"]
        for resource in resources(state)
        if resource["type"] == "kubernetes:helm.sh/v3:Release"
    ]
    assert {"arc-controller", "gpu-operator", "nvidia-device-plugin"} <= {
        release["name"] for release in releases
    }
    secret_mark = "4dabf18193072939515e22adb298388d"  # marks a secret in the engine's state
    assert not [release["name"] for release in releases if secret_mark in release["values"]], (
        "one secret value would hide all values in previews"
    )


def test_changes_come_to_rest_lose_no_lane_and_kill_no_job(changes: Result) -> None:
    assert changes.problems == ()
    assert not [one.title for one in changes.phases if "once more" in one.title], "one up suffices"
    assert not [line for line in changes.warnings if "under running" in line], (
        "EKS sets all three sizes at once: an old desired size would remove nodes with jobs"
    )


@pytest.mark.parametrize("change", ["upgrade", "labels"])
def test_a_scale_set_that_cannot_change_gets_a_successor(change: str, changes: Result) -> None:
    up = changes.phase(f"up Pulumi.{change}.yaml")
    made, removed = names(up, "create"), names(up, "delete")
    assert names(up, "replace") == set(), "nothing is removed before its successor is there"
    assert {name.partition(":")[0].rpartition("-")[0] for name in made | removed} == {
        "ci-staging-github-gpu-t4-staging"
    }
    assert made.isdisjoint(removed)
    assert ("ci-staging-arc-release" in names(up, "update")) == (change == "upgrade")


def test_a_raised_minimum_above_the_running_nodes_is_accepted(changes: Result) -> None:
    up = changes.phase("up Pulumi.upgrade.yaml")
    others = {name for name in names(up, "update") if "-arc-" not in name}
    assert others == {"ci-staging-t4"}


def test_a_changed_instance_type_replaces_the_pool_and_its_tags_only(changes: Result) -> None:
    up = changes.phase("up Pulumi.replacement.yaml")
    replaced = {name for name in names(up, "replace") if "-gitlab-" not in name}
    assert "ci-staging-t4" in replaced
    assert all(name == "ci-staging-t4" or name.startswith("ci-staging-t4-") for name in replaced)
    assert {name.partition(":")[2].partition("/")[0] for name in names(up, "update")} == {
        "arc-runners",
        "gitlab-runners",
    }, "the lanes' fair share follows the larger node"
    assert names(up, "create") == names(up, "delete") == set()


def test_a_raised_maximum_keeps_the_desired_size(changes: Result) -> None:
    up = changes.phase("up")
    assert "ci-staging-t4" in names(up, "update")


def test_a_removed_lane_deletes_only_its_own_resources(changes: Result) -> None:
    up = changes.phase("up")
    assert names(up, "delete")
    assert {name for name in names(up, "delete") if "gitlab" not in name} == set()
    assert names(up, "replace") == set()


def test_an_up_that_waited_in_vain_says_what_to_do_and_the_next_one_ends_it(tmp_path: Path) -> None:
    short = {f"{LANE}.drain_minutes": 20}
    result = rehearse(
        changed(tmp_path, "before", short),
        to=changed(tmp_path, "after", {**short, f"{LANE}.labels": ["other"]}),
        busy=[Busy(runners="gpu-*", minutes=30)],
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    ups = [one.outcome for one in result.phases if one.title in ("up", "up, once more")]
    assert [one.ok for one in ups] == [False, True]
    said = "\n".join(one.message for one in ups[0].complaints)
    assert "waits for its running jobs, and no job was ended" in said
    assert "kubectl get ephemeralrunners -n arc-runners" in said
    assert "`make up`" in said


WAYS: tuple[Step, ...] = ("create", "delete")
ONE_PER_LAYER = (
    "ci-staging-network-vpc",
    "ci-staging-t4",
    "ci-staging-github-*:arc-runners/gpu-t4-staging-?????",
)


@pytest.mark.parametrize(
    ("faults", "attempts"),
    [
        (
            [Fault(name=name, steps=(way,)) for name in ONE_PER_LAYER for way in WAYS],
            len(ONE_PER_LAYER) + 1,
        ),
        pytest.param([EACH_ONCE, Fault(name="*", steps=("delete",))], 7, marks=exhaustive),
    ],
    ids=["one of each layer", "all"],
)
def test_a_resource_may_fail_its_creation_and_its_deletion_once(
    faults: list[Fault], attempts: int, tmp_path: Path
) -> None:
    result = rehearse(STAGING, faults=faults, continue_on_error=True, folder=tmp_path / "left")
    assert result.problems == ()
    for way in ("up", "destroy"):
        titles = [one.title for one in result.phases if one.title.partition(",")[0] == way]
        assert len(titles) >= attempts, "each attempt gets one step further along the dependencies"


def resources(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from state["deployment"]["resources"]
