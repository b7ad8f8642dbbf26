"""The scale set chart: its exact keys, and what it would refuse or silently drop."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.kubernetes.pods import (
    Container,
    PodSpec,
    PodTemplate,
    Size,
    Toleration,
    selector_affinity,
    work_claim,
)
from fleet.kubernetes.values import to_values
from fleet.runners.arc_scale_set import ArcScaleSetValues, listener_template

TEMPLATE = PodTemplate(spec=PodSpec(containers=(Container(name="runner"),)))


def scale_set(**changes: Any) -> ArcScaleSetValues:
    given: dict[str, Any] = {
        "github_config_url": "https://github.com/example-org",
        "github_config_secret": "github-app",
        "runner_scale_set_name": "gpu-t4",
        "min_runners": 0,
        "max_runners": 10,
        "template": TEMPLATE,
        "controller_namespace": "arc-systems",
        "controller_service_account": "arc-controller",
    }
    return ArcScaleSetValues(**{**given, **changes})


def test_every_key_has_the_charts_spelling() -> None:
    values = to_values(
        scale_set(
            scale_set_labels=("gpu", "cuda"),
            runner_group="GPUs",
            container_mode="kubernetes",
            work_volume_claim=work_claim(1024),
            listener_template=listener_template(Size(cpu_m=100, memory_mib=128)),
            labels={"team": "ci"},
            annotations={"note": "x"},
        )
    )
    assert values == {
        "githubConfigUrl": "https://github.com/example-org",
        "githubConfigSecret": "github-app",
        "runnerScaleSetName": "gpu-t4",
        "minRunners": 0,
        "maxRunners": 10,
        "template": {"spec": {"containers": [{"name": "runner"}]}},
        "controllerServiceAccount": {"namespace": "arc-systems", "name": "arc-controller"},
        "scaleSetLabels": ["gpu", "cuda"],
        "runnerGroup": "GPUs",
        "containerMode": {
            "type": "kubernetes",
            "kubernetesModeWorkVolumeClaim": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1024Mi"}},
            },
        },
        "listenerTemplate": {
            "spec": {
                "containers": [
                    {
                        "name": "listener",
                        "resources": {
                            "requests": {"cpu": "100m", "memory": "128Mi"},
                            "limits": {"memory": "128Mi"},
                        },
                    }
                ]
            }
        },
        "labels": {"team": "ci"},
        "annotations": {"note": "x"},
    }


def test_without_a_container_mode_the_key_is_absent() -> None:
    assert "containerMode" not in to_values(scale_set())


def test_runner_counts_are_numbers_because_the_chart_drops_strings() -> None:
    values = to_values(scale_set())
    assert (type(values["minRunners"]), type(values["maxRunners"])) == (int, int)


def test_the_listener_can_be_kept_on_cpu_nodes() -> None:
    template = listener_template(
        Size(cpu_m=100, memory_mib=128),
        affinity=selector_affinity([{"gpu-runners/role": "system"}]),
        tolerations=(Toleration(key="CriticalAddonsOnly"),),
    )
    spec = to_values(template)["spec"]
    assert spec["tolerations"] == [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
    assert "nodeAffinity" in spec["affinity"]


def test_a_name_of_45_characters_is_the_longest() -> None:
    assert scale_set(runner_scale_set_name="n" * 45).runner_scale_set_name == "n" * 45


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runner_scale_set_name": "n" * 46}, "1 to 45 characters"),
        ({"runner_scale_set_name": ""}, "1 to 45 characters"),
        ({"github_config_secret": ""}, "give the name of a Secret"),
        ({"scale_set_labels": ("",)}, "1 to 255 characters"),
        ({"scale_set_labels": ("l" * 256,)}, "1 to 255 characters"),
        ({"min_runners": 3, "max_runners": 2}, "0 <= min <= max"),
        ({"min_runners": -1}, "0 <= min <= max"),
        (
            {"template": PodTemplate(spec=PodSpec(containers=(Container(name="job"),)))},
            "container named 'runner'",
        ),
        ({"listener_template": TEMPLATE}, "container named 'listener'"),
        ({"container_mode": "kubernetes"}, "work_volume_claim belongs to"),
        (
            {"container_mode": "kubernetes-novolume", "work_volume_claim": work_claim(1)},
            "work_volume_claim belongs to",
        ),
    ],
)
def test_what_the_chart_refuses_is_refused_here(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scale_set(**changes)


def test_all_problems_of_a_scale_set_are_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"'gpu-t4': .*Secret; .*0 <= min <= max"):
        scale_set(github_config_secret="", max_runners=-1)
