"""A cluster in which tests create, change and delete one resource at a time, without the engine."""

import copy
from typing import Any, ClassVar

import pytest
from cloud_account import CloudAccount
from pulumi_rehearsal.standin import gitlab, kubernetes
from pulumi_rehearsal.standin.jobs import Busy
from pulumi_rehearsal.standin.kind import Invalid, Kind, Lookup, Resource
from pulumi_rehearsal.standin.kubernetes import arc, pods
from pulumi_rehearsal.standin.kubernetes.job_needs import watch
from pulumi_rehearsal.standin.kubernetes.objects import any_object
from pulumi_rehearsal.standin.kubernetes.runner_set import STORAGE_CLASS
from pulumi_rehearsal.standin.world import World

ENDPOINT = "https://0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"
EKS_SCOPE = f"kubernetes:{ENDPOINT}"
EXISTING_SCOPE = "kubernetes:https://10.0.0.1:6443"

ARC_CHARTS = "oci://ghcr.io/actions/actions-runner-controller-charts"

KINDS: dict[str, Kind] = {
    kind.token: kind for kind in (*kubernetes.PACKAGE.kinds, *gitlab.PACKAGE.kinds)
}
KINDS_AND_FALLBACK = {
    **KINDS,
    **{token: any_object(token) for token in (STORAGE_CLASS, pods.SERVICE_ACCOUNT)},
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


class Cluster(CloudAccount):
    """One world; `home` is the scope of the cluster that is used when none is given."""

    kinds = KINDS_AND_FALLBACK
    lookups: ClassVar[dict[str, Lookup]] = {}

    def __init__(self, scope: str = EXISTING_SCOPE, world: World | None = None) -> None:
        super().__init__(world=World() if world is None else world)
        self.home = scope

    def check(self, token: str, inputs: dict, name: str = "thing", old: dict | None = None) -> dict:
        return self.kinds[token].check(self.call(token, name, inputs), old)

    def create(
        self, token: str, inputs: dict, *, name: str = "thing", scope: str | None = None
    ) -> Resource:
        return self.make(token, name, scope, **inputs)

    def change(self, resource: Resource, /, **inputs: Any) -> Resource:
        """Update in place; nested mappings are merged."""
        return super().change(resource, **_merged(self.now(resource).inputs, inputs))

    def invalid(self, token: str, inputs: dict, name: str = "thing") -> dict[str, str]:
        """Return the reasons of the refused check by path."""
        with pytest.raises(Invalid) as caught:
            self.check(token, inputs, name)
        return dict(caught.value.problems)

    # Objects that many tests use

    def namespace(
        self, name: str, labels: dict | None = None, scope: str | None = None
    ) -> Resource:
        metadata = {"name": name, **({"labels": labels} if labels else {})}
        return self.create(
            NAMESPACE, _object("v1", "Namespace", metadata=metadata), name=name, scope=scope
        )

    def secret(self, namespace: str, name: str, scope: str | None = None, **data: str) -> Resource:
        metadata = {"name": name, "namespace": namespace}
        inputs = _object("v1", "Secret", metadata=metadata, stringData=data)
        return self.create(SECRET, inputs, name=f"{namespace}-{name}", scope=scope)

    def definitions(self, version: str = "0.14.2", scope: str | None = None) -> list[Resource]:
        """Create ARC's custom resource definitions, as ConfigGroup registers them."""
        return [
            self.create(DEFINITION, arc.definition(plural, version), name=plural, scope=scope)
            for plural in arc.KINDS_BY_PLURAL
        ]

    def release(self, inputs: dict, scope: str | None = None) -> Resource:
        return self.create(RELEASE, inputs, name=str(inputs.get("name")), scope=scope)

    def eks(self, *groups: dict, version: str = "1.35", name: str = "ci") -> Resource:
        """Create the EKS cluster of `EKS_SCOPE` with these node groups."""
        outputs = {"name": name, "endpoint": ENDPOINT, "version": version}
        cluster = self.put("aws:eks/cluster:Cluster", name, {"version": version}, outputs)
        for index, group in enumerate(groups):
            inputs = {"clusterName": name, **group}
            self.put("aws:eks/nodeGroup:NodeGroup", f"group-{index}", inputs, inputs)
        return cluster

    def put(self, token: str, name: str, inputs: dict, outputs: dict) -> Resource:
        """Add a resource of the AWS provider without its checks."""
        thing = Resource(
            urn=f"urn:pulumi:test::test::{token}::{name}",
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
        """Create a controller, and its namespace and definitions if they are missing."""
        if self.world.get("arc-system", NAMESPACE, self.home) is None:
            self.namespace("arc-system")
            self.definitions(version)
        return self.release(_merged(controller_inputs(version), changes))

    def scale_set(self, version: str = "0.14.2", **changes: Any) -> Resource:
        """Create a scale set, and its namespace and Secret if they are missing."""
        if self.world.get("runners", NAMESPACE, self.home) is None:
            self.namespace("runners")
            self.secret("runners", "github", github_token="t")
        return self.release(_merged(scale_set_inputs(version), changes))

    def busy(self, minutes: float = 30) -> None:
        """Start a job on everything that runs jobs."""
        self.world.jobs.plan(Busy(runners="*", minutes=minutes))
        self.world.jobs.start(lambda resource: watch(resource, self.world))
        assert self.world.jobs.idle == ()

    def gitlab_runner(self, *, runner_token: str | None = None, **changes: Any) -> Resource:
        """Create a runner manager, and its namespace and Secret if they are missing."""
        if self.world.get("ci", NAMESPACE, self.home) is None:
            self.namespace("ci")
            given = "glrt-given" if runner_token is None else runner_token
            keys = {"runner-token": given, "runner-registration-token": ""}
            self.secret("ci", "runner", **keys)
        return self.release(_merged(gitlab_inputs(), changes))


NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
RELEASE = "kubernetes:helm.sh/v3:Release"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
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


def _object(api_version: str, kind: str, **fields: Any) -> dict:
    return {"apiVersion": api_version, "kind": kind, **fields}


def _merged(base: dict, changes: dict) -> dict:
    """Return `base` with `changes`; a value of `None` removes a key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result
