"""When an injected fault happens."""

from __future__ import annotations

import threading

import pytest
from pulumi_rehearsal.standin.faults import EACH_ONCE, Fault, Faults, Step
from pulumi_rehearsal.standin.kind import Refusal


def strikes(faults: Faults, step: Step = "create", name: str = "pool") -> bool:
    try:
        faults.strike(step, f"urn:pulumi:s::p::t::{name}", name)
    except Refusal:
        return True
    return False


def test_a_failure_strikes_once_and_is_counted() -> None:
    faults = Faults(Fault(name="pool"))
    assert [strikes(faults), strikes(faults)] == [True, False]
    assert faults.struck == 1
    assert faults.idle == ()


def test_a_failure_may_strike_always() -> None:
    faults = Faults(Fault(name="pool", times=None))
    assert [strikes(faults) for _ in range(3)] == [True] * 3


def test_only_the_named_step_fails() -> None:
    faults = Faults(Fault(name="pool", steps=("delete",)))
    assert [strikes(faults, step) for step in ("create", "update", "delete")] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(("name", "struck"), [("t4-pool", True), ("pool", False)])
def test_names_may_be_patterns(name: str, struck: bool) -> None:
    assert strikes(Faults(Fault(name="t4-*")), name=name) is struck


def test_each_resource_fails_its_first_create_only() -> None:
    faults = Faults(EACH_ONCE)
    assert [strikes(faults, name=name) for name in "aabb"] == [True, False, True, False]
    assert strikes(faults, "delete", "a") is False


def test_a_failure_that_never_came_due_is_known() -> None:
    fault = Fault(name="no-such-*")
    faults = Faults(fault, Fault(name="pool"))
    strikes(faults)
    assert faults.idle == (fault,)


def test_a_stall_ends_by_itself() -> None:
    assert strikes(Faults(Fault(name="pool", seconds=0.01))) is False


def test_cancelling_ends_the_stall_that_runs_and_no_later_one() -> None:
    faults = Faults(Fault(name="a", seconds=60), Fault(name="b", seconds=0.01))
    ended: list[bool] = []
    thread = threading.Thread(target=lambda: ended.append(strikes(faults, name="a")))
    thread.start()
    while not faults.struck:
        pass
    faults.cancel()
    thread.join(10)
    assert ended == [True]
    assert strikes(faults, name="b") is False
