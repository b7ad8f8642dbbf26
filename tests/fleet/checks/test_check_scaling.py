"""Growing from zero: what the autoscaler reads off a group that has no node."""

from __future__ import annotations

import dataclasses

import pytest

from fleet.clusters.eks_pools import EksPool
from fleet.plan import ClusterPlan
from tests.fleet.checks.planted import found, planted, stack_of, with_pool

POOLS = {"t4": {"instance_types": ["g4dn.xlarge"], "max_size": 2}}
LANES = {"gpu": {"pools": ["t4"], "gpus": 1}}
DATA = stack_of(POOLS, LANES)
TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


def without(tag: str) -> list[str]:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        pool = next(one for one in cluster.pools if one.name == "t4")
        assert isinstance(pool, EksPool)
        tags = {key: value for key, value in pool.autoscaling_tags.items() if key != tag}
        assert tags != pool.autoscaling_tags, "the tag was there"
        return with_pool(cluster, "t4", autoscaling_tags=tags)

    return [finding.message for finding in planted("scale-from-zero", DATA, "ci", plant)]


@pytest.mark.parametrize(
    ("tag", "says"),
    [
        ("k8s.io/cluster-autoscaler/enabled", "by which it is found"),
        ("k8s.io/cluster-autoscaler/ci", "by which it is found"),
        (f"{TEMPLATE}/resources/nvidia.com/gpu", "say too little nvidia.com/gpu"),
        (f"{TEMPLATE}/resources/cpu", "say too little cpu"),
        (f"{TEMPLATE}/resources/memory", "say too little memory"),
        (f"{TEMPLATE}/resources/ephemeral-storage", "say too little ephemeral-storage"),
        (f"{TEMPLATE}/label/gpu-runners/pool", "ask for labels that the tags of its group lack"),
        (f"{TEMPLATE}/taint/nvidia.com/gpu", "lack the taint nvidia.com/gpu"),
    ],
)
def test_each_tag_is_needed(tag: str, says: str) -> None:
    (message,) = without(tag)
    assert "0 to 2 nodes, but would never grow" in message
    assert says in message


def test_a_taint_that_only_the_tags_name_keeps_jobs_from_starting_nodes() -> None:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        pool = next(one for one in cluster.pools if one.name == "t4")
        assert isinstance(pool, EksPool)
        tags = {**pool.autoscaling_tags, f"{TEMPLATE}/taint/old": "true:NoSchedule"}
        return with_pool(cluster, "t4", autoscaling_tags=tags)

    (finding,) = planted("scale-from-zero", DATA, "ci", plant)
    assert "name the taint old, which its nodes do not have" in finding.message


def test_a_pool_from_zero_needs_an_autoscaler() -> None:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        return dataclasses.replace(cluster, autoscaler=None)

    findings = planted("scale-from-zero", DATA, "ci", plant)
    assert "clusters.ci.eks.pools.t4" in {finding.path for finding in findings}
    assert all("no cluster-autoscaler" in finding.message for finding in findings)


def test_a_pool_of_one_size_needs_none() -> None:
    fixed = {"t4": {"instance_types": ["g4dn.xlarge"], "min_size": 2, "max_size": 2}}

    def plant(cluster: ClusterPlan) -> ClusterPlan:
        return dataclasses.replace(cluster, autoscaler=None)

    paths = {f.path for f in planted("scale-from-zero", stack_of(fixed, LANES), "ci", plant)}
    assert "clusters.ci.eks.pools.t4" not in paths


def test_a_paused_pool_is_told_once_and_not_as_one_that_cannot_grow() -> None:
    assert not found("scale-from-zero", stack_of({"t4": {**POOLS["t4"], "paused": True}}, LANES))
