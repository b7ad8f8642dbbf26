"""Tenancies for the tests of the OCI stand-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from oci_tenancy import Network, OkeTenancy, Tenancy
from pulumi_rehearsal.standin.kind import Invalid, Refusal


@pytest.fixture
def tenancy() -> Tenancy:
    return Tenancy()


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def oke() -> OkeTenancy:
    return OkeTenancy()


@pytest.fixture
def refused() -> Callable[[str], Any]:
    return lambda message: pytest.raises(Refusal, match=message)


@pytest.fixture
def invalid() -> Callable[[str], Any]:
    return lambda message: pytest.raises(Invalid, match=message)
