"""What is read from the engine's events."""

from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from change.steps import Step, steps

URN = "urn:pulumi:s::p::aws:eks/nodeGroup:NodeGroup::ci-t4"


def state(inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "t",
        "urn": URN,
        "id": "",
        "parent": "",
        "provider": "",
        "inputs": inputs,
        **more,
    }


def event(operation: str, **metadata: Any) -> EngineEvent:
    step = {
        "op": operation,
        "urn": URN,
        "type": "aws:eks/nodeGroup:NodeGroup",
        "provider": "",
        **metadata,
    }
    return EngineEvent.from_json(
        {"sequence": 1, "timestamp": 1, "resourcePreEvent": {"metadata": step}}
    )


def only(*events: EngineEvent) -> Step:
    (one,) = steps(events)
    return one


def detail(path: str, kind: str) -> dict[str, Any]:
    return {path: {"diffKind": kind, "inputDiff": True}}


def test_a_step_has_values_and_the_cause_of_a_replacement() -> None:
    one = only(
        event(
            "replace",
            old=state({"types": ["a"], "size": 1}, protect=True),
            new=state({"types": ["b"], "size": 2}),
            keys=["types"],
            diffs=["types", "size"],
            detailedDiff={**detail("types[0]", "update-replace"), **detail("size", "update")},
        )
    )
    assert (one.operation, one.name, one.reasons, one.protected) == (
        "replace",
        "ci-t4",
        ("types",),
        True,
    )
    assert [(p.path, p.old, p.new, p.replaces) for p in one.properties] == [
        ("types[0]", "a", "b", True),
        ("size", 1, 2, False),
    ]


def test_without_details_the_top_level_is_compared() -> None:
    one = only(
        event(
            "replace",
            old=state({"types": ["a"], "tags": {"x": "1"}}),
            new=state({"types": ["b"], "tags": {"x": "2"}}),
            keys=["types"],
            diffs=["types", "tags"],
        )
    )
    assert [(p.path, p.replaces) for p in one.properties] == [("types[0]", True), ("tags.x", False)]


def test_a_difference_without_visible_values_is_a_secret() -> None:
    same = state({"token": "[hidden]"})
    one = only(event("update", old=same, new=same, diffs=["token"]))
    assert [(p.path, p.secret, p.new) for p in one.properties] == [("token", True, None)]


def test_a_property_that_is_no_input_is_compared_by_outputs() -> None:
    one = only(
        event(
            "update",
            old=state({}, outputs={"arn": "a"}),
            new=state({}, outputs={"arn": "b"}),
            diffs=["arn"],
        )
    )
    assert [(p.path, p.old, p.new) for p in one.properties] == [("arn", "a", "b")]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("create", "create"),
        ("delete", "delete"),
        ("import", "import"),
        ("import-replacement", "other"),
        ("discard", None),
        ("same", None),
        ("read", None),
        ("refresh", None),
    ],
)
def test_operations_of_the_engine_are_mapped(operation: str, expected: str | None) -> None:
    one = only(event(operation, new=state({"a": 1})))
    assert (one.operation, one.properties) == (expected, ())


def test_the_parts_of_a_replacement_and_the_stack_are_no_steps() -> None:
    parts = ("create-replacement", "delete-replaced", "discard-replaced", "remove-pending-replace")
    assert steps([event(part, new=state({})) for part in parts]) == []
    stack = event("update", new=state({}), type="pulumi:pulumi:Stack")
    nothing = EngineEvent.from_json({"sequence": 1, "timestamp": 1, "cancelEvent": {}})
    assert steps([stack, nothing]) == []


def test_lifted_protection_is_kept_in_the_step() -> None:
    gone = event("delete", old=state({}))
    assert not steps([gone])[0].protected
    assert steps([gone], protected={URN})[0].protected
