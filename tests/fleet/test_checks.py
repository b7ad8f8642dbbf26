"""What crosses models: each check broken once, with path, message and remedy."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import Any

import pytest

from fleet.checks.names import release_names
from fleet.checks.view import View
from fleet.plan.build import Plan
from tests.fleet.samples import every_key, loaded, refused, told

CI = "clusters.ci"
LANES = f"{CI}.github.lanes"
OTHER = "clusters.existing.github"


def view(plan: Plan) -> View:
    return View(stack=loaded(every_key()).stack, plan=plan, today=date(2026, 11, 21))


def gpu_lane(*pools: str, **more: Any) -> dict[str, Any]:
    return {"pools": list(pools), "gpus": 1, "max_runners": 1, **more}


def test_a_pool_that_a_lane_names_must_be_there() -> None:
    (finding,) = refused(every_key({f"{LANES}.gpu.pools": ["gpu-pool"]}))
    assert (finding.rule, finding.path) == ("unknown-pool", f"{LANES}.gpu.pools")
    assert finding.message == "names the pool gpu-pool, which cluster ci lacks"
    assert finding.remedy == "its pools are a100, system, t4"


def test_a_misspelt_pool_is_told_with_the_one_that_is_meant() -> None:
    ((path, _, remedy),) = told(every_key({f"{CI}.gitlab.lanes.gl.pools": ["a10"]}))
    assert path == f"{CI}.gitlab.lanes.gl.pools"
    assert remedy == "did you mean a100? its pools are a100, system, t4"


def test_each_unknown_pool_of_a_lane_is_told() -> None:
    findings = refused(every_key({f"{LANES}.gpu.pools": ["t4", "x", "y"]}))
    assert [one.message.split()[3] for one in findings] == ["x,", "y,"]


def test_pools_of_another_cluster_are_unknown() -> None:
    pools = {"system": {"instance_types": ["m5.large"], "min_size": 1, "max_size": 2}}
    pools["h100"] = {"instance_types": ["p5.4xlarge"], "max_size": 1}
    data = every_key({"clusters.existing.eks.pools": pools, f"{LANES}.gpu.pools": ["h100"]})
    assert (f"{LANES}.gpu.pools", "names the pool h100, which cluster ci lacks") in [
        each[:2] for each in told(data)
    ]


def test_lanes_that_list_pools_in_opposite_orders_are_told_at_their_cluster() -> None:
    (finding,) = refused(
        every_key(
            {
                f"{LANES}.one": gpu_lane("t4", "a100"),
                f"{CI}.gitlab.lanes.two": {
                    "pools": ["a100", "t4"],
                    "gpus": 1,
                    "runner": {"group_id": 1},
                },
            }
        )
    )
    assert (finding.rule, finding.path) == ("preference", CI)
    assert "lanes list the pools" in finding.message
    assert "t4" in finding.message
    assert "a100" in finding.message
    assert finding.remedy == "list them in the same order in every lane"


def test_lanes_that_disagree_over_three_pools_are_told_too() -> None:
    pool = {"instance_types": ["g5.xlarge"], "max_size": 1}
    (finding,) = refused(
        every_key(
            {
                f"{CI}.eks.pools.a10": pool,
                f"{LANES}.one": gpu_lane("t4", "a10"),
                f"{LANES}.two": gpu_lane("a10", "a100"),
                f"{LANES}.three": gpu_lane("a100", "t4"),
            }
        )
    )
    assert finding.rule == "preference"


def test_lanes_of_two_clusters_may_prefer_as_they_like() -> None:
    pool = {"instance_types": ["p4d.24xlarge"], "max_size": 1}
    loaded(
        every_key(
            {
                "clusters.existing.eks.pools.a100": pool,
                f"{LANES}.one": gpu_lane("t4", "a100"),
                f"{OTHER}.lanes.two": gpu_lane("a100", "t4"),
            }
        )
    )


def test_a_node_group_name_leaves_room_for_its_suffix() -> None:
    pool = {"instance_types": ["g5.xlarge"], "max_size": 1}
    cluster = every_key()["clusters"]["ci"]
    name = "c" * 30
    cluster["eks"]["pools"] = {**cluster["eks"]["pools"], "p" * 25: pool}
    (finding,) = refused({"clusters": {name: cluster}})
    assert (finding.rule, finding.path) == (
        "node-group-name",
        f"clusters.{name}.eks.pools.{'p' * 25}",
    )
    assert finding.message == (
        f"the node group's name would have 64 characters ({name}-{'p' * 25} and a suffix of 8), "
        "EKS allows 63"
    )
    assert finding.remedy == "shorten the name of the pool or of the cluster"
    cluster["eks"]["pools"]["p" * 24] = cluster["eks"]["pools"].pop("p" * 25)
    loaded({"clusters": {name: cluster}})


def test_pools_of_two_clusters_have_two_node_groups() -> None:
    data = every_key()
    cluster = data["clusters"]["existing"]
    pool = {"instance_types": ["g5.xlarge"], "max_size": 1}
    data["clusters"] = {
        "a": {
            **cluster,
            "eks": {**cluster["eks"], "pools": {**cluster["eks"]["pools"], "b-c": pool}},
        },
        "a-b": {
            "eks": {**cluster["eks"], "pools": {**cluster["eks"]["pools"], "c": pool}},
        },
    }
    (finding,) = refused(data)
    assert (finding.rule, finding.path) == ("node-group-name", "clusters.a-b.eks.pools.c")
    assert finding.message == (
        "the node group would be called a-b-c, as that of clusters.a.eks.pools.b-c"
    )
    assert finding.remedy == "rename the pool or one of the clusters"


def test_a_release_name_is_one_that_helm_takes() -> None:
    plan = loaded(every_key()).plan
    (ci, *_) = plan.clusters
    assert ci.gitlab is not None
    lane = ci.gitlab.lanes[0]
    long = dataclasses.replace(lane, release=dataclasses.replace(lane.release, name="r" * 54))
    broken = dataclasses.replace(ci, gitlab=dataclasses.replace(ci.gitlab, lanes=(long,)))
    (finding,) = release_names.findings(view(Plan(clusters=(broken,))))
    assert (finding.rule, finding.path) == ("release-name", f"{CI}.gitlab.lanes.gl")
    assert finding.message == f"the release's name {'r' * 54} has 54 characters"
    assert finding.remedy == "shorten the lane's name; Helm allows 53"
    assert list(release_names.find(view(plan))) == []


@pytest.mark.parametrize("ending", ["", "/"])
def test_github_knows_one_scale_set_of_a_name_in_a_group(ending: str) -> None:
    (finding,) = refused(
        every_key(
            {
                f"{OTHER}.url": f"https://github.com/example-org{ending}",
                f"{OTHER}.lanes.gpu": gpu_lane("t4", group="GPUs"),
            }
        )
    )
    assert (finding.rule, finding.path) == ("scale-set-name", f"{OTHER}.lanes.gpu")
    assert f"{LANES}.gpu" in finding.message
    assert "another runner group" in finding.remedy


def test_scale_sets_without_a_group_are_in_one() -> None:
    (finding,) = refused(
        every_key(
            {
                f"{OTHER}.url": "https://github.com/example-org",
                f"{OTHER}.lanes.big": gpu_lane("t4"),
            }
        )
    )
    assert finding.path == f"{OTHER}.lanes.big"


@pytest.mark.parametrize(
    "changes",
    [
        {f"{OTHER}.lanes.gpu": gpu_lane("t4", group="GPUs")},
        {f"{OTHER}.url": "https://github.com/example-org", f"{OTHER}.lanes.gpu": gpu_lane("t4")},
    ],
    ids=["another owner", "another group"],
)
def test_the_same_name_elsewhere_is_another_scale_set(changes: dict[str, Any]) -> None:
    loaded(every_key(changes))


@pytest.mark.parametrize(
    ("changes", "rule", "path", "message"),
    [
        ({f"{LANES}.gpu.gpus": 3}, "fits", f"{LANES}.gpu.gpus", "asks for 3 nvidia.com/gpu"),
        ({f"{LANES}.gpu.cpu": 9}, "fits", f"{LANES}.gpu.cpu", "asks for 9 cpu"),
        ({f"{LANES}.gpu.memory": "64Gi"}, "fits", f"{LANES}.gpu.memory", "asks for 64Gi memory"),
        ({f"{LANES}.gpu.disk": "1Ti"}, "fits", f"{LANES}.gpu.disk", "asks for 1024Gi disk"),
        ({f"{LANES}.gpu.pools": ["system"]}, "gpu-pool", f"{LANES}.gpu.pools", "system has none"),
        (
            {f"{CI}.gitlab.lanes.project.gpus": 2},
            "slices",
            f"{CI}.gitlab.lanes.project.gpus",
            "asks for 2 slices of pool t4",
        ),
        (
            {f"{CI}.eks.pools.a100.reserve": {"cpu": 100}},
            "fits",
            f"{LANES}.big",
            "no cpu of an empty node of pool a100 (p4d.24xlarge) is left",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_a_lane_that_would_wait_for_ever_is_told(
    changes: dict[str, Any], rule: str, path: str, message: str
) -> None:
    findings = refused(every_key(changes))
    (finding,) = [one for one in findings if one.rule == rule]
    assert finding.path == path
    assert message in finding.message
    assert finding.remedy
