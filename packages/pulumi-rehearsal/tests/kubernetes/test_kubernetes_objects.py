"""Every object of the stand-in cluster, and what its API server refuses."""

import pytest
from kubernetes_lab import (
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    KINDS,
    NAMESPACE,
    PRIORITY_CLASS,
    ROLE_BINDING,
    RUNTIME_CLASS,
    SECRET,
    STORAGE_CLASS,
    Lab,
    config_map,
    deployment,
)
from pulumi_rehearsal.standin import difference, schema
from pulumi_rehearsal.standin.kubernetes import cluster


def test_an_object_without_a_name_gets_one_that_it_keeps(lab: Lab):
    inputs = {"apiVersion": "v1", "kind": "Namespace", "metadata": {}}
    first = lab.check(NAMESPACE, inputs, "arc")
    assert first["metadata"]["name"].startswith("arc-")
    assert len(first["metadata"]["name"]) == len("arc-") + 8
    assert lab.check(NAMESPACE, inputs, "arc", old=first) == first


def test_a_given_name_is_not_kept_when_it_is_taken_away(lab: Lab):
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}
    unnamed = {**named, "metadata": {}}
    assert lab.check(NAMESPACE, unnamed, "arc", old=named)["metadata"]["name"] != "mine"


def test_a_named_object_that_is_replaced_is_deleted_first(lab: Lab):
    kind = KINDS[CONFIG_MAP]
    inputs = lab.check(CONFIG_MAP, config_map())
    assert kind.deletes_first("hooks", inputs, {**inputs, "data": {"a": "1"}})


def test_an_automatically_named_object_that_is_replaced_is_made_first(lab: Lab):
    kind = KINDS[CONFIG_MAP]
    inputs = lab.check(CONFIG_MAP, config_map(name=None))
    assert not kind.deletes_first("hooks", inputs, {**inputs, "data": {"a": "1"}})


def test_an_object_needs_its_namespace_in_the_same_cluster(lab: Lab, refused):
    lab.namespace("ci", scope="kubernetes:https://another")
    with refused("namespace 'ci' does not exist in this cluster"):
        lab.make(CONFIG_MAP, config_map())


def test_an_object_without_a_namespace_lands_in_default(lab: Lab):
    made = lab.make(CONFIG_MAP, config_map(namespace=None))
    assert made.id == "default/hooks"


def test_two_objects_of_a_kind_share_no_name(lab: Lab, refused):
    lab.namespace("ci")
    lab.make(CONFIG_MAP, config_map(), name="one")
    with refused("exists already"):
        lab.make(CONFIG_MAP, config_map(), name="two")


def test_the_same_name_is_free_in_another_cluster(lab: Lab):
    lab.namespace("ci")
    assert lab.namespace("ci", scope="kubernetes:https://another").id == "ci"


def test_an_object_is_checked_against_the_clusters_own_version(refused):
    lab = Lab("kubernetes:https://0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com")
    lab.eks(version="1.29")
    lab.namespace("ci")
    # spec.resources of a pod came with 1.32
    with refused("Kubernetes 1.29: Deployment .*'resources'"):
        lab.make(DEPLOYMENT, deployment(resources={"limits": {"cpu": "1"}}))


def test_a_secrets_text_arrives_as_data_and_both_stay_secret(lab: Lab):
    lab.namespace("ci")
    made = lab.secret("ci", "token", key="value")
    assert made.outputs["data"] == {"key": "dmFsdWU="}
    assert {"data", "stringData"} <= KINDS[SECRET].secret_outputs


def test_an_immutable_secret_keeps_its_data(lab: Lab, refused):
    metadata = {"name": "fixed"}
    made = lab.make(
        SECRET,
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "immutable": True,
            "stringData": {"k": "v"},
        },
    )
    with refused("is immutable"):
        lab.change(made, stringData={"k": "w"})


def test_an_update_keeps_the_objects_identity(lab: Lab):
    made = lab.namespace("ci")
    changed = lab.change(made, metadata={"labels": {"a": "b"}})
    assert changed.outputs["metadata"]["uid"] == made.outputs["metadata"]["uid"]
    assert changed.outputs["metadata"]["labels"] == {"a": "b"}


def test_a_namespace_with_a_helm_release_is_not_deleted(lab: Lab, refused):
    lab.controller()
    with refused("still holds the Helm release 'arc-system/arc'"):
        lab.remove(lab.world.get("arc-system", NAMESPACE, lab.scope))


def test_a_namespace_takes_its_objects_with_it(lab: Lab):
    namespace = lab.namespace("ci")
    lab.secret("ci", "token", key="value")
    lab.remove(namespace)
    assert len(lab.world) == 0
    assert any(
        event.name == "ci-token" and "went with" in event.detail for event in lab.world.journal
    )


def test_nothing_is_deleted_in_a_cluster_that_is_gone(eks_lab: Lab, refused):
    namespace = eks_lab.namespace("ci")
    eks = eks_lab.world.find("aws:eks/cluster:Cluster")
    eks_lab.world.remove(eks)
    eks_lab.world.record("deleted", eks)
    with refused("its cluster is gone"):
        eks_lab.remove(namespace)


def test_a_binding_to_a_role_that_is_not_there_is_refused(lab: Lab, refused):
    lab.namespace("ci")
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "runner"}
    inputs = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "x", "namespace": "ci"},
        "roleRef": reference,
    }
    with refused("names the Role 'runner', which is not in namespace 'ci'"):
        lab.make(ROLE_BINDING, inputs)


def test_a_binding_to_a_cluster_role_that_is_not_there_is_refused(lab: Lab, refused):
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "runner"}
    inputs = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "x"},
        "roleRef": reference,
    }
    with refused("names the ClusterRole 'runner'"):
        lab.make(CLUSTER_ROLE_BINDING, inputs)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"volumes": [{"name": "v", "configMap": {"name": "absent"}}]}, "ConfigMap 'absent'"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "absent"}}]}, "Secret 'absent'"),
        (
            {
                "volumes": [
                    {"name": "v", "projected": {"sources": [{"secret": {"name": "absent"}}]}}
                ]
            },
            "Secret 'absent'",
        ),
        (
            {
                "volumes": [
                    {
                        "name": "v",
                        "secret": {"secretName": "there", "items": [{"key": "b", "path": "b"}]},
                    }
                ]
            },
            "has no key 'b'",
        ),
        ({"serviceAccountName": "absent"}, "ServiceAccount 'absent'"),
        ({"priorityClassName": "absent"}, "PriorityClass 'absent'"),
        ({"runtimeClassName": "absent"}, "RuntimeClass 'absent'"),
        ({"imagePullSecrets": [{"name": "absent"}]}, "image pull Secret 'absent'"),
    ],
    ids=[
        "a ConfigMap volume",
        "a Secret volume",
        "a projected Secret",
        "a key of a Secret",
        "a service account",
        "a priority class",
        "a runtime class",
        "a pull secret",
    ],
)
def test_a_pod_that_refers_to_what_is_not_there_is_refused_for(lab: Lab, refused, spec, words):
    lab.namespace("ci")
    lab.secret("ci", "there", a="1")
    with refused(words):
        lab.make(DEPLOYMENT, deployment(**spec))


def test_a_pod_that_refers_to_what_is_there_is_made(lab: Lab):
    lab.namespace("ci")
    lab.secret("ci", "there", a="1")
    volume = {"name": "v", "secret": {"secretName": "there", "items": [{"key": "a", "path": "a"}]}}
    made = lab.make(
        DEPLOYMENT, deployment(volumes=[volume], priorityClassName="system-node-critical")
    )
    assert made.outputs["status"]["availableReplicas"] == 1


@pytest.mark.parametrize(
    ("token", "fields", "change"),
    [
        (PRIORITY_CLASS, {"value": 1}, {"value": 2}),
        (
            STORAGE_CLASS,
            {"provisioner": "ebs.csi.aws.com", "reclaimPolicy": "Delete"},
            {"reclaimPolicy": "Retain"},
        ),
        (RUNTIME_CLASS, {"handler": "nvidia"}, {"handler": "runc"}),
    ],
    ids=["a priority class's value", "a storage class's policy", "a runtime class's handler"],
)
def test_the_api_server_refuses_to_change(lab: Lab, refused, token, fields, change):
    api_version, kind = token.removeprefix("kubernetes:").rsplit(":", 1)
    made = lab.make(
        token, {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields}
    )
    with refused("is immutable and the provider does not replace on it"):
        lab.change(made, **change)


def test_there_is_one_default_priority_class(lab: Lab, refused):
    def inputs(name):
        return {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "value": 1,
            "globalDefault": True,
            "metadata": {"name": name},
        }

    lab.make(PRIORITY_CLASS, inputs("one"), name="one")
    with refused("'one' is the cluster's default already"):
        lab.make(PRIORITY_CLASS, inputs("two"), name="two")


def test_a_definition_with_living_sets_is_not_deleted(lab: Lab, refused):
    lab.controller()
    lab.scale_set()
    with refused("deleting it deletes 'runners/gpu'"):
        lab.remove(lab.world.get("autoscalingrunnersets.actions.github.com", DEFINITION, lab.scope))


def test_an_assumed_secret_is_in_every_cluster(lab: Lab):
    cluster.assume_secret(lab.world, "ci", "given", ("token",))
    found = cluster.find_object(lab.world, lab.scope, SECRET, "ci", "given")
    assert found is not None
    assert set(found.inputs["stringData"]) == {"token"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_exists_in_the_installed_sdk(kind):
    assert schema.args_class(kind.token) is not None


def test_the_engine_is_told_to_delete_a_named_object_first(lab: Lab):
    old = lab.check(CONFIG_MAP, config_map(data={"a": "1"}))
    new = lab.check(CONFIG_MAP, config_map(data={"a": "2"}), old=old)
    answer = difference.answer(KINDS[CONFIG_MAP], "hooks", old, new, difference.changes(old, new))
    assert (list(answer.replaces), answer.deleteBeforeReplace) == (["data"], True)


def test_a_secrets_data_changes_in_place(lab: Lab):
    def inputs(value):
        metadata = {"name": "x", "namespace": "ci"}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": value}

    old, new = (lab.check(SECRET, inputs({"k": value})) for value in ("v", "w"))
    answer = difference.answer(KINDS[SECRET], "x", old, new, difference.changes(old, new))
    assert (list(answer.diffs), list(answer.replaces)) == (["stringData"], [])
