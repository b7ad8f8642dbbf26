"""Helm releases of any chart: names, namespaces, nodes and revisions."""

import re

import pytest
from kubernetes_cluster import (
    EKS_SCOPE,
    GPU_GROUP,
    KINDS,
    RELEASE,
    SYSTEM_GROUP,
    Cluster,
    controller_inputs,
    gitlab_inputs,
)
from pulumi_rehearsal.standin.kind import UNKNOWN
from pulumi_rehearsal.standin.kubernetes.helm import CHARTS


def plain(**changes):
    base = {
        "chart": "podinfo",
        "name": "podinfo",
        "namespace": "apps",
        "repositoryOpts": {"repo": "https://charts.example.org"},
        "version": "6.9.0",
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"name": "n" * 54}, "name", "the limit is 53"),
        ({"name": "Pod_Info"}, "name", "lower-case"),
        ({"repositoryOpts": None}, "chart", "is in no repository"),
        ({"chart": "oci://example.org/podinfo"}, "repositoryOpts.repo", "must be left out"),
        ({"value": {}}, "value", "did you mean 'values'"),
    ],
    ids=[
        "a long name",
        "a bad name",
        "no repository",
        "two repositories",
        "an unknown property",
    ],
)
def test_check_refuses(cluster: Cluster, changes, path, reason):
    assert reason in cluster.invalid(RELEASE, plain(**changes))[path]


def test_automatic_name_is_kept(cluster: Cluster):
    first = cluster.check(RELEASE, plain(name=None), "podinfo")
    assert re.fullmatch("podinfo-[0-9a-f]{7}", first["name"])
    assert cluster.check(RELEASE, plain(name=None), "podinfo", old=first) == first


def test_check_accepts_unknown_inputs(cluster: Cluster):
    inputs = plain(name=UNKNOWN, namespace=UNKNOWN, version=UNKNOWN, values={"a": UNKNOWN})
    assert cluster.check(RELEASE, inputs)["name"] is UNKNOWN


def test_check_fills_in_namespace_and_timeout(cluster: Cluster):
    checked = cluster.check(RELEASE, plain(namespace=None))
    assert (checked["namespace"], checked["timeout"]) == ("default", 300)


def test_install_refuses_a_name_that_is_in_use(cluster: Cluster, refused):
    cluster.namespace("apps")
    cluster.release(plain())
    with refused("the name is still in use"):
        cluster.release(plain())


def test_name_may_exist_in_another_namespace(cluster: Cluster):
    cluster.namespace("apps")
    cluster.namespace("more")
    cluster.release(plain())
    assert cluster.release(plain(namespace="more")).id == "more/podinfo"


def test_install_refuses_a_missing_namespace(cluster: Cluster, refused):
    with refused("namespace 'apps' does not exist in this cluster"):
        cluster.release(plain())


def test_uninstall_keeps_a_namespace_that_the_release_created(cluster: Cluster):
    made = cluster.release(plain(createNamespace=True))
    cluster.delete(made)
    (left,) = cluster.world.all()
    assert left.id == "apps"
    assert cluster.world.is_kept(left), "Helm keeps it, so it is no failure of a destroy"


def test_install_refuses_a_cluster_with_tainted_nodes_only(refused):
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(GPU_GROUP)
    cluster.namespace("apps")
    with refused("no node without a taint"):
        cluster.release(plain())


def test_a_group_of_no_nodes_is_no_node(refused):
    cluster = Cluster(EKS_SCOPE)
    scaling = {"minSize": 0, "maxSize": 2, "desiredSize": 0}
    cluster.eks({**SYSTEM_GROUP, "scalingConfig": scaling})
    cluster.namespace("apps")
    with refused("no node without a taint"):
        cluster.release(plain())


def test_install_with_skip_await_needs_no_node():
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(GPU_GROUP)
    cluster.namespace("apps")
    assert cluster.release(plain(skipAwait=True)).id == "apps/podinfo"


def test_uninstall_refuses_a_release_of_a_deleted_cluster(eks_cluster: Cluster, refused):
    eks_cluster.namespace("apps")
    made = eks_cluster.release(plain())
    eks = eks_cluster.world.find("aws:eks/cluster:Cluster")
    eks_cluster.world.remove(eks)
    eks_cluster.world.record("deleted", eks)
    with refused("its cluster was deleted"):
        eks_cluster.delete(made)


def test_upgrade_increments_the_revision_and_keeps_the_id(cluster: Cluster):
    cluster.namespace("apps")
    made = cluster.release(plain())
    assert made.outputs["status"] == {
        "appVersion": "6.9.0",
        "chart": "podinfo",
        "name": "podinfo",
        "namespace": "apps",
        "revision": 1,
        "status": "deployed",
        "version": "6.9.0",
    }
    changed = cluster.change(made, version="6.9.1")
    assert (changed.id, changed.outputs["status"]["revision"]) == (made.id, 2)
    assert changed.outputs["status"]["version"] == "6.9.1"


def test_values_are_unchanged(cluster: Cluster):
    cluster.namespace("apps")
    values = {"replicas": 0, "flag": False, "none": None, "list": [1, "2"]}
    assert cluster.release(plain(values=values)).outputs["values"] == values


def test_only_name_and_namespace_replace_a_release():
    assert KINDS[RELEASE].replaced_on == {"name", "namespace"}
    assert not KINDS[RELEASE].deletes_first("x", plain(), plain(version="7.0.0"))


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_check_refuses_an_unknown_key_of(cluster: Cluster, chart):
    inputs = plain(chart=chart.name, values={"tolleration": []})
    assert "ignores this key" in cluster.invalid(RELEASE, inputs)["values.tolleration"]


def test_check_refuses_an_unknown_nested_key(cluster: Cluster):
    inputs = controller_inputs()
    inputs["values"] = {"flags": {"loglevel": "debug"}}
    assert "did you mean 'logLevel'" in cluster.invalid(RELEASE, inputs)["values.flags.loglevel"]


def test_check_gives_all_reasons_at_once(cluster: Cluster):
    inputs = gitlab_inputs()
    inputs["name"] = "Runner"
    inputs["values"] = {"typo": 1}
    found = cluster.invalid(RELEASE, inputs)
    assert {"name", "values.typo", "values.gitlabUrl", "values.runners.secret"} <= found.keys()
