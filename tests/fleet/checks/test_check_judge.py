"""The judge: identifiers, silence with a reason, and strictness."""

from __future__ import annotations

import re

import pytest

from fleet.checks.judge import CHECKS
from tests.fleet.checks.planted import stack_of
from tests.fleet.samples import loaded, refused

REASON = "accepted by the platform team until the spring"
SPOT = {"p": {"instance_types": ["g4dn.xlarge"], "max_size": 2, "capacity_type": "SPOT"}}
LANES = {"gpu": {"pools": ["p"], "gpus": 1}}
TOO_LARGE = {"gpu": {"pools": ["p"], "gpus": 1, "cpu": 40}}
ROOT = {"gpu": {"pools": ["p"], "gpus": 1, "container_mode": "dind"}}


def test_each_check_has_an_identifier_of_its_own_and_says_what_it_looks_for() -> None:
    identifiers = [check.identifier for check in CHECKS]
    assert len(set(identifiers)) == len(identifiers)
    for check in CHECKS:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.identifier)
        assert check.summary.endswith("."), check.identifier
        assert len(check.summary) > 20, check.identifier


def test_a_rule_that_is_silenced_by_name_is_kept_with_the_reason() -> None:
    fleet = loaded({**stack_of(SPOT, LANES), "silence": {"spot-fallback": REASON}})
    assert "spot-fallback" not in {finding.rule for finding in fleet.findings}
    (silenced,) = fleet.silenced
    assert (silenced.finding.rule, silenced.reason) == ("spot-fallback", REASON)


def test_an_error_can_be_silenced_too() -> None:
    data = stack_of(SPOT, TOO_LARGE)
    assert {finding.rule for finding in refused(data)} == {"fits"}
    fleet = loaded({**data, "silence": {"fits": REASON}})
    assert [one.finding.severity for one in fleet.silenced] == ["error"]


@pytest.mark.parametrize("reason", ["", "no", None])
def test_silence_needs_a_reason(reason: str | None) -> None:
    findings = refused({**stack_of(SPOT, LANES), "silence": {"spot-fallback": reason}})
    assert {finding.path for finding in findings} == {"silence.spot-fallback"}


def test_a_rule_that_no_check_has_is_told_with_the_one_that_is_meant() -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {"spot-fallbacks": REASON}})
    assert finding.path == "silence.spot-fallbacks"
    assert finding.remedy.startswith("did you mean spot-fallback?")


@pytest.mark.parametrize("rule", ["rule", "missing", "unknown-pool", "secrets", "null", "shape"])
def test_a_refusal_of_the_file_cannot_be_silenced_and_no_other_rule_is_meant(rule: str) -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {rule: REASON}})
    assert finding.path == f"silence.{rule}"
    assert finding.message.startswith(f"{rule} is an error that cannot be silenced")
    assert "did you mean" not in finding.remedy
    assert finding.remedy.startswith("remove it and correct the error")


def test_a_word_that_is_like_no_rule_gets_no_guess() -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {"value-error": REASON}})
    assert finding.message == "value-error is not the identifier of a check, so it silences nothing"
    assert "did you mean" not in finding.remedy
    assert finding.remedy.startswith("remove it and correct the error")


def test_an_identifier_that_no_check_can_have_gets_an_example_not_a_pattern() -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {"string_type": REASON}})
    assert "cannot be silenced" in finding.message
    assert "like spot-fallback" in finding.remedy
    assert "^[a-z" not in str(finding)


def test_silence_that_is_needed_no_more_is_a_warning() -> None:
    fleet = loaded({**stack_of(SPOT, LANES), "silence": {"fits": REASON}})
    (finding,) = [one for one in fleet.warnings if one.rule == "silence"]
    assert finding.path == "silence.fits"
    assert "has no effect" in finding.message


def test_what_the_program_needs_to_run_cannot_be_silenced() -> None:
    lanes = {"gpu": {"pools": ["q"], "gpus": 1}}
    findings = refused({**stack_of(SPOT, lanes), "silence": {"unknown-pool": REASON}})
    assert {finding.rule for finding in findings} == {"unknown-pool", "silence"}


def test_a_strict_stack_makes_errors_of_escapes_and_of_nothing_else() -> None:
    assert "privileged" in {one.rule for one in loaded(stack_of(SPOT, ROOT)).warnings}
    findings = refused({**stack_of(SPOT, ROOT), "strict": True})
    assert {finding.rule for finding in findings} == {"privileged"}
    loaded({**stack_of(SPOT, LANES), "strict": True})


def test_an_accepted_escape_of_a_strict_stack_is_silenced_by_name() -> None:
    fleet = loaded({**stack_of(SPOT, ROOT), "strict": True, "silence": {"privileged": REASON}})
    assert "privileged" in {one.finding.rule for one in fleet.silenced}


def test_silence_can_be_kept_to_one_place() -> None:
    lanes = {"gpu": {"pools": ["p"], "gpus": 1}, "other": {"pools": ["p"], "gpus": 1}}
    place = "clusters.ci.github.lanes.gpu"
    fleet = loaded({**stack_of(SPOT, lanes), "silence": {f"spot-fallback@{place}": REASON}})
    assert [one.finding.path for one in fleet.silenced] == [f"{place}.pools"]
    assert f"{place[:-4]}.other.pools" in {
        one.path for one in fleet.warnings if one.rule == "spot-fallback"
    }


@pytest.mark.parametrize("place", ["clusters.ci.github.lanes.gp", "clusters.other"])
def test_silence_of_a_place_where_nothing_is_said_is_a_warning(place: str) -> None:
    fleet = loaded({**stack_of(SPOT, LANES), "silence": {f"spot-fallback@{place}": REASON}})
    assert f"silence.spot-fallback@{place}" in {one.path for one in fleet.warnings}
    assert fleet.silenced == ()
