"""Objects in a cluster: names, namespaces, references, updates and deletion."""

import contextlib

import pytest
from kubernetes_cluster import (
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    KINDS,
    NAMESPACE,
    ROLE_BINDING,
    SECRET,
    Cluster,
    config_map,
    deployment,
)
from pulumi_rehearsal import existing
from pulumi_rehearsal.standin import difference, schema
from pulumi_rehearsal.standin.kubernetes import cluster as clusters
from pulumi_rehearsal.standin.kubernetes.arc import RUNNER_SET


def test_automatic_name_is_kept(cluster: Cluster):
    inputs = {"apiVersion": "v1", "kind": "Namespace", "metadata": {}}
    first = cluster.check(NAMESPACE, inputs, "arc")
    assert first["metadata"]["name"].startswith("arc-")
    assert len(first["metadata"]["name"]) == len("arc-") + 8
    assert cluster.check(NAMESPACE, inputs, "arc", old=first) == first


def test_given_name_is_not_kept_after_its_removal(cluster: Cluster):
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}
    unnamed = {**named, "metadata": {}}
    assert cluster.check(NAMESPACE, unnamed, "arc", old=named)["metadata"]["name"] != "mine"


def test_replacement_with_an_automatic_name_creates_first(cluster: Cluster):
    kind = KINDS[CONFIG_MAP]
    inputs = cluster.check(CONFIG_MAP, config_map(name=None))
    assert not kind.deletes_first("hooks", inputs, {**inputs, "data": {"a": "1"}})


def test_create_refuses_a_namespace_of_another_cluster(cluster: Cluster, refused):
    cluster.namespace("ci", scope="kubernetes:https://another")
    with refused("namespace 'ci' does not exist in this cluster"):
        cluster.create(CONFIG_MAP, config_map())


def test_object_without_a_namespace_is_in_default(cluster: Cluster):
    made = cluster.create(CONFIG_MAP, config_map(namespace=None))
    assert made.id == "default/hooks"


def test_create_refuses_a_name_that_exists(cluster: Cluster, refused):
    cluster.namespace("ci")
    cluster.create(CONFIG_MAP, config_map(), name="one")
    with refused('resource ci/hooks was not .* : configmaps "hooks" already exists'):
        cluster.create(CONFIG_MAP, config_map(), name="two")


def test_create_names_the_group_of_an_object_that_exists(cluster: Cluster, refused):
    cluster.namespace("ci")
    cluster.create(DEPLOYMENT, deployment(), name="one")
    with refused('resource ci/x was .* : deployments.apps "x" already exists'):
        cluster.create(DEPLOYMENT, deployment(), name="two")


def test_create_refuses_an_object_that_existed_before(cluster: Cluster, refused):
    cluster.world.add(existing.namespace("ci"))
    with refused('namespaces "ci" already exists'):
        cluster.namespace("ci")


@pytest.mark.parametrize("value", [True, "true"])
def test_provider_with_upserts_takes_over_what_exists(cluster: Cluster, value):
    cluster.namespace("ci")
    first = cluster.create(CONFIG_MAP, config_map(data={"a": "1"}), name="one")
    cluster.settings = {"upsertExistingObjects": value}
    second = cluster.create(CONFIG_MAP, config_map(data={"a": "2"}), name="two")
    (found,) = cluster.world.all(CONFIG_MAP)
    assert (found.urn, found.inputs["data"]) == (second.urn, {"a": "2"})
    assert second.outputs["metadata"]["uid"] == first.outputs["metadata"]["uid"]


def test_settings_of_a_provider_are_not_part_of_its_scope():
    kubeconfig = {"kubeconfig": "{}", "context": "c"}
    assert clusters.scope({**kubeconfig, "upsertExistingObjects": "true"}) == clusters.scope(
        kubeconfig
    )


def test_name_may_exist_in_another_cluster(cluster: Cluster):
    cluster.namespace("ci")
    assert cluster.namespace("ci", scope="kubernetes:https://another").id == "ci"


def test_create_validates_against_the_version_of_the_cluster(refused):
    cluster = Cluster("kubernetes:https://0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com")
    cluster.eks(version="1.29")
    cluster.namespace("ci")
    # spec.resources of a pod came with 1.32
    with refused("Kubernetes 1.29: Deployment .*'resources'"):
        cluster.create(DEPLOYMENT, deployment(resources={"limits": {"cpu": "1"}}))


def test_string_data_of_a_secret_is_in_data_and_both_are_secret(cluster: Cluster):
    cluster.namespace("ci")
    made = cluster.secret("ci", "token", key="value")
    assert made.outputs["data"] == {"key": "dmFsdWU="}
    assert {"data", "stringData"} <= KINDS[SECRET].secret_outputs


def test_update_refuses_data_of_an_immutable_secret(cluster: Cluster, refused):
    metadata = {"name": "fixed"}
    made = cluster.create(
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
        cluster.change(made, stringData={"k": "w"})


def test_update_keeps_the_uid(cluster: Cluster):
    made = cluster.namespace("ci")
    changed = cluster.change(made, metadata={"labels": {"a": "b"}})
    assert changed.outputs["metadata"]["uid"] == made.outputs["metadata"]["uid"]
    assert changed.outputs["metadata"]["labels"] == {"a": "b"}


def test_delete_refuses_a_namespace_with_a_helm_release(cluster: Cluster, refused):
    cluster.controller()
    with refused("still holds the Helm release 'arc-system/arc'"):
        cluster.delete(cluster.world.get("arc-system", NAMESPACE, cluster.home))


def test_delete_of_a_namespace_deletes_its_objects(cluster: Cluster):
    namespace = cluster.namespace("ci")
    cluster.secret("ci", "token", key="value")
    cluster.delete(namespace)
    assert len(cluster.world) == 0
    assert any(
        event.name == "ci-token" and "deleted with" in event.detail
        for event in cluster.world.journal
    )


def test_delete_refuses_an_object_of_a_deleted_cluster(eks_cluster: Cluster, refused):
    namespace = eks_cluster.namespace("ci")
    eks = eks_cluster.world.find("aws:eks/cluster:Cluster")
    eks_cluster.world.remove(eks)
    eks_cluster.world.record("deleted", eks)
    with refused("its cluster was deleted"):
        eks_cluster.delete(namespace)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("Role", "runner", "names the Role 'runner', which is not in namespace 'ci'"),
        ("ClusterRole", "runner", "names the ClusterRole 'runner', which is not in the cluster"),
        ("ClusterRole", "view", ""),
    ],
    ids=["a missing Role", "a missing ClusterRole", "a built-in ClusterRole"],
)
def test_role_binding_to(cluster: Cluster, refused, kind, name, message):
    cluster.namespace("ci")
    inputs = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "x", "namespace": "ci"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
    }
    with refused(message) if message else contextlib.nullcontext():
        cluster.create(ROLE_BINDING, inputs)


@pytest.mark.parametrize(
    ("spec", "message"),
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
        "ConfigMap",
        "Secret",
        "projected Secret",
        "key of a Secret",
        "ServiceAccount",
        "PriorityClass",
        "RuntimeClass",
        "pull Secret",
    ],
)
def test_create_refuses_a_pod_with_a_missing(cluster: Cluster, refused, spec, message):
    cluster.namespace("ci")
    cluster.secret("ci", "there", a="1")
    with refused(message):
        cluster.create(DEPLOYMENT, deployment(**spec))


def test_create_accepts_a_pod_with_existing_references(cluster: Cluster):
    cluster.namespace("ci")
    cluster.secret("ci", "there", a="1")
    volume = {"name": "v", "secret": {"secretName": "there", "items": [{"key": "a", "path": "a"}]}}
    cluster.world.add(existing.runtime_class("nvidia"))
    made = cluster.create(
        DEPLOYMENT,
        deployment(
            volumes=[volume],
            priorityClassName="system-node-critical",
            runtimeClassName="nvidia",
        ),
    )
    assert made.outputs["status"]["availableReplicas"] == 1


def test_update_refuses_a_field_that_the_api_server_does_not_change(cluster: Cluster, refused):
    definition = cluster.definitions()[0]
    with refused("spec.scope is immutable and the provider does not replace on it"):
        cluster.change(definition, spec={"scope": "Cluster"})


def test_delete_refuses_a_definition_with_scale_sets(cluster: Cluster, refused):
    cluster.controller()
    cluster.scale_set()
    with refused("deleting it deletes 'runners/gpu'"):
        cluster.delete(
            cluster.world.get("autoscalingrunnersets.actions.github.com", DEFINITION, cluster.home)
        )


def test_existing_secret_is_in_every_cluster(cluster: Cluster):
    cluster.world.add(existing.secret("ci", "given", ["token"]))
    found = clusters.find_object(cluster.world, cluster.home, SECRET, "ci", "given")
    assert found is not None
    assert set(found.inputs["stringData"]) == {"token"}


@pytest.mark.parametrize("where", [None, "https://10.0.0.1:6443"])
def test_existing_namespace_is_read_and_not_created(cluster: Cluster, refused, where):
    cluster.world.add(existing.namespace("ci", cluster=where))
    assert KINDS[NAMESPACE].read("ci", cluster.home, cluster.world) is not None
    with refused('namespaces "ci" already exists'):
        cluster.namespace("ci")


def test_existing_object_of_another_cluster_is_not_in_this_one(eks_cluster: Cluster):
    eks_cluster.world.add(existing.secret("ci", "given", cluster="another"))
    eks_cluster.world.add(existing.secret("ci", "mine", cluster="ci"))
    found = [
        clusters.find_object(eks_cluster.world, eks_cluster.home, SECRET, "ci", name)
        for name in ("given", "mine")
    ]
    assert found[0] is None
    assert found[1] is not None


@pytest.mark.parametrize(("where", "holds"), [(None, True), ("another", False)])
def test_delete_refuses_a_namespace_with_what_others_made(cluster: Cluster, refused, where, holds):
    namespace = cluster.namespace("ci")
    cluster.world.add(existing.secret("ci", "theirs", cluster=where))
    reason = "namespace 'ci' holds the Secret 'theirs', which the program did not create"
    with refused(reason) if holds else contextlib.nullcontext():
        cluster.delete(namespace)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_sdk_has_each_kind(kind):
    is_custom_resource = kind.token == RUNNER_SET
    assert (schema.args_class(kind.token) is None) == is_custom_resource


@pytest.mark.parametrize(
    ("token", "setting"),
    [(CONFIG_MAP, "enableConfigMapMutable"), (SECRET, "enableSecretMutable")],
    ids=["ConfigMap", "Secret"],
)
@pytest.mark.parametrize(
    ("value", "replaces"), [("true", []), (True, []), ("false", ["data"]), (None, ["data"])]
)
def test_data_changes_in_place_if_the_provider_allows_it(token, setting, value, replaces):
    old, new = {"data": {"a": "MQ=="}}, {"data": {"a": "Mg=="}}
    changed, settings = difference.changes(old, new), {setting: value}
    answer = difference.answer(KINDS[token], "x", old, new, changed, settings=settings)
    assert list(answer.replaces) == replaces


def test_diff_of_a_config_map_replaces_and_deletes_first(cluster: Cluster):
    old = cluster.check(CONFIG_MAP, config_map(data={"a": "1"}))
    new = cluster.check(CONFIG_MAP, config_map(data={"a": "2"}), old=old)
    answer = difference.answer(KINDS[CONFIG_MAP], "hooks", old, new, difference.changes(old, new))
    assert (list(answer.replaces), answer.deleteBeforeReplace) == (["data"], True)
