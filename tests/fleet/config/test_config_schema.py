"""`stack.schema.json`: what an editor says of a stack file before anything runs."""

import copy
import json
from pathlib import Path as File
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fleet.config import schema
from tests.fleet.samples import SHIPPED, every_key, places, shipped

VALIDATOR = Draft202012Validator(schema.stack_file_schema())
KEY = "gpu-runners:stack"
T4 = "clusters.ci.eks.pools.t4"
GPU = "clusters.ci.github.lanes.gpu"


def errors(changes: dict[str, Any]) -> list[str]:
    """Places that the schema complains of in the sample with those changes."""
    found = VALIDATOR.iter_errors({"config": {KEY: every_key(changes)}})
    return [".".join(str(part) for part in list(error.path)[2:]) for error in found]


def test_the_file_is_in_step_with_the_models() -> None:
    assert schema.FILE.read_text(encoding="utf-8") == schema.text(), "run: make schema"


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema.stack_file_schema())


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_stack_file_is_valid_and_names_the_schema(name: str) -> None:
    assert list(VALIDATOR.iter_errors(shipped(name))) == []
    first = (schema.FILE.parent / f"Pulumi.{name}.yaml").read_text().partition("\n")[0]
    assert first == f"# yaml-language-server: $schema=./{schema.FILE.name}"


def test_a_stack_with_every_key_is_valid() -> None:
    assert errors({}) == []


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"tag": {}}, ""),
        ({f"{T4}.max_sise": 3}, T4),
        ({f"{T4}.instance_types": ["g4dn.xlrge"]}, f"{T4}.instance_types.0"),
        ({f"{T4}.ami_type": "AL2_x86_64_GPU"}, f"{T4}.ami_type"),
        ({f"{T4}.max_size": 0}, f"{T4}.max_size"),
        ({"clusters.ci.eks.version": 1.35}, "clusters.ci.eks.version"),
        ({"clusters.ci.eks.version": "1.20"}, "clusters.ci.eks.version"),
        ({"clusters.ci.eks.network.zones": ["a", "us-west-2b"]}, "clusters.ci.eks.network.zones.0"),
        ({"clusters.ci.eks.pools.T4": {"instance_types": []}}, "clusters.ci.eks.pools"),
        ({f"clusters.ci.eks.pools.{'p' * 37}": {}}, "clusters.ci.eks.pools"),
        ({f"clusters.ci.github.lanes.{'l' * 46}": {}}, "clusters.ci.github.lanes"),
        ({f"{GPU}.memory": "16gb"}, f"{GPU}.memory"),
        ({f"{GPU}.cpu": -1}, f"{GPU}.cpu"),
        ({f"{GPU}.env": {"A B": "x"}}, f"{GPU}.env"),
        ({"charts.repositories": {"helm": "https://x.example"}}, "charts.repositories"),
        (
            {"clusters.ci.github.app.private_key.secret": "two words"},
            "clusters.ci.github.app.private_key.secret",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_an_editor_marks_the_slip(changes: dict[str, Any], place: str) -> None:
    assert place in errors(changes)


def test_an_editor_marks_each_null_and_each_value_of_the_wrong_type() -> None:
    data = every_key()
    missed: list[Any] = []
    for path, value in places(data):
        for wrong in (None, "text" if isinstance(value, dict | list | bool | int) else {"a": 1}):
            slipped = copy.deepcopy(data)
            holder: Any = slipped
            for part in path[:-1]:
                holder = holder[part]
            holder[path[-1]] = wrong
            if VALIDATOR.is_valid({"config": {KEY: slipped}}):
                missed.append((path, wrong))
    assert missed == []


@pytest.mark.parametrize("quantity", ["500m", 2, "1.5", "8Gi", "1e3", "+1"])
def test_every_spelling_of_a_quantity_is_valid(quantity: Any) -> None:
    assert errors({f"{GPU}.cpu": quantity}) == []


def test_the_schema_accepts_the_keys_of_pulumi() -> None:
    config = {
        KEY: every_key(),
        "pulumi:disable-default-providers": ["*"],
        "gpu-runners:githubAppKey": {"secure": "v1:abc"},
        "gpu-runners:gitlabApiToken": "from an environment",
        "aws:profile": "ci",
    }
    file = {
        "config": config,
        "secretsprovider": "awskms://alias/pulumi",
        "encryptedkey": "abc",
        "encryptionsalt": "v1:abc",
        "environment": ["ci"],
    }
    assert list(VALIDATOR.iter_errors(file)) == []
    assert list(VALIDATOR.iter_errors({**file, "environment": {"imports": ["ci"]}})) == []


@pytest.mark.parametrize(
    "file",
    [
        {},
        {"config": {}},
        {"config": {KEY: every_key()}, "secretprovider": "x"},
        {"config": {KEY: every_key(), "stack": "x"}},
        {"config": {KEY: every_key(), "gpu-runners:stak": every_key()}},
        {"config": {KEY: every_key(), "gpu-runners:key": {"secret": "x"}}},
    ],
    ids=["empty", "no stack", "misspelt", "no namespace", "misspelt stack", "not encrypted"],
)
def test_a_slip_around_the_stack_is_marked(file: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(file)


def test_every_key_of_the_schema_is_described() -> None:
    silent = [
        f"{name}.{key}"
        for name, model in schema.stack_file_schema()["$defs"].items()
        for key, field in model["properties"].items()
        if not field.get("description")
    ]
    assert silent == []


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    schema.main([])
    assert json.loads(capsys.readouterr().out) == schema.stack_file_schema()


def test_the_command_writes_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: File) -> None:
    monkeypatch.setattr(schema, "FILE", tmp_path / "schema.json")
    schema.main(["--write"])
    assert (tmp_path / "schema.json").read_text(encoding="utf-8") == schema.text()
