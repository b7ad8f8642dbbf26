"""One maker for each component, and for each way in which it can be made."""

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


def _eks_cluster(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> EksCluster:
    return EksCluster(
        name, plan=plan.platform, vpc_id="vpc-1", subnet_ids=SUBNETS, protect=True, opts=opts
    )


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


def _existing() -> ClusterPlan:
    """Return an existing cluster with host devices and with jobs that have RBAC rights."""
    return next(one for one in loaded(every_key()).plan.clusters if one.name == "honey")


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


def _oke(make: Callable[..., pulumi.ComponentResource], *, whole: bool = False) -> Maker:
    def made(
        name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions
    ) -> pulumi.ComponentResource:
        oke = oke_makers.cluster(name=name)
        return make(name, oke if whole else oke.platform, opts)

    return made


def _aws_identity(name: str, plan: ClusterPlan, opts: pulumi.ResourceOptions) -> AwsIdentity:
    account = bootstrap_samples.plan({"name": name}).aws
    assert account is not None
    args = AwsIdentityArgs(
        plan=account, bucket_arn=bootstrap_samples.BUCKET, key_arn=bootstrap_samples.KEY_ARN
    )
    return AwsIdentity(name, args, opts)


MAKERS: dict[str, tuple[Component, Maker]] = {
    "Network": (
        Network,
        lambda name, plan, opts: Network(
            name, plan=plan.platform.network, tags=plan.platform.tags, opts=opts
        ),
    ),
    "EksCluster": (EksCluster, _eks_cluster),
    "EksAddons": (
        EksAddons,
        lambda name, plan, opts: EksAddons(
            name, plan=plan.platform, cluster_name=plan.name, depends_on=[], opts=opts
        ),
    ),
    "GpuNodeGroup": (GpuNodeGroup, _node_group),
    "ClusterAutoscaler": (
        ClusterAutoscaler,
        lambda name, plan, opts: ClusterAutoscaler(
            name, plan=plan.autoscaler, cluster_name=plan.name, opts=opts
        ),
    ),
    "DevicePlugin": (
        DevicePlugin,
        lambda name, plan, opts: DevicePlugin(
            name, release=plan.gpu_stack.device_plugin, opts=opts
        ),
    ),
    "GpuOperator": (
        GpuOperator,
        lambda name, plan, opts: GpuOperator(name, release=plan.gpu_stack.operator, opts=opts),
    ),
    "HostDevices": (
        HostDevices,
        lambda name, plan, opts: HostDevices(name, plan=_existing().host_devices, opts=opts),
    ),
    "ArcController": (
        ArcController,
        lambda name, plan, opts: ArcController(
            name, plan=plan.github.controller, private_key=SECRET, opts=opts
        ),
    ),
    "ArcLane": (
        ArcLane,
        lambda name, plan, opts: ArcLane(name, plan=plan.github.lanes[0], opts=opts),
    ),
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
    "RunnerCluster, existing": (
        RunnerCluster,
        lambda name, plan, opts: _runner_cluster(name, _existing(), opts),
    ),
    "StateStore": (
        StateStore,
        lambda name, plan, opts: StateStore(
            name, bootstrap_samples.plan({"name": name}).aws.state, opts
        ),
    ),
    "AwsIdentity": (AwsIdentity, _aws_identity),
    "OciIdentity": (
        OciIdentity,
        lambda name, plan, opts: OciIdentity(
            name, bootstrap_samples.plan({"name": name}).oci, opts
        ),
    ),
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
