"""Values of ARC's `gha-runner-scale-set-controller` chart, 0.14.2: one release per cluster.

The account's name is always given, because every scale set names it (`arc_scale_set`), and the
name that the chart would derive depends on the release's. Custom resource definitions are no
value: the release skips them and they are a resource of their own.
Source: actions/actions-runner-controller@gha-runner-scale-set-0.14.2:
charts/gha-runner-scale-set-controller/values.yaml
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.kubernetes.pods import Affinity, ResourceRequirements, Toleration
from fleet.kubernetes.values import key


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcControllerValues:
    """The values of one controller.

    `update_strategy` `eventual` waits for running jobs before it applies a change; the chart's
    own `immediate` starts the new runners beside the old ones. `runner_max_concurrent_reconciles`
    is how many runners are made at once. Metrics are served when the three `metrics_*` are given,
    at the address (`":8080"`) and path (`"/metrics"`).

    Raises ValueError for the account `default`, which the chart refuses, and for metrics given in
    part, which would leave controller or listener without.
    """

    service_account: str = field(metadata=key("serviceAccount", "name"))
    replica_count: int = 1
    log_level: Literal["debug", "info", "warn", "error"] = field(
        default="info", metadata=key("flags", "logLevel")
    )
    log_format: Literal["text", "json"] | None = field(
        default=None, metadata=key("flags", "logFormat")
    )
    update_strategy: Literal["immediate", "eventual"] = field(
        default="eventual", metadata=key("flags", "updateStrategy")
    )
    runner_max_concurrent_reconciles: int | None = field(
        default=None, metadata=key("flags", "runnerMaxConcurrentReconciles")
    )
    watch_single_namespace: str | None = field(
        default=None, metadata=key("flags", "watchSingleNamespace")
    )
    metrics_controller_manager_addr: str | None = field(
        default=None, metadata=key("metrics", "controllerManagerAddr")
    )
    metrics_listener_addr: str | None = field(default=None, metadata=key("metrics", "listenerAddr"))
    metrics_listener_endpoint: str | None = field(
        default=None, metadata=key("metrics", "listenerEndpoint")
    )
    resources: ResourceRequirements | None = None
    node_selector: Mapping[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    priority_class_name: str | None = None
    labels: Mapping[str, str] | None = None
    pod_labels: Mapping[str, str] | None = None
    pod_annotations: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.service_account in {"", "default"}:
            raise ValueError(
                f"the controller may not run as service account {self.service_account!r}: "
                "give an account of its own"
            )
        metrics = (
            self.metrics_controller_manager_addr,
            self.metrics_listener_addr,
            self.metrics_listener_endpoint,
        )
        if None in metrics and any(metrics):
            raise ValueError(
                "the controller's metrics are given in part: give metrics_controller_manager_addr, "
                "metrics_listener_addr and metrics_listener_endpoint, or none of them"
            )
