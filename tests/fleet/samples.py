"""Stacks as data: the shipped ones and one with every key, and the findings about them."""

import copy
import functools
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path as File
from typing import Any

import pytest
import yaml

from fleet.checks.judge import judge
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan, EksPool
from fleet.config.load import parse
from fleet.findings import Finding, Path, StackFileError
from fleet.load import Fleet, load
from fleet.plan import ClusterPlan, build

ROOT = File(__file__).parents[2]
SHIPPED = ("staging", "prod")
TODAY = date(2026, 11, 21)
"""The day of the checks in tests, unless a test passes another."""

GONE: Any = object()
"""As a change: remove the key."""

_EVERY_KEY = """
protect: true
tags: {environment: test}
strict: false
silence: {idle-gpus: one runner is kept warm for the demo}
charts:
  repositories:
    gpu-operator: https://charts.example.com/nvidia
    gha-runner-scale-set: oci://registry.example.com/arc
  arc_version: 0.14.2
  arc_crds: https://charts.example.com/arc-crds
clusters:
  ci:
    eks:
      region: us-west-2
      version: "1.35"
      network: {cidr: 10.0.0.0/16, zones: [us-west-2a, us-west-2b], nat: one}
      api: {allow: [203.0.113.0/24]}
      admins: ["arn:aws:iam::111122223333:role/platform"]
      profile: ci
      pools:
        system: {instance_types: [m6i.large], min_size: 2, max_size: 4}
        t4:
          instance_types: [g4dn.2xlarge]
          min_size: 0
          max_size: 10
          capacity_type: SPOT
          ami_type: AL2023_x86_64_NVIDIA
          release_version: 1.35.8-20260923
          disk_gib: 200
          instance_store: raid0
          sharing: {time_slicing: 2}
          efa: false
          node_repair: true
          reserve: {cpu: 100m, memory: 256Mi, disk: 1Gi}
          labels: {example.com/team: ci}
          paused: false
        a100:
          instance_types: [p4d.24xlarge]
          max_size: 1
          capacity_type: CAPACITY_BLOCK
          capacity_reservation_id: cr-0123456789abcdef0
          zones: [us-west-2a]
          efa: true
    gpu_stack: {advertiser: device_plugin, operator: {metrics: true, driver: false, toolkit: false}}
    github:
      url: https://github.com/example-org
      app: {id: 1, installation_id: 2, private_key: {secret: githubAppKey}}
      lanes:
        gpu:
          pools: [t4]
          gpus: 1
          cpu: 1500m
          memory: 4Gi
          disk: 20Gi
          shm: 1Gi
          image: ghcr.io/example/runner:1
          cuda: "12.9"
          gpu_memory: 6Gi
          env: {TORCH_HOME: /tmp/torch}
          paused: false
          drain_minutes: 60
          min_runners: 1
          max_runners: 4
          group: GPUs
          labels: [cuda]
          container_mode: none
        big: {pools: [a100], gpus: 8, max_runners: 1}
    gitlab:
      url: https://gitlab.example.com
      api_token: {secret: gitlabApiToken}
      lanes:
        gl:
          pools: [t4]
          gpus: 1
          cpu: 1
          memory: 2Gi
          disk: 10Gi
          shm: 512Mi
          image: docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04
          cuda: "12.9"
          gpu_memory: 6Gi
          env: {TORCH_HOME: /tmp/torch}
          paused: false
          drain_minutes: 60
          concurrent: 4
          tags: [gpu]
          runner: {group_id: 42}
          run_untagged: false
          protected: false
          locked: true
          maximum_timeout: 7200
          services: 1
          privileged: false
        project: {pools: [t4], gpus: 1, runner: {project_id: 7}}
        instance: {pools: [t4], gpus: 1, runner: {instance: true}}
        token: {pools: [t4], gpus: 1, token: {secret: runnerToken}}
  existing:
    eks:
      region: eu-central-1
      version: "1.34"
      network:
        vpc_id: vpc-0123456789abcdef0
        subnet_ids:
          eu-central-1a: subnet-0123456789abcdef0
          eu-central-1b: subnet-0123456789abcdef1
      pools:
        system: {instance_types: [m5.large], min_size: 1, max_size: 2}
        t4: {instance_types: [g5.xlarge], max_size: 3}
    github:
      url: https://github.com/example-org/project
      existing_secret: app-keys
      lanes:
        cpu-only: {pools: [system], cpu: 500m, memory: 1Gi, max_runners: 2}
    gitlab:
      lanes:
        secret: {pools: [t4], gpus: 1, existing_secret: runner-token}
  oci:
    oke:
      region: us-ashburn-1
      compartment_id: ocid1.compartment.oc1..aaaaaaaaexample
      availability_domains: ["Uocm:US-ASHBURN-AD-1", "Uocm:US-ASHBURN-AD-2"]
      version: "1.35"
      network: {cidr: 10.2.0.0/16, services_cidr: 10.96.0.0/16}
      api: {allow: [203.0.113.0/24]}
      profile: ci
      pools:
        system:
          shape: VM.Standard.E5.Flex
          ocpus: 2
          memory_gb: 16
          image_id: ocid1.image.oc1.iad.aaaaaaaaexample
          boot_volume_gb: 100
          availability_domains: ["Uocm:US-ASHBURN-AD-2"]
          capacity_reservation_id: ocid1.capacityreservation.oc1.iad.aaaaaaaaexample
          min_size: 2
          max_size: 2
          node_cycling: false
          eviction_minutes: 60
          reserve: {cpu: 100m, memory: 256Mi, disk: 1Gi}
          labels: {example.com/team: ci}
          paused: false
        a10:
          shape: VM.GPU.A10.1
          max_size: 4
          image_id: ocid1.image.oc1.iad.aaaaaaaagpu
          driver: "580.95.05"
          preemptible: true
          sharing: {time_slicing: 2}
    gpu_stack: {advertiser: device_plugin}
    github:
      url: https://github.com/example-org/oci
      existing_secret: app-keys
      lanes:
        a10: {pools: [a10], gpus: 1, max_runners: 2}
  oci-existing:
    oke:
      region: eu-frankfurt-1
      compartment_id: ocid1.compartment.oc1..aaaaaaaaexample
      availability_domains: ["Uocm:EU-FRANKFURT-1-AD-1"]
      version: "1.36"
      network:
        vcn_id: ocid1.vcn.oc1.eu-frankfurt-1.aaaaaaaaexample
        endpoint_subnet_id: ocid1.subnet.oc1.eu-frankfurt-1.aaaaaaaaendpoint
        worker_subnet_id: ocid1.subnet.oc1.eu-frankfurt-1.aaaaaaaaworker
        pod_subnet_id: ocid1.subnet.oc1.eu-frankfurt-1.aaaaaaaapod
        load_balancer_subnet_id: ocid1.subnet.oc1.eu-frankfurt-1.aaaaaaaabalancer
        endpoint_security_group_ids: [ocid1.networksecuritygroup.oc1.eu-frankfurt-1.aaaaaaaaone]
        worker_security_group_ids: [ocid1.networksecuritygroup.oc1.eu-frankfurt-1.aaaaaaaatwo]
        pod_security_group_ids: [ocid1.networksecuritygroup.oc1.eu-frankfurt-1.aaaaaaaasix]
      pools:
        system: {shape: VM.Standard.E4.Flex, ocpus: 2, memory_gb: 16, min_size: 1, max_size: 1}
  honey:
    existing:
      context: honey
      kubeconfig: kubeconfigs/honey.yaml
      version: "1.35"
      pools:
        cpu: {cpu: 8, memory: 32Gi, disk: 100Gi, count: 2, labels: {example.com/role: cpu}}
        dri:
          cpu: 16
          memory: 64Gi
          disk: 300Gi
          count: 1
          labels: {example.com/role: dri, kubernetes.io/hostname: honey}
          taints: [{key: dedicated, value: dri, effect: NoSchedule}]
          devices: {dri: 4}
        a100:
          cpu: 128
          memory: 1000Gi
          disk: 900Gi
          count: 2
          max_pods: 100
          labels: {example.com/role: a100}
          gpu: A100-40GB
          gpus: 8
          driver: "580.95"
          runtime_class: nvidia
          container_runtime: crio
          sharing: {mig: 1g.5gb}
    github:
      url: https://ghes.example.com/example-org/honey
      server_version: "3.21"
      existing_secret: app-keys
      existing_namespace: true
      lanes:
        vulkan:
          pools: [dri]
          cpu: 2
          memory: 8Gi
          max_runners: 4
          device: dri
          device_access: plugin
          run_as_root: false
          supplemental_groups: [109]
        mig:
          pools: [a100]
          gpus: 1
          gpu: A100-40GB
          memory_limit: 32Gi
          runtime_class: nvidia
          pull_policy: IfNotPresent
          kubernetes_access:
            namespaces: [ci-jobs]
            existing_namespaces: [shared]
            permissions: [{api_groups: [""], resources: [pods], verbs: [get, create]}]
          max_runners: 4
    gitlab:
      existing_namespace: true
      lanes:
        ska-gpu-a100:
          pools: [a100]
          gpus: 1
          cpu: 2
          memory: 8Gi
          concurrent: 30
          hpa: {min_replicas: 1, max_replicas: 2}
          tags: [ska-gpu-a100]
          default_tags: true
          max_cpu: 3
          max_memory: 12Gi
          pull_policy: [always, if-not-present]
          driver_capabilities: [compute, utility]
          gpu: A100-40GB
          memory_limit: 12Gi
          runtime_class: nvidia
          kubernetes_access: {existing_namespaces: [shared]}
          token: {secret: runnerToken}
  bare:
    existing:
      context: bare
      pools:
        v100:
          cpu: 32
          memory: 200Gi
          disk: 400Gi
          count: 1
          labels: {example.com/role: v100}
          gpu: V100
          gpus: 4
    gpu_stack:
      advertiser: operator
      operator: {metrics: false, driver: true, driver_version: "580.173.02", toolkit: true}
"""


@functools.cache
def parsed_yaml(text: str) -> Any:
    """Parse a text once; callers copy what they change."""
    return yaml.safe_load(text)


def shipped(name: str) -> dict[str, Any]:
    """Return a stack file of the repository."""
    text = (ROOT / f"Pulumi.{name}.yaml").read_text(encoding="utf-8")
    return copy.deepcopy(parsed_yaml(text))


def shipped_stack(name: str) -> dict[str, Any]:
    """Return the value of `gpu-runners:stack` in it."""
    return shipped(name)["config"]["gpu-runners:stack"]


def every_key(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a valid stack that holds every key; `changes` are values by path, like `tags.team`."""
    return changed(parsed_yaml(_EVERY_KEY), changes or {})


def changed(data: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with other values at some paths; GONE removes the key."""
    data = copy.deepcopy(data)
    for path, value in changes.items():
        *above, last = path.split(".")
        holder: Any = data
        for part in above:
            holder = holder[int(part) if isinstance(holder, list) else part]
        key = int(last) if isinstance(holder, list) else last
        if value is GONE:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(value)
    return data


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every place under the top of some data, with its value."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def changed_rows(rows: Iterable[tuple[Any, Any, str, str]]) -> Iterator[tuple[Any, ...]]:
    """Expand rows of path, value, message and remedy to changes, path, message and remedy.

    A row may have several changes and the path of the finding in place of path and value.
    """
    for first, second, message, remedy in rows:
        several = isinstance(first, dict)
        changes, path = (first, second) if several else ({first: second}, first)
        yield changes, path, message, remedy


def loaded(data: object) -> Fleet:
    """Load a stack whose secrets are all there."""
    return load(data, source="Pulumi.test.yaml", has_secret=lambda _name: True, today=TODAY)


def judged(data: object, today: date = TODAY) -> tuple[Finding, ...]:
    """Return every finding of the checks about a stack, silenced ones too."""
    parsed = parse(data)
    assert parsed.stack is not None
    assert not parsed.findings, parsed.findings
    return tuple(judge(View(stack=parsed.stack, plan=build(parsed.stack), today=today)))


def refused(data: object, *, has_secrets: bool = True) -> tuple[Finding, ...]:
    """Return the findings of a stack that is refused."""
    with pytest.raises(StackFileError) as caught:
        load(data, source="Pulumi.test.yaml", has_secret=lambda _name: has_secrets)
    assert all(str(one) in str(caught.value) for one in caught.value.findings)
    return caught.value.findings


def reported(data: object, *, has_secrets: bool = True) -> list[tuple[str, str, str]]:
    """Return path, message and remedy of each finding."""
    return [(one.path, one.message, one.remedy) for one in refused(data, has_secrets=has_secrets)]


def cluster_of(changes: Mapping[str, Any] | None = None, name: str = "ci") -> ClusterPlan:
    """Return the plan of one cluster of the stack that holds every key."""
    plan = loaded(every_key(changes)).plan
    return next(cluster for cluster in plan.clusters if cluster.name == name)


def required_labels(affinity: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """Return the labels that an affinity asks of nodes, a dictionary for each alternative."""
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    wanted = [term["matchExpressions"] for term in required["nodeSelectorTerms"]]
    assert all(one["operator"] == "In" for term in wanted for one in term)
    return [{one["key"]: one["values"] for one in term} for term in wanted]


def eks_of(changes: Mapping[str, Any] | None = None, name: str = "ci") -> EksPlan:
    """Return the platform of one of its EKS clusters."""
    platform = cluster_of(changes, name).platform
    assert isinstance(platform, EksPlan)
    return platform


def pool_of(changes: Mapping[str, Any] | None = None, name: str = "t4") -> EksPool:
    """Return the plan of one pool of cluster `ci`."""
    return next(pool for pool in eks_of(changes).pools if pool.name == name)
