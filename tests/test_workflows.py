"""The security rules of docs/ci.md, checked in the files of CI."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bootstrap.plan import DEPLOY_S, PREVIEW_S
from tests.stackfiles import ROOT, STACKS
from tools import github_comment

WORKFLOWS = {file.stem: file for file in sorted((ROOT / ".github/workflows").glob("*.yaml"))}
ACTIONS = sorted((ROOT / ".github/actions").glob("*/action.yaml"))
GITLAB = ROOT / ".gitlab-ci.yml"
FILES = [*WORKFLOWS.values(), *ACTIONS]
OPEN_TO_FORKS = ("ci", "diff")
WITH_CREDENTIALS = ("preview", "deploy", "drift")
SAME_REPOSITORY = "github.event.pull_request.head.repo.full_name == github.repository"
SAME_PROJECT = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID"

every_file = pytest.mark.parametrize(
    "file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}"
)


def parsed(file: Path) -> dict[str, Any]:
    return yaml.safe_load(file.read_text())


def triggers(workflow: str) -> set[str]:
    # YAML 1.1 reads the key `on` as true.
    return set(parsed(WORKFLOWS[workflow])[True])


def jobs(workflow: str) -> dict[str, dict[str, Any]]:
    return parsed(WORKFLOWS[workflow])["jobs"]


def steps(file: Path) -> list[dict[str, Any]]:
    data = parsed(file)
    if "runs" in data:
        return data["runs"]["steps"]
    return [step for job in data["jobs"].values() for step in job["steps"]]


def permissions(workflow: str) -> set[tuple[str, str]]:
    """Return the permissions of all tokens of the workflow."""
    data = parsed(WORKFLOWS[workflow])
    assert isinstance(data["permissions"], dict), (
        "the default of a repository can be write permissions"
    )
    granted = set(data["permissions"].items())
    for job in data["jobs"].values():
        granted |= set(job.get("permissions", {}).items())
    return granted


def commands(data: Any) -> Iterator[str]:
    """Yield every shell command of a GitLab file."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("script", "before_script", "after_script"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from commands(value)


@every_file
def test_every_action_is_pinned_by_commit_with_its_version_as_comment(file: Path) -> None:
    used = re.findall(r"uses: (.*)", file.read_text())
    assert len(used) == sum("uses" in step for step in steps(file))
    for text in used:
        if text != "./.github/actions/pulumi":
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", text), text


def test_an_action_has_the_same_pin_in_every_file() -> None:
    pins = {
        tuple(text.split("@"))
        for file in FILES
        for text in re.findall(r"uses: ([^.].*)", file.read_text())
    }
    assert len({name for name, _ in pins}) == len(pins), "an update forgot one of the files"


@every_file
def test_no_expression_is_part_of_a_shell_script(file: Path) -> None:
    for step in steps(file):
        assert "${{" not in step.get("run", ""), "pass values to a shell in environment variables"


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_no_workflow_runs_code_of_a_pull_request_with_write_permissions(workflow: str) -> None:
    assert "pull_request_target" not in triggers(workflow)


@pytest.mark.parametrize("workflow", OPEN_TO_FORKS)
def test_workflows_for_forks_have_no_secret_and_a_read_only_token(workflow: str) -> None:
    assert permissions(workflow) == {("contents", "read")}
    text = WORKFLOWS[workflow].read_text()
    assert "secrets." not in text
    assert "github.token" not in text


def test_every_workflow_has_a_rule() -> None:
    assert {*OPEN_TO_FORKS, *WITH_CREDENTIALS, "comment"} == set(WORKFLOWS)
    started = {name for name in WORKFLOWS if "pull_request" in triggers(name)}
    assert started == {*OPEN_TO_FORKS, "preview"}


@every_file
def test_no_checkout_persists_its_token(file: Path) -> None:
    for step in steps(file):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_comment_runs_the_code_of_the_default_branch() -> None:
    assert triggers("comment") == {"workflow_run"}
    assert permissions("comment") == {
        ("actions", "read"),
        ("contents", "read"),
        ("pull-requests", "write"),
    }
    (checkout,) = (
        step for step in steps(WORKFLOWS["comment"]) if "checkout" in step.get("uses", "")
    )
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    assert "secrets." not in WORKFLOWS["comment"].read_text()
    assert "download-artifact" not in WORKFLOWS["comment"].read_text(), (
        "tools/github_comment.py downloads the artifact with a limit"
    )


def test_comment_starts_after_diff() -> None:
    data = parsed(WORKFLOWS["comment"])
    assert data[True]["workflow_run"]["workflows"] == [parsed(WORKFLOWS["diff"])["name"]]
    assert WORKFLOWS["diff"] == ROOT / github_comment.WORKFLOW
    (upload,) = (s for s in steps(WORKFLOWS["diff"]) if "upload-artifact" in s.get("uses", ""))
    assert upload["with"]["name"] == "diff-${{ matrix.stack }}"
    assert upload["with"]["path"].endswith("/diff.json"), "the only file that the comment accepts"


def test_previews_with_credentials_run_only_for_branches_of_the_repository() -> None:
    for job in jobs("preview").values():
        assert SAME_REPOSITORY in job["if"]
        assert "||" not in job["if"], "all conditions must be true"


@pytest.mark.parametrize("workflow", WITH_CREDENTIALS)
def test_credentials_are_oidc_tokens_and_one_client_secret(workflow: str) -> None:
    assert ("id-token", "write") in permissions(workflow)
    allowed = {("contents", "read"), ("id-token", "write")}
    allowed |= {("issues", "write")} if workflow == "drift" else set()
    assert permissions(workflow) == allowed
    role = "DEPLOY" if workflow == "deploy" else "PREVIEW"
    text = WORKFLOWS[workflow].read_text()
    assert set(re.findall(r"secrets\.(\w+)", text)) == {"OCI_TOKEN_EXCHANGE_CLIENT_SECRET"}
    assert set(re.findall(r"vars\.(AWS_\w+ROLE_ARN)", text)) == {f"AWS_{role}_ROLE_ARN"}


def test_only_jobs_with_an_environment_change_an_account() -> None:
    for workflow in WORKFLOWS:
        for job in jobs(workflow).values():
            used = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("./")]
            if any(options["command"] != "preview" for options in used):
                assert workflow == "deploy"
                assert [options["stack"] for options in used] == [job["environment"]]
                assert job["concurrency"]["cancel-in-progress"] is False
    assert jobs("deploy")["prod"]["needs"] == "staging"
    assert triggers("deploy") == {"push"}


def test_the_credentials_of_a_deployment_last_as_long_as_its_job() -> None:
    """`up` waits for the running jobs of lanes; the role of the bootstrap allows the session."""
    for job in jobs("deploy").values():
        (options,) = (s["with"] for s in job["steps"] if s.get("uses", "").startswith("./"))
        assert int(options["role-duration-seconds"]) == job["timeout-minutes"] * 60 == DEPLOY_S
    (action,) = (parsed(file) for file in ACTIONS)
    assert int(action["inputs"]["role-duration-seconds"]["default"]) == PREVIEW_S
    (credentials,) = (
        s for s in action["runs"]["steps"] if "configure-aws-credentials@" in s.get("uses", "")
    )
    asked = credentials["with"]["role-duration-seconds"]
    assert asked == "${{ inputs.role-duration-seconds }}"


def test_the_drift_check_refreshes_and_expects_no_changes() -> None:
    (options,) = (
        s["with"] for s in steps(WORKFLOWS["drift"]) if s.get("uses", "").startswith("./")
    )
    assert (options["command"], options["refresh"], options["expect-no-changes"]) == (
        "preview",
        "true",
        "true",
    )


def test_pulumi_runs_with_the_policy_pack_and_without_outputs() -> None:
    (pulumi,) = (
        s for file in ACTIONS for s in steps(file) if "pulumi/actions" in s.get("uses", "")
    )
    assert pulumi["with"]["policyPacks"] == "policy"
    assert pulumi["with"]["policyPackConfigs"] == "policy/${{ inputs.stack }}.json"
    assert pulumi["with"]["suppress-outputs"] is True, "outputs contain kubeconfigs"
    gitlab = [text for text in commands(parsed(GITLAB)) if text.startswith("pulumi ")]
    assert len(gitlab) == 3
    for text in gitlab:
        assert re.search(r'--policy-pack policy --policy-pack-config "policy/\$\w+\.json"', text)
        assert "--suppress-outputs" in text


def test_every_shipped_stack_has_a_configuration_of_the_pack() -> None:
    assert {file.stem for file in (ROOT / "policy").glob("*.json")} == set(STACKS)


def test_deployments_have_the_cli_version_of_rehearsals() -> None:
    module = (ROOT / "packages/pulumi-rehearsal/src/pulumi_rehearsal/cli_module/go.mod").read_text()
    (pinned,) = re.findall(r"github.com/pulumi/pulumi/pkg/v3 v(\S+)", module)
    (pulumi,) = (
        s for file in ACTIONS for s in steps(file) if "pulumi/actions" in s.get("uses", "")
    )
    assert pulumi["with"]["pulumi-version"] == pinned
    assert parsed(GITLAB)[".pulumi"]["variables"]["PULUMI_VERSION"] == pinned


def test_every_make_target_that_ci_calls_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [step["run"] for file in FILES for step in steps(file) if "run" in step]
    texts += commands(parsed(GITLAB))
    texts += [
        line for line in (ROOT / ".ci/run").read_text().splitlines() if not line.startswith("#")
    ]
    called = {
        word
        for text in texts
        for line in re.findall(r"\bmake ([^\n;&|]+)", text)
        for word in line.split()
        if "=" not in word
    }
    assert {"environment", "policy", "diff", "lint"} <= called
    assert called <= targets


@pytest.mark.parametrize("status", [0, 3])
def test_make_destroy_says_what_it_waits_for_and_what_to_do(tmp_path: Path, status: int) -> None:
    pulumi = tmp_path / "pulumi"
    pulumi.write_text(f'#!/bin/sh\necho "pulumi $*"\nexit {status}\n')
    pulumi.chmod(0o700)
    done = subprocess.run(
        ["make", "--old-file=.venv/.complete", "destroy", "STACK=prod"],  # noqa: S607
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "pulumi destroy --stack prod\n"
    said = done.stderr.splitlines()
    assert "waits for the running jobs of each lane, at most its drain_minutes" in said[0]
    if status:
        assert "run it again: it waits on" in said[1]
        assert said[2].endswith(f"Error {status}"), "the status is that of pulumi"
    assert (done.returncode != 0, len(said)) == (status != 0, 3 if status else 1)


@pytest.mark.parametrize("workflow", ["diff", "preview", "drift"])
def test_every_shipped_stack_is_in_the_matrix(workflow: str) -> None:
    (job,) = jobs(workflow).values()
    assert tuple(job["strategy"]["matrix"]["stack"]) == STACKS
    assert job["strategy"]["fail-fast"] is False, (
        "an error in one stack must not prevent the other diff"
    )


def test_every_shipped_stack_is_deployed_and_commented_on() -> None:
    assert sorted(jobs("deploy")) == list(STACKS)
    (command,) = (s["run"] for s in steps(WORKFLOWS["comment"]) if "tools." in s.get("run", ""))
    assert tuple(command.split()[-len(STACKS) :]) == STACKS


def test_gitlab_has_every_stack_too() -> None:
    data = parsed(GITLAB)
    for job in ("diff", "preview", "drift"):
        assert data[job]["parallel"]["matrix"] == [{"STACK": list(STACKS)}]
    assert tuple(data["note"]["script"][-1].split()[-len(STACKS) :]) == STACKS
    deployed = {
        name for name, job in data.items() if job.__class__ is dict and "environment" in job
    }
    assert deployed == set(STACKS)
    assert [rule["when"] for rule in data["prod"]["rules"]] == ["manual"]


def test_gitlab_gives_tokens_only_to_merge_requests_of_the_project() -> None:
    data = parsed(GITLAB)
    with_tokens = [
        job
        for name, job in data.items()
        if isinstance(job, dict)
        and not name.startswith(".")
        and (job.get("extends") in (".pulumi", ".deploy") or name == "note")
    ]
    assert len(with_tokens) == 5
    for job in with_tokens:
        for rule in job["rules"]:
            if "merge_request_event" in rule["if"]:
                assert SAME_PROJECT in rule["if"]
                assert "||" not in rule["if"]
    for name in ("check", "diff"):
        assert data[name]["extends"] == ".engine"
        assert "id_tokens" not in data[name]
    assert set(data[".pulumi"]["id_tokens"]) == {"AWS_ID_TOKEN", "OCI_ID_TOKEN"}


def test_the_image_of_gitlab_is_pinned_by_digest() -> None:
    assert re.fullmatch(r"[\w./:-]+@sha256:[0-9a-f]{64}", parsed(GITLAB)["default"]["image"])
