"""Post the diffs of a workflow run as comments on its pull request, one per stack.

comment.yaml runs this from the default branch. The pull request comes from the API, never from the
untrusted artifact.

Source: https://docs.github.com/en/rest/actions/workflow-runs, .../actions/artifacts,
.../pulls/pulls and .../issues/comments.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.forge import Forge, ForgeError
from tools.untrusted import ARCHIVE_LIMIT, ArtifactError, marker, rendered, unpacked

WORKFLOW: Final = ".github/workflows/diff.yaml"
AUTHOR: Final = "github-actions[bot]"
FINISHED: Final = frozenset({"success", "failure"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A finished run of diff.yaml; the fields are those of the API."""

    id: int
    conclusion: str
    url: str
    head_sha: str
    head_branch: str
    head_owner: str
    head_repository: int


def main(
    arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ
) -> int:
    """Write the comments. Return 1 if the API refuses, otherwise 0, also without a comment."""
    parser = argparse.ArgumentParser(prog="python -m tools.github_comment", description=__doc__)
    parser.add_argument("--run", type=int, required=True, help="id of the run of diff.yaml")
    parser.add_argument("stacks", nargs="+", help="stacks of the matrix in diff.yaml")
    options = parser.parse_args(arguments)
    repository = environment["GITHUB_REPOSITORY"]
    forge = Forge(
        f"{environment['GITHUB_API_URL']}/repos/{repository}",
        {
            "Authorization": f"Bearer {environment['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    try:
        run = read_run(forge, options.run)
        if run is None:
            print("no comment: this is not a finished run of diff.yaml for a pull request")
            return 0
        number = pull_request(forge, run)
        if number is None:
            print("no comment: the commit is not the head of exactly one open pull request")
            return 0
        for stack in options.stacks:
            print(f"{stack}: {post(forge, number, stack, body(forge, run, stack))}")
    except ForgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def read_run(forge: Forge, number: int) -> Run | None:
    """Return the run; `None` if it is not a finished run of diff.yaml for a pull request."""
    run = forge.get(f"/actions/runs/{number}")
    # `path` may end with "@ref"; head_repository is null after a fork is deleted.
    workflow = str(run["path"]).partition("@")[0]
    if (
        run["event"] != "pull_request"
        or workflow != WORKFLOW
        or run["conclusion"] not in FINISHED
        or run["head_repository"] is None
    ):
        return None
    return Run(
        id=run["id"],
        conclusion=run["conclusion"],
        url=run["html_url"],
        head_sha=run["head_sha"],
        head_branch=run["head_branch"],
        head_owner=run["head_repository"]["owner"]["login"],
        head_repository=run["head_repository"]["id"],
    )


def pull_request(forge: Forge, run: Run) -> int | None:
    """Return the number of the open pull request with the head of the run.

    `None` if the head has changed since, because a newer run will comment, and if two pull requests
    have the same head: the run does not show against which base the diff is.
    """
    head = f"{run.head_owner}:{run.head_branch}"
    found = [
        one["number"]
        for one in forge.pages("/pulls", state="open", head=head)
        if one["head"]["sha"] == run.head_sha
        and one["head"]["repo"] is not None
        and one["head"]["repo"]["id"] == run.head_repository
    ]
    return found[0] if len(found) == 1 else None


def body(forge: Forge, run: Run, stack: str) -> str:
    """Return the comment: the diff, or a fixed text if there is none."""
    try:
        artifact = _artifact(forge, run, stack)
        if artifact is None:
            raise ArtifactError(f"the run ended with {run.conclusion} and has no diff")
        archive = forge.download(f"/actions/artifacts/{artifact}/zip", ARCHIVE_LIMIT)
        return rendered(unpacked(archive), marker=marker(stack), run=run.url)
    except ArtifactError as error:
        print(f"{stack}: {error}")
        return (
            f"{marker(stack)}\n### {stack}: no diff\n\nThe rehearsal of this stack failed; "
            f"see [the run]({run.url}) for the reason."
        )


def _artifact(forge: Forge, run: Run, stack: str) -> int | None:
    """Return the id of the artifact; `None` without one. Raises ArtifactError for a large one."""
    named: list[dict[str, Any]] = [
        one
        for one in forge.pages(f"/actions/runs/{run.id}/artifacts", key="artifacts")
        if one["name"] == f"diff-{stack}" and not one["expired"]
    ]
    if not named:
        return None
    if named[-1]["size_in_bytes"] > ARCHIVE_LIMIT:
        raise ArtifactError(f"the artifact is larger than {ARCHIVE_LIMIT} bytes")
    return int(named[-1]["id"])


def post(forge: Forge, number: int, stack: str, text: str) -> str:
    """Edit the comment of that stack or write a new one. Return which comment it is."""
    for comment in forge.pages(f"/issues/{number}/comments"):
        # Every user can write the marker, but only the token of a workflow has this author.
        author: dict[str, Any] | None = comment["user"]
        own = author is not None and author["login"] == AUTHOR
        if own and str(comment["body"]).startswith(marker(stack)):
            forge.send("PATCH", f"/issues/comments/{comment['id']}", {"body": text})
            return f"comment {comment['id']} edited"
    created = forge.send("POST", f"/issues/{number}/comments", {"body": text})
    return f"comment {created['id']} written"


if __name__ == "__main__":
    sys.exit(main())
