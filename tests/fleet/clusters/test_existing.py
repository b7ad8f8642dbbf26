"""An existing cluster: its nodes as the file says, and pods that find them by their own labels."""

import json
import re
import tomllib
from typing import Any

from fleet.catalog.gpus import GPU_MODELS
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.nodes import Pool
from fleet.kubernetes.resources import Resources
from fleet.plan import ClusterPlan
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan
from fleet.runners.lanes import DEFAULT_PERMISSIONS
from tests.cases import for_each
from tests.fleet.report.reports import markdown_of, report_json
from tests.fleet.samples import GONE, every_key, loaded, required_labels

HONEY = "clusters.honey"
POOLS = f"{HONEY}.existing.pools"
A100 = f"{POOLS}.a100"
VULKAN = f"{HONEY}.github.lanes.vulkan"
MIG = f"{HONEY}.github.lanes.mig"
SKA = f"{HONEY}.gitlab.lanes.ska-gpu-a100"


def plan(changes: dict[str, Any] | None = None) -> ClusterPlan:
    found = loaded(every_key(changes)).plan.clusters
    return next(cluster for cluster in found if cluster.name == "honey")


def pool(name: str, changes: dict[str, Any] | None = None) -> Pool:
    return next(one for one in plan(changes).pools if one.name == name)


def github(name: str, changes: dict[str, Any] | None = None) -> GitHubLanePlan:
    side = plan(changes).github
    assert side is not None
    return next(lane for lane in side.lanes if lane.name == name)


def gitlab(changes: dict[str, Any] | None = None) -> GitLabLanePlan:
    side = plan(changes).gitlab
    assert side is not None
    (lane,) = side.lanes
    return lane


def pod(lane: GitHubLanePlan) -> dict[str, Any]:
    return lane.release.values["template"]["spec"]


def kubernetes(lane: GitLabLanePlan) -> dict[str, Any]:
    (runner,) = tomllib.loads(lane.release.values["runners"]["config"])["runners"]
    return runner["kubernetes"]


def test_the_facts_of_a_node_are_those_of_the_file() -> None:
    a100 = pool("a100")
    (node,) = a100.nodes
    assert node.allocatable == Resources(cpu_m=128_000, memory_mib=1_024_000, disk_mib=921_600)
    assert (node.gpu, node.gpus, node.usd_per_hour) == ("A100-40GB", 8, None)
    assert (a100.min_size, a100.max_size, a100.capacity) == (2, 2, "existing")
    assert a100.selector == {"example.com/role": "a100"}
    assert a100.qualified_images
    assert not pool("cpu").qualified_images
    platform = plan().platform
    assert isinstance(platform, ExistingPlan)
    assert (platform.context, platform.kubeconfig) == ("honey", "kubeconfigs/honey.yaml")
    assert platform.drivers == {"a100": "580.95"}


@for_each(
    ("sharing", "advertised"),
    [(GONE, 8), ({"mig": "1g.5gb"}, 56), ({"mig": "7g.40gb"}, 8), ({"time_slicing": 4}, 32)],
)
def test_a_node_advertises_cards_times_what_each_is_shared_as(
    sharing: Any, advertised: int
) -> None:
    assert pool("a100", {f"{A100}.sharing": sharing}).advertised == advertised


def test_nothing_but_what_is_installed_here_is_taken_off_a_node() -> None:
    assert pool("cpu").free() == pool("cpu").nodes[0].allocatable
    taken = pool("dri").nodes[0].daemonsets
    assert taken == Resources(cpu_m=50, memory_mib=20, disk_mib=0)
    assert pool("a100").nodes[0].daemonsets == Resources(cpu_m=0, memory_mib=0, disk_mib=0)
    with_plugin = {f"{HONEY}.gpu_stack": {"advertiser": "device_plugin"}, f"{A100}.sharing": GONE}
    assert pool("a100", with_plugin).nodes[0].daemonsets.memory_mib > 0


def test_controllers_live_on_cpu_nodes_and_not_beside_a_device_of_the_host() -> None:
    side = plan().github
    assert side is not None
    assert required_labels(side.controller.release.values["affinity"]) == [
        {"example.com/role": ["cpu"]}
    ]


def test_controllers_of_a_cluster_without_a_cpu_pool_live_where_the_jobs_do() -> None:
    side = plan({f"{POOLS}.cpu": GONE, f"{POOLS}.dri": GONE, VULKAN: GONE}).github
    assert side is not None
    assert required_labels(side.controller.release.values["affinity"]) == [
        {"example.com/role": ["a100"]}
    ]


def test_a_job_finds_its_pool_by_every_label_and_bears_its_taints() -> None:
    spec = pod(github("vulkan"))
    assert required_labels(spec["affinity"]) == [
        {"example.com/role": ["dri"], "kubernetes.io/hostname": ["honey"]}
    ]
    assert spec["tolerations"] == [
        {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_the_gpu_stack_is_the_providers_unless_the_file_says_otherwise() -> None:
    assert plan().gpu_stack.device_plugin is None
    assert plan().autoscaler is None
    changes = {f"{HONEY}.gpu_stack": {"advertiser": "device_plugin"}}
    stack = plan({**changes, f"{A100}.sharing": {"time_slicing": 4}}).gpu_stack
    assert stack.device_plugin is not None
    values = stack.device_plugin.values
    assert required_labels(values["affinity"]) == [{"example.com/role": ["a100"]}]
    assert values["config"]["default"] == "time-slicing-4", "nodes there carry no label of ours"
    assert values["runtimeClassName"] == "nvidia"


def test_a_device_of_the_host_is_asked_for_like_cpu_by_an_unprivileged_container() -> None:
    spec = pod(github("vulkan"))
    (container,) = spec["containers"]
    assert container["resources"]["limits"]["gpu-runners/dri"] == 1
    assert container["resources"]["requests"]["gpu-runners/dri"] == 1
    assert "nvidia.com/gpu" not in container["resources"]["limits"]
    assert "securityContext" not in container
    assert spec["securityContext"] == {"supplementalGroups": [109]}
    assert all("hostPath" not in volume for volume in spec["volumes"])


def test_a_privileged_job_mounts_the_device_and_its_namespace_admits_it() -> None:
    changes = {f"{VULKAN}.device_access": "privileged", f"{VULKAN}.run_as_root": True}
    spec = pod(github("vulkan", changes))
    (container,) = spec["containers"]
    assert container["securityContext"] == {"privileged": True, "runAsUser": 0}
    assert "gpu-runners/dri" not in container["resources"]["limits"]
    assert {"name": "host-dev-dri", "hostPath": {"path": "/dev/dri"}} in spec["volumes"]
    assert {"name": "host-dev-dri", "mountPath": "/dev/dri"} in container["volumeMounts"]
    assert {"name": "RUNNER_ALLOW_RUNASROOT", "value": "1"} in container["env"]
    side = plan(changes).github
    assert side is not None
    assert side.controller.privileged_runners


def test_a_job_pod_of_its_own_gets_the_device_and_its_runner_does_not() -> None:
    lane = github("vulkan", {f"{VULKAN}.container_mode": "kubernetes-novolume"})
    assert lane.hook_template is not None
    (job,) = lane.hook_template.content["spec"]["containers"]
    assert job["resources"]["limits"]["gpu-runners/dri"] == 1
    (runner,) = pod(lane)["containers"]
    assert "gpu-runners/dri" not in runner["resources"]["limits"]


def test_each_pool_with_devices_has_a_plugin_that_reaches_it_in_spite_of_its_taints() -> None:
    devices = plan({f"{POOLS}.dri.devices": {"dri": 4, "kvm": 1}}).host_devices
    assert devices is not None
    (daemonset,) = devices.daemonsets
    spec = daemonset.pod["spec"]
    (container,) = spec["containers"]
    asked = [json.loads(text) for text in container["args"] if text.startswith("{")]
    assert [(one["name"], one["groups"][0]["count"]) for one in asked] == [("dri", 4), ("kvm", 1)]
    assert spec["tolerations"][0]["key"] == "dedicated"
    assert daemonset.pod["metadata"]["labels"] == daemonset.labels
    ci = next(one for one in loaded(every_key()).plan.clusters if one.name == "ci")
    assert ci.host_devices is None


def test_memory_may_have_a_limit_of_its_own() -> None:
    (container,) = pod(github("mig"))["containers"]
    limit, request = (container["resources"][key]["memory"] for key in ("limits", "requests"))
    assert (limit, container["imagePullPolicy"]) == ("32768Mi", "IfNotPresent")
    assert int(request[:-2]) <= 32768
    assert kubernetes(gitlab())["memory_request"] == "8192Mi"
    assert kubernetes(gitlab())["memory_limit"] == "12288Mi"


def test_memory_that_is_not_given_stays_under_its_limit() -> None:
    (container,) = pod(github("mig", {f"{MIG}.memory_limit": "1Gi"}))["containers"]
    assert container["resources"]["requests"]["memory"] == "1024Mi"


def test_a_gpu_job_runs_in_the_runtime_class_of_its_pool() -> None:
    assert pod(github("mig", {f"{MIG}.runtime_class": GONE}))["runtimeClassName"] == "nvidia"
    assert kubernetes(gitlab())["runtime_class_name"] == "nvidia"
    assert "runtimeClassName" not in pod(github("vulkan"))


def test_a_job_may_raise_itself_as_far_as_the_lane_says() -> None:
    config = kubernetes(gitlab())
    assert config["cpu_request_overwrite_max_allowed"] == "3000m"
    assert config["memory_request_overwrite_max_allowed"] == "12288Mi"
    assert config["memory_limit_overwrite_max_allowed"] == "12288Mi"
    only_cpu = kubernetes(gitlab({f"{SKA}.max_memory": GONE}))
    assert only_cpu["memory_request_overwrite_max_allowed"] == only_cpu["memory_request"]
    none = kubernetes(gitlab({f"{SKA}.max_memory": GONE, f"{SKA}.max_cpu": GONE}))
    assert not [key for key in none if "overwrite" in key]


@for_each(
    ("changes", "tags"),
    [
        ({}, ("ska-gpu-a100", "gpu", "nvidia", "cuda", "linux", "a100")),
        ({f"{SKA}.tags": ["a100", "gpu"]}, ("a100", "gpu", "nvidia", "cuda", "linux")),
        ({f"{SKA}.default_tags": False}, ("ska-gpu-a100",)),
    ],
)
def test_default_tags_join_the_users_each_once(
    changes: dict[str, Any], tags: tuple[str, ...]
) -> None:
    assert gitlab(changes).labels == tags


def test_managers_scale_by_their_cpu_in_the_words_of_the_newer_api() -> None:
    assert gitlab().release.values["hpa"] == {
        "minReplicas": 1,
        "maxReplicas": 2,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 70},
                },
            }
        ],
    }
    paused = gitlab({f"{SKA}.paused": True}).release.values
    assert "hpa" not in paused
    assert paused["replicas"] == 0


def test_driver_capabilities_and_pull_policies_reach_the_runner() -> None:
    lane = gitlab({f"{SKA}.driver_capabilities": ["compute", "graphics"]})
    (runner,) = tomllib.loads(lane.release.values["runners"]["config"])["runners"]
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,graphics" in runner["environment"]
    assert runner["kubernetes"]["pull_policy"] == ["always", "if-not-present"]


def test_jobs_with_rights_run_as_an_account_of_their_own() -> None:
    lane = github("mig")
    assert lane.access is not None
    assert pod(lane)["serviceAccountName"] == lane.access.account == "github-mig-jobs"
    assert lane.access.namespaces == ("ci-jobs", "shared")
    assert plan().job_namespaces == {"ci-jobs": False, "shared": True}
    assert [rule.verbs for rule in lane.access.permissions] == [("get", "create")]
    other = gitlab()
    assert other.access is not None
    assert kubernetes(other)["service_account"] == "gitlab-ska-gpu-a100-jobs"
    assert other.access.permissions == DEFAULT_PERMISSIONS
    assert "serviceAccountName" not in pod(github("vulkan"))


def test_the_rights_of_jobs_are_narrow_by_default() -> None:
    for rule in DEFAULT_PERMISSIONS:
        assert not {"*", "secrets", "roles", "rolebindings", "pods/exec"} & set(rule.resources)
        assert not {"*", "bind", "escalate", "impersonate"} & set(rule.verbs)


def test_the_report_says_whose_the_nodes_are_and_how_many_jobs_share_a_device() -> None:
    text = markdown_of(report_json(loaded(every_key())))
    assert re.search(r"`honey` \(existing[ 0-9.]*, kubeconfig context honey\)", text)
    assert "- `honey`: an existing cluster; its nodes are not part of this cost" in text
    row = next(line for line in text.splitlines() if line.startswith("| honey | github/vulkan |"))
    assert row.startswith("| honey | github/vulkan | `runs-on: vulkan` | `dri`: 4 a node")
    assert "| /dev/dri, 2 CPU, 8 GiB memory |" in row
    assert "8 x A100-40GB, each in 7 MIG instances (5 GB)" in text


@for_each("model", GPU_MODELS)
def test_nodes_may_have_any_card_of_the_catalog(model: str) -> None:
    pool = f"{POOLS}.a100"
    changes = {f"{pool}.gpu": model, f"{pool}.sharing": GONE, f"{HONEY}.github.lanes.mig": GONE}
    gitlab = f"{HONEY}.gitlab.lanes.ska-gpu-a100"
    fleet = loaded(every_key({**changes, f"{gitlab}.gpu": model, f"{gitlab}.concurrent": 16}))
    found = next(one for one in fleet.plan.clusters if one.name == "honey").pools[-1]
    assert found.nodes[0].gpu_memory_mib == GPU_MODELS[model].usable_mib
    said = report_json(fleet)
    assert said["clusters"]["honey"]["pools"]["a100"]["gpu_memory_gb"] == (
        GPU_MODELS[model].memory_gb
    )
    assert said["totals"]["gpus"][model] >= 16, "a whole card is counted by its name"
