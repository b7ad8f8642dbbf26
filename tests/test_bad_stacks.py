"""Invalid stack files through the real entry file: it reports all errors and registers nothing."""

import json
import runpy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pulumi
import pytest

import fleet.load
import stacks.deploy
from fleet.findings import Finding
from fleet.load import Fleet
from tests import stackfiles
from tests.engine import attempt
from tests.stackfiles import ROOT


def refused(data: object, *, given: Mapping[str, str] | None = None) -> str:
    """Run an invalid stack and return the error; it must register nothing and call no cloud."""
    found, error = stackfiles.run("staging", data=data, given=given, calls={})
    assert isinstance(error, pulumi.RunError), repr(error)
    assert error.__cause__ is None
    assert found.resources == [], "a preview of a bad file changes and shows nothing"
    assert found.calls == []
    assert found.log == []
    return str(error)


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        for key in parents:
            data = data[key]
        if value is _REMOVED:
            del data[last]
        else:
            data[last] = value

    return change


_REMOVED = object()
_EKS = "clusters/ci-staging/eks"
_GITHUB = "clusters/ci-staging/github/lanes"
_GITLAB = "clusters/ci-staging/gitlab/lanes"


def _too_large(data: dict[str, Any]) -> None:
    """Give a lane more memory than its pool has; both are right in everything else."""
    _set(f"{_EKS}/pools/small", {"instance_types": ["g4dn.xlarge"], "max_size": 1})(data)
    lane = {"pools": ["small"], "gpus": 1, "memory": "64Gi", "runner": {"group_id": 42}}
    _set(f"{_GITLAB}/large", lane)(data)


BAD: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "an unknown key": (_set(f"{_EKS}/pools/t4/maxsize", 3), "pools.t4.maxsize"),
    "a wrong type": (_set(f"{_EKS}/pools/t4/max_size", "three"), "pools.t4.max_size"),
    "an unknown pool": (_set(f"{_GITLAB}/t4-staging/pools", ["t44"]), "t4-staging.pools"),
    "a lane that cannot fit": (_too_large, "lanes.large.memory"),
    "a key without a value": (_set("clusters/ci-staging/gpu_stack/operator", None), "operator"),
    "a version as a number": (_set(f"{_EKS}/version", 1.35), "eks.version"),
    "an AMI type that is not": (_set(f"{_EKS}/pools/t4/ami_type", "AL2_GPU"), "t4.ami_type"),
    "max below min": (_set(f"{_EKS}/pools/system/max_size", 1), "pools.system.max_size"),
    "a long scale-set name": (
        _set(f"{_GITHUB}/gpu-{'t4' * 21}", {"pools": ["t4"], "gpus": 1, "max_runners": 1}),
        f"lanes.gpu-{'t4' * 21}",
    ),
    "a missing key": (_set(f"{_EKS}/region", _REMOVED), "eks.region"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_stack_file_registers_nothing(case: str) -> None:
    change, path = BAD[case]
    data = stackfiles.body("staging")
    change(data)
    message = refused(data)
    assert "Pulumi.staging.yaml: 1 problem" in message
    assert path in message, "an error contains its path"


def test_all_errors_of_form_are_in_one_message() -> None:
    data = stackfiles.body("staging")
    form = {case: bad for case, bad in BAD.items() if case != "a lane that cannot fit"}
    for change, _ in form.values():
        change(data)
    message = refused(data, given={})
    for case, (_, path) in form.items():
        assert path in message, f"{case} was not reported"
    assert "githubAppKey" in message
    assert "gitlabApiToken" in message


@pytest.mark.parametrize(
    "data", [None, "text", 7, [], {}, {"clusters": {}}, {"clusters": None}], ids=repr
)
def test_data_that_is_no_stack_is_refused(data: object) -> None:
    found, error = stackfiles.run("staging", data=json.dumps(data), calls={})
    assert isinstance(error, pulumi.RunError), repr(error)
    assert "Pulumi.staging.yaml" in str(error)
    assert found.resources == []


@pytest.mark.parametrize("text", ["not json", "", "{"])
def test_a_stack_that_is_not_a_map_is_refused(text: str) -> None:
    found, error = stackfiles.run("staging", data=text, given={}, calls={})
    assert isinstance(error, pulumi.RunError), repr(error)
    assert "Pulumi.staging.yaml" in str(error)
    assert found.resources == []


def test_missing_secrets_are_reported_with_the_commands_that_set_them() -> None:
    lines = [line.strip() for line in refused(stackfiles.body("prod"), given={}).splitlines()]
    for name in ("githubAppKey", "gitlabApiToken"):
        assert f"run: pulumi config set --secret gpu-runners:{name}" in lines


def test_only_missing_secrets_are_reported() -> None:
    message = refused(stackfiles.body("prod"), given={"gpu-runners:githubAppKey": "here"})
    assert "gpu-runners:gitlabApiToken" in message
    assert "githubAppKey" not in message


PASTED = "-----BEGIN RSA PRIVATE KEY----- pasted by mistake"


@pytest.mark.parametrize(
    "path",
    [
        "clusters/ci-staging/github/app/private_key",
        "clusters/ci-staging/github/app/private_key/secret",
        "clusters/ci-staging/gitlab/api_token",
        "clusters/ci-staging/github/app/id",
        "clusters/ci-staging/github/url",
        f"{_GITLAB}/t4-staging/token",
        f"{_GITLAB}/t4-staging/existing_secret",
        f"{_EKS}/profile",
    ],
)
def test_a_secret_pasted_into_the_file_is_not_repeated(path: str) -> None:
    data = stackfiles.body("staging")
    _set(path, PASTED)(data)
    _set(f"{_EKS}/region", "nowhere")(data)
    message = refused(data)
    assert "PRIVATE KEY" not in message
    assert "pasted" not in message


def test_no_error_holds_the_text_of_a_secret() -> None:
    data = stackfiles.body("staging")
    _set(f"{_EKS}/region", "nowhere")(data)
    message = refused(data, given=stackfiles.secrets(data))
    assert "plain-text-of" not in message


def test_a_configuration_without_a_stack_is_refused_with_what_to_write() -> None:
    found, error = attempt(lambda: runpy.run_path(str(ROOT / "__main__.py")) and None, stack="new")
    assert isinstance(error, pulumi.RunError), repr(error)
    assert "Pulumi.new.yaml: has no gpu-runners:stack" in str(error)
    assert "Pulumi.staging.yaml" in str(error), "a remedy names what to copy"
    assert found.resources == []


def test_a_warning_is_logged_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    warning = Finding(
        rule="test", path="clusters.x", message="odd", remedy="mend it", severity="warning"
    )

    def load(*args: Any, **kwargs: Any) -> Fleet:
        note = replace(warning, severity="note")
        return replace(fleet.load.load(*args, **kwargs), findings=(warning, note))

    monkeypatch.setattr(stacks.deploy, "load", load)
    found, error = stackfiles.run("staging")
    assert error is None
    assert found.log == [("warning", "clusters.x: odd\n    mend it")], "a note is for the report"
    assert found.find("gpu-runners:index:RunnerCluster")
