"""The command line of a diff, and its output on the terminal."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pulumi_rehearsal.errors import RehearsalError
from rich.console import Console

from change import make as maker
from change import terminal
from change.__main__ import main
from change.document import Document
from change.files import Result
from change.revision import WrongBaseError
from rehearsal.project import ROOT
from tests.change.diffs import diff, group, prop, resource


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stands for the making of a diff; `answer` is what comes of it."""
    seen: dict[str, Any] = {"answer": RehearsalError("enough [seen]")}

    def make(config: Path, ref: str | None, **more: Any) -> Result:
        seen.update(config=config, ref=ref, exact=more["exact"])
        answer = seen["answer"]
        if isinstance(answer, Document):
            return Result(document=answer, engine_output=("engine output",), folder=ROOT / "left")
        raise answer

    monkeypatch.setattr(maker, "make", make)
    return seen


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (ROOT / "Pulumi.staging.yaml", None, False)),
        (["--stack", "prod", "--base", "v1"], (ROOT / "Pulumi.prod.yaml", "v1", False)),
        (
            ["--config", str(ROOT / "Pulumi.prod.yaml"), "--exact"],
            (ROOT / "Pulumi.prod.yaml", None, True),
        ),
    ],
)
def test_the_options_choose_file_and_base(
    asked: dict[str, Any], arguments: list[str], expected: tuple[Path, str | None, bool]
) -> None:
    assert main(arguments) == 1
    assert (asked["config"], asked["ref"], asked["exact"]) == expected


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (diff(), 0),
        (diff(problem="the base is broken"), 0),
        (diff(refused=("no",)), 1),
        (RehearsalError("no"), 1),
        (OSError("disk"), 1),
        (WrongBaseError("no"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_outcome_has_its_exit_code(asked: dict[str, Any], answer: object, code: int) -> None:
    asked["answer"] = answer
    assert main([]) == code


def test_the_bootstrap_is_refused_with_what_to_run_instead(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--project", "bootstrap"])
    assert raised.value.code == 2
    assert "only the fleet has diffs" in capsys.readouterr().err
    assert "config" not in asked


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], '--stack "staging"'),
        (["STACK=prod", "BASE=HEAD~1"], '--stack "prod" --base "HEAD~1"'),
        (["CONFIG=examples/a.yaml", "EXACT=1"], '--config "examples/a.yaml" --exact'),
        (["PROJECT=bootstrap"], '--stack "ci" --project "bootstrap"'),
    ],
)
def test_make_passes_its_variables(given: list[str], expected: str) -> None:
    command = ["make", "--dry-run", "--old-file=.venv/.complete", "diff", *given]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(  # noqa: S603
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f".venv/bin/python -m change {expected}"


def shown(document: Document, capsys: pytest.CaptureFixture[str]) -> str:
    made = Result(document=document, engine_output=("engine output",), folder=ROOT / "left")
    terminal.show(made, Console(width=200))
    return capsys.readouterr().out


def test_the_terminal_shows_alerts_first_and_again_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    size = prop(old=1, new=2)
    document = diff(
        refused=("because\n  of this",),
        subjects=[
            group("replace", called_out=True, causes=[prop(replaces=True, old=1, new=2)]),
            group("update", name="cpu", causes=[size], resources=[resource(properties=[size])]),
        ],
        counts={"replace": 1, "update": 1},
        settings=[{"path": "clusters.ci.eks.pools.t4.max_size", "change": "update", "new": 2}],
    )
    text = shown(document, capsys)
    order = [
        "refused: because\n  of this\n",
        "! pool t4 of ci is REPLACED (scalingConfig.maxSize: 1 -> 2): ",
        "clusters.ci.eks.pools.t4.max_size: nothing -> 2",
        "pool cpu of ci is changed because of other changes",
        "engine output",
        "1 replace, 1 update, 7 same",
        "see left/",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    end = text[text.index("see left/") :]
    assert "refused: because" in end, "hundreds of lines of the engine are before it"
    assert "! pool t4 of ci is REPLACED" in end


def test_control_characters_in_names_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(diff(subjects=[group(name="\x1b[2J[bold]t4")]), capsys)
    assert "\x1b" not in text
    assert "[bold]t4" in text


def test_no_change_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(diff(), capsys)
    assert "no changes, 7 resources the same" in text
    assert "the stack file" not in text
