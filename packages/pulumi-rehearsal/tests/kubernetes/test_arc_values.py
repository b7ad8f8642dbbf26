"""A scale set's values by themselves: what the chart refuses, and what it would drop."""

import pytest
from kubernetes_lab import RELEASE, Lab, scale_set_inputs
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
        ({"githubConfigUrl": "http://github.com/acme"}, "values.githubConfigUrl", "https"),
        ({"githubConfigUrl": None}, "values.githubConfigUrl", "https"),
        ({"githubConfigSecret": {"github_token": "t"}}, "values.githubConfigSecret", "credentials"),
        ({"githubConfigSecret": None}, "values.githubConfigSecret", "name of a Secret"),
        (
            {"controllerServiceAccount": None},
            "values.controllerServiceAccount.name",
            "live cluster",
        ),
        ({"minRunners": "1"}, "values.minRunners", "silently drops"),
        ({"maxRunners": 1.5}, "values.maxRunners", "silently drops"),
        ({"maxRunners": True}, "values.maxRunners", "silently drops"),
        ({"minRunners": -1}, "values.minRunners", "negative"),
        ({"minRunners": 5}, "values.maxRunners", "at least minRunners"),
        ({"runnerScaleSetName": "n" * 46}, "values.runnerScaleSetName", "limit is 45"),
        ({"scaleSetLabels": [""]}, "values.scaleSetLabels[0]", "1 to 255"),
        ({"scaleSetLabels": ["l" * 256]}, "values.scaleSetLabels[0]", "1 to 255"),
        ({"containerMode": {"type": "docker"}}, "values.containerMode.type", "none of"),
        (
            {"containerMode": {"type": "kubernetes"}},
            "values.containerMode.kubernetesModeWorkVolumeClaim",
            "is needed",
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
        "an address without TLS",
        "no address",
        "a token in the values",
        "no Secret",
        "no controller account",
        "a count as text",
        "half a runner",
        "a yes instead of a count",
        "a negative count",
        "less at most than at least",
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
def test_a_scale_set_is_refused_for(lab: Lab, values, path, reason):
    found = lab.invalid(RELEASE, scale_set(**values))
    assert path in found, f"the objection belongs to {path}: {found}"
    assert reason in found[path]


def test_a_scale_set_that_does_not_wait_is_refused(lab: Lab):
    assert "does not wait" in lab.invalid(RELEASE, {**scale_set(), "skipAwait": True})["skipAwait"]


def test_unknown_values_of_a_scale_set_pass(lab: Lab):
    unknown = scale_set(
        controllerServiceAccount={"name": UNKNOWN, "namespace": UNKNOWN},
        githubConfigSecret=UNKNOWN,
        githubConfigUrl=UNKNOWN,
        template={"spec": {"containers": [{**RUNNER, "image": UNKNOWN}]}},
    )
    assert lab.check(RELEASE, unknown)["values"]["githubConfigSecret"] is UNKNOWN
