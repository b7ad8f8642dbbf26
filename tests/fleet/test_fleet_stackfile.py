"""A stack file's text is read as the engine reads it."""

from __future__ import annotations

import pytest

from fleet.config.stackfile import NotAStackFile, parsed, stack_value


def test_words_that_yaml_takes_for_truth_and_dates_are_text_as_for_the_engine() -> None:
    text = "config: {gpu-runners:stack: {a: yes, b: true, c: 2026-11-21, d: off, e: 1.30}}"
    value = stack_value(text)
    assert value == {"a": "yes", "b": True, "c": "2026-11-21", "d": "off", "e": 1.3}


def test_the_value_of_the_key_is_taken_as_it_is() -> None:
    assert stack_value("config: {gpu-runners:stack: null}") is None
    assert stack_value("config: {gpu-runners:stack: [1]}") == [1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a stack file; add config:"),
        ("- a", "is not a stack file; add config:"),
        ("a: [", "is not YAML: line "),
        ("config: 3", "config has no key gpu-runners:stack"),
        ("config: {other: 1}", "config has no key gpu-runners:stack"),
        ("a: 1", "config has no key gpu-runners:stack"),
        ("config: {b: {c: 1, c: 2}}", "key 'c' is a duplicate, line 1"),
        ("config: [{c: 1, c: 2}]", "key 'c' is a duplicate, line 1"),
        ("config: &x {a: *x}", "line 1: an alias contains itself"),
    ],
)
def test_what_is_no_stack_file_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(NotAStackFile) as refused:
        stack_value(text)
    assert str(refused.value).startswith(said)


def test_an_error_quotes_no_line_of_the_file() -> None:
    with pytest.raises(NotAStackFile) as refused:
        parsed("config:\n  token: 'glrt-hidden\n")
    assert "glrt" not in str(refused.value)
