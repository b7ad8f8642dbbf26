import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.fake_forge import FakeForge
from tools import gitlab_note
from tools.untrusted import marker

TOKEN = "glpat-a-token"
NOTES = "/projects/5/merge_requests/3/notes"

pytestmark = pytest.mark.usefixtures("renderer")


@pytest.fixture
def gitlab(forge: FakeForge) -> FakeForge:
    forge.answers = {
        ("GET", "/user"): {"id": 42},
        ("GET", NOTES): [],
        ("POST", NOTES): {"id": 21},
        ("PUT", f"{NOTES}/20"): {"id": 20},
    }
    return forge


@pytest.fixture
def diffs(tmp_path: Path) -> Path:
    folder = tmp_path / "diffs"
    (folder / "prod").mkdir(parents=True)
    (folder / "prod" / "diff.json").write_text(json.dumps({"text": "2 to create"}))
    return folder


def note(forge: FakeForge, diffs: Path, *stacks: str, token: str = TOKEN) -> int:
    environment = {
        "CI_API_V4_URL": forge.url,
        "CI_PIPELINE_URL": "https://gitlab.com/example-org/gpu-runners/-/pipelines/7",
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "3",
        "GITLAB_NOTE_TOKEN": token,
    }
    return gitlab_note.main(["--diffs", str(diffs), *(stacks or ("prod",))], environment)


def test_the_first_diff_is_written_as_a_note(gitlab: FakeForge, diffs: Path) -> None:
    assert note(gitlab, diffs) == 0
    (written,) = gitlab.writes()
    assert (written.method, written.path) == ("POST", NOTES)
    assert written.body == {"body": f"{marker('prod')}\n2 to create"}


def test_the_second_diff_edits_the_note(gitlab: FakeForge, diffs: Path) -> None:
    gitlab.answers["GET", NOTES] = [{"id": 20, "author": {"id": 42}, "body": marker("prod")}]
    assert note(gitlab, diffs) == 0
    assert [(one.method, one.path) for one in gitlab.writes()] == [("PUT", f"{NOTES}/20")]


@pytest.mark.parametrize(
    "existing",
    [
        {"id": 20, "author": {"id": 41}, "body": marker("prod")},
        {"id": 20, "author": {"id": 42}, "body": marker("staging")},
    ],
    ids=["another author", "another stack"],
)
def test_only_the_tokens_note_of_that_stack_is_edited(
    gitlab: FakeForge, diffs: Path, existing: dict[str, Any]
) -> None:
    gitlab.answers["GET", NOTES] = [existing]
    assert note(gitlab, diffs) == 0
    assert [one.method for one in gitlab.writes()] == ["POST"]


def test_without_a_token_no_request_is_sent_and_the_reason_is_printed(
    gitlab: FakeForge, diffs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert note(gitlab, diffs, token="") == 0
    assert not gitlab.requests
    assert "GITLAB_NOTE_TOKEN" in capsys.readouterr().out


def test_a_missing_diff_fails_the_job(
    gitlab: FakeForge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert note(gitlab, tmp_path) == 1
    assert "diff.json is missing" in capsys.readouterr().err


def test_a_stack_without_a_diff_does_not_prevent_other_notes(
    gitlab: FakeForge, diffs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert note(gitlab, diffs, "broken", "prod") == 1
    assert "error: broken: " in capsys.readouterr().err
    (written,) = gitlab.writes()
    assert written.body["body"].startswith(marker("prod"))


def test_an_error_of_the_api_fails_the_job_without_printing_the_token(
    gitlab: FakeForge, diffs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gitlab.answers["GET", "/user"] = 401
    assert note(gitlab, diffs) == 1
    printed = capsys.readouterr()
    assert "status 401" in printed.err
    assert TOKEN not in printed.out + printed.err
