"""The random stand-in: values that are the same in each run."""

import re
import string

import pytest
from pulumi_rehearsal.standin import random, schema
from pulumi_rehearsal.standin.kind import UNKNOWN, Call, Invalid
from pulumi_rehearsal.standin.world import World

KINDS = {kind.token.rpartition(":")[2]: kind for kind in random.PACKAGE.kinds}


def made(type_name, inputs, *, name="suffix", generation=0):
    kind = KINDS[type_name]
    call = Call(
        urn=f"urn::{name}",
        type=kind.token,
        name=name,
        inputs=inputs,
        scope="random",
        generation=generation,
    )
    checked = kind.check(call, None)
    return kind.create(
        Call(
            urn=call.urn,
            type=call.type,
            name=name,
            inputs=checked,
            scope="random",
            generation=generation,
        ),
        World(),
    )


CASES = {
    "RandomId": {"byteLength": 4},
    "RandomString": {"length": 12},
    "RandomPassword": {"length": 20},
}


@pytest.mark.parametrize(("type_name", "inputs"), CASES.items(), ids=CASES)
def test_value_is_the_same_in_each_run(type_name, inputs):
    assert made(type_name, inputs) == made(type_name, inputs)


@pytest.mark.parametrize(("type_name", "inputs"), CASES.items(), ids=CASES)
def test_outputs_include_the_computed_ones(type_name, inputs):
    _, outputs = made(type_name, inputs)
    assert KINDS[type_name].computed <= outputs.keys()


@pytest.mark.parametrize("type_name", CASES)
def test_sdk_has_the_type(type_name):
    assert schema.args_class(KINDS[type_name].token) is not None


def test_other_resources_and_replacements_have_other_values():
    first, second, third = (
        made("RandomId", {"byteLength": 8}),
        made("RandomId", {"byteLength": 8}, name="other"),
        made("RandomId", {"byteLength": 8}, generation=1),
    )
    assert len({first[0], second[0], third[0]}) == 3


def test_encodings_of_an_id_have_its_prefix():
    identity, outputs = made("RandomId", {"byteLength": 2, "prefix": "ci-"})
    assert re.fullmatch(r"ci-[0-9a-f]{4}", outputs["hex"])
    assert int(outputs["dec"].removeprefix("ci-")) == int(outputs["hex"].removeprefix("ci-"), 16)
    assert (outputs["b64Url"], len(identity)) == (f"ci-{identity}", 3)


def test_string_contains_only_the_chosen_classes():
    _, outputs = made(
        "RandomString", {"length": 64, "special": False, "upper": False, "minNumeric": 4}
    )
    assert set(outputs["result"]) <= set(string.ascii_lowercase + string.digits)
    assert sum(letter.isdigit() for letter in outputs["result"]) >= 4


def test_password_is_secret():
    assert KINDS["RandomPassword"].secret_outputs == {"bcryptHash", "result"}


def test_passwords_have_unique_ids():
    assert (
        made("RandomPassword", {"length": 8})[0]
        != made("RandomPassword", {"length": 8}, name="b")[0]
    )


@pytest.mark.parametrize(
    ("type_name", "inputs", "path"),
    [
        ("RandomId", {"byteLength": 0}, "byteLength"),
        ("RandomId", {}, "byteLength"),
        ("RandomString", {"length": 0}, "length"),
        ("RandomString", {"length": 3, "minUpper": 4}, "length"),
        (
            "RandomString",
            {"length": 3, "upper": False, "lower": False, "numeric": False, "special": False},
            "length",
        ),
    ],
    ids=[
        "no bytes",
        "a length that is missing",
        "an empty string",
        "minimums that do not fit",
        "no characters at all",
    ],
)
def test_check_refuses(type_name, inputs, path):
    with pytest.raises(Invalid) as caught:
        made(type_name, inputs)
    assert path in dict(caught.value.problems)


def test_check_accepts_an_unknown_length():
    call = Call(urn="u", type="", name="n", inputs={"byteLength": UNKNOWN}, scope="random")
    assert KINDS["RandomId"].check(call, None) == {"byteLength": UNKNOWN}
