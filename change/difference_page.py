"""The difference of two reports as Markdown: effects on jobs come first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from change.consequences import SEVERE, Update
from change.difference import Difference, ItemChanges
from fleet.report.markdown import finding_line
from fleet.report.phrases import code, count, dollars, plain, table

_NAMES = {
    "kinds": "instance types",
    "min": "minimum nodes",
    "max": "maximum nodes",
    "made_of.image": "node image",
    "made_of.disk_gib": "disk, GiB",
    "made_of.reservation": "capacity reservation",
    "time_slices": "jobs per GPU",
    "least_jobs": "waiting runners",
    "most_jobs": "jobs at a time",
    "write": "labels or tags",
    "owner": "runner of",
    "drain_minutes": "longest wait for jobs, minutes",
    "cpu": "CPU, millicores",
    "memory": "memory, MiB",
    "disk": "disk, MiB",
    "usd_per_month.floor": "USD per month, idle",
    "usd_per_month.ceiling": "USD per month, at full size",
    "usd_per_job_hour.floor": "USD per job-hour, cheapest node",
    "usd_per_job_hour.ceiling": "USD per job-hour, most expensive node",
    "price.usd_per_hour": "USD per hour",
    "jobs_on_full_pools": "jobs on full pools",
    "gpu": "GPU model",
    "free.cpu_m": "free CPU, millicores",
    "free.memory_mib": "free memory, MiB",
    "free.disk_mib": "free disk, MiB",
}
_HIDDEN = (
    "price.kind",
    "price.date",
    "price.source",
    "gpu_memory_gb",
    "labels.",
    "shm",
    "memory_limit",
)
"""Effects that follow from others in the table."""


def difference_markdown(difference: Difference) -> str:
    """Return the difference for a pull request; its heading is of the second level."""
    if not difference.base:
        return "## Difference\n\nThere is no base: everything is new.\n"
    if difference.is_empty():
        return "## Difference\n\nThe reports do not differ.\n"
    severe = [one for one in difference.updates if one.effect in SEVERE]
    others = [one for one in difference.updates if one.effect not in SEVERE]
    blocks = (
        ["## Difference"],
        _updates("**Effects on running and queued jobs**", severe),
        _totals(difference),
        _names(difference),
        _table(difference, ("Changed", "Field", "Before", "After"), effects=False),
        _updates("Running nodes do not change:", others),
        _effects(difference),
        _findings(difference),
    )
    return "\n\n".join("\n".join(lines) for lines in map(list, blocks) if lines) + "\n"


def _updates(title: str, updates: list[Update]) -> Iterator[str]:
    if updates:
        yield from (title, "")
        yield from map(_update, updates)


def _update(update: Update) -> str:
    to = f" to {code(update.to)}" if update.to else ""
    nodes = f", at most {count(update.nodes, 'node')}" if update.what != "lane" else ""
    if nodes and update.jobs:
        nodes += f" and {count(update.jobs, 'job')}"
    because = ", ".join(plain(_field_name(one)) for one in update.because)
    lanes = ", ".join(map(code, update.lanes)) if update.what != "lane" else ""
    return (
        f"- {plain(update.what)} {code(update.id)} **{plain(update.effect)}**{to}{nodes}"
        + (f" (because of {because})" if because else "")
        + f": {plain(update.says)}"
        + (f". Lanes: {lanes}" if lanes else "")
    )


def _totals(difference: Difference) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for key, name in (("floor", "idle"), ("ceiling", "at full size")):
        if (values := difference.money.get(key)) is not None:
            old, new = _number(values.old), _number(values.new)
            change = f"**{new - old:+,.0f} USD**"
            rows.append((f"Cost per month, {name}", dollars(old), dollars(new), change))
    for model, values in difference.gpus.items():
        old, new = _number(values.old), _number(values.new)
        name = f"{plain(model)} GPUs at full size"
        rows.append((name, f"{old:.0f}", f"{new:.0f}", f"**{new - old:+.0f}**"))
    if rows:
        yield from table(("", "Before ", "After ", "Difference "), rows)


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _groups(difference: Difference) -> Iterator[tuple[str, ItemChanges]]:
    yield "cluster", difference.clusters
    yield "pool", difference.pools
    yield "lane", difference.lanes


def _names(difference: Difference) -> Iterator[str]:
    for noun, group in _groups(difference):
        for old, new in group.renamed.items():
            yield f"- {noun} {code(old)} is now {code(new)}"
        for verb, names in (("added", group.added), ("removed", group.removed)):
            if names:
                plural = noun if len(names) == 1 else f"{noun}s"
                yield f"- {verb}: {plural} {', '.join(map(code, names))}"


def _effects(difference: Difference) -> Iterator[str]:
    lines = _table(difference, ("Of", "Field", "Before", "After"), effects=True)
    if lines:
        yield from ("<details>", "<summary>Values that follow from these changes</summary>", "")
        yield from (*lines, "", "</details>")


def _table(difference: Difference, head: tuple[str, ...], *, effects: bool) -> list[str]:
    rows = [
        (
            f"{noun} {code(name)}",
            plain(_field_name(field)),
            _value(values.old),
            _value(values.new),
        )
        for noun, group in _groups(difference)
        for name, fields in (group.effects if effects else group.changed).items()
        for field, values in fields.items()
        if not (effects and field.startswith(_HIDDEN))
    ]
    return table(head, rows) if rows else []


def _field_name(field: str) -> str:
    if field.startswith("jobs_per_node."):
        return f"jobs per node of {field.partition('.')[2]}"
    return _NAMES.get(field, field.removeprefix("made_of.").replace("_", " "))


def _value(value: object) -> str:
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(code(str(one)) for one in cast("list[object]", value))
    return code(f"{value:,.2f}" if isinstance(value, float) else str(value))


def _findings(difference: Difference) -> Iterator[str]:
    found = difference.findings
    for title, findings in (("New findings", found.new), ("Resolved findings", found.gone)):
        if findings:
            yield from (f"**{title}**", "")
            yield from map(finding_line, findings)
            yield ""
