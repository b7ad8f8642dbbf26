from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policy.inputs import UNKNOWN, Resource, decoded, plain, texts

SENTINEL = "unknown"


class UnknownValueError(Exception):
    pass


class MappingProxy(Mapping[str, Any]):
    """Behaves as those of pulumi-policy: looking at what is unknown raises."""

    def __init__(self, target: dict[str, Any]) -> None:
        self.target = target

    def __getitem__(self, key: str) -> Any:
        return known(self.target[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.target)

    def __len__(self) -> int:
        return len(self.target)


class SequenceProxy(Sequence[Any]):
    def __init__(self, target: list[Any]) -> None:
        self.target = target

    def __getitem__(self, index: Any) -> Any:
        return known(self.target[index])

    def __len__(self) -> int:
        return len(self.target)


def known(value: Any) -> Any:
    if value == SENTINEL:
        raise UnknownValueError
    return value


def test_one_unknown_value_hides_no_other() -> None:
    proxy = MappingProxy(
        {
            "id": SENTINEL,
            "list": SequenceProxy([1.0, SENTINEL, MappingProxy({"inner": SENTINEL, "b": True})]),
            "text": "abc",
        }
    )
    assert plain(proxy, UnknownValueError) == {
        "id": UNKNOWN,
        "list": [1.0, UNKNOWN, {"inner": UNKNOWN, "b": True}],
        "text": "abc",
    }


def test_a_path_through_something_unknown_is_unknown_and_through_nothing_is_none() -> None:
    resource = Resource(
        type="a:b:C",
        name="x",
        inputs={"known": {"inner": [1]}, "unknown": UNKNOWN, "text": "abc"},
    )
    assert resource.at("known", "inner") == [1]
    assert resource.at("unknown", "inner") is UNKNOWN
    assert resource.at("absent", "inner") is None
    assert resource.at("text", "inner") is None
    assert resource.items("known", "inner") == [1]
    assert resource.items("unknown") is UNKNOWN
    assert resource.items("absent") == []


def test_texts_come_with_their_paths_and_scripts_decoded() -> None:
    data = {"a": [{"b": "one"}, 2, UNKNOWN], "userData": "dHdv"}
    assert list(texts(data)) == [("a[0].b", "one"), ("userData", "dHdv"), ("userData", "two")]


def test_what_is_no_base64_decodes_to_nothing() -> None:
    assert decoded("no base64") == ""
    assert decoded("/w==") == "", "no text either"
