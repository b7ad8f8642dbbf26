"""The examples: one stack file per system in the seeds, with the seed's numbers; its rehearsal.

A setting is asserted where it takes effect: in the plan, in Helm values, in `config.toml`.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.kubernetes.resources import parse_cpu, parse_memory_mib
from fleet.load import Fleet, load
from fleet.plan import ClusterPlan
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan
from rehearsal import stackfile
from rehearsal.run import rehearse
from tests.exhaustive import exhaustive

ROOT = Path(__file__).parent.parent
SYSTEMS = (
    "gloriousflywheel-gitlab",
    "gloriousflywheel-honey",
    "kubeflow-trainer",
    "pytorch-cloud-production",
    "pytorch-cloud-staging",
    "ska-dp",
    "ska-techops",
)

every_example = pytest.mark.parametrize("system", SYSTEMS)


def path(system: str) -> Path:
    return ROOT / "examples" / f"{system}.yaml"


@cache
def fleet(system: str) -> Fleet:
    file = stackfile.read(path(system))
    return load(file.stack, source=system, has_secret=lambda _name: True)


def cluster(system: str) -> ClusterPlan:
    (found,) = fleet(system).plan.clusters
    return found


def github_lane(system: str, name: str) -> GitHubLanePlan:
    side = cluster(system).github
    assert side is not None
    return next(lane for lane in side.lanes if lane.name == name)


def gitlab_lane(system: str, name: str) -> GitLabLanePlan:
    side = cluster(system).gitlab
    assert side is not None
    return next(lane for lane in side.lanes if lane.name == name)


def gitlab_lanes(system: str) -> set[str]:
    side = cluster(system).gitlab
    assert side is not None
    return {lane.name for lane in side.lanes}


def runner(lane: GitLabLanePlan) -> dict[str, Any]:
    """Return the only runner in the `config.toml` of the chart's values."""
    (found,) = tomllib.loads(lane.release.values["runners"]["config"])["runners"]
    return found


def runner_container(lane: GitHubLanePlan) -> dict[str, Any]:
    containers = lane.release.values["template"]["spec"]["containers"]
    return next(one for one in containers if one["name"] == "runner")


def quantity(text: str | int) -> int:
    return parse_memory_mib(str(text))


def test_every_system_of_the_seeds_has_its_example() -> None:
    assert {file.stem for file in (ROOT / "examples").iterdir()} == set(SYSTEMS)


@every_example
def test_an_example_is_a_complete_stack_file_that_names_its_seed(system: str) -> None:
    file = stackfile.read(path(system))
    assert file.data["config"]["pulumi:disable-default-providers"] == ["*"]
    head = [line for line in file.text.splitlines() if line.startswith("#")]
    assert head[0] == "# yaml-language-server: $schema=../stack.schema.json"
    assert any(line.startswith("# Seed: ") for line in head)
    assert f"`{system}`" in (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")


@every_example
def test_an_example_loads_and_every_lane_of_it_is_planned(system: str) -> None:
    planned = {lane.path for one in fleet(system).plan.clusters for lane in one.lanes}
    written = {
        f"clusters.{name}.{forge}.lanes.{lane}"
        for name, spec in fleet(system).stack.clusters.items()
        for forge in ("github", "gitlab")
        if (side := getattr(spec, forge)) is not None
        for lane in side.lanes
    }
    assert planned == written


@pytest.mark.engine
def test_all_examples_in_one_stack_are_created_unchanged_and_destroyed(tmp_path: Path) -> None:
    documents = [stackfile.read(path(system)).data["config"] for system in SYSTEMS]
    stacks = [document["gpu-runners:stack"] for document in documents]
    joined = {
        "protect": any(stack.get("protect") for stack in stacks),
        "tags": {
            key.lower(): tag for stack in stacks for key, tag in stack.get("tags", {}).items()
        },
        "clusters": {name: one for stack in stacks for name, one in stack["clusters"].items()},
    }
    assert {key for stack in stacks for key in stack} == joined.keys()
    assert len(joined["clusters"]) == sum(len(stack["clusters"]) for stack in stacks)
    file = tmp_path / "Pulumi.examples.yaml"
    config = {**documents[0], "gpu-runners:stack": joined}
    file.write_text(yaml.safe_dump({"config": config}), encoding="utf-8")
    assert rehearse(file, folder=tmp_path / "left").problems == ()


@exhaustive
@pytest.mark.engine
@every_example
def test_an_example_alone_is_created_unchanged_and_destroyed(system: str, tmp_path: Path) -> None:
    assert rehearse(path(system), folder=tmp_path / "left").problems == ()


# system, lane, tag, CPU, memory, memory limit, GPUs, jobs: the rows of the two tables of the seed
SIZE_CLASSES = (
    ("ska-techops", "ska-default", "2", "8G", "16Gi", 0, 100),
    ("ska-techops", "ska-k8s", "2", "8G", "16Gi", 0, 42),
    ("ska-techops", "ska-default-large", "4", "16G", "32Gi", 0, 5),
    ("ska-techops", "ska-default-xlarge", "16", "64G", "112Gi", 0, 2),
    ("ska-techops", "ska-gpu-a100", "2", "8Gi", "16Gi", 1, 30),
    ("ska-dp", "ska-dp-default", "2", "8Gi", "16Gi", 0, 20),
    ("ska-dp", "ska-dp-gpu-a100", "2", "8Gi", "16Gi", 1, 8),
)


@pytest.mark.parametrize(
    ("system", "tag", "cpu", "memory", "limit", "gpus", "jobs"),
    SIZE_CLASSES,
    ids=[row[1] for row in SIZE_CLASSES],
)
def test_ska_size_classes_are_those_of_its_tables(
    system: str, tag: str, cpu: str, memory: str, limit: str, gpus: int, jobs: int
) -> None:
    lane = gitlab_lane(system, tag)
    assert lane.labels == (tag,)
    assert lane.release.values["concurrent"] == jobs
    executor = runner(lane)["kubernetes"]
    assert parse_cpu(executor["cpu_request"]) == parse_cpu(cpu)
    assert "cpu_limit" not in executor, "Unlimited in the table"
    assert quantity(executor["memory_request"]) == quantity(memory)
    assert quantity(executor["memory_limit"]) == quantity(limit)
    assert lane.job.gpus == gpus
    assert ("pod_spec" in executor) == bool(gpus), "a patch of the pod requests the GPU"


def test_ska_lanes_are_exactly_the_rows_of_its_tables() -> None:
    for system in ("ska-techops", "ska-dp"):
        rows = {row[1] for row in SIZE_CLASSES if row[0] == system}
        assert gitlab_lanes(system) == rows


def test_ska_gpus_are_as_many_as_its_runner_promises() -> None:
    pools = {pool.name: pool for pool in cluster("ska-dp").pools}
    cards = [pools[name] for name in gitlab_lane("ska-dp", "ska-dp-gpu-a100").pool_names]
    assert sum(pool.nodes[0].gpus * pool.max_size for pool in cards) == 8
    assert {pool.gpu for pool in cards} == {"A100-40GB"}


def test_ska_jobs_on_gpus_meet_the_seeds_contract_without_writing_it() -> None:
    effects = {"ska-techops": "NoSchedule", "ska-dp": "NoExecute"}
    for system, effect in effects.items():
        (lane,) = (name for name in gitlab_lanes(system) if name.endswith("gpu-a100"))
        executor = runner(gitlab_lane(system, lane))["kubernetes"]
        assert executor["runtime_class_name"] == "nvidia"
        assert executor["node_tolerations"] == {"nvidia.com/gpu": effect}
        assert executor["image"].startswith("docker.io/nvidia/cuda:11.4"), "driver 470 has CUDA 11"


def test_flywheel_gpu_lanes_have_the_seeds_tags_image_and_bounds() -> None:
    for model in ("l40s", "a100"):
        lane = gitlab_lane("gloriousflywheel-gitlab", f"gpu-{model}")
        assert sorted(lane.labels) == sorted({"gpu", "nvidia", "cuda", model, "linux"})
        assert lane.release.values["concurrent"] == 2
        hpa = lane.release.values["hpa"]
        assert (hpa["minReplicas"], hpa["maxReplicas"]) == (1, 2)
        found = runner(lane)
        assert found["kubernetes"]["image"] == "docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04"
        assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in found["environment"]
        assert not any("NVIDIA_VISIBLE_DEVICES" in entry for entry in found["environment"])
        assert found["feature_flags"]["FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"] is True
        assert not found["kubernetes"].get("privileged", False)


def test_flywheel_runner_types_differ_in_image_and_tags() -> None:
    tags = {
        "docker": {"docker", "linux", "amd64"},
        "rocky9": {"rocky9", "rhel9", "linux"},
        "dind": {"docker", "dind", "privileged"},
    }
    for name, expected in tags.items():
        lane = gitlab_lane("gloriousflywheel-gitlab", name)
        executor = runner(lane)["kubernetes"]
        assert set(lane.labels) == expected
        assert (executor["cpu_request"], executor["memory_request"]) == ("100m", "256Mi")
        assert executor.get("privileged", False) == (name == "dind")


def test_honeys_lanes_request_a_device_on_honey_and_no_gpu() -> None:
    for lane, device in (("tinyland-nix-gpu", "dri"), ("tinyland-nix-kvm", "kvm")):
        planned = github_lane("gloriousflywheel-honey", lane)
        assert planned.pool_names == ("honey",)
        container = runner_container(planned)
        assert container["resources"]["limits"][f"gpu-runners/{device}"] in (1, "1")
        assert "nvidia.com/gpu" not in container["resources"]["limits"]
        assert not container.get("securityContext", {}).get("privileged", False)
        placed = str(planned.release.values["template"]["spec"]["affinity"])
        assert "kubernetes.io/hostname" in placed
        assert "'honey'" in placed


# lane, runners at least and at most, CPU, memory, memory limit, disk
PYTORCH = (
    ("staging", 0, 2, "2", "8Gi", "12Gi", "50Gi"),
    ("production", 1, 10, "4", "16Gi", "28Gi", "200Gi"),
)


@pytest.mark.parametrize(
    ("environment", "least", "most", "cpu", "memory", "limit", "disk"),
    PYTORCH,
    ids=[row[0] for row in PYTORCH],
)
def test_pytorch_runners_are_those_of_the_guide(
    environment: str, least: int, most: int, cpu: str, memory: str, limit: str, disk: str
) -> None:
    lane = github_lane(f"pytorch-cloud-{environment}", f"pytorch-gpu-runners-{environment}")
    values = lane.release.values
    assert (values["minRunners"], values["maxRunners"]) == (least, most)
    assert lane.labels == (lane.name, "self-hosted", "linux", "x64", "gpu", "cuda")
    resources = runner_container(lane)["resources"]
    assert parse_cpu(str(resources["requests"]["cpu"])) == parse_cpu(cpu)
    assert quantity(resources["requests"]["memory"]) == quantity(memory)
    assert quantity(resources["limits"]["memory"]) == quantity(limit)
    assert quantity(resources["requests"]["ephemeral-storage"]) == quantity(disk)
    assert resources["limits"]["nvidia.com/gpu"] in (1, "1")


def test_pytorch_production_has_a_node_for_each_of_its_runners() -> None:
    pools = {pool.name: pool for pool in cluster("pytorch-cloud-production").pools}
    assert pools["t4"].kinds == ("g4dn.2xlarge",), "4 CPU and 16Gi never fit on a g4dn.xlarge"
    assert pools["t4"].max_size == 10


def test_trainers_lanes_have_the_names_and_the_group_of_the_seed() -> None:
    for cards, most in ((1, 20), (2, 10)):
        lane = github_lane("kubeflow-trainer", f"oracle-vm-gpu-a10-{cards}")
        values = lane.release.values
        assert values["runnerGroup"] == "GPUs"
        assert values["scaleSetLabels"] == [lane.name]
        assert (values["minRunners"], values["maxRunners"]) == (0, most)
        assert lane.job.gpus == cards


def test_trainers_workloads_fit_into_a_job() -> None:
    job = github_lane("kubeflow-trainer", "oracle-vm-gpu-a10-1").job
    assert job.request.memory_mib >= parse_memory_mib("128G"), "the Qwen notebook takes 128 GB"
    assert job.request.cpu_m >= 8000, "the JAX example takes 8 CPU"
    (pool,) = (one for one in cluster("kubeflow-trainer").pools if one.name == "a10-1")
    assert pool.kinds == ("VM.GPU.A10.1",)
    assert pool.nodes[0].allocatable.cpu_m > 29_000, "15 OCPU are 30 CPUs of Kubernetes"
