"""One maker for each component, and for each way in which it can be made."""

from __future__ import annotations

from collections.abc import Callable

import pulumi
import pulumi_kubernetes as kubernetes

from bootstrap.components.aws_identity import AwsIdentity, AwsIdentityArgs
from bootstrap.components.oci_identity import OciIdentity
from bootstrap.components.state_store import StateStore
from components.aws.addons import EksAddons
from components.aws.autoscaler import ClusterAutoscaler
from components.aws.cluster import EksCluster, EksClusterAttributes
from components.aws.network import Network
from components.aws.pool import GpuNodeGroup
from components.cluster import RunnerCluster
from components.gpu.host_devices import HostDevices
from components.gpu.stack import DevicePlugin, GpuOperator
from components.oci.addons import OkeAddons
from components.oci.autoscaler import OkeAutoscaler
from components.oci.cluster import OkeCluster
from components.oci.network import OkeNetwork
from components.oci.pool import GpuNodePool
from components.runners.arc_controller import ArcController
from components.runners.arc_lane import ArcLane
from components.runners.gitlab_lane import GitLabLane
from fleet.plan import ClusterPlan
from tests import fleets
from tests.bootstrap import bootstrap_samples
from tests.components import oke_makers
from tests.fleet.samples import every_key, loaded

SECRET = "plain-text-of-a-secret"
SUBNETS = {"us-west-2a": "subnet-a", "us-west-2b": "subnet-b"}

Component = type[pulumi.ComponentResource]
Maker = Callable[[str, ClusterPlan, pulumi.ResourceOptions], pulumi.ComponentResource]


def _network(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> Network:
    return Network(name, plan=plan.platform.network, tags=plan.platform.tags, opts=opts)


def _eks_cluster(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> EksCluster:
    return EksCluster(
        name, plan=plan.platform, vpc_id="vpc-1", subnet_ids=SUBNETS, protect=True, opts=opts
    )


def _eks_addons(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> EksAddons:
    return EksAddons(name, plan=plan.platform, cluster_name=plan.name, depends_on=[], opts=opts)


def _node_group(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> GpuNodeGroup:
    cluster = EksClusterAttributes(
        name=plan.name,
        version=plan.platform.version,
        subnet_ids=SUBNETS,
        node_role_arn="arn",
        security_group_id="sg-1",
        vpc_id="vpc-1",
    )
    pool = next(pool for pool in plan.pools if pool.efa_interfaces)
    return GpuNodeGroup(name, cluster=cluster, plan=pool, opts=opts)


def _autoscaler(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> ClusterAutoscaler:
    return ClusterAutoscaler(name, plan=plan.autoscaler, cluster_name=plan.name, opts=opts)


def _device_plugin(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> DevicePlugin:
    assert plan.gpu_stack.device_plugin is not None
    return DevicePlugin(name, release=plan.gpu_stack.device_plugin, opts=opts)


def _operator(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> GpuOperator:
    assert plan.gpu_stack.operator is not None
    return GpuOperator(name, release=plan.gpu_stack.operator, opts=opts)


def _existing() -> ClusterPlan:
    """Return an existing cluster with host devices and with jobs that have RBAC rights."""
    return next(one for one in loaded(every_key()).plan.clusters if one.name == "honey")


def _host_devices(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> HostDevices:
    devices = _existing().host_devices
    assert devices is not None
    return HostDevices(name, plan=devices, opts=opts)


def _arc_controller(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> ArcController:
    assert plan.github is not None
    return ArcController(name, plan=plan.github.controller, private_key=SECRET, opts=opts)


def _arc_lane(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> ArcLane:
    assert plan.github is not None
    return ArcLane(name, plan=plan.github.lanes[0], opts=opts)


def _arc_lane_with_rights(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> ArcLane:
    github = _existing().github
    assert github is not None
    (lane,) = (lane for lane in github.lanes if lane.access is not None)
    return ArcLane(name, plan=lane, opts=opts)


def _gitlab_lane(index: int) -> Maker:
    def make(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> GitLabLane:
        assert plan.gitlab is not None
        lane = plan.gitlab.lanes[index]
        token = SECRET if lane.token_secret is not None else None
        return GitLabLane(name, plan=lane, token=token, opts=opts)

    return make


def _runner_cluster(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> RunnerCluster:
    def connect(called: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
        return kubernetes.Provider(called, kubeconfig=kubeconfig)

    secret = pulumi.Output.from_input(SECRET)
    names = ("githubAppKey", "gitlabApiToken", "givenToken", "runnerToken")
    secrets = dict.fromkeys(names, secret)
    return RunnerCluster(name, plan=plan, connect=connect, secrets=secrets, opts=opts)


def _existing_cluster(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> RunnerCluster:
    return _runner_cluster(name, _existing(), opts)


def _oke(make: Callable[..., pulumi.ComponentResource], *, whole: bool = False) -> Maker:
    def made(
        name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions
    ) -> pulumi.ComponentResource:
        oke = oke_makers.cluster(name=name)
        return make(name, oke if whole else oke.platform, opts)

    return made


def _state_store(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> StateStore:
    account = bootstrap_samples.plan({"name": name}).aws
    assert account is not None
    return StateStore(name, account.state, opts)


def _aws_identity(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> AwsIdentity:
    account = bootstrap_samples.plan({"name": name}).aws
    assert account is not None
    args = AwsIdentityArgs(
        plan=account, bucket_arn=bootstrap_samples.BUCKET, key_arn=bootstrap_samples.KEY_ARN
    )
    return AwsIdentity(name, args, opts)


def _oci_identity(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> OciIdentity:
    tenancy = bootstrap_samples.plan({"name": name}).oci
    assert tenancy is not None
    return OciIdentity(name, tenancy, opts)


MAKERS: dict[str, tuple[Component, Maker]] = {
    "Network": (Network, _network),
    "EksCluster": (EksCluster, _eks_cluster),
    "EksAddons": (EksAddons, _eks_addons),
    "GpuNodeGroup": (GpuNodeGroup, _node_group),
    "ClusterAutoscaler": (ClusterAutoscaler, _autoscaler),
    "DevicePlugin": (DevicePlugin, _device_plugin),
    "GpuOperator": (GpuOperator, _operator),
    "HostDevices": (HostDevices, _host_devices),
    "ArcController": (ArcController, _arc_controller),
    "ArcLane": (ArcLane, _arc_lane),
    "ArcLane, with rights": (ArcLane, _arc_lane_with_rights),
    "GitLabLane, created": (GitLabLane, _gitlab_lane(0)),
    "GitLabLane, token given": (GitLabLane, _gitlab_lane(1)),
    "GitLabLane, existing": (GitLabLane, _gitlab_lane(2)),
    "OkeNetwork": (OkeNetwork, _oke(oke_makers.network)),
    "OkeCluster": (OkeCluster, _oke(oke_makers.oke_cluster)),
    "OkeAddons": (OkeAddons, _oke(oke_makers.addons)),
    "GpuNodePool": (GpuNodePool, _oke(oke_makers.node_pool)),
    "OkeAutoscaler": (OkeAutoscaler, _oke(oke_makers.autoscaler)),
    "RunnerCluster, OKE": (RunnerCluster, _oke(oke_makers.runner_cluster, whole=True)),
    "RunnerCluster": (RunnerCluster, _runner_cluster),
    "RunnerCluster, existing": (RunnerCluster, _existing_cluster),
    "StateStore": (StateStore, _state_store),
    "AwsIdentity": (AwsIdentity, _aws_identity),
    "OciIdentity": (OciIdentity, _oci_identity),
}

_EFA = {"instance_types": ["p4d.24xlarge"], "max_size": 1, "efa": True, "zones": ["us-west-2a"]}
_LANE = {"pools": ["t4"], "gpus": 1}


def plan_of(name: str) -> ClusterPlan:
    return fleets.cluster(
        {
            "eks": {"pools": {"efa": _EFA}},
            "github": {"lanes": {"gpu-t4": {"container_mode": "kubernetes-novolume"}}},
            "gitlab": {
                "lanes": {
                    "given": {**_LANE, "token": {"secret": "givenToken"}},
                    "existing": {**_LANE, "existing_secret": "theirs"},
                }
            },
        },
        name=name,
    )
