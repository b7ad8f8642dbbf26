"""Room and place on CPU nodes for controllers, and GPU nodes kept free for jobs."""

from fleet.plan import ClusterPlan
from tests.fleet.checks.planted import (
    CPU,
    TAINT,
    cards,
    existing_of,
    found,
    planted,
    stack_of,
    with_pool,
)
from tests.fleet.samples import every_key

T4 = {"t4": {"instance_types": ["g4dn.xlarge"], "max_size": 2}}
LANE = {"gpu": {"pools": ["t4"], "gpus": 1}}


def test_controllers_need_a_cpu_pool_that_has_a_node() -> None:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        return with_pool(cluster, "system", min_size=0)

    findings = planted("system-places", stack_of(T4, LANE), "ci", plant)
    assert {finding.severity for finding in findings} == {"error"}
    assert any("ARC's controller would stay Pending" in finding.message for finding in findings)
    assert all("system: it may have no node" in finding.message for finding in findings)


def test_a_cpu_node_too_small_for_the_controller_is_an_error() -> None:
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    small, tiny = ({"cpu": "200m", "memory": memory} for memory in ("256Mi", "100Mi"))
    assert not found("system-places", existing_of({"cpu": small, "gpu": cards()}, lanes))
    (first, *_) = found("system-places", existing_of({"cpu": tiny, "gpu": cards()}, lanes))
    assert "its nodes have too little memory" in first.message


def test_a_cpu_pool_that_cannot_hold_all_listeners_is_an_error() -> None:
    pools = {"cpu": {"cpu": 1, "memory": "2Gi"}, "gpu": cards()}
    lanes = {f"lane-{index}": {"pools": ["gpu"], "gpus": 1} for index in range(30)}
    (finding,) = found("system-room", existing_of(pools, lanes))
    assert finding.severity == "error"
    assert "cannot hold the pods that always run" in finding.message
    assert not found("system-room", existing_of(pools, dict(list(lanes.items())[:5])))


def test_runners_that_wait_on_cpu_nodes_need_room_there() -> None:
    lane = {"pools": ["t4"], "gpus": 1, "container_mode": "kubernetes-novolume"}
    (finding,) = found("system-room", stack_of(T4, {"gpu": {**lane, "max_runners": 100}}))
    assert finding.severity == "warning"
    assert "cannot hold all runners of gpu at once" in finding.message
    assert "lower max_runners" in finding.remedy
    assert not found("system-room", stack_of(T4, {"gpu": {**lane, "max_runners": 10}}))


def test_a_cluster_without_a_cpu_pool_is_a_warning() -> None:
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    (finding,) = found("shared-node", existing_of({"gpu": cards()}, lanes))
    assert (finding.severity, finding.path) == ("warning", "clusters.site")
    assert not found("shared-node", existing_of({"gpu": cards(), "cpu": CPU}, lanes))


def test_gpu_nodes_without_a_taint_are_a_warning() -> None:
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    open_pool = cards(taints=[])
    (finding,) = found("untainted-gpu-pool", existing_of({"gpu": open_pool, "cpu": CPU}, lanes))
    assert finding.path == "clusters.site.existing.pools.gpu.taints"
    assert "nvidia.com/gpu=true:NoSchedule" in finding.remedy
    soft = cards(taints=[{**TAINT, "effect": "PreferNoSchedule"}])
    assert found("untainted-gpu-pool", existing_of({"gpu": soft, "cpu": CPU}, lanes))
    assert not found("untainted-gpu-pool", existing_of({"gpu": cards(), "cpu": CPU}, lanes))
    assert not found("untainted-gpu-pool", existing_of({"gpu": open_pool}, lanes))


def test_a_lane_whose_pools_are_all_paused_is_a_warning() -> None:
    paused = {**T4["t4"], "paused": True}
    (finding,) = found("paused-pool", stack_of({"t4": paused}, LANE))
    assert (finding.severity, finding.path) == ("warning", "clusters.ci.github.lanes.gpu.pools")
    both = {"gpu": {"pools": ["t4", "more"], "gpus": 1}}
    assert not found("paused-pool", stack_of({"t4": paused, "more": T4["t4"]}, both))
    resting = {"gpu": {**LANE["gpu"], "paused": True}}
    assert not found("paused-pool", stack_of({"t4": paused}, resting))


def test_an_autoscaler_that_scales_its_own_pool_is_a_warning() -> None:
    sizes = {
        "clusters.oci.oke.pools.system.min_size": 1,
        "clusters.oci.oke.pools.system.max_size": 3,
    }
    (finding,) = found("oke-autoscaler-node", every_key(sizes))
    assert (finding.path, finding.severity) == ("clusters.oci.oke.pools", "warning")
    assert "equal min_size and max_size" in finding.remedy


def test_a_pool_of_one_size_can_run_the_autoscaler() -> None:
    sizes = {
        "clusters.oci.oke.pools.system.min_size": 2,
        "clusters.oci.oke.pools.system.max_size": 2,
    }
    assert not found("oke-autoscaler-node", every_key(sizes))
