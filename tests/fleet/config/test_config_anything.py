"""Random files give no traceback and no message with a value of the file."""

import copy
import traceback
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fleet.findings import Path, StackFileError
from tests.fleet.samples import every_key, loaded, places

VALID = every_key()


PLACES = dict(places(VALID))
# Pools are named in messages, so a lane's pools are not among the places to hide a secret.
LEAVES = [
    path
    for path, value in PLACES.items()
    if not isinstance(value, dict | list) and path[-2:-1] != ("pools",)
]


def with_values(values: dict[Path, Any]) -> dict[str, Any]:
    """The valid stack with other values; a path that an earlier one removed is skipped."""
    data = copy.deepcopy(VALID)
    for path, value in values.items():
        holder: Any = data
        try:
            for part in path[:-1]:
                holder = holder[part]
            holder[path[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    return data


def text_of_refusal(data: object) -> str:
    """Return every text printed when the data is refused, empty if it is accepted."""
    try:
        loaded(data)
    except StackFileError as error:
        return "".join([repr(error), *traceback.format_exception(error)])
    return ""


WORD = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=20)
SECRETS = st.one_of(
    st.sampled_from(["glpat-", "glrt-t1_", "ghp_", "github_pat_", "gho_"]).flatmap(
        lambda prefix: WORD.map(lambda word: prefix + word)
    ),
    WORD.map(lambda word: f"-----BEGIN RSA PRIVATE KEY-----\n{word}+/=\n-----END-----"),
    WORD.map(lambda word: f"Hunter 2 {word}"),
    WORD.map(lambda word: f"AKIA{word}/+"),
)


@given(place=st.sampled_from(LEAVES), secret=SECRETS)
def test_a_value_is_not_in_a_message(place: Path, secret: str) -> None:
    assert secret not in text_of_refusal(with_values({place: secret}))


@given(
    place=st.sampled_from([path for path, value in PLACES.items() if isinstance(value, list)]),
    secret=SECRETS,
)
def test_a_value_in_a_list_is_not_in_a_message(place: Path, secret: str) -> None:
    assert secret not in text_of_refusal(with_values({place: [secret, secret]}))


@given(values=st.dictionaries(st.sampled_from(LEAVES), SECRETS, min_size=2, max_size=8))
def test_several_values_are_not_in_a_message(values: dict[Path, str]) -> None:
    messages = text_of_refusal(with_values(dict(values)))
    assert not [secret for secret in values.values() if secret in messages]


@given(secret=SECRETS)
def test_a_token_in_place_of_a_secret_name_is_not_in_a_message(secret: str) -> None:
    place = ("clusters", "ci", "github", "app", "private_key")
    assert secret not in text_of_refusal(with_values({place: {"secret": secret}}))
    assert secret not in text_of_refusal(with_values({place: {"secrets": secret}}))
    assert secret not in text_of_refusal(with_values({place: secret}))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(data=JSON)
def test_any_json_is_accepted_or_refused(data: Any) -> None:
    text_of_refusal(data)


@given(values=st.dictionaries(st.sampled_from(list(PLACES)), JSON, min_size=1, max_size=3))
def test_a_stack_with_random_values_is_accepted_or_refused(values: dict[Path, Any]) -> None:
    text_of_refusal(with_values(values))


# A value of another place is of a right type more often than chance would have it.
@given(
    values=st.dictionaries(
        st.sampled_from(list(PLACES)), st.sampled_from(list(PLACES.values())), min_size=1
    )
)
def test_a_stack_with_exchanged_values_is_accepted_or_refused(values: dict[Path, Any]) -> None:
    text_of_refusal(with_values(values))


@given(gone=st.sets(st.sampled_from(list(PLACES)), min_size=1, max_size=4))
def test_a_stack_with_missing_parts_is_accepted_or_refused(gone: set[Path]) -> None:
    data = copy.deepcopy(VALID)
    for path in gone:
        holder: Any = data
        for part in path[:-1]:
            holder = holder.get(part, {}) if isinstance(holder, dict) else {}
        if isinstance(holder, dict):
            holder.pop(path[-1], None)
    text_of_refusal(data)


AMOUNTS = [
    path
    for path in LEAVES
    if type(PLACES[path]) is int or path[-1] in ("cpu", "memory", "disk", "shm")
]
BEYOND = [float("nan"), float("inf"), 10**30, -(10**30), "9" * 5000, "1e99"]


@given(values=st.dictionaries(st.sampled_from(AMOUNTS), st.sampled_from(BEYOND), min_size=1))
def test_numbers_beyond_all_limits_are_accepted_or_refused(values: dict[Path, Any]) -> None:
    text_of_refusal(with_values(values))
