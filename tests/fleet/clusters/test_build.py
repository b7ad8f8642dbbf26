"""The plan of a whole stack, also of one that breaks rules: as much of it as there is."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from fleet.clusters.eks import EksPlan
from fleet.config.load import parse
from fleet.findings import errors
from fleet.plan import ClusterPlan, Plan, build
from tests.fleet.samples import GONE, SHIPPED, cluster_of, every_key, loaded, shipped_stack

LANES = "clusters.ci.github.lanes"
CLUSTERS = ["ci", "existing", "oci", "oci-existing", "honey", "bare"]


def plan_of_broken(changes: dict[str, Any]) -> tuple[ClusterPlan, ...]:
    parsed = parse(every_key(changes))
    assert parsed.stack is not None
    return build(parsed.stack).clusters


def lanes(cluster: ClusterPlan) -> list[str]:
    return [path.rpartition(".")[2] for path, _ in cluster.jobs()]


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
    assert list(cluster_of().external_secrets()) == []
    assert [one.name for one in cluster_of(name="existing").external_secrets()] == [
        "app-keys",
        "runner-token",
    ]


def test_a_lane_is_planned_on_those_of_its_pools_that_exist() -> None:
    (plan, *_) = plan_of_broken({f"{LANES}.gpu.pools": ["t4", "gone"]})
    assert "gpu" in lanes(plan)


def test_a_lane_without_a_pool_is_left_out() -> None:
    (plan, *_) = plan_of_broken({f"{LANES}.gpu.pools": ["gone"]})
    assert lanes(plan) == ["big", "gl", "project", "instance", "token"]


def test_a_cluster_of_no_kind_is_left_out() -> None:
    plans = plan_of_broken({"clusters.ci.eks": GONE})
    assert [plan.name for plan in plans] == CLUSTERS[1:]


@pytest.mark.parametrize(
    "changes",
    [
        {f"{LANES}.gpu.min_runners": 9},
        {f"{LANES}.gpu.env": {"NVIDIA_VISIBLE_DEVICES": "all"}},
        {f"{LANES}.gpu.pools": ["system"]},
        {f"{LANES}.gpu.labels": [""]},
        {f"{LANES}.gpu.gpus": 0, f"{LANES}.gpu.cpu": GONE},
        {"clusters.ci.gitlab.lanes.gl.env": {"A": "{{"}},
        {"clusters.ci.eks.network": {}},
        {"clusters.ci.eks.network.zones": []},
        {"clusters.ci.eks.version": "1.20"},
        {"clusters.ci.eks.pools.t4.instance_types": ["g4dn.xlarge", "m6i.large"]},
        {"clusters.ci.eks.pools.t4.efa": True},
        {"clusters.ci.gpu_stack": {"advertiser": "operator"}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_stack_that_breaks_rules_is_planned_all_the_same(changes: dict[str, Any]) -> None:
    parsed = parse(every_key(changes))
    assert parsed.stack is not None
    assert [cluster.name for cluster in build(parsed.stack).clusters] == CLUSTERS


def test_what_stands_in_for_a_wrong_value_is_never_deployed() -> None:
    parsed = parse(every_key({"clusters.ci.eks.version": 1.35}))
    assert parsed.stack is not None
    assert errors(parsed.findings), "a stack with a stand-in has an error, which stops it"


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
