"""Changing resources in groups."""

import re
from pathlib import Path
from typing import Any

import pytest
from pulumi_rehearsal.standin.packages import PACKAGES

from change.document import Group, Property, Rename
from change.groups import COMPONENTS, ORDER, groups, listed
from change.steps import Step
from tests.stackfiles import ROOT

CLUSTER = "gpu-runners:index:RunnerCluster"
POOL = "gpu-runners:aws:NodeGroup"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TAG = "aws:autoscaling/tag:Tag"
LANE = "gpu-runners:runners:ArcLane"
RELEASE = "kubernetes:helm.sh/v3:Release"
CHART = "kubernetes:helm.sh/v4:Chart"
SET = "kubernetes:actions.github.com/v1alpha1:AutoscalingRunnerSet"
SUCCESSION = (("1348e", "delete"), ("36b6a", "create"))
TYPES = Property(path="instanceTypes[0]", change="update", old="a", new="b", replaces=True)
SIZE = Property(path="scalingConfig.maxSize", change="update", old=1, new=2)


def step(kind: str, name: str, parent: Step | None = None, **more: Any) -> Step:
    return Step(
        urn=f"urn:pulumi:s::p::{kind}::{name}",
        type=kind,
        parent=parent.urn if parent is not None else "",
        **{"operation": None, **more},
    )


def pool(operation: str, *properties: Property) -> list[Step]:
    cluster = step(CLUSTER, "ci")
    component = step(POOL, "ci-t4", cluster)
    defining = step(GROUP, "ci-t4", component, operation=operation, properties=properties)
    tag = step(TAG, "ci-t4-enabled", component, operation=operation)
    return [cluster, component, defining, tag]


def installed(name: str, operation: str, component: Step) -> list[Step]:
    """A lane's chart with its objects."""
    chart = step(CHART, name, component, operation=operation)
    kinds = (SET, "kubernetes:rbac.authorization.k8s.io/v1:Role")
    return [chart, *(step(one, f"{name}:arc/{name}", chart, operation=operation) for one in kinds)]


def lane(name: str, operation: str, cluster: Step, kind: str = LANE) -> list[Step]:
    component = step(kind, f"ci-github-{name}", cluster, operation=operation)
    return [component, *installed(f"{component.name}-1348e", operation, component)]


def only(steps: list[Step], *renames: Rename) -> Group:
    (one,) = groups(steps, renames)
    return one


def test_every_component_of_the_program_has_a_kind() -> None:
    tokens = {
        token
        for file in (ROOT / "components").rglob("*.py")
        for token in re.findall(r'"(gpu-runners:\w+:\w+)"', file.read_text(encoding="utf-8"))
        if not token.startswith("gpu-runners:bootstrap:")  # another program
    }
    assert tokens == set(COMPONENTS), "a diff shows what it does not know as other"


def test_the_defining_types_exist_in_the_stand_ins() -> None:
    known = {one.token for package in PACKAGES for one in (*package.kinds, *package.constructs)}
    for kind, types in COMPONENTS.values():
        assert types <= known, f"{kind}: a misspelt type would never be called out"
        assert kind in ORDER


def test_a_replaced_pool_is_called_out_with_its_cause() -> None:
    one = only(pool("replace", TYPES, SIZE))
    assert (one.kind, one.cluster, one.name, one.operation) == ("pool", "ci", "t4", "replace")
    assert one.called_out
    assert one.causes == (TYPES,), "the size alone would replace nothing"
    assert len(one.resources) == 2, "the tags that follow are under their pool"


def test_a_resized_pool_is_not_called_out() -> None:
    one = only(pool("update", SIZE))
    assert (one.operation, one.called_out, one.causes) == ("update", False, (SIZE,))


def test_the_replacement_of_another_resource_is_an_update_of_the_group() -> None:
    cluster = step(CLUSTER, "ci")
    component = step(POOL, "ci-t4", cluster)
    one = only([cluster, component, step(TAG, "ci-t4-enabled", component, operation="replace")])
    assert (one.operation, one.called_out) == ("update", False)


@pytest.mark.parametrize("operation", ["create", "delete"])
def test_a_created_or_deleted_lane_is_one_group(operation: str) -> None:
    cluster = step(CLUSTER, "ci")
    one = only([cluster, *lane("gpu", operation, cluster)])
    assert (one.kind, one.name, one.operation) == ("GitHub lane", "gpu", operation)
    assert one.called_out == (operation == "delete")


def test_a_lane_with_a_successor_is_one_replaced_group() -> None:
    """Old and new objects have different names, so the engine replaces none of them."""
    cluster = step(CLUSTER, "ci")
    component = step(LANE, "ci-github-gpu", cluster)
    old, new = (installed(f"ci-github-gpu-{one}", two, component) for one, two in SUCCESSION)
    one = only([cluster, component, *old, *new])
    assert (one.kind, one.name, one.operation, one.called_out) == (
        *("GitHub lane", "gpu", "replace", True),
    )
    assert len(one.resources) == 6
    changed = only([cluster, component, *new[1:], *old[2:]])
    assert (changed.operation, changed.called_out) == ("update", False), "the chart stays"


def test_a_lane_that_was_a_helm_release_is_replaced_by_its_chart() -> None:
    cluster = step(CLUSTER, "ci")
    component = step(LANE, "ci-github-gpu", cluster)
    release = step(RELEASE, "ci-github-gpu-release", component, operation="delete")
    one = only(
        [cluster, component, release, *installed("ci-github-gpu-1348e", "create", component)]
    )
    assert (one.operation, one.called_out) == ("replace", True)


def test_a_renamed_lane_is_one_group() -> None:
    cluster = step(CLUSTER, "ci")
    steps = [cluster, *lane("old", "delete", cluster), *lane("new", "create", cluster)]
    renamed = Rename(kind="GitHub lane", cluster="ci", old="old", new="new", lost=("old",))
    one = only(steps, renamed)
    assert (one.name, one.renamed_from, one.called_out) == ("new", "old", True)
    assert len(one.resources) == 8
    assert len(groups(steps)) == 2, "without the rename they are two groups"


def test_a_rename_without_a_deleted_resource_joins_nothing() -> None:
    cluster = step(CLUSTER, "ci")
    renamed = Rename(kind="GitHub lane", cluster="ci", old="old", new="new")
    one = only([cluster, *lane("new", "create", cluster)], renamed)
    assert (one.operation, one.renamed_from) == ("create", None)


def test_a_deleted_cluster_is_one_group_with_its_pools() -> None:
    steps = pool("delete")
    gone = [Step(urn=s.urn, type=s.type, parent=s.parent, operation="delete") for s in steps]
    one = only(gone)
    assert (one.kind, one.name, one.operation, one.called_out) == ("cluster", "ci", "delete", True)
    assert len(one.resources) == 4


def test_providers_and_resources_without_a_component_are_groups_too() -> None:
    provider = step("pulumi:providers:aws", "ci-aws", operation="update")
    loose = step("aws:s3/bucket:Bucket", "loose", operation="create")
    found = groups([provider, loose])
    assert [(one.kind, one.name) for one in found] == [("provider", "ci-aws"), ("other", "")]


def test_groups_that_are_called_out_come_first() -> None:
    cluster = step(CLUSTER, "ci")
    steps = [
        *pool("update", SIZE),
        *lane("gone", "delete", cluster),
        step("gpu-runners:aws:Network", "ci-network", cluster, operation="create"),
    ]
    assert [one.kind for one in groups(steps)] == ["GitHub lane", "network", "pool"]


def test_more_resources_than_are_listed_are_counted() -> None:
    found = groups([*pool("replace", TYPES), *lane("gone", "delete", step(CLUSTER, "ci"))])
    kept, left_out = listed(found, limit=3)
    assert [len(one.resources) for one in kept] == [2, 1]
    assert left_out == 3


def test_a_cycle_of_parents_ends(tmp_path: Path) -> None:
    first = Step(urn="a", type="x", parent="b", operation="update")
    second = Step(urn="b", type="x", parent="a", operation=None)
    assert only([first, second]).kind == "other"
