"""What the check of an object refuses before anything is made."""

import pytest
from kubernetes_lab import (
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    CRON_JOB,
    DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    PRIORITY_CLASS,
    SECRET,
    Lab,
    config_map,
    cron_job,
    deployment,
)
from pulumi_rehearsal.standin.kind import UNKNOWN
from pulumi_rehearsal.standin.kubernetes.arc_definitions import definition


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
    [
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v2", "kind": "Namespace", "metadata": {"name": "x"}},
            "apiVersion",
            "must be 'v1'",
            id="another apiVersion than the resource's",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "Upper"}},
            "metadata.name",
            "lower-case",
            id="an upper-case name",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n" * 64}},
            "metadata.name",
            "limit is 63",
            id="a namespace of 64 characters",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}},
            "metadata.name",
            "in every cluster already",
            id="a namespace that each cluster has",
        ),
        pytest.param(
            NAMESPACE,
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "x", "labels": {"a": "b c"}},
            },
            "metadata.labels.a",
            "must be letters",
            id="a label value with a space",
        ),
        pytest.param(
            NAMESPACE,
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "x", "labels": {"-a": "b"}},
            },
            "metadata.labels.-a",
            "begin and end",
            id="a label key that begins with a dash",
        ),
        pytest.param(
            NAMESPACE,
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "x", "annotations": {"a/b/c": "d"}},
            },
            "metadata.annotations.a/b/c",
            "DNS name",
            id="an annotation key with two slashes",
        ),
        pytest.param(
            NAMESPACE,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x", "label": {}}},
            "metadata.label",
            "has no property 'label'",
            id="a property that the SDK does not know",
        ),
        pytest.param(
            SECRET,
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "x"},
                "data": {"k": "not base64"},
            },
            "data.k",
            "is not base64",
            id="data that is not base64",
        ),
        pytest.param(
            SECRET,
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "x"},
                "stringData": {"a b": "c"},
            },
            "stringData.a b",
            "must be at most 253",
            id="a Secret key with a space",
        ),
        pytest.param(
            CONFIG_MAP,
            config_map(data={"k": "v" * (1024 * 1024 + 1)}),
            "data",
            "the limit is 1048576",
            id="a ConfigMap over one MiB",
        ),
        pytest.param(
            CONFIG_MAP,
            config_map(data={"k": "v"}, binaryData={"k": "dg=="}),
            "data.k",
            "binaryData too",
            id="a key in data and binaryData",
        ),
        pytest.param(
            CONFIG_MAP,
            config_map(namespace="CI"),
            "metadata.namespace",
            "lower-case",
            id="an upper-case namespace",
        ),
        pytest.param(
            PRIORITY_CLASS,
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "value": 1,
                "metadata": {"name": "system-mine"},
            },
            "metadata.name",
            "reserved",
            id="a priority class with the system's prefix",
        ),
        pytest.param(
            PRIORITY_CLASS,
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "value": 2_000_000_000,
                "metadata": {"name": "high"},
            },
            "value",
            "at most 1000000000",
            id="a priority above the user's range",
        ),
        pytest.param(
            PRIORITY_CLASS,
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "value": 1,
                "metadata": {"name": "high", "namespace": "ci"},
            },
            "metadata.namespace",
            "belongs to no namespace",
            id="a namespace on a cluster-wide object",
        ),
        pytest.param(
            CLUSTER_ROLE_BINDING,
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "x"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            },
            "roleRef.kind",
            "must be 'ClusterRole'",
            id="a Role in a ClusterRoleBinding",
        ),
        pytest.param(
            CLUSTER_ROLE_BINDING,
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "x"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "view",
                },
                "subjects": [{"kind": "ServiceAccount", "name": "x"}],
            },
            "subjects[0].namespace",
            "is needed",
            id="a service account without its namespace",
        ),
        pytest.param(
            CRON_JOB,
            cron_job(schedule="every day"),
            "spec.schedule",
            "five fields",
            id="a schedule that is none",
        ),
        pytest.param(
            CRON_JOB,
            cron_job(name="n" * 53),
            "metadata.name",
            "limit for a CronJob is 52",
            id="a CronJob of 53 characters",
        ),
        pytest.param(
            DEPLOYMENT,
            deployment(
                containers=[
                    {
                        "name": "main",
                        "image": "x",
                        "resources": {"requests": {"nvidia.com/gpu": "1"}},
                    }
                ]
            ),
            "spec.template.spec.containers[0].resources.requests.nvidia.com/gpu",
            "set the limit too",
            id="a GPU request without a limit",
        ),
        pytest.param(
            DEPLOYMENT,
            deployment(
                containers=[
                    {
                        "name": "main",
                        "image": "x",
                        "resources": {
                            "requests": {"memory": "2Gi"},
                            "limits": {"memory": "1500Mi"},
                        },
                    }
                ]
            ),
            "spec.template.spec.containers[0].resources.requests.memory",
            "more than the limit",
            id="a request above its limit",
        ),
        pytest.param(
            DEPLOYMENT,
            deployment(
                containers=[{"name": "main", "image": "x", "resources": {"limits": {"cpu": "two"}}}]
            ),
            "spec.template.spec.containers[0].resources.limits.cpu",
            "is no quantity",
            id="a limit that is no quantity",
        ),
    ],
)
def test_an_object_is_refused_for(lab: Lab, token, inputs, path, reason):
    found = lab.invalid(token, inputs)
    assert path in found, f"the objection belongs to {path}: {found}"
    assert reason in found[path]


def test_a_selector_that_does_not_select_its_own_pods_is_refused(lab: Lab):
    inputs = deployment()
    inputs["spec"]["selector"]["matchLabels"] = {"app": "y"}
    assert (
        "as the selector does" in lab.invalid(DEPLOYMENT, inputs)["spec.template.metadata.labels"]
    )


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


def test_the_pods_of_a_cron_job_are_checked_too(lab: Lab):
    inputs = cron_job()
    template = inputs["spec"]["jobTemplate"]["spec"]["template"]
    template["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "two"}}
    found = lab.invalid(CRON_JOB, inputs)
    path = "spec.jobTemplate.spec.template.spec.containers[0].resources.limits.cpu"
    assert "is no quantity" in found[path]
