"""The pods of a GitHub lane: who asks for the GPU, and where each pod may run."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.kubernetes.pods import PodTemplate, Size, Toleration, selector_affinity, work_claim
from fleet.kubernetes.values import to_values
from fleet.runners.arc_pods import (
    HOOK_TEMPLATE_FILE,
    JobShape,
    dind_pod,
    job_pod_template,
    kubernetes_runner_pod,
    novolume_runner_pod,
    runner_pod,
)

GPU_TAINT = Toleration(key="nvidia.com/gpu", effect="NoSchedule")
ON_GPU = selector_affinity([{"gpu-runners/pool": "t4-spot"}, {"gpu-runners/pool": "t4"}])
ON_CPU = selector_affinity([{"gpu-runners/role": "system"}])
LAUNCHER = Size(cpu_m=250, memory_mib=512)
DOCKER = Size(cpu_m=1000, memory_mib=2048, disk_mib=50_000)


def job(**changes: Any) -> JobShape:
    given: dict[str, Any] = {
        "image": "ghcr.io/actions/actions-runner:2.330.0",
        "gpus": 1,
        "cpu_m": 3000,
        "memory_mib": 12_000,
        "disk_mib": 40_000,
        "shm_mib": 4096,
        "affinity": ON_GPU,
        "tolerations": (GPU_TAINT,),
        "env": {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
    }
    return JobShape(**{**given, **changes})


JOB_RESOURCES = {
    "requests": {
        "cpu": "3000m",
        "memory": "12000Mi",
        "ephemeral-storage": "40000Mi",
        "nvidia.com/gpu": 1,
    },
    "limits": {"memory": "12000Mi", "nvidia.com/gpu": 1},
}

# Every lane's own pod and, where it has one, the pod of its job.
RUNNER = to_values(runner_pod(job()))
DIND = to_values(dind_pod(job(), docker_image="docker:28-dind", docker=DOCKER))
NOVOLUME = to_values(
    novolume_runner_pod(job(), runner=LAUNCHER, hook_template="hook", affinity=ON_CPU)
)
NOVOLUME_JOB = job_pod_template(job(), mode="kubernetes-novolume")
KUBERNETES = to_values(kubernetes_runner_pod(job(), runner=LAUNCHER, hook_template="hook"))
KUBERNETES_JOB = job_pod_template(job(), mode="kubernetes")


def container(pod: dict[str, Any], name: str) -> dict[str, Any]:
    everything = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]
    return next(each for each in everything if each["name"] == name)


def environment(pod: dict[str, Any], name: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(pod, name)["env"]}


def gpu_requests(pod: dict[str, Any]) -> dict[str, int]:
    everything = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]
    return {
        each["name"]: each["resources"]["requests"]["nvidia.com/gpu"]
        for each in everything
        if "nvidia.com/gpu" in each.get("resources", {}).get("requests", {})
    }


@pytest.mark.parametrize(
    ("pods", "asking"),
    [
        ([RUNNER], [{"runner": 1}]),
        ([DIND], [{"runner": 1}]),
        ([NOVOLUME, NOVOLUME_JOB], [{}, {"$job": 1}]),
        ([KUBERNETES, KUBERNETES_JOB], [{}, {"$job": 1}]),
    ],
    ids=["runner", "dind", "novolume", "kubernetes"],
)
def test_exactly_one_container_of_a_lane_asks_for_the_gpu(
    pods: list[dict[str, Any]], asking: list[dict[str, int]]
) -> None:
    assert [gpu_requests(pod) for pod in pods] == asking


@pytest.mark.parametrize(
    ("pod", "name"),
    [(RUNNER, "runner"), (DIND, "runner"), (NOVOLUME_JOB, "$job"), (KUBERNETES_JOB, "$job")],
    ids=["runner", "dind", "novolume", "kubernetes"],
)
def test_the_job_asks_for_cpu_and_memory_beside_the_gpu_and_has_shared_memory(
    pod: dict[str, Any], name: str
) -> None:
    assert container(pod, name)["resources"] == JOB_RESOURCES
    assert {"name": "shared-memory", "mountPath": "/dev/shm"} in container(pod, name)[
        "volumeMounts"
    ]
    assert {
        "name": "shared-memory",
        "emptyDir": {"medium": "Memory", "sizeLimit": "4096Mi"},
    } in pod["spec"]["volumes"]
    assert environment(pod, name)["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility"


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME, KUBERNETES])
def test_every_runner_runs_the_runner_script_of_its_image(pod: dict[str, Any]) -> None:
    runner = container(pod, "runner")
    assert runner["image"] == "ghcr.io/actions/actions-runner:2.330.0"
    assert runner["command"] == ["/home/runner/run.sh"]


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME_JOB, KUBERNETES])
def test_pods_of_the_gpu_pools_select_them_and_tolerate_their_taint(pod: dict[str, Any]) -> None:
    assert pod["spec"]["affinity"] == to_values(ON_GPU)
    assert pod["spec"]["tolerations"] == [to_values(GPU_TAINT)]


def test_a_runner_that_only_launches_stays_on_cpu_nodes() -> None:
    assert NOVOLUME["spec"]["affinity"] == to_values(ON_CPU)
    assert "tolerations" not in NOVOLUME["spec"], "it would be allowed onto a GPU node"


def test_a_job_pod_on_its_runners_node_keeps_the_affinity_that_the_hooks_give_it() -> None:
    assert "affinity" not in KUBERNETES_JOB["spec"], "it would replace the hooks' own"
    assert environment(KUBERNETES, "runner")["ACTIONS_RUNNER_USE_KUBE_SCHEDULER"] == "true"
    assert KUBERNETES_JOB["spec"]["tolerations"] == [to_values(GPU_TAINT)]


def test_only_the_lane_with_a_shared_volume_ties_job_and_runner() -> None:
    assert "ACTIONS_RUNNER_USE_KUBE_SCHEDULER" not in environment(NOVOLUME, "runner")
    assert KUBERNETES["spec"]["securityContext"] == {"fsGroup": 1001}
    assert "securityContext" not in NOVOLUME["spec"]


@pytest.mark.parametrize("pod", [NOVOLUME, KUBERNETES])
def test_a_launcher_finds_its_hook_template_where_it_is_mounted(pod: dict[str, Any]) -> None:
    variables = environment(pod, "runner")
    (mount,) = container(pod, "runner")["volumeMounts"]
    path = variables["ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE"]
    assert path == f"{mount['mountPath']}/{HOOK_TEMPLATE_FILE}"
    assert mount["readOnly"] is True
    assert pod["spec"]["volumes"] == [{"name": mount["name"], "configMap": {"name": "hook"}}]


@pytest.mark.parametrize("pod", [NOVOLUME, KUBERNETES])
def test_a_launcher_refuses_jobs_that_would_run_in_it_and_waits_for_a_cold_node(
    pod: dict[str, Any],
) -> None:
    variables = environment(pod, "runner")
    assert variables["ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER"] == "true"
    assert int(variables["ACTIONS_RUNNER_PREPARE_JOB_TIMEOUT_SECONDS"]) >= 900
    assert container(pod, "runner")["resources"]["requests"] == {"cpu": "250m", "memory": "512Mi"}


@pytest.mark.parametrize("pod", [NOVOLUME, KUBERNETES])
def test_a_launcher_leaves_its_account_to_the_chart_even_when_the_job_has_one(
    pod: dict[str, Any],
) -> None:
    assert "serviceAccountName" not in pod["spec"]
    named = kubernetes_runner_pod(
        job(service_account_name="jobs"), runner=LAUNCHER, hook_template="hook"
    )
    assert named.spec.service_account_name is None


def test_a_job_pod_has_a_token_of_the_cluster_only_with_an_account_of_its_own() -> None:
    assert NOVOLUME_JOB["spec"]["automountServiceAccountToken"] is False
    named = job_pod_template(job(service_account_name="jobs"), mode="kubernetes-novolume")["spec"]
    assert named["serviceAccountName"] == "jobs"
    assert "automountServiceAccountToken" not in named


def test_the_hook_template_leaves_image_name_and_init_containers_to_the_hooks() -> None:
    assert set(container(NOVOLUME_JOB, "$job")) == {"name", "env", "resources", "volumeMounts"}
    assert "initContainers" not in NOVOLUME_JOB["spec"], "it would replace the hooks' own"
    assert not {"work", "externals", "github"} & {
        volume["name"] for volume in NOVOLUME_JOB["spec"]["volumes"]
    }, "the hooks own these volumes"


def test_in_dind_only_the_daemon_is_privileged() -> None:
    privileged = {
        each["name"]
        for each in [*DIND["spec"]["containers"], *DIND["spec"]["initContainers"]]
        if each.get("securityContext", {}).get("privileged")
    }
    assert privileged == {"dind"}


@pytest.mark.parametrize("pod", [RUNNER, NOVOLUME, NOVOLUME_JOB, KUBERNETES, KUBERNETES_JOB])
def test_no_other_lane_is_privileged(pod: dict[str, Any]) -> None:
    assert all("securityContext" not in each for each in pod["spec"]["containers"])


def test_the_dind_daemon_is_a_sidecar_with_a_size_of_its_own() -> None:
    daemon = container(DIND, "dind")
    assert daemon["restartPolicy"] == "Always"
    assert daemon["startupProbe"]["exec"] == {"command": ["docker", "info"]}
    assert daemon["image"] == "docker:28-dind"
    assert daemon["args"] == ["dockerd", "--host=unix:///var/run/docker.sock", "--group=123"]
    assert daemon["resources"] == {
        "requests": {"cpu": "1000m", "memory": "2048Mi", "ephemeral-storage": "50000Mi"},
        "limits": {"memory": "2048Mi"},
    }


def test_runner_and_daemon_share_work_directory_socket_and_externals() -> None:
    def mounts(name: str) -> dict[str, str]:
        return {each["name"]: each["mountPath"] for each in container(DIND, name)["volumeMounts"]}

    assert (
        mounts("runner").items() >= {"work": "/home/runner/_work", "dind-sock": "/var/run"}.items()
    )
    assert mounts("dind") == {
        "work": "/home/runner/_work",
        "dind-sock": "/var/run",
        "dind-externals": "/home/runner/externals",
    }
    assert mounts("init-dind-externals") == {"dind-externals": "/home/runner/tmpDir"}
    assert environment(DIND, "runner")["DOCKER_HOST"] == "unix:///var/run/docker.sock"
    assert environment(DIND, "runner")["RUNNER_WAIT_FOR_DOCKER_IN_SECONDS"] == "120"
    externals = container(DIND, "init-dind-externals")
    assert externals["image"] == container(DIND, "runner")["image"]
    assert externals["command"] == [
        "cp",
        "-r",
        "/home/runner/externals/.",
        "/home/runner/tmpDir/",
    ]
    # The externals come first: the daemon has to find them.
    assert [each["name"] for each in DIND["spec"]["initContainers"]] == [
        "init-dind-externals",
        "dind",
    ]


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME, NOVOLUME_JOB, KUBERNETES, KUBERNETES_JOB])
def test_every_mount_of_a_pod_has_its_volume(pod: dict[str, Any]) -> None:
    everything = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]
    mounted = {each["name"] for one in everything for each in one["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_a_dind_lane_may_work_on_a_claim_that_the_runners_user_can_write() -> None:
    pod = to_values(
        dind_pod(job(), docker_image="docker:28-dind", docker=DOCKER, work=work_claim(1024, "gp3"))
    )
    work = next(volume for volume in pod["spec"]["volumes"] if volume["name"] == "work")
    assert "emptyDir" not in work
    assert work["ephemeral"]["volumeClaimTemplate"]["spec"]["storageClassName"] == "gp3"
    assert pod["spec"]["securityContext"] == {"fsGroup": 1001}


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME, NOVOLUME_JOB, KUBERNETES, KUBERNETES_JOB])
def test_no_pod_of_a_lane_is_evicted_by_the_autoscaler(pod: dict[str, Any]) -> None:
    annotations = pod["metadata"]["annotations"]
    assert annotations == {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}


def test_labels_pull_secrets_and_grace_reach_the_launcher_too() -> None:
    shape = job(
        labels={"lane": "t4"}, image_pull_secrets=("pull",), termination_grace_period_seconds=90
    )
    pod = to_values(novolume_runner_pod(shape, runner=LAUNCHER, hook_template="hook"))
    assert pod["metadata"]["labels"] == {"lane": "t4"}
    assert pod["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    assert pod["spec"]["terminationGracePeriodSeconds"] == 90


def test_labels_pull_secrets_and_runtime_class_reach_the_pod_of_the_job() -> None:
    shape = job(
        labels={"lane": "t4"},
        image_pull_secrets=("pull",),
        runtime_class_name="nvidia",
        termination_grace_period_seconds=90,
        service_account_name="jobs",
    )
    template: PodTemplate = runner_pod(shape)
    for pod in (to_values(template), job_pod_template(shape, mode="kubernetes")):
        assert pod["metadata"]["labels"] == {"lane": "t4"}
        assert pod["spec"]["imagePullSecrets"] == [{"name": "pull"}]
        assert pod["spec"]["runtimeClassName"] == "nvidia"
        assert pod["spec"]["terminationGracePeriodSeconds"] == 90
        assert pod["spec"]["serviceAccountName"] == "jobs"


def test_a_job_may_not_choose_the_gpus_that_it_sees() -> None:
    with pytest.raises(ValueError, match="NVIDIA_VISIBLE_DEVICES"):
        job(env={"NVIDIA_VISIBLE_DEVICES": "all"})
