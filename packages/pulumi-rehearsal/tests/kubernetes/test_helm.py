"""Helm releases in general: names, versions, namespaces, nodes and revisions."""

import pytest
from kubernetes_lab import (
    EKS_SCOPE,
    GPU_GROUP,
    KINDS,
    RELEASE,
    SYSTEM_GROUP,
    Lab,
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
        ({"version": None}, "version", "unpinned chart"),
        ({"version": "^6.9.0"}, "version", "unpinned chart"),
        ({"version": "latest"}, "version", "unpinned chart"),
        ({"name": None}, "name", "is missing"),
        ({"name": "n" * 54}, "name", "the limit is 53"),
        ({"name": "Pod_Info"}, "name", "lower-case"),
        ({"repositoryOpts": None}, "chart", "is in no repository"),
        ({"chart": "oci://example.org/podinfo"}, "repositoryOpts.repo", "must be left out"),
        ({"value": {}}, "value", "did you mean 'values'"),
    ],
    ids=[
        "no version",
        "a range",
        "a moving version",
        "no name",
        "a long name",
        "a bad name",
        "no repository",
        "two repositories",
        "a property the SDK does not know",
    ],
)
def test_a_release_is_refused_for(lab: Lab, changes, path, reason):
    assert reason in lab.invalid(RELEASE, plain(**changes))[path]


def test_a_version_with_a_leading_v_is_a_version(lab: Lab):
    assert lab.check(RELEASE, plain(version="v26.7.0"))["version"] == "v26.7.0"


def test_a_release_with_unknown_inputs_passes_the_check(lab: Lab):
    inputs = plain(name=UNKNOWN, namespace=UNKNOWN, version=UNKNOWN, values={"a": UNKNOWN})
    assert lab.check(RELEASE, inputs)["name"] is UNKNOWN


def test_the_provider_fills_in_namespace_and_timeout(lab: Lab):
    checked = lab.check(RELEASE, plain(namespace=None))
    assert (checked["namespace"], checked["timeout"]) == ("default", 300)


def test_a_release_name_is_used_once_in_a_cluster_and_namespace(lab: Lab, refused):
    lab.namespace("apps")
    lab.release(plain())
    with refused("the name is still in use"):
        lab.release(plain())


def test_the_same_release_name_is_free_in_another_namespace(lab: Lab):
    lab.namespace("apps")
    lab.namespace("more")
    lab.release(plain())
    assert lab.release(plain(namespace="more")).id == "more/podinfo"


def test_a_release_needs_its_namespace(lab: Lab, refused):
    with refused("namespace 'apps' does not exist in this cluster"):
        lab.release(plain())


def test_a_release_may_create_its_namespace_which_then_stays(lab: Lab):
    made = lab.release(plain(createNamespace=True))
    lab.remove(made)
    assert [thing.id for thing in lab.world.all()] == ["apps"]


def test_a_release_waits_for_a_node_that_is_not_there(refused):
    lab = Lab(EKS_SCOPE)
    lab.eks(GPU_GROUP)
    lab.namespace("apps")
    with refused("no node without a taint"):
        lab.release(plain())


def test_a_group_of_no_nodes_is_no_node(refused):
    lab = Lab(EKS_SCOPE)
    scaling = {"minSize": 0, "maxSize": 2, "desiredSize": 0}
    lab.eks({**SYSTEM_GROUP, "scalingConfig": scaling})
    lab.namespace("apps")
    with refused("no node without a taint"):
        lab.release(plain())


def test_a_release_that_does_not_wait_needs_no_node():
    lab = Lab(EKS_SCOPE)
    lab.eks(GPU_GROUP)
    lab.namespace("apps")
    assert lab.release(plain(skipAwait=True)).id == "apps/podinfo"


def test_a_release_is_not_uninstalled_from_a_cluster_that_is_gone(eks_lab: Lab, refused):
    eks_lab.namespace("apps")
    made = eks_lab.release(plain())
    eks = eks_lab.world.find("aws:eks/cluster:Cluster")
    eks_lab.world.remove(eks)
    eks_lab.world.record("deleted", eks)
    with refused("its cluster is gone"):
        eks_lab.remove(made)


def test_an_upgrade_counts_revisions_and_keeps_the_id(lab: Lab):
    lab.namespace("apps")
    made = lab.release(plain())
    assert made.outputs["status"] == {
        "appVersion": "6.9.0",
        "chart": "podinfo",
        "name": "podinfo",
        "namespace": "apps",
        "revision": 1,
        "status": "deployed",
        "version": "6.9.0",
    }
    changed = lab.change(made, version="6.9.1")
    assert (changed.id, changed.outputs["status"]["revision"]) == (made.id, 2)
    assert changed.outputs["status"]["version"] == "6.9.1"


def test_values_are_kept_as_they_are(lab: Lab):
    lab.namespace("apps")
    values = {"replicas": 0, "flag": False, "none": None, "list": [1, "2"]}
    assert lab.release(plain(values=values)).outputs["values"] == values


def test_only_name_and_namespace_replace_a_release():
    assert KINDS[RELEASE].replaced_on == {"name", "namespace"}
    assert not KINDS[RELEASE].deletes_first("x", plain(), plain(version="7.0.0"))


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_a_key_that_a_chart_does_not_know_is_refused(lab: Lab, chart):
    inputs = plain(chart=chart.name, values={"tolleration": []})
    assert "would ignore it" in lab.invalid(RELEASE, inputs)["values.tolleration"]


def test_a_nested_key_that_a_chart_does_not_know_is_refused(lab: Lab):
    inputs = controller_inputs()
    inputs["values"] = {"flags": {"loglevel": "debug"}}
    assert "did you mean 'logLevel'" in lab.invalid(RELEASE, inputs)["values.flags.loglevel"]


def test_all_objections_of_a_release_come_at_once(lab: Lab):
    inputs = gitlab_inputs()
    inputs["version"] = "*"
    inputs["values"] = {"gitlabUrl": "http://gitlab.example.org", "typo": 1}
    found = lab.invalid(RELEASE, inputs)
    assert {"version", "values.typo", "values.gitlabUrl", "values.runners.secret"} <= found.keys()
