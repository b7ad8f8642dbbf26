"""Invariants of every plan: what no stack file can break, over all stacks here and random ones.

Each invariant is a function that yields what a cluster's plan breaks. The last test breaks each of
them in a plan, to show that the invariant notices.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given

from fleet.catalog.charts import CHARTS
from fleet.catalog.oke import KUBELET_ARGUMENTS_METADATA
from fleet.checks.places import why_not
from fleet.clusters.eks import EksPool
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.nodes import Placement, smallest
from fleet.clusters.oke import OkePool, node_metadata
from fleet.kubernetes.labels import GPU_TAINT, PAUSED_TAINT, Taint
from fleet.kubernetes.resources import parse_cpu, parse_memory_mib
from fleet.kubernetes.scheduling import CPU, DISK, MEMORY, PODS, Amounts, lacking, offer, together
from fleet.plan import ClusterPlan, Plan
from fleet.workloads import daemonsets, system_workloads
from tests.fleet.checks.planted import stack_of, with_pool, with_values
from tests.fleet.random_stacks import stacks
from tests.fleet.samples import ROOT, SHIPPED, every_key, loaded, shipped_stack

Invariant = Callable[[ClusterPlan], Iterator[str]]

GROUP = "k8s.io/cluster-autoscaler/"
TEMPLATE = f"{GROUP}node-template/"
EXACT = re.compile(r"v?\d+\.\d+\.\d+")


def release_names_suit_helm(cluster: ClusterPlan) -> Iterator[str]:
    for release in cluster.releases:
        if len(release.name) > 53:
            yield f"{release.name} has {len(release.name)} characters"


def jobs_reach_the_pools_of_their_lane(cluster: ClusterPlan) -> Iterator[str]:
    for lane in cluster.lanes:
        for pool in cluster.pools:
            for pod in lane.pods.on_pool if pool.name in lane.pool_names else ():
                if why := why_not(pod, pool, ignore_taint=PAUSED_TAINT.key):
                    yield f"a job of {lane.path} cannot go to {pool.name}: {why}"


def daemonsets_reach_the_pools_that_need_them(cluster: ClusterPlan) -> Iterator[str]:
    for pool in cluster.pools:
        for workload in daemonsets(cluster, pool):
            if why := why_not(workload.pod, pool):
                yield f"{workload.name} cannot go to {pool.name}: {why}"


def nothing_but_jobs_and_the_gpu_stack_goes_to_gpu_nodes(cluster: ClusterPlan) -> Iterator[str]:
    """A cluster without a CPU pool has no other place for its controllers."""
    if any(pool.gpu is None for pool in cluster.pools):
        for workload in system_workloads(cluster):
            for pool in cluster.pools:
                if pool.gpu is not None and why_not(workload.pod, pool) is None:
                    yield f"{workload.name} may go to {pool.name}"


def driver_and_toolkit_have_one_owner(cluster: ClusterPlan) -> Iterator[str]:
    """Nodes of EKS and OKE have both by their image; those of an existing cluster as declared."""
    operator = cluster.gpu_stack.operator
    for pool in cluster.pools if operator is not None else ():
        for part in ("driver", "toolkit"):
            if pool.gpu is None or operator is None or not getattr(operator.typed_values, part):
                continue
            platform = cluster.platform
            if not isinstance(platform, ExistingPlan):
                yield f"the operator installs a {part} on the image of {pool.name}"
            elif part == "driver" and pool.name in platform.drivers:
                yield f"the operator installs a driver beside that of {pool.name}"


def the_autoscaler_suits_kubernetes(cluster: ClusterPlan) -> Iterator[str]:
    if cluster.autoscaler is not None:
        tag = cluster.autoscaler.release.typed_values.image_tag
        if not tag.startswith(f"v{cluster.platform.version}."):
            yield f"cluster-autoscaler {tag} on Kubernetes {cluster.platform.version}"


def charts_have_the_pinned_version(cluster: ClusterPlan) -> Iterator[str]:
    """A stack may choose ARC's version: the controller and its scale sets then have the same."""
    arc = cluster.github.controller.release.version if cluster.github is not None else None
    for release in cluster.releases:
        chart = release.chart.rpartition("/")[2]
        pin = arc if chart.startswith("gha-runner-scale-set") else CHARTS[chart].version
        if release.version != pin or not EXACT.fullmatch(release.version):
            yield f"{chart} has version {release.version!r}, not {pin}"


def an_empty_eks_pool_grows_for_its_jobs(cluster: ClusterPlan) -> Iterator[str]:
    """The autoscaler knows a node that does not exist by the tags of its Auto Scaling group."""
    for pool in cluster.pools:
        if not isinstance(pool, EksPool) or pool.min_size == pool.max_size:
            continue
        if cluster.autoscaler is None:
            yield f"{pool.name} has no autoscaler"
        tags = pool.autoscaling_tags
        for tag in (f"{GROUP}enabled", f"{GROUP}{cluster.name}"):
            if tag not in tags:
                yield f"{pool.name} lacks the tag {tag}"
        taints = {(key, value.partition(":")[2]) for key, value in under(tags, "taint/").items()}
        if taints != {(taint.key, taint.effect) for taint in pool.taints}:
            yield f"the tags of {pool.name} have the taints {sorted(taints)}"
        imagined = dataclasses.replace(pool, labels=under(tags, "label/"))
        has = resources_by_tags(pool)
        for lane in cluster.lanes:
            if pool.name in lane.pool_names:
                requests = together(lane.pods.on_pool)
                for name in set(lacking(requests, has)) - missing_on_nodes(requests, pool):
                    yield f"the tags of {pool.name} offer too little {name} to {lane.path}"
                for pod in lane.pods.on_pool:
                    if why := why_not(pod, imagined, ignore_taint=PAUSED_TAINT.key):
                        yield f"the tags of {pool.name} do not admit {lane.path}: {why}"


def under(tags: dict[str, str], part: str) -> dict[str, str]:
    prefix = f"{TEMPLATE}{part}"
    return {key.removeprefix(prefix): tags[key] for key in tags if key.startswith(prefix)}


def resources_by_tags(pool: EksPool) -> Amounts:
    """Like the autoscaler, take the DaemonSets off."""
    resources = under(pool.autoscaling_tags, "resources/")
    busy = smallest(node.daemonsets for node in pool.nodes)
    return Amounts(
        {
            **{name: int(amount) for name, amount in resources.items() if "/" in name},
            CPU: parse_cpu(resources.get(CPU, "0")) - busy.cpu_m,
            MEMORY: parse_memory_mib(resources.get(MEMORY, "0")) - busy.memory_mib,
            DISK: parse_memory_mib(resources.get(DISK, "0")),
            PODS: min(node.pods for node in pool.nodes),
        }
    )


def missing_on_nodes(requests: Amounts, pool: EksPool) -> set[str]:
    """Return what a job does not find on a node that exists."""
    return {name for node in pool.nodes for name in lacking(requests, offer(pool, node))}


def an_empty_oke_pool_has_its_taints(cluster: ClusterPlan) -> Iterator[str]:
    """Oracle's autoscaler reads the taints of an empty pool from the metadata of its nodes."""
    for pool in cluster.pools:
        if isinstance(pool, OkePool):
            flag = node_metadata(pool).get(KUBELET_ARGUMENTS_METADATA, "")
            written = set(flag.removeprefix("--register-with-taints=").split(",")) - {""}
            if written != {f"{one.key}={one.value}:{one.effect}" for one in pool.taints}:
                yield f"the metadata of {pool.name} have the taints {sorted(written)}"


def scale_sets_suit_their_chart(cluster: ClusterPlan) -> Iterator[str]:
    """The chart refuses other names and drops a template without a container `runner`."""
    for lane in cluster.github.lanes if cluster.github is not None else ():
        values = lane.release.typed_values
        if not 0 < len(values.runner_scale_set_name) <= 45:
            yield f"{lane.path} has a name of {len(values.runner_scale_set_name)} characters"
        if not 0 <= values.min_runners <= values.max_runners:
            yield f"{lane.path} has {values.min_runners} to {values.max_runners} runners"
        if "runner" not in {one.name for one in values.template.spec.containers}:
            yield f"{lane.path} has no container named runner"


def config_toml_is_no_helm_template(cluster: ClusterPlan) -> Iterator[str]:
    for lane in cluster.gitlab.lanes if cluster.gitlab is not None else ():
        if "{{" in lane.release.typed_values.config or "}}" in lane.release.typed_values.config:
            yield f"{lane.path} has double braces in its config.toml"


INVARIANTS: tuple[Invariant, ...] = (
    release_names_suit_helm,
    scale_sets_suit_their_chart,
    config_toml_is_no_helm_template,
    jobs_reach_the_pools_of_their_lane,
    daemonsets_reach_the_pools_that_need_them,
    nothing_but_jobs_and_the_gpu_stack_goes_to_gpu_nodes,
    driver_and_toolkit_have_one_owner,
    the_autoscaler_suits_kubernetes,
    charts_have_the_pinned_version,
    an_empty_eks_pool_grows_for_its_jobs,
    an_empty_oke_pool_has_its_taints,
)


def broken(plan: Plan) -> list[tuple[str, str]]:
    """Return the name of each broken invariant, with what breaks it."""
    return [
        (invariant.__name__, what)
        for cluster in plan.clusters
        for invariant in INVARIANTS
        for what in invariant(cluster)
    ]


def stack_files() -> dict[str, Any]:
    """Return every stack file of the repository, and one that holds every key."""
    examples = sorted((ROOT / "examples").glob("*.yaml"))
    return {
        **{name: shipped_stack(name) for name in SHIPPED},
        **{
            file.stem: yaml.safe_load(file.read_text())["config"]["gpu-runners:stack"]
            for file in examples
        },
        "every key": every_key(),
    }


FILES = stack_files()


@pytest.mark.parametrize("name", FILES)
def test_no_stack_file_of_the_repository_breaks_an_invariant(name: str) -> None:
    assert broken(loaded(FILES[name]).plan) == []


@given(data=stacks())
def test_no_random_stack_breaks_an_invariant(data: dict[str, Any]) -> None:
    assert broken(loaded(data).plan) == []


# Each invariant notices its fault.

POOLS = {"t4": {"instance_types": ["g4dn.xlarge"], "max_size": 2}}
LANES = {"gpu": {"pools": ["t4"], "gpus": 1}}
EKS = stack_of(POOLS, LANES, gpu_stack={"operator": {}})
DEDICATED = Taint(key="dedicated", value="ml", effect="NoSchedule")
Fault = Callable[[ClusterPlan], ClusterPlan]


def changed_pool(name: str = "t4", **changes: Any) -> Fault:
    return lambda cluster: with_pool(cluster, name, **changes)


def more_taints(cluster: ClusterPlan) -> ClusterPlan:
    return with_pool(cluster, "t4", taints=(*cluster.pools[1].taints, DEDICATED))


def tags(without: str, **more: str) -> Fault:
    def fault(cluster: ClusterPlan) -> ClusterPlan:
        pool = cluster.pools[1]
        assert isinstance(pool, EksPool)
        kept = {key: value for key, value in pool.autoscaling_tags.items() if key != without}
        return with_pool(cluster, "t4", autoscaling_tags={**kept, **more})

    return fault


def operator(**values: object) -> Fault:
    def fault(cluster: ClusterPlan) -> ClusterPlan:
        release = with_values(cluster.gpu_stack.operator, **values)
        stack = dataclasses.replace(cluster.gpu_stack, operator=release)
        return dataclasses.replace(cluster, gpu_stack=stack)

    return fault


def controller(**values: object) -> Fault:
    def fault(cluster: ClusterPlan) -> ClusterPlan:
        assert cluster.github is not None
        old = cluster.github.controller
        new = dataclasses.replace(old, release=with_values(old.release, **values))
        github = dataclasses.replace(cluster.github, controller=new)
        return dataclasses.replace(cluster, github=github)

    return fault


def lane_release(**changes: str) -> Fault:
    def fault(cluster: ClusterPlan) -> ClusterPlan:
        assert cluster.github is not None
        (lane,) = cluster.github.lanes
        new = dataclasses.replace(lane, release=dataclasses.replace(lane.release, **changes))
        return dataclasses.replace(
            cluster, github=dataclasses.replace(cluster.github, lanes=(new,))
        )

    return fault


def older_autoscaler(cluster: ClusterPlan) -> ClusterPlan:
    assert cluster.autoscaler is not None
    release = with_values(cluster.autoscaler.release, image_tag="v1.34.5")
    autoscaler = dataclasses.replace(cluster.autoscaler, release=release)
    return dataclasses.replace(cluster, autoscaler=autoscaler)


def no_autoscaler(cluster: ClusterPlan) -> ClusterPlan:
    return dataclasses.replace(cluster, autoscaler=None)


JOBS = jobs_reach_the_pools_of_their_lane
DAEMONSETS = daemonsets_reach_the_pools_that_need_them
GROWS = an_empty_eks_pool_grows_for_its_jobs
PINS = charts_have_the_pinned_version
OWNER = driver_and_toolkit_have_one_owner
ON_GPU_NODES = {"affinity": None, "tolerations": (GPU_TAINT.tolerated(),)}


@pytest.mark.parametrize(
    ("fault", "invariant", "what"),
    [
        (lane_release(name="r" * 54), release_names_suit_helm, "has 54 characters"),
        (more_taints, JOBS, "does not tolerate dedicated=ml:NoSchedule"),
        (changed_pool(labels={"gpu-runners/role": "gpu"}), JOBS, "labels that the nodes lack"),
        (operator(operands=Placement()), DAEMONSETS, "the GPU Operator's operands"),
        (operator(nfd_worker=Placement()), DAEMONSETS, "the worker of node feature discovery"),
        (changed_pool(labels={"gpu-runners/pool": "t4"}), DAEMONSETS, "NVIDIA's device plugin"),
        (
            controller(**ON_GPU_NODES),
            nothing_but_jobs_and_the_gpu_stack_goes_to_gpu_nodes,
            "ARC's controller may go to t4",
        ),
        (operator(driver=True), OWNER, "installs a driver"),
        (operator(toolkit=True), OWNER, "installs a toolkit"),
        (older_autoscaler, the_autoscaler_suits_kubernetes, "v1.34.5 on Kubernetes 1.35"),
        *((lane_release(version=one), PINS, repr(one)) for one in ("", "0.14.x", "0.13.1")),
        (no_autoscaler, GROWS, "has no autoscaler"),
        (tags(f"{GROUP}enabled"), GROWS, "lacks the tag"),
        (tags(f"{GROUP}ci"), GROWS, "lacks the tag"),
        *(
            (tags(f"{TEMPLATE}resources/{name}"), GROWS, f"too little {name}")
            for name in ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu")
        ),
        (tags(f"{TEMPLATE}label/gpu-runners/pool"), GROWS, "do not admit"),
        (tags(f"{TEMPLATE}taint/nvidia.com/gpu"), GROWS, "have the taints []"),
        (tags("", **{f"{TEMPLATE}taint/old": "true:NoSchedule"}), GROWS, "'old'"),
    ],
)
def test_each_invariant_notices_its_fault(fault: Fault, invariant: Invariant, what: str) -> None:
    (cluster,) = loaded(EKS).plan.clusters
    found = broken(Plan(clusters=(fault(cluster),)))
    assert any(name == invariant.__name__ and what in text for name, text in found), found


def test_a_preferred_taint_and_a_paused_pool_keep_no_plan_from_being_right() -> None:
    soft = dataclasses.replace(DEDICATED, effect="PreferNoSchedule")
    (cluster,) = loaded(EKS).plan.clusters
    cluster = with_pool(cluster, "t4", taints=(*cluster.pools[1].taints, soft))
    names = {name for name, _ in broken(Plan(clusters=(cluster,)))}
    assert JOBS.__name__ not in names
    assert broken(loaded(stack_of({"t4": {**POOLS["t4"], "paused": True}}, LANES)).plan) == []
