"""Clusters to try one resource at a time in."""

from collections.abc import Callable
from typing import Any

import pytest
from kubernetes_lab import EKS_SCOPE, GPU_GROUP, SYSTEM_GROUP, Lab
from pulumi_rehearsal.standin.kind import Refusal


@pytest.fixture
def lab() -> Lab:
    """An existing cluster, of whose nodes nothing is known."""
    return Lab()


@pytest.fixture
def eks_lab() -> Lab:
    """A cluster that the rehearsal made, with one CPU group and one GPU group."""
    made = Lab(EKS_SCOPE)
    made.eks(SYSTEM_GROUP, GPU_GROUP)
    return made


@pytest.fixture
def refused() -> Callable[[str], Any]:
    """`with refused("words of the rule"):`."""
    return lambda words: pytest.raises(Refusal, match=words)
