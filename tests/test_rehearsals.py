"""Rehearsals of the shipped stacks, and of changes that disturb jobs in real clusters.

Every rehearsal ends with a preview without changes, a destroy that leaves nothing, and a search for
secrets in every written file. `Result.problems` has what went wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.standin.aws import set_desired_size
from pulumi_rehearsal.standin.faults import EACH_ONCE, Fault
from pulumi_rehearsal.standin.world import World

from rehearsal.run import rehearse

ROOT = Path(__file__).parent.parent
STAGING = ROOT / "Pulumi.staging.yaml"
POOL = "clusters.ci-staging.eks.pools.t4"

pytestmark = pytest.mark.engine


def changed(folder: Path, name: str, changes: dict[str, Any]) -> Path:
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


def of_kind(result: Result, operation: str) -> set[str]:
    """Return the logical names of the resources with that operation in the last `up`."""
    return {
        change.name for change in result.phase("up").differences if change.operation == operation
    }


@pytest.mark.parametrize("stack", ["staging", "prod"])
def test_a_shipped_stack_is_created_unchanged_and_destroyed(stack: str, tmp_path: Path) -> None:
    result = rehearse(ROOT / f"Pulumi.{stack}.yaml", folder=tmp_path / "left")
    assert result.problems == ()
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


def test_an_arc_minor_bump_replaces_every_scale_set(tmp_path: Path) -> None:
    result = rehearse(
        STAGING,
        to=changed(tmp_path, "bump", {"charts.arc_version": "0.15.0"}),
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    assert of_kind(result, "replace") == {"ci-staging-github-gpu-t4-staging-release"}
    assert "ci-staging-arc-release" in of_kind(result, "update"), "the controller is upgraded"


def test_a_raised_minimum_is_accepted_and_removes_no_node(tmp_path: Path) -> None:
    def autoscaler_starts_a_node(world: World) -> None:
        set_desired_size(world, "ci-staging", "t4", 1)

    result = rehearse(
        STAGING,
        to=changed(tmp_path, "minimum", {f"{POOL}.min_size": 2, f"{POOL}.max_size": 3}),
        between=autoscaler_starts_a_node,
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    assert of_kind(result, "update") == {"ci-staging-t4"}
    assert not [line for line in result.warnings if "under running" in line]


def test_a_raised_maximum_removes_no_node(tmp_path: Path) -> None:
    def autoscaler_fills_the_pool(world: World) -> None:
        set_desired_size(world, "ci-staging", "t4", 2)

    result = rehearse(
        STAGING,
        to=changed(tmp_path, "maximum", {f"{POOL}.max_size": 5}),
        between=autoscaler_fills_the_pool,
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    assert not [line for line in result.warnings if "under running" in line], (
        "EKS sets all three sizes at once: an old desired size would remove nodes with jobs"
    )


def test_a_changed_instance_type_replaces_the_pool_and_its_tags_only(tmp_path: Path) -> None:
    result = rehearse(
        STAGING,
        to=changed(tmp_path, "type", {f"{POOL}.instance_types": ["g4dn.2xlarge"]}),
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    replaced = of_kind(result, "replace")
    assert "ci-staging-t4" in replaced
    assert all(name == "ci-staging-t4" or name.startswith("ci-staging-t4-") for name in replaced)
    assert of_kind(result, "update") == {
        "ci-staging-github-gpu-t4-staging-release",
        "ci-staging-gitlab-t4-staging-release",
    }, "the lanes' fair share follows the larger node"


def test_a_removed_lane_deletes_only_its_own_resources(tmp_path: Path) -> None:
    result = rehearse(
        STAGING,
        to=changed(tmp_path, "lane", {"clusters.ci-staging.gitlab": None}),
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    assert {name for name in of_kind(result, "delete") if "gitlab" not in name} == set()
    assert of_kind(result, "replace") == set()


def test_every_resource_may_fail_its_creation_and_its_deletion_once(
    tmp_path: Path,
) -> None:
    result = rehearse(
        STAGING,
        faults=[EACH_ONCE, Fault(name="*", steps=("delete",))],
        continue_on_error=True,
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    for way in ("up", "destroy"):
        attempts = [one for one in result.phases if one.title.startswith(f"{way}, attempt")]
        assert len(attempts) > 5, "each attempt gets one step further along the dependencies"


def resources(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from state["deployment"]["resources"]
