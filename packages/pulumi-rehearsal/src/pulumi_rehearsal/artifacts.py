"""The files that a rehearsal leaves: `report.md`, `preview.json`, `state.json`, `engine.log`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi_rehearsal.engine import Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One command of the engine; `verdict` summarises what it did."""

    title: str
    verdict: str
    outcome: Outcome


class Artifacts:
    """The folder of one rehearsal, emptied when it begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def files(self) -> list[Path]:
        """The files written so far."""
        return sorted(path for path in self.folder.iterdir() if path.is_file())

    def preview(self, outcome: Outcome) -> None:
        """Keep the output of `pulumi preview --json`, if it is JSON."""
        text = "\n".join(outcome.text)
        try:
            digest = json.loads(text[text.index("{") :])
        except ValueError:
            return
        self._json("preview.json", digest)

    def state(self, exported: dict[str, Any]) -> None:
        """Keep the state after `up`."""
        self._json("state.json", exported)

    def log(self, phase: Phase, *, with_text: bool = True) -> None:
        """Add the output of one phase to the log."""
        outcome = phase.outcome
        lines = [f"== {phase.title}: {phase.verdict} ({outcome.seconds:.1f} s)"]
        if with_text:
            lines += outcome.text
        else:
            lines += [str(change) for change in outcome.changes]
            lines += [f"warning: {warning}" for warning in outcome.warnings]
        lines += [f"error: {complaint}" for complaint in outcome.complaints]
        self.note(lines)

    def note(self, lines: Iterable[str]) -> None:
        """Add lines to the log."""
        with (self.folder / "engine.log").open("a", encoding="utf-8") as log:
            log.writelines(f"{line}\n" for line in lines)

    def report(
        self,
        *,
        title: str,
        cli: str,
        phases: Sequence[Phase],
        problems: Sequence[str],
        warnings: Sequence[str],
        waits: Sequence[str],
        resources: Sequence[tuple[str, int]],
        notes: str,
    ) -> None:
        """Write `report.md`; `notes` is Markdown to append."""
        verdict = "passed" if not problems else "failed"
        lines = [f"# Rehearsal of {title}: {verdict}", "", f"Pulumi {cli}.", ""]
        lines += ["| Phase | Result | Seconds |", "|---|---|---:|"]
        lines += [f"| {p.title} | {p.verdict} | {p.outcome.seconds:.1f} |" for p in phases]
        lines += _section("Problems", [f"- {_indented(problem)}" for problem in problems])
        lines += _section("Warnings", [f"- {_indented(warning)}" for warning in warnings])
        lines += _section("Running jobs", [f"- {wait}" for wait in waits])
        table = [f"| `{kind}` | {count} |" for kind, count in resources]
        lines += _section("Resources after `up`", ["| Type | Count |", "|---|---:|", *table])
        lines += ["", notes] if notes else []
        (self.folder / "report.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")

    def _json(self, name: str, value: Any) -> None:
        text = json.dumps(value, indent=2, ensure_ascii=False)
        (self.folder / name).write_text(text + "\n", encoding="utf-8")


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
