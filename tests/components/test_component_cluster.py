"""One cluster with all components: the order of creation, reversed for deletion."""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes
import pytest

from components.cluster import RunnerCluster
from fleet.catalog.eks import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES
from tests import fleets
from tests.engine import Registered, Registration, deploy_both, remembered

ADDON = aws.eks.Addon
GROUP = aws.eks.NodeGroup
NAMESPACE = kubernetes.core.v1.Namespace
RELEASE = kubernetes.helm.v3.Release
CHART = kubernetes.helm.v4.Chart
REMOTE = ("kubernetes:yaml/v2:ConfigGroup", "kubernetes:helm.sh/v4:Chart")

EVERYTHING: dict[str, Any] = {
    "eks": {
        "pools": {
            "a100": {
                "instance_types": ["p4d.24xlarge"],
                "max_size": 1,
                "zones": ["us-west-2a"],
                "efa": True,
            }
        }
    },
    "github": {
        "lanes": {
            "gpu-a100": {
                "pools": ["a100"],
                "gpus": 8,
                "max_runners": 1,
                "container_mode": "kubernetes-novolume",
            }
        }
    },
    "gitlab": {
        "lanes": {
            "a100": {"pools": ["a100"], "gpus": 1, "tags": ["a100"], "token": {"secret": "a100"}}
        }
    },
}
"""Two GPU pools, one with EFA, each with a lane of GitHub and one of GitLab."""

_SECRETS = ("githubAppKey", "gitlabApiToken", "a100")


@remembered
def made(changes: dict[str, Any] | None = None) -> Registered:
    data = fleets.stack(EVERYTHING if changes is None else changes)
    (plan,) = fleets.loaded(data).plan.clusters

    def program() -> None:
        opts = pulumi.ResourceOptions(
            providers=[aws.Provider("aws", region="us-west-2"), gitlab.Provider("gitlab")]
        )
        secrets = {name: pulumi.Output.secret(f"text of {name}") for name in _SECRETS}

        def connect(name: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
            return kubernetes.Provider(name, kubeconfig=kubeconfig)

        cluster = RunnerCluster("ci", plan=plan, connect=connect, secrets=secrets, opts=opts)
        pulumi.export("kubeconfig", cluster.kubeconfig)

    return deploy_both(program)


@pytest.fixture(scope="module")
def whole() -> Registered:
    """One cluster with every component; no test changes it."""
    return made()


def routes_out(found: Registered) -> list[Registration]:
    return [one for one in found.find(aws.ec2.Route) if "-private-" in one.name]


def node_policies(found: Registered) -> list[Registration]:
    every = found.find(aws.iam.RolePolicyAttachment)
    return [one for one in every if one.name.startswith("ci-eks-node-")]


def addons(*names: str) -> Callable[[Registered], list[Registration]]:
    return lambda found: [one for one in found.find(ADDON) if one.inputs["addonName"] in names]


def pools(*names: str) -> Callable[[Registered], list[Registration]]:
    return lambda found: [found.one(GROUP, f"ci-{name}") for name in names]


def releases(*names: str) -> Callable[[Registered], list[Registration]]:
    return lambda found: [one for one in found.find(RELEASE) if one.inputs["name"] in names]


def lanes(*names: str) -> Callable[[Registered], list[Registration]]:
    """Return the charts of lanes by the names of lanes, whose last part is the generation."""
    return lambda found: [
        one for one in found.find(CHART) if one.inputs["name"].rpartition("-")[0] in names
    ]


def everything_inside(found: Registered) -> list[Registration]:
    return [
        one
        for one in found.resources
        if one.type.startswith("kubernetes:") and one.type not in REMOTE
    ]


GPU_STACK = releases("nvidia-device-plugin", "gpu-operator", "aws-efa-k8s-device-plugin")
LANES = lanes("gpu-t4", "gpu-a100", "gitlab-t4", "gitlab-a100")


def everything_of(kind: type[pulumi.Resource]) -> Callable[[Registered], list[Registration]]:
    return lambda found: found.find(kind)


ORDER: list[tuple[str, Callable[..., list[Registration]], Callable[..., list[Registration]]]] = [
    ("nodes reach the internet", everything_of(GROUP), routes_out),
    ("nodes become Ready", everything_of(GROUP), addons(*ADDONS_BEFORE_NODES)),
    ("nodes may join", everything_of(GROUP), node_policies),
    ("DNS and storage run on CPU nodes", addons(*ADDONS_AFTER_NODES), pools("system")),
    ("charts need DNS and a node", everything_inside, addons(*ADDONS_AFTER_NODES)),
    ("charts are deleted before their nodes", everything_inside, pools("system")),
    ("charts need a cluster to talk to", everything_inside, everything_of(aws.eks.Cluster)),
    ("a job on a pool at zero needs the autoscaler", LANES, releases("cluster-autoscaler")),
    ("a job needs a GPU that is advertised", LANES, GPU_STACK),
    ("a set needs its controller", lanes("gpu-t4", "gpu-a100"), releases("arc-controller")),
    (
        "a set needs CRDs",
        lanes("gpu-t4", "gpu-a100"),
        everything_of(kubernetes.yaml.v2.ConfigGroup),
    ),
    ("T4 lanes wait for the T4 pool", lanes("gpu-t4", "gitlab-t4"), pools("t4")),
    ("A100 lanes wait for the A100 pool", lanes("gpu-a100", "gitlab-a100"), pools("a100")),
]


@pytest.mark.parametrize(
    ("later", "earlier"), [pair[1:] for pair in ORDER], ids=[o[0] for o in ORDER]
)
def test_order(
    later: Callable[..., list[Registration]],
    earlier: Callable[..., list[Registration]],
    whole: Registered,
) -> None:
    first, second = earlier(whole), later(whole)
    assert first, "the test looks for something that is not there"
    assert second, "the test looks for something that is not there"
    for one in second:
        missing = {before.urn for before in first} - whole.before(one)
        assert not missing, f"{one.name} does not wait for {sorted(missing)}"


@pytest.mark.parametrize(
    ("lane", "strangers"),
    [(("gpu-t4", "gitlab-t4"), ("a100",)), (("gpu-a100", "gitlab-a100"), ("t4",))],
    ids=["t4", "a100"],
)
def test_a_lane_does_not_wait_for_the_pools_of_others(
    lane: tuple[str, ...], strangers: tuple[str, ...], whole: Registered
) -> None:
    foreign = {one.urn for one in pools(*strangers)(whole)}
    for one in lanes(*lane)(whole):
        assert not foreign & whole.before(one), (
            "a lane is deployed although another pool has no capacity"
        )


def test_releases_depend_on_their_namespace_and_secrets(whole: Registered) -> None:
    spaces = {one.inputs["metadata"]["name"]: one for one in whole.find(NAMESPACE)}
    charts = [*whole.find(RELEASE), *whole.find(CHART)]
    for one in charts:
        space = one.inputs["namespace"]
        if space != "kube-system":
            assert spaces[space].urn in whole.before(one), f"{one.name} lands in {space}"
    for secret in whole.find(kubernetes.core.v1.Secret):
        assert spaces[secret.inputs["metadata"]["namespace"]].urn in whole.before(secret)
        name = secret.inputs["metadata"]["name"]
        users = [one for one in charts if name in {text for _, text in one.values.texts()}]
        assert users, f"no release uses {name}"
        for one in users:
            assert secret.urn in whole.before(one)


def test_nothing_waits_for_itself(whole: Registered) -> None:
    assert [one.urn for one in whole.resources if one.urn in whole.before(one)] == []


def test_everything_inside_goes_through_the_clusters_provider(whole: Registered) -> None:
    provider = whole.one("pulumi:providers:kubernetes")
    assert provider.values.is_secret("kubeconfig")
    assert whole.one(aws.eks.Cluster).urn in provider.depends_on
    for one in everything_inside(whole):
        assert one.provider_urn == provider.urn, one.name


def test_a_cluster_without_gpus_has_no_gpu_stack() -> None:
    lane = {"pools": ["system"], "gpus": 0, "cpu": "500m", "memory": "1Gi"}
    found = made(
        {"eks": {"pools": {"t4": None}}, "github": {"lanes": {"gpu-t4": lane}}, "gitlab": None}
    )
    names = {one.inputs["name"] for one in found.find(RELEASE)}
    assert names == {"cluster-autoscaler", "arc-controller"}
    assert len(lanes("gpu-t4")(found)) == len(found.find(CHART)) == 1


@pytest.mark.parametrize(
    ("forge", "namespace"), [("github", "arc-runners"), ("gitlab", "gitlab-runners")]
)
def test_a_forge_that_is_not_used_leaves_nothing(forge: str, namespace: str) -> None:
    found = made({forge: None})
    assert namespace not in {one.inputs["metadata"]["name"] for one in found.find(NAMESPACE)}


@pytest.mark.parametrize("privileged", [True, False])
def test_only_privileged_jobs_need_a_privileged_namespace(privileged: bool) -> None:
    found = made({"gitlab": {"lanes": {"t4": {"privileged": privileged}}}})
    labels = found.one(NAMESPACE, "ci-gitlab-namespace").inputs["metadata"]["labels"]
    assert ("pod-security.kubernetes.io/enforce" in labels) == privileged


def test_the_namespace_of_each_forge_has_a_budget_for_its_jobs(whole: Registered) -> None:
    budgets = whole.find(kubernetes.policy.v1.PodDisruptionBudget)
    spaces = {one.inputs["metadata"]["namespace"]: one.urn for one in budgets}
    assert spaces.keys() == {"arc-runners", "gitlab-runners"}
    (lane,) = lanes("gitlab-t4")(whole)
    assert spaces["gitlab-runners"] in lane.depends_on


def test_namespaces_that_others_made_are_only_read() -> None:
    lane = {"pools": ["t4"], "gpus": 1, "existing_secret": "theirs"}
    access = {"namespaces": ["ours"], "existing_namespaces": ["theirs"]}
    found = made(
        {
            "github": {"lanes": {"gpu-t4": {"kubernetes_access": access}}},
            "gitlab": {"lanes": {"other": lane}},
        }
    )
    read = {one.name: one.read_id for one in found.find(NAMESPACE) if one.read_id}
    assert read == {"ci-gitlab-namespace": "gitlab-runners", "ci-jobs-theirs": "theirs"}
    assert found.one(NAMESPACE, "ci-jobs-ours").inputs["metadata"]["name"] == "ours"


def test_each_secret_goes_where_the_plan_says(whole: Registered) -> None:
    app = whole.one(kubernetes.core.v1.Secret, "ci-arc-github-app").inputs["stringData"]
    assert app["github_app_private_key"] == "text of githubAppKey"
    (token,) = (
        one.inputs["stringData"]
        for one in whole.find(kubernetes.core.v1.Secret)
        if one.name.startswith("ci-gitlab-a100-")
    )
    assert token["runner-token"] == "text of a100"
