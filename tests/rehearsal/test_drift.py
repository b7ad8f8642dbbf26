"""`make drift`: a scale set that somebody deleted is found, and the next `up` makes it again."""

import subprocess
from collections.abc import Iterator

import pytest
from pulumi import automation
from pulumi_rehearsal import cli, engine, secrets, workspace
from pulumi_rehearsal.driver import serving
from pulumi_rehearsal.standin.faults import Faults
from pulumi_rehearsal.standin.packages import PACKAGES
from pulumi_rehearsal.standin.world import World
from pulumi_rehearsal.workspace import Workspace

from components.helm import SCALE_SET
from rehearsal import stackfile
from rehearsal.project import FLEET, ROOT


@pytest.fixture
def deployed() -> Iterator[tuple[Workspace, World]]:
    """The stack `staging` after an `up`, and its clouds."""
    file, world = stackfile.read(FLEET.stack_file("staging")), World()
    with (
        workspace.clean_environment(),
        serving(PACKAGES, world, Faults(), only_known_types=True) as servers,
        workspace.opened(
            file.name,
            cli.find(print),
            {server.package.name: server.port for server in servers},
            FLEET.program,
            settings=ROOT / "Pulumi.yaml",
        ) as scratch,
    ):
        scratch.configure(file, secrets.placeholders(file.secret_keys))
        assert engine.run(scratch.stack, "up").ok
        yield scratch, world


@pytest.mark.engine
def test_a_deleted_scale_set_is_drift_and_comes_back(deployed: tuple[Workspace, World]) -> None:
    scratch, world = deployed
    scratch.stack.preview(refresh=True, expect_no_changes=True)
    (lost, *_) = world.all(SCALE_SET)
    world.remove(lost)
    with pytest.raises(automation.CommandError, match="no changes were expected"):
        scratch.stack.preview(refresh=True, expect_no_changes=True)
    assert engine.run(scratch.stack, "refresh").ok
    assert engine.run(scratch.stack, "up").ok
    assert lost.id in {one.id for one in world.all(SCALE_SET)}


def test_make_drift_is_the_nightly_check() -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "drift", "STACK=prod"],  # noqa: S607 -- as a user calls it
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "pulumi preview --stack prod --refresh --expect-no-changes" in shown
