"""Each key of a stack file, one at a time: null, of the wrong type, misspelt or left out.

One mistake gives one finding, at the path of the mistake, and no second one as a consequence.
"""

import copy
from typing import Any

from fleet.config.load import fields_at, parse
from fleet.config.stack import Stack
from fleet.findings import Path, dotted
from tests.cases import for_each
from tests.fleet.samples import every_key, places, refused

VALID = every_key()


PLACES = dict(places(VALID))
MODELS = [path for path, value in PLACES.items() if isinstance(value, dict)]
MODELS = [(), *(path for path in MODELS if fields_at(Stack, path))]


def stack_with(path: Path, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(VALID)
    holder: Any = data
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return data


def of_another_type(value: Any) -> Any:
    return "text" if isinstance(value, dict | list | bool | int) else {"a": 1}


def test_the_sample_holds_every_key_of_every_model() -> None:
    written: dict[tuple[str, ...], set[str]] = {}
    for path in MODELS:
        model = tuple(fields_at(Stack, path))
        written.setdefault(model, set()).update(PLACES[path] if path else VALID)
    assert written == {model: set(model) for model in written}, (
        "the sample must grow with the models, or a key goes untested"
    )


@for_each("path", PLACES, ids=dotted)
def test_a_null_is_one_finding_at_its_path(path: Path) -> None:
    (finding,) = parse(stack_with(path, None)).findings
    assert (finding.path, finding.message) == (dotted(path), "has no value")
    assert finding.remedy


@for_each("path", PLACES, ids=dotted)
def test_a_value_of_the_wrong_type_is_one_finding_at_its_path(path: Path) -> None:
    (finding,) = refused(stack_with(path, of_another_type(PLACES[path])))
    assert finding.path == dotted(path)
    assert finding.message.startswith("is ")
    assert finding.message != "is not valid"
    assert finding.remedy


@for_each("path", MODELS, ids=dotted)
def test_an_unknown_key_is_one_finding_that_lists_the_known_keys(path: Path) -> None:
    (finding,) = parse(stack_with((*path, "zzz"), 1)).findings
    assert (finding.path, finding.message) == (dotted((*path, "zzz")), "is not a known key")
    assert finding.remedy == f"remove it; the keys here are {', '.join(fields_at(Stack, path))}"


@for_each("path", [path for path in PLACES if path[-1] in fields_at(Stack, path[:-1])], ids=dotted)
def test_a_misspelt_key_is_one_finding_with_the_nearest_key(path: Path) -> None:
    key = str(path[-1])
    data = stack_with((*path[:-1], f"{key}x"), PLACES[path])
    holder: Any = data
    for part in path[:-1]:
        holder = holder[part]
    del holder[key]
    (finding,) = refused(data)
    assert finding.path == dotted((*path[:-1], f"{key}x"))
    assert finding.remedy == f"did you mean {key}?"


@for_each(
    "path",
    [
        path
        for path in PLACES
        if (field := fields_at(Stack, path[:-1]).get(str(path[-1]))) is not None
        and field.is_required()
    ],
    ids=dotted,
)
def test_a_missing_required_key_is_one_finding(path: Path) -> None:
    data = copy.deepcopy(VALID)
    holder: Any = data
    for part in path[:-1]:
        holder = holder[part]
    del holder[path[-1]]
    (finding,) = refused(data)
    assert (finding.path, finding.message) == (dotted(path), "is missing")
    description = fields_at(Stack, path[:-1])[str(path[-1])].description
    assert finding.remedy.startswith(("add it, like ", "add clusters "))
    assert finding.remedy.endswith(f" ({description})")
