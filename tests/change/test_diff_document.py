"""What `diff.json` may hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from change import document
from change.document import Document, InvalidDocumentError, read
from tests.change.diffs import diff, group, prop, resource


def written(folder: Path, **changes: Any) -> Path:
    one = group(resources=[resource(properties=[prop(old=1, new=2.5), prop(old=True, new="x")])])
    data = json.loads(diff(subjects=[one], counts={"update": 1}).model_dump_json())
    file = folder / "diff.json"
    file.write_text(json.dumps({**data, **changes}), encoding="utf-8")
    return file


def test_a_document_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read(written(tmp_path))
    assert isinstance(found, Document)
    first, second = found.groups[0].resources[0].properties
    assert (first.old, first.new, second.old, second.new) == (1, 2.5, True, "x")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"stack": "a b"}, "stack"),
        ({"stack": "-->"}, "stack"),
        ({"stack": "a" * 101}, "stack"),
        ({"format": 2}, "format"),
        ({"head": "HEAD"}, "head"),
        ({"more": 1}, "more"),
        ({"counts": {"explode": 1}}, "counts"),
        ({"counts": {"create": -1}}, "counts"),
        ({"counts": {"create": "1"}}, "counts"),
        ({"notes": ["x" * (document.MAX_TEXT + 1)]}, "notes"),
        ({"notes": ["x"] * (document.MAX_REMARKS + 1)}, "notes"),
        ({"subjects": [{"kind": "bomb", "name": "x", "operation": "update"}]}, "subjects"),
        ({"settings": [{"path": "p", "change": "update", "new": {"a": 1}}]}, "settings"),
        ({"settings": [{"path": "p", "change": "update", "new": 10**400}]}, "settings"),
    ],
)
def test_unknown_keys_and_values_out_of_range_are_refused(
    tmp_path: Path, changes: dict[str, Any], where: str
) -> None:
    with pytest.raises(InvalidDocumentError, match=rf"is not a valid diff\.json: {where}"):
        read(written(tmp_path, **changes))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_nan_and_infinity_are_refused(tmp_path: Path, number: str) -> None:
    file = written(tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace("2.5", number), encoding="utf-8")
    with pytest.raises(InvalidDocumentError):
        read(file)


def test_the_error_does_not_repeat_the_value(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocumentError) as refused:
        read(written(tmp_path, stack="@everyone"))
    assert "@everyone" not in str(refused.value)


def test_a_missing_or_invalid_or_too_large_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidDocumentError, match="No such file"):
        read(tmp_path / "absent.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidDocumentError, match="Invalid JSON"):
        read(tmp_path / "bad.json")
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    with pytest.raises(InvalidDocumentError, match="the limit is 10"):
        read(written(tmp_path))
