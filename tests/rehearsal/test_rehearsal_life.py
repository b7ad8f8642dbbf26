"""Whole rehearsals of a small program through the real engine."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import pulumi
import pytest
from rich.console import Console

from rehearsal.standin.faults import EACH_ONCE, Fault
from rehearsal.standin.kind import Call, Kind, Properties, Thing
from rehearsal.standin.server import Package
from rehearsal.standin.world import World
from tests.rehearsal.conftest import Rehearse
from tests.rehearsal.tiny_project import AWS, KUBERNETES, NodeGroup, Vpc, tiny_program

pytestmark = pytest.mark.engine


def with_kind(kind: Kind) -> tuple[Package, Package]:
    """The small project's packages, AWS with another kind for its type."""
    others = tuple(other for other in AWS.kinds if other.token != kind.token)
    return dataclasses.replace(AWS, kinds=(*others, kind)), KUBERNETES


def resources(state: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    assert state is not None
    found = state["deployment"]["resources"]
    return {resource["urn"].rpartition("::")[2]: resource for resource in found}


def test_a_whole_life(rehearse_tiny: Rehearse, tmp_path: Path) -> None:
    result = rehearse_tiny()
    assert result.problems == ()
    assert [(phase.title, phase.verdict) for phase in result.phases] == [
        ("preview", "7 create"),
        ("up", "7 create"),
        ("preview again", "no changes, 7 same"),
        ("destroy while protected", "refused, 1 protected"),
        ("destroy", "2 delete"),
    ]
    assert len(result.world) == 0
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "engine.log",
        "preview.json",
        "report.md",
        "state.json",
    ]
    steps = json.loads((out / "preview.json").read_text())["steps"]
    assert {step["op"] for step in steps} == {"create"}
    assert "# Rehearsal of Pulumi.tiny.yaml: passed" in (out / "report.md").read_text()
    assert "| `aws:ec2/vpc:Vpc` | 1 |" in (out / "report.md").read_text()


def test_unknowns_reach_the_preview_and_values_the_state(rehearse_tiny: Rehearse) -> None:
    seen: list[tuple[bool, object]] = []

    class Watched(NodeGroup):
        def check(self, call: Call, old: Properties | None) -> Properties:
            seen.append((call.inputs["clusterName"] is not None, call.inputs["nodeRoleArn"]))
            return super().check(call, old)

    result = rehearse_tiny(packages=with_kind(Watched()))
    assert repr(seen[0][1]) == "UNKNOWN"
    assert str(seen[-1][1]).startswith("arn:aws:ec2")
    pool = resources(result.state)["pool"]
    assert pool["outputs"]["status"] == "ACTIVE"
    assert pool["inputs"]["nodeGroupName"].startswith("pool-")


def test_secrets_stay_encrypted_in_the_state(rehearse_tiny: Rehearse, tmp_path: Path) -> None:
    result = rehearse_tiny()
    (placeholder,) = result.placeholders.values()
    assert list(result.placeholders) == ["gpu-runners:token"]
    secret = resources(result.state)["one-secret"]
    assert "ciphertext" in secret["inputs"]["stringData"]
    assert "ciphertext" in secret["outputs"]["stringData"]
    for file in (tmp_path / "out").iterdir():
        assert placeholder not in file.read_text()


def test_a_leaked_secret_fails_the_rehearsal_and_names_the_places(
    rehearse_tiny: Rehearse,
) -> None:
    result = rehearse_tiny("    leak: true\n")
    places = {
        problem.partition(":token stands in plain text in ")[2].partition(":")[0]
        for problem in result.problems
    }
    assert places == {"preview.json", "state.json", "the engine's own state"}


def test_the_working_tree_and_the_environment_stay_as_they_were(
    rehearse_tiny: Rehearse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, str] = {}

    def program() -> None:
        seen.update(os.environ)
        tiny_program()

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ambient")
    monkeypatch.setenv("KUBECONFIG", "/ambient")
    monkeypatch.setenv("GITLAB_TOKEN", "ambient")
    monkeypatch.setenv("PULUMI_ACCESS_TOKEN", "ambient")
    monkeypatch.setenv("ANYTHING_ELSE", "stays")
    before = dict(os.environ)
    scratch = set(Path(tempfile.gettempdir()).glob("gpu-runners-rehearsal-*"))
    result = rehearse_tiny(program=program)
    assert result.ok
    assert "ambient" not in seen.values()
    assert "/ambient" not in seen.values()
    assert seen["ANYTHING_ELSE"] == "stays"
    assert dict(os.environ) == before
    assert set(Path(tempfile.gettempdir()).glob("gpu-runners-rehearsal-*")) <= scratch
    assert (tmp_path / "Pulumi.tiny.yaml").read_text().count("placeholder") == 0


def test_a_failed_create_leaves_the_right_state_and_the_next_up_converges(
    rehearse_tiny: Rehearse,
) -> None:
    result = rehearse_tiny(faults=[Fault(name="two-secret", steps=("create",))])
    assert result.problems == ()
    assert not result.phase("up").ok
    second = result.phase("up, attempt 2")
    assert [change.name for change in second.differences] == ["two-secret"]
    assert [e.name for e in result.world.journal if e.action == "created"].count("network") == 1


def test_each_resource_may_fail_once(rehearse_tiny: Rehearse) -> None:
    result = rehearse_tiny(faults=[EACH_ONCE], continue_on_error=True)
    assert result.problems == ()
    refused = [event for event in result.world.journal if event.action == "refused"]
    assert sorted(event.name for event in refused) == [
        "network",
        "one-secret",
        "pool",
        "two-secret",
    ]


def test_a_failed_delete_is_tried_again(rehearse_tiny: Rehearse) -> None:
    result = rehearse_tiny(faults=[Fault(name="pool", steps=("delete",))])
    assert result.problems == ()
    assert "destroy while protected, attempt 2" in [phase.title for phase in result.phases]
    assert len(result.world) == 0


def test_a_failure_of_a_resource_that_is_not_there_is_a_problem(rehearse_tiny: Rehearse) -> None:
    (problem,) = rehearse_tiny(faults=[Fault(name="pol")]).problems
    assert "named 'pol' came up" in problem


def test_a_change_of_stack_is_previewed_and_carried_out(rehearse_tiny: Rehearse) -> None:
    result = rehearse_tiny(then="    tags: {team: ml}\n")
    assert result.problems == ()
    assert [phase.title for phase in result.phases][:3] == [
        "up Pulumi.tiny.yaml",
        "preview",
        "up",
    ]
    (change,) = result.phase("preview").differences
    assert (change.operation, change.name, change.paths) == ("update", "network", ("tags.team",))


def test_a_replacement_makes_the_new_resource_first(rehearse_tiny: Rehearse) -> None:
    def program() -> None:
        stack = pulumi.Config("gpu-runners").require_object("stack")
        import pulumi_aws as aws

        pulumi.ResourceOptions()
        provider = aws.Provider("aws", region="us-west-2")
        aws.eks.NodeGroup(
            "pool",
            cluster_name="ci",
            node_role_arn="arn",
            subnet_ids=["subnet"],
            instance_types=[stack.get("other", "g4dn.xlarge")],
            scaling_config={"min_size": 0, "max_size": 2, "desired_size": 0},
            opts=pulumi.ResourceOptions(provider=provider),
        )

    result = rehearse_tiny(then="    other: g5.xlarge\n", program=program)
    assert result.problems == ()
    assert result.phase("preview").counts == {"replace": 1, "same": 1}
    actions = [(event.action, event.name) for event in result.world.journal]
    assert actions[:3] == [("created", "pool"), ("created", "pool"), ("deleted", "pool")]


def test_a_change_without_a_source_is_warned_of(rehearse_tiny: Rehearse) -> None:
    result = rehearse_tiny(then="    disk: 50\n")
    assert result.problems == ()
    (warning,) = result.warnings
    assert warning.startswith("aws:eks/nodeGroup:NodeGroup pool: diskSize: may replace")
    assert warning in (result.folder / "report.md").read_text()


def test_a_program_that_never_rests_is_caught(rehearse_tiny: Rehearse) -> None:
    class Restless(Vpc):
        def check(self, call: Call, old: Properties | None) -> Properties:
            tags = {"made": str(call.life)}
            return {**super().check(call, old), "tags": tags}

    (problem,) = rehearse_tiny(packages=with_kind(Restless())).problems
    assert problem == (
        "not at rest: after up, preview still wants to update aws:ec2/vpc:Vpc network: tags.made"
    )


def test_what_is_left_in_a_cloud_is_named(rehearse_tiny: Rehearse) -> None:
    class Littering(Vpc):
        def create(self, call: Call, world: World) -> tuple[str, Properties]:
            id, outputs = super().create(call, world)
            empty: Properties = {}
            world.add(
                Thing(
                    urn="",
                    type="aws:ec2/securityGroup:SecurityGroup",
                    name="default",
                    id="sg-1",
                    scope=call.scope,
                    inputs=empty,
                    outputs=empty,
                )
            )
            return id, outputs

    (problem,) = rehearse_tiny(packages=with_kind(Littering())).problems
    assert problem == "left after destroy: aws:ec2/securityGroup:SecurityGroup default (sg-1)"


def test_a_wrong_property_is_refused_before_anything_is_made(rehearse_tiny: Rehearse) -> None:
    class Small(Vpc):
        token: ClassVar[str] = "aws:ec2/subnet:Subnet"

    result = rehearse_tiny(packages=(dataclasses.replace(AWS, kinds=(Small(),)), KUBERNETES))
    (problem,) = result.problems
    assert problem.startswith("refused: ")
    assert "the rehearsal does not know aws:ec2/vpc:Vpc; add a Kind" in problem
    assert [phase.title for phase in result.phases] == ["preview"]
    assert result.state is None


def test_an_exception_of_the_program_is_its_message_once(rehearse_tiny: Rehearse) -> None:
    result = rehearse_tiny("    raise: true\n")
    assert result.problems == ("refused: the program's own words",)
    assert "Traceback" in (result.folder / "engine.log").read_text()
    assert "Traceback" not in (result.folder / "report.md").read_text()


def test_a_refusal_of_the_cloud_names_resource_rule_and_remedy(rehearse_tiny: Rehearse) -> None:
    class Used(NodeGroup):
        def create(self, call: Call, world: World) -> tuple[str, Properties]:
            from rehearsal.standin.kind import Refusal

            raise Refusal("the role does not exist yet: create it first")

    result = rehearse_tiny(packages=with_kind(Used()))
    assert result.problems == (
        "refused: aws:eks/nodeGroup:NodeGroup pool: the role does not exist yet: create it first",
    )
    assert "network" in resources(result.state), "a failed up keeps what it made"
    assert "pool" not in resources(result.state)


def test_a_defect_of_a_stand_in_is_not_blamed_on_the_program(rehearse_tiny: Rehearse) -> None:
    class Broken(Vpc):
        def compute(self, call: Call, id: str, world: World) -> Properties:
            raise ZeroDivisionError("a slip")

    result = rehearse_tiny(packages=with_kind(Broken()))
    assert "a stand-in has a defect: ZeroDivisionError: a slip" in result.problems


def test_the_progress_is_one_line_for_each_phase(rehearse_tiny: Rehearse) -> None:
    console = Console(record=True, quiet=False, file=open(os.devnull, "w"), width=80)
    rehearse_tiny(console=console)
    lines = console.export_text().splitlines()
    assert lines[0].startswith("rehearsing ")
    assert lines[1].startswith("  pulumi 3.")
    assert [line.split("  ")[1] for line in lines[2:7]] == [
        "preview",
        "up",
        "preview again",
        "destroy while protected",
        "destroy",
    ]
    assert lines[7].startswith("rehearsal of tiny passed: nothing is left")
    assert len(lines) == 8
