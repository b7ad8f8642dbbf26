"""What a key stands for when it is left out, and that a spec cannot be changed once it is read."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest

from fleet.config.access import KubernetesAccess
from fleet.config.base import Model
from fleet.config.eks import Eks, EksNetwork
from fleet.config.existing import Existing, ExistingPool
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLab, GitLabLane
from fleet.config.gpu_stack import GpuOperator, GpuStack
from fleet.config.oke import Oke, OkeApi
from fleet.config.oke_pools import OkePool
from fleet.config.pools import EksPool, Reserve
from fleet.config.stack import Charts, Cluster, Stack
from fleet.gpu_stack.ownership import ownership
from tests.fleet.samples import GONE, every_key, loaded

LANE: dict[str, Any] = {
    "gpus": 0,
    "gpu": None,
    "gpu_memory": None,
    "cpu": None,
    "memory": None,
    "memory_limit": None,
    "disk": None,
    "shm": None,
    "image": None,
    "cuda": None,
    "runtime_class": None,
    "kubernetes_access": None,
    "env": {},
    "paused": False,
}
"""Of either forge."""

DEFAULTS: list[tuple[type[Model], dict[str, Any]]] = [
    (
        EksPool,
        {
            "min_size": 0,
            "capacity_type": "ON_DEMAND",
            "capacity_reservation_id": None,
            "ami_type": None,
            "release_version": None,
            "disk_gib": 200,
            "instance_store": "raid0",
            "zones": None,
            "sharing": None,
            "efa": False,
            "node_repair": True,
            "reserve": Reserve(cpu=0, memory=0, disk=0),
            "labels": {},
            "paused": False,
        },
    ),
    (
        OkePool,
        {
            "ocpus": None,
            "memory_gb": None,
            "min_size": 0,
            "image_id": None,
            "driver": None,
            "boot_volume_gb": None,
            "availability_domains": None,
            "capacity_reservation_id": None,
            "preemptible": False,
            "sharing": None,
            "node_cycling": False,
            "eviction_minutes": 60,
            "reserve": Reserve(cpu=0, memory=0, disk=0),
            "labels": {},
            "paused": False,
        },
    ),
    (Oke, {"api": OkeApi(allow=()), "profile": None}),
    (
        ExistingPool,
        {
            "max_pods": 110,
            "taints": (),
            "gpu": None,
            "gpus": None,
            "driver": None,
            "runtime_class": None,
            "container_runtime": "containerd",
            "sharing": None,
            "devices": {},
        },
    ),
    (Existing, {"kubeconfig": None, "version": None}),
    (KubernetesAccess, {"namespaces": (), "existing_namespaces": (), "permissions": ()}),
    (
        GitHubLane,
        {
            **LANE,
            "min_runners": 0,
            "group": None,
            "labels": (),
            "container_mode": "none",
            "pull_policy": None,
            "device": None,
            "device_access": "plugin",
            "run_as_root": False,
            "supplemental_groups": (),
        },
    ),
    (
        GitLabLane,
        {
            **LANE,
            "concurrent": 4,
            "hpa": None,
            "tags": (),
            "default_tags": False,
            "max_cpu": None,
            "max_memory": None,
            "pull_policy": ("if-not-present",),
            "driver_capabilities": ("compute", "utility"),
            "runner": None,
            "token": None,
            "existing_secret": None,
            "run_untagged": False,
            "protected": False,
            "locked": True,
            "maximum_timeout": 7200,
            "services": 0,
            "privileged": False,
        },
    ),
    (GitLab, {"url": "https://gitlab.com", "api_token": None}),
    (GpuStack, {"advertiser": None, "operator": None}),
    (GpuOperator, {"metrics": True, "driver": False, "driver_version": None, "toolkit": False}),
    (Charts, {"repositories": {}, "arc_version": None, "arc_crds": None}),
    (
        Cluster,
        {
            "eks": None,
            "oke": None,
            "existing": None,
            "gpu_stack": GpuStack(),
            "github": None,
            "gitlab": None,
        },
    ),
    (Stack, {"protect": False, "tags": {}, "strict": False, "silence": {}, "charts": Charts()}),
]


@pytest.mark.parametrize(
    ("model", "defaults"), DEFAULTS, ids=[model.__name__ for model, _ in DEFAULTS]
)
def test_what_is_left_out_is_safe_and_cheap(model: type[Model], defaults: dict[str, Any]) -> None:
    optional = {
        name: field.get_default()
        for name, field in model.model_fields.items()
        if not field.is_required()
    }
    assert optional == defaults


@pytest.mark.parametrize(
    ("cluster", "advertiser"),
    [
        ("ci", "device_plugin"),
        ("existing", "device_plugin"),
        ("oci", "provider"),
        ("oci-existing", "provider"),
        ("honey", "provider"),
    ],
)
def test_gpus_are_advertised_by_what_the_platform_lacks_or_has(
    cluster: str, advertiser: str
) -> None:
    data = every_key({"clusters.ci.gpu_stack": GONE, "clusters.oci.gpu_stack": GONE})
    del data["clusters"]["oci"]["oke"]["pools"]["a10"]["sharing"]
    assert ownership(loaded(data).stack.clusters[cluster]).advertiser == advertiser


def test_zones_of_a_network_are_those_to_make_or_those_of_the_subnets() -> None:
    def zones(**spec: Any) -> tuple[str, ...]:
        return EksNetwork.model_validate_json(json.dumps(spec)).zone_names

    assert zones(cidr="10.0.0.0/16", zones=["us-west-2b", "us-west-2a"]) == (
        "us-west-2b",
        "us-west-2a",
    )
    subnets = {"us-west-2c": "subnet-0123456789abcdef0", "us-west-2a": "subnet-0123456789abcdef1"}
    assert zones(vpc_id="vpc-0123456789abcdef0", subnet_ids=subnets) == ("us-west-2c", "us-west-2a")


@pytest.mark.parametrize(
    ("kind", "gpus"), [("m6i.large", 0), ("g4dn.12xlarge", 4), ("g6f.large", 1)]
)
def test_a_pool_has_the_gpus_of_its_instance_type(kind: str, gpus: int) -> None:
    pool = EksPool.model_validate_json(json.dumps({"instance_types": [kind], "max_size": 1}))
    assert pool.gpus == gpus


@pytest.mark.parametrize(
    "changes",
    [
        {"clusters.ci.github.lanes.gpu.min_runners": 4},
        {"clusters.ci.eks.pools.t4.min_size": 10},
        {"clusters.oci.oke.pools.a10.labels": {f"{'t' * 18}.example.com/{'n' * 51}": "x"}},
        {"clusters.ci.eks.pools.t4.disk_gib": 20},
        {"clusters.ci.eks.pools.t4.sharing.time_slicing": 48}
        | {
            f"clusters.ci.{lane}": {"pools": ["t4"], "gpus": 1, "cpu": "1m", **more}
            for lane, more in (
                ("github.lanes.gpu", {"max_runners": 1}),
                ("gitlab.lanes.gl", {"runner": {"group_id": 1}}),
            )
        },
    ],
    ids=["all runners wait", "all nodes run", "longest label", "smallest disk", "most slices"],
)
def test_a_value_at_its_limit_is_let_through(changes: dict[str, Any]) -> None:
    loaded(every_key(changes))


def test_a_spec_is_frozen() -> None:
    stack = loaded(every_key()).stack
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        stack.protect = False  # type: ignore[misc]
    eks = stack.clusters["ci"].eks
    assert isinstance(eks, Eks)
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        eks.region = "us-east-1"  # type: ignore[misc]
