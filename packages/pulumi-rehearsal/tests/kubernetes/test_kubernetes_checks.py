"""Checks of an object before it is created."""

import pytest
from kubernetes_cluster import (
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    SECRET,
    Cluster,
    config_map,
    deployment,
)
from pulumi_rehearsal.standin.kind import UNKNOWN
from pulumi_rehearsal.standin.kubernetes.arc import definition


def namespace(metadata):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def secret(**fields):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, **fields}


def with_resources(**resources):
    return deployment(containers=[{"name": "main", "image": "x", "resources": resources}])


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
            namespace({"name": "Upper"}),
            "metadata.name",
            "lower-case",
            id="an upper-case name",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "n" * 64}),
            "metadata.name",
            "1 to 63",
            id="a namespace of 64 characters",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "kube-system"}),
            "metadata.name",
            "exists in every cluster",
            id="a built-in namespace",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "x", "labels": {"a": "b c"}}),
            "metadata.labels.a",
            "must be at most 63 letters",
            id="a label value with a space",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "x", "labels": {"-a": "b"}}),
            "metadata.labels.-a",
            "begin and end",
            id="a label key that begins with a dash",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "x", "annotations": {"a/b/c": "d"}}),
            "metadata.annotations.a/b/c",
            "DNS name",
            id="an annotation key with two slashes",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "x", "label": {}}),
            "metadata.label",
            "has no property 'label'",
            id="an unknown property",
        ),
        pytest.param(
            SECRET,
            secret(data={"k": "not base64"}),
            "data.k",
            "is not base64",
            id="data that is not base64",
        ),
        pytest.param(
            SECRET,
            secret(stringData={"a b": "c"}),
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
            "is in binaryData too",
            id="a key in data and binaryData",
        ),
        pytest.param(
            NAMESPACE,
            namespace({"name": "x", "namespace": "ci"}),
            "metadata.namespace",
            "has no namespace",
            id="a namespace of a cluster-wide object",
        ),
        pytest.param(
            CONFIG_MAP,
            config_map(namespace="CI"),
            "metadata.namespace",
            "lower-case",
            id="an upper-case namespace",
        ),
        pytest.param(
            DEPLOYMENT,
            with_resources(requests={"nvidia.com/gpu": "1"}),
            "spec.template.spec.containers[0].resources.requests.nvidia.com/gpu",
            "set the limit too",
            id="a GPU request without a limit",
        ),
        pytest.param(
            DEPLOYMENT,
            with_resources(requests={"memory": "2Gi"}, limits={"memory": "1500Mi"}),
            "spec.template.spec.containers[0].resources.requests.memory",
            "more than the limit",
            id="a request above its limit",
        ),
        pytest.param(
            DEPLOYMENT,
            with_resources(limits={"cpu": "two"}),
            "spec.template.spec.containers[0].resources.limits.cpu",
            "is not a quantity",
            id="a limit that is not a quantity",
        ),
    ],
)
def test_check_refuses(cluster: Cluster, token, inputs, path, reason):
    found = cluster.invalid(token, inputs)
    assert path in found, found
    assert reason in found[path]


def test_check_refuses_a_selector_that_does_not_match_the_pod_template(cluster: Cluster):
    inputs = deployment()
    inputs["spec"]["selector"]["matchLabels"] = {"app": "y"}
    assert (
        "as the selector does"
        in cluster.invalid(DEPLOYMENT, inputs)["spec.template.metadata.labels"]
    )


def test_check_refuses_a_definition_without_plural_and_group_in_its_name(cluster: Cluster):
    inputs = definition("ephemeralrunners", None)
    inputs["metadata"] = {"name": "runners.actions.github.com"}
    assert (
        "ephemeralrunners.actions.github.com"
        in cluster.invalid(DEFINITION, inputs)["metadata.name"]
    )


def test_check_refuses_a_definition_without_a_stored_version(cluster: Cluster):
    inputs = definition("ephemeralrunners", None)
    inputs["spec"]["versions"][0]["storage"] = False
    assert "exactly one" in cluster.invalid(DEFINITION, inputs)["spec.versions"]


def test_check_accepts_unknown_values(cluster: Cluster):
    inputs = config_map(namespace=UNKNOWN, name=UNKNOWN, data={"k": UNKNOWN})
    assert cluster.check(CONFIG_MAP, inputs)["data"]["k"] is UNKNOWN


def test_reasons_do_not_contain_values(cluster: Cluster):
    assert "hunter2" not in str(cluster.invalid(SECRET, secret(data={"k": "hunter2 "})))
