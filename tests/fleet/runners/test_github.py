"""GitHub lanes: the pods of each container mode, the scale set, and the controller."""

import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from fleet.config.references import secret_uses
from fleet.kubernetes.resources import Resources
from fleet.plan import GitHubPlan
from fleet.runners.github import HOOK_TEMPLATE_FILE, GitHubLanePlan
from fleet.runners.lanes import generation, generation_name
from tests.fleet.samples import GONE, SHIPPED, cluster_of, every_key, loaded, refused, shipped_stack

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


def container(pod: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in containers(pod) if each["name"] == name)


def environment(pod: dict[str, Any], name: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(pod, name).get("env", [])}


def gpus(pod: dict[str, Any]) -> dict[str, int]:
    """Return the number of GPUs by container."""
    return {
        one["name"]: one["resources"]["limits"][GPU]
        for one in containers(pod)
        if GPU in one.get("resources", {}).get("limits", {})
    }


def runner_of(lane: GitHubLanePlan) -> dict[str, Any]:
    return lane.release.values["template"]


def job_of(lane: GitHubLanePlan) -> dict[str, Any]:
    """Return the pod in which the job runs."""
    return lane.hook_template.content if lane.hook_template is not None else runner_of(lane)


def pools_of(pod: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the node labels that the pod requires."""
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
def test_exactly_one_container_of_a_lane_requests_the_gpu(
    mode: str, on_runner: dict[str, int], on_job: dict[str, int]
) -> None:
    lane = in_mode(mode)
    assert gpus(runner_of(lane)) == on_runner
    assert gpus(job_of(lane)) == on_job


@pytest.mark.parametrize("mode", MODES)
def test_the_container_of_the_job_requests_gpu_cpu_memory_and_disk(mode: str) -> None:
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
def test_the_requests_of_side_containers_are_subtracted_from_the_share(mode: str) -> None:
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

    assert lane.job.side_containers == Resources(
        cpu_m=asked("cpu", "m"),
        memory_mib=asked("memory", "Mi"),
        disk_mib=asked("ephemeral-storage", "Mi"),
    )
    assert alone.job.request.memory_mib - lane.job.total.memory_mib in range(16)


@pytest.mark.parametrize("mode", MODES)
def test_the_job_runs_on_the_pools_of_its_lane(mode: str) -> None:
    lane = in_mode(mode)
    # In mode kubernetes the job's pod follows its runner, which has to land there.
    pod = runner_of(lane) if mode == "kubernetes" else job_of(lane)
    assert pools_of(pod) == [("gpu-runners/pool", ["t4"])]
    assert pod["spec"]["tolerations"] == [
        {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_a_runner_that_only_starts_job_pods_runs_on_the_system_pool() -> None:
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
def test_every_pod_of_a_lane_is_valid_for_kubernetes(mode: str, version: str) -> None:
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
def test_the_chart_gets_the_container_modes_that_it_completes(
    mode: str, of_the_chart: dict[str, str] | None
) -> None:
    lane = in_mode(mode)
    told = lane.release.values.get("containerMode")
    if mode == "kubernetes":
        claim = told.pop("kubernetesModeWorkVolumeClaim")
        disk = f"{lane.job.request.disk_mib}Mi"
        assert claim["resources"]["requests"]["storage"] == disk
    assert told == of_the_chart


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


def test_a_paused_lane_has_no_runners_and_is_not_deleted() -> None:
    values = lane_of({f"{LANE}.paused": True}).release.values
    assert (values["minRunners"], values["maxRunners"]) == (0, 0)
    running = lane_of().release.values
    assert (running["minRunners"], running["maxRunners"]) == (1, 4)


def test_a_scale_set_has_the_lanes_name_and_its_labels() -> None:
    lane = lane_of({f"{LANE}.labels": ["cuda", "gpu", "t4"]})
    assert lane.labels == ("gpu", "cuda", "t4"), "each once, the name first"
    assert lane.release.values["scaleSetLabels"] == ["gpu", "cuda", "t4"]
    plain = lane_of({f"{LANE}.labels": GONE})
    assert plain.labels == ("gpu",)
    assert plain.release.values["scaleSetLabels"] == ["gpu"], "jobs find any generation by it"


def test_what_is_read_at_registration_only_makes_a_new_generation() -> None:
    first = lane_of()
    for changes in (
        {f"{LANE}.labels": ["other"]},
        {"clusters.ci.github.url": "https://github.com/another"},
        {"charts.arc_version": "0.99.0"},
        {f"{LANE}.container_mode": "kubernetes-novolume"},
        {f"{LANE}.kubernetes_access": {"namespaces": ["jobs"]}},
    ):
        other = lane_of(changes)
        assert other.generation != first.generation, changes
        assert other.release.name != first.release.name
    patched, pinned = ({"charts.arc_version": f"0.14.{patch}"} for patch in (1, 2))
    assert lane_of(patched).release.name == lane_of(pinned).release.name, "a patch is in place"
    for changes in ({f"{LANE}.max_runners": 9}, {f"{LANE}.drain_minutes": 5}):
        assert lane_of(changes).release.name == first.release.name


def test_the_same_lane_has_another_set_on_another_cluster() -> None:
    assert generation("a", "gpu", 1) != generation("b", "gpu", 1), "GitHub would see one set"
    assert generation_name("l" * 45, "01234", 45) == "l" * 39 + "-01234"


def test_running_jobs_have_the_lanes_time_to_end() -> None:
    assert (lane_of().drain_minutes, lane_of().release.drain_s) == (60, 3600)
    assert lane_of({f"{LANE}.drain_minutes": 5}).release.drain_s == 300


def test_a_scale_set_names_its_group_controller_and_secret() -> None:
    lane = lane_of()
    values = lane.release.values
    assert lane.release.name == values["runnerScaleSetName"] == f"gpu-{lane.generation}"
    assert values["runnerGroup"] == "GPUs"
    assert values["githubConfigSecret"] == github_of().controller.credentials == "github-app"
    assert values["controllerServiceAccount"] == {
        "namespace": github_of().controller.release.namespace,
        "name": github_of().controller.release.values["serviceAccount"]["name"],
    }
    assert pools_of(values["listenerTemplate"]) == [("gpu-runners/role", ["system"])]


def test_the_controller_release_skips_the_crds_and_the_plan_lists_their_files() -> None:
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


def test_credentials_are_an_app_or_an_existing_secret() -> None:
    own = github_of()
    assert own.private_key == "githubAppKey"
    assert own.controller.app is not None
    assert own.lanes[0].external_secret is None
    theirs = github_of(name="existing")
    assert (theirs.private_key, theirs.controller.app) == (None, None)
    secret = theirs.lanes[0].external_secret
    assert secret is not None
    assert (secret.name, secret.namespace) == ("app-keys", "arc-runners")
    assert secret.keys == ("github_app_id", "github_app_installation_id", "github_app_private_key")
    assert theirs.lanes[0].release.values["githubConfigSecret"] == "app-keys"


def test_the_existing_secret_of_an_enterprise_has_a_token() -> None:
    url = {"clusters.existing.github.url": "https://github.com/Enterprises/example"}
    secret = github_of(url, name="existing").lanes[0].external_secret
    assert secret is not None
    assert secret.keys == ("github_token",), "GitHub takes no App there"


def test_a_lane_without_gpus_requests_none_and_tolerates_no_taint() -> None:
    (lane,) = github_of(name="existing").lanes
    pod = runner_of(lane)
    assert gpus(pod) == {}
    assert not pod["spec"].get("tolerations")
    assert pools_of(pod) == [("gpu-runners/pool", ["system"])]


def test_the_values_of_a_scale_set_have_the_charts_keys() -> None:
    values = in_mode("kubernetes").release.values
    assert set(values) == {
        *("githubConfigUrl", "githubConfigSecret", "runnerScaleSetName", "minRunners"),
        *("maxRunners", "template", "controllerServiceAccount", "scaleSetLabels", "runnerGroup"),
        *("containerMode", "listenerTemplate"),
    }
    assert values["listenerTemplate"]["spec"]["containers"] == [
        {
            "name": "listener",
            "resources": {
                "requests": {"cpu": "50m", "memory": "128Mi"},
                "limits": {"memory": "128Mi"},
            },
        }
    ]


def test_the_values_of_the_controller_have_the_charts_keys() -> None:
    values = dict(github_of().controller.release.values)
    assert values.pop("affinity")["nodeAffinity"]
    assert values == {
        "serviceAccount": {"name": "arc-controller"},
        "replicaCount": 1,
        "flags": {
            "logLevel": "info",
            # With `eventual`, a busy set has no listener after a change.
            "updateStrategy": "immediate",
            "runnerMaxConcurrentReconciles": 10,
        },
        "resources": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"memory": "256Mi"},
        },
    }


RUNNER, DIND = (runner_of(in_mode(mode)) for mode in ("none", "dind"))
NOVOLUME, KUBERNETES = (runner_of(in_mode(mode)) for mode in ("kubernetes-novolume", "kubernetes"))
NOVOLUME_JOB, KUBERNETES_JOB = (
    job_of(in_mode(mode)) for mode in ("kubernetes-novolume", "kubernetes")
)
ACCESS = {f"{LANE}.kubernetes_access": {"namespaces": ["ci-jobs"]}}


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME_JOB, KUBERNETES_JOB])
def test_the_job_has_shared_memory_of_half_its_memory(pod: dict[str, Any]) -> None:
    (volume,) = [one for one in pod["spec"]["volumes"] if one["name"] == "shared-memory"]
    assert volume["emptyDir"]["medium"] == "Memory"
    (job,) = [one for one in containers(pod) if GPU in one.get("resources", {}).get("limits", {})]
    memory = int(job["resources"]["limits"]["memory"].removesuffix("Mi"))
    assert volume["emptyDir"]["sizeLimit"] == f"{memory // 2}Mi"
    assert {"name": "shared-memory", "mountPath": "/dev/shm"} in job["volumeMounts"]


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME, KUBERNETES])
def test_every_runner_runs_the_runner_script_of_its_image(pod: dict[str, Any]) -> None:
    runner = container(pod, "runner")
    assert runner["image"] == "ghcr.io/example/runner:1"
    assert runner["command"] == ["/home/runner/run.sh"]


def test_a_job_pod_on_its_runners_node_keeps_the_affinity_that_the_hooks_give_it() -> None:
    assert "affinity" not in KUBERNETES_JOB["spec"], "it would replace the hooks' own"
    assert environment(KUBERNETES, "runner")["ACTIONS_RUNNER_USE_KUBE_SCHEDULER"] == "true"


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
    assert pod["spec"]["volumes"] == [{"name": mount["name"], "configMap": {"name": "gpu-job-pod"}}]


@pytest.mark.parametrize("pod", [NOVOLUME, KUBERNETES])
def test_a_launcher_refuses_jobs_that_would_run_in_it_and_waits_for_a_cold_node(
    pod: dict[str, Any],
) -> None:
    variables = environment(pod, "runner")
    assert variables["ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER"] == "true"
    assert int(variables["ACTIONS_RUNNER_PREPARE_JOB_TIMEOUT_SECONDS"]) >= 900
    assert container(pod, "runner")["resources"]["requests"] == {"cpu": "250m", "memory": "512Mi"}


@pytest.mark.parametrize("mode", ["kubernetes", "kubernetes-novolume"])
def test_a_launcher_has_an_account_of_its_own_even_when_the_job_has_one(mode: str) -> None:
    lane = in_mode(mode, **ACCESS)
    assert lane.hooks is not None
    assert runner_of(lane)["spec"]["serviceAccountName"] == lane.hooks.account
    assert lane.hooks.account.startswith(lane.release.name), "each generation has its own"
    assert lane_of().hooks is None


def test_a_job_pod_has_a_token_of_the_cluster_only_with_an_account_of_its_own() -> None:
    assert NOVOLUME_JOB["spec"]["automountServiceAccountToken"] is False
    named = job_of(in_mode("kubernetes-novolume", **ACCESS))["spec"]
    assert named["serviceAccountName"] == "github-gpu-jobs"
    assert "automountServiceAccountToken" not in named


def test_the_hook_template_leaves_image_name_and_init_containers_to_the_hooks() -> None:
    assert set(container(NOVOLUME_JOB, "$job")) == {*("name", "env", "resources", "volumeMounts")}
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
    assert daemon["image"].endswith("-dind")
    assert daemon["args"] == ["dockerd", "--host=unix:///var/run/docker.sock", "--group=123"]
    assert daemon["resources"] == {
        "requests": {"cpu": "500m", "memory": "1024Mi", "ephemeral-storage": "20480Mi"},
        "limits": {"memory": "1024Mi"},
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
    assert externals["command"] == ["cp", "-r", "/home/runner/externals/.", "/home/runner/tmpDir/"]
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


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME, NOVOLUME_JOB, KUBERNETES, KUBERNETES_JOB])
def test_no_pod_of_a_lane_is_evicted_by_the_autoscaler(pod: dict[str, Any]) -> None:
    annotations = pod["metadata"]["annotations"]
    assert annotations == {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    assert pod["metadata"]["labels"] == {"gpu-runners/job": "true"}, "the budget selects it"


@pytest.mark.parametrize("pod", [RUNNER, DIND, NOVOLUME, KUBERNETES])
@pytest.mark.parametrize(("process", "code"), [("Runner.Listener", 1), ("Runner.Worker", 0)])
def test_a_runner_is_ready_while_it_runs_a_job(
    pod: dict[str, Any], process: str, code: int, tmp_path: Path
) -> None:
    """An idle runner is not ready, so that an eviction does not wait for it."""
    (runner,) = (one for one in pod["spec"]["containers"] if one["name"] == "runner")
    command: list[str] = runner["readinessProbe"]["exec"]["command"]
    for number, line in ((1, "/bin/bash /home/runner/run.sh"), (7, f"/home/runner/bin/{process}")):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "cmdline").write_bytes(line.replace(" ", "\0").encode())
    inside = [part.replace("/proc/", f"{tmp_path}/") for part in command]
    assert subprocess.run(inside, check=False).returncode == code  # noqa: S603 -- our command


@pytest.mark.parametrize("pod", [NOVOLUME_JOB, KUBERNETES_JOB])
def test_a_job_pod_is_always_ready(pod: dict[str, Any]) -> None:
    assert not any("readinessProbe" in one for one in pod["spec"]["containers"])


APP = "clusters.ci.github.app.private_key"
API = "clusters.ci.gitlab.api_token"
TOKEN = "clusters.ci.gitlab.lanes.token.token"
HONEY = "clusters.honey.gitlab.lanes.ska-gpu-a100.token"


def test_every_secret_of_a_stack_is_listed_with_its_place() -> None:
    assert list(secret_uses(every_key())) == [
        (APP, "githubAppKey"),
        (API, "gitlabApiToken"),
        (TOKEN, "runnerToken"),
        (HONEY, "runnerToken"),
    ]


def test_each_missing_secret_is_told_with_the_command_that_sets_it() -> None:
    findings = refused(every_key(), has_secrets=False)
    assert [(one.path, one.remedy) for one in findings] == [
        (APP, "run: pulumi config set --secret gpu-runners:githubAppKey"),
        (API, "run: pulumi config set --secret gpu-runners:gitlabApiToken"),
        (TOKEN, "run: pulumi config set --secret gpu-runners:runnerToken"),
        (HONEY, "run: pulumi config set --secret gpu-runners:runnerToken"),
    ]
    assert {one.rule for one in findings} == {"secrets"}


def test_a_place_that_names_no_secret_is_not_asked_for_one() -> None:
    data = every_key({APP: "-----BEGIN"})
    assert [one.path for one in refused(data, has_secrets=False)] == [APP, API, TOKEN, HONEY]
    assert (
        "is text, but a stack file never contains the value of a secret"
        in refused(data, has_secrets=False)[0].message
    )


def test_a_shipped_stack_needs_these_two() -> None:
    for name in SHIPPED:
        assert loaded(shipped_stack(name)).secret_names == {"githubAppKey", "gitlabApiToken"}


def test_no_secret_is_named_in_what_is_sent_to_a_chart() -> None:
    plan = loaded(every_key()).plan
    sent = repr(
        [
            lane.release.values
            for cluster in plan.clusters
            for side in (cluster.github, cluster.gitlab)
            if side is not None
            for lane in side.lanes
        ]
    )
    assert not [one for one in ("githubAppKey", "gitlabApiToken", "runnerToken") if one in sent]
