"""The shipped stack files through the real entry file, and bad ones that must change nothing."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

import pulumi_aws as aws
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes
import pytest

from tests import stackfiles
from tests.engine import Registered, remembered
from tests.stackfiles import GROUP, GROUPS, ROOT, STACKS

every_stack = pytest.mark.parametrize("stack", STACKS)
both_ways = pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])

NAMED = ("clusters", "pools", "lanes")
"""Maps whose keys are names that a user chooses."""


CLOUDS = {
    "aws": ("eks", "aws:eks/nodeGroup:NodeGroup"),
    "oci": ("oke", "oci:ContainerEngine/nodePool:NodePool"),
}
"""Key of a cluster, and type of its pools, by cloud."""


def cloud_of(cluster: Mapping[str, Any]) -> str:
    return next(cloud for cloud, (kind, _) in CLOUDS.items() if kind in cluster)


@remembered
def deployed(stack: str, *, known: bool = True) -> Registered:
    """One run of a shipped stack; tests only look at it."""
    found, error = stackfiles.run(stack, known=known)
    assert error is None, error
    return found


def test_staging_and_prod_are_shipped() -> None:
    assert set(STACKS) >= {"staging", "prod"}


@every_stack
@both_ways
def test_a_shipped_stack_registers(stack: str, known: bool) -> None:
    found = deployed(stack, known=known)
    clusters = stackfiles.body(stack)["clusters"]
    assert {one.name for one in found.find("gpu-runners:index:RunnerCluster")} == set(clusters)
    for name, cluster in clusters.items():
        kind, node_group = CLOUDS[cloud_of(cluster)]
        groups = {one.name for one in found.find(node_group)}
        assert groups >= {f"{name}-{pool}" for pool in cluster[kind]["pools"]}
        lanes = {one.name for one in found.find("gpu-runners:runners:ArcLane")}
        assert lanes >= {f"{name}-github-{lane}" for lane in cluster["github"]["lanes"]}
        lanes = {one.name for one in found.find("gpu-runners:runners:GitLabLane")}
        assert lanes >= {f"{name}-gitlab-{lane}" for lane in cluster["gitlab"]["lanes"]}
    assert found.log == [], "a shipped stack gives no warning"


@every_stack
def test_a_preview_shows_every_resource_of_the_update(stack: str) -> None:
    update, preview = deployed(stack), deployed(stack, known=False)
    assert {one.urn for one in preview.resources} == {one.urn for one in update.resources}


@every_stack
@both_ways
def test_no_provider_picks_up_ambient_credentials(stack: str, known: bool) -> None:
    found = deployed(stack, known=known)
    assert stackfiles.config(stack)["pulumi:disable-default-providers"] == ["*"]
    for one in found.resources:
        package = one.type.partition(":")[0]
        if one.custom and package != "pulumi":
            provider = one.provider_urn.rpartition("::")[0].rpartition(":")[2]
            assert provider == package, f"{one.urn} would use a default provider"
        if one.remote:
            assert package in one.providers, f"{one.urn} would use a default provider"
    for call in found.calls:
        assert call.provider, f"{call.token} would use a default provider"


@every_stack
def test_providers_are_told_where_to_work(stack: str) -> None:
    found = deployed(stack)
    for name, cluster in stackfiles.body(stack)["clusters"].items():
        cloud = cloud_of(cluster)
        provider = found.one(f"pulumi:providers:{cloud}", f"{name}-{cloud}")
        assert provider.inputs["region"] == cluster[CLOUDS[cloud][0]]["region"]
        forge = found.one("pulumi:providers:gitlab", f"{name}-gitlab")
        assert forge.inputs["baseUrl"] == "https://gitlab.com/api/v4/"
        assert forge.values.is_secret("token")
        inside = found.one("pulumi:providers:kubernetes", f"{name}-kubernetes")
        assert inside.values.is_secret("kubeconfig")
        assert inside.inputs["enableSecretMutable"] in (True, "true"), (
            "a rotated token changes its Secret in place"
        )


@every_stack
@both_ways
def test_protection_stops_at_networks_and_clusters(stack: str, known: bool) -> None:
    found = deployed(stack, known=known)
    protected = {one.urn for one in found.resources if one.protect}
    networks = [
        inner
        for kind in ("gpu-runners:aws:Network", "gpu-runners:oci:OkeNetwork")
        for network in found.find(kind)
        for inner in (network, *found.within(network))
    ]
    clusters = [*found.find(aws.eks.Cluster), *found.find("oci:ContainerEngine/cluster:Cluster")]
    allowed = {one.urn for one in (*networks, *clusters)}
    wanted = stackfiles.body(stack)["protect"]
    assert protected == (allowed if wanted else set()), "a protected lane could never be removed"


@every_stack
def test_the_kubeconfig_is_a_secret_output(stack: str) -> None:
    outputs = deployed(stack).stack_outputs
    for name in stackfiles.body(stack)["clusters"]:
        assert outputs.is_secret("kubeconfigs", name)
        assert json.loads(outputs.data["kubeconfigs"][name])["current-context"] == name


@every_stack
@both_ways
def test_lane_outputs_are_what_a_user_writes(stack: str, known: bool) -> None:
    lanes = deployed(stack, known=known).stack_outputs.data["lanes"]
    for name, cluster in stackfiles.body(stack)["clusters"].items():
        for lane, spec in cluster["github"]["lanes"].items():
            expected = [lane, *spec.get("labels", [])]
            assert lanes[name]["github"][lane] == {"runs-on": expected}
        for lane, spec in cluster["gitlab"]["lanes"].items():
            assert lanes[name]["gitlab"][lane] == {"tags": spec["tags"]}


@every_stack
def test_version_outputs_are_what_is_installed(stack: str) -> None:
    found = deployed(stack)
    versions = found.stack_outputs.data["versions"]
    for name, cluster in stackfiles.body(stack)["clusters"].items():
        installed = {
            one.inputs["chart"].rpartition("/")[2]: one.inputs["version"]
            for kind in (kubernetes.helm.v3.Release, kubernetes.helm.v4.Chart)
            for one in found.find(kind)
            if one.name.startswith(f"{name}-")
        }
        assert versions[name]["charts"] == installed
        if "oke" in cluster:
            assert versions[name]["kubernetes"].startswith(f"v{cluster['oke']['version']}.")
            continue
        assert versions[name]["kubernetes"] == cluster["eks"]["version"]
        assert set(versions[name]["ami_releases"]) == set(cluster["eks"]["pools"])
        groups = {
            one.name.removeprefix(f"{name}-"): one.inputs["releaseVersion"]
            for one in found.find(aws.eks.NodeGroup)
        }
        assert versions[name]["ami_releases"].items() <= groups.items()


@every_stack
@both_ways
def test_no_secret_is_sent_in_the_clear(stack: str, known: bool) -> None:
    found = deployed(stack, known=known)
    texts = stackfiles.secrets(stackfiles.body(stack)).values()
    assert texts
    sent = [one.values for one in found.resources]
    sent += [values for several in found.outputs.values() for values in several]
    seen: set[str] = set()
    for values in sent:
        for path, text in values.texts():
            if any(secret in text for secret in texts):
                seen.add(text)
                assert values.is_secret(*path), path
    assert seen == set(texts), "a secret that goes nowhere proves nothing"


def sizes(**existing: tuple[int, int, int]) -> Mapping[str, Callable[..., Mapping[str, Any]]]:
    """Auto Scaling groups by pool: minimum, maximum, desired."""

    def groups(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        filters = {one["name"]: one["values"] for one in arguments["filters"]}
        assert filters.pop("tag:eks:cluster-name") == ["ci-staging"]
        ((key, (pool,)),) = filters.items()
        assert key == "tag:k8s.io/cluster-autoscaler/node-template/label/gpu-runners/pool"
        return {"names": [f"eks-{pool}"] if pool in existing else [], "arns": []}

    def group(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        low, high, desired = existing[arguments["name"].removeprefix("eks-")]
        return {"minSize": low, "maxSize": high, "desiredCapacity": desired}

    return {GROUPS: groups, GROUP: group}


@both_ways
def test_the_size_of_a_pool_that_runs_is_read_and_kept(known: bool) -> None:
    found, error = stackfiles.run("staging", known=known, calls=sizes(t4=(0, 2, 1)))
    assert error is None
    t4 = found.one(aws.eks.NodeGroup, "ci-staging-t4")
    assert t4.inputs["scalingConfig"] == {"minSize": 0, "maxSize": 2, "desiredSize": 1}
    assert t4.ignore_changes == ("scalingConfig.desiredSize",)


@both_ways
def test_a_raised_minimum_is_sent_with_a_size_that_eks_accepts(known: bool) -> None:
    data = stackfiles.body("staging")
    data["clusters"]["ci-staging"]["eks"]["pools"]["t4"]["min_size"] = 2
    found, error = stackfiles.run("staging", data=data, known=known, calls=sizes(t4=(0, 2, 1)))
    assert error is None
    t4 = found.one(aws.eks.NodeGroup, "ci-staging-t4")
    assert t4.inputs["scalingConfig"] == {"minSize": 2, "maxSize": 2, "desiredSize": 2}
    assert t4.ignore_changes == ()


def test_the_entry_file_is_short() -> None:
    assert len((ROOT / "__main__.py").read_text().splitlines()) < 25


@pytest.mark.parametrize(
    ("keep", "other"), [("eks", "pulumi_oci"), ("oke", "pulumi_aws")], ids=["EKS", "OKE"]
)
def test_a_stack_of_one_cloud_imports_no_other_clouds_sdk(keep: str, other: str) -> None:
    script = f"""
import sys
from tests import stackfiles
data = stackfiles.body("prod")
clusters = data["clusters"]
data["clusters"] = {{name: one for name, one in clusters.items() if {keep!r} in one}}
found, error = stackfiles.run("prod", data=data)
assert error is None and found.resources, error
print(sorted(name for name in sys.modules if name.startswith({other!r})))
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


def keys(data: object, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every map of a stack file as its path and its keys; names that a user chooses are `*`."""
    if not isinstance(data, dict):
        return
    named = path.rpartition(".")[2] in NAMED
    if not named:
        yield path, list(data)
    for key, value in data.items():
        yield from keys(value, f"{path}.{'*' if named else key}")


def _of_aws(settings: dict[str, Any]) -> dict[str, Any]:
    """Without the clusters of kinds that only one of the files has."""
    stack = settings["gpu-runners:stack"]
    stack["clusters"] = {
        name: cluster for name, cluster in stack["clusters"].items() if "eks" in cluster
    }
    return settings


def test_staging_and_prod_have_the_same_keys_in_the_same_order() -> None:
    staging, prod = (
        [found for found in keys(_of_aws(stackfiles.config(stack))) if ".*.*" not in found[0]]
        for stack in ("staging", "prod")
    )
    inside_names = (".pools.*", ".lanes.*")
    outside = [
        [found for found in every if not any(name in found[0] for name in inside_names)]
        for every in (staging, prod)
    ]
    assert outside[0] == outside[1], "a difference of two environments shows as a clean diff"


def test_pools_and_lanes_keep_one_order_of_keys() -> None:
    orders: dict[str, TopologicalSorter[str]] = {}
    for stack in STACKS:
        for path, names in keys(stackfiles.config(stack)):
            sorter = orders.setdefault(path, TopologicalSorter())
            for before, after in pairwise(names):
                sorter.add(after, before)
    for sorter in orders.values():
        sorter.prepare()  # raises CycleError where two maps disagree


def test_a_failing_resource_does_not_tell_a_secret() -> None:
    calls = dict(stackfiles.NO_GROUPS)
    found, error = stackfiles.run("staging", calls={**calls, GROUPS: _fails})
    assert error is not None
    assert "plain-text-of" not in repr(error)
    assert "plain-text-of" not in repr(found.log)


def _fails(_arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    raise RuntimeError("the cloud is away")


def test_runners_at_gitlab_are_made_with_the_clusters_token() -> None:
    found = deployed("prod")
    for runner in found.find(gitlab.UserRunner):
        cluster = runner.name.partition("-gitlab-")[0]
        forge = found.one("pulumi:providers:gitlab", f"{cluster}-gitlab")
        assert runner.provider_urn == forge.urn
