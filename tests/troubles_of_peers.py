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
    f"GPUs for containers of the daemon ({ARC}#2553)": DOCKER,
    "labels that an older ARC ignores": Fault(
        data={**on_eks(labels=["cuda"]), "charts": {"arc_version": "0.13.1"}}
    ),
    f"a set stays `Outdated`: the runner in its image is too old ({ARC}#4595)": Fault(
        data=on_eks(image="ghcr.io/actions/actions-runner:2.337.0"), today=date(2026, 11, 5)
    ),
    "hours without runners: nothing stands behind spot "
    "(cattle-ops/terraform-aws-gitlab-runner#474)": Fault(
        data=on_gitlab({"capacity_type": "SPOT"})
    ),
    "spot of large GPUs never comes": Fault(
        data=on_eks({"capacity_type": "SPOT", "instance_types": ["p4d.24xlarge"]}, gpus=8)
    ),
    "one group of unequal sizes": Fault(
        data=on_eks({"instance_types": ["g4dn.xlarge", "g4dn.2xlarge"]})
    ),
    "runners on CPU nodes count as running while their GPU job waits (pytorch/ci-infra#952)": Fault(
        data=on_eks(max_runners=5, **LAUNCHED)
    ),
    "CPU nodes have no room for every waiting runner": Fault(
        data=on_eks({"max_size": 200}, max_runners=200, **LAUNCHED)
    ),
    "a capacity block of a type that has none": Fault(
        data=on_eks({"capacity_type": "CAPACITY_BLOCK", **RESERVED})
    ),
    "one reservation for two instance types": Fault(
        data=on_eks({"instance_types": ["g5.xlarge", "g5.2xlarge"], **RESERVED})
    ),
    "OCPU or vCPU: half of the cores (cncf/automation#601)": Fault(data=on_oke({"ocpus": 30})),
    "the GPU quota is 0, and pods only wait (aws-samples/deepseek-using-vllm-on-eks#3)": Fault(
        data=on_eks()
    ),
    "a memory request just under the node's size (pytorch/ci-infra#1079)": Fault(
        data=on_eks({"instance_types": ["g6.8xlarge"]}, memory="120Gi")
    ),
    "600Gi of ephemeral storage (pytorch/ci-infra#1073)": Fault(data=on_eks(disk="600Gi")),
    "a node without device plugin is never ready and never removed "
    "(aws/karpenter-provider-aws#1914)": NO_PLUGIN,
    "a declared T4 that feature discovery calls Tesla-T4 (METR/hawk#1486)": NVIDIA_LABEL,
    "GPU nodes collect CPU pods (2i2c-org/infrastructure#4209)": UNTAINTED,
    "GPU nodes run without jobs": Fault(data=on_eks({"min_size": 1})),
    "no driver container for Amazon Linux (NVIDIA/gpu-operator#686)": EKS_DRIVER,
    "OKE puts its plugin on each cluster (NVIDIA/aicr#2355)": TWO_PLUGINS,
    "an AMI that brings a plugin of its own (awslabs/ai-on-eks#78)": Fault(
        data=on_eks({"ami_type": "BOTTLEROCKET_x86_64_NVIDIA"})
    ),
    "an operator on a Kubernetes version that it does not know": OLD_KUBERNETES,
    "a driver upgrade by the operator ends running jobs (NVIDIA/gpu-operator#2166)": EKS_DRIVER,
    "a privileged container sees all GPUs (kubernetes/kubernetes#81256)": PRIVILEGED,
    "a CUDA image without a request sees all GPUs (NVIDIA/k8s-device-plugin#87)": NO_GPU_ASKED,
    "time slicing does not isolate memory (NVIDIA/k8s-device-plugin#461)": ON_A_SHARE,
    "MIG needs a reboot, or wedges (NVIDIA/gpu-operator#1606)": Fault(
        data=on_eks({"instance_types": ["p4d.24xlarge"], "sharing": {"mig": "1g.5gb"}}, gpus=1)
    ),
    "a MIG profile that the card does not have": Fault(
        data=on_site(cards("A100-40GB", sharing={"mig": "1g.24gb"}))
    ),
    "pods start and see no GPU without the RuntimeClass (NVIDIA/k8s-device-plugin#479)": NO_CLASS,
    "a runner's driver is too old for present CUDA": OLD_DRIVER,
    "too many tags for one runner": Fault(
        data=on_gitlab(tags=[f"tag-{number}" for number in range(48)], default_tags=True)
    ),
    "images fill the disk of GPU nodes (kubeflow/trainer#2809)": SMALL_BOOT_VOLUME,
    "few CUDA images have room on the disk of GPU nodes": Fault(
        data=on_oke({"boot_volume_gb": 300})
    ),
    "an image is never pulled, and no new node has it": Fault(data=on_eks(pull_policy="Never")),
    "the lane's image holds no runner: its pods end at once, again and again": Fault(
        data=on_eks(image="docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04")
    ),
    "a variable of the lane hides a job's only GPU": Fault(
        data=on_eks(env={"CUDA_VISIBLE_DEVICES": "1"})
    ),
    "a variable of the lane hides one of a job's GPUs": Fault(
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
    "the lane says another CUDA version than its image": Fault(
        data=on_eks(image="ghcr.io/example/runner:2.338.0-cuda12.9", cuda="12.8")
    ),
    "a CUDA version that NVIDIA never released": Fault(data=on_eks(cuda="12.7")),
}
