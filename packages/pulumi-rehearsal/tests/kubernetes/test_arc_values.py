"""Checks of a scale set's values."""

import pytest
from kubernetes_cluster import RELEASE, Cluster, scale_set_inputs
from pulumi_rehearsal.standin.kind import UNKNOWN

RUNNER = {"name": "runner", "image": "runner:1", "command": ["run.sh"]}


def scale_set(**values):
    inputs = scale_set_inputs()
    for key, value in values.items():
        if value is None:
            inputs["values"].pop(key, None)
        else:
            inputs["values"][key] = value
    return inputs


@pytest.mark.parametrize(
    ("values", "path", "reason"),
    [
        ({"githubConfigUrl": None}, "values.githubConfigUrl", "is missing"),
        ({"githubConfigSecret": None}, "values.githubConfigSecret", "is missing"),
        ({"minRunners": "1"}, "values.minRunners", "ignores anything else"),
        ({"maxRunners": 1.5}, "values.maxRunners", "ignores anything else"),
        ({"maxRunners": True}, "values.maxRunners", "ignores anything else"),
        ({"minRunners": -1}, "values.minRunners", "negative"),
        ({"minRunners": 5}, "values.maxRunners", "at least minRunners"),
        ({"runnerScaleSetName": "n" * 46}, "values.runnerScaleSetName", "limit is 45"),
        ({"scaleSetLabels": [""]}, "values.scaleSetLabels[0]", "1 to 255"),
        ({"scaleSetLabels": ["l" * 256]}, "values.scaleSetLabels[0]", "1 to 255"),
        ({"containerMode": {"type": "docker"}}, "values.containerMode.type", "none of"),
        (
            {"containerMode": {"type": "kubernetes"}},
            "values.containerMode.kubernetesModeWorkVolumeClaim",
            "is required",
        ),
        ({"containerMode": {"typ": "dind"}}, "values.containerMode.typ", "did you mean 'type'"),
        (
            {"template": {"spec": {"containers": [{**RUNNER, "name": "main"}]}}},
            "values.template.spec.containers",
            "named 'runner'",
        ),
        (
            {"template": {"spec": {"containers": [{"name": "runner", "image": "x"}]}}},
            "values.template.spec.containers",
            "needs 'command'",
        ),
        (
            {"template": {"spec": {"containers": [RUNNER], "toleration": []}}},
            "values.template.spec",
            "no field 'toleration'",
        ),
        (
            {
                "template": {
                    "spec": {
                        "containers": [{**RUNNER, "resources": {"requests": {"nvidia.com/gpu": 1}}}]
                    }
                }
            },
            "values.template.spec.containers[0].resources.requests.nvidia.com/gpu",
            "set the limit",
        ),
        (
            {
                "template": {
                    "spec": {
                        "containers": [
                            {
                                **RUNNER,
                                "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1500m"}},
                            }
                        ]
                    }
                }
            },
            "values.template.spec.containers[0].resources.requests.cpu",
            "more than the limit",
        ),
        (
            {"listenerTemplate": {"spec": {"containers": [{"name": "main"}]}}},
            "values.listenerTemplate.spec.containers",
            "named 'listener'",
        ),
    ],
    ids=[
        "no address",
        "no Secret",
        "a count as text",
        "a fractional count",
        "a boolean count",
        "a negative count",
        "a maximum below the minimum",
        "a name of 46 characters",
        "an empty label",
        "a label of 256 characters",
        "an unknown container mode",
        "mode kubernetes without a volume",
        "a mistyped mode",
        "no container 'runner'",
        "a runner without a command",
        "a mistyped field of the pod",
        "a GPU without a limit",
        "a request above its limit",
        "a listener by another name",
    ],
)
def test_check_refuses(cluster: Cluster, values, path, reason):
    found = cluster.invalid(RELEASE, scale_set(**values))
    assert path in found, found
    assert reason in found[path]


def test_check_refuses_skip_await(cluster: Cluster):
    assert (
        "does not wait" in cluster.invalid(RELEASE, {**scale_set(), "skipAwait": True})["skipAwait"]
    )


def test_check_accepts_unknown_values(cluster: Cluster):
    unknown = scale_set(
        controllerServiceAccount={"name": UNKNOWN, "namespace": UNKNOWN},
        githubConfigSecret=UNKNOWN,
        githubConfigUrl=UNKNOWN,
        template={"spec": {"containers": [{**RUNNER, "image": UNKNOWN}]}},
    )
    assert cluster.check(RELEASE, unknown)["values"]["githubConfigSecret"] is UNKNOWN
