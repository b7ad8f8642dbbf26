"""The conversion between the engine's structs and plain properties."""

from __future__ import annotations

import pytest
from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st
from pulumi_rehearsal.standin import wire
from pulumi_rehearsal.standin.values import UNKNOWN, contains_unknown

leaves = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**53), max_value=2**53)
    | st.text().filter(lambda text: text not in wire._UNKNOWN_TEXTS)
    | st.just(UNKNOWN)
)
keys = st.text(min_size=1).filter(lambda key: key != wire.SIGNATURE)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)


@given(st.dictionaries(keys, values, max_size=4))
def test_properties_come_back_as_they_went(properties: dict[str, object]) -> None:
    decoded = wire.decode(wire.encode(properties))
    assert decoded.properties == properties
    assert decoded.secrets == frozenset()


def test_secrets_are_unwrapped_and_marked_again_where_they_were() -> None:
    properties = {"data": {"token": "x"}, "list": ["a", {"b": 1}], "plain": "x"}
    secrets = frozenset({("data", "token"), ("list", 1), ("list", 1, "b"), ("absent",)})
    struct = wire.encode(properties, secrets)
    assert struct["data"]["token"][wire.SIGNATURE] == wire.SECRET
    decoded = wire.decode(struct)
    assert decoded.properties == properties
    assert decoded.secrets == secrets - {("absent",)}


def output(value: object = None, *, secret: bool = False, known: bool = True) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    inner: dict[str, object] = {wire.SIGNATURE: wire.OUTPUT, "secret": secret, "dependencies": []}
    struct.update({"field": {**inner, "value": value} if known else inner})
    return struct


def test_an_output_value_is_its_value() -> None:
    assert wire.decode(output({"a": 1})).properties == {"field": {"a": 1}}


def test_a_secret_output_value_is_a_secret() -> None:
    assert wire.decode(output("x", secret=True)).secrets == {("field",)}


def test_an_output_without_a_value_is_unknown() -> None:
    assert wire.decode(output(known=False)).properties == {"field": UNKNOWN}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"urn": "urn:x", "id": "i-1"}, "i-1"),
        ({"urn": "urn:x", "id": ""}, UNKNOWN),
        ({"urn": "urn:x", "id": wire.UNKNOWN_TEXT}, UNKNOWN),
        ({"urn": "urn:x"}, "urn:x"),
    ],
)
def test_a_resource_reference_is_its_id(reference: dict[str, str], expected: object) -> None:
    struct = struct_pb2.Struct()
    struct.update({"field": {wire.SIGNATURE: wire.RESOURCE, **reference}})
    assert wire.decode(struct).properties == {"field": expected}


@pytest.mark.parametrize("text", sorted(wire._UNKNOWN_TEXTS))
def test_every_sentinel_of_the_engine_is_unknown(text: str) -> None:
    struct = struct_pb2.Struct()
    struct.update({"field": [text]})
    assert wire.decode(struct).properties == {"field": [UNKNOWN]}


def test_whole_numbers_arrive_as_integers_and_others_do_not() -> None:
    struct = struct_pb2.Struct()
    struct.update({"whole": 3.0, "part": 2.5})
    assert repr(wire.decode(struct).properties["whole"]) == "3"
    assert wire.decode(struct).properties["part"] == 2.5


def test_what_cannot_travel_is_named_by_its_path_not_its_value() -> None:
    with pytest.raises(TypeError, match=r"a\.0\.b: set cannot be sent"):
        wire.encode({"a": [{"b": {"secret"}}]})


def test_unknown_is_false_and_found_at_any_depth() -> None:
    assert not UNKNOWN
    assert contains_unknown({"a": [1, {"b": UNKNOWN}]})
    assert not contains_unknown({"a": [1, {"b": None}]})
