"""docs/troubleshooting.md: the finding of each row is reported for a stack with that fault."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi_rehearsal.standin.kubernetes.gpu import ENFORCE

from fleet.checks.__main__ import BEGIN, FILE
from fleet.checks.judge import IDENTIFIERS, judge
from fleet.checks.view import View
from fleet.config.load import parse
from fleet.findings import Finding
from fleet.plan import build
from tests.cases import for_each
from tests.fleet.samples import ROOT, TODAY
from tests.planted_faults import DAYS, FAULTS, cards, on_eks, on_gitlab, on_oke, on_site

TEXT = FILE.read_text(encoding="utf-8").partition(BEGIN)[0]
HEADS = (["cause", "source", "finding", "path"], ["problem", "finding", "path"])
EXAMPLE_PATHS = {"policy/eu.json"}
"""Files that a user would add."""

REHEARSED = "the namespace of the device plugin does not admit its hostPath volume"


@dataclass(frozen=True, kw_only=True)
class Row:
    cause: str
    finding: str
    path: str
    source: str

    @property
    def is_reported(self) -> bool:
        return self.finding not in ("by design", "not covered")

    def matches(self, finding: Finding) -> bool:
        """Whether a finding has the row's identifier (or is an error of form) and path."""
        named = re.fullmatch(r"`([a-z0-9-]+)`, (error|warning|note)", self.finding)
        if named is None:
            assert self.finding == "refused", f"{self.cause}: {self.finding}"
            right = finding.rule not in IDENTIFIERS
        else:
            right = (finding.rule, finding.severity) == named.groups()
        (end,) = re.findall(r"^`(\S+)`$", self.path)
        pattern = re.sub(r"<(cluster|pool|lane)>", "[^.]+", re.escape(end))
        return right and re.fullmatch(rf"(.+\.)?{pattern}", finding.path) is not None


def rows() -> Iterator[Row]:
    """Read the tables with these heads; every line of a table has as many cells as its head."""
    head: list[str] = []
    for line in TEXT.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif cells in HEADS:
            head = cells
        elif head and set(cells) != {"---"}:
            row = dict(zip(head, cells, strict=True))
            cause = row.get("cause") or row["problem"]
            yield Row(
                cause=cause, finding=row["finding"], path=row["path"], source=row.get("source", "")
            )


ROWS = {row.cause: row for row in rows()}


def findings_of(data: dict[str, Any], cause: str = "") -> tuple[Finding, ...]:
    stack, findings = parse(data)
    if stack is None:
        return findings
    today = DAYS.get(cause, TODAY)
    return tuple(judge(View(stack=stack, plan=build(stack), today=today)))


def test_every_row_has_a_cause_of_its_own() -> None:
    causes = [row.cause for row in rows()]
    assert len(causes) > 100, "the tables are read"
    assert len(set(causes)) == len(causes)


def test_every_row_with_a_finding_has_a_fault_and_every_fault_a_row() -> None:
    assert {row.cause for row in ROWS.values() if row.is_reported} == {*FAULTS, REHEARSED}


@for_each("cause", FAULTS)
def test_the_finding_of_the_row_is_reported(cause: str) -> None:
    findings = findings_of(FAULTS[cause], cause)
    found = [finding for finding in findings if ROWS[cause].matches(finding)]
    assert found, f"{ROWS[cause].finding} at {ROWS[cause].path} is not among {findings}"
    rules = {finding.rule for finding in found}
    if not rules <= {*IDENTIFIERS}:
        rules |= {finding.rule for finding in findings if finding.rule not in IDENTIFIERS}
    others = [one for one in findings if one.severity == "error" and one.rule not in rules]
    assert not others, "a stack with one fault has no other error"


@for_each("data", [on_eks(), on_gitlab(), on_oke(), on_site(cards())])
def test_without_a_fault_there_are_only_notes(data: dict[str, Any]) -> None:
    assert [one for one in findings_of(data) if one.severity != "note"] == []


def test_the_row_of_the_rehearsal_has_the_label_that_the_stand_in_requires() -> None:
    """The tests of packages/pulumi-rehearsal show that it refuses a namespace without the label."""
    assert ROWS[REHEARSED].finding == "rehearsal"
    assert f"{ENFORCE}=privileged" in ROWS[REHEARSED].path


@for_each("cause", [row.cause for row in ROWS.values() if not row.is_reported])
def test_a_row_without_a_finding_has_a_reason(cause: str) -> None:
    row = ROWS[cause]
    if row.finding == "by design":
        file, _, reason = row.path.partition(": ")
        assert (ROOT / file.strip("`")).is_file(), f"{file} does not exist"
        assert len(reason) > 10, "a file without a reason explains nothing"
    else:
        assert len(row.path) > 20


@for_each(
    "message",
    [
        "is not gone yet: it waits for its running jobs",
        "ARC did not register the scale",
        "did not start",
        "is being deleted since",
        "takes no jobs: GitHub refuses its runners as too old",
    ],
)
def test_the_messages_about_a_lane_are_those_of_the_program(message: str) -> None:
    assert message in TEXT
    runners = ROOT / "components" / "runners"
    sources = (runners / name for name in ("draining.py",))
    assert message in " ".join(file.read_text(encoding="utf-8") for file in sources)


def test_the_readme_links_to_changes_while_jobs_run() -> None:
    assert "\n# Changes while jobs run\n" in TEXT
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("docs/troubleshooting.md#changes-while-jobs-run") == 2


def test_every_seed_project_has_rows() -> None:
    sources = " ".join(row.source for row in ROWS.values())
    assert all(f"{seed}: " in sources for seed in ("GF", "SKA", "PyTorch", "Trainer"))


def test_every_symptom_has_commands_to_run() -> None:
    first = TEXT.partition("# Problems that the five")[2].partition("# Problems that users")[0]
    for section in re.split(r"^## ", first, flags=re.MULTILINE)[1:]:
        if "Docker daemon" not in section.partition("\n")[0]:
            assert "```sh\nkubectl" in section, section.partition("\n")[0]


@for_each(
    "document", [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))], ids=lambda file: file.name
)
def test_every_path_of_the_repository_in_the_documents_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    folders = "fleet|components|stacks|rehearsal|change|bootstrap|packages|tests|tools|policy|docs"
    for path in set(re.findall(rf"`((?:{folders})/[\w./-]*)`", text)):
        assert path in EXAMPLE_PATHS or (ROOT / path).exists(), f"{document.name} names {path}"
