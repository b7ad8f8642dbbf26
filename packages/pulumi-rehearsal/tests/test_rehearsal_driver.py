"""Whole rehearsals of a small program through the real engine."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pulumi
import pytest
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.standin.faults import EACH_ONCE, Fault
from pulumi_rehearsal.standin.kind import Call, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.world import World
from rich.console import Console
from tiny_project import (
    AWS,
    KUBERNETES,
    NodeGroup,
    Rehearse,
    Vpc,
    rehearse_in,
    tiny_program,
)

pytestmark = pytest.mark.engine

LEAK = ":token is in plain text in "
AMBIENT = ("AWS_ACCESS_KEY_ID", "KUBECONFIG", "GITLAB_TOKEN", "OCI_CLI_KEY", "PULUMI_ACCESS_TOKEN")


def with_kind(kind: Kind) -> tuple[Package, Package]:
    """Return the small project's packages with another kind for a type of AWS."""
    others = tuple(other for other in AWS.kinds if other.token != kind.token)
    return dataclasses.replace(AWS, kinds=(*others, kind)), KUBERNETES


def resources(state: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    assert state is not None
    found = state["deployment"]["resources"]
    return {resource["urn"].rpartition("::")[2]: resource for resource in found}


@dataclass
class Observed:
    """A rehearsal that passes, and what was recorded of it."""

    folder: Path
    printed: io.StringIO = field(default_factory=io.StringIO)
    environment: dict[str, str] = field(default_factory=dict)
    arns_at_check: list[object] = field(default_factory=list)
    result: Result = field(init=False)


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    observed = Observed(tmp_path_factory.mktemp("observed"))

    class Watched(NodeGroup):
        def check(self, call: Call, old: Properties | None) -> Properties:
            observed.arns_at_check.append(call.inputs["nodeRoleArn"])
            return super().check(call, old)

    def program() -> None:
        observed.environment.update(os.environ)
        tiny_program()

    with pytest.MonkeyPatch.context() as patch:
        for name in AMBIENT:
            patch.setenv(name, "ambient")
        patch.setenv("ANYTHING_ELSE", "stays")
        before = dict(os.environ)
        observed.result = rehearse_in(
            observed.folder,
            program=program,
            packages=with_kind(Watched()),
            console=Console(file=observed.printed, width=80),
        )
        assert dict(os.environ) == before, "the environment is given back as it was"
    return observed


def test_a_rehearsal_passes_in_six_phases(observed: Observed) -> None:
    assert observed.result.problems == ()
    assert [(phase.title, phase.verdict) for phase in observed.result.phases] == [
        ("preview", "7 create"),
        ("up", "7 create"),
        ("preview again", "no changes, 7 same"),
        ("refresh", "no changes, 7 same"),
        ("destroy while protected", "refused, 1 protected"),
        ("destroy", "2 delete"),
    ]
    assert len(observed.result.world) == 0


def test_a_rehearsal_leaves_its_four_files(observed: Observed) -> None:
    out = observed.folder / "out"
    assert {path.name for path in out.iterdir()} == {
        "engine.log",
        "preview.json",
        "report.md",
        "state.json",
    }
    steps = json.loads((out / "preview.json").read_text())["steps"]
    assert {step["op"] for step in steps} == {"create"}
    assert json.loads((out / "state.json").read_text()) == observed.result.state
    report = (out / "report.md").read_text()
    assert "# Rehearsal of Pulumi.tiny.yaml: passed" in report
    assert "| `aws:ec2/vpc:Vpc` | 1 |" in report
    log = (out / "engine.log").read_text()
    assert "== preview: 7 create" in log
    assert "create aws:ec2/vpc:Vpc network" in log
    assert "because it is protected" in log


def test_the_preview_has_unknowns_and_up_has_values(observed: Observed) -> None:
    assert repr(observed.arns_at_check[0]) == "UNKNOWN"
    assert str(observed.arns_at_check[-1]).startswith("arn:aws:ec2")
    pool = resources(observed.result.state)["pool"]
    assert pool["outputs"]["status"] == "ACTIVE"
    assert pool["inputs"]["nodeGroupName"].startswith("pool-")


def test_secrets_stay_encrypted_wherever_they_go(observed: Observed) -> None:
    (placeholder,) = observed.result.placeholders.values()
    assert list(observed.result.placeholders) == ["tiny:token"]
    secret = resources(observed.result.state)["one-secret"]
    assert "ciphertext" in secret["inputs"]["stringData"]
    assert "ciphertext" in secret["outputs"]["stringData"]
    for file in (observed.folder / "out").iterdir():
        assert placeholder not in file.read_text()


def test_ambient_credentials_are_hidden_and_nothing_else_is(observed: Observed) -> None:
    assert not set(AMBIENT) & observed.environment.keys()
    assert observed.environment["ANYTHING_ELSE"] == "stays"


def test_the_stack_file_is_not_written(observed: Observed) -> None:
    text = (observed.folder / "Pulumi.tiny.yaml").read_text()
    assert "placeholder" not in text
    assert "encryptedkey" not in text


def test_the_progress_is_one_line_for_each_phase(observed: Observed) -> None:
    lines = observed.printed.getvalue().splitlines()
    assert lines[0].startswith("rehearsing ")
    assert lines[1].startswith("  pulumi 3.")
    assert [line.split("  ")[1] for line in lines[2:8]] == [
        "preview",
        "up",
        "preview again",
        "refresh",
        "destroy while protected",
        "destroy",
    ]
    assert all(line.endswith(" s") for line in lines[2:8])
    assert lines[8].startswith("rehearsal of tiny passed: nothing is left")
    assert len(lines) == 9


def test_after_a_failure_the_next_command_starts_from_the_state_so_far(
    rehearse_tiny: Rehearse,
) -> None:
    result = rehearse_tiny(
        faults=[
            Fault(name="two-secret", steps=("create",)),
            Fault(name="pool", steps=("delete",)),
            Fault(name="pol"),
        ]
    )
    (problem,) = result.problems
    assert "a resource named 'pol' came up" in problem, "a mistyped name must not pass for a test"
    assert not result.phase("up").ok
    again = {change.name for change in result.phase("up, attempt 2").differences}
    assert "two-secret" in again
    assert not again & {"network", "pool"}, "what was made before the failure is in the state"
    made = [event.name for event in result.world.journal if event.action == "created"]
    assert sorted(made) == ["network", "one-secret", "pool", "two-secret"]
    assert not result.phase("destroy while protected").ok
    assert result.phase("destroy while protected, attempt 2").counts["delete"] > 0
    assert len(result.world) == 0


def test_every_resource_may_fail_once(rehearse_tiny: Rehearse) -> None:
    result = rehearse_tiny(faults=[EACH_ONCE], continue_on_error=True)
    assert result.problems == ()
    injected = [event for event in result.world.journal if "injected" in event.detail]
    assert sorted(event.name for event in injected) == [
        "network",
        "one-secret",
        "pool",
        "two-secret",
    ]


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Rehearse an update of a network, and the update and the replacement of a node group."""

    def program() -> None:
        import pulumi_aws as aws

        stack = pulumi.Config("tiny").require_object("stack")
        opts = pulumi.ResourceOptions(provider=aws.Provider("aws", region="us-west-2"))
        aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", tags=stack.get("tags", {}), opts=opts)
        for name, key in (("pool", "other"), ("resized", "")):
            aws.eks.NodeGroup(
                name,
                cluster_name="ci",
                node_role_arn="arn",
                subnet_ids=["subnet"],
                instance_types=[stack.get(key, "g4dn.xlarge")],
                scaling_config={"min_size": 0, "max_size": 2, "desired_size": 0},
                disk_size=20 if key else stack.get("disk", 20),
                opts=opts,
            )

    then = "    tags: {team: ml}\n    disk: 50\n    other: g5.xlarge\n"
    return rehearse_in(tmp_path_factory.mktemp("changed"), then=then, program=program)


def test_a_change_of_the_stack_file_is_previewed_and_applied(changed: Result) -> None:
    assert changed.problems == ()
    assert [phase.title for phase in changed.phases][:3] == ["up Pulumi.tiny.yaml", "preview", "up"]
    assert changed.phase("preview").counts == {"replace": 1, "update": 2, "same": 1}
    changes = {str(change) for change in changed.phase("preview").differences}
    assert {change for change in changes if change.startswith("update aws:")} == {
        "update aws:ec2/vpc:Vpc network: tags.team",
        "update aws:eks/nodeGroup:NodeGroup resized: diskSize",
    }
    (warning,) = changed.warnings
    assert warning.startswith("aws:eks/nodeGroup:NodeGroup resized: diskSize: may replace")
    assert warning in (changed.folder / "report.md").read_text()


def test_a_replacement_creates_the_new_resource_first(changed: Result) -> None:
    actions = [event.action for event in changed.world.journal if event.name == "pool"]
    assert actions[:3] == ["created", "created", "deleted"]


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Rehearse a leaked secret, and a VPC that is never at rest and leaves a group behind."""

    class Careless(Vpc):
        """Changes its tags in each check, and creates a security group that it does not delete."""

        def check(self, call: Call, old: Properties | None) -> Properties:
            return {**super().check(call, old), "tags": {"made": str(call.generation)}}

        def create(self, call: Call, world: World) -> tuple[str, Properties]:
            vpc, outputs = super().create(call, world)
            group = Resource(
                urn="",
                type="aws:ec2/securityGroup:SecurityGroup",
                name="default",
                id="sg-1",
                scope=call.scope,
                inputs={},
                outputs={},
            )
            world.add(group)
            return vpc, outputs

    folder = tmp_path_factory.mktemp("careless")
    return rehearse_in(folder, "    leak: true\n", packages=with_kind(Careless()))


def test_a_secret_in_plain_text_is_a_problem_with_its_file(careless: Result) -> None:
    places = {
        problem.partition(LEAK)[2].partition(":")[0]
        for problem in careless.problems
        if LEAK in problem
    }
    assert places == {"preview.json", "state.json", "the engine's own state"}


def test_a_change_after_up_and_a_remaining_resource_are_problems(careless: Result) -> None:
    assert tuple(problem for problem in careless.problems if LEAK not in problem) == (
        "not at rest: after up, preview still wants to update aws:ec2/vpc:Vpc network: tags.made",
        "left after destroy: aws:ec2/securityGroup:SecurityGroup default (sg-1)",
    )


def test_what_the_cloud_changed_by_itself_is_found_by_a_refresh(rehearse_tiny: Rehearse) -> None:
    class Unstable(NodeGroup):
        """A node group that scales and loses its network after it was created."""

        def compute(self, call: Call, id: str, world: World) -> Properties:
            self.world, self.id = world, id
            return super().compute(call, id, world)

        def check(self, call: Call, old: Properties | None) -> Properties:
            if old is not None:
                made = self.world.get(self.id)
                assert made is not None
                scaled = {**made.inputs, "scalingConfig": {"desiredSize": 1}}
                self.world.replace(dataclasses.replace(made, inputs=scaled))
                self.world.remove(self.world.all("aws:ec2/vpc:Vpc")[0])
            return super().check(call, old)

    result = rehearse_tiny(packages=with_kind(Unstable()))
    found = [problem for problem in result.problems if "refresh finds" in problem]
    assert sorted(found) == [
        "not at rest: after up, refresh finds delete aws:ec2/vpc:Vpc network",
        "not at rest: after up, refresh finds update aws:eks/nodeGroup:NodeGroup pool: "
        "scalingConfig.desiredSize, scalingConfig.maxSize, scalingConfig.minSize",
    ]


def test_an_exception_of_the_program_is_its_message_once_and_leaves_no_scratch_folder(
    rehearse_tiny: Rehearse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    during: list[str] = []

    def program() -> None:
        during.extend(path.name for folder in scratch.iterdir() for path in folder.iterdir())
        raise ValueError("the program's own words")

    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    result = rehearse_tiny(program=program)
    (problem,) = result.problems
    assert problem.startswith("refused: the program's own words (ValueError at ")
    assert "Traceback" in (result.folder / "engine.log").read_text()
    assert "Traceback" not in (result.folder / "report.md").read_text()
    assert {"Pulumi.yaml", "Pulumi.tiny.yaml", "state", "home"} <= set(during)
    assert list(scratch.iterdir()) == []


def test_a_type_without_a_stand_in_fails_the_preview(rehearse_tiny: Rehearse) -> None:
    class Subnet(Vpc):
        token: ClassVar[str] = "aws:ec2/subnet:Subnet"

    packages = (dataclasses.replace(AWS, kinds=(Subnet(),)), KUBERNETES)
    result = rehearse_tiny(packages=packages)
    (problem,) = result.problems
    assert problem.startswith("refused: ")
    assert "no stand-in for aws:ec2/vpc:Vpc; pass one with kinds=" in problem
    assert [phase.title for phase in result.phases] == ["preview"]
    assert result.state is None


def test_a_refusal_of_the_cloud_names_resource_rule_and_remedy(rehearse_tiny: Rehearse) -> None:
    class RehearsalError(NodeGroup):
        def create(self, call: Call, world: World) -> tuple[str, Properties]:
            raise Refusal("the role does not exist yet: create it first")

    result = rehearse_tiny(packages=with_kind(RehearsalError()))
    assert result.problems == (
        "refused: aws:eks/nodeGroup:NodeGroup pool: the role does not exist yet: create it first",
    )
    assert "network" in resources(result.state), "a failed up keeps what it made"
    assert "pool" not in resources(result.state)


def test_an_exception_of_a_stand_in_is_reported_as_its_defect(rehearse_tiny: Rehearse) -> None:
    class Broken(Vpc):
        def compute(self, call: Call, id: str, world: World) -> Properties:
            raise ZeroDivisionError("a slip")

    result = rehearse_tiny(packages=with_kind(Broken()))
    assert "a stand-in has a defect: ZeroDivisionError: a slip" in result.problems
