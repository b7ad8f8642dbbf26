"""Whether jobs can use the GPU or host device that they request."""

from typing import Any

import pytest

from tests.fleet.checks.planted import existing_of, found, stack_of
from tests.fleet.samples import SHIPPED, judged, shipped_stack

T4 = {"t4": {"instance_types": ["g4dn.xlarge"], "max_size": 2}}
LANE = {"gpu": {"pools": ["t4"], "gpus": 1}}
DRI = {"devices": {"dri": 2}}
PLAIN = {"cpu": 2, "memory": "4Gi"}


def on_gitlab(**lane: Any) -> dict[str, Any]:
    """Return a stack with one GitLab lane on the GPU pool."""
    body = {"pools": ["t4"], "gpus": 1, "token": {"secret": "runnerToken"}, **lane}
    return stack_of(T4, LANE, gitlab={"lanes": {"gl": body}})


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_stacks_have_none_of_these(name: str) -> None:
    rules = {"driver-capabilities", "docker-gpus", "gpu-stack-unused", "device-unused"}
    assert not [finding for finding in judged(shipped_stack(name)) if finding.rule in rules]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (["compute", "utility"], None),
        (["compute", "utility", "graphics"], None),
        (["utility"], "lacks compute: "),
        (["compute"], "lacks utility: "),
        (["graphics"], "lacks compute and utility: "),
    ],
)
def test_a_gitlab_lane_needs_the_capabilities_that_jobs_use(
    given: list[str], missing: str | None
) -> None:
    findings = found("driver-capabilities", on_gitlab(driver_capabilities=given))
    assert [finding.severity for finding in findings] == (["warning"] if missing else [])
    if missing:
        assert findings[0].path == "clusters.ci.gitlab.lanes.gl.driver_capabilities"
        assert findings[0].message.startswith(missing)


@pytest.mark.parametrize(
    ("value", "told"),
    [("compute,utility", False), ("compute, utility", False), ("all", False), ("utility", True)],
)
def test_the_variable_counts_before_the_key(value: str, told: bool) -> None:
    env = {"NVIDIA_DRIVER_CAPABILITIES": value}
    data = stack_of(T4, {"gpu": {**LANE["gpu"], "env": env}})
    findings = found("driver-capabilities", data)
    assert [finding.path.rpartition(".env.")[2] for finding in findings] == (
        ["NVIDIA_DRIVER_CAPABILITIES"] if told else []
    )
    over = found("driver-capabilities", on_gitlab(driver_capabilities=["video"], env=env))
    assert len(over) == told, "config.toml holds the variable once, the lane's own env last"


def test_a_job_without_a_gpu_needs_no_capability() -> None:
    data = on_gitlab(driver_capabilities=["utility"], gpus=0, pools=["system"], **PLAIN)
    assert not found("driver-capabilities", data)


@pytest.mark.parametrize(
    ("mode", "told"), [("dind", True), ("none", False), ("kubernetes-novolume", False)]
)
def test_containers_of_a_docker_daemon_see_no_gpu(mode: str, told: bool) -> None:
    findings = found("docker-gpus", stack_of(T4, {"gpu": {**LANE["gpu"], "container_mode": mode}}))
    assert [finding.path for finding in findings] == (
        ["clusters.ci.github.lanes.gpu.container_mode"] if told else []
    )


def test_docker_builds_without_a_gpu_are_fine() -> None:
    builds = {"builds": {"pools": ["system"], "cpu": "500m", "memory": "1Gi"}}
    builds["builds"]["container_mode"] = "dind"
    assert not found("docker-gpus", stack_of({}, builds))


def test_an_unused_device_is_reported_at_the_pool() -> None:
    plain = {"vulkan": {"pools": ["honey"], **PLAIN}}
    (finding,) = found("device-unused", existing_of({"honey": DRI}, plain))
    assert finding.path == "clusters.site.existing.pools.honey.devices.dri"
    assert "jobs there do not see /dev/dri" in finding.message
    asked = {"vulkan": {**plain["vulkan"], "device": "dri"}}
    assert not found("device-unused", existing_of({"honey": DRI}, asked))
    assert found("device-unused", existing_of({"honey": DRI, "other": DRI}, asked))


@pytest.mark.parametrize(
    ("value", "gpus", "words"),
    [
        ("0", 1, None),
        ("0,1", 2, None),
        ("1,0", 2, None),
        ("0,1", 1, None),
        ("0", 2, "a job gets 2 and sees 1"),
        ("0,5,1", 2, "a job gets 2 and sees 1"),
        ("GPU-8b6b8a1e", 1, "names the UUID of one GPU"),
    ],
)
def test_a_variable_that_hides_gpus_is_a_warning(value: str, gpus: int, words: str | None) -> None:
    pools = {"t4": {"instance_types": ["g4dn.12xlarge"], "max_size": 1}}
    lane = {"pools": ["t4"], "gpus": gpus, "env": {"CUDA_VISIBLE_DEVICES": value}}
    findings = found("visible-devices", stack_of(pools, {"gpu": lane}))
    assert [finding.severity for finding in findings] == (["warning"] if words else [])
    if words:
        assert findings[0].path == "clusters.ci.github.lanes.gpu.env.CUDA_VISIBLE_DEVICES"
        assert words in findings[0].message


@pytest.mark.parametrize(
    ("lane", "told"),
    [
        ({"device": "dri"}, True),
        ({"device": "dri", "supplemental_groups": [109]}, False),
        ({"device": "dri", "run_as_root": True}, False),
        ({"device": "dri", "device_access": "privileged"}, False),
        ({}, False),
    ],
)
def test_a_render_device_without_its_group_is_a_note(lane: dict[str, Any], told: bool) -> None:
    data = existing_of({"dri": DRI, "cpu": {}}, {"vulkan": {"pools": ["dri"], **PLAIN, **lane}})
    findings = found("device-group", data)
    assert [(one.severity, one.path) for one in findings] == (
        [("note", "clusters.site.github.lanes.vulkan.device")] if told else []
    )
