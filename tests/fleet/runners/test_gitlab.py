"""GitLab's side of a cluster: the runner, its manager, and the config.toml of its jobs."""

from __future__ import annotations

import json
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


def test_the_build_container_alone_asks_for_the_gpu() -> None:
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
    assert runner_config(lane)["feature_flags"]["FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"] is True


def test_a_lane_without_gpus_patches_nothing() -> None:
    lane = lane_of(
        {LANE: {"pools": ["system"], "cpu": 1, "memory": "1Gi", "runner": {"group_id": 1}}}
    )
    config = job_config(lane)
    assert "pod_spec" not in config
    assert config["node_tolerations"] == {}
    assert config["image"].startswith("docker.io/library/ubuntu:")
    assert runner_config(lane)["environment"] == []


def test_a_job_asks_for_its_share_beside_its_gpu() -> None:
    lane = lane_of(SHARE)
    config, request = job_config(lane), lane.job.request
    assert config["cpu_request"] == f"{request.cpu_m}m"
    assert config["memory_request"] == config["memory_limit"] == f"{request.memory_mib}Mi"
    assert config["ephemeral_storage_request"] == f"{request.disk_mib}Mi"
    (shm,) = config["volumes"]["empty_dir"]
    assert (shm["mount_path"], shm["size_limit"]) == ("/dev/shm", f"{lane.job.shm_mib}Mi")


@pytest.mark.parametrize("services", [0, 1, 3])
def test_helper_and_services_are_taken_from_the_share_as_they_ask(services: int) -> None:
    lane = lane_of({**SHARE, f"{LANE}.services": services})
    config = job_config(lane)

    def mib(key: str) -> int:
        return int(config[key].removesuffix("Mi"))

    beside = mib("helper_memory_request") + services * mib("service_memory_request")
    assert lane.job.sides.memory_mib == beside
    whole = lane_of({**SHARE, f"{LANE}.services": 0}).job
    assert whole.total.memory_mib - lane.job.total.memory_mib in range(-16, 17)


def test_a_job_lands_on_its_pool_and_tolerates_its_taint() -> None:
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


def test_a_lane_may_replace_what_nvidia_containers_are_told() -> None:
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
    assert lane.secret_name == lane.release.values["runners"]["secret"] == f"{name}-runner-token"


def test_a_runner_keeps_what_gitlab_knows_of_it() -> None:
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
    assert runner.tags == lane.tags == ("gpu", "t4"), "each once"
    assert (runner.run_untagged, runner.protected, runner.locked) == (True, True, False)
    assert (runner.maximum_timeout_s, runner.paused) == (3600, False)


def test_tags_default_to_the_lanes_name() -> None:
    assert lane_of(name="project").tags == ("project",)


def test_a_paused_lane_is_paused_at_gitlab_and_has_no_manager() -> None:
    lane = lane_of({f"{LANE}.paused": True})
    assert lane.runner is not None
    assert lane.runner.paused
    assert lane.release.values["replicas"] == 0
    assert lane_of().release.values["replicas"] == 1


def test_a_runner_that_exists_brings_its_token_or_its_secret() -> None:
    token = lane_of(name="token")
    assert (token.runner, token.token_secret) == (None, "runnerToken")
    assert token.secret_name == "token-runner-token"
    (lane,) = gitlab_of(name="existing").lanes
    assert (lane.runner, lane.token_secret, lane.secret_name) == (None, None, "runner-token")
    assert lane.external_secret is not None
    assert lane.external_secret.namespace == "gitlab-runners"
    assert lane.external_secret.keys == ("runner-token", "runner-registration-token")


def test_a_manager_is_named_after_its_lane_and_runs_on_the_system_pool() -> None:
    values = lane_of().release.values
    assert lane_of().release.name == values["fullnameOverride"] == "gitlab-gl"
    assert values["serviceAccount"]["name"] == "gitlab-gl"
    assert "nodeSelector" not in values
    assert required_labels(values["affinity"]) == [{"gpu-runners/role": ["system"]}]
    assert (values["concurrent"], values["gitlabUrl"]) == (4, "https://gitlab.example.com")


def test_the_side_of_a_cluster_knows_server_and_api_token() -> None:
    gitlab = gitlab_of({"clusters.ci.gitlab.url": "https://git.example.org"})
    assert (gitlab.url, gitlab.api_token) == ("https://git.example.org", "gitlabApiToken")
    assert (gitlab_of(name="existing").url, gitlab_of(name="existing").api_token) == (
        "https://gitlab.com",
        None,
    )
