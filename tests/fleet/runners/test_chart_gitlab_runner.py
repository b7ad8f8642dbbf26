"""The gitlab-runner chart: its exact keys, narrow rights, and no token."""

from __future__ import annotations

from fleet.kubernetes.pods import Size, Toleration, resources, selector_affinity
from fleet.kubernetes.values import to_values
from fleet.runners.gitlab_runner import EXECUTOR_RULES, GitLabRunnerValues

PLAIN = GitLabRunnerValues(
    gitlab_url="https://gitlab.com",
    concurrent=4,
    secret="t4-token",
    config="[[runners]]\n",
    service_account="t4-manager",
)


def test_every_key_has_the_charts_spelling() -> None:
    values = to_values(
        GitLabRunnerValues(
            gitlab_url="https://gitlab.com",
            concurrent=4,
            secret="t4-token",
            config="[[runners]]\n",
            service_account="t4-manager",
            rbac_rules=EXECUTOR_RULES[:1],
            metrics=True,
            shutdown_timeout=30,
            fullname_override="t4",
            log_level="info",
            node_selector={"role": "system"},
            affinity=selector_affinity([{"gpu-runners/role": "system"}]),
            tolerations=(Toleration(key="CriticalAddonsOnly"),),
            resources=resources(Size(cpu_m=100, memory_mib=128)),
            priority_class_name="managers",
            pod_labels={"a": "b"},
            pod_annotations={"c": "d"},
        )
    )
    assert values.pop("affinity")["nodeAffinity"]
    assert values == {
        "gitlabUrl": "https://gitlab.com",
        "concurrent": 4,
        "checkInterval": 3,
        "runners": {
            "secret": "t4-token",
            "config": "[[runners]]\n",
            "executor": "kubernetes",
        },
        "serviceAccount": {"create": True, "name": "t4-manager"},
        "rbac": {
            "create": True,
            "clusterWideAccess": False,
            "rules": [{"apiGroups": [""], "resources": ["events"], "verbs": ["list", "watch"]}],
        },
        "terminationGracePeriodSeconds": 3600,
        "shutdown_timeout": 30,
        "unregisterRunners": True,
        "metrics": {"enabled": True},
        "replicas": 1,
        "fullnameOverride": "t4",
        "logLevel": "info",
        "nodeSelector": {"role": "system"},
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "128Mi"},
        },
        "priorityClassName": "managers",
        "podLabels": {"a": "b"},
        "podAnnotations": {"c": "d"},
    }


def test_no_key_can_hold_a_token() -> None:
    values = to_values(PLAIN)
    assert not {"runnerToken", "runnerRegistrationToken"} & set(values)
    assert not [name for name in GitLabRunnerValues.__slots__ if "token" in name]


def test_the_executor_gets_what_it_uses_and_no_wildcard() -> None:
    rules = to_values(PLAIN)["rbac"]["rules"]
    granted = {
        (resource, verb)
        for rule in rules
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == {
        *(("pods", verb) for verb in ("create", "delete", "get", "list", "watch")),
        *(("pods/attach", verb) for verb in ("create", "delete", "get", "patch")),
        *(("pods/exec", verb) for verb in ("create", "delete", "get", "patch")),
        *(("pods/log", verb) for verb in ("get", "list")),
        *(("secrets", verb) for verb in ("create", "delete", "get", "update")),
        *(("events", verb) for verb in ("list", "watch")),
        *(("services", verb) for verb in ("create", "get")),
        ("serviceaccounts", "get"),
    }
    assert {group for rule in rules for group in rule["apiGroups"]} == {""}


def test_running_jobs_have_an_hour_to_end_when_the_manager_is_replaced() -> None:
    assert to_values(PLAIN)["terminationGracePeriodSeconds"] == 3600
