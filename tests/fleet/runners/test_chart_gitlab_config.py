"""GitLab's config.toml: it parses, asks for the GPU, and places the job."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from fleet.kubernetes.pods import Size, Toleration, selector_affinity
from fleet.runners.gitlab_config import GitLabJob, config_data, config_toml

LABEL = "gpu-runners/pool"


def job(**changes: Any) -> GitLabJob:
    given: dict[str, Any] = {
        "namespace": "gitlab-t4",
        "image": "nvidia/cuda:12.4.1-devel-ubuntu22.04",
        "gpus": 2,
        "cpu_m": 3000,
        "memory_mib": 12_000,
        "disk_mib": 40_000,
        "shm_mib": 4096,
        "helper": Size(cpu_m=250, memory_mib=256, disk_mib=1000),
        "service": Size(cpu_m=100, memory_mib=128),
        "affinity": selector_affinity([{LABEL: "t4"}]),
        "tolerations": (Toleration(key="nvidia.com/gpu", effect="NoSchedule"),),
        "poll_timeout_s": 1800,
        "environment": {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
    }
    return GitLabJob(**{**given, **changes})


def runner(**changes: Any) -> dict[str, Any]:
    (only,) = tomllib.loads(config_toml(config_data(job(**changes))))["runners"]
    return only


def kubernetes(**changes: Any) -> dict[str, Any]:
    return runner(**changes)["kubernetes"]


def test_the_text_has_exactly_one_runners_table_and_names_its_namespace() -> None:
    text = config_toml(config_data(job()))
    assert text.count("[[runners]]") == 1
    assert set(tomllib.loads(text)) == {"runners"}
    # The chart searches the raw text for this before it sets the release's namespace.
    assert re.search(r"\s*namespace\s*=", text)


def test_everything_of_a_job_on_one_pool_is_written_in_the_runners_spelling() -> None:
    parsed = runner()
    patch = parsed["kubernetes"].pop("pod_spec")
    assert [(each["name"], each["patch_type"]) for each in patch] == [("gpu", "strategic")]
    assert parsed == {
        "executor": "kubernetes",
        "environment": ["NVIDIA_DRIVER_CAPABILITIES=compute,utility"],
        "feature_flags": {
            "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION": True,
            "FF_PRINT_POD_EVENTS": True,
        },
        "kubernetes": {
            "namespace": "gitlab-t4",
            "image": "nvidia/cuda:12.4.1-devel-ubuntu22.04",
            "pull_policy": ["if-not-present"],
            "privileged": False,
            "automount_service_account_token": False,
            "poll_timeout": 1800,
            "cpu_request": "3000m",
            "memory_request": "12000Mi",
            "memory_limit": "12000Mi",
            "ephemeral_storage_request": "40000Mi",
            "helper_cpu_request": "250m",
            "helper_memory_request": "256Mi",
            "helper_memory_limit": "256Mi",
            "helper_ephemeral_storage_request": "1000Mi",
            "service_cpu_request": "100m",
            "service_memory_request": "128Mi",
            "service_memory_limit": "128Mi",
            "node_selector": {LABEL: "t4"},
            "node_tolerations": {"nvidia.com/gpu": "NoSchedule"},
            "volumes": {
                "empty_dir": [
                    {
                        "name": "shared-memory",
                        "mount_path": "/dev/shm",
                        "medium": "Memory",
                        "size_limit": "4096Mi",
                    }
                ]
            },
            "pod_annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
        },
    }


def test_the_build_container_and_no_other_asks_for_the_gpus_with_request_equal_to_limit() -> None:
    (patch,) = kubernetes()["pod_spec"]
    assert json.loads(patch["patch"]) == {
        "containers": [
            {
                "name": "build",
                "resources": {
                    "requests": {"nvidia.com/gpu": "2"},
                    "limits": {"nvidia.com/gpu": "2"},
                },
            }
        ]
    }


def test_a_job_without_gpu_has_no_patch_and_may_poll_for_a_short_time() -> None:
    parsed = kubernetes(gpus=0, poll_timeout_s=180)
    assert "pod_spec" not in parsed
    assert parsed["poll_timeout"] == 180


def test_several_pools_are_required_together_and_preferred_in_order() -> None:
    parsed = kubernetes(
        affinity=selector_affinity([{LABEL: "t4-spot"}, {LABEL: "t4-reserved"}, {LABEL: "t4"}])
    )
    assert "node_selector" not in parsed, "a selector of one pool would exclude the others"
    affinity = parsed["affinity"]["node_affinity"]

    def terms(*pools: str) -> list[dict[str, Any]]:
        return [{"key": LABEL, "operator": "In", "values": list(pools)}]

    assert affinity == {
        "required_during_scheduling_ignored_during_execution": {
            "node_selector_terms": [{"match_expressions": terms("t4-spot", "t4-reserved", "t4")}]
        },
        "preferred_during_scheduling_ignored_during_execution": [
            {"weight": 100, "preference": {"match_expressions": terms("t4-spot")}},
            {"weight": 50, "preference": {"match_expressions": terms("t4-reserved")}},
        ],
    }


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ((Toleration(key="a", effect="NoSchedule"),), {"a": "NoSchedule"}),
        ((Toleration(key="a"),), {"a": ""}),
        (
            (Toleration(key="a", operator="Equal", value="x", effect="NoExecute"),),
            {"a=x": "NoExecute"},
        ),
        (
            (Toleration(key="a", effect="NoSchedule"), Toleration(key="a", effect="NoExecute")),
            {"a": ""},
        ),
        (
            (Toleration(key="a", effect="NoSchedule"), Toleration(key="a", effect="NoSchedule")),
            {"a": "NoSchedule"},
        ),
        ((), {}),
    ],
    ids=["exists", "every effect", "equal", "two effects", "the same twice", "none"],
)
def test_tolerations_are_a_map_of_key_to_effect(
    tolerations: tuple[Toleration, ...], expected: dict[str, str]
) -> None:
    assert kubernetes(tolerations=tolerations)["node_tolerations"] == expected


def test_what_a_lane_may_add_is_written_in_the_runners_spelling() -> None:
    parsed = kubernetes(
        privileged=True,
        pull_policy=("always", "if-not-present"),
        image_pull_secrets=("pull",),
        service_account="jobs",
        runtime_class_name="nvidia",
        priority_class_name="ci",
        labels={"lane": "t4"},
        annotations={},
        termination_grace_period_s=60,
        max_size=Size(cpu_m=6000, memory_mib=24_000, disk_mib=80_000),
        gpu_resource="nvidia.com/mig-1g.5gb",
    )
    expected = {
        "privileged": True,
        "pull_policy": ["always", "if-not-present"],
        "image_pull_secrets": ["pull"],
        "service_account": "jobs",
        "automount_service_account_token": True,
        "runtime_class_name": "nvidia",
        "priority_class_name": "ci",
        "pod_labels": {"lane": "t4"},
        "pod_termination_grace_period_seconds": 60,
        "cpu_request_overwrite_max_allowed": "6000m",
        "memory_request_overwrite_max_allowed": "24000Mi",
        "memory_limit_overwrite_max_allowed": "24000Mi",
        "ephemeral_storage_request_overwrite_max_allowed": "80000Mi",
    }
    assert {name: parsed.get(name) for name in expected} == expected
    assert "pod_annotations" not in parsed
    assert "nvidia.com/mig-1g.5gb" in parsed["pod_spec"][0]["patch"]


def test_a_job_may_not_raise_its_size_unless_the_lane_says_so() -> None:
    assert not [name for name in kubernetes() if "overwrite" in name]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"environment": {"A": "{{ .Values }}"}}, r"runners\[0\]\.environment\[0\]"),
        ({"image": "x}}"}, r"runners\[0\]\.kubernetes\.image"),
        ({"labels": {"{{k}}": "v"}}, r"runners\[0\]\.kubernetes\.pod_labels\."),
    ],
    ids=["value", "closing braces", "key"],
)
def test_double_braces_are_refused_with_the_key_that_holds_them(
    changes: dict[str, Any], path: str
) -> None:
    with pytest.raises(ValueError, match=f"key {path}.* holds double braces"):
        config_toml(config_data(job(**changes)))


def test_no_text_of_ours_holds_double_braces() -> None:
    text = config_toml(
        config_data(
            job(
                affinity=selector_affinity([{LABEL: "a"}, {LABEL: "b"}]),
                max_size=Size(cpu_m=1, memory_mib=1),
            )
        )
    )
    assert "{{" not in text
    assert "}}" not in text


def test_quotes_and_newlines_of_the_user_survive_the_text() -> None:
    awkward = 'say "hi"\nand \\ go'
    assert runner(environment={"A": awkward})["environment"] == [f"A={awkward}"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"poll_timeout_s": 899}, "give at least 900"),
        ({"environment": {"NVIDIA_VISIBLE_DEVICES": "all"}}, "NVIDIA_VISIBLE_DEVICES"),
    ],
)
def test_a_job_that_could_not_run_or_would_see_too_much_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        job(**changes)


def test_the_shortest_poll_timeout_of_a_gpu_job_is_taken() -> None:
    assert kubernetes(poll_timeout_s=900)["poll_timeout"] == 900
