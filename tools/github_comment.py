"""Post the credential-free diffs of a workflow run at its pull request, one comment per stack.

Run by comment.yaml on the default branch's code. What a run is about is asked of the API; nothing
of the artifact decides where a comment goes.

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
from tools.hostile import ARCHIVE_LIMIT, HostileError, marker, rendered, unpacked

WORKFLOW: Final = ".github/workflows/diff.yaml"
AUTHOR: Final = "github-actions[bot]"
FINISHED: Final = frozenset({"success", "failure"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A finished run of diff.yaml, in the API's own words."""

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
    """Comment; 0 also where there is nothing to comment on, 1 where the API refuses."""
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
            print("nothing to say: no finished run of diff.yaml for a pull request")
            return 0
        number = pull_request(forge, run)
        if number is None:
            print("nothing to say: no single open pull request has this head any more")
            return 0
        for stack in options.stacks:
            print(f"{stack}: {post(forge, number, stack, body(forge, run, stack))}")
    except ForgeError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    return 0


def read_run(forge: Forge, number: int) -> Run | None:
    """Return the run, None where it is not a finished run of diff.yaml for a pull request."""
    run = forge.get(f"/actions/runs/{number}")
    # `path` may carry "@ref"; head_repository is null once a fork is deleted.
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
    """Return the number of the open pull request whose head is the run's.

    None where its head has moved on (a newer run comments), and where two of them share the head:
    the diff is against the base of one, and the run does not say of which.
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
    """Return the comment: the diff, or the fixed words that there is none."""
    try:
        artifact = _artifact(forge, run, stack)
        if artifact is None:
            raise HostileError(f"the run ended with {run.conclusion} and left no diff")
        archive = forge.download(f"/actions/artifacts/{artifact}/zip", ARCHIVE_LIMIT)
        return rendered(unpacked(archive), marker=marker(stack), run=run.url)
    except HostileError as error:
        print(f"{stack}: {error}")
        return (
            f"{marker(stack)}\n### {stack}: no diff\n\nThe rehearsal of this stack failed; "
            f"[its run]({run.url}) says why."
        )


def _artifact(forge: Forge, run: Run, stack: str) -> int | None:
    """Return the artifact's id, None without one. Raises HostileError for a large one."""
    named: list[dict[str, Any]] = [
        one
        for one in forge.pages(f"/actions/runs/{run.id}/artifacts", key="artifacts")
        if one["name"] == f"diff-{stack}" and not one["expired"]
    ]
    if not named:
        return None
    if named[-1]["size_in_bytes"] > ARCHIVE_LIMIT:
        raise HostileError(f"the artifact is larger than {ARCHIVE_LIMIT} bytes")
    return int(named[-1]["id"])


def post(forge: Forge, number: int, stack: str, text: str) -> str:
    """Edit the comment of that stack, or write the first one; return which."""
    for comment in forge.pages(f"/issues/{number}/comments"):
        # Anybody can write the marker; only a workflow's token writes as this author.
        author: dict[str, Any] | None = comment["user"]
        own = author is not None and author["login"] == AUTHOR
        if own and str(comment["body"]).startswith(marker(stack)):
            forge.send("PATCH", f"/issues/comments/{comment['id']}", {"body": text})
            return f"comment {comment['id']} edited"
    made = forge.send("POST", f"/issues/{number}/comments", {"body": text})
    return f"comment {made['id']} written"


if __name__ == "__main__":
    sys.exit(main())
