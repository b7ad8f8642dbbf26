"""The faults of the first part of docs/troubleshooting.md, by their cause as it stands there."""

from __future__ import annotations

import dataclasses
from typing import Any

from fleet.plan import ClusterPlan
from tests.fleet.checks.planted import CPU, cards, existing_of, with_pool
from tests.troubles import (
    Fault,
    Plant,
    made_on_gitlab,
    on_eks,
    on_gitlab,
    on_oke,
    on_site,
    with_stack,
    without,
)

OPERATOR: dict[str, Any] = {"operator": {}}
DRI = {"devices": {"dri": 2}}
ASKS = {"gpus": 0, "cpu": 2, "memory": "4Gi"}
CUDA = "ghcr.io/example/runner:1-cuda{}"
"""A runner that names its CUDA version."""


def no_plugin(cluster: ClusterPlan) -> ClusterPlan:
    """Nothing advertises the cluster's GPUs."""
    stack = dataclasses.replace(cluster.gpu_stack, device_plugin=None)
    return dataclasses.replace(cluster, gpu_stack=stack)


def pool_with(**changes: Any) -> Plant:
    """The GPU pool's nodes are not what the stack file means."""
    return lambda cluster: with_pool(cluster, "gpu", **changes)


def two_lanes() -> dict[str, Any]:
    """Two lanes of two jobs each, on two cards."""
    data = on_eks(max_runners=2)
    lanes = data["clusters"]["ci"]["github"]["lanes"]
    lanes["other"] = lanes["gpu"]
    return data


def shared_label() -> dict[str, Any]:
    """Two lanes of different GPUs that have a label in common, and one of their own."""
    data = on_eks(labels=["cuda", "t4"])
    cluster = data["clusters"]["ci"]
    cluster["eks"]["pools"]["l40s"] = {"instance_types": ["g6e.xlarge"], "max_size": 1}
    lane = {"pools": ["l40s"], "gpus": 1, "max_runners": 1, "labels": ["cuda", "l40s"]}
    cluster["github"]["lanes"]["large"] = lane
    return data


def labelled(first: str, second: str) -> dict[str, Any]:
    """Two pools of an existing cluster with these values of one label."""
    pools = {"cpu": CPU, "gpu": cards(), "more": cards()}
    data = existing_of(pools, {"gpu": {"pools": ["gpu"], "gpus": 1}})
    declared = data["clusters"]["site"]["existing"]["pools"]
    declared["gpu"]["labels"] = {"example.com/pool": first}
    declared["more"]["labels"] = {"example.com/pool": second}
    return data


def old_kubernetes() -> dict[str, Any]:
    """The GPU Operator on a version of Kubernetes that it does not list."""
    data = with_stack(on_site(cards()), **OPERATOR)
    data["clusters"]["site"]["existing"]["version"] = "1.29"
    return data


def access(**more: Any) -> dict[str, Any]:
    """A lane whose jobs may deploy."""
    return on_eks(kubernetes_access=more)


def two_classes() -> dict[str, Any]:
    """A lane on two pools of which one needs a RuntimeClass."""
    pools = {"cpu": CPU, "gpu": cards(runtime_class="nvidia"), "more": cards()}
    return existing_of(pools, {"gpu": {"pools": ["gpu", "more"], "gpus": 1}})


NVIDIA_LABEL = Fault(data=on_eks({"labels": {"nvidia.com/gpu.product": "T4"}}))
UNTAINTED = Fault(data=on_site(cards(taints=[])))
NO_PLUGIN = Fault(data=on_eks(), plant=no_plugin)
TWO_PLUGINS = Fault(
    data=with_stack(on_oke(), advertiser="device_plugin"),
    plant=pool_with(labels={"gpu-runners/pool": "gpu", "gpu-runners/role": "gpu"}),
)
NO_GPU_ASKED = Fault(data=on_eks(**{**ASKS, "cpu": 1}))
NO_CLASS = Fault(data=on_eks(runtime_class="nvidia"))
DOCKER = Fault(data=on_eks(container_mode="dind"))
PRIVILEGED = Fault(data=on_gitlab(privileged=True))
ON_A_SHARE = Fault(data=on_eks({"sharing": {"time_slicing": 2}}, gpu_memory="10Gi"))
OLD_DRIVER = Fault(data=on_site(cards(driver="535.54.03"), image=CUDA.format("13.0.1")))
EKS_DRIVER = Fault(data=with_stack(on_eks(), operator={"driver": True}))
SMALL_BOOT_VOLUME = Fault(data=on_oke({"boot_volume_gb": 50}))
TOO_MANY_JOBS = Fault(data=on_eks(max_runners=30))
OLD_KUBERNETES = Fault(data=old_kubernetes())

FAULTS: dict[str, Fault] = {
    # a job stays pending
    "the lane's pools have no GPUs": Fault(data=on_eks(pools=["system"])),
    "every pool of the lane is paused": Fault(data=on_eks({"paused": True})),
    "the pool's nodes have another GPU than the lane's": Fault(data=on_eks(gpu="L40S")),
    "a job asks for more CPU than a node has left": Fault(data=on_eks(cpu=4)),
    "a job asks for more memory than a node has left": Fault(data=on_eks(memory="16Gi")),
    "more jobs than the pools hold at their maximum": TOO_MANY_JOBS,
    "several lanes ask for more GPUs together than there are": Fault(data=two_lanes()),
    "labels of an existing pool match the nodes of another": Fault(data=labelled("a", "a")),
    "a label of the pool is one that feature discovery overwrites": NVIDIA_LABEL,
    "a label of an existing pool is not what feature discovery writes": Fault(
        data=on_site(cards(labels={"example.com/pool": "gpu", "nvidia.com/gpu.product": "T4"}))
    ),
    "GPU nodes without a taint are full of other pods": UNTAINTED,
    # nodes offer no GPU
    "a GPU stack is chosen, and no pool has GPUs": Fault(
        data=with_stack(
            existing_of({"cpu": CPU}, {"plain": {"pools": ["cpu"], **ASKS}}),
            advertiser="device_plugin",
        )
    ),
    "nothing advertises the GPUs": NO_PLUGIN,
    "the cloud is to advertise them, and its image has no plugin": Fault(
        data=with_stack(on_eks(), advertiser="provider")
    ),
    "the GPU Operator is to advertise them, and is not installed": Fault(
        data=with_stack(on_eks(), advertiser="operator")
    ),
    "two plugins advertise them, and one was removed": TWO_PLUGINS,
    "the operator does not run on this Kubernetes version": OLD_KUBERNETES,
    # no GPU in the job
    "nodes have no driver, and the operator installs none": Fault(
        data=on_site(without(cards(), "driver"))
    ),
    "jobs run on GPU nodes and ask for no GPU": NO_GPU_ASKED,
    "a lane names a GPU model and asks for no GPU": Fault(data=on_eks(gpu="T4", **ASKS)),
    "a lane has the tags of a GPU runner and asks for no GPU": Fault(
        data=on_gitlab(default_tags=True, **ASKS)
    ),
    "the job's container gets its card without nvidia-smi": Fault(
        data=on_gitlab(driver_capabilities=["compute"])
    ),
    "the job starts containers by docker": DOCKER,
    "the RuntimeClass is not there": NO_CLASS,
    "pools of one lane need different RuntimeClasses": Fault(data=two_classes()),
    "the driver does not know the card": Fault(data=on_site(cards("H100", driver="470.223.02"))),
    # the wrong number of GPUs
    "a job asks for more GPUs than a node has": Fault(data=on_eks(gpus=2)),
    "a job asks for several slices of shared cards": Fault(
        data=on_eks({"sharing": {"time_slicing": 4}}, gpus=2)
    ),
    "a job asks for several MIG instances and uses one": Fault(
        data=on_site(cards("A100-40GB", sharing={"mig": "1g.5gb"}), gpus=2)
    ),
    "a job sees every GPU of the node by its environment": Fault(
        data=on_eks(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    ),
    "a job sees every GPU of the node because it is privileged": PRIVILEGED,
    "nodes are shared otherwise than the pool says": Fault(
        data=with_stack(
            on_site(
                cards(
                    sharing={"time_slicing": 11},
                    labels={
                        "example.com/pool": "gpu",
                        "nvidia.com/device-plugin.config": "whole",
                    },
                )
            ),
            advertiser="device_plugin",
        )
    ),
    "GPUs of a node stay idle beside its jobs": Fault(
        data=on_eks({"instance_types": ["g4dn.12xlarge"]}, gpus=3)
    ),
    "more jobs at once than `concurrent` says": Fault(
        data=on_gitlab(hpa={"min_replicas": 1, "max_replicas": 2})
    ),
    # the wrong machine
    "the tags of one lane are all among those of a lane with other GPUs": Fault(
        data=made_on_gitlab(
            small={"pools": ["gpu"], "tags": ["gpu"]},
            large={"pools": ["l40s"], "tags": ["gpu", "l40s"]},
        )
    ),
    "a job says only a label that lanes of other GPUs have too": Fault(data=shared_label()),
    "jobs without tags take GPUs": Fault(
        data=made_on_gitlab(small={"pools": ["gpu"], "run_untagged": True})
    ),
    # a device of the host
    "the node offers the device, and the lane does not ask for it": Fault(
        data=on_site(DRI, **ASKS)
    ),
    "the lane asks for it on a pool that does not offer it": Fault(
        data=on_site({}, device="dri", **ASKS)
    ),
    "the runner is root only to open the device": Fault(
        data=on_site(DRI, device="dri", run_as_root=True, **ASKS)
    ),
    # CUDA
    "the image's CUDA is of a newer major than the driver runs": OLD_DRIVER,
    "the AMI's driver is too old for the CUDA that the lane declares": Fault(
        data=on_eks({"release_version": "1.35.1-20250901"}, cuda="13.0")
    ),
    "the image's CUDA is of a newer minor than the driver": Fault(
        data=on_site(cards(driver="535.54.03"), image=CUDA.format("12.8.1"))
    ),
    "the image's CUDA does not know the card any more": Fault(
        data=on_site(cards("V100"), image=CUDA.format("13.0.1"))
    ),
    "the image's CUDA brings no code of its own for the card": Fault(
        data=on_site(cards("L4"), image=CUDA.format("11.4.3"))
    ),
    "the container gets no CUDA libraries of the driver": Fault(
        data=on_gitlab(driver_capabilities=["utility"])
    ),
    "the driver's branch gets no fixes any more": Fault(data=on_site(cards(driver="470.223.02"))),
    "the image is another one than yesterday": Fault(
        data=on_eks(image="registry.example.com/pytorch-cloud/runner-gpu:latest")
    ),
    "the image's tag does not exist": Fault(
        data=on_gitlab(image="docker.io/nvidia/cuda:12.4-devel-ubuntu22.04")
    ),
    # memory
    "a job needs more memory than the card has": Fault(data=on_eks(gpu_memory="20Gi")),
    "a job needs more memory than its share of a card": ON_A_SHARE,
    "a job's share of the node's memory is too small to work with": Fault(
        data=on_eks({"sharing": {"time_slicing": 32}})
    ),
    "the memory limit is below what a job asks for": Fault(
        data=on_eks(memory="4Gi", memory_limit="2Gi")
    ),
    "the memory limit is above what the node has": Fault(data=on_eks(memory_limit="16Gi")),
    "/dev/shm is larger than the memory limit": Fault(data=on_eks(memory="4Gi", shm="8Gi")),
    # owners
    "the operator installs a driver where the cloud's image has one": EKS_DRIVER,
    "the operator installs a driver where the nodes have one": Fault(
        data=with_stack(on_site(cards()), operator={"driver": True})
    ),
    "the operator installs a toolkit where the cloud's image has one": Fault(
        data=with_stack(on_oke(), operator={"toolkit": True})
    ),
    "the node image is one that is known to be bad": Fault(
        data=on_eks({"release_version": "1.35.8-20260930"})
    ),
    # disk
    "the boot volume of an OKE GPU node is too small for CUDA images": SMALL_BOOT_VOLUME,
    "the root volume of an EKS GPU node is too small for CUDA images": Fault(
        data=on_eks({"disk_gib": 50, "instance_store": "unused"})
    ),
    "a job asks for more disk than a node has left": Fault(data=on_eks(disk="200Gi")),
    "images leave a job no disk": Fault(data=on_site(cards(disk="40Gi"))),
    # rights, and Docker
    "jobs may deploy, and no namespace is named": Fault(data=access()),
    "jobs may deploy where the runners' credentials are": Fault(
        data=access(namespaces=["arc-runners"])
    ),
    "jobs may give themselves more rights": Fault(
        data=access(
            namespaces=["ci-jobs"], permissions=[{"resources": ["roles"], "verbs": ["escalate"]}]
        )
    ),
    "a privileged Docker daemon stands beside each job": Fault(
        data=on_eks(pools=["system"], container_mode="dind", gpus=0, cpu="500m", memory="1Gi")
    ),
    "an image has no registry, and CRI-O guesses none": Fault(
        data=on_oke(image="example/runner:2.338.0-cuda12.8")
    ),
}
