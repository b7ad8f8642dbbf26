"""Order: which pool a lane tries first, what the next one costs, and pools of no lane."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fleet.checks.planted import found, stack_of

PATH = "clusters.ci.github.lanes.gpu.pools"
RULES = ("spot-behind", "dear-first", "dear-fallback")


def pool(kind: str = "g4dn.xlarge", **more: Any) -> dict[str, Any]:
    return {"instance_types": [kind], "max_size": 2, **more}


def fleet(first: dict[str, Any], then: dict[str, Any], **lane: Any) -> dict[str, Any]:
    lanes = {"gpu": {"pools": ["first", "then"], "gpus": 1, **lane}}
    return stack_of({"first": first, "then": then}, lanes)


SPOT = pool(capacity_type="SPOT")


@pytest.mark.parametrize(
    ("first", "then", "rules"),
    [
        (SPOT, pool(), []),
        (pool(), SPOT, ["spot-behind"]),
        (pool("g5.16xlarge"), pool("g5.xlarge"), ["dear-first"]),
        (pool("g5.xlarge"), pool("g5.2xlarge"), []),
        (pool("g4dn.xlarge"), pool("g5.xlarge"), []),
        (pool("g5.xlarge"), pool("g4dn.xlarge"), []),
        (pool("g4dn.xlarge"), pool("p4d.24xlarge"), ["dear-fallback"]),
        (pool("g5.16xlarge"), pool("g5.xlarge", paused=True), []),
        (pool("g5.16xlarge", capacity_type="SPOT"), pool("g5.xlarge"), []),
    ],
)
def test_the_order_of_pools_is_judged_by_how_they_are_had_and_by_price(
    first: dict[str, Any], then: dict[str, Any], rules: list[str]
) -> None:
    data = fleet(first, then)
    told = {rule: found(rule, data) for rule in RULES}
    assert [rule for rule in RULES if told[rule]] == rules
    for rule in rules:
        assert [(one.severity, one.path) for one in told[rule]] == [("warning", PATH)]


def test_a_dear_fallback_names_both_prices() -> None:
    (finding,) = found("dear-fallback", fleet(pool("g4dn.xlarge"), pool("p4d.24xlarge")))
    assert "starts a node of 21.96 USD an hour instead of 0.53" in finding.message


def test_a_node_that_more_jobs_share_is_not_dearer_by_its_price() -> None:
    # Four cards for 3.91 USD an hour, and one card for 1.20.
    data = fleet(pool("g4dn.12xlarge"), pool("g4dn.4xlarge"), cpu=1, memory="4Gi")
    assert not found("dear-first", data)


def test_a_gpu_pool_of_no_lane_is_a_note() -> None:
    pools = {"used": pool(), "spare": pool()}
    data = stack_of(pools, {"gpu": {"pools": ["used"], "gpus": 1}})
    (finding,) = found("unused-pool", data)
    assert (finding.severity, finding.path) == ("note", "clusters.ci.eks.pools.spare")


def test_cpu_nodes_that_nobody_needs_have_their_price() -> None:
    pools = {"gpu": pool(), "big": {**pool("m6i.4xlarge"), "min_size": 6, "max_size": 6}}
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    (finding,) = found("unused-pool", stack_of(pools, lanes))
    assert (finding.severity, finding.path) == ("warning", "clusters.ci.eks.pools.big.min_size")
    assert "3,364 USD a month" in finding.message
    lanes["cpu"] = {"pools": ["big"], "cpu": 4, "memory": "8Gi"}
    assert not found("unused-pool", stack_of(pools, lanes)), "it has jobs"


def test_the_pool_of_controllers_is_no_waste() -> None:
    assert not found(
        "unused-pool", stack_of({"gpu": pool()}, {"gpu": {"pools": ["gpu"], "gpus": 1}})
    )
