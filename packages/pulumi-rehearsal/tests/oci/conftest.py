"""The tenancies that tests of the stand-in OCI begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from oci_tenancy import Fleet, Network, Tenancy
from pulumi_rehearsal.standin.kind import Invalid, Refusal


@pytest.fixture
def tenancy() -> Tenancy:
    return Tenancy()


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


@pytest.fixture
def refused() -> Callable[[str], Any]:
    """`with refused("words of the rule"):`."""
    return lambda words: pytest.raises(Refusal, match=words)


@pytest.fixture
def invalid() -> Callable[[str], Any]:
    """`with invalid("words of the rule"):`."""
    return lambda words: pytest.raises(Invalid, match=words)
