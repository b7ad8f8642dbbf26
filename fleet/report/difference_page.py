"""The difference of two reports as Markdown: what running jobs feel, then money, then fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from fleet.report.difference import is_empty
from fleet.report.markdown import finding_line
from fleet.report.phrases import code, dollars, plain, table
from fleet.report.read import Data, count, part, rows, text, usd, words
from fleet.report.updates import SEVERE

_NAMES = {
    "kinds": "instance types",
    "min": "nodes at least",
    "max": "nodes at most",
    "made_of.image": "node image",
    "made_of.disk_gib": "disk, GiB",
    "made_of.reservation": "capacity reservation",
    "time_slices": "jobs that share a GPU",
    "least_jobs": "waiting runners",
    "most_jobs": "jobs at once",
    "write": "what to write",
    "cpu": "CPU, millicores",
    "memory": "memory, MiB",
    "disk": "disk, MiB",
    "usd_per_month.floor": "USD a month, idle",
    "usd_per_month.ceiling": "USD a month, full",
    "usd_per_job_hour.floor": "USD a job-hour, least",
    "usd_per_job_hour.ceiling": "USD a job-hour, most",
    "price.usd_per_hour": "USD an hour",
    "jobs_on_full_pools": "jobs on full pools",
    "gpu": "GPU model",
    "free.cpu_m": "free CPU, millicores",
    "free.memory_mib": "free memory, MiB",
    "free.disk_mib": "free disk, MiB",
}
_QUIET = (
    "price.kind",
    "price.date",
    "price.source",
    "gpu_memory_gb",
    "labels.",
    "shm",
    "memory_limit",
)
"""Effects that say nothing more than others beside them."""

_THINGS = (("clusters", "cluster"), ("pools", "pool"), ("lanes", "lane"))


def difference_markdown(difference: Data) -> str:
    """The difference for a pull request; headings begin at the second level."""
    if not difference.get("base"):
        return "## Difference\n\nThere is no base: everything is new.\n"
    if is_empty(difference):
        return "## Difference\n\nNothing differs in what the reports say.\n"
    blocks = (
        ["## Difference"],
        _severe(difference),
        _money(difference),
        _names(difference),
        _changed(difference),
        _new_nodes(difference),
        _effects(difference),
        _findings(difference),
    )
    return "\n\n".join("\n".join(lines) for lines in map(list, blocks) if lines) + "\n"


def _severe(difference: Data) -> Iterator[str]:
    """What running jobs feel stands at the top."""
    found = [one for one in rows(difference, "updates") if text(one, "effect") in SEVERE]
    if found:
        yield from ("**What this does to jobs that run**", "")
        yield from map(_update, found)


def _new_nodes(difference: Data) -> Iterator[str]:
    found = [one for one in rows(difference, "updates") if text(one, "effect") not in SEVERE]
    if found:
        yield from ("Without a change of nodes that run:", "")
        yield from map(_update, found)


def _update(update: Data) -> str:
    what, nodes = text(update, "what"), count(update, "nodes")
    because = words(update, "because")
    lanes = words(update, "lanes") if what != "lane" else []
    reached = f", {nodes} node{'' if nodes == 1 else 's'} at most" if what != "lane" else ""
    return (
        f"- {what} {code(text(update, 'id'))} **{plain(text(update, 'effect'))}**{reached}"
        + (f" (for {', '.join(plain(_name(one)) for one in because)})" if because else "")
        + f": {plain(text(update, 'says'))}"
        + (f"; lanes {', '.join(map(code, lanes))}" if lanes else "")
    )


def _money(difference: Data) -> Iterator[str]:
    money, gpus = part(difference, "money"), part(difference, "gpus")
    lines: list[tuple[str, ...]] = []
    for key, name in (("floor", "Cost a month, idle"), ("ceiling", "Cost a month, full")):
        if change := part(money, key):
            old, new = usd(change, "old"), usd(change, "new")
            lines.append((name, dollars(old), dollars(new), f"**{new - old:+,.0f} USD**"))
    for model in gpus:
        change = part(gpus, model)
        old, new = count(change, "old"), count(change, "new")
        lines.append((f"{plain(model)} GPUs, full", str(old), str(new), f"**{new - old:+d}**"))
    if lines:
        yield from table(("", "Before ", "Now ", "Difference "), lines)


def _names(difference: Data) -> Iterator[str]:
    """What is there under another name, new, or gone."""
    for key, noun in _THINGS:
        change = part(difference, key)
        for old, new in part(change, "renamed").items():
            yield f"- {noun} {code(str(old))} is called {code(str(new))} now"
        for verb in ("added", "removed"):
            if names := words(change, verb):
                plural = noun if len(names) == 1 else f"{noun}s"
                yield f"- {verb}: {plural} {', '.join(map(code, names))}"


def _changed(difference: Data) -> Iterator[str]:
    lines = [
        line for key, noun in _THINGS for line in _fields(part(difference, key), noun, "changed")
    ]
    if lines:
        yield from table(("Changed", "Field", "Before", "Now"), lines)


def _effects(difference: Data) -> Iterator[str]:
    lines = [
        line for key, noun in _THINGS for line in _fields(part(difference, key), noun, "effects")
    ]
    if lines:
        yield from ("<details>", "<summary>What follows from that</summary>", "")
        yield from table(("For", "What", "Before", "Now"), lines)
        yield from ("", "</details>")


def _fields(change: Data, noun: str, key: str) -> Iterator[tuple[str, ...]]:
    for name in part(change, key):
        for field, values in part(change, key, name).items():
            if isinstance(values, Mapping) and not (key == "effects" and field.startswith(_QUIET)):
                both = cast("Data", values)
                yield (
                    f"{noun} {code(str(name))}",
                    plain(_name(str(field))),
                    _value(both.get("old")),
                    _value(both.get("new")),
                )


def _name(field: str) -> str:
    if field.startswith("jobs_per_node."):
        return f"jobs a node of {field.partition('.')[2]}"
    return _NAMES.get(field, field.removeprefix("made_of.").replace("_", " "))


def _value(value: Any) -> str:
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(code(str(one)) for one in cast("Iterable[object]", value))
    return code(f"{value:,.2f}" if isinstance(value, float) else str(value))


def _findings(difference: Data) -> Iterator[str]:
    found = part(difference, "findings")
    for key, title in (("new", "New findings"), ("gone", "Findings that are gone")):
        if lines := rows(found, key):
            yield from (f"**{title}**", "")
            yield from map(finding_line, lines)
            yield ""
