"""Labels, taints, resource names and namespaces that pools, GPU stack and lanes share."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.kubernetes.pods import GPU_RESOURCE, Effect, Toleration

EFA_RESOURCE = "vpc.amazonaws.com/efa"

POOL_LABEL = "gpu-runners/pool"
ROLE_LABEL = "gpu-runners/role"

GPU_PRESENT_LABEL = "nvidia.com/gpu.present"
"""The device-plugin chart selects nodes by this label. nodeadm sets it only from kubelet 1.35 on,
and for a pool at zero nodes the autoscaler sees only the labels that the pool declares."""

ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"
"""Makes the cluster-autoscaler wait until a new node's GPUs are registered.
Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/README.md."""

SHARING_LABEL = "nvidia.com/device-plugin.config"
"""Selects one of the device plugin's named configs for a node."""

WHOLE_GPUS = "whole"
"""Device plugin config of pools without GPU sharing, and of nodes without `SHARING_LABEL`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taint:
    """A node taint."""

    key: str
    value: str
    effect: Effect

    def tolerated(self) -> Toleration:
        """Return a toleration of the taint with any value, because values differ by cloud."""
        return Toleration(key=self.key, effect=self.effect)


GPU_TAINT = Taint(key=GPU_RESOURCE, value="true", effect="NoSchedule")
"""Taint of every GPU pool that this program makes: only GPU jobs and DaemonSets tolerate it."""

PAUSED_TAINT = Taint(key="gpu-runners/paused", value="true", effect="NoSchedule")
"""Taint of a paused pool. No lane tolerates it, so that no job starts and no node is added."""


PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}
"""Label of a namespace that admits privileged pods (Pod Security Admission)."""


class Namespaces:
    """Namespaces that this program uses. It makes them, except `kube-system` and existing ones."""

    operator = "gpu-operator"
    device_plugin = "nvidia-device-plugin"
    efa_plugin = "aws-efa-device-plugin"
    host_devices = "host-devices"
    arc_controller = "arc-systems"
    arc_runners = "arc-runners"
    gitlab = "gitlab-runners"
    system = "kube-system"


def slices(replicas: int) -> str:
    """Return the device plugin config for GPUs that `replicas` jobs share by time slicing."""
    return f"time-slicing-{replicas}" if replicas > 1 else WHOLE_GPUS
