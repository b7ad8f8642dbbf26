"""Every object of the stand-in cluster, and what its API server refuses."""

import pytest
from kubernetes_lab import CONFIG_MAP, DEFINITION, KINDS, NAMESPACE, SECRET, Lab

from rehearsal.standin import schema
from rehearsal.standin.kind import UNKNOWN
from rehearsal.standin.kubernetes import cluster
from rehearsal.standin.kubernetes.arc_definitions import definition

PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
RUNTIME_CLASS = "kubernetes:node.k8s.io/v1:RuntimeClass"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
CLUSTER_ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
CRON_JOB = "kubernetes:batch/v1:CronJob"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


def config_map(namespace="ci", name="hooks", **fields):
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def deployment(**spec):
    labels = {"app": "x"}
    pod = {"containers": [{"name": "main", "image": "busybox"}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "ci"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def cron_job(name="cleanup", schedule="*/10 * * * *"):
    pod = {"containers": [{"name": "main", "image": "busybox"}], "restartPolicy": "Never"}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name, "namespace": "ci"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": {"spec": pod}}}},
    }


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


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
    [
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v2", "kind": "Namespace", "metadata": {"name": "x"}},
            "apiVersion", "must be 'v1'",
            id="another apiVersion than the resource's",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "Upper"}},
            "metadata.name", "lower-case",
            id="an upper-case name",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n" * 64}},
            "metadata.name", "limit is 63",
            id="a namespace of 64 characters",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}},
            "metadata.name", "in every cluster already",
            id="a namespace that each cluster has",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "labels": {"a": "b c"}}},
            "metadata.labels.a", "must be letters",
            id="a label value with a space",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "labels": {"-a": "b"}}},
            "metadata.labels.-a", "begin and end",
            id="a label key that begins with a dash",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "annotations": {"a/b/c": "d"}}},
            "metadata.annotations.a/b/c", "DNS name",
            id="an annotation key with two slashes",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "label": {}}},
            "metadata.label", "has no property 'label'",
            id="a property that the SDK does not know",
        ),
        pytest.param(
            SECRET,
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"k": "not base64"}},
            "data.k", "is not base64",
            id="data that is not base64",
        ),
        pytest.param(
            SECRET,
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "stringData": {"a b": "c"}},
            "stringData.a b", "must be at most 253",
            id="a Secret key with a space",
        ),
        pytest.param(
            CONFIG_MAP, config_map(data={"k": "v" * (1024 * 1024 + 1)}), "data", "the limit is 1048576",
            id="a ConfigMap over one MiB",
        ),
        pytest.param(
            CONFIG_MAP, config_map(data={"k": "v"}, binaryData={"k": "dg=="}), "data.k", "binaryData too",
            id="a key in data and binaryData",
        ),
        pytest.param(
            PRIORITY_CLASS,
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1,
             "metadata": {"name": "system-mine"}},
            "metadata.name", "reserved",
            id="a priority class with the system's prefix",
        ),
        pytest.param(
            PRIORITY_CLASS,
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 2_000_000_000,
             "metadata": {"name": "high"}},
            "value", "at most 1000000000",
            id="a priority above the user's range",
        ),
        pytest.param(
            PRIORITY_CLASS,
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1,
             "metadata": {"name": "high", "namespace": "ci"}},
            "metadata.namespace", "belongs to no namespace",
            id="a namespace on a cluster-wide object",
        ),
        pytest.param(
            CLUSTER_ROLE_BINDING,
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "x"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}},
            "roleRef.kind", "must be 'ClusterRole'",
            id="a Role in a ClusterRoleBinding",
        ),
        pytest.param(
            CLUSTER_ROLE_BINDING,
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "x"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
             "subjects": [{"kind": "ServiceAccount", "name": "x"}]},
            "subjects[0].namespace", "is needed",
            id="a service account without its namespace",
        ),
        pytest.param(CRON_JOB, cron_job(schedule="every day"), "spec.schedule", "five fields",
                     id="a schedule that is none"),
        pytest.param(CRON_JOB, cron_job(name="n" * 53), "metadata.name", "limit for a CronJob is 52",
                     id="a CronJob of 53 characters"),
        pytest.param(
            DEPLOYMENT,
            deployment(containers=[{"name": "main", "image": "x",
                                    "resources": {"requests": {"nvidia.com/gpu": "1"}}}]),
            "spec.template.spec.containers[0].resources.requests.nvidia.com/gpu", "set the limit too",
            id="a GPU request without a limit",
        ),
        pytest.param(
            DEPLOYMENT,
            deployment(containers=[{"name": "main", "image": "x",
                                    "resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1500Mi"}}}]),
            "spec.template.spec.containers[0].resources.requests.memory", "more than the limit",
            id="a request above its limit",
        ),
        pytest.param(
            DEPLOYMENT,
            deployment(containers=[{"name": "main", "image": "x", "resources": {"limits": {"cpu": "two"}}}]),
            "spec.template.spec.containers[0].resources.limits.cpu", "is no quantity",
            id="a limit that is no quantity",
        ),
    ],
)  # fmt: skip
def test_an_object_is_refused_for(lab: Lab, token, inputs, path, reason):
    found = lab.invalid(token, inputs)
    assert path in found, f"the objection belongs to {path}: {found}"
    assert reason in found[path]


def test_a_selector_that_does_not_select_its_own_pods_is_refused(lab: Lab):
    inputs = deployment()
    inputs["spec"]["selector"]["matchLabels"] = {"app": "y"}
    assert "as the selector does" in lab.invalid(DEPLOYMENT, inputs)["spec.template.metadata.labels"]


def test_a_definition_is_called_after_its_plural_and_group(lab: Lab):
    inputs = definition("ephemeralrunners", None)
    inputs["metadata"] = {"name": "runners.actions.github.com"}
    assert "ephemeralrunners.actions.github.com" in lab.invalid(DEFINITION, inputs)["metadata.name"]


def test_a_definition_stores_exactly_one_version(lab: Lab):
    inputs = definition("ephemeralrunners", None)
    inputs["spec"]["versions"][0]["storage"] = False
    assert "exactly one" in lab.invalid(DEFINITION, inputs)["spec.versions"]


def test_what_the_engine_does_not_know_yet_passes(lab: Lab):
    inputs = config_map(namespace=UNKNOWN, name=UNKNOWN, data={"k": UNKNOWN})
    assert lab.check(CONFIG_MAP, inputs)["data"]["k"] is UNKNOWN


def test_an_objection_never_holds_the_value(lab: Lab):
    metadata = {"name": "x"}
    inputs = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"k": "hunter2 "}}
    assert "hunter2" not in str(lab.invalid(SECRET, inputs))


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
    made = lab.make(SECRET, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata,
                             "immutable": True, "stringData": {"k": "v"}})  # fmt: skip
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
    assert any(event.name == "ci-token" and "went with" in event.detail for event in lab.world.journal)


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
    inputs = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
              "metadata": {"name": "x", "namespace": "ci"}, "roleRef": reference}  # fmt: skip
    with refused("names the Role 'runner', which is not in namespace 'ci'"):
        lab.make(ROLE_BINDING, inputs)


def test_a_binding_to_a_cluster_role_that_is_not_there_is_refused(lab: Lab, refused):
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "runner"}
    inputs = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
              "metadata": {"name": "x"}, "roleRef": reference}  # fmt: skip
    with refused("names the ClusterRole 'runner'"):
        lab.make(CLUSTER_ROLE_BINDING, inputs)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"volumes": [{"name": "v", "configMap": {"name": "absent"}}]}, "ConfigMap 'absent'"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "absent"}}]}, "Secret 'absent'"),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "absent"}}]}}]},
         "Secret 'absent'"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "there", "items": [{"key": "b", "path": "b"}]}}]},
         "has no key 'b'"),
        ({"serviceAccountName": "absent"}, "ServiceAccount 'absent'"),
        ({"priorityClassName": "absent"}, "PriorityClass 'absent'"),
        ({"runtimeClassName": "absent"}, "RuntimeClass 'absent'"),
        ({"imagePullSecrets": [{"name": "absent"}]}, "image pull Secret 'absent'"),
    ],
    ids=["a ConfigMap volume", "a Secret volume", "a projected Secret", "a key of a Secret",
         "a service account", "a priority class", "a runtime class", "a pull secret"],
)  # fmt: skip
def test_a_pod_that_refers_to_what_is_not_there_is_refused_for(lab: Lab, refused, spec, words):
    lab.namespace("ci")
    lab.secret("ci", "there", a="1")
    with refused(words):
        lab.make(DEPLOYMENT, deployment(**spec))


def test_a_pod_that_refers_to_what_is_there_is_made(lab: Lab):
    lab.namespace("ci")
    lab.secret("ci", "there", a="1")
    volume = {"name": "v", "secret": {"secretName": "there", "items": [{"key": "a", "path": "a"}]}}
    made = lab.make(DEPLOYMENT, deployment(volumes=[volume], priorityClassName="system-node-critical"))
    assert made.outputs["status"]["availableReplicas"] == 1


@pytest.mark.parametrize(
    ("token", "fields", "change"),
    [
        (PRIORITY_CLASS, {"value": 1}, {"value": 2}),
        (STORAGE_CLASS, {"provisioner": "ebs.csi.aws.com", "reclaimPolicy": "Delete"},
         {"reclaimPolicy": "Retain"}),
        (RUNTIME_CLASS, {"handler": "nvidia"}, {"handler": "runc"}),
    ],
    ids=["a priority class's value", "a storage class's policy", "a runtime class's handler"],
)  # fmt: skip
def test_the_api_server_refuses_to_change(lab: Lab, refused, token, fields, change):
    api_version, kind = token.removeprefix("kubernetes:").rsplit(":", 1)
    made = lab.make(token, {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields})
    with refused("is immutable and the provider does not replace on it"):
        lab.change(made, **change)


def test_there_is_one_default_priority_class(lab: Lab, refused):
    def inputs(name):
        return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1,
                "globalDefault": True, "metadata": {"name": name}}  # fmt: skip

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
