"""The scratch folder in which the engine works, and the environment that the program sees.

The rehearsal writes nothing to the project's folder. The scratch folder holds `Pulumi.yaml`, the
stack file with placeholders for its secrets (encrypted), the state and a `PULUMI_HOME`; it is
removed afterwards. Credentials in the environment are hidden meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pulumi import automation

from pulumi_rehearsal import interrupts, vault
from pulumi_rehearsal.cli import Cli
from pulumi_rehearsal.engine import Command, Stack
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.policies import STACK_FILE, Pack
from pulumi_rehearsal.stackfile import StackFile

HIDDEN: Final = (
    *("AWS_", "AZURE_", "ARM_", "GOOGLE_", "OCI_", "TF_VAR_", "CLOUDFLARE_", "DIGITALOCEAN_"),
    *("GITHUB_TOKEN", "GITLAB_", "PULUMI_", "KUBE", "HELM_", "VAULT_"),
)
"""Prefixes of hidden environment variables: credentials and settings of tools."""

_KEY: Final = ("secretsprovider:", "encryptedkey:")
"""Lines of a stack file that hold the key of its secrets."""

Program = Callable[[], None]


class _Workspace(automation.LocalWorkspace):
    """A workspace whose program may be served by another process."""

    served_at: str = ""

    def serialize_args_for_op(self, stack_name: str) -> list[str]:
        return [f"--client={self.served_at}"] if self.served_at else []


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """The scratch folder and the stack in it."""

    folder: Path
    stack: automation.Stack

    def run_program(self, program: Program) -> None:
        """Let the next commands run this program, in this process."""
        self.stack.workspace.program = program

    def run_program_at(self, address: str) -> None:
        """Let the next commands run the program of a language server at that address."""
        local = self.stack.workspace
        if not isinstance(local, _Workspace) or local.program is not None:
            raise TypeError("the workspace was opened with a program of this process")
        local.served_at = address

    def configure(
        self,
        file: StackFile,
        secret_values: Mapping[str, str],
        plain_values: Mapping[str, str] | None = None,
    ) -> None:
        """Replace the stack's configuration by a stack file, with these values set on top."""
        settings = self.folder / f"Pulumi.{self.stack.name}.yaml"
        earlier = settings.read_text(encoding="utf-8") if settings.exists() else ""
        key = [line for line in earlier.splitlines() if line.startswith(_KEY)]
        settings.write_text("\n".join([*key, file.text]), encoding="utf-8")
        values = {
            **{key: automation.ConfigValue(text) for key, text in (plain_values or {}).items()},
            **{
                key: automation.ConfigValue(text, secret=True)
                for key, text in secret_values.items()
            },
        }
        if values:
            self.stack.set_all_config(values)

    def unprotect(self) -> None:
        """Remove the protection of every resource in the state, as `pulumi state` does."""
        self._command("state", "unprotect", "--all", "--yes")

    def protected(self) -> frozenset[str]:
        """Return the URNs of the protected resources, which the engine refuses to destroy."""
        deployment: dict[str, Any] = self.exported()["deployment"]
        resources: list[dict[str, Any]] = deployment.get("resources") or []
        return frozenset(one["urn"] for one in resources if one.get("protect"))

    def exported(self) -> dict[str, Any]:
        """Return `pulumi stack export`; the Automation API's own method decrypts secrets."""
        return json.loads(self._command("stack", "export"))

    def _command(self, *arguments: str) -> str:
        local = self.stack.workspace
        environment = {**local.env_vars, "PULUMI_HOME": local.pulumi_home or ""}
        command = [*arguments, "--stack", self.stack.name]
        return local.pulumi_command.run(command, local.work_dir, environment).stdout

    def state_files(self) -> list[Path]:
        """Return every file of the engine's backend."""
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
    """Create a scratch folder with an empty stack of that name; remove it at the end.

    `settings` is the project's `Pulumi.yaml`. Without `program`, call `run_program_at` before each
    command. Raises `RehearsalError` if the engine refuses a command.
    """
    folder = Path(tempfile.mkdtemp(prefix="pulumi-rehearsal-"))
    scope = ExitStack()
    try:
        (folder / "state").mkdir()
        (folder / "home").mkdir()
        shutil.copy(settings, folder)
        _link_files(settings.parent, folder)
        environment = _engine_environment(folder, ports)
        if pack is not None:
            (folder / "host").mkdir()
            pack.host(folder / "host")
            environment["PATH"] = f"{folder / 'host'}{os.pathsep}{os.environ.get('PATH', '')}"
            environment[STACK_FILE] = str(folder / f"Pulumi.{name}.yaml")
        environment |= scope.enter_context(vault.served())
        local = _Workspace(
            work_dir=str(folder),
            pulumi_home=str(folder / "home"),
            program=program,
            pulumi_command=Command(cli),
            env_vars=environment,
            secrets_provider=vault.PROVIDER,
        )
        yield Workspace(folder=folder, stack=Stack(name, local))
    except automation.CommandError as error:
        raise RehearsalError(f"the engine refused a command: {error}") from None
    finally:
        with interrupts.ignored():
            scope.close()
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def clean_environment() -> Generator[None]:
    """Hide credentials in the environment, and restore environment and import path at the end."""
    before = dict(os.environ)
    path = list(sys.path)
    for name in before:
        if name.startswith(HIDDEN):
            del os.environ[name]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = path


def _link_files(project: Path, scratch: Path) -> None:
    """Link the project's files, because the engine opens a FileAsset from its own folder."""
    for path in project.iterdir():
        if not path.name.startswith((".", "Pulumi.")) and not (scratch / path.name).exists():
            (scratch / path.name).symlink_to(path.absolute())


def _engine_environment(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
        "PULUMI_DEBUG_PROVIDERS": ",".join(f"{name}:{port}" for name, port in ports.items()),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
        # The engine saves the state when a command ends, a failed one too, not once per resource.
        "PULUMI_SKIP_CHECKPOINTS": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # The commands are short, so that garbage collection costs more than it saves.
        "GOGC": "off",
        "GOMEMLIMIT": "1GiB",
    }
