"""The faults of the second part of docs/troubleshooting.md, by their trouble as it stands there."""

from __future__ import annotations

from datetime import date

from tests.fleet.checks.planted import CPU, cards, existing_of
from tests.troubles import Fault, on_eks, on_gitlab, on_oke, on_site
from tests.troubles_of_seeds import (
    DOCKER,
    EKS_DRIVER,
    NO_CLASS,
    NO_GPU_ASKED,
    NO_PLUGIN,
    NVIDIA_LABEL,
    OLD_DRIVER,
    OLD_KUBERNETES,
    ON_A_SHARE,
    PRIVILEGED,
    SMALL_BOOT_VOLUME,
    TWO_PLUGINS,
    UNTAINTED,
)

ARC = "actions/actions-runner-controller"
RESERVED = {"capacity_reservation_id": "cr-0123456789abcdef0", "zones": ["us-west-2a"]}
LAUNCHED = {"container_mode": "kubernetes-novolume"}


FAULTS: dict[str, Fault] = {
    f"containers of the Docker daemon see no GPU ({ARC}#2553)": DOCKER,
    "an older ARC ignores labels of scale sets": Fault(
        data={**on_eks(labels=["cuda"]), "charts": {"arc_version": "0.13.1"}}
    ),
    f"a scale set stays `Outdated`: the runner in its image is too old ({ARC}#4595)": Fault(
        data=on_eks(image="ghcr.io/actions/actions-runner:2.337.0"), today=date(2026, 11, 5)
    ),
    "no runners for hours: a spot pool without an on-demand fallback "
    "(cattle-ops/terraform-aws-gitlab-runner#474)": Fault(
        data=on_gitlab({"capacity_type": "SPOT"})
    ),
    "a spot pool of large GPUs gets no nodes": Fault(
        data=on_eks({"capacity_type": "SPOT", "instance_types": ["p4d.24xlarge"]}, gpus=8)
    ),
    "one node group has instance types of different size": Fault(
        data=on_eks({"instance_types": ["g4dn.xlarge", "g4dn.2xlarge"]})
    ),
    "runners on CPU nodes count as running while their GPU job is Pending (pytorch/ci-infra#952)": Fault(
        data=on_eks(max_runners=5, **LAUNCHED)
    ),
    "CPU nodes have no room for every waiting runner": Fault(
        data=on_eks({"max_size": 200}, max_runners=200, **LAUNCHED)
    ),
    "a capacity block of an instance type that has none": Fault(
        data=on_eks({"capacity_type": "CAPACITY_BLOCK", **RESERVED})
    ),
    "one reservation for two instance types": Fault(
        data=on_eks({"instance_types": ["g5.xlarge", "g5.2xlarge"], **RESERVED})
    ),
    "OCPUs taken for vCPUs give half of the cores (cncf/automation#601)": Fault(
        data=on_oke({"ocpus": 30})
    ),
    "the GPU quota is 0, and pods stay Pending (aws-samples/deepseek-using-vllm-on-eks#3)": Fault(
        data=on_eks()
    ),
    "a memory request just below the node's size does not fit (pytorch/ci-infra#1079)": Fault(
        data=on_eks({"instance_types": ["g6.8xlarge"]}, memory="120Gi")
    ),
    "a request of 600Gi ephemeral storage does not fit (pytorch/ci-infra#1073)": Fault(
        data=on_eks(disk="600Gi")
    ),
    "a node without device plugin never offers GPUs and is never removed "
    "(aws/karpenter-provider-aws#1914)": NO_PLUGIN,
    "a label T4 that GPU feature discovery writes as Tesla-T4 (METR/hawk#1486)": NVIDIA_LABEL,
    "CPU pods run on GPU nodes (2i2c-org/infrastructure#4209)": UNTAINTED,
    "GPU nodes run without jobs": Fault(data=on_eks({"min_size": 1})),
    "NVIDIA has no driver container for Amazon Linux (NVIDIA/gpu-operator#686)": EKS_DRIVER,
    "OKE installs its device plugin on every cluster (NVIDIA/aicr#2355)": TWO_PLUGINS,
    "an AMI has a device plugin of its own (awslabs/ai-on-eks#78)": Fault(
        data=on_eks({"ami_type": "BOTTLEROCKET_x86_64_NVIDIA"})
    ),
    "a GPU Operator that does not support the Kubernetes version": OLD_KUBERNETES,
    "a driver upgrade by the GPU Operator ends running jobs (NVIDIA/gpu-operator#2166)": EKS_DRIVER,
    "a privileged container sees all GPUs of the node (kubernetes/kubernetes#81256)": PRIVILEGED,
    "a CUDA image without a GPU request sees all GPUs (NVIDIA/k8s-device-plugin#87)": NO_GPU_ASKED,
    "time slicing does not isolate memory (NVIDIA/k8s-device-plugin#461)": ON_A_SHARE,
    "a change of MIG needs a reboot, or hangs (NVIDIA/gpu-operator#1606)": Fault(
        data=on_eks({"instance_types": ["p4d.24xlarge"], "sharing": {"mig": "1g.5gb"}}, gpus=1)
    ),
    "a MIG profile that the GPU does not have": Fault(
        data=on_site(cards("A100-40GB", sharing={"mig": "1g.24gb"}))
    ),
    "without the RuntimeClass, pods start and see no GPU (NVIDIA/k8s-device-plugin#479)": NO_CLASS,
    "the nodes' driver is too old for a current CUDA": OLD_DRIVER,
    "too many tags for one runner": Fault(
        data=on_gitlab(tags=[f"tag-{number}" for number in range(48)], default_tags=True)
    ),
    "images fill the disk of GPU nodes (kubeflow/trainer#2809)": SMALL_BOOT_VOLUME,
    "the disk of GPU nodes has room for few CUDA images": Fault(
        data=on_oke({"boot_volume_gb": 300})
    ),
    "the pull policy is Never, and a new node does not have the image": Fault(
        data=on_eks(pull_policy="Never")
    ),
    "the lane's image has no runner: its pods exit at once and restart": Fault(
        data=on_eks(image="docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04")
    ),
    "a variable of the lane hides the only GPU of a job": Fault(
        data=on_eks(env={"CUDA_VISIBLE_DEVICES": "1"})
    ),
    "a variable of the lane hides one of the GPUs of a job": Fault(
        data=on_eks(
            {"instance_types": ["g4dn.12xlarge"]}, gpus=2, env={"CUDA_VISIBLE_DEVICES": "0"}
        )
    ),
    "the job's user is not in the group of /dev/dri": Fault(
        data=existing_of(
            {"dri": {"devices": {"dri": 2}}, "cpu": CPU},
            {"vulkan": {"pools": ["dri"], "cpu": 2, "memory": "4Gi", "device": "dri"}},
        )
    ),
    "the lane's `cuda` differs from the CUDA of its image": Fault(
        data=on_eks(image="ghcr.io/example/runner:2.338.0-cuda12.9", cuda="12.8")
    ),
    "a CUDA version that NVIDIA never released": Fault(data=on_eks(cuda="12.7")),
}
