"""Resource types and data sources without a stand-in of their own."""

from __future__ import annotations

import pytest
from pulumi_rehearsal.standin import generic
from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties
from pulumi_rehearsal.standin.world import World

TOPIC = "aws:sns/topic:Topic"


def call(inputs: Properties) -> Call:
    return Call(urn=f"urn::{TOPIC}::news", type=TOPIC, name="news", inputs=inputs, scope="aws:x")


def kind() -> Kind:
    found = generic.kind_of(TOPIC)
    assert found is not None
    return found


def test_outputs_of_the_sdk_are_made_up_with_their_type() -> None:
    checked = kind().check(call({}), None)
    id, outputs = kind().create(call(checked), World())
    assert outputs["name"].startswith("news-"), "the provider names it"
    assert outputs["arn"] == f"arn-of-{id}"
    assert isinstance(outputs["owner"], str)
    assert "arn" in kind().computed


def test_inputs_are_checked_against_the_sdk() -> None:
    with pytest.raises(Invalid, match="has no property 'nam'"):
        kind().check(call({"nam": "x"}), None)


def test_a_type_of_no_installed_sdk_has_no_kind() -> None:
    assert generic.kind_of("aws:sns/topic:Nothing") is None
    assert generic.kind_of("nosuchcloud:a/b:C") is None


def test_every_installed_sdk_without_stand_ins_is_served() -> None:
    every = {package.name for package in generic.packages(frozenset())}
    assert {"aws", "kubernetes", "random"} <= every
    assert "policy" not in every
    assert "rehearsal" not in every
    assert "aws" not in {package.name for package in generic.packages(frozenset({"aws"}))}


def test_a_data_source_answers_with_its_arguments_and_the_types_of_the_sdk() -> None:
    found = generic.lookup_of("aws:ec2/getAmi:getAmi")
    assert found is not None
    answer = found.invoke({"mostRecent": True}, "aws:x", World())
    assert answer["id"] == "getAmi"
    assert answer["mostRecent"] is True
    assert answer["tags"] == {}
    assert answer["blockDeviceMappings"] == []
    assert "its answer is made up" in found.warning


def test_a_data_source_in_a_module_named_like_a_python_keyword_is_found() -> None:
    assert generic.lookup_of("aws:lambda/getFunction:getFunction") is not None


def test_a_data_source_of_no_installed_sdk_has_no_stand_in() -> None:
    assert generic.lookup_of("aws:ec2/getNothing:getNothing") is None
    assert generic.lookup_of("nosuchcloud:a/getB:getB") is None
