"""References in a stack file: pools that lanes name and their cluster lacks."""

from __future__ import annotations

from tests.fleet.samples import every_key, refused, reported

CI = "clusters.ci"
LANES = f"{CI}.github.lanes"


def test_a_pool_that_a_lane_names_must_exist() -> None:
    (finding,) = refused(every_key({f"{LANES}.gpu.pools": ["gpu-pool"]}))
    assert (finding.rule, finding.path) == ("unknown-pool", f"{LANES}.gpu.pools")
    assert finding.message == "contains gpu-pool, but cluster ci has no such pool"
    assert finding.remedy == "the pools of ci are a100, system, t4"


def test_a_misspelt_pool_is_reported_with_a_similar_one() -> None:
    ((path, _, remedy),) = reported(every_key({f"{CI}.gitlab.lanes.gl.pools": ["a10"]}))
    assert path == f"{CI}.gitlab.lanes.gl.pools"
    assert remedy == "did you mean a100? the pools of ci are a100, system, t4"


def test_each_unknown_pool_of_a_lane_is_reported() -> None:
    findings = refused(every_key({f"{LANES}.gpu.pools": ["t4", "x", "y"]}))
    assert [one.message.split(",")[0] for one in findings] == ["contains x", "contains y"]


def test_pools_of_another_cluster_are_unknown() -> None:
    pools = {"system": {"instance_types": ["m5.large"], "min_size": 1, "max_size": 2}}
    pools["h100"] = {"instance_types": ["p5.4xlarge"], "max_size": 1}
    data = every_key({"clusters.existing.eks.pools": pools, f"{LANES}.gpu.pools": ["h100"]})
    assert (f"{LANES}.gpu.pools", "contains h100, but cluster ci has no such pool") in [
        each[:2] for each in reported(data)
    ]
