"""A cluster to try one resource at a time in: the server's bookkeeping without the engine."""

import copy
from typing import Any

import pytest
from pulumi_rehearsal.standin import gitlab, kubernetes
from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Resource
from pulumi_rehearsal.standin.kubernetes.arc_definitions import definition
from pulumi_rehearsal.standin.world import World

ENDPOINT = "https://0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"
EKS_SCOPE = f"kubernetes:{ENDPOINT}"
PLAIN_SCOPE = "kubernetes:https://10.0.0.1:6443"

ARC_CHARTS = "oci://ghcr.io/actions/actions-runner-controller-charts"
DEFINITIONS = (
    "autoscalinglisteners",
    "autoscalingrunnersets",
    "ephemeralrunners",
    "ephemeralrunnersets",
)

KINDS: dict[str, Kind] = {
    kind.token: kind for kind in (*kubernetes.PACKAGE.kinds, *gitlab.PACKAGE.kinds)
}
CONFIG = """
[[runners]]
executor = "kubernetes"
[runners.feature_flags]
FF_USE_ADVANCED_POD_SPEC_CONFIGURATION = true
[runners.kubernetes]
namespace = "ci"
image = "ubuntu:24.04"
poll_timeout = 1800
[runners.kubernetes.node_tolerations]
"nvidia.com/gpu" = "NoSchedule"
[[runners.kubernetes.pod_spec]]
name = "gpu"
patch_type = "strategic"
patch = '''
containers:
  - name: build
    resources:
      requests: {nvidia.com/gpu: "1"}
      limits: {nvidia.com/gpu: "1"}
'''
"""


class Lab:
    """One world; `scope` is the cluster that is meant where none is named."""

    def __init__(self, scope: str = PLAIN_SCOPE) -> None:
        self.world = World()
        self.scope = scope

    def check(self, token: str, inputs: dict, name: str = "thing", old: dict | None = None) -> dict:
        """What the kind makes of the inputs."""
        return KINDS[token].check(self._call(token, name, inputs, self.scope), old)

    def make(
        self, token: str, inputs: dict, *, name: str = "thing", scope: str | None = None
    ) -> Resource:
        """Check and create, as the engine asks for them in `up`."""
        scope = scope or self.scope
        checked = KINDS[token].check(self._call(token, name, inputs, scope), None)
        call = self._call(token, name, checked, scope)
        identity, outputs = KINDS[token].create(call, self.world)
        thing = self._thing(call, identity, outputs)
        self.world.add(thing)
        self.world.record("created", thing)
        return thing

    def change(self, thing: Resource, **inputs: Any) -> Resource:
        """An update in place; nested mappings are merged."""
        wanted = _merged(thing.inputs, inputs)
        call = self._call(thing.type, thing.name, wanted, thing.scope)
        checked = KINDS[thing.type].check(call, thing.inputs)
        call = self._call(thing.type, thing.name, checked, thing.scope)
        current = self.world.get(thing.id, thing.type, thing.scope)
        changed = self._thing(call, thing.id, KINDS[thing.type].update(call, current, self.world))
        self.world.replace(changed)
        return changed

    def remove(self, thing: Resource) -> None:
        """A delete."""
        current = self.world.get(thing.id, thing.type, thing.scope)
        KINDS[thing.type].delete(current, self.world)
        self.world.remove(current)
        self.world.record("deleted", current)

    def invalid(self, token: str, inputs: dict, name: str = "thing") -> dict[str, str]:
        """The check's objections by path; none is a failure of the test."""
        with pytest.raises(Invalid) as caught:
            self.check(token, inputs, name)
        return dict(caught.value.problems)

    # Objects that many tests start from

    def namespace(
        self, name: str, labels: dict | None = None, scope: str | None = None
    ) -> Resource:
        metadata = {"name": name, **({"labels": labels} if labels else {})}
        return self.make(
            NAMESPACE, _object("v1", "Namespace", metadata=metadata), name=name, scope=scope
        )

    def secret(self, namespace: str, name: str, scope: str | None = None, **data: str) -> Resource:
        metadata = {"name": name, "namespace": namespace}
        inputs = _object("v1", "Secret", metadata=metadata, stringData=data)
        return self.make(SECRET, inputs, name=f"{namespace}-{name}", scope=scope)

    def definitions(self, version: str = "0.14.2", scope: str | None = None) -> list[Resource]:
        """ARC's four, as the ConfigGroup registers them."""
        made = []
        for plural in DEFINITIONS:
            made.append(
                self.make(DEFINITION, definition(plural, version), name=plural, scope=scope)
            )
        return made

    def release(self, inputs: dict, scope: str | None = None) -> Resource:
        return self.make(RELEASE, inputs, name=str(inputs.get("name")), scope=scope)

    def eks(self, *groups: dict, version: str = "1.35", name: str = "ci") -> Resource:
        """An EKS cluster behind `EKS_SCOPE` with these node groups."""
        outputs = {"name": name, "endpoint": ENDPOINT, "version": version}
        cluster = self.put("aws:eks/cluster:Cluster", name, {"version": version}, outputs)
        for index, group in enumerate(groups):
            inputs = {"clusterName": name, **group}
            self.put("aws:eks/nodeGroup:NodeGroup", f"group-{index}", inputs, inputs)
        return cluster

    def put(self, token: str, name: str, inputs: dict, outputs: dict) -> Resource:
        """Something of another provider's."""
        thing = Resource(
            urn=_urn(token, name),
            type=token,
            name=name,
            id=name,
            scope="aws:us-west-2",
            inputs=inputs,
            outputs=outputs,
        )
        self.world.add(thing)
        return thing

    def controller(self, version: str = "0.14.2", **changes: Any) -> Resource:
        """Namespace, definitions and controller, where they are not there yet."""
        if self.world.get("arc-system", NAMESPACE, self.scope) is None:
            self.namespace("arc-system")
            self.definitions(version)
        return self.release(_merged(controller_inputs(version), changes))

    def scale_set(self, version: str = "0.14.2", **changes: Any) -> Resource:
        """A lane with its namespace and Secret, where they are not there yet."""
        if self.world.get("runners", NAMESPACE, self.scope) is None:
            self.namespace("runners")
            self.secret("runners", "github", github_token="t")
        return self.release(_merged(scale_set_inputs(version), changes))

    def gitlab_lane(self, *, runner_token: str | None = None, **changes: Any) -> Resource:
        """A manager with its namespace and Secret, where they are not there yet."""
        if self.world.get("ci", NAMESPACE, self.scope) is None:
            self.namespace("ci")
            given = "glrt-given" if runner_token is None else runner_token
            keys = {"runner-token": given, "runner-registration-token": ""}
            self.secret("ci", "runner", **keys)
        return self.release(_merged(gitlab_inputs(), changes))

    def _call(self, token: str, name: str, inputs: dict, scope: str) -> Call:
        return Call(urn=_urn(token, name), type=token, name=name, inputs=inputs, scope=scope)

    def _thing(self, call: Call, identity: str, outputs: dict) -> Resource:
        return Resource(
            urn=call.urn,
            type=call.type,
            name=call.name,
            id=identity,
            scope=call.scope,
            inputs=call.inputs,
            outputs=outputs,
        )


NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
RELEASE = "kubernetes:helm.sh/v3:Release"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
RUNTIME_CLASS = "kubernetes:node.k8s.io/v1:RuntimeClass"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
CLUSTER_ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
CRON_JOB = "kubernetes:batch/v1:CronJob"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"

SYSTEM_GROUP = {
    "amiType": "AL2023_x86_64_STANDARD",
    "scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 1},
}
GPU_GROUP = {
    "amiType": "AL2023_x86_64_NVIDIA",
    "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": 0},
    "labels": {"nvidia.com/gpu.present": "true"},
    "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
}


def controller_inputs(version: str = "0.14.2") -> dict:
    return {
        "chart": f"{ARC_CHARTS}/gha-runner-scale-set-controller",
        "name": "arc",
        "namespace": "arc-system",
        "skipCrds": True,
        "values": {"replicaCount": 1},
        "version": version,
    }


def scale_set_inputs(version: str = "0.14.2") -> dict:
    runner = {
        "name": "runner",
        "image": "ghcr.io/actions/actions-runner:2.330.0",
        "command": ["run.sh"],
    }
    return {
        "chart": f"{ARC_CHARTS}/gha-runner-scale-set",
        "name": "gpu",
        "namespace": "runners",
        "values": {
            "controllerServiceAccount": {
                "name": "arc-gha-rs-controller",
                "namespace": "arc-system",
            },
            "githubConfigSecret": "github",
            "githubConfigUrl": "https://github.com/acme",
            "maxRunners": 4,
            "minRunners": 0,
            "scaleSetLabels": ["gpu"],
            "template": {"spec": {"containers": [runner]}},
        },
        "version": version,
    }


def gitlab_inputs() -> dict:
    return {
        "chart": "gitlab-runner",
        "name": "gpu",
        "namespace": "ci",
        "repositoryOpts": {"repo": "https://charts.gitlab.io"},
        "values": {
            "concurrent": 4,
            "gitlabUrl": "https://gitlab.com",
            "rbac": {"create": True},
            "runners": {"config": CONFIG, "secret": "runner"},
            "serviceAccount": {"create": True},
        },
        "version": "0.86.0",
    }


def config_map(namespace: str | None = "ci", name: str | None = "hooks", **fields: Any) -> dict:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def deployment(**spec):
    labels = {"app": "x"}
    pod = {"containers": [{"name": "main", "image": "busybox"}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "ci"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def cron_job(name="cleanup", schedule="*/10 * * * *"):
    pod = {"containers": [{"name": "main", "image": "busybox"}], "restartPolicy": "Never"}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name, "namespace": "ci"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": {"spec": pod}}}},
    }


def _object(api_version: str, kind: str, **fields: Any) -> dict:
    return {"apiVersion": api_version, "kind": kind, **fields}


def _merged(base: dict, changes: dict) -> dict:
    """`base` with `changes`; a value of None takes a key away."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


def _urn(token: str, name: str) -> str:
    return f"urn:pulumi:dev::gpu-runners::{token}::{name}"
