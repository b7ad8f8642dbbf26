"""The plan of a whole stack, also of one that breaks rules: as much of it as there is."""

import dataclasses
import pickle
from typing import Any

import pytest

from fleet.clusters.eks import EksPlan
from fleet.config.load import parse
from fleet.plan import ClusterPlan, Plan, build
from tests.fleet.samples import SHIPPED, cluster_of, every_key, loaded, shipped_stack

LANES = "clusters.ci.github.lanes"
CLUSTERS = ["ci", "existing", "oci", "oci-existing", "honey", "bare"]


def plan_of_broken(changes: dict[str, Any]) -> tuple[ClusterPlan, ...]:
    parsed = parse(every_key(changes))
    assert parsed.stack is not None
    return build(parsed.stack).clusters


def lanes(cluster: ClusterPlan) -> list[str]:
    return [lane.name for lane in cluster.lanes]


def test_every_cluster_and_lane_of_the_stack_is_planned() -> None:
    plan = loaded(every_key()).plan
    assert [cluster.name for cluster in plan.clusters] == CLUSTERS
    assert lanes(plan.clusters[0]) == ["gpu", "big", "gl", "project", "instance", "token"]
    assert lanes(plan.clusters[1]) == ["cpu-only", "secret"]
    assert [pool.name for pool in plan.clusters[1].pools] == ["system", "t4"]
    assert lanes(plan.clusters[2]) == ["a10"]
    assert [pool.name for pool in plan.clusters[2].pools] == ["system", "a10"]
    assert lanes(plan.clusters[3]) == []
    assert [pool.name for pool in plan.clusters[3].pools] == ["system"]
    assert lanes(plan.clusters[4]) == ["vulkan", "mig", "ska-gpu-a100"]
    assert [pool.name for pool in plan.clusters[4].pools] == ["cpu", "dri", "a100"]


@pytest.mark.parametrize("protect", [True, False])
def test_protection_is_the_stacks(protect: bool) -> None:
    assert cluster_of({"protect": protect}).protect is protect


def test_secrets_that_others_make_are_listed_for_each_cluster() -> None:
    assert list(cluster_of().external_secrets) == []
    assert [one.name for one in cluster_of(name="existing").external_secrets] == [
        "app-keys",
        "runner-token",
    ]


def test_a_lane_is_planned_on_those_of_its_pools_that_exist() -> None:
    (plan, *_) = plan_of_broken({f"{LANES}.gpu.pools": ["t4", "gone"]})
    assert "gpu" in lanes(plan)


def test_a_lane_without_a_pool_is_left_out() -> None:
    (plan, *_) = plan_of_broken({f"{LANES}.gpu.pools": ["gone"]})
    assert lanes(plan) == ["big", "gl", "project", "instance", "token"]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_plan_is_a_value_that_derives_the_same_each_time(name: str) -> None:
    plan: Plan = loaded(shipped_stack(name)).plan
    assert plan == loaded(shipped_stack(name)).plan
    assert pickle.dumps(plan)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.clusters = ()  # type: ignore[misc]


@pytest.mark.parametrize("name", SHIPPED)
def test_no_release_name_is_taken_twice_in_a_namespace(name: str) -> None:
    for cluster in loaded(shipped_stack(name)).plan.clusters:
        stack = cluster.gpu_stack
        releases = [stack.device_plugin, stack.operator]
        if cluster.autoscaler is not None:
            releases += [cluster.autoscaler.release]
        if isinstance(cluster.platform, EksPlan):
            releases += [cluster.platform.efa_plugin]
        if cluster.github is not None:
            releases += [cluster.github.controller.release]
            releases += [lane.release for lane in cluster.github.lanes]
        if cluster.gitlab is not None:
            releases += [lane.release for lane in cluster.gitlab.lanes]
        names = [(one.namespace, one.name) for one in releases if one is not None]
        assert len(names) == len(set(names))
