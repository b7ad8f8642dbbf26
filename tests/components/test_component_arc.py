"""Components for GitHub: a controller, deleted last, and one scale set per lane."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest

from components.runners.arc_controller import ArcController
from components.runners.arc_lane import ArcLane
from tests import fleets
from tests.engine import Registered, deploy, deploy_both, remembered

KEY = "-----BEGIN RSA PRIVATE KEY-----"
RELEASE = kubernetes.helm.v3.Release
CHART = kubernetes.helm.v4.Chart
NAMESPACE = kubernetes.core.v1.Namespace
CRDS = kubernetes.yaml.v2.ConfigGroup


@remembered
def made(
    github: dict[str, Any] | None = None,
    lane: dict[str, Any] | None = None,
    *,
    key: str | None = KEY,
) -> Registered:
    changes = {"github": {**(github or {}), "lanes": {"gpu-t4": lane or {}}}}
    plan = fleets.cluster(changes).github
    assert plan is not None

    def program() -> None:
        opts = fleets.providers()
        dns = aws.eks.Addon("dns", cluster_name="ci", addon_name="coredns")
        pool = aws.eks.Addon("pool", cluster_name="ci", addon_name="in-place-of-a-pool")
        controller = ArcController(
            "arc", plan=plan.controller, private_key=key, depends_on=[dns], opts=opts
        )
        prerequisites: list[pulumi.Resource] = [*controller.ready, pool]
        for one in plan.lanes:
            ArcLane(f"lane-{one.name}", plan=one, depends_on=prerequisites, opts=opts)

    return deploy_both(program)


def test_controller_and_runners_have_different_namespaces() -> None:
    found = made()
    names = {one.name: one.inputs["metadata"]["name"] for one in found.find(NAMESPACE)}
    assert names == {"arc-namespace": "arc-systems", "arc-runners": "arc-runners"}
    assert found.one(RELEASE, "arc-release").inputs["namespace"] == "arc-systems"
    assert found.one(CHART).inputs["namespace"] == "arc-runners"


def test_a_budget_keeps_job_pods_from_being_evicted_and_outlives_the_lanes() -> None:
    found = made()
    budget = found.one(kubernetes.policy.v1.PodDisruptionBudget)
    assert budget.inputs["metadata"]["namespace"] == "arc-runners"
    spec = budget.inputs["spec"]
    assert spec["minAvailable"] > 10_000, "a number, since an EphemeralRunner has no scale"
    assert spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow", "idle runners are not ready"
    release = found.one(CHART).inputs
    labels = release["values"]["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    assert budget.urn in found.one(CHART).depends_on


def test_crds_are_a_resource_of_their_own() -> None:
    found = made()
    crds, controller = found.one(CRDS), found.one(RELEASE, "arc-release")
    assert crds.remote, "the provider reads the files, not this program"
    assert len(crds.inputs["files"]) == 4
    for file in crds.inputs["files"]:
        assert f"gha-runner-scale-set-{controller.inputs['version']}/" in file, (
            "the CRDs are those of the chart's own tag"
        )
    assert controller.inputs["skipCrds"] is True, "Helm installs CRDs once and never again"
    assert crds.urn in controller.depends_on


def test_a_mirror_holds_the_crds_of_an_air_gapped_site() -> None:
    data = fleets.stack()
    data["charts"] = {"arc_crds": "/mirror/arc"}
    plan = fleets.loaded(data).plan.clusters[0].github
    assert plan is not None

    def program() -> None:
        ArcController("arc", plan=plan.controller, opts=fleets.providers())

    files = deploy(program).one(CRDS).inputs["files"]
    assert all(file.startswith("/mirror/arc/actions.github.com_") for file in files)


def test_everything_waits_for_the_cluster() -> None:
    found = made()
    for one in (*found.find(NAMESPACE), *found.find(CRDS), found.one(RELEASE, "arc-release")):
        assert found.one(aws.eks.Addon, "dns").urn in one.depends_on, one.name


def test_crds_are_made_by_the_clusters_own_provider() -> None:
    found = made()
    (reference,) = [ref for ref in found.one(CRDS).providers.values() if "kubernetes" in ref]
    assert reference.rpartition("::")[0] == found.one("pulumi:providers:kubernetes").urn


def test_the_app_is_a_secret_with_the_charts_keys() -> None:
    found = made()
    secret = found.one(kubernetes.core.v1.Secret)
    assert secret.inputs["stringData"] == {
        "github_app_id": "1",
        "github_app_installation_id": "2",
        "github_app_private_key": KEY,
    }, "the chart reads numbers as text"
    assert secret.values.is_secret("stringData", "github_app_private_key")
    assert secret.inputs["metadata"]["namespace"] == "arc-runners"
    assert found.one(NAMESPACE, "arc-runners").urn in secret.depends_on


def test_a_scale_set_gets_the_name_of_the_secret_only() -> None:
    found = made()
    values = found.one(CHART).values
    secret = found.one(kubernetes.core.v1.Secret).inputs["metadata"]["name"]
    assert values.data["values"]["githubConfigSecret"] == secret
    assert not values.secret_paths
    assert all(KEY not in text for _, text in values.texts())


def test_an_existing_secret_is_used_by_name() -> None:
    found = made({"app": None, "existing_secret": "theirs"}, key=None)
    assert found.find(kubernetes.core.v1.Secret) == []
    values = found.one(CHART).inputs["values"]
    assert values["githubConfigSecret"] == "theirs"


@pytest.mark.parametrize("secret", [True, False])
def test_an_existing_namespace_is_only_read(secret: bool) -> None:
    theirs = {"app": None, "existing_secret": "theirs"} if secret else {"existing_namespace": True}
    found = made(theirs, key=None if secret else KEY)
    read = found.one(NAMESPACE, "arc-runners")
    assert read.read_id == "arc-runners", "with another name, the engine would delete the old one"
    assert found.one(NAMESPACE, "arc-namespace").read_id == "", "the controller's is ours"
    assert found.one(aws.eks.Addon, "dns").urn in read.depends_on
    assert read.urn in found.before(found.one(CHART))
    assert bool(found.find(kubernetes.core.v1.Secret)) is not secret


def test_a_scale_set_goes_before_what_clears_its_finalizers() -> None:
    found = made()
    lane = found.one(CHART)
    for needed in (
        found.one(RELEASE, "arc-release"),
        found.one(CRDS),
        found.one(NAMESPACE, "arc-runners"),
        found.one(kubernetes.core.v1.Secret),
        found.one(aws.eks.Addon, "pool"),
    ):
        assert needed.urn in lane.depends_on, f"{needed.name} is removed after its scale sets"


@pytest.mark.parametrize(
    "changes",
    [
        {"lane": {"labels": ["other"]}},
        {"github": {"url": "https://github.com/another-org"}},
    ],
    ids=["labels", "url"],
)
def test_what_arc_and_github_cannot_change_makes_a_successor(changes: dict[str, Any]) -> None:
    before, after = made().one(CHART), made(**changes).one(CHART)
    assert before.name != after.name
    assert before.inputs["name"] != after.inputs["name"], "both exist until the old one is drained"
    for chart in (before, after):
        assert chart.inputs["values"]["runnerScaleSetName"] == chart.inputs["name"]
        assert "gpu-t4" in chart.inputs["values"]["scaleSetLabels"], "jobs find both by this label"


def test_other_changes_are_made_in_place() -> None:
    before, after = made(), made(lane={"max_runners": 9, "env": {"A": "b"}, "drain_minutes": 5})
    assert {one.urn for one in before.resources} == {one.urn for one in after.resources}
    assert before.one(CHART).inputs["name"] == after.one(CHART).inputs["name"]


def test_controller_and_sets_are_of_one_version() -> None:
    found = made()
    versions = {one.inputs["version"] for one in (*found.find(RELEASE), *found.find(CHART))}
    assert len(versions) == 1, "a controller deletes the sets of another minor version"


def test_the_sets_know_their_controllers_account() -> None:
    found = made()
    account = found.one(CHART).inputs["values"]["controllerServiceAccount"]
    controller = found.one(RELEASE, "arc-release").inputs
    assert account["namespace"] == controller["namespace"]
    assert account["name"] == controller["values"]["serviceAccount"]["name"]


@pytest.mark.parametrize("mode", ["kubernetes", "kubernetes-novolume"])
def test_job_pods_have_a_template_before_the_first_job(mode: str) -> None:
    found = made(lane={"container_mode": mode})
    template, lane = found.one(kubernetes.core.v1.ConfigMap), found.one(CHART)
    assert template.urn in lane.depends_on
    assert template.inputs["metadata"]["namespace"] == lane.inputs["namespace"]
    assert found.one(NAMESPACE, "arc-runners").urn in template.depends_on
    (text,) = template.inputs["data"].values()
    (container,) = json.loads(text)["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 1, "the GPU is the job pod's"
    mounted = json.dumps(lane.inputs["values"]["template"])
    assert template.inputs["metadata"]["name"] in mounted, "the runner mounts this ConfigMap"


@pytest.mark.parametrize("mode", ["kubernetes", "kubernetes-novolume"])
def test_the_account_of_the_hooks_outlives_the_scale_set(mode: str) -> None:
    found = made(lane={"container_mode": mode})
    account, lane = found.one(kubernetes.core.v1.ServiceAccount), found.one(CHART)
    spec = lane.inputs["values"]["template"]["spec"]
    assert spec["serviceAccountName"] == account.inputs["metadata"]["name"], (
        "the chart's own account would lose its token during the drain"
    )
    for one in (account, found.one(kubernetes.rbac.v1.RoleBinding)):
        assert one.urn in lane.depends_on


@pytest.mark.parametrize("mode", ["none", "dind"])
def test_without_job_pods_there_is_no_template(mode: str) -> None:
    found = made(lane={"container_mode": mode})
    assert found.find(kubernetes.core.v1.ConfigMap) == []


@pytest.mark.parametrize(("mode", "privileged"), [("none", False), ("dind", True)])
def test_only_docker_in_docker_needs_a_privileged_namespace(mode: str, privileged: bool) -> None:
    found = made(lane={"container_mode": mode})
    labels = found.one(NAMESPACE, "arc-runners").inputs["metadata"]["labels"]
    assert ("pod-security.kubernetes.io/enforce" in labels) == privileged
    system = found.one(NAMESPACE, "arc-namespace").inputs["metadata"]["labels"]
    assert "pod-security.kubernetes.io/enforce" not in system


def test_a_lane_outputs_its_runs_on() -> None:
    found = made()
    (outputs,) = found.outputs[found.one("gpu-runners:runners:ArcLane").urn]
    assert outputs.data == {"runs_on": ["gpu-t4", "cuda"]}
