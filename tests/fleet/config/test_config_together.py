"""One message has every error of a file, and each error once."""

from typing import Any

import pytest

from fleet.config.stack import KINDS
from fleet.findings import StackFileError
from fleet.load import load
from tests.fleet.samples import GONE, SHIPPED, every_key, loaded, refused, reported, shipped_stack

EKS = "clusters.ci.eks"
T4 = f"{EKS}.pools.t4"
LANES = "clusters.ci.github.lanes"
GL = "clusters.ci.gitlab.lanes.gl"

NAME_OF_46 = "n" * 46

EVERYTHING: dict[str, Any] = {
    "tag": {"team": "ci"},
    f"{EKS}.version": 1.35,
    f"{EKS}.admins": None,
    f"{EKS}.pools.a100.ami_type": "AL2_x86_64_GPU",
    f"{EKS}.pools.system.max_size": 1,
    f"{T4}.disk_gib": "200",
    f"{LANES}.{NAME_OF_46}": {"pools": ["t4"], "gpus": 1, "max_runners": 1},
    f"{LANES}.lost": {"pools": ["t44"], "gpus": 1, "max_runners": 1},
    f"{LANES}.gpu.memory": "4 gigs",
    f"{GL}.tag": ["gpu"],
}


def test_every_kind_of_problem_of_one_file_is_in_one_message() -> None:
    with pytest.raises(StackFileError) as caught:
        load(every_key(EVERYTHING), source="Pulumi.test.yaml", has_secret=lambda _name: False)
    messages = {(one.path, one.message) for one in caught.value.findings}
    assert messages == {
        ("tag", "is not a known key"),
        (f"{EKS}.version", "is a decimal number, not text"),
        (f"{EKS}.admins", "has no value"),
        (f"{EKS}.pools.a100.ami_type", "is an AMI type without further releases"),
        (f"{EKS}.pools.system.max_size", "is 1, below min_size (2)"),
        (f"{T4}.disk_gib", "is text, not a whole number"),
        (f"{LANES}.{NAME_OF_46}", "is a name of 46 characters"),
        (f"{LANES}.lost.pools", "contains t44, but cluster ci has no such pool"),
        (f"{LANES}.gpu.memory", "is not a Kubernetes quantity"),
        (f"{GL}.tag", "is not a known key"),
        *(
            (path, f"is the secret {name}, which is not in the configuration of this stack")
            for path, name in (
                ("clusters.ci.github.app.private_key", "githubAppKey"),
                ("clusters.ci.gitlab.api_token", "gitlabApiToken"),
                ("clusters.ci.gitlab.lanes.token.token", "runnerToken"),
                ("clusters.honey.gitlab.lanes.ska-gpu-a100.token", "runnerToken"),
            )
        ),
    }
    text = str(caught.value)
    assert text.startswith("Pulumi.test.yaml: 14 problems, nothing was changed.\n  ")
    assert text.count("\n") == 28, "each problem is two lines: place and problem, then the remedy"
    assert "\n    run: pulumi config set --secret gpu-runners:runnerToken" in text


def test_one_problem_is_not_called_problems() -> None:
    with pytest.raises(StackFileError, match=r"^f\.yaml: 1 problem, nothing was changed\.\n"):
        load({}, source="f.yaml", has_secret=lambda _name: True)


FOLLOWS: list[tuple[str, dict[str, Any], str]] = [
    ("a cluster whose version is wrong still has its pools", {f"{EKS}.version": 1.35}, "version"),
    ("a bad pool is not an unknown one", {T4: "g4dn.xlarge"}, "pools.t4"),
    (
        "a bad pool name is not an unknown pool",
        {f"{EKS}.pools.{'p' * 37}": {"instance_types": ["g4dn.xlarge"], "max_size": 1}}
        | {"clusters.ci.gitlab.lanes.project.pools": ["t4"]},
        f"pools.{'p' * 37}",
    ),
    (
        "a GPU pool of unknown type is not a CPU pool",
        {f"{T4}.instance_types": ["g4dn"]},
        "pools.t4.instance_types[0]",
    ),
    (
        "a system pool of unknown type may have been the one that always runs",
        {f"{EKS}.pools.system.instance_types": ["m6i"]},
        "pools.system.instance_types[0]",
    ),
    (
        "so may one whose minimum is wrong",
        {f"{EKS}.pools.system.min_size": "2"},
        "pools.system.min_size",
    ),
    ("EFA may have had its zone", {f"{EKS}.pools.a100.zones": ["a"]}, "pools.a100.zones[0]"),
    (
        "a capacity block may have had its reservation",
        {f"{EKS}.pools.a100.capacity_reservation_id": "block"},
        "pools.a100.capacity_reservation_id",
    ),
    ("pools may lie in zones that are misspelt", {f"{EKS}.network.zones": "a b"}, "network.zones"),
    ("a VPC to make has a range, if a bad one", {f"{EKS}.network.cidr": "10/8"}, "network.cidr"),
    ("zones may lie in a region that is misspelt", {f"{EKS}.region": "west"}, "region"),
    ("a cluster without pools has no unknown ones", {f"{EKS}.pools": []}, "pools"),
    ("a share of nothing is not judged", {f"{T4}.reserve": 3}, "pools.t4.reserve"),
]


@pytest.mark.parametrize(
    ("changes", "path"), [each[1:] for each in FOLLOWS], ids=[each[0] for each in FOLLOWS]
)
def test_a_consequence_of_another_finding_is_not_reported(
    changes: dict[str, Any], path: str
) -> None:
    (finding,) = refused(every_key(changes))
    assert finding.path == f"{EKS}.{path}"


FOLLOWS_IN_LANES: list[tuple[str, dict[str, Any], str]] = [
    ("the GPUs that a lane meant", {f"{LANES}.gpu.gpus": "1"}, f"{LANES}.gpu.gpus"),
    (
        "the memory of a lane without GPUs",
        {"clusters.existing.github.lanes.cpu-only.memory": "much"},
        "clusters.existing.github.lanes.cpu-only.memory",
    ),
    ("the pools of a lane", {f"{LANES}.gpu.pools": ["T4"]}, f"{LANES}.gpu.pools[0]"),
    (
        "the only lane of a forge",
        {"clusters.existing.gitlab.lanes.secret": 1},
        "clusters.existing.gitlab.lanes.secret",
    ),
    (
        "the App of GitHub",
        {"clusters.ci.github.app.private_key": "PEM"},
        "clusters.ci.github.app.private_key",
    ),
    ("the owner of a runner", {f"{GL}.runner.group_id": "42"}, f"{GL}.runner.group_id"),
    ("the source of a token", {f"{GL}.runner": "group"}, f"{GL}.runner"),
    ("the API token", {"clusters.ci.gitlab.api_token": "x"}, "clusters.ci.gitlab.api_token"),
    ("the operator", {"clusters.ci.gpu_stack": {"advertiser": "operator", "operator": 1}}, ""),
]


@pytest.mark.parametrize(
    ("changes", "path"),
    [each[1:] for each in FOLLOWS_IN_LANES],
    ids=[each[0] for each in FOLLOWS_IN_LANES],
)
def test_an_invalid_value_is_not_reported_as_missing(changes: dict[str, Any], path: str) -> None:
    (finding,) = refused(every_key(changes))
    assert finding.path == (path or "clusters.ci.gpu_stack.operator")


def test_all_errors_of_form_of_one_pool_and_one_lane_are_reported() -> None:
    findings = refused(
        every_key(
            {
                f"{T4}.instance_type": ["g4dn.xlarge"],
                f"{T4}.capacity_type": "spot",
                f"{T4}.labels": {"nvidia.com/x": "y"},
                f"{LANES}.gpu.group": 5,
                f"{LANES}.gpu.pools": ["t44"],
                f"{LANES}.big.min_runners": 9,
                f"{LANES}.big.env": {"NVIDIA_VISIBLE_DEVICES": "all"},
            }
        )
    )
    assert sorted(one.path for one in findings) == sorted(
        [
            f"{T4}.instance_type",
            f"{T4}.capacity_type",
            f"{T4}.labels.nvidia.com/x",
            f"{LANES}.gpu.group",
            f"{LANES}.gpu.pools",
            f"{LANES}.big.min_runners",
            f"{LANES}.big.env.NVIDIA_VISIBLE_DEVICES",
        ]
    )


def test_checks_run_only_on_a_file_without_an_error_of_form() -> None:
    too_large = {f"{LANES}.gpu.cpu": 99}
    assert [one.path for one in refused(every_key(too_large))] == [f"{LANES}.gpu.cpu"]
    findings = refused(every_key({**too_large, f"{LANES}.gpu.group": 5}))
    assert [one.path for one in findings] == [f"{LANES}.gpu.group"]


def test_every_null_of_a_file_is_reported() -> None:
    data = every_key({f"{T4}.sharing": None, "clusters.ci.gpu_stack.operator": None})
    findings = refused(data)
    assert [one.path for one in findings] == [f"{T4}.sharing", "clusters.ci.gpu_stack.operator"]
    assert {one.remedy for one in findings} == {
        "write a value, write {} for the defaults of a map, or remove the key"
    }


def test_the_data_of_a_stack_is_not_changed() -> None:
    data = every_key(EVERYTHING)
    refused(data)
    assert data == every_key(EVERYTHING)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_stack_has_no_warning(name: str) -> None:
    assert loaded(shipped_stack(name)).warnings == ()


def test_the_shipped_stacks_have_the_same_keys_in_the_same_order() -> None:
    def keys(data: Any) -> Any:
        """Keys in order, without those under names that a user chooses."""
        if not isinstance(data, dict):
            return None
        return [
            (key, None if key in ("clusters", "pools", "lanes") else keys(value))
            for key, value in data.items()
        ]

    staging, prod = (shipped_stack(name) for name in SHIPPED)
    assert keys(staging) == keys(prod)
    (model,) = staging["clusters"].values()
    of_model = dict(keys(model))
    for cluster in prod["clusters"].values():
        (kind,) = set(cluster) & set(KINDS)
        of_cluster = dict(keys(cluster))
        here, there = of_cluster.pop(kind), of_model["eks"]
        assert [key for key in cluster if key != kind] == [key for key in model if key != "eks"]
        assert next(iter(cluster)) == kind
        assert all(of_model[key] == below for key, below in of_cluster.items())
        if kind == "eks":
            assert here == there
        else:
            both = dict(here).keys() & dict(there)
            assert {"region", "version", "network", "api", "pools"} == both
            assert [key for key, _ in here if key in both] == [
                key for key, _ in there if key in both
            ]


def test_a_cluster_may_have_no_lanes() -> None:
    plan = loaded(every_key({"clusters.ci.github": GONE, "clusters.ci.gitlab": GONE})).plan
    assert (plan.clusters[0].github, plan.clusters[0].gitlab) == (None, None)


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
