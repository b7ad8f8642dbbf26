"""Clusters in which tests create one resource at a time."""

from collections.abc import Callable
from typing import Any

import pytest
from kubernetes_cluster import EKS_SCOPE, GPU_GROUP, SYSTEM_GROUP, Cluster
from pulumi_rehearsal.standin.kind import Refusal


@pytest.fixture
def cluster() -> Cluster:
    """An existing cluster, whose nodes are not known."""
    return Cluster()


@pytest.fixture
def eks_cluster() -> Cluster:
    """An EKS cluster with one CPU node group and one GPU node group."""
    made = Cluster(EKS_SCOPE)
    made.eks(SYSTEM_GROUP, GPU_GROUP)
    return made


@pytest.fixture
def refused() -> Callable[[str], Any]:
    return lambda message: pytest.raises(Refusal, match=message)
