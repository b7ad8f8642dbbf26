"""GitHub's side of a cluster: where each kind of lane asks for its GPU."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from fleet.kubernetes.resources import Resources
from fleet.plan import GitHubPlan
from fleet.runners.github import GitHubLanePlan
from tests.fleet.samples import GONE, cluster_of

LANE = "clusters.ci.github.lanes.gpu"
MODES = ("none", "kubernetes-novolume", "kubernetes", "dind")
GPU = "nvidia.com/gpu"


def github_of(changes: dict[str, Any] | None = None, name: str = "ci") -> GitHubPlan:
    github = cluster_of(changes, name).github
    assert github is not None
    return github


def lane_of(changes: dict[str, Any] | None = None, name: str = "gpu") -> GitHubLanePlan:
    return next(lane for lane in github_of(changes).lanes if lane.name == name)


def in_mode(mode: str, **more: Any) -> GitHubLanePlan:
    # The fair share, so that it is seen what each mode leaves of it.
    shared = {f"{LANE}.{key}": GONE for key in ("cpu", "memory", "disk", "shm")}
    return lane_of({**shared, f"{LANE}.container_mode": mode, **more})


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]


def gpus(pod: dict[str, Any]) -> dict[str, int]:
    """GPUs by container that asks for some."""
    return {
        one["name"]: one["resources"]["limits"][GPU]
        for one in containers(pod)
        if GPU in one.get("resources", {}).get("limits", {})
    }


def runner_of(lane: GitHubLanePlan) -> dict[str, Any]:
    return lane.release.values["template"]


def job_of(lane: GitHubLanePlan) -> dict[str, Any]:
    """The pod in which the job runs."""
    return lane.hook_template.content if lane.hook_template is not None else runner_of(lane)


def pools_of(pod: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """What the pod demands of a node."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    return [
        (one["key"], one["values"])
        for term in required.get("nodeSelectorTerms", [])
        for one in term["matchExpressions"]
    ]


@pytest.mark.parametrize(
    ("mode", "on_runner", "on_job"),
    [
        ("none", {"runner": 1}, {"runner": 1}),
        ("dind", {"runner": 1}, {"runner": 1}),
        ("kubernetes", {}, {"$job": 1}),
        ("kubernetes-novolume", {}, {"$job": 1}),
    ],
)
def test_one_container_of_a_lane_asks_for_the_gpu(
    mode: str, on_runner: dict[str, int], on_job: dict[str, int]
) -> None:
    lane = in_mode(mode)
    assert gpus(runner_of(lane)) == on_runner
    assert gpus(job_of(lane)) == on_job


@pytest.mark.parametrize("mode", MODES)
def test_a_job_asks_for_cpu_memory_and_disk_beside_its_gpu(mode: str) -> None:
    lane = in_mode(mode)
    (asking,) = [one for one in containers(job_of(lane)) if one["name"] in gpus(job_of(lane))]
    request = lane.job.request
    assert asking["resources"] == {
        "requests": {
            "cpu": f"{request.cpu_m}m",
            "memory": f"{request.memory_mib}Mi",
            "ephemeral-storage": f"{request.disk_mib}Mi",
            GPU: 1,
        },
        "limits": {"memory": f"{request.memory_mib}Mi", GPU: 1},
    }


@pytest.mark.parametrize("mode", MODES)
def test_what_stands_beside_the_job_on_its_node_is_taken_from_its_share(mode: str) -> None:
    lane, alone = in_mode(mode), in_mode("none")
    beside = [
        one
        for pod in ([] if mode == "kubernetes-novolume" else [runner_of(lane)])
        for one in containers(pod)
        if one.get("resources") and GPU not in one["resources"].get("limits", {})
    ]

    def asked(resource: str, unit: str) -> int:
        requests = [one["resources"]["requests"].get(resource, f"0{unit}") for one in beside]
        return sum(int(each.removesuffix(unit)) for each in requests)

    assert lane.job.sides == Resources(
        cpu_m=asked("cpu", "m"),
        memory_mib=asked("memory", "Mi"),
        disk_mib=asked("ephemeral-storage", "Mi"),
    )
    assert alone.job.request.memory_mib - lane.job.total.memory_mib in range(16)


@pytest.mark.parametrize("mode", MODES)
def test_the_job_lands_on_the_pools_of_its_lane(mode: str) -> None:
    lane = in_mode(mode)
    # In mode kubernetes the job's pod follows its runner, which has to land there.
    pod = runner_of(lane) if mode == "kubernetes" else job_of(lane)
    assert pools_of(pod) == [("gpu-runners/pool", ["t4"])]
    assert pod["spec"]["tolerations"] == [
        {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_a_runner_without_volume_waits_on_the_system_pool() -> None:
    pod = runner_of(in_mode("kubernetes-novolume"))
    assert pools_of(pod) == [("gpu-runners/role", ["system"])]
    assert not pod["spec"].get("tolerations")


def test_pools_are_preferred_in_the_order_of_the_lane() -> None:
    lane = lane_of(
        {
            LANE: {"pools": ["spot", "t4"], "gpus": 1, "max_runners": 1},
            "clusters.ci.eks.pools.spot": {"instance_types": ["g4dn.xlarge"], "max_size": 1},
        }
    )
    affinity = runner_of(lane)["spec"]["affinity"]["nodeAffinity"]
    (preferred,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preferred["preference"]["matchExpressions"][0]["values"] == ["spot"]
    assert pools_of(runner_of(lane)) == [("gpu-runners/pool", ["spot", "t4"])]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", ["1.33", "1.35"])
def test_every_pod_of_a_lane_is_one_that_kubernetes_takes(mode: str, version: str) -> None:
    lane = in_mode(mode)
    for pod in (runner_of(lane), job_of(lane), lane.release.values["listenerTemplate"]):
        completed = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "pod", **pod.get("metadata", {})},
            # Image and name are what the chart and the hooks put in.
            "spec": {
                **pod["spec"],
                "containers": [
                    {**one, "name": one["name"].lstrip("$"), "image": one.get("image", "filled-in")}
                    for one in pod["spec"]["containers"]
                ],
            },
        }
        kubernetes_validate.validate(completed, version, strict=True)


@pytest.mark.parametrize(
    ("mode", "of_the_chart"),
    [
        ("none", None),
        ("dind", None),
        ("kubernetes", {"type": "kubernetes"}),
        ("kubernetes-novolume", {"type": "kubernetes-novolume"}),
    ],
)
def test_the_chart_is_told_the_modes_that_it_must_complete(
    mode: str, of_the_chart: dict[str, str] | None
) -> None:
    lane = in_mode(mode)
    told = lane.release.values.get("containerMode")
    if mode == "kubernetes":
        claim = told.pop("kubernetesModeWorkVolumeClaim")
        disk = f"{lane.job.request.disk_mib}Mi"
        assert claim["resources"]["requests"]["storage"] == disk
    assert told == of_the_chart


def test_a_hook_template_is_found_by_the_runner_that_uses_it() -> None:
    lane = in_mode("kubernetes-novolume")
    assert lane.hook_template is not None
    assert lane.hook_template.name == "gpu-job-pod"
    (volume,) = runner_of(lane)["spec"]["volumes"]
    assert volume["configMap"] == {"name": lane.hook_template.name}
    environment = {
        one["name"]: one["value"] for one in runner_of(lane)["spec"]["containers"][0]["env"]
    }
    assert environment["ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE"].endswith(
        f"/{lane.hook_template.file}"
    )


@pytest.mark.parametrize("mode", MODES)
def test_variables_of_a_lane_reach_its_jobs(mode: str) -> None:
    pod = job_of(in_mode(mode, **{f"{LANE}.env": {"TORCH_HOME": "/data"}}))
    assert {"name": "TORCH_HOME", "value": "/data"} in [
        one for container in containers(pod) for one in container.get("env", [])
    ]


def test_a_runner_has_the_pinned_image_unless_the_lane_names_one() -> None:
    assert runner_of(lane_of())["spec"]["containers"][0]["image"] == "ghcr.io/example/runner:1"
    pinned = runner_of(lane_of({f"{LANE}.image": GONE}))["spec"]["containers"][0]["image"]
    assert pinned.startswith("ghcr.io/actions/actions-runner:2.")


def test_a_paused_lane_takes_no_jobs_and_stays() -> None:
    values = lane_of({f"{LANE}.paused": True}).release.values
    assert (values["minRunners"], values["maxRunners"]) == (0, 0)
    running = lane_of().release.values
    assert (running["minRunners"], running["maxRunners"]) == (1, 4)


def test_a_workflow_asks_by_the_lanes_name_or_by_any_of_its_labels() -> None:
    lane = lane_of({f"{LANE}.labels": ["cuda", "gpu", "t4"]})
    assert lane.runs_on == ("gpu", "cuda", "t4"), "each once, the name first"
    assert lane.release.values["scaleSetLabels"] == ["gpu", "cuda", "t4"]
    plain = lane_of({f"{LANE}.labels": GONE})
    assert plain.runs_on == ("gpu",)
    assert "scaleSetLabels" not in plain.release.values


def test_a_scale_set_is_made_anew_for_what_cannot_be_changed() -> None:
    assert lane_of().release.replaced_on == (
        "version",
        "values.scaleSetLabels",
        "values.githubConfigUrl",
    )


def test_a_scale_set_names_its_group_controller_and_secret_and_holds_no_secret() -> None:
    lane = lane_of()
    values = lane.release.values
    assert lane.release.name == values["runnerScaleSetName"] == "gpu"
    assert values["runnerGroup"] == "GPUs"
    assert values["githubConfigSecret"] == github_of().controller.credentials == "github-app"
    assert values["controllerServiceAccount"] == {
        "namespace": github_of().controller.release.namespace,
        "name": github_of().controller.release.values["serviceAccount"]["name"],
    }
    assert pools_of(values["listenerTemplate"]) == [("gpu-runners/role", ["system"])]


def test_the_controller_brings_no_definitions_and_names_the_files_that_do() -> None:
    controller = github_of({"charts": {}}).controller
    assert controller.release.skip_crds
    assert len(controller.crd_files) == 4
    assert all(
        f"gha-runner-scale-set-{controller.release.version}/" in one for one in controller.crd_files
    )
    mirrored = github_of().controller
    assert all(one.startswith("https://charts.example.com/arc-crds/") for one in mirrored.crd_files)


def test_only_a_dind_lane_makes_the_namespace_privileged() -> None:
    assert not github_of().controller.privileged_runners
    assert github_of({f"{LANE}.container_mode": "dind"}).controller.privileged_runners


def test_credentials_are_the_apps_or_a_secret_that_is_there() -> None:
    own = github_of()
    assert own.private_key == "githubAppKey"
    assert own.controller.app is not None
    assert own.controller.external_secret is None
    theirs = github_of(name="existing")
    assert (theirs.private_key, theirs.controller.app) == (None, None)
    secret = theirs.controller.external_secret
    assert secret is not None
    assert (secret.name, secret.namespace) == ("app-keys", "arc-runners")
    assert secret.keys == (
        "github_app_id",
        "github_app_installation_id",
        "github_app_private_key",
    )
    assert theirs.lanes[0].release.values["githubConfigSecret"] == "app-keys"


def test_a_secret_for_the_runners_of_an_enterprise_holds_a_token() -> None:
    url = {"clusters.existing.github.url": "https://github.com/Enterprises/example"}
    secret = github_of(url, name="existing").controller.external_secret
    assert secret is not None
    assert secret.keys == ("github_token",), "GitHub takes no App there"


def test_a_lane_without_gpus_asks_for_none_and_tolerates_nothing() -> None:
    (lane,) = github_of(name="existing").lanes
    pod = runner_of(lane)
    assert gpus(pod) == {}
    assert not pod["spec"].get("tolerations")
    assert pools_of(pod) == [("gpu-runners/pool", ["system"])]
