"""Rehearsals of a change while jobs run, with releases of ARC that Helm installs."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest
from pulumi_rehearsal import Busy, rehearse
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.arc import GROUP, KINDS_BY_PLURAL, RUNNER_SET
from rich.console import Console
from scratch import opened

pytestmark = pytest.mark.engine

KUBECONFIG = """
current-context: ci
contexts: [{name: ci, context: {cluster: ci, user: me}}]
clusters: [{name: ci, cluster: {server: "https://10.0.0.1:6443"}}]
"""
CHARTS = "oci://ghcr.io/actions/actions-runner-controller-charts"
REPLACED_ON = ["version", "values.scaleSetLabels"]


def program(label: str = "gpu") -> None:
    """A controller and one scale set, which a change of its label replaces."""
    import pulumi_kubernetes as kubernetes

    provider = kubernetes.Provider("ci", kubeconfig=KUBECONFIG)
    child = pulumi.ResourceOptions(provider=provider)
    namespace = kubernetes.core.v1.Namespace("runners", metadata={"name": "runners"}, opts=child)
    secret = kubernetes.core.v1.Secret(
        "github",
        metadata={"name": "github", "namespace": namespace.metadata.name},
        string_data={"github_token": "t"},
        opts=child,
    )
    definitions = kubernetes.yaml.v2.ConfigGroup(
        "definitions",
        files=[f"https://example.com/{GROUP}_{plural}.yaml" for plural in KINDS_BY_PLURAL],
        opts=child,
    )
    controller = kubernetes.helm.v3.Release(
        "controller",
        name="arc",
        namespace=namespace.metadata.name,
        chart=f"{CHARTS}/gha-runner-scale-set-controller",
        version="0.14.2",
        skip_crds=True,
        opts=pulumi.ResourceOptions(provider=provider, depends_on=[definitions]),
    )
    runner = {"name": "runner", "image": "ghcr.io/actions/actions-runner:2", "command": ["run.sh"]}
    kubernetes.helm.v3.Release(
        "gpu",
        name="gpu",
        namespace=namespace.metadata.name,
        chart=f"{CHARTS}/gha-runner-scale-set",
        version="0.14.2",
        timeout=600,
        values={
            "controllerServiceAccount": {
                "name": "arc-gha-rs-controller",
                "namespace": namespace.metadata.name,
            },
            "githubConfigSecret": secret.metadata.name,
            "githubConfigUrl": "https://github.com/acme",
            "scaleSetLabels": [label],
            "template": {"spec": {"containers": [runner]}},
        },
        opts=pulumi.ResourceOptions(
            provider=provider,
            depends_on=[controller],
            replace_on_changes=REPLACED_ON,
            delete_before_replace=True,
        ),
    )


relabelled = functools.partial(program, "gpu-large")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: ci\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    return tmp_path


Change = Callable[..., Result]


@pytest.fixture
def change(project: Path) -> Change:
    """Rehearse the change of the label while a job runs."""
    return functools.partial(rehearse, project, stack="dev", program=program, to=relabelled)


def reasons(outcome: object) -> str:
    return "\n".join(str(complaint) for complaint in outcome.complaints)  # type: ignore[attr-defined]


def test_a_job_that_ends_in_time_is_waited_for(change: Change) -> None:
    printed = io.StringIO()
    result = change(busy=[Busy("gp*", minutes=9)], console=Console(file=printed, width=200))
    assert result.phase("up").ok
    assert result.problems == (
        "no runners of gpu took jobs for 9 min: create the new ones before the old ones are "
        "deleted",
    )
    line = "up waited 9 min for the job on gpu"
    assert f"\n  {line}\n" in printed.getvalue()
    assert f"## Running jobs\n\n- {line}\n" in (result.folder / "report.md").read_text()


def test_a_job_that_outlasts_helm_fails_up_and_the_next_one_too(change: Change) -> None:
    result = change(busy=[Busy("gpu")])
    assert "uninstallation completed with 1 error(s): context deadline exceeded" in reasons(
        result.phase("up")
    )
    (problem,) = result.problems
    assert problem.startswith("refused: kubernetes:helm.sh/v3:Release gpu: ")
    assert "uninstall: Release not loaded: gpu: release: not found" in problem


def test_after_a_refresh_up_succeeds_and_its_scale_set_is_lost(project: Path) -> None:
    with opened(project / "Pulumi.yaml", program) as stack:
        world, jobs = stack.world, stack.world.jobs
        assert stack.run("up").ok
        jobs.plan(Busy("gpu"))
        jobs.start()
        assert "context deadline exceeded" in reasons(stack.run("up", relabelled))
        for _ in range(2):
            assert "Release not loaded" in reasons(stack.run("up"))
        assert "Release not loaded" in reasons(stack.run("destroy"))
        refreshed = stack.run("refresh")
        assert [str(one) for one in refreshed.differences] == [
            "delete kubernetes:helm.sh/v3:Release gpu"
        ]
        again = stack.run("up")
        assert (again.ok, again.counts["create"]) == (True, 1), "Helm adopts the old set"
        assert jobs.is_terminating(world.all(RUNNER_SET)[0])
        jobs.finish()
        assert world.all(RUNNER_SET) == ()
        assert stack.run("preview").differences == []
        assert stack.run("refresh").differences == []
        assert ["its AutoscalingRunnerSet is gone" in one for one in world_faults(world)] == [True]


def test_without_a_change_the_jobs_run_during_destroy(project: Path) -> None:
    result = rehearse(project, stack="dev", program=program, busy=[Busy("gpu")])
    assert "context deadline exceeded" in reasons(result.phase("destroy"))
    assert "Release not loaded" in reasons(result.phase("destroy, once more"))


def test_a_killed_job_is_a_problem(change: Change) -> None:
    result = change(
        busy=[Busy("gpu")], between=lambda world: world.remove(world.all(RUNNER_SET)[0])
    )
    assert result.problems == (
        "job on gpu was killed: its AutoscalingRunnerSet 'runners/gpu' was removed",
    )


def test_a_job_on_runners_that_do_not_exist_is_a_problem(change: Change) -> None:
    (problem,) = change(busy=[Busy("cpu")]).problems
    assert problem.startswith("no job ran on 'cpu': ")
