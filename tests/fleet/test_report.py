"""The report: what people read beside a diff."""

from __future__ import annotations

import pytest

from fleet.catalog.ec2 import instance_type
from fleet.cost import HOURS_PER_MONTH, MonthlyCost, monthly_cost
from fleet.findings import Finding
from fleet.plan.shares import NOTHING, job
from fleet.report import fitting, markdown
from fleet.spec.github import GitHubLane
from tests.fleet.samples import SHIPPED, cluster_of, every_key, loaded, pool_of, shipped_stack

T4 = "clusters.ci.eks.pools.t4"


def test_a_pool_costs_its_minimum_when_idle_and_its_maximum_when_full() -> None:
    pool = pool_of({f"{T4}.min_size": 2, f"{T4}.max_size": 5})
    month = instance_type("g4dn.2xlarge").usd_per_hour * HOURS_PER_MONTH
    cost = monthly_cost(pool)
    assert (cost.floor, cost.ceiling) == pytest.approx((2 * month, 5 * month))


def test_a_pool_of_several_types_may_cost_as_much_as_the_dearest() -> None:
    both = monthly_cost(pool_of({f"{T4}.instance_types": ["g4dn.xlarge", "g4dn.2xlarge"]}))
    assert both == monthly_cost(pool_of())


def test_costs_add_up() -> None:
    assert MonthlyCost(floor=1, ceiling=2) + MonthlyCost(floor=3, ceiling=4) == MonthlyCost(
        floor=4, ceiling=6
    )


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"gpus": 1}, 2),
        ({"gpus": 1, "cpu": 5}, 1),
        ({"gpus": 1, "memory": "20Gi"}, 1),
        ({"gpus": 1, "cpu": 9}, 0),
        ({"cpu": "1m", "memory": "1Mi", "disk": "100Gi"}, 1),
    ],
)
def test_as_many_jobs_fit_a_node_as_the_scarcest_resource_allows(
    asked: dict[str, object], count: int
) -> None:
    pool = pool_of({f"{T4}.reserve": {}})
    spec = GitHubLane.model_validate({"pools": ("t4",), "max_runners": 1, **asked})
    assert fitting(job(spec, (pool,), NOTHING), pool, pool.nodes[0]) == count


@pytest.mark.parametrize("name", SHIPPED)
def test_the_report_says_each_pool_each_lane_and_what_to_write(name: str) -> None:
    fleet = loaded(shipped_stack(name))
    text = markdown(fleet.plan)
    for cluster in fleet.plan.clusters:
        assert f"## Cluster {cluster.name}" in text
        for pool in cluster.pools:
            assert f"| {pool.name} | {pool.min_size} to {pool.max_size} |" in text
        assert cluster.github is not None
        assert cluster.gitlab is not None
        for lane in cluster.github.lanes:
            assert f"| {lane.name} | `runs-on: {lane.name}` |" in text
        for lane in cluster.gitlab.lanes:
            assert f"| {lane.name} | `tags: [{', '.join(lane.tags)}]` |" in text


def test_the_report_adds_the_pools_of_a_cluster_up() -> None:
    plan = cluster_of()
    floor = sum(monthly_cost(pool).floor for pool in plan.pools)
    ceiling = sum(monthly_cost(pool).ceiling for pool in plan.pools)
    text = markdown(loaded(every_key()).plan)
    assert f"cost {floor:,.0f} USD a month when idle and {ceiling:,.0f} USD when full" in text


def test_the_report_names_cards_and_how_they_are_shared() -> None:
    text = markdown(loaded(every_key()).plan)
    assert "| 1 x T4 (16 GB), shared as 2 |" in text
    assert "| 8 x A100-40GB (40 GB) |" in text
    assert "| none |" in text


def test_the_report_lists_warnings_and_is_silent_without() -> None:
    plan = loaded(every_key()).plan
    warning = Finding(
        rule="r", path="clusters.ci", message="is odd", remedy="Mend it.", severity="warning"
    )
    assert "## Warnings" not in markdown(plan)
    assert markdown(plan, [warning]).endswith("## Warnings\n\n- `clusters.ci`: is odd. Mend it.\n")


def test_the_report_names_no_secret() -> None:
    text = markdown(loaded(every_key()).plan)
    assert not [one for one in ("githubAppKey", "gitlabApiToken", "runnerToken") if one in text]
