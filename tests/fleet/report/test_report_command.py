"""`python -m fleet.report`: its options, its exit codes, and that it needs no engine."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from change.report import main as main_with_base
from fleet.report.__main__ import main
from tests.change.repositories import committed
from tests.fleet.report.reports import report_json
from tests.fleet.samples import ROOT, loaded, shipped, shipped_stack

STAGING = ROOT / "Pulumi.staging.yaml"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    command = main_with_base if "--base" in arguments else main
    assert command(arguments) == code
    return capsys.readouterr().out


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The staging stack in a git repository of its own."""
    committed(tmp_path, {STAGING.name: STAGING.read_text()})
    return tmp_path / STAGING.name


def resize(file: Path) -> None:
    """Raise the maximum of the GPU pool to 9 nodes."""
    text, number = re.subn(r"(?s)(\n +t4:.*?max_size: )\d+", r"\g<1>9", file.read_text(), count=1)
    assert number == 1
    file.write_text(text)


def test_json_is_the_data_of_the_stack(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = printed(capsys, "--stack", "prod", "--format", "json")
    assert json.loads(text) == report_json(loaded(shipped_stack("prod")), stack="prod")


def test_a_file_anywhere_is_reported_under_the_name_of_its_stack(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    text = printed(capsys, "--config", str(file), "--format", "markdown")
    assert text.startswith("## Fleet `staging`\n")
    assert printed(capsys, "--config", str(file)).startswith("Fleet staging, ")


@pytest.mark.parametrize("style", ["terminal", "markdown", "json"])
def test_the_output_may_be_a_file(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path, style: str
) -> None:
    out = tmp_path / "report.out"
    shown = printed(capsys, "--config", str(file), "--format", style)
    assert printed(capsys, "--config", str(file), "--format", style, "--output", str(out)) == ""
    assert out.read_text(encoding="utf-8") == shown


def test_a_base_is_a_git_revision(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    resize(file)
    text = printed(capsys, "--config", str(file), "--base", "HEAD", "--format", "json")
    (pool,) = json.loads(text)["difference"]["pools"]["changed"].values()
    assert pool["max"]["new"] == 9
    page = printed(capsys, "--config", str(file), "--base", "HEAD", "--format", "markdown")
    assert page.index("## Fleet") < page.index("## Difference")
    assert "| maximum nodes |" in page
    shown = printed(capsys, "--config", str(file), "--base", "HEAD")
    assert "maximum nodes" in shown


def test_a_base_is_another_stack_file_or_a_report(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    report, older = tmp_path / "base.json", tmp_path / "older.yaml"
    older.write_text(file.read_text())
    printed(capsys, "--config", str(file), "--format", "json", "--output", str(report))
    resize(file)
    found = [
        json.loads(printed(capsys, "--config", str(file), "--base", str(base), "--format", "json"))
        for base in (report, older)
    ]
    assert found[0] == found[1]
    assert found[0]["difference"]["pools"]["changed"]


def test_a_stack_that_the_base_does_not_have_is_new(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    other = file.with_name("Pulumi.other.yaml")
    other.write_text(file.read_text())
    text = printed(capsys, "--config", str(other), "--base", "HEAD", "--format", "markdown")
    assert "There is no base: everything is new." in text


def test_a_base_that_is_refused_now_leaves_the_report(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("config:\n  gpu-runners:stack: {clusters: {ci: {eks: {}}}}\n")
    assert main_with_base(["--config", str(file), "--base", str(bad), "--format", "markdown"]) == 0
    out, err = capsys.readouterr()
    assert "## Difference" not in out
    assert "the base is refused" in err
    assert str(bad) in err


def test_a_refused_stack_file_prints_every_finding(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bad = tmp_path / "Pulumi.bad.yaml"
    text = STAGING.read_text().replace("min_size: ", "min_sizes: ").replace("region:", "regions:")
    bad.write_text(text)
    assert main(["--config", str(bad)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{bad}: ")
    assert "min_sizes" in err
    assert "regions" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("config: [", "is not YAML: line 1"),
        ("[]", "is not a stack file"),
        ("config: {}", "config has no key gpu-runners:stack"),
        ("a: 1\na: 2", "key 'a' is a duplicate, line 2 (first in line 1)"),
    ],
)
def test_a_file_that_is_no_stack_file_is_refused_with_its_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    bad = tmp_path / "Pulumi.bad.yaml"
    bad.write_text(text)
    assert main(["--config", str(bad)]) == 1
    assert capsys.readouterr().err.startswith(f"{bad}: {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of the arguments --stack --config is required"),
        (["--stack", "none-such"], "Pulumi.none-such.yaml: cannot be read"),
        (["--stack", "staging", "--format", "pdf"], "invalid choice"),
        (["--stack", "staging", "--base", "no-such-ref"], "is not a file, and BASE="),
        (["--stack", "staging", "--base=--output=x"], "is not a file, and BASE="),
        (["--stack", "staging", "--base", "tests/odd.json"], "is not a file, and BASE="),
    ],
)
def test_a_wrong_option_exits_with_2_and_the_reason(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        (main_with_base if any("base" in one for one in arguments) else main)(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[]", "{}", "no json"])
def test_a_json_base_that_is_no_report_is_refused(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path, text: str
) -> None:
    odd = tmp_path / "odd.json"
    odd.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main_with_base(["--config", str(file), "--base", str(odd)])
    assert ended.value.code == 2
    assert "is not a report that --format json wrote" in capsys.readouterr().err


def test_without_git_a_revision_is_no_base(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit):
        main_with_base(["--config", str(file), "--base", "HEAD"])
    assert "git is not on PATH; install it" in capsys.readouterr().err


def test_a_report_reads_no_secret(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stack = shipped("staging")
    stack["config"]["gpu-runners:githubAppKey"] = {"secure": "v1:abcdefghijkl:ciphertext"}
    whole = tmp_path / "Pulumi.staging.yaml"
    whole.write_text(json.dumps(stack))
    for style in ("terminal", "markdown", "json"):
        assert "ciphertext" not in printed(capsys, "--config", str(whole), "--format", style)


@pytest.mark.parametrize(("style", "more"), [("terminal", {"rich"}), ("markdown", set())])
def test_the_sdk_is_not_imported_and_rich_only_for_a_terminal(style: str, more: set[str]) -> None:
    program = (
        "import sys; from fleet.report.__main__ import main; "
        f"main(['--config', {str(STAGING)!r}, '--format', {style!r}]); "
        "print('loaded:', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run(  # noqa: S603 - constant arguments
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    packages = {*ran.stderr.partition("loaded:")[2].split()}
    assert "fleet" in packages, "otherwise the test proves nothing"
    assert packages & {"pulumi", "grpc", "google", "rich", "pulumi_aws", "pulumi_oci"} == more


def test_a_refused_file_prints_its_findings_as_json(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    file.write_text(file.read_text().replace("gpus: 1", "gpus: 99"))
    assert main(["--config", str(file), "--format", "json"]) == 1
    out, message = capsys.readouterr()
    refused = json.loads(out)
    assert refused["refused"] is True
    assert {one["rule"] for one in refused["findings"]} == {"fits"}
    assert all(one["path"] in message and one["remedy"] in message for one in refused["findings"])
    assert main(["--config", str(file), "--format", "markdown"]) == 1
    assert capsys.readouterr().out == ""
