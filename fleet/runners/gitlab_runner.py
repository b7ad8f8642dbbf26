"""Values of the `gitlab-runner` chart, 0.86.0 (runner 18.9): one release per GitLab lane.

Units: seconds. Everything about placement and size here is the *manager's*; jobs are in
`gitlab_config`. No token is a value: `secret` names a Secret with the keys `runner-token` and
`runner-registration-token`, both of which the chart mounts.
Sources: gitlab-runner chart 0.86.0 as vendored in DoD-Platform-One/gitlab-runner (values.yaml,
templates); gitlabhq/gitlab-runner:docs/executors/kubernetes/_index.md (API permissions)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.kubernetes.pods import Affinity, ResourceRequirements, Toleration
from fleet.kubernetes.values import key


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyRule:
    """Verbs allowed on resources of the core API group."""

    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    api_groups: tuple[str, ...] = ("",)


# What the executor asks of the API server, without the permissions of features that this program
# does not use (a namespace per job, suspended environments). The chart's own default is every
# verb on every core resource. `events` watch belongs to FF_PRINT_POD_EVENTS.
EXECUTOR_RULES: tuple[PolicyRule, ...] = (
    PolicyRule(resources=("events",), verbs=("list", "watch")),
    PolicyRule(resources=("pods",), verbs=("create", "delete", "get", "list", "watch")),
    PolicyRule(resources=("pods/attach", "pods/exec"), verbs=("create", "delete", "get", "patch")),
    PolicyRule(resources=("pods/log",), verbs=("get", "list")),
    PolicyRule(resources=("secrets",), verbs=("create", "delete", "get", "update")),
    PolicyRule(resources=("serviceaccounts",), verbs=("get",)),
    PolicyRule(resources=("services",), verbs=("create", "get")),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricTarget:
    """Part of what a pod asks for of a resource, in percent, that an autoscaler aims at."""

    average_utilization: int
    type: Literal["Utilization"] = "Utilization"


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """What an autoscaler looks at, as `autoscaling/v2` spells it (the chart's sample does not)."""

    name: Literal["cpu"] = field(metadata=key("resource", "name"))
    target: MetricTarget = field(metadata=key("resource", "target"))
    type: Literal["Resource"] = "Resource"


CPU_METRIC = Metric(name="cpu", target=MetricTarget(average_utilization=70))


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagerAutoscaler:
    """Bounds of the HorizontalPodAutoscaler of a release's managers.

    It follows the managers' CPU, which says little of the queue, and each replica runs
    `concurrent` jobs.
    """

    min_replicas: int
    max_replicas: int
    metrics: tuple[Metric, ...] = (CPU_METRIC,)


@dataclass(frozen=True, kw_only=True, slots=True)
class GitLabRunnerValues:
    """The values of one runner manager.

    `config` is the text of `gitlab_config.config_toml`. `concurrent` counts jobs per replica;
    the chart leaves `replicas` out where there is an `hpa`.
    The grace period lets running jobs end when the manager is replaced, one hour by default.
    """

    gitlab_url: str
    concurrent: int
    secret: str = field(metadata=key("runners", "secret"))
    config: str = field(metadata=key("runners", "config"))
    service_account: str = field(metadata=key("serviceAccount", "name"))
    create_service_account: bool = field(default=True, metadata=key("serviceAccount", "create"))
    create_rbac: bool = field(default=True, metadata=key("rbac", "create"))
    cluster_wide_access: bool = field(default=False, metadata=key("rbac", "clusterWideAccess"))
    rbac_rules: tuple[PolicyRule, ...] = field(
        default=EXECUTOR_RULES, metadata=key("rbac", "rules")
    )
    executor: str = field(default="kubernetes", metadata=key("runners", "executor"))
    check_interval: int = 3
    termination_grace_period_seconds: int = 3600
    shutdown_timeout: int | None = field(default=None, metadata=key("shutdown_timeout"))
    unregister_runners: bool = True
    metrics: bool = field(default=False, metadata=key("metrics", "enabled"))
    replicas: int = 1
    hpa: ManagerAutoscaler | None = None
    fullname_override: str | None = None
    log_level: str | None = None
    node_selector: Mapping[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    resources: ResourceRequirements | None = None
    priority_class_name: str | None = None
    pod_labels: Mapping[str, str] | None = None
    pod_annotations: Mapping[str, str] | None = None
