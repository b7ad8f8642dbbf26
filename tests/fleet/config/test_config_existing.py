"""Existing clusters and the requests of their lanes: a broken rule gives one finding."""

from typing import Any

from fleet.findings import Finding
from tests.cases import for_each
from tests.fleet.samples import GONE, changed_rows, every_key, loaded, reported

HONEY = "clusters.honey"
POOLS = f"{HONEY}.existing.pools"
A100 = f"{POOLS}.a100"
VULKAN = f"{HONEY}.github.lanes.vulkan"
MIG = f"{HONEY}.github.lanes.mig"
ACCESS = f"{MIG}.kubernetes_access"
SKA = f"{HONEY}.gitlab.lanes.ska-gpu-a100"
EKS_POOLS = "clusters.ci.eks.pools"
TOKEN = "clusters.ci.gitlab.lanes.token"
MIG_1G = {"mig": "1g.5gb"}

BROKEN: tuple[tuple[Any, Any, str, str], ...] = (
    # facts of the nodes
    (f"{A100}.cpu", GONE, "is missing", "allocatable CPU of a node"),
    (f"{A100}.memory", GONE, "is missing", "allocatable memory"),
    (f"{A100}.disk", GONE, "is missing", "allocatable ephemeral storage"),
    (f"{A100}.labels", {}, "is empty", "add at least one entry"),
    ({f"{A100}.gpu": GONE}, f"{A100}.gpus", "gpu is missing", "one of P100, V100"),
    ({f"{A100}.gpus": GONE}, f"{A100}.gpu", "gpus is missing", "gpus: 8"),
    (f"{A100}.gpu", "A100", "is not a GPU model", "did you mean A100"),
    (f"{POOLS}.cpu.driver", "580.95", "have no GPU", "remove driver"),
    ({f"{POOLS}.dri.devices": {"nvme": 1}}, f"{POOLS}.dri.devices.nvme", "", "'dri'"),
    (
        {f"{POOLS}.cpu.labels": {"kubernetes.io/hostname": "honey", "example.com/role": "dri"}},
        f"{POOLS}.dri.labels",
        "could select nodes of pool cpu",
        "different values",
    ),
    # sharing
    ({f"{A100}.gpu": "A10"}, f"{A100}.sharing.mig", "the A10 has no MIG", "use time_slicing"),
    (f"{A100}.sharing.mig", "1g.10mb", "the required form", "gb"),
    (f"{A100}.sharing.mig", "2g.5gb", "not a MIG profile", "1g.5gb"),
    (f"{A100}.sharing", {}, "has no time_slicing or mig", "exactly one"),
    (
        {f"{EKS_POOLS}.t4.sharing": MIG_1G},
        f"{EKS_POOLS}.t4.sharing.mig",
        "the T4 has no MIG",
        "use time_slicing",
    ),
    (
        {f"{EKS_POOLS}.a100.sharing": MIG_1G},
        f"{EKS_POOLS}.a100.sharing.mig",
        "does not partition",
        "use time_slicing",
    ),
    # owners
    (
        {f"{HONEY}.gpu_stack": {"operator": {"driver": True}}},
        f"{HONEY}.gpu_stack.operator.driver",
        "have driver 580.95",
        "remove driver",
    ),
    (
        {f"{HONEY}.gpu_stack": {"advertiser": "device_plugin"}},
        f"{A100}.sharing.mig",
        "does not configure MIG",
        "advertiser: provider",
    ),
    # lanes
    (f"{MIG}.gpu", "T4", "pool a100 have A100-40GB", "correct gpu"),
    (f"{SKA}.memory_limit", "1Gi", "MiB, below memory", "lower memory"),
    (f"{VULKAN}.gpu", "T4", "requests no GPU", "gpus: 1"),
    (f"{VULKAN}.device", "kvm", "pool dri does not offer", "{kvm: 4}"),
    (f"{MIG}.device_access", "privileged", "no device", "device: dri"),
    (f"{MIG}.device", "dri", "together with gpus", "split the lane"),
    (f"{VULKAN}.runtime_class", "kata", "does not declare", "remove it"),
    (f"{SKA}.max_cpu", 1, "is below cpu", "lower cpu"),
    (f"{SKA}.max_memory", "1Gi", "is below memory", "lower memory"),
    (f"{SKA}.max_cpu", 200, "requests 200 cpu", "lower max_cpu"),
    (f"{SKA}.max_memory", "2000Gi", "2000Gi memory", "lower max_memory"),
    ({f"{SKA}.hpa": {"min_replicas": 3, "max_replicas": 2}}, f"{SKA}.hpa.max_replicas", "", ""),
    ({f"{SKA}.pull_policy": ["Always"]}, f"{SKA}.pull_policy[0]", "not one of", "'always'"),
    (f"{SKA}.tags", [f"t{n}" for n in range(50)], "default tags", "remove 5"),
    (
        {f"{TOKEN}.gpus": 0, f"{TOKEN}.cpu": 1}
        | {f"{TOKEN}.memory": "1Gi"}
        | {f"{TOKEN}.default_tags": True}
        | {f"{TOKEN}.pools": ["system"]},
        f"{TOKEN}.default_tags",
        "requests no GPU",
        "add gpus",
    ),
    # rights of jobs
    ({ACCESS: {}}, ACCESS, "has no namespace", "namespaces: [ci-jobs]"),
    (f"{ACCESS}.namespaces", ["arc-runners"], "credentials", "[ci-jobs]"),
    (f"{ACCESS}.existing_namespaces", ["kube-system"], "", ""),
    (f"{ACCESS}.namespaces", ["default"], "in every cluster", "exist"),
    (f"{ACCESS}.namespaces", ["shared"], "is also in existing_namespaces", "in one"),
    (
        {f"{ACCESS}.permissions.0.resources": ["*"]},
        f"{ACCESS}.permissions[0].resources[0]",
        "is a wildcard",
        "name each one, like get",
    ),
    (
        {f"{ACCESS}.permissions.0.verbs": ["escalate"]},
        f"{ACCESS}.permissions[0].verbs",
        "contains escalate",
        "remove escalate",
    ),
)


@for_each(("changes", "path", "message", "remedy"), changed_rows(BROKEN))
def test_each_rule_is_one_finding_with_a_place_and_a_remedy(
    changes: dict[str, Any], path: str, message: str, remedy: str
) -> None:
    (finding,) = reported(every_key(changes))
    assert finding[0] == path
    assert message in finding[1]
    assert remedy in finding[2]
    assert finding[2]


def test_a_kubeconfig_context_is_one_cluster() -> None:
    honey = every_key()["clusters"]["honey"]
    del honey["github"]
    (finding,) = reported(every_key({"clusters.comb": honey}))
    assert finding[0] == "clusters.comb.existing.context"
    assert "is the context of clusters.honey too" in finding[1]


def test_pools_shared_unlike_each_other_need_the_label_that_picks_a_config() -> None:
    a100 = every_key()["clusters"]["honey"]["existing"]["pools"]["a100"]
    other = {**a100, "labels": {"example.com/role": "shared"}, "sharing": {"time_slicing": 4}}
    changes = {
        f"{HONEY}.gpu_stack": {"advertiser": "device_plugin"},
        f"{A100}.sharing": GONE,
        f"{POOLS}.shared": other,
    }
    (finding,) = reported(every_key(changes))
    assert finding[0] == f"{POOLS}.shared.labels"
    assert "nvidia.com/device-plugin.config=time-slicing-4" in finding[2]
    labelled = {**other["labels"], "nvidia.com/device-plugin.config": "time-slicing-4"}
    assert loaded(every_key({**changes, f"{POOLS}.shared.labels": labelled}))


def warnings(changes: dict[str, Any]) -> list[Finding]:
    found = loaded(every_key(changes)).warnings
    return [finding for finding in found if finding.path.startswith(HONEY)]


def test_privileges_and_several_managers_are_warnings_of_the_report() -> None:
    changes = {f"{VULKAN}.device_access": "privileged", f"{VULKAN}.run_as_root": True}
    found = {finding.path: finding for finding in warnings(changes)}
    for path in (f"{VULKAN}.device_access", f"{VULKAN}.run_as_root", f"{SKA}.hpa"):
        assert found[path].severity == "warning"
    assert "2 managers of 30 jobs each: up to 60 jobs" in found[f"{SKA}.hpa"].message
    assert f"{VULKAN}.run_as_root" not in {finding.path for finding in warnings({})}


def test_several_mig_instances_for_one_job_are_a_warning() -> None:
    (finding,) = [one for one in warnings({f"{MIG}.gpus": 2}) if one.rule == "slices"]
    assert finding.path == f"{MIG}.gpus"
    assert "2 MIG instances" in finding.message


def test_pools_of_different_runtime_classes_are_different_lanes() -> None:
    a100 = every_key()["clusters"]["honey"]["existing"]["pools"]["a100"]
    plain = {**a100, "labels": {"example.com/role": "plain"}, "runtime_class": "nvidia-legacy"}
    changes = {
        f"{POOLS}.plain": plain,
        f"{MIG}.runtime_class": GONE,
        f"{MIG}.pools": ["a100", "plain"],
    }
    (finding,) = reported(every_key(changes))
    assert finding[0] == f"{MIG}.pools"
    assert finding[1].startswith("have different runtime_class, but a job's pod has one")
