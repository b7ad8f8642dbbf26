"""Length and uniqueness of names, counted with the prefixes and suffixes that are added."""

from typing import Any

import pytest

from fleet.catalog.limits import SCALE_SET
from tests.fleet.checks.planted import found, stack_of
from tests.fleet.samples import every_key, loaded

CI = "clusters.ci"
LANES = f"{CI}.github.lanes"
OTHER = "clusters.existing.github"
GPU = {"instance_types": ["g5.xlarge"], "max_size": 1}


def gpu_lane(*pools: str, **more: Any) -> dict[str, Any]:
    return {"pools": list(pools), "gpus": 1, "max_runners": 1, **more}


def test_a_node_group_name_leaves_room_for_its_suffix() -> None:
    cluster = every_key()["clusters"]["ci"]
    name = "c" * 30
    cluster["eks"]["pools"]["p" * 25] = GPU
    data = {"clusters": {name: cluster}}
    (finding,) = found("node-group-name", data)
    assert (finding.severity, finding.path) == ("error", f"clusters.{name}.eks.pools.{'p' * 25}")
    assert finding.message == (
        f"the node group's name would have 64 characters ({name}-{'p' * 25} and a suffix of 8), "
        "but EKS allows 63: it would refuse the node group"
    )
    assert finding.remedy == "shorten the name of the pool or of the cluster"
    cluster["eks"]["pools"]["p" * 24] = cluster["eks"]["pools"].pop("p" * 25)
    assert found("node-group-name", data) == []


def two(kind: str) -> dict[str, Any]:
    """Return clusters a and a-b, whose pools b-c and c meet."""
    data = every_key()["clusters"]["existing" if kind == "eks" else "oci"]
    more = GPU if kind == "eks" else {"shape": "VM.GPU.A10.1", "max_size": 1}
    first = {**data, kind: {**data[kind], "pools": {**data[kind]["pools"], "b-c": more}}}
    second = {**data, kind: {**data[kind], "pools": {**data[kind]["pools"], "c": more}}}
    del second["github"]
    return {"clusters": {"a": first, "a-b": second}}


@pytest.mark.parametrize(("kind", "what"), [("eks", "node group"), ("oke", "node pool")])
def test_pools_of_two_clusters_are_two_resources(kind: str, what: str) -> None:
    data = two(kind)
    (finding,) = found("resource-name", data)
    assert (finding.severity, finding.path) == ("error", f"clusters.a-b.{kind}.pools.c")
    assert finding.message == (
        f"its {what} would be called a-b-c, like that of clusters.a.{kind}.pools.b-c: Pulumi "
        "refuses two resources of one name"
    )
    assert finding.remedy == "rename it, or one of the clusters"
    data["clusters"]["b"] = data["clusters"].pop("a-b")
    assert found("resource-name", data) == []


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_lanes_of_two_clusters_are_two_resources(forge: str) -> None:
    data = every_key()
    lane = {"pools": ["t4"], "gpus": 1}
    lane |= {"max_runners": 1} if forge == "github" else {"existing_secret": "token"}
    side = {"existing_secret": "app", "url": "https://github.com/example-org/x"}
    side = side if forge == "github" else {}
    other = data["clusters"]["existing"]
    first = {"eks": other["eks"], forge: {**side, "lanes": {f"b-{forge}-c": lane}}}
    second = {"eks": other["eks"], forge: {**side, "lanes": {"c": lane}}}
    (finding,) = found("resource-name", {"clusters": {"a": first, f"a-{forge}-b": second}})
    assert finding.path == f"clusters.a-{forge}-b.{forge}.lanes.c"
    assert f"its {forge} lane would be called a-{forge}-b-{forge}-c" in finding.message


def test_a_namespace_that_two_lanes_name_is_one() -> None:
    access = {"namespaces": ["ci-jobs"]}
    lanes = {
        name: {"pools": ["p"], "gpus": 1, "kubernetes_access": access} for name in ("one", "two")
    }
    data = stack_of({"p": GPU}, lanes)
    assert found("resource-name", data) == []
    data["clusters"]["ci-jobs-x"] = data["clusters"]["ci"]
    access["namespaces"] = ["x-jobs-y", "y"]
    (finding,) = found("resource-name", data)
    assert finding.path == "clusters.ci-jobs-x.github.lanes.one.kubernetes_access.namespaces"
    assert "its namespace would be called ci-jobs-x-jobs-y" in finding.message


def test_the_longest_names_stay_within_all_limits() -> None:
    lane, pool, cluster = "l" * 45, "p" * 20, "c" * 34
    data = every_key()["clusters"]["ci"]
    data["eks"]["pools"] = {"system": data["eks"]["pools"]["system"], pool: GPU}
    access = {"namespaces": ["n" * 63]}
    data["github"]["lanes"] = {lane: gpu_lane(pool, kubernetes_access=access)}
    data["gitlab"]["lanes"] = {lane: {"pools": [pool], "gpus": 1, "runner": {"group_id": 1}}}
    (plan,) = loaded({"clusters": {cluster: data}}).plan.clusters
    assert plan.github is not None
    assert plan.gitlab is not None
    for one in (*plan.github.lanes, *plan.gitlab.lanes):
        assert len(one.release.name) <= 53, "Helm refuses a longer one"
    assert len(plan.github.lanes[0].release.name) == SCALE_SET.max_length
    assert len(f"{lane}-01234567-listener") == 63, "ARC names a listener so"
    assert len(lane) == SCALE_SET.max_length
    suffix = len("-0123456")
    assert len(f"{'c' * 36}-autoscaler-role") + suffix <= 64
    assert len(f"{'c' * 36}-eks-control-plane") + suffix <= 64
    assert all(len(value) <= 63 for one in plan.pools for value in one.labels)


@pytest.mark.parametrize(
    "url", ["https://github.com/example-org/", "https://GitHub.com/Example-Org"]
)
def test_two_scale_sets_of_one_name_and_group_are_an_error(url: str) -> None:
    changes = {f"{OTHER}.url": url, f"{OTHER}.lanes.gpu": gpu_lane("t4", group="GPUs")}
    (finding,) = found("scale-set-name", every_key(changes))
    assert (finding.severity, finding.path) == ("error", f"{OTHER}.lanes.gpu")
    assert f"{LANES}.gpu" in finding.message
    assert "another runner group" in finding.remedy


@pytest.mark.parametrize("group", [{}, {"group": "default"}])
def test_scale_sets_without_a_group_are_in_one(group: dict[str, str]) -> None:
    changes = {
        f"{OTHER}.url": "https://github.com/example-org",
        f"{OTHER}.lanes.big": gpu_lane("t4", **group),
    }
    (finding,) = found("scale-set-name", every_key(changes))
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
    assert found("scale-set-name", every_key(changes)) == []


def jobs_in(**access: Any) -> dict[str, Any]:
    lane = {"pools": ["p"], "gpus": 1, "kubernetes_access": access}
    return stack_of({"p": GPU}, {"gpu": lane})


@pytest.mark.parametrize("key", ["namespaces", "existing_namespaces"])
@pytest.mark.parametrize("name", ["a.b", "n" * 64])
def test_a_namespace_is_a_dns_label(key: str, name: str) -> None:
    (finding,) = found("namespace-name", jobs_in(**{key: [name]}))
    assert (finding.severity, finding.path) == ("error", f"{LANES}.gpu.kubernetes_access.{key}")
    assert finding.message == f"has {name}, which Kubernetes refuses as a namespace"
    assert found("namespace-name", jobs_in(**{key: ["n" * 63]})) == []


def test_a_namespace_of_this_program_is_refused_for_jobs() -> None:
    data = jobs_in(namespaces=["nvidia-device-plugin"])
    (finding,) = found("namespace-name", data)
    assert finding.path == f"{LANES}.gpu.kubernetes_access.namespaces"
    assert "which this program creates for nvidia-device-plugin" in finding.message
    assert found("namespace-name", jobs_in(namespaces=["gpu-operator"])) == [], "not installed"
    changes = {
        "clusters.honey.github.lanes.mig.kubernetes_access": {"namespaces": ["host-devices"]}
    }
    (finding,) = found("namespace-name", every_key(changes))
    assert "for host devices" in finding.message


def test_a_tag_of_more_than_255_characters_is_an_error() -> None:
    lane = f"{CI}.gitlab.lanes.gl"
    (finding,) = found("gitlab-tag", every_key({f"{lane}.tags": ["gpu", "t" * 256]}))
    assert (finding.severity, finding.path) == ("error", f"{lane}.tags")
    assert "has a tag of 256 characters" in finding.message
    assert found("gitlab-tag", every_key({f"{lane}.tags": ["gpu", "t" * 255]})) == []
