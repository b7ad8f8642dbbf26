"""GitLab lanes: the runner, its manager, and the config.toml of its jobs."""

import json
import re
import tomllib
from typing import Any

import pytest

from fleet.plan import GitLabPlan
from fleet.runners.gitlab import GitLabLanePlan
from tests.fleet.samples import GONE, cluster_of, required_labels

LANE = "clusters.ci.gitlab.lanes.gl"
SHARE = {f"{LANE}.{key}": GONE for key in ("cpu", "memory", "disk", "shm")}


def gitlab_of(changes: dict[str, Any] | None = None, name: str = "ci") -> GitLabPlan:
    gitlab = cluster_of(changes, name).gitlab
    assert gitlab is not None
    return gitlab


def lane_of(changes: dict[str, Any] | None = None, name: str = "gl") -> GitLabLanePlan:
    return next(lane for lane in gitlab_of(changes).lanes if lane.name == name)


def runner_config(lane: GitLabLanePlan) -> dict[str, Any]:
    (runner,) = tomllib.loads(lane.release.values["runners"]["config"])["runners"]
    return runner


def job_config(lane: GitLabLanePlan) -> dict[str, Any]:
    return runner_config(lane)["kubernetes"]


def test_only_the_build_container_requests_the_gpu() -> None:
    lane = lane_of()
    (patch,) = job_config(lane)["pod_spec"]
    assert patch["patch_type"] == "strategic"
    assert json.loads(patch["patch"]) == {
        "containers": [
            {
                "name": "build",
                "resources": {
                    "requests": {"nvidia.com/gpu": "1"},
                    "limits": {"nvidia.com/gpu": "1"},
                },
            }
        ]
    }


def test_a_lane_without_gpus_has_no_patch() -> None:
    lane = lane_of(
        {LANE: {"pools": ["system"], "cpu": 1, "memory": "1Gi", "runner": {"group_id": 1}}}
    )
    config = job_config(lane)
    assert "pod_spec" not in config
    assert config["node_tolerations"] == {}
    assert config["image"].startswith("docker.io/library/ubuntu:")
    assert runner_config(lane)["environment"] == []


def test_a_job_requests_its_share_of_the_node() -> None:
    lane = lane_of(SHARE)
    config, request = job_config(lane), lane.job.request
    assert config["cpu_request"] == f"{request.cpu_m}m"
    assert config["memory_request"] == config["memory_limit"] == f"{request.memory_mib}Mi"
    assert config["ephemeral_storage_request"] == f"{request.disk_mib}Mi"
    (shm,) = config["volumes"]["empty_dir"]
    assert (shm["mount_path"], shm["size_limit"]) == ("/dev/shm", f"{lane.job.shm_mib}Mi")


@pytest.mark.parametrize("services", [0, 1, 3])
def test_the_requests_of_helper_and_services_are_subtracted_from_the_share(services: int) -> None:
    lane = lane_of({**SHARE, f"{LANE}.services": services})
    config = job_config(lane)

    def mib(key: str) -> int:
        return int(config[key].removesuffix("Mi"))

    beside = mib("helper_memory_request") + services * mib("service_memory_request")
    assert lane.job.side_containers.memory_mib == beside
    whole = lane_of({**SHARE, f"{LANE}.services": 0}).job
    assert whole.total.memory_mib - lane.job.total.memory_mib in range(-16, 17)


def test_a_job_runs_on_its_pool_and_tolerates_its_taint() -> None:
    config = job_config(lane_of())
    assert config["node_selector"] == {"gpu-runners/pool": "t4"}
    assert config["node_tolerations"] == {"nvidia.com/gpu": "NoSchedule"}


def test_a_lane_of_several_pools_prefers_them_in_its_order() -> None:
    lane = lane_of(
        {
            f"{LANE}.pools": ["spot", "t4"],
            "clusters.ci.eks.pools.spot": {"instance_types": ["g4dn.2xlarge"], "max_size": 1},
        }
    )
    affinity = job_config(lane)["affinity"]["node_affinity"]
    (term,) = affinity["required_during_scheduling_ignored_during_execution"]["node_selector_terms"]
    assert term["match_expressions"][0]["values"] == ["spot", "t4"]
    (first,) = affinity["preferred_during_scheduling_ignored_during_execution"]
    assert first["preference"]["match_expressions"][0]["values"] == ["spot"]


def test_a_paused_pool_is_not_tolerated() -> None:
    config = job_config(lane_of({"clusters.ci.eks.pools.t4.paused": True}))
    assert config["node_tolerations"] == {"nvidia.com/gpu": "NoSchedule"}


def test_a_job_waits_for_a_cold_node() -> None:
    assert job_config(lane_of())["poll_timeout"] >= 900


def test_variables_and_privileges_are_those_of_the_lane() -> None:
    lane = lane_of({f"{LANE}.privileged": True, f"{LANE}.env": {"A": "1"}})
    assert runner_config(lane)["environment"] == [
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        "A=1",
    ]
    assert job_config(lane)["privileged"] is True
    assert job_config(lane_of())["privileged"] is False
    assert gitlab_of({f"{LANE}.privileged": True}).privileged
    assert not gitlab_of().privileged


def test_a_lane_may_set_the_driver_capabilities_itself() -> None:
    lane = lane_of({f"{LANE}.env": {"NVIDIA_DRIVER_CAPABILITIES": "all"}})
    assert runner_config(lane)["environment"] == ["NVIDIA_DRIVER_CAPABILITIES=all"]


def test_a_gpu_job_has_a_cuda_image_unless_the_lane_names_one() -> None:
    assert job_config(lane_of())["image"] == "docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04"
    assert "cuda" in job_config(lane_of({f"{LANE}.image": GONE}))["image"]


@pytest.mark.parametrize(
    ("name", "kind", "group", "project"),
    [
        ("gl", "group_type", 42, None),
        ("project", "project_type", None, 7),
        ("instance", "instance_type", None, None),
    ],
)
def test_a_runner_is_created_for_its_owner(
    name: str, kind: str, group: int | None, project: int | None
) -> None:
    lane = lane_of(name=name)
    assert lane.runner is not None
    assert (lane.runner.runner_type, lane.runner.group_id, lane.runner.project_id) == (
        kind,
        group,
        project,
    )
    assert lane.runner.description == f"{name} on ci"
    assert (lane.token_secret, lane.external_secret) == (None, None)
    assert lane.secret_name == lane.release.values["runners"]["secret"]
    assert lane.secret_name == f"{lane.release.name}-token"


def test_a_runner_has_the_lanes_settings_at_gitlab() -> None:
    lane = lane_of(
        {
            f"{LANE}.tags": ["gpu", "t4", "gpu"],
            f"{LANE}.run_untagged": True,
            f"{LANE}.protected": True,
            f"{LANE}.locked": False,
            f"{LANE}.maximum_timeout": 3600,
        }
    )
    runner = lane.runner
    assert runner is not None
    assert runner.tags == lane.labels == ("gpu", "t4"), "each once"
    assert (runner.run_untagged, runner.protected, runner.locked) == (True, True, False)
    assert (runner.maximum_timeout_s, runner.paused) == (3600, False)


def test_tags_default_to_the_lanes_name() -> None:
    assert lane_of(name="project").labels == ("project",)


def test_a_paused_lane_is_paused_at_gitlab_and_has_no_manager() -> None:
    lane = lane_of({f"{LANE}.paused": True})
    assert lane.runner is not None
    assert lane.runner.paused
    assert lane.release.values["replicas"] == 0
    assert lane_of().release.values["replicas"] == 1


def test_an_existing_runner_has_a_token_or_an_existing_secret() -> None:
    token = lane_of(name="token")
    assert (token.runner, token.token_secret) == (None, "runnerToken")
    assert token.secret_name == f"{token.release.name}-token"
    (lane,) = gitlab_of(name="existing").lanes
    assert (lane.runner, lane.token_secret, lane.secret_name) == (None, None, "runner-token")
    assert lane.external_secret is not None
    assert lane.external_secret.namespace == "gitlab-runners"
    assert lane.external_secret.keys == ("runner-token", "runner-registration-token")


def test_a_manager_is_named_after_its_lane_and_runs_on_the_system_pool() -> None:
    values = lane_of().release.values
    name = f"gitlab-gl-{lane_of().generation}"
    assert lane_of().release.name == values["fullnameOverride"] == name
    assert values["serviceAccount"]["name"] == lane_of().manager.account == name
    assert "nodeSelector" not in values
    assert required_labels(values["affinity"]) == [{"gpu-runners/role": ["system"]}]
    assert (values["concurrent"], values["gitlabUrl"]) == (4, "https://gitlab.example.com")


def test_the_plan_of_gitlab_has_server_and_api_token() -> None:
    gitlab = gitlab_of({"clusters.ci.gitlab.url": "https://git.example.org"})
    assert (gitlab.url, gitlab.api_token) == ("https://git.example.org", "gitlabApiToken")
    assert (gitlab_of(name="existing").url, gitlab_of(name="existing").api_token) == (
        "https://gitlab.com",
        None,
    )


def test_config_toml_has_one_runners_table_and_names_its_namespace() -> None:
    text = lane_of().release.values["runners"]["config"]
    assert text.count("[[runners]]") == 1
    assert set(tomllib.loads(text)) == {"runners"}
    # The chart searches the raw text for this before it sets the release's namespace.
    assert re.search(r"\s*namespace\s*=", text)


@pytest.mark.parametrize(("concurrent", "requests"), [(1, 2), (8, 2), (20, 5), (200, 20)])
def test_requests_for_jobs_grow_with_the_jobs_and_are_never_one(
    concurrent: int, requests: int
) -> None:
    config = runner_config(lane_of({f"{LANE}.concurrent": concurrent}))
    assert config["request_concurrency"] == requests


def test_config_toml_has_the_runners_keys() -> None:
    config = runner_config(lane_of())
    assert [(one["name"], one["patch_type"]) for one in config["kubernetes"].pop("pod_spec")] == [
        ("gpu", "strategic")
    ]
    assert config == {
        "executor": "kubernetes",
        "request_concurrency": 2,
        "environment": ["NVIDIA_DRIVER_CAPABILITIES=compute,utility", "TORCH_HOME=/tmp/torch"],
        "feature_flags": {
            "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION": True,
            "FF_PRINT_POD_EVENTS": True,
        },
        "kubernetes": {
            "namespace": "gitlab-runners",
            "image": "docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04",
            "pull_policy": ["if-not-present"],
            "privileged": False,
            "automount_service_account_token": False,
            "poll_timeout": 1800,
            "cpu_request": "1000m",
            "memory_request": "2048Mi",
            "memory_limit": "2048Mi",
            "ephemeral_storage_request": "10240Mi",
            "helper_cpu_request": "100m",
            "helper_memory_request": "256Mi",
            "helper_memory_limit": "256Mi",
            "service_cpu_request": "100m",
            "service_memory_request": "256Mi",
            "service_memory_limit": "256Mi",
            "node_selector": {"gpu-runners/pool": "t4"},
            "node_tolerations": {"nvidia.com/gpu": "NoSchedule"},
            "volumes": {
                "empty_dir": [
                    {
                        "name": "shared-memory",
                        "mount_path": "/dev/shm",
                        "medium": "Memory",
                        "size_limit": "512Mi",
                    }
                ]
            },
            "pod_annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
            "pod_labels": {"gpu-runners/job": "true"},
        },
    }


def test_optional_settings_of_a_lane_have_the_runners_keys() -> None:
    config = job_config(
        lane_of(
            {
                f"{LANE}.pull_policy": ["always", "if-not-present"],
                f"{LANE}.kubernetes_access": {"namespaces": ["ci-jobs"]},
                f"{LANE}.runtime_class": "nvidia",
                f"{LANE}.max_cpu": 2,
                f"{LANE}.max_memory": "4Gi",
            }
        )
    )
    expected = {
        "pull_policy": ["always", "if-not-present"],
        "service_account": "gitlab-gl-jobs",
        "automount_service_account_token": True,
        "runtime_class_name": "nvidia",
        "cpu_request_overwrite_max_allowed": "2000m",
        "memory_request_overwrite_max_allowed": "4096Mi",
        "memory_limit_overwrite_max_allowed": "4096Mi",
        "ephemeral_storage_request_overwrite_max_allowed": "10240Mi",
    }
    assert {name: config.get(name) for name in expected} == expected
    assert not [name for name in job_config(lane_of()) if "overwrite" in name]


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        (["NoSchedule"], {"nvidia.com/gpu": "NoSchedule", "a": "NoSchedule"}),
        (["NoSchedule", "NoExecute"], {"nvidia.com/gpu": "NoSchedule", "a": ""}),
    ],
)
def test_tolerations_are_a_map_of_key_to_effect(
    effects: list[str], expected: dict[str, str]
) -> None:
    gpu = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
    taints = [gpu, *({"key": "a", "value": "b", "effect": effect} for effect in effects)]
    pool = {"clusters.honey.existing.pools.a100.taints": taints}
    (lane,) = gitlab_of(pool, name="honey").lanes
    assert job_config(lane)["node_tolerations"] == expected


@pytest.mark.parametrize("pools", [["t4"], ["spot", "t4"]])
def test_config_toml_has_no_double_braces_which_helm_would_take_for_a_template(
    pools: list[str],
) -> None:
    lane = lane_of(
        {
            f"{LANE}.pools": pools,
            "clusters.ci.eks.pools.spot": {"instance_types": ["g4dn.2xlarge"], "max_size": 1},
        }
    )
    text = lane.release.values["runners"]["config"]
    assert "{{" not in text
    assert "}}" not in text


def test_quotes_and_newlines_of_a_variable_survive_the_toml() -> None:
    awkward = 'say "hi"\nand \\ go'
    lane = lane_of({f"{LANE}.env": {"A": awkward}})
    assert runner_config(lane)["environment"][-1] == f"A={awkward}"


def test_the_values_of_a_manager_have_the_charts_keys_and_no_token() -> None:
    values = dict(lane_of().release.values)
    assert values.pop("affinity")["nodeAffinity"]
    name = values["fullnameOverride"]
    assert set(values.pop("runners")) == {"secret", "config", "executor"}
    assert values == {
        "gitlabUrl": "https://gitlab.example.com",
        "concurrent": 4,
        "checkInterval": 3,
        # Account and role are not the chart's: the manager needs them until its last job ended.
        "serviceAccount": {"create": False, "name": name},
        "rbac": {"create": False},
        "terminationGracePeriodSeconds": 7200,
        "unregisterRunners": True,
        "metrics": {"enabled": False},
        "replicas": 1,
        "fullnameOverride": name,
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "128Mi"},
        },
    }


def test_only_a_runner_that_this_program_makes_is_unregistered_with_its_manager() -> None:
    lanes = {lane.name: lane for lane in gitlab_of().lanes}
    assert {name for name, lane in lanes.items() if lane.release.values["unregisterRunners"]} == {
        *("gl", "project", "instance")
    }
    (theirs,) = gitlab_of(name="existing").lanes
    assert theirs.release.values["unregisterRunners"] is False


def test_the_executor_has_the_permissions_that_it_uses_and_no_wildcard() -> None:
    rules = lane_of().manager.permissions
    granted = {
        (resource, verb) for rule in rules for resource in rule.resources for verb in rule.verbs
    }
    assert granted == {
        *(("pods", verb) for verb in ("create", "delete", "get", "list", "watch")),
        *(("pods/attach", verb) for verb in ("create", "delete", "get", "patch")),
        *(("pods/exec", verb) for verb in ("create", "delete", "get", "patch")),
        *(("pods/log", verb) for verb in ("get", "list")),
        *(("secrets", verb) for verb in ("create", "delete", "get", "update")),
        *(("events", verb) for verb in ("list", "watch")),
        *(("services", verb) for verb in ("create", "get")),
        ("serviceaccounts", "get"),
    }
    assert {group for rule in rules for group in rule.api_groups} == {""}


def test_what_replaces_the_runner_makes_a_new_generation() -> None:
    first = lane_of()
    other = lane_of({f"{LANE}.runner": {"group_id": 43}})
    assert other.generation != first.generation
    assert other.secret_name != first.secret_name
    assert lane_of({f"{LANE}.tags": ["x"]}).generation == first.generation


def test_a_manager_stays_for_the_longest_job_even_if_nobody_waits_that_long() -> None:
    def grace(**lane: int) -> int:
        values = lane_of({f"{LANE}.{key}": value for key, value in lane.items()}).release.values
        return values["terminationGracePeriodSeconds"]

    assert grace(drain_minutes=10, maximum_timeout=7200) == 7200
    assert grace(drain_minutes=240, maximum_timeout=7200) == 14400
