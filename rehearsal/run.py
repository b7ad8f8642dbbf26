"""A rehearsal of one of our stack files: our checks first, then the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pulumi_rehearsal import driver

from rehearsal import checks, stackfile
from rehearsal.project import FLEET, Project
from rehearsal.stackfile import StackFile

if TYPE_CHECKING:
    from pulumi_rehearsal.result import Result
    from pulumi_rehearsal.standin.world import World

PRELOADED: Final = (
    "stacks.deploy",
    *("pulumi_aws.ec2", "pulumi_aws.eks", "pulumi_aws.iam", "pulumi_aws.autoscaling"),
    *("pulumi_kubernetes.core.v1", "pulumi_kubernetes.helm.v3", "pulumi_kubernetes.yaml.v2"),
)
"""Modules that most stacks use; importing them takes a second."""


def rehearse(
    config: Path,
    *,
    to: Path | Sequence[Path] = (),
    project: Project = FLEET,
    check: Callable[[StackFile], str] | None = None,
    program: Callable[[], None] | None = None,
    folder: Path | None = None,
    between: Callable[[World], None] | None = None,
    **options: Any,
) -> Result:
    """Rehearse a stack file, or the change from `config` to the stack file `to`, or to several.

    `check` replaces the project's own check, `program` its program; `options` are further options
    of `pulumi_rehearsal.rehearse`. Raises `RehearsalError`, with every finding of a bad file.
    """
    later = [to] if isinstance(to, Path) else to
    files = [stackfile.read(path) for path in (config, *later)]
    notes = "\n\n".join([(check or project.check)(file) for file in files])
    later_files = iter(files[1:])

    def prepare(world: World) -> None:
        """Change the clouds as `between` does, and make what the next stack file needs."""
        if between is not None:
            between(world)
        for resource in checks.existing(next(later_files)):
            world.replace(resource)

    return driver.rehearse(
        project.folder,
        stack_file=files[0],
        to=files[1:],
        program=program or project.program,
        existing=checks.existing(files[0]),
        between=prepare,
        only_known_types=True,
        preload=PRELOADED if project is FLEET else (),
        folder=folder or project.artifacts(files[-1].name),
        notes=notes,
        **options,
    )
