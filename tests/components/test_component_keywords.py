"""Components from keywords, as another Pulumi program uses them without a stack file."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_type_hints

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pulumi_oci as oci
import pytest
from pulumi_rehearsal import existing, rehearse
from pulumi_rehearsal.standin import aws as stand_in_aws
from pulumi_rehearsal.standin import oci as stand_in_oci

from components.aws.cluster import EksClusterAttributes
from components.aws.pool import EksPoolOptions, GpuNodeGroup
from components.existing import ExistingPoolOptions, existing_pool
from components.gpu.host_devices import HostDevices
from components.gpu.stack import DevicePlugin, GpuOperator, GpuOperatorOptions
from components.intent import InvalidArguments
from components.oci.cluster import OkeClusterAttributes
from components.oci.pool import GpuNodePool, OkePoolOptions
from components.runners.arc_controller import ArcController
from components.runners.arc_lane import ArcLane, ArcLaneOptions
from components.runners.gitlab_lane import GitLabLane, GitLabLaneOptions
from fleet.clusters.nodes import LiveSize
from fleet.config.existing import ExistingPool
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane as GitLabLaneConfig
from fleet.config.gpu_stack import GpuOperator as GpuOperatorConfig
from fleet.config.oke_pools import OkePool
from fleet.config.pools import EksPool
from tests import fleets
from tests.components import oke_makers
from tests.computed import OCI_CALLS
from tests.engine import Registered, deploy
from tests.stackfiles import ROOT

PAGE = (ROOT / "docs/components.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)

EKS = EksClusterAttributes(
    name="ci",
    version="1.35",
    subnet_ids={"us-west-2a": "subnet-a", "us-west-2b": "subnet-b"},
    node_role_arn="arn:aws:iam::111122223333:role/node",
    tags={"environment": "test", "gpu-runners/cluster": "ci"},
)
OKE = OkeClusterAttributes(
    name="ci",
    id=oke_makers.CLUSTER_ID,
    version="v1.35.2",
    compartment_id="ocid1.compartment.oc1..aaaaaaaaexample",
    availability_domains=["Uocm:US-ASHBURN-AD-1"],
    worker_subnet_id="worker",
    pod_subnet_id="pod",
)
T4 = {"instance_types": ["g4dn.xlarge"], "max_size": 8}
NODE = {"cpu": 120, "memory": "1000Gi", "disk": "2Ti", "count": 2, "labels": {"gpu": "a100"}}
A100 = {**NODE, "gpu": "A100-40GB", "gpus": 8}


def made(program: Callable[[pulumi.ResourceOptions], object]) -> Registered:
    return deploy(lambda: program(fleets.providers()) and None, calls=OCI_CALLS)


def controller(opts: pulumi.ResourceOptions, **changes: Any) -> ArcController:
    app = {"app_id": 1, "installation_id": 2, "private_key": "key"}
    return ArcController("arc", opts=opts, **{"url": "https://github.com/org", **app, **changes})


def arc_lane(opts: pulumi.ResourceOptions, **keywords: Any) -> ArcLane:
    pools = [existing_pool("a100", **A100)]
    return ArcLane("lane", controller=controller(opts), pools=pools, gpus=1, opts=opts, **keywords)


@pytest.mark.parametrize(
    ("options", "model", "wired"),
    [
        (EksPoolOptions, EksPool, set[str]()),
        (OkePoolOptions, OkePool, set[str]()),
        (ExistingPoolOptions, ExistingPool, set[str]()),
        (GpuOperatorOptions, GpuOperatorConfig, set[str]()),
        (ArcLaneOptions, GitHubLane, {"pools"}),
        (GitLabLaneOptions, GitLabLaneConfig, {"pools", "token"}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_keywords_are_the_keys_of_a_stack_file(options: type, model: Any, wired: set[str]) -> None:
    assert set(get_type_hints(options)) == set(model.model_fields) - wired


def test_a_node_group_from_keywords_equals_the_one_of_a_stack_file() -> None:
    spec = {**T4, "sharing": {"time_slicing": 2}, "labels": {"team": "vision"}}

    def program(opts: pulumi.ResourceOptions) -> None:
        GpuNodeGroup("this", cluster=EKS, opts=opts, **spec)
        GpuNodeGroup("planned", cluster=EKS, plan=fleets.pool(**spec), opts=opts)

    found = made(program)
    keywords, planned = (found.one(aws.eks.NodeGroup, name) for name in ("this", "planned"))
    differing = {key for key in keywords.inputs if keywords.inputs[key] != planned.inputs[key]}
    assert differing == {"launchTemplate"}, "it holds the ID of each group's own template"
    assert keywords.ignore_changes == planned.ignore_changes
    tags = [
        {
            one.inputs["tag"]["key"]: one.inputs["tag"]["value"]
            for one in found.children(parent)
            if one.type == "aws:autoscaling/tag:Tag"
        }
        for parent in found.find("gpu-runners:aws:NodeGroup")
    ]
    assert tags[0] == tags[1] != {}


def test_a_node_pool_from_keywords_ignores_the_size_that_the_autoscaler_changes() -> None:
    def program(opts: pulumi.ResourceOptions) -> None:
        spec = {"shape": "VM.GPU.A10.1", "max_size": 4}
        GpuNodePool("new", cluster=OKE, opts=opts, **spec)
        GpuNodePool("live", cluster=OKE, live_size=LiveSize(desired_size=3), opts=opts, **spec)

    found = made(program)
    new, live = (found.one(oci.containerengine.NodePool, name) for name in ("new", "live"))
    assert new.ignore_changes == ("nodeConfigDetails.size",)
    assert live.ignore_changes == ()
    assert live.inputs["nodeConfigDetails"]["size"] == 3
    assert "GPU" not in new.inputs["nodeSourceDetails"]["imageId"].replace("Gen2-GPU", "")


def test_a_lane_waits_for_its_controller_and_its_pools_and_fits_their_nodes() -> None:
    def program(opts: pulumi.ResourceOptions) -> None:
        t4 = GpuNodeGroup("t4", cluster=replace(EKS, operator=True), opts=opts, **T4)
        arc = controller(opts)
        ArcLane("gpu-t4", controller=arc, pools=[t4], gpus=1, max_runners=4, opts=opts)
        GitLabLane("t4", pools=[t4], gpus=1, runner={"group_id": 42}, opts=opts)

    found = made(program)
    group = found.one(aws.eks.NodeGroup)
    arc = found.one(kubernetes.helm.v3.Release, "arc-release")
    runner, lane = sorted(found.find(kubernetes.helm.v4.Chart), key=lambda one: len(one.name))
    assert {group.urn, arc.urn} <= found.before(lane)
    assert group.urn in found.before(runner)
    plan = fleets.cluster({"eks": {"pools": {"t4": {"sharing": None}}}})
    assert plan.github is not None
    template = plan.github.lanes[0].release.values["template"]
    assert lane.inputs["values"]["template"]["spec"] == template["spec"], (
        "CPU, memory, affinity and tolerations are those of a stack file"
    )


def test_the_gpu_stack_runs_on_the_gpu_pools_and_its_controllers_do_not() -> None:
    def program(opts: pulumi.ResourceOptions) -> None:
        a100 = existing_pool("a100", **A100)
        DevicePlugin("plugin", pools=[a100], opts=opts)
        GpuOperator("operator", pools=[a100], opts=opts)

    found = made(program)
    plugin, operator = (
        found.one(kubernetes.helm.v3.Release, f"{name}-release").inputs["values"]
        for name in ("plugin", "operator")
    )
    assert '"gpu"' in str(plugin["affinity"]).replace("'", '"')
    assert operator["devicePlugin"]["enabled"] is False
    assert "kubernetes.io/os" in str(operator["operator"]["affinity"])


Mistake = Callable[[pulumi.ResourceOptions], object]
MISTAKES: Mapping[str, tuple[Mistake, str]] = {
    "unknown instance type": (
        lambda opts: GpuNodeGroup(
            "t4", cluster=EKS, instance_types=["g4dn.xlrge"], max_size=1, opts=opts
        ),
        r"GpuNodeGroup t4.*instance_types\[0\].*g4dn\.xlarge",
    ),
    "minimum above maximum": (
        lambda opts: GpuNodeGroup("t4", cluster=EKS, min_size=9, opts=opts, **T4),
        "max_size: is 8, below min_size",
    ),
    "no instance type": (
        lambda opts: GpuNodeGroup("t4", cluster=EKS, max_size=1, opts=opts),
        "instance_types: is missing",
    ),
    "a zone without a subnet": (
        lambda opts: GpuNodeGroup("t4", cluster=EKS, zones=["us-west-2c"], opts=opts, **T4),
        "zones: names us-west-2c.*us-west-2a",
    ),
    "EFA without its wiring": (
        lambda opts: GpuNodeGroup(
            "efa",
            cluster=EKS,
            instance_types=["p4d.24xlarge"],
            max_size=1,
            efa=True,
            zones=["us-west-2a"],
            opts=opts,
        ),
        "efa: is on, but the cluster has no vpc_id",
    ),
    "an Output that decides": (
        lambda opts: GpuNodeGroup(
            "t4",
            cluster=EKS,
            instance_types=["g4dn.xlarge"],
            max_size=pulumi.Output.from_input(1),  # pyright: ignore
            opts=opts,
        ),
        "max_size: is a pulumi.Output",
    ),
    "unknown shape": (
        lambda opts: GpuNodePool("a10", cluster=OKE, shape="VM.GPU.A11.1", max_size=4, opts=opts),
        r"GpuNodePool a10.*shape.*VM\.GPU\.A10\.1",
    ),
    "a device plugin without a pool": (
        lambda opts: DevicePlugin("plugin", pools=[], opts=opts),
        "pools: is empty",
    ),
    "a device plugin on CPU nodes": (
        lambda opts: DevicePlugin("plugin", pools=[existing_pool("cpu", **NODE)], opts=opts),
        "pools: cpu has no GPU",
    ),
    "host devices on nodes without one": (
        lambda opts: HostDevices("devices", pools=[existing_pool("cpu", **NODE)], opts=opts),
        "pools: have no host devices",
    ),
    "a controller without credentials": (
        lambda opts: ArcController("arc", url="https://github.com/org", opts=opts),
        "app_id: is missing",
    ),
    "a server of GitHub without its version": (
        lambda opts: controller(opts, url="https://ghes.example.com/org"),
        "server_version: is missing",
    ),
    "a server of GitHub that drops labels": (
        lambda opts: controller(opts, url="https://ghes.example.com/org", server_version="3.17"),
        "server_version: is 3.17",
    ),
    "an unknown advertiser": (
        lambda opts: GpuOperator(
            "operator", pools=[existing_pool("a100", **A100)], advertiser=cast("Any", "plugin")
        ),
        "use 'device_plugin', 'operator' or 'provider'",
    ),
    "the operator's driver without its version": (
        lambda opts: GpuOperator(
            "operator", pools=[existing_pool("a100", **A100)], driver_version="580"
        ),
        "\n  driver_version: ",
    ),
    "a pool by its name": (
        lambda opts: DevicePlugin("plugin", pools=cast("Any", ["t4"]), opts=opts),
        "Pass the pool itself",
    ),
    "a lane without a controller": (
        lambda opts: ArcLane(
            "lane", pools=[existing_pool("a100", **A100)], gpus=1, max_runners=1, opts=opts
        ),
        "controller: is missing",
    ),
    "a lane without runners": (
        lambda opts: arc_lane(opts, max_runners=0),
        "max_runners",
    ),
    "a lane with more GPUs than a node": (
        lambda opts: GitLabLane(
            "lane", pools=[existing_pool("a100", **A100)], gpus=9, token="glrt", opts=opts
        ),
        "gpus: is 9, but a node of a100 offers 8",
    ),
    "a lane that needs a privileged namespace": (
        lambda opts: arc_lane(opts, max_runners=1, container_mode="dind"),
        "privileged_runners=True",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_names_the_argument_and_registers_nothing(case: str) -> None:
    mistake, message = MISTAKES[case]

    def program(opts: pulumi.ResourceOptions) -> None:
        with pytest.raises(InvalidArguments, match=re.compile(message, re.DOTALL)):
            mistake(opts)

    names = {one.name for one in made(program).resources if one.type.startswith("gpu-runners:")}
    assert names <= {"arc"}


def test_snippets_are_short_and_load_no_stack_file() -> None:
    assert len(SNIPPETS) >= 7
    for snippet in SNIPPETS:
        assert len(snippet.splitlines()) <= 15, snippet
        assert not re.search(r"fleet\.load|stacks|\.ya?ml|open\(", snippet), snippet


REGISTERED = {
    "gpu-runners:aws:NodeGroup": {"aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/tag:Tag"},
    "gpu-runners:oci:NodePool": {"oci:ContainerEngine/nodePool:NodePool"},
    "gpu-runners:gpu:DevicePlugin": {"kubernetes:helm.sh/v3:Release"},
    "gpu-runners:gpu:Operator": {"kubernetes:helm.sh/v3:Release"},
    "gpu-runners:gpu:HostDevices": {"kubernetes:apps/v1:DaemonSet"},
    "gpu-runners:runners:ArcController": {
        "kubernetes:helm.sh/v3:Release",
        "kubernetes:core/v1:Secret",
    },
    "gpu-runners:runners:ArcLane": {"kubernetes:helm.sh/v4:Chart"},
    "gpu-runners:runners:GitLabLane": {
        "gitlab:index/userRunner:UserRunner",
        "kubernetes:core/v1:Secret",
        "kubernetes:helm.sh/v4:Chart",
    },
}
"""Component of each snippet, and types that it registers."""


AWS = stand_in_aws.scope({"region": "us-west-2"})
OCI = stand_in_oci.scope({"region": "us-ashburn-1"})
POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKS_CNI_Policy",
)
EXISTING = [
    existing.resource("aws:eks/cluster:Cluster", AWS, "ci", name="ci", version="1.35"),
    existing.resource(
        "aws:iam/role:Role",
        AWS,
        "ci-node",
        arn="arn:aws:iam::111122223333:role/ci-node",
        assumeRolePolicy=(
            '{"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", '
            '"Principal": {"Service": "ec2.amazonaws.com"}}]}'
        ),
        managedPolicyArns=[f"arn:aws:iam::aws:policy/{name}" for name in POLICIES],
    ),
    existing.resource(
        "oci:ContainerEngine/cluster:Cluster",
        OCI,
        "ocid1.cluster.oc1.iad.aaaaexample",
        kubernetesVersion="v1.35.2",
        type="ENHANCED_CLUSTER",
        endpointConfig={"subnetId": "ocid1.subnet.oc1.iad.aaaaendpoint"},
        clusterPodNetworkOptions=[{"cniType": "OCI_VCN_IP_NATIVE"}],
    ),
]
"""The clusters of the page."""


@pytest.mark.engine
def test_every_snippet_runs_through_the_engine(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: snippets\nruntime: python\n")

    def program() -> None:
        for snippet in SNIPPETS:
            exec(snippet, {})  # noqa: S102 -- the page of this repository

    result = rehearse(
        tmp_path,
        program=program,
        config={"aws:region": "us-west-2", "oci:region": "us-ashburn-1"},
        secret_config=["githubAppKey"],
        existing=EXISTING,
    )
    # The snippet of the node group installs no device plugin in its own cluster.
    assert [one for one in result.problems if "nothing in its cluster advertises" not in one] == []
    assert result.state is not None
    resources = result.state["deployment"]["resources"]
    found = {
        component["type"]: {
            one["type"] for one in resources if one.get("parent") == component["urn"]
        }
        for component in resources
        if component["type"].startswith("gpu-runners:")
    }
    assert found.keys() == REGISTERED.keys()
    for component, types in REGISTERED.items():
        assert types <= found[component], component
