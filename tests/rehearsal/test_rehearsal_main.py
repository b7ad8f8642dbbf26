"""The command line, and the messages that it prints for errors."""

from pathlib import Path
from typing import Any

import pytest
from pulumi_rehearsal import Busy
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.standin.faults import Fault

from rehearsal import run
from rehearsal.__main__ import main
from rehearsal.project import PROJECTS, ROOT


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def rehearse(config: Path, **more: Any) -> None:
        seen.update(config=config, **more)
        raise RehearsalError("enough [seen]")

    monkeypatch.setattr(run, "rehearse", rehearse)
    return seen


@pytest.mark.parametrize(
    ("arguments", "config", "to"),
    [
        ([], ROOT / "Pulumi.staging.yaml", ()),
        (["--stack", "prod"], ROOT / "Pulumi.prod.yaml", ()),
        (["--project", "bootstrap"], ROOT / "bootstrap" / "Pulumi.ci.yaml", ()),
        (["--project", "bootstrap", "--stack", "x"], ROOT / "bootstrap" / "Pulumi.x.yaml", ()),
        (["--config", "a/b.yaml"], Path("a/b.yaml"), ()),
        (["--from", "a.yaml", "--to", "b.yaml"], Path("a.yaml"), Path("b.yaml")),
    ],
)
def test_the_options_choose_the_stack_file(
    asked: dict[str, Any], arguments: list[str], config: Path, to: Path | None
) -> None:
    assert main(arguments) == 1
    assert (asked["config"], asked["to"]) == (config, to)


@pytest.mark.parametrize("name", PROJECTS)
def test_every_project_can_be_chosen(asked: dict[str, Any], name: str) -> None:
    main(["--project", name])
    assert asked["project"] is PROJECTS[name]
    assert asked["config"].is_file(), "its own stack file is the default"


def test_failures_and_stalls_are_handed_on(asked: dict[str, Any]) -> None:
    main(["--fail", "pool", "--fail", "vpc:delete", "--stall", "a", "--stall", "b:5"])
    assert asked["faults"] == [
        Fault(name="pool"),
        Fault(name="vpc", steps=("delete",)),
        Fault(name="a", seconds=30),
        Fault(name="b", seconds=5),
    ]


def test_running_jobs_are_handed_on(asked: dict[str, Any]) -> None:
    main(["--busy", "gpu-*", "--busy", "cpu:90"])
    assert asked["busy"] == [Busy("gpu-*", minutes=30), Busy("cpu", minutes=90)]


def test_a_policy_pack_is_handed_on(asked: dict[str, Any]) -> None:
    main([])
    assert asked["policy"] is None
    main(["--policy", "a/pack"])
    assert asked["policy"] == Path("a/pack")


def test_a_refusal_is_one_line_without_a_traceback(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 1
    assert capsys.readouterr().out == "refused: enough [seen]\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "a.yaml"], "--from and --to go together"),
        (["--to", "a.yaml"], "--from and --to go together"),
        (["--stack", "a", "--config", "b"], "not allowed with argument"),
        (["--fail", "pool:creation"], "one of create, update, delete"),
        (["--stall", "pool:long"], "whole number of seconds"),
        (["--busy", "gpu:long"], "whole number of minutes"),
    ],
)
def test_wrong_options_are_explained(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert words in capsys.readouterr().err


def test_an_interrupt_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*given: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "rehearse", interrupted)
    assert main([]) == 130
    assert "interrupted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no such file"),
        ("config: {a: 1, a: 2}\n", "key 'a' is a duplicate, line 1"),
        ("config: [\n", "is not YAML: line 2"),
        ("config:\n", "config has no key gpu-runners:stack"),
    ],
)
def test_a_bad_file_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, words: str
) -> None:
    file = tmp_path / "bad.yaml"
    if text is not None:
        file.write_text(text)
    assert main(["--config", str(file)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"refused: {file}")
    assert words in out
    assert out.count("\n") == 1
