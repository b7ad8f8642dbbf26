"""docs/troubleshooting.md says what precedes each trouble: each fault is planted, and told so."""

from __future__ import annotations

import re

import pytest
from kubernetes_cluster import EKS_SCOPE, GPU_GROUP, SYSTEM_GROUP, Cluster
from pulumi_rehearsal.standin.kind import Refusal

from fleet.checks.judge import IDENTIFIERS
from tests import troubles_of_peers, troubles_of_seeds
from tests.fleet.samples import ROOT
from tests.troubles import Fault, document, on_eks, on_gitlab, on_oke, on_site, rows
from tests.troubles_of_seeds import cards

ROWS = {row.cause: row for row in rows()}
FAULTS = {**troubles_of_seeds.FAULTS, **troubles_of_peers.FAULTS}
REHEARSED = "the namespace of the device plugin does not admit its hostPath volume"


def test_every_row_has_a_cause_of_its_own() -> None:
    causes = [row.cause for row in rows()]
    assert len(causes) > 100, "the tables are read"
    assert len(set(causes)) == len(causes)
    assert not troubles_of_seeds.FAULTS.keys() & troubles_of_peers.FAULTS.keys()


def test_every_trouble_that_is_told_has_a_planted_fault_and_every_fault_a_row() -> None:
    told = {row.cause for row in ROWS.values() if row.told}
    assert told == {*FAULTS, REHEARSED}


@pytest.mark.parametrize("cause", FAULTS)
def test_the_finding_of_the_document_precedes_the_fault(cause: str) -> None:
    row = ROWS[cause]
    identifier, severity = row.expected
    findings = FAULTS[cause].findings()
    rules = [one for one in findings if one.rule not in IDENTIFIERS]
    named = rules if identifier is None else [one for one in findings if one.rule == identifier]
    told = [one for one in named if row.points_at(one.path)]
    assert told, f"{row.finding} at {row.place} is not told, but {findings}"
    assert severity in {one.severity for one in told}
    others = [
        one
        for one in findings
        if one.severity == "error" and one not in named and one.rule not in FAULTS[cause].also
    ]
    assert not others, "one fault is planted, and no other is told"


@pytest.mark.parametrize(
    "data",
    [on_eks(), on_gitlab(), on_oke(), on_site(cards())],
    ids=["EKS", "GitLab", "OKE", "existing"],
)
def test_without_the_fault_nothing_worse_than_a_note_is_told(data: dict[str, object]) -> None:
    assert [one for one in Fault(data=data).findings() if one.severity != "note"] == []


def test_a_namespace_that_does_not_admit_the_plugin_is_refused_by_the_rehearsal() -> None:
    assert ROWS[REHEARSED].finding == "rehearsal"
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(SYSTEM_GROUP, GPU_GROUP)
    cluster.namespace("gpu-operator")
    off = {part: {"enabled": False} for part in ("driver", "toolkit")}
    release = {
        "chart": "gpu-operator",
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
        "timeout": 1800,
        "values": off,
        "version": "v26.7.0",
    }
    label = "pod-security.kubernetes.io/enforce=privileged"
    with pytest.raises(Refusal, match=f"lacks the label {label}"):
        cluster.release(release)
    assert label in ROWS[REHEARSED].place


@pytest.mark.parametrize("cause", [row.cause for row in ROWS.values() if not row.told])
def test_what_nothing_tells_has_a_reason(cause: str) -> None:
    row = ROWS[cause]
    if row.finding == "by design":
        place, _, why = row.place.partition(": ")
        assert (ROOT / place.strip("`")).is_file(), f"{place} is not there"
        assert len(why) > 10, "a place without a reason explains nothing"
    else:
        assert len(row.place) > 20


def test_every_part_of_the_seeds_is_answered_by_name() -> None:
    told = " ".join(row.seed for row in ROWS.values() if row.seed)
    for seed in ("GF", "SKA", "PyTorch", "Trainer"):
        assert f"{seed}: " in told


def test_every_symptom_says_what_to_run() -> None:
    first, _, _ = document().partition("# Problems that users of similar systems report")
    _, _, first = first.partition("# Problems that the five seed projects document")
    for section in re.split(r"^## ", first, flags=re.MULTILINE)[1:]:
        if "Docker daemon" not in section.partition("\n")[0]:
            assert "```sh\nkubectl" in section, section.partition("\n")[0]
