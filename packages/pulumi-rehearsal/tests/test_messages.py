"""Messages of the engine as a rehearsal prints them."""

from __future__ import annotations

from pulumi_rehearsal.engine import Complaint
from pulumi_rehearsal.messages import reasons

TRACEBACK = """
Traceback (most recent call last):
  File "/x/lib/python3.11/site-packages/pulumi/runtime/stack.py", line 237, in run
    result = func()
             ^^^^^^
  File "<frozen runpy>", line 88, in _run_code
  File "/shop/__main__.py", line 7, in <module>
    name("b")
  File "/x/lib/python3.11/site-packages/pulumi_aws/s3/bucket.py", line 9, in __init__
    raise
"""


def complaint(message: str, type: str = "", name: str = "") -> Complaint:
    return Complaint(type=type, name=name, message=message)


def test_a_bug_of_the_program_has_its_type_file_and_line() -> None:
    text = f"python inline source runtime error: 'b'{TRACEBACK}KeyError: 'b'"
    again = f"an unhandled error occurred: {text}"
    found = reasons([complaint(text), complaint(again)])
    assert found == ["'b' (KeyError at /shop/__main__.py, line 7)"]


def test_a_missing_package_has_a_remedy() -> None:
    text = f"No module named 'x'{TRACEBACK}ModuleNotFoundError: No module named 'x'"
    (found,) = reasons([complaint(text)])
    assert found.endswith("line 7); install the package in the environment of the rehearsal")


def test_an_error_that_the_program_words_for_its_users_has_no_location() -> None:
    text = f"Pulumi.dev.yaml: has no region{TRACEBACK}pulumi.errors.RunError: has no region"
    assert reasons([complaint(text)]) == ["Pulumi.dev.yaml: has no region"]


def test_a_wrong_property_is_named_once_and_without_its_value() -> None:
    message = (
        "aws:sqs/queue:Queue resource 'q': property tags value {map[a:{1}]} has a problem: "
        "tags: is a string, must be a mapping"
    )
    assert reasons([complaint(message, type="aws:sqs/queue:Queue", name="q")]) == [
        "aws:sqs/queue:Queue q: tags: is a string, must be a mapping"
    ]
