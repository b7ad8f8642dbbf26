"""The two accounts that tests of the stand-in AWS begin with."""

from __future__ import annotations

import pytest
from aws_account import Account, Fleet


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()
