import copy
import io
import json
import zipfile
from typing import Any

import pytest

from tests.tools.fake_forge import FakeForge
from tools import github_comment
from tools.untrusted import ARCHIVE_LIMIT, marker

REPOSITORY = "/repos/example-org/gpu-runners"
RUN = {
    "id": 7,
    "event": "pull_request",
    "path": ".github/workflows/diff.yaml",
    "conclusion": "success",
    "html_url": "https://github.com/example-org/gpu-runners/actions/runs/7",
    "head_sha": "a" * 40,
    "head_branch": "resize",
    "head_repository": {"id": 99, "owner": {"login": "contributor"}},
}
PULL = {"number": 3, "head": {"sha": "a" * 40, "repo": {"id": 99}}}
BOT = {"login": "github-actions[bot]"}

pytestmark = pytest.mark.usefixtures("renderer")


def artifact(stack: str, number: int, **changed: Any) -> dict[str, Any]:
    created = {"id": number, "name": f"diff-{stack}", "size_in_bytes": 10, "expired": False}
    return {**created, **changed}


def archive(text: str, stack: str = "prod") -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as opened:
        opened.writestr("diff.json", json.dumps({"text": text, "stack": stack}))
    return written.getvalue()


@pytest.fixture
def github(forge: FakeForge) -> FakeForge:
    answers = {
        "/actions/runs/7": copy.deepcopy(RUN),
        "/pulls": [copy.deepcopy(PULL)],
        "/actions/runs/7/artifacts": {"artifacts": [artifact("prod", 11)]},
        "/actions/artifacts/11/zip": archive("2 to create"),
        "/issues/3/comments": [],
    }
    forge.answers = {("GET", f"{REPOSITORY}{path}"): answer for path, answer in answers.items()}
    forge.answers["POST", f"{REPOSITORY}/issues/3/comments"] = {"id": 21}
    forge.answers["PATCH", f"{REPOSITORY}/issues/comments/20"] = {"id": 20}
    return forge


def comment(forge: FakeForge, *stacks: str) -> int:
    environment = {
        "GITHUB_API_URL": forge.url,
        "GITHUB_REPOSITORY": "example-org/gpu-runners",
        "GITHUB_TOKEN": "ghs_a-token",
    }
    return github_comment.main(["--run", "7", *(stacks or ("prod",))], environment)


def answer(forge: FakeForge, path: str) -> Any:
    return forge.answers["GET", f"{REPOSITORY}{path}"]


def test_the_diff_of_a_fork_is_posted_on_its_pull_request(github: FakeForge) -> None:
    assert comment(github) == 0
    (written,) = github.writes()
    assert (written.method, written.path) == ("POST", f"{REPOSITORY}/issues/3/comments")
    assert written.body == {"body": f"{marker('prod')}\n2 to create"}
    (request,) = (one for one in github.requests if one.path == f"{REPOSITORY}/pulls")
    assert request.query["head"] == "contributor:resize"


def test_the_second_diff_edits_the_first_comment(github: FakeForge) -> None:
    comments = [{"id": 20, "user": BOT, "body": f"{marker('prod')}\nold"}]
    github.answers["GET", f"{REPOSITORY}/issues/3/comments"] = comments
    assert comment(github) == 0
    (written,) = github.writes()
    assert (written.method, written.path) == ("PATCH", f"{REPOSITORY}/issues/comments/20")


@pytest.mark.parametrize(
    "existing",
    [
        {"id": 20, "user": {"login": "contributor"}, "body": marker("prod")},
        {"id": 20, "user": None, "body": marker("prod")},
        {"id": 20, "user": BOT, "body": marker("staging")},
        {"id": 20, "user": BOT, "body": f"quoted: {marker('prod')}"},
        {"id": 20, "user": BOT, "body": None},
    ],
    ids=["another author", "no author", "another stack", "a quote", "no text"],
)
def test_only_the_workflows_comment_of_that_stack_is_edited(
    github: FakeForge, existing: dict[str, Any]
) -> None:
    github.answers["GET", f"{REPOSITORY}/issues/3/comments"] = [existing]
    assert comment(github) == 0
    assert [one.method for one in github.writes()] == ["POST"]


@pytest.mark.parametrize(
    "change",
    [
        {"event": "push"},
        {"path": ".github/workflows/other.yaml"},
        {"conclusion": "cancelled"},
        {"head_repository": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_run_of_another_kind_writes_no_comment(github: FakeForge, change: dict[str, Any]) -> None:
    answer(github, "/actions/runs/7").update(change)
    assert comment(github) == 0
    assert not github.writes()


@pytest.mark.parametrize(
    "pulls",
    [
        [],
        [{"number": 3, "head": {"sha": "b" * 40, "repo": {"id": 99}}}],
        [{"number": 3, "head": {"sha": "a" * 40, "repo": {"id": 98}}}],
        [{"number": 3, "head": {"sha": "a" * 40, "repo": None}}],
        [PULL, {**PULL, "number": 4}],
    ],
    ids=[
        "closed",
        "the head has changed",
        "another repository",
        "deleted repository",
        "two with one head",
    ],
)
def test_an_ambiguous_pull_request_gets_no_comment(github: FakeForge, pulls: list[Any]) -> None:
    github.answers["GET", f"{REPOSITORY}/pulls"] = pulls
    assert comment(github) == 0
    assert not github.writes()


@pytest.mark.parametrize(
    "artifacts",
    [
        [],
        [artifact("staging", 11)],
        [artifact("prod", 11, expired=True)],
        [artifact("prod", 11, size_in_bytes=ARCHIVE_LIMIT + 1)],
    ],
    ids=["none", "another stack", "expired", "too large"],
)
def test_a_stack_without_a_diff_gets_a_fixed_text(github: FakeForge, artifacts: list[Any]) -> None:
    github.answers["GET", f"{REPOSITORY}/actions/runs/7/artifacts"] = {"artifacts": artifacts}
    assert comment(github) == 0
    (written,) = github.writes()
    assert written.body["body"].startswith(marker("prod"))
    assert RUN["html_url"] in written.body["body"]
    assert "/zip" not in "".join(one.path for one in github.requests)


def test_a_diff_that_cannot_be_rendered_is_not_posted(github: FakeForge) -> None:
    github.answers["GET", f"{REPOSITORY}/actions/artifacts/11/zip"] = b"@everyone"
    assert comment(github) == 0
    (written,) = github.writes()
    assert "no diff" in written.body["body"]
    assert "everyone" not in written.body["body"]


def test_each_stack_has_its_own_comment(github: FakeForge) -> None:
    github.answers["GET", f"{REPOSITORY}/actions/runs/7/artifacts"] = {
        "artifacts": [artifact("prod", 11), artifact("staging", 12)]
    }
    github.answers["GET", f"{REPOSITORY}/actions/artifacts/12/zip"] = archive(
        "no changes", "staging"
    )
    assert comment(github, "prod", "staging") == 0
    texts = [one.body["body"] for one in github.writes()]
    assert texts == [f"{marker('prod')}\n2 to create", f"{marker('staging')}\nno changes"]


def test_an_error_of_the_api_fails_the_job(
    github: FakeForge, capsys: pytest.CaptureFixture[str]
) -> None:
    github.answers["POST", f"{REPOSITORY}/issues/3/comments"] = 403
    assert comment(github) == 1
    printed = capsys.readouterr()
    assert "status 403" in printed.err
    assert "ghs_a-token" not in printed.out + printed.err
