"""docs/troubleshooting.md as data, and the stacks into which its faults are planted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fleet.checks.__main__ import BEGIN, FILE
from fleet.checks.judge import judge
from fleet.checks.view import View
from fleet.config.load import parse
from fleet.findings import Finding
from fleet.plan import ClusterPlan, Plan, build
from tests.fleet.checks.planted import CPU, existing_of, stack_of
from tests.fleet.samples import TODAY

UNTOLD = ("by design", "not covered")
"""Findings of rows that need no planted fault."""

_HEADS = (("cause", "source", "finding", "path"), ("problem", "finding", "path"))
_CHECK = re.compile(r"`([a-z0-9-]+)`, (error|warning|note)")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the document: a cause, and what tells it."""

    cause: str
    symptom: str
    finding: str
    place: str
    seed: str | None

    @property
    def told(self) -> bool:
        """Whether something precedes the fault."""
        return self.finding not in UNTOLD

    @property
    def expected(self) -> tuple[str | None, str]:
        """Identifier of the check, None for a rule of the stack file; and the severity."""
        named = _CHECK.fullmatch(self.finding)
        if named is None:
            assert self.finding in ("refused", "rehearsal"), f"{self.cause}: {self.finding}"
            return None, "error"
        return named[1], named[2]

    def points_at(self, path: str) -> bool:
        """Whether a finding's path is the one of the row, the names filled in."""
        (pattern,) = re.findall(r"^`(\S+)`$", self.place)
        names = re.escape(pattern).replace("<cluster>", "[^.]+")
        names = re.sub(r"<(pool|lane)>", "[^.]+", names)
        return re.fullmatch(rf"(.+\.)?{names}", path) is not None


def document() -> str:
    """Return the text, without the list of all checks."""
    return FILE.read_text(encoding="utf-8").partition(BEGIN)[0]


def rows() -> Iterator[Row]:
    """Yield every row of the tables that say what tells a trouble."""
    symptom, head = "", None
    for line in document().splitlines():
        if line.startswith("#"):
            symptom, head = line.lstrip("# "), None
        cells = (
            [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        )
        if tuple(cells) in _HEADS:
            head = cells
        elif cells and head is not None and set(cells) != {"---"}:
            assert len(cells) == len(head), f"{symptom}: {line}"
            row = dict(zip(head, cells, strict=True))
            yield Row(
                cause=row.get("cause") or row["problem"],
                symptom=symptom,
                finding=row["finding"],
                place=row["path"],
                seed=row.get("source"),
            )


Plant = Callable[[ClusterPlan], ClusterPlan]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A stack with one fault: in the file, or planted into the plan of its cluster."""

    data: dict[str, Any] = field(repr=False)
    plant: Plant | None = None
    today: date = TODAY
    also: frozenset[str] = frozenset()
    """Identifiers of other checks that tell the same fault."""

    def findings(self) -> tuple[Finding, ...]:
        """Return everything that is said of the stack."""
        stack, findings = parse(self.data)
        if stack is None:
            return findings
        plan = build(stack)
        if self.plant is not None:
            (cluster,) = plan.clusters
            spoilt = self.plant(cluster)
            assert spoilt != cluster, "nothing was planted"
            plan = Plan(clusters=(spoilt,))
        return tuple(judge(View(stack=stack, plan=plan, today=self.today)))


def on_eks(pool: dict[str, Any] | None = None, /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on one EKS pool of T4."""
    pools = {"gpu": {"instance_types": ["g4dn.xlarge"], "max_size": 2, **(pool or {})}}
    return stack_of(pools, {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}})


def on_site(pool: dict[str, Any], /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on a pool of an existing cluster."""
    return existing_of({"gpu": pool, "cpu": CPU}, {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}})


def on_gitlab(pool: dict[str, Any] | None = None, /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitLab lane on one EKS pool of T4, and no GitHub."""
    data = on_eks(pool)
    body = {"pools": ["gpu"], "gpus": 1, "concurrent": 1, "token": {"secret": "runnerToken"}}
    cluster = data["clusters"]["ci"]
    del cluster["github"]
    cluster["gitlab"] = {"lanes": {"gpu": {**body, **lane}}}
    return data


def made_on_gitlab(**lanes: dict[str, Any]) -> dict[str, Any]:
    """Return a stack whose runners are made at GitLab: a pool of T4, and one of L40S."""
    data = on_gitlab()
    cluster = data["clusters"]["ci"]
    cluster["eks"]["pools"]["l40s"] = {"instance_types": ["g6e.xlarge"], "max_size": 2}
    made = {"gpus": 1, "concurrent": 1, "runner": {"group_id": 1}}
    cluster["gitlab"] = {
        "api_token": {"secret": "gitlabApiToken"},
        "lanes": {name: {**made, **lane} for name, lane in lanes.items()},
    }
    return data


def on_oke(pool: dict[str, Any] | None = None, /, **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on one OKE pool of A10."""
    system = {"shape": "VM.Standard.E5.Flex", "ocpus": 2, "memory_gb": 16}
    pools = {
        "system": {**system, "min_size": 2, "max_size": 2},
        "gpu": {"shape": "VM.GPU.A10.1", "max_size": 2, **(pool or {})},
    }
    oke = {
        "region": "us-ashburn-1",
        "compartment_id": "ocid1.compartment.oc1..aaaaaaaaexample",
        "availability_domains": ["Uocm:US-ASHBURN-AD-1"],
        "version": "1.35",
        "network": {"cidr": "10.2.0.0/16"},
        "pools": pools,
    }
    github = {
        "url": "https://github.com/example-org",
        "existing_secret": "app",
        "lanes": {"gpu": {"pools": ["gpu"], "gpus": 1, "max_runners": 1, **lane}},
    }
    return {"clusters": {"oci": {"oke": oke, "github": github}}}


def with_stack(data: dict[str, Any], **gpu_stack: Any) -> dict[str, Any]:
    """Return a stack with another `gpu_stack` in its cluster."""
    ((name, cluster),) = data["clusters"].items()
    return {**data, "clusters": {name: {**cluster, "gpu_stack": gpu_stack}}}


def without(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a copy of some data without one of its keys."""
    return {name: value for name, value in data.items() if name != key}
