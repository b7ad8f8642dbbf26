"""Versions: operator, Kubernetes, autoscaler, ARC, charts, AMI releases, runner images."""

from datetime import date
from typing import Any

import pytest

from tests.fleet.checks.planted import cards, existing_of, found, stack_of

POOLS = {"t4": {"instance_types": ["g4dn.xlarge"], "max_size": 2}}
LANES = {"gpu": {"pools": ["t4"], "gpus": 1}}
LANE = "clusters.ci.github.lanes.gpu"
FLAG = "DistributedTask.AllowRunnerScaleSetCustomLabels"


@pytest.mark.parametrize(
    ("version", "supported"), [("1.32", False), ("1.33", True), ("1.37", False)]
)
def test_the_operator_runs_on_the_kubernetes_versions_of_its_list(
    version: str, supported: bool
) -> None:
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    data = existing_of({"gpu": cards()}, lanes, gpu_stack={"operator": {}})
    data["clusters"]["site"]["existing"]["version"] = version
    findings = found("operator-kubernetes", data)
    assert bool(findings) is not supported
    if findings:
        assert "supports Kubernetes 1.33 to 1.36" in findings[0].message
        assert f"the cluster has {version}:" in findings[0].message


def test_a_cluster_without_a_version_has_no_finding() -> None:
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    assert not found(
        "operator-kubernetes", existing_of({"gpu": cards()}, lanes, gpu_stack={"operator": {}})
    )


@pytest.mark.parametrize(
    ("today", "severity"),
    [
        (date(2027, 1, 1), None),
        (date(2027, 2, 1), "warning"),
        (date(2027, 3, 27), "warning"),
        (date(2027, 3, 28), "warning"),
    ],
)
def test_the_end_of_support_is_reported_sixty_days_before(
    today: date, severity: str | None
) -> None:
    findings = found("kubernetes-support", stack_of(POOLS, LANES), today)
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    if findings:
        assert findings[0].path == "clusters.ci.eks.version"
        assert "2027-03-27" in findings[0].message


def test_an_arc_without_labels_of_scale_sets_is_an_error() -> None:
    data = stack_of(POOLS, LANES)
    assert not found("arc-version", data)
    assert not found("arc-version", {**data, "charts": {"arc_version": "0.14.0"}})
    (finding,) = found("arc-version", {**data, "charts": {"arc_version": "0.13.1"}})
    assert finding.path == "charts.arc_version"


def on_server(**github: str) -> dict[str, Any]:
    data = stack_of(POOLS, LANES)
    data["clusters"]["ci"]["github"] |= {"url": "https://ghes.example.com/org", **github}
    return data


@pytest.mark.parametrize(
    ("version", "severity", "message", "remedy"),
    [
        ({}, "error", "is missing", 'like server_version: "3.21"'),
        ({"server_version": "3.9"}, "error", "is 3.9, which drops", "upgrade"),
        ({"server_version": "3.17"}, "error", "is 3.17, which drops", "to 3.21 or later"),
        ({"server_version": "3.18"}, "warning", "is 3.18, which drops", FLAG),
        ({"server_version": "3.20"}, "warning", f"unless its flag {FLAG}", "silence github-server"),
    ],
)
def test_a_server_that_drops_labels_of_scale_sets_is_reported(
    version: dict[str, str], severity: str, message: str, remedy: str
) -> None:
    (finding,) = found("github-server", on_server(**version))
    place = "clusters.ci.github.server_version"
    assert (finding.path, finding.severity) == (place, severity)
    assert message in finding.message
    assert "no job would find it" in finding.message
    assert remedy in finding.remedy


def test_a_server_that_keeps_labels_has_no_finding_and_neither_has_github_com() -> None:
    for version in ("3.21", "3.22", "4.0"):
        assert not found("github-server", on_server(server_version=version))
    for url in ("https://github.com/org", "https://www.github.com/org", "https://o.ghe.com/org"):
        assert not found("github-server", on_server(url=url))


@pytest.mark.parametrize(
    ("release", "bad"), [("1.35.8-20260930", True), ("1.35.8-20261012", False)]
)
def test_an_ami_release_with_a_known_fault_is_a_warning(release: str, bad: bool) -> None:
    pools = {"t4": {**POOLS["t4"], "release_version": release}}
    findings = found("ami-fault", stack_of(pools, LANES))
    assert bool(findings) is bad
    if findings:
        assert "panics" in findings[0].message
        assert "20261012" in findings[0].remedy


def test_a_runner_that_github_refuses_is_reported_from_that_day() -> None:
    image = "ghcr.io/actions/actions-runner:2.337.0"
    data = stack_of(POOLS, {"gpu": {**LANES["gpu"], "image": image}})
    assert not found("runner-age", data, date(2026, 11, 4))
    (finding,) = found("runner-age", data, date(2026, 11, 5))
    assert (finding.severity, finding.path) == ("warning", f"{LANE}.image")
    data["clusters"]["ci"]["github"]["url"] = "https://github.example.com/org"
    assert not found("runner-age", data, date(2026, 11, 5)), "Enterprise Server brings its own"


def test_the_pinned_runner_is_the_newest_that_is_known() -> None:
    assert not found("runner-age", stack_of(POOLS, LANES), date(2030, 1, 1))
