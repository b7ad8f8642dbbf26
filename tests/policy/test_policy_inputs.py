from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policy.inputs import UNKNOWN, Resource, decoded, plain, texts

SENTINEL = "unknown"


class UnknownValueError(Exception):
    pass


class MappingProxy(Mapping[str, Any]):
    """Behaves like the proxies of pulumi-policy: access to an unknown value raises."""

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


def test_an_unknown_value_does_not_affect_other_values() -> None:
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


def test_a_path_through_an_unknown_value_is_unknown_and_an_absent_path_is_none() -> None:
    resource = Resource(
        type="a:b:C", name="x", inputs={"known": {"inner": [1]}, "unknown": UNKNOWN, "text": "abc"}
    )
    assert resource.at("known", "inner") == [1]
    assert resource.at("unknown", "inner") is UNKNOWN
    assert resource.at("absent", "inner") is None
    assert resource.at("text", "inner") is None
    assert resource.items("known", "inner") == [1]
    assert resource.items("unknown") is UNKNOWN
    assert resource.items("absent") == []


def test_strings_have_their_paths_and_user_data_is_decoded() -> None:
    data = {"a": [{"b": "one"}, 2, UNKNOWN], "userData": "dHdv"}
    assert list(texts(data)) == [("a[0].b", "one"), ("userData", "dHdv"), ("userData", "two")]


def test_text_that_is_not_base64_decodes_to_nothing() -> None:
    assert decoded("no base64") == ""
    assert decoded("/w==") == "", "valid base64, but not UTF-8"
