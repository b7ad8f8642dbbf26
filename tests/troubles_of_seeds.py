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
    "all pools of the lane are paused, and the lane is not": Fault(data=on_eks({"paused": True})),
    "the nodes of the pool have another GPU model than the lane requires": Fault(
        data=on_eks(gpu="L40S")
    ),
    "a job requests more CPU than an empty node has available": Fault(data=on_eks(cpu=4)),
    "a job requests more memory than an empty node has available": Fault(
        data=on_eks(memory="16Gi")
    ),
    "the lane starts more jobs than its pools hold at their maximum": TOO_MANY_JOBS,
    "several lanes together request more GPUs than their pools have": Fault(data=two_lanes()),
    "labels of an existing pool match the nodes of another": Fault(data=labelled("a", "a")),
    "GPU feature discovery overwrites a label of the pool": NVIDIA_LABEL,
    "GPU feature discovery writes another value for a label of an existing pool": Fault(
        data=on_site(cards(labels={"example.com/pool": "gpu", "nvidia.com/gpu.product": "T4"}))
    ),
    "GPU nodes without a taint run other pods": UNTAINTED,
    # nodes offer no GPU
    "the cluster has a `gpu_stack`, and no pool has GPUs": Fault(
        data=with_stack(
            existing_of({"cpu": CPU}, {"plain": {"pools": ["cpu"], **ASKS}}),
            advertiser="device_plugin",
        )
    ),
    "no device plugin advertises the GPUs": NO_PLUGIN,
    "`advertiser: provider` on a cloud whose image has no device plugin": Fault(
        data=with_stack(on_eks(), advertiser="provider")
    ),
    "`advertiser: operator` without the GPU Operator": Fault(
        data=with_stack(on_eks(), advertiser="operator")
    ),
    "two device plugins advertised the GPUs, and one was removed": TWO_PLUGINS,
    "the GPU Operator does not support the cluster's Kubernetes version": OLD_KUBERNETES,
    # no GPU in the job
    "nodes have no driver, and the GPU Operator installs none": Fault(
        data=on_site(without(cards(), "driver"))
    ),
    "jobs run on GPU nodes and request no GPU": NO_GPU_ASKED,
    "a lane requires a GPU model and requests no GPU": Fault(data=on_eks(gpu="T4", **ASKS)),
    "a lane has the tags of a GPU runner and requests no GPU": Fault(
        data=on_gitlab(default_tags=True, **ASKS)
    ),
    "the job's container gets its GPU without nvidia-smi": Fault(
        data=on_gitlab(driver_capabilities=["compute"])
    ),
    "the job starts containers with docker": DOCKER,
    "the cluster lacks the RuntimeClass of the lane": NO_CLASS,
    "pools of one lane need different RuntimeClasses": Fault(data=two_classes()),
    "the driver does not support the GPU": Fault(data=on_site(cards("H100", driver="470.223.02"))),
    # the wrong number of GPUs
    "a job requests more GPUs than a node has": Fault(data=on_eks(gpus=2)),
    "a job requests several slices of a shared GPU": Fault(
        data=on_eks({"sharing": {"time_slicing": 4}}, gpus=2)
    ),
    "a job requests several MIG instances and uses one": Fault(
        data=on_site(cards("A100-40GB", sharing={"mig": "1g.5gb"}), gpus=2)
    ),
    "a variable shows a job all GPUs of the node": Fault(
        data=on_eks(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    ),
    "a privileged job sees all GPUs of the node": PRIVILEGED,
    "the nodes have another sharing config than the pool declares": Fault(
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
    "jobs fill a node and leave GPUs idle": Fault(
        data=on_eks({"instance_types": ["g4dn.12xlarge"]}, gpus=3)
    ),
    "more jobs run at once than `concurrent` allows": Fault(
        data=on_gitlab(hpa={"min_replicas": 1, "max_replicas": 2})
    ),
    # the wrong machine
    "a lane with other GPUs has all tags of this lane": Fault(
        data=made_on_gitlab(
            small={"pools": ["gpu"], "tags": ["gpu"]},
            large={"pools": ["l40s"], "tags": ["gpu", "l40s"]},
        )
    ),
    "a job has only a label that lanes with other GPUs share": Fault(data=shared_label()),
    "a GPU lane takes jobs without tags": Fault(
        data=made_on_gitlab(small={"pools": ["gpu"], "run_untagged": True})
    ),
    # a device of the host
    "the node offers the device, and the lane does not use it": Fault(data=on_site(DRI, **ASKS)),
    "the lane uses the device on a pool that does not offer it": Fault(
        data=on_site({}, device="dri", **ASKS)
    ),
    "the runner is root only to open the device": Fault(
        data=on_site(DRI, device="dri", run_as_root=True, **ASKS)
    ),
    # CUDA
    "the image's CUDA has a newer major version than the driver runs": OLD_DRIVER,
    "the AMI's driver is too old for the lane's `cuda`": Fault(
        data=on_eks({"release_version": "1.35.1-20250901"}, cuda="13.0")
    ),
    "the image's CUDA has a newer minor version than the driver": Fault(
        data=on_site(cards(driver="535.54.03"), image=CUDA.format("12.8.1"))
    ),
    "the image's CUDA no longer supports the GPU": Fault(
        data=on_site(cards("V100"), image=CUDA.format("13.0.1"))
    ),
    "the image's CUDA cannot compile for the GPU's architecture": Fault(
        data=on_site(cards("L4"), image=CUDA.format("11.4.3"))
    ),
    "the container gets no CUDA libraries from the driver": Fault(
        data=on_gitlab(driver_capabilities=["utility"])
    ),
    "the driver's branch has reached its end of life": Fault(
        data=on_site(cards(driver="470.223.02"))
    ),
    "the tag of the image moved": Fault(
        data=on_eks(image="registry.example.com/pytorch-cloud/runner-gpu:latest")
    ),
    "the image's tag does not exist": Fault(
        data=on_gitlab(image="docker.io/nvidia/cuda:12.4-devel-ubuntu22.04")
    ),
    # memory
    "a job needs more GPU memory than the GPU has": Fault(data=on_eks(gpu_memory="20Gi")),
    "a job needs more GPU memory than its share of the GPU": ON_A_SHARE,
    "a job's fair share of the node's memory is too small": Fault(
        data=on_eks({"sharing": {"time_slicing": 32}})
    ),
    "the memory limit is below the job's request": Fault(
        data=on_eks(memory="4Gi", memory_limit="2Gi")
    ),
    "the memory limit is above the node's memory": Fault(data=on_eks(memory_limit="16Gi")),
    "/dev/shm is larger than the memory limit": Fault(data=on_eks(memory="4Gi", shm="8Gi")),
    # owners
    "the GPU Operator installs a driver over the one of the cloud's image": EKS_DRIVER,
    "the GPU Operator installs a driver over the one of existing nodes": Fault(
        data=with_stack(on_site(cards()), operator={"driver": True})
    ),
    "the GPU Operator installs a container toolkit over the one of the cloud's image": Fault(
        data=with_stack(on_oke(), operator={"toolkit": True})
    ),
    "the AMI release has a known fault": Fault(data=on_eks({"release_version": "1.35.8-20260930"})),
    # disk
    "the boot volume of an OKE GPU node is too small for CUDA images": SMALL_BOOT_VOLUME,
    "the root volume of an EKS GPU node is too small for CUDA images": Fault(
        data=on_eks({"disk_gib": 50, "instance_store": "unused"})
    ),
    "a job requests more disk than an empty node has available": Fault(data=on_eks(disk="200Gi")),
    "images leave no disk for a job": Fault(data=on_site(cards(disk="40Gi"))),
    # rights, and Docker
    "`kubernetes_access` names no namespace": Fault(data=access()),
    "jobs may deploy into the namespace with the runners' credentials": Fault(
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
    "the image name has no registry, which CRI-O requires": Fault(
        data=on_oke(image="example/runner:2.338.0-cuda12.8")
    ),
}
