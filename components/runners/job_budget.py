"""The budget that makes an eviction wait for a running job.

A cloud that replaces a node evicts its pods, and so does `kubectl drain`. Without a budget the
eviction ends the job at once, whatever the cloud would wait for. With it, EKS waits 15 minutes and
then gives up. OKE waits `eviction_minutes`; then it gives up on a GPU pool and deletes the nodes of
a CPU pool. The autoscaler already leaves nodes with jobs alone
(`fleet.kubernetes.pods.NOT_EVICTABLE`).

- One budget for each namespace, not for each lane: it must outlast a lane that drains, and a pod
  with two budgets cannot be evicted.
- `minAvailable` as a number: a runner's pod belongs to an EphemeralRunner, which has no scale, and
  only a number works without one (actions/actions-runner-controller#4493, #4618; kubernetes
  pkg/controller/disruption/disruption.go, getExpectedPodCount).
- An idle runner would block every drain. It is not ready (`fleet.runners.github`), and
  `AlwaysAllow` lets pods that are not ready go. A job is protected within ten seconds of its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pulumi
import pulumi_kubernetes as kubernetes

from fleet.kubernetes.pods import JOB_POD

_MORE_THAN_ALL: Final = 1_000_000
"""More job pods than a cluster holds, so that the budget never allows an eviction."""


def job_budget(
    name: str,
    namespace: str,
    opts: pulumi.ResourceOptions,
    *,
    depends_on: Sequence[pulumi.Resource],
) -> kubernetes.policy.v1.PodDisruptionBudget:
    """Register the budget of the job pods in a namespace; lanes depend on it."""
    return kubernetes.policy.v1.PodDisruptionBudget(
        name,
        metadata={"name": "gpu-runners-jobs", "namespace": namespace},
        spec={
            "min_available": _MORE_THAN_ALL,
            "selector": {"match_labels": dict(JOB_POD)},
            "unhealthy_pod_eviction_policy": "AlwaysAllow",
        },
        opts=pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(depends_on=list(depends_on))
        ),
    )
