"""The labels, taints and names that tie pools, GPU stack and lanes together; each stands once."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.kubernetes.pods import GPU as GPU_RESOURCE
from fleet.kubernetes.pods import Effect, Toleration

EFA_RESOURCE = "vpc.amazonaws.com/efa"

POOL_LABEL = "gpu-runners/pool"
ROLE_LABEL = "gpu-runners/role"

GPU_PRESENT_LABEL = "nvidia.com/gpu.present"
"""The device-plugin chart selects it; nodeadm sets it only from kubelet 1.35 on, and an autoscaler
at zero nodes sees only what the pool declares."""

ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"
"""Makes the cluster-autoscaler wait until a new node's GPUs are registered.
Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/README.md."""

SHARING_LABEL = "nvidia.com/device-plugin.config"
"""Picks one of the device plugin's named configs for a node."""

WHOLE_GPUS = "whole"
"""Named config of a pool that does not share its cards, and the default of a node without label."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taint:
    """A node taint in Kubernetes' spelling."""

    key: str
    value: str
    effect: Effect

    def tolerated(self) -> Toleration:
        """Tolerates the taint whatever its value, which differs by cloud."""
        return Toleration(key=self.key, effect=self.effect)


GPU_TAINT = Taint(key=GPU_RESOURCE, value="true", effect="NoSchedule")
"""On every GPU pool: nothing lands there that does not ask to."""

PAUSED_TAINT = Taint(key="gpu-runners/paused", value="true", effect="NoSchedule")
"""On a paused pool: no lane tolerates it, so that no job starts and no node is added."""


class Namespaces:
    """Namespaces that this program makes in a cluster."""

    operator = "gpu-operator"
    device_plugin = "nvidia-device-plugin"
    efa_plugin = "aws-efa-device-plugin"
    host_devices = "host-devices"
    arc_controller = "arc-systems"
    arc_runners = "arc-runners"
    gitlab = "gitlab-runners"
    system = "kube-system"


def slices(replicas: int) -> str:
    """Name of the device plugin's config for a pool whose GPUs serve so many jobs in turn."""
    return f"time-slicing-{replicas}" if replicas > 1 else WHOLE_GPUS
