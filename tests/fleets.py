"""Small fleets for tests: one stack's data, changed where a test needs it, and its plan."""

import copy
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes
import pulumi_oci as oci
import yaml

from fleet.clusters.eks import EksPool
from fleet.load import Fleet, load
from fleet.plan import ClusterPlan

_CLUSTER = """
eks:
  region: us-west-2
  version: "1.35"
  network: {cidr: 10.0.0.0/16, zones: [us-west-2a, us-west-2b]}
  api: {allow: [203.0.113.0/24]}
  admins: ["arn:aws:iam::111122223333:role/platform"]
  pools:
    system: {instance_types: [m6i.large], min_size: 2, max_size: 4}
    t4: {instance_types: [g4dn.xlarge], max_size: 10, sharing: {time_slicing: 2}}
gpu_stack: {advertiser: device_plugin, operator: {}}
github:
  url: https://github.com/example-org
  app: {id: 1, installation_id: 2, private_key: {secret: githubAppKey}}
  lanes:
    gpu-t4: {pools: [t4], gpus: 1, max_runners: 4, labels: [cuda]}
gitlab:
  api_token: {secret: gitlabApiToken}
  lanes:
    t4: {pools: [t4], gpus: 1, tags: [gpu], runner: {group_id: 42}}
"""

_PARSED = yaml.safe_load(_CLUSTER)


def stack(changes: Mapping[str, Any] | None = None, *, name: str = "ci") -> dict[str, Any]:
    """Return the data of `gpu-runners:stack` with one cluster; None in `changes` removes a key."""
    cluster = copy.deepcopy(_PARSED)
    _change(cluster, changes or {})
    return {"protect": True, "tags": {"environment": "test"}, "clusters": {name: cluster}}


def fleet(changes: Mapping[str, Any] | None = None, *, name: str = "ci") -> Fleet:
    """Load that stack; the configuration has every secret."""
    return loaded(stack(changes, name=name))


def loaded(data: dict[str, Any]) -> Fleet:
    """Load the data of a whole stack."""
    return load(data, source="test", has_secret=lambda _name: True)


def cluster(changes: Mapping[str, Any] | None = None, *, name: str = "ci") -> ClusterPlan:
    """Return the plan of the stack's only cluster."""
    (plan,) = fleet(changes, name=name).plan.clusters
    return plan


def pool(**spec: Any) -> EksPool:
    """Return the plan of one pool beside the usual ones; `spec` are keys of the stack file."""
    plan = cluster({"eks": {"pools": {"this": {"max_size": 8, **spec}}}})
    return next(one for one in plan.pools if one.name == "this")


def providers() -> pulumi.ResourceOptions:
    """Build one explicit provider of each kind; call it inside a program."""
    return pulumi.ResourceOptions(
        providers=[
            aws.Provider("aws", region="us-west-2"),
            oci.Provider("oci", region="us-ashburn-1"),
            kubernetes.Provider("kubernetes", kubeconfig="{}"),
            gitlab.Provider("gitlab", token="glpat"),
        ]
    )


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with changes; None removes a key."""
    copied = copy.deepcopy(dict(data))
    _change(copied, changes)
    return copied


def _change(data: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            data.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(data.get(key), dict):
            _change(data[key], value)
        else:
            data[key] = copy.deepcopy(value)
