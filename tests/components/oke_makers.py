"""Plans of OKE clusters, and one maker of each OKE component."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster import RunnerCluster
from components.oci.addons import OkeAddons
from components.oci.autoscaler import OkeAutoscaler
from components.oci.cluster import OkeCluster, OkeClusterAttributes
from components.oci.network import OkeNetwork
from components.oci.pool import GpuNodePool
from fleet.clusters.oke import OkePlan, OkePool
from fleet.plan import ClusterPlan
from tests import fleets

SUBNETS: Any = {
    role: f"ocid1.subnet.oc1.iad.{role}" for role in ("endpoint", "worker", "pod", "load-balancer")
}
GROUPS: Any = {
    role: [f"ocid1.networksecuritygroup.oc1.iad.{role}"] for role in ("endpoint", "worker", "pod")
}
CLUSTER_ID = "ocid1.cluster.oc1.iad.one"
OKE: Mapping[str, Any] = {
    "region": "us-ashburn-1",
    "compartment_id": "ocid1.compartment.oc1..aaaaaaaaexample",
    "availability_domains": ["Uocm:US-ASHBURN-AD-2", "Uocm:US-ASHBURN-AD-1"],
    "version": "1.35",
    "network": {"cidr": "10.2.0.0/16"},
    "api": {"allow": ["203.0.113.0/24"]},
    "pools": {
        "system": {
            "shape": "VM.Standard.E5.Flex",
            "ocpus": 2,
            "memory_gb": 16,
            "min_size": 2,
            "max_size": 2,
        },
        "t4": {"shape": "VM.GPU.A10.1", "max_size": 4},
    },
}


_PROVIDER = {"advertiser": "provider"}


def cluster(changes: Mapping[str, Any] | None = None, *, name: str = "ci") -> ClusterPlan:
    """Return the plan of a small OKE cluster; `changes` as in `tests.fleets`."""
    oke = fleets.changed(OKE, (changes or {}).get("oke", {}))
    others = {key: value for key, value in (changes or {}).items() if key != "oke"}
    return fleets.cluster({"eks": None, "gpu_stack": _PROVIDER, "oke": oke, **others}, name=name)


def platform(changes: Mapping[str, Any] | None = None, *, name: str = "ci") -> OkePlan:
    """Return the cluster itself."""
    plan = cluster(changes, name=name).platform
    assert isinstance(plan, OkePlan)
    return plan


def pool(**spec: Any) -> OkePool:
    """Return one pool beside the usual ones."""
    plan = platform({"oke": {"pools": {"this": {"max_size": 8, **spec}}}})
    return next(one for one in plan.pools if one.name == "this")


def network(name: str, plan: OkePlan, opts: pulumi.ResourceOptions) -> OkeNetwork:
    """Make a network."""
    return OkeNetwork(
        name, plan=plan.network, compartment_id=plan.compartment_id, tags=plan.tags, opts=opts
    )


def oke_cluster(name: str, plan: OkePlan, opts: pulumi.ResourceOptions) -> OkeCluster:
    """Make a control plane."""
    found: Any = SimpleNamespace(
        vcn_id="vcn", subnet_ids=SUBNETS, security_group_ids=GROUPS, ready=[]
    )
    return OkeCluster(name, plan=plan, network=found, protect=True, opts=opts)


def addons(name: str, plan: OkePlan, opts: pulumi.ResourceOptions) -> OkeAddons:
    """Make the add-ons."""
    return OkeAddons(name, plan=plan, cluster_id=CLUSTER_ID, depends_on=[], opts=opts)


def node_pool(
    name: str, plan: OkePlan, opts: pulumi.ResourceOptions, which: OkePool | None = None
) -> GpuNodePool:
    """Make a pool."""
    cluster = OkeClusterAttributes(
        name=plan.name,
        id=CLUSTER_ID,
        version=plan.version,
        compartment_id=plan.compartment_id,
        availability_domains=plan.availability_domains,
        worker_subnet_id=SUBNETS["worker"],
        pod_subnet_id=SUBNETS["pod"],
        worker_security_group_ids=GROUPS["worker"],
        pod_security_group_ids=GROUPS["pod"],
        tags=plan.tags,
    )
    return GpuNodePool(name, cluster=cluster, plan=which or plan.pools[1], opts=opts)


def autoscaler(name: str, plan: OkePlan, opts: pulumi.ResourceOptions) -> OkeAutoscaler:
    """Make the autoscaler."""
    ids = {one.name: f"ocid1.nodepool.oc1.iad.{one.name}" for one in plan.pools}
    return OkeAutoscaler(name, plan=plan, cluster_id=CLUSTER_ID, pool_ids=ids, opts=opts)


def runner_cluster(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> RunnerCluster:
    """Make everything."""

    def connect(called: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
        return kubernetes.Provider(called, kubeconfig=kubeconfig)

    secret = pulumi.Output.from_input("plain-text-of-a-secret")
    secrets = dict.fromkeys(("githubAppKey", "gitlabApiToken", "givenToken"), secret)
    return RunnerCluster(name, plan=plan, connect=connect, secrets=secrets, opts=opts)
