"""Stacks with one fault each, by the cause or problem of their row in docs/troubleshooting.md."""

from datetime import date
from typing import Any

from tests.fleet.checks.planted import CPU, cards, existing_of, stack_of

OPERATOR: dict[str, Any] = {"operator": {}}
DRI = {"devices": {"dri": 2}}
ASKS = {"gpus": 0, "cpu": 2, "memory": "4Gi"}
CUDA = "ghcr.io/example/runner:1-cuda{}"
"""An image whose name has its CUDA version."""
ARC = "actions/actions-runner-controller"
RESERVED = {"capacity_reservation_id": "cr-0123456789abcdef0", "zones": ["us-west-2a"]}
LAUNCHED = {"container_mode": "kubernetes-novolume"}


def on_eks(pool: dict[str, Any] | None = None, /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on one EKS pool of T4."""
    pools = {"gpu": {"instance_types": ["g4dn.xlarge"], "max_size": 2, **(pool or {})}}
    return stack_of(pools, {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}})


def on_site(pool: dict[str, Any], /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on a pool of an existing cluster."""
    return existing_of({"gpu": pool, "cpu": CPU}, {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}})


def on_gitlab(pool: dict[str, Any] | None = None, /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitLab lane on one EKS pool of T4, and no GitHub."""
    data = on_eks(pool)
    body = {"pools": ["gpu"], "gpus": 1, "concurrent": 1, "token": {"secret": "runnerToken"}}
    cluster = data["clusters"]["ci"]
    del cluster["github"]
    cluster["gitlab"] = {"lanes": {"gpu": {**body, **lane}}}
    return data


def made_on_gitlab(**lanes: dict[str, Any]) -> dict[str, Any]:
    """Return a stack whose runners are made at GitLab: a pool of T4, and one of L40S."""
    data = on_gitlab()
    cluster = data["clusters"]["ci"]
    cluster["eks"]["pools"]["l40s"] = {"instance_types": ["g6e.xlarge"], "max_size": 2}
    made = {"gpus": 1, "concurrent": 1, "runner": {"group_id": 1}}
    cluster["gitlab"] = {
        "api_token": {"secret": "gitlabApiToken"},
        "lanes": {name: {**made, **lane} for name, lane in lanes.items()},
    }
    return data


def without_tls() -> dict[str, Any]:
    """Return a stack whose GitLab server has no TLS."""
    data = on_gitlab()
    data["clusters"]["ci"]["gitlab"]["url"] = "http://gitlab.example.com"
    return data


def on_server() -> dict[str, Any]:
    """Return a stack of a GitHub Enterprise Server that drops the labels of scale sets."""
    data = on_eks()
    github = data["clusters"]["ci"]["github"]
    github |= {"url": "https://ghes.example.com/org", "server_version": "3.17"}
    return data


def on_oke(pool: dict[str, Any] | None = None, /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on one OKE pool of A10."""
    system = {"shape": "VM.Standard.E5.Flex", "ocpus": 2, "memory_gb": 16}
    pools = {
        "system": {**system, "min_size": 2, "max_size": 2},
        "gpu": {"shape": "VM.GPU.A10.1", "max_size": 2, **(pool or {})},
    }
    oke = {
        "region": "us-ashburn-1",
        "compartment_id": "ocid1.compartment.oc1..aaaaaaaaexample",
        "availability_domains": ["Uocm:US-ASHBURN-AD-1"],
        "version": "1.35",
        "network": {"cidr": "10.2.0.0/16"},
        "pools": pools,
    }
    github = {
        "url": "https://github.com/example-org",
        "existing_secret": "app",
        "lanes": {"gpu": {"pools": ["gpu"], "gpus": 1, "max_runners": 1, **lane}},
    }
    return {"clusters": {"oci": {"oke": oke, "github": github}}}


def with_stack(data: dict[str, Any], **gpu_stack: Any) -> dict[str, Any]:
    """Return a stack with another `gpu_stack` in its cluster."""
    ((name, cluster),) = data["clusters"].items()
    return {**data, "clusters": {name: {**cluster, "gpu_stack": gpu_stack}}}


def without(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a copy of some data without one of its keys."""
    return {name: value for name, value in data.items() if name != key}


def two_lanes() -> dict[str, Any]:
    """Return two lanes of two jobs each, on two GPUs."""
    data = on_eks(max_runners=2)
    lanes = data["clusters"]["ci"]["github"]["lanes"]
    lanes["other"] = lanes["gpu"]
    return data


def shared_label() -> dict[str, Any]:
    """Return two lanes with different GPUs, a common label, and a label of their own."""
    data = on_eks(labels=["cuda", "t4"])
    cluster = data["clusters"]["ci"]
    cluster["eks"]["pools"]["l40s"] = {"instance_types": ["g6e.xlarge"], "max_size": 1}
    lane = {"pools": ["l40s"], "gpus": 1, "max_runners": 1, "labels": ["cuda", "l40s"]}
    cluster["github"]["lanes"]["large"] = lane
    return data


def labelled(first: str, second: str) -> dict[str, Any]:
    """Return two pools of an existing cluster with these values of one label."""
    pools = {"cpu": CPU, "gpu": cards(), "more": cards()}
    data = existing_of(pools, {"gpu": {"pools": ["gpu"], "gpus": 1}})
    declared = data["clusters"]["site"]["existing"]["pools"]
    declared["gpu"]["labels"] = {"example.com/pool": first}
    declared["more"]["labels"] = {"example.com/pool": second}
    return data


def old_kubernetes() -> dict[str, Any]:
    """Return the GPU Operator on a Kubernetes version that it does not support."""
    data = with_stack(on_site(cards()), **OPERATOR)
    data["clusters"]["site"]["existing"]["version"] = "1.29"
    return data


def access(**more: Any) -> dict[str, Any]:
    """Return a lane whose jobs may deploy into the cluster."""
    return on_eks(kubernetes_access=more)


def two_classes() -> dict[str, Any]:
    """Return a lane on two pools of which one needs a RuntimeClass."""
    pools = {"cpu": CPU, "gpu": cards(runtime_class="nvidia"), "more": cards()}
    return existing_of(pools, {"gpu": {"pools": ["gpu", "more"], "gpus": 1}})


NVIDIA_LABEL = on_eks({"labels": {"nvidia.com/gpu.product": "T4"}})
UNTAINTED = on_site(cards(taints=[]))
NO_PLUGIN = on_oke({"labels": {"oci.oraclecloud.com/disable-gpu-device-plugin": "true"}})
NO_REQUEST = on_eks(**{**ASKS, "cpu": 1})
NO_CLASS = on_eks(runtime_class="nvidia")
DOCKER = on_eks(container_mode="dind")
PRIVILEGED = on_gitlab(privileged=True)
ON_A_SHARE = on_eks({"sharing": {"time_slicing": 2}}, gpu_memory="10Gi")
OLD_DRIVER = on_site(cards(driver="535.54.03"), image=CUDA.format("13.0.1"))
EKS_DRIVER = with_stack(on_eks(), operator={"driver": True})
SMALL_BOOT_VOLUME = on_oke({"boot_volume_gb": 50})
TOO_MANY_JOBS = on_eks(max_runners=30)
OLD_KUBERNETES = old_kubernetes()

FAULTS: dict[str, dict[str, Any]] = {
    # a job stays pending
    "the lane's pools have no GPUs": on_eks(pools=["system"]),
    "all pools of the lane are paused, and the lane is not": on_eks({"paused": True}),
    "the nodes of the pool have another GPU model than the lane requires": on_eks(gpu="L40S"),
    "a job requests more CPU than an empty node has available": on_eks(cpu=4),
    "a job requests more memory than an empty node has available": on_eks(memory="16Gi"),
    "the lane starts more jobs than its pools hold at their maximum": TOO_MANY_JOBS,
    "several lanes together request more GPUs than their pools have": two_lanes(),
    "labels of an existing pool match the nodes of another": labelled("a", "a"),
    "GPU feature discovery overwrites a label of the pool": NVIDIA_LABEL,
    "GPU feature discovery writes another value for a label of an existing pool": (
        on_site(cards(labels={"example.com/pool": "gpu", "nvidia.com/gpu.product": "T4"}))
    ),
    "GPU nodes without a taint run other pods": UNTAINTED,
    # nodes offer no GPU
    "the cluster has a `gpu_stack`, and no pool has GPUs": (
        with_stack(
            existing_of({"cpu": CPU}, {"plain": {"pools": ["cpu"], **ASKS}}),
            advertiser="device_plugin",
        )
    ),
    "no device plugin advertises the GPUs": NO_PLUGIN,
    "`advertiser: provider` on a cloud whose image has no device plugin": (
        with_stack(on_eks(), advertiser="provider")
    ),
    "`advertiser: operator` without the GPU Operator": (
        with_stack(on_eks(), advertiser="operator")
    ),
    "the GPU Operator does not support the cluster's Kubernetes version": OLD_KUBERNETES,
    # no GPU in the job
    "nodes have no driver, and the GPU Operator installs none": (
        on_site(without(cards(), "driver"))
    ),
    "jobs run on GPU nodes and request no GPU": NO_REQUEST,
    "a lane requires a GPU model and requests no GPU": on_eks(gpu="T4", **ASKS),
    "a lane has the tags of a GPU runner and requests no GPU": (
        on_gitlab(default_tags=True, **ASKS)
    ),
    "the job's container gets its GPU without nvidia-smi": (
        on_gitlab(driver_capabilities=["compute"])
    ),
    "the job starts containers with docker": DOCKER,
    "the cluster lacks the RuntimeClass of the lane": NO_CLASS,
    "pools of one lane need different RuntimeClasses": two_classes(),
    "the driver does not support the GPU": on_site(cards("H100", driver="470.223.02")),
    # the wrong number of GPUs
    "a job requests more GPUs than a node has": on_eks(gpus=2),
    "a job requests several slices of a shared GPU": (
        on_eks({"sharing": {"time_slicing": 4}}, gpus=2)
    ),
    "a job requests several MIG instances and uses one": (
        on_site(cards("A100-40GB", sharing={"mig": "1g.5gb"}), gpus=2)
    ),
    "a variable shows a job all GPUs of the node": on_eks(env={"NVIDIA_VISIBLE_DEVICES": "all"}),
    "a privileged job sees all GPUs of the node": PRIVILEGED,
    "the nodes have another sharing config than the pool declares": (
        with_stack(
            on_site(
                cards(
                    sharing={"time_slicing": 11},
                    labels={"example.com/pool": "gpu", "nvidia.com/device-plugin.config": "whole"},
                )
            ),
            advertiser="device_plugin",
        )
    ),
    "jobs fill a node and leave GPUs idle": on_eks({"instance_types": ["g4dn.12xlarge"]}, gpus=3),
    "more jobs run at once than `concurrent` allows": (
        on_gitlab(hpa={"min_replicas": 1, "max_replicas": 2})
    ),
    # the wrong machine
    "a lane with other GPUs has all tags of this lane": (
        made_on_gitlab(
            small={"pools": ["gpu"], "tags": ["gpu"]},
            large={"pools": ["l40s"], "tags": ["gpu", "l40s"]},
        )
    ),
    "a job has only a label that lanes with other GPUs share": shared_label(),
    "a GPU lane takes jobs without tags": (
        made_on_gitlab(small={"pools": ["gpu"], "run_untagged": True})
    ),
    # a device of the host
    "the node offers the device, and the lane does not use it": on_site(DRI, **ASKS),
    "the lane uses the device on a pool that does not offer it": (
        on_site({}, device="dri", **ASKS)
    ),
    "the runner is root only to open the device": (
        on_site(DRI, device="dri", run_as_root=True, **ASKS)
    ),
    # CUDA
    "the image's CUDA has a newer major version than the driver runs": OLD_DRIVER,
    "the AMI's driver is too old for the lane's `cuda`": (
        on_eks({"release_version": "1.35.1-20250901"}, cuda="13.0")
    ),
    "the image's CUDA has a newer minor version than the driver": (
        on_site(cards(driver="535.54.03"), image=CUDA.format("12.8.1"))
    ),
    "the image's CUDA no longer supports the GPU": (
        on_site(cards("V100"), image=CUDA.format("13.0.1"))
    ),
    "the image's CUDA cannot compile for the GPU's architecture": (
        on_site(cards("L4"), image=CUDA.format("11.4.3"))
    ),
    "the container gets no CUDA libraries from the driver": (
        on_gitlab(driver_capabilities=["utility"])
    ),
    "the driver's branch has reached its end of life": on_site(cards(driver="470.223.02")),
    "the tag of the image moved": (
        on_eks(image="registry.example.com/pytorch-cloud/runner-gpu:latest")
    ),
    "the image's tag does not exist": (
        on_gitlab(image="docker.io/nvidia/cuda:12.4-devel-ubuntu22.04")
    ),
    # memory
    "a job needs more GPU memory than the GPU has": on_eks(gpu_memory="20Gi"),
    "a job needs more GPU memory than its share of the GPU": ON_A_SHARE,
    "a job's fair share of the node's memory is too small": (
        on_eks({"sharing": {"time_slicing": 32}})
    ),
    "the memory limit is below the job's request": on_eks(memory="4Gi", memory_limit="2Gi"),
    "the memory limit is above the node's memory": on_eks(memory_limit="16Gi"),
    "/dev/shm is larger than the memory limit": on_eks(memory="4Gi", shm="8Gi"),
    # owners
    "the GPU Operator installs a driver over the one of the cloud's image": EKS_DRIVER,
    "the GPU Operator installs a driver over the one of existing nodes": (
        with_stack(on_site(cards()), operator={"driver": True})
    ),
    "the GPU Operator installs a container toolkit over the one of the cloud's image": (
        with_stack(on_oke(), operator={"toolkit": True})
    ),
    "the AMI release has a known fault": on_eks({"release_version": "1.35.8-20260930"}),
    # disk
    "the boot volume of an OKE GPU node is too small for CUDA images": SMALL_BOOT_VOLUME,
    "the root volume of an EKS GPU node is too small for CUDA images": (
        on_eks({"disk_gib": 50, "instance_store": "unused"})
    ),
    "a job requests more disk than an empty node has available": on_eks(disk="200Gi"),
    "images leave no disk for a job": on_site(cards(disk="40Gi")),
    # rights, and Docker
    "`kubernetes_access` names no namespace": access(),
    "jobs may deploy into the namespace with the runners' credentials": (
        access(namespaces=["arc-runners"])
    ),
    "jobs may give themselves more rights": (
        access(
            namespaces=["ci-jobs"], permissions=[{"resources": ["roles"], "verbs": ["escalate"]}]
        )
    ),
    "each job has a privileged Docker daemon": (
        on_eks(pools=["system"], container_mode="dind", gpus=0, cpu="500m", memory="1Gi")
    ),
    "the image name has no registry, which CRI-O requires": (
        on_oke(image="example/runner:2.338.0-cuda12.8")
    ),
    # the second part
    f"containers of the Docker daemon see no GPU ({ARC}#2553)": DOCKER,
    "`up` makes the namespace of a Secret that must exist before it": on_eks(),
    "a GitLab server without TLS is refused by `up`": without_tls(),
    f"jobs on GitHub Enterprise Server wait although `up` made their lane ({ARC}#4579)": (
        on_server()
    ),
    "an older ARC ignores labels of scale sets": (
        {**on_eks(labels=["cuda"]), "charts": {"arc_version": "0.13.1"}}
    ),
    f"a scale set stays `Outdated`: the runner in its image is too old ({ARC}#4595)": (
        on_eks(image="ghcr.io/actions/actions-runner:2.337.0")
    ),
    "no runners for hours: a spot pool without an on-demand fallback "
    "(cattle-ops/terraform-aws-gitlab-runner#474)": on_gitlab({"capacity_type": "SPOT"}),
    "a spot pool of large GPUs gets no nodes": (
        on_eks({"capacity_type": "SPOT", "instance_types": ["p4d.24xlarge"]}, gpus=8)
    ),
    "one node group has instance types of different size": (
        on_eks({"instance_types": ["g4dn.xlarge", "g4dn.2xlarge"]})
    ),
    "runners on CPU nodes count as running while their GPU job is Pending (pytorch/ci-infra#952)": (
        on_eks(max_runners=5, **LAUNCHED)
    ),
    "CPU nodes have no room for every waiting runner": (
        on_eks({"max_size": 200}, max_runners=200, **LAUNCHED)
    ),
    "a capacity block of an instance type that has none": (
        on_eks({"capacity_type": "CAPACITY_BLOCK", **RESERVED})
    ),
    "one reservation for two instance types": (
        on_eks({"instance_types": ["g5.xlarge", "g5.2xlarge"], **RESERVED})
    ),
    "OCPUs taken for vCPUs give half of the cores (cncf/automation#601)": on_oke({"ocpus": 30}),
    "the GPU quota is 0, and pods stay Pending (aws-samples/deepseek-using-vllm-on-eks#3)": (
        on_eks()
    ),
    "a memory request just below the node's size does not fit (pytorch/ci-infra#1079)": (
        on_eks({"instance_types": ["g6.8xlarge"]}, memory="120Gi")
    ),
    "a request of 600Gi ephemeral storage does not fit (pytorch/ci-infra#1073)": (
        on_eks(disk="600Gi")
    ),
    "a node without device plugin never offers GPUs and is never removed "
    "(aws/karpenter-provider-aws#1914)": NO_PLUGIN,
    "a label T4 that GPU feature discovery writes as Tesla-T4 (METR/hawk#1486)": NVIDIA_LABEL,
    "CPU pods run on GPU nodes (2i2c-org/infrastructure#4209)": UNTAINTED,
    "GPU nodes run without jobs": on_eks({"min_size": 1}),
    "NVIDIA has no driver container for Amazon Linux (NVIDIA/gpu-operator#686)": EKS_DRIVER,
    "an AMI has a device plugin of its own (awslabs/ai-on-eks#78)": (
        on_eks({"ami_type": "BOTTLEROCKET_x86_64_NVIDIA"})
    ),
    "a GPU Operator that does not support the Kubernetes version": OLD_KUBERNETES,
    "a driver upgrade by the GPU Operator ends running jobs (NVIDIA/gpu-operator#2166)": EKS_DRIVER,
    "a privileged container sees all GPUs of the node (kubernetes/kubernetes#81256)": PRIVILEGED,
    "a CUDA image without a GPU request sees all GPUs (NVIDIA/k8s-device-plugin#87)": NO_REQUEST,
    "time slicing does not isolate memory (NVIDIA/k8s-device-plugin#461)": ON_A_SHARE,
    "a change of MIG needs a reboot, or hangs (NVIDIA/gpu-operator#1606)": (
        on_eks({"instance_types": ["p4d.24xlarge"], "sharing": {"mig": "1g.5gb"}}, gpus=1)
    ),
    "a MIG profile that the GPU does not have": (
        on_site(cards("A100-40GB", sharing={"mig": "1g.24gb"}))
    ),
    "without the RuntimeClass, pods start and see no GPU (NVIDIA/k8s-device-plugin#479)": NO_CLASS,
    "the nodes' driver is too old for a current CUDA": OLD_DRIVER,
    "too many tags for one runner": (
        on_gitlab(tags=[f"tag-{number}" for number in range(48)], default_tags=True)
    ),
    "images fill the disk of GPU nodes (kubeflow/trainer#2809)": SMALL_BOOT_VOLUME,
    "the disk of GPU nodes has room for few CUDA images": on_oke({"boot_volume_gb": 300}),
    "the pull policy is Never, and a new node does not have the image": (
        on_eks(pull_policy="Never")
    ),
    "the lane's image has no runner: its pods exit at once and restart": (
        on_eks(image="docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04")
    ),
    "a variable of the lane hides the only GPU of a job": (
        on_eks(env={"CUDA_VISIBLE_DEVICES": "1"})
    ),
    "a variable of the lane hides one of the GPUs of a job": (
        on_eks({"instance_types": ["g4dn.12xlarge"]}, gpus=2, env={"CUDA_VISIBLE_DEVICES": "0"})
    ),
    "the job's user is not in the group of /dev/dri": (
        existing_of(
            {"dri": {"devices": {"dri": 2}}, "cpu": CPU},
            {"vulkan": {"pools": ["dri"], "cpu": 2, "memory": "4Gi", "device": "dri"}},
        )
    ),
    "the lane's `cuda` differs from the CUDA of its image": (
        on_eks(image="ghcr.io/example/runner:2.338.0-cuda12.9", cuda="12.8")
    ),
    "a CUDA version that NVIDIA never released": on_eks(cuda="12.7"),
}

DAYS = {
    f"a scale set stays `Outdated`: the runner in its image is too old ({ARC}#4595)": date(
        2026, 11, 5
    )
}
"""The day for which a fault is checked, if it is not the usual one."""
