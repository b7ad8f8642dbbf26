"""The scratch copy in which the engine works, and the surroundings that it and the program see.

Nothing of the working tree is written. The copy holds `Pulumi.yaml`, the stack file with
placeholders for its secrets (encrypted), the state and a `PULUMI_HOME` of its own; it is removed
afterwards. Credentials that happen to be in the environment are hidden meanwhile.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pulumi import automation

from pulumi_rehearsal import interrupts
from pulumi_rehearsal.cli import Cli
from pulumi_rehearsal.engine import Command, Stack
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.policies import STACK_FILE, Pack
from pulumi_rehearsal.stackfile import StackFile

ROOT: Final = Path(__file__).parents[4]
"""The folder from which a program imports."""

AMBIENT: Final = ("AWS_", "OCI_", "TF_VAR_", "GITLAB_", "PULUMI_", "KUBE", "HELM_", "GITHUB_TOKEN")
"""Beginnings of the names that are hidden: credentials and settings of tools."""

Program = Callable[[], None]


class _Local(automation.LocalWorkspace):
    """Tells the engine's commands where a program is served that runs in another process."""

    served_at: str = ""

    def serialize_args_for_op(self, stack_name: str) -> list[str]:
        return [f"--client={self.served_at}"] if self.served_at else []


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """The scratch folder and the stack in it."""

    folder: Path
    stack: automation.Stack

    def run_program_at(self, address: str) -> None:
        """Lets the next commands run the program of a language server at that address."""
        local = self.stack.workspace
        if not isinstance(local, _Local) or local.program is not None:
            raise TypeError("the workspace was opened with a program of its own")
        local.served_at = address

    def configure(self, file: StackFile, placeholders: Mapping[str, str]) -> None:
        """Puts a stack file in the place of the one that was there, with its secrets."""
        settings = self.folder / f"Pulumi.{self.stack.name}.yaml"
        salt = [
            line
            for line in (
                settings.read_text(encoding="utf-8") if settings.exists() else ""
            ).splitlines()
            if line.startswith("encryptionsalt:")
        ]
        settings.write_text("\n".join([*salt, file.text]), encoding="utf-8")
        values = {
            key: automation.ConfigValue(value, secret=True) for key, value in placeholders.items()
        }
        if values:
            self.stack.set_all_config(values)

    def unprotect(self) -> None:
        """Lifts the protection of every resource in the state, as an operator would by hand."""
        self._command("state", "unprotect", "--all", "--yes")

    def protected(self) -> frozenset[str]:
        """URNs of the resources that the engine refuses to destroy."""
        deployment: dict[str, Any] = self.exported()["deployment"]
        resources: list[dict[str, Any]] = deployment.get("resources") or []
        return frozenset(one["urn"] for one in resources if one.get("protect"))

    def exported(self) -> dict[str, Any]:
        """What `pulumi stack export` gives; the Automation API's own method decrypts secrets."""
        return json.loads(self._command("stack", "export"))

    def _command(self, *arguments: str) -> str:
        local = self.stack.workspace
        environment = {**local.env_vars, "PULUMI_HOME": local.pulumi_home or ""}
        command = [*arguments, "--stack", self.stack.name]
        return local.pulumi_command.run(command, local.work_dir, environment).stdout

    def state_files(self) -> list[Path]:
        """Everything that the engine's backend wrote."""
        return [path for path in (self.folder / "state").rglob("*") if path.is_file()]


@contextmanager
def opened(
    name: str,
    cli: Cli,
    ports: Mapping[str, int],
    program: Program | None,
    *,
    settings: Path,
    pack: Pack | None = None,
) -> Generator[Workspace]:
    """A scratch copy with an empty stack of that name; removed at the end.

    `settings` is the project file that belongs to the program. Without one, `run_program_at` says
    where each is served.
    """
    folder = Path(tempfile.mkdtemp(prefix="gpu-runners-rehearsal-"))
    try:
        (folder / "state").mkdir()
        (folder / "home").mkdir()
        shutil.copy(settings, folder)
        environment = _engine_environment(folder, ports)
        if pack is not None:
            (folder / "host").mkdir()
            pack.host(folder / "host")
            environment["PATH"] = f"{folder / 'host'}{os.pathsep}{os.environ.get('PATH', '')}"
            environment[STACK_FILE] = str(folder / f"Pulumi.{name}.yaml")
        local = _Local(
            work_dir=str(folder),
            pulumi_home=str(folder / "home"),
            program=program,
            pulumi_command=Command(cli),
            env_vars=environment,
        )
        yield Workspace(folder=folder, stack=Stack(name, local))
    except automation.CommandError as error:
        raise RehearsalError(f"the engine refused a command: {error}") from None
    finally:
        with interrupts.ignored():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def clean_surroundings() -> Generator[None]:
    """Hides ambient credentials, and makes the project importable from its root."""
    before = dict(os.environ)
    path = list(sys.path)
    for name in before:
        if name.startswith(AMBIENT):
            del os.environ[name]
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = path


def _engine_environment(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": secrets.token_hex(16),
        "PULUMI_DEBUG_PROVIDERS": ",".join(f"{name}:{port}" for name, port in ports.items()),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
        # The state is still saved when a command ends, a failed one too; not once per resource.
        "PULUMI_SKIP_CHECKPOINTS": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Commands are short: collecting garbage costs more than the memory is worth.
        "GOGC": "off",
        "GOMEMLIMIT": "1GiB",
    }
