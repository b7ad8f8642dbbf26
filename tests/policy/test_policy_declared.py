from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_rehearsal import policies

from policy.declared import STACK_FILE, Declared, declared, declared_in
from tests import stackfiles


def lanes(cluster: str, forge: str, lane: str, **fields: Any) -> frozenset[str]:
    body = stackfiles.body("prod")
    body["clusters"][cluster][forge]["lanes"][lane].update(fields)
    return declared(body).privileged_lanes


def test_the_shipped_stacks_declare_no_privileged_lane() -> None:
    for stack in stackfiles.STACKS:
        assert declared(stackfiles.body(stack)).privileged_lanes == frozenset()


@pytest.mark.parametrize(
    ("forge", "lane", "fields"),
    [("github", "gpu-a100", {"container_mode": "dind"}), ("gitlab", "a100", {"privileged": True})],
)
def test_a_privileged_lane_is_found_by_its_logical_name(
    forge: str, lane: str, fields: dict[str, Any]
) -> None:
    assert lanes("ci-usw2", forge, lane, **fields) == {f"ci-usw2-{forge}-{lane}"}


def test_the_maximum_size_of_oke_pools_comes_from_the_file() -> None:
    assert declared(stackfiles.body("prod")).pool_maxima == {
        "ci-iad-system": 2,
        "ci-iad-a10": 4,
        "ci-iad-a10-x2": 2,
    }


@pytest.mark.parametrize("data", [None, {}, {"clusters": {"a": {"eks": {}}}}, "text"])
def test_an_invalid_file_has_the_defaults(data: Any) -> None:
    assert declared(data) == Declared()


def test_the_file_is_found_by_the_name_of_the_stack() -> None:
    assert declared_in("prod", {}) == declared(stackfiles.body("prod"))
    assert declared_in("no-such-stack", {}) == Declared()


@pytest.mark.parametrize("text", ["", "config:", "[]"])
def test_a_file_without_the_key_has_the_defaults(text: str, tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text(text)
    assert declared_in("prod", {STACK_FILE: str(file)}) == Declared()


def test_a_rehearsal_sets_another_file(tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text(yaml.safe_dump({"config": stackfiles.config("staging")}))
    assert declared_in("prod", {policies.STACK_FILE: str(file)}) == declared(
        stackfiles.body("staging")
    )
