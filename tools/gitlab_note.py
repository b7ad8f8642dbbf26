"""Post the diffs of a pipeline as notes on its merge request, one per stack.

The `note` job of .gitlab-ci.yml runs this, only for merge requests within the project.

Source: https://docs.gitlab.com/api/notes/ and
https://docs.gitlab.com/ci/variables/predefined_variables/.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.forge import Forge, ForgeError
from tools.untrusted import MEMBER_LIMIT, ArtifactError, marker, rendered


def main(
    arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ
) -> int:
    """Write the notes. Return 1 if the API refuses or a diff cannot be rendered, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m tools.gitlab_note", description=__doc__)
    parser.add_argument("--diffs", type=Path, required=True, help="folder of <stack>/diff.json")
    parser.add_argument("stacks", nargs="+", help="stacks of the matrix in .gitlab-ci.yml")
    options = parser.parse_args(arguments)
    token = environment.get("GITLAB_NOTE_TOKEN", "")
    if not token:
        print("no notes: GITLAB_NOTE_TOKEN is not set; docs/ci.md describes the token")
        return 0
    project, request = environment["CI_PROJECT_ID"], environment["CI_MERGE_REQUEST_IID"]
    forge = Forge(
        f"{environment['CI_API_V4_URL']}/projects/{project}/merge_requests/{request}",
        {"Authorization": f"Bearer {token}"},
    )
    own = Forge(environment["CI_API_V4_URL"], {"Authorization": f"Bearer {token}"})
    try:
        author = int(own.get("/user")["id"])
        failed = False
        for stack in options.stacks:
            try:
                file = options.diffs / stack / "diff.json"
                text = body(file, stack, environment["CI_PIPELINE_URL"])
            except ArtifactError as error:
                print(f"error: {stack}: {error}", file=sys.stderr)
                failed = True
            else:
                print(f"{stack}: {post(forge, author, stack, text)}")
    except ForgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return int(failed)


def body(file: Path, stack: str, run: str) -> str:
    """Return the note for a diff file. Raises ArtifactError if it cannot be rendered."""
    if not file.is_file() or file.stat().st_size > MEMBER_LIMIT:
        raise ArtifactError(f"{file} is missing or larger than {MEMBER_LIMIT} bytes")
    return rendered(file.read_bytes(), marker=marker(stack), run=run)


def post(forge: Forge, author: int, stack: str, text: str) -> str:
    """Edit the token user's note of that stack or write a new one. Return which note it is."""
    for note in forge.pages("/notes"):
        if note["author"]["id"] == author and note["body"].startswith(marker(stack)):
            forge.send("PUT", f"/notes/{note['id']}", {"body": text})
            return f"note {note['id']} edited"
    created = forge.send("POST", "/notes", {"body": text})
    return f"note {created['id']} written"


if __name__ == "__main__":
    sys.exit(main())
