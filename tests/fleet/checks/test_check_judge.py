"""Identifiers of checks, `silence` with a reason, and `strict`."""

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


def test_each_check_has_an_identifier_and_a_summary() -> None:
    identifiers = [check.identifier for check in CHECKS]
    assert len(set(identifiers)) == len(identifiers)
    for check in CHECKS:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.identifier)
        assert check.summary.endswith("."), check.identifier
        assert len(check.summary) > 20, check.identifier


def test_a_silenced_finding_is_kept_with_the_reason() -> None:
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


def test_a_misspelt_identifier_is_an_error_with_a_similar_one() -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {"spot-fallbacks": REASON}})
    assert finding.path == "silence.spot-fallbacks"
    assert finding.remedy.startswith("did you mean spot-fallback?")


@pytest.mark.parametrize("rule", ["rule", "missing", "unknown-pool", "secrets", "null", "shape"])
def test_an_error_of_form_cannot_be_silenced(rule: str) -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {rule: REASON}})
    assert finding.path == f"silence.{rule}"
    assert finding.message.startswith(f"{rule} is an error that cannot be silenced")
    assert "did you mean" not in finding.remedy
    assert finding.remedy.startswith("remove it and correct the error")


def test_an_identifier_like_no_other_gets_no_suggestion() -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {"value-error": REASON}})
    assert finding.message == "value-error is not the identifier of a check, so it silences nothing"
    assert "did you mean" not in finding.remedy
    assert finding.remedy.startswith("remove it and correct the error")


def test_an_identifier_of_wrong_form_is_an_error() -> None:
    (finding,) = refused({**stack_of(SPOT, LANES), "silence": {"string_type": REASON}})
    assert "cannot be silenced" in finding.message
    assert "like spot-fallback" in finding.remedy
    assert "^[a-z" not in str(finding)


def test_silence_without_a_finding_is_a_warning() -> None:
    fleet = loaded({**stack_of(SPOT, LANES), "silence": {"fits": REASON}})
    (finding,) = [one for one in fleet.warnings if one.rule == "silence"]
    assert finding.path == "silence.fits"
    assert "has no effect" in finding.message


def test_an_unknown_pool_cannot_be_silenced() -> None:
    lanes = {"gpu": {"pools": ["q"], "gpus": 1}}
    findings = refused({**stack_of(SPOT, lanes), "silence": {"unknown-pool": REASON}})
    assert {finding.rule for finding in findings} == {"unknown-pool", "silence"}


def test_strict_turns_only_the_marked_checks_into_errors() -> None:
    assert "privileged" in {one.rule for one in loaded(stack_of(SPOT, ROOT)).warnings}
    findings = refused({**stack_of(SPOT, ROOT), "strict": True})
    assert {finding.rule for finding in findings} == {"privileged"}
    loaded({**stack_of(SPOT, LANES), "strict": True})


def test_a_strict_error_can_be_silenced() -> None:
    fleet = loaded({**stack_of(SPOT, ROOT), "strict": True, "silence": {"privileged": REASON}})
    assert "privileged" in {one.finding.rule for one in fleet.silenced}


def test_silence_can_be_limited_to_one_path() -> None:
    lanes = {"gpu": {"pools": ["p"], "gpus": 1}, "other": {"pools": ["p"], "gpus": 1}}
    place = "clusters.ci.github.lanes.gpu"
    fleet = loaded({**stack_of(SPOT, lanes), "silence": {f"spot-fallback@{place}": REASON}})
    assert [one.finding.path for one in fleet.silenced] == [f"{place}.pools"]
    assert f"{place[:-4]}.other.pools" in {
        one.path for one in fleet.warnings if one.rule == "spot-fallback"
    }


@pytest.mark.parametrize("place", ["clusters.ci.github.lanes.gp", "clusters.other"])
def test_silence_of_a_path_without_a_finding_is_a_warning(place: str) -> None:
    fleet = loaded({**stack_of(SPOT, LANES), "silence": {f"spot-fallback@{place}": REASON}})
    assert f"silence.spot-fallback@{place}" in {one.path for one in fleet.warnings}
    assert fleet.silenced == ()
