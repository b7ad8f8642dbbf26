"""What `up` and a preview say of a lane whose object is being deleted, or takes no jobs."""

from typing import Any

import pulumi
import pytest

from components.helm import SCALE_SET
from components.runners.presence import judge

SET = "arc-runners/gpu-t4-01234"
DELETED = {"deletionTimestamp": "2026-11-22T10:00:00Z"}


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    return said


@pytest.mark.parametrize(
    ("metadata", "status", "reason"),
    [
        (DELETED, {"phase": "Running"}, "is being deleted since 2026-11-22"),
        ({}, {"phase": "Outdated"}, "GitHub refuses its runners as too old"),
    ],
)
def test_a_lane_that_takes_no_jobs_fails_up_and_is_a_warning_of_a_preview(
    metadata: dict[str, Any],
    status: dict[str, Any],
    reason: str,
    warned: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    with pytest.raises(pulumi.RunError, match=reason) as failed:
        judge(SCALE_SET, SET, metadata, status)
    assert SET in str(failed.value)
    assert "`pulumi refresh`" in str(failed.value), "it says what to do"
    assert warned == []
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    judge(SCALE_SET, SET, metadata, status)
    assert [reason in one for one in warned] == [True]


def test_a_lane_that_takes_jobs_or_starts_to_is_not_mentioned(
    warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    for status in ({"phase": "Running"}, {"phase": "Pending"}, {}):
        judge(SCALE_SET, SET, {}, status)
    assert warned == []
