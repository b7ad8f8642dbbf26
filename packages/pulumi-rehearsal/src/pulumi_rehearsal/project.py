"""The Pulumi project that is rehearsed: its `Pulumi.yaml`, its program, its stack files."""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import yaml

from pulumi_rehearsal.errors import RehearsalError

SETTINGS: Final = ("Pulumi.yaml", "Pulumi.yml")
DEFAULT_STACK: Final = "dev"


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """One Pulumi project. `settings` is its `Pulumi.yaml`, `main` the folder of `__main__.py`."""

    name: str
    settings: Path
    main: Path
    runtime: str

    @property
    def folder(self) -> Path:
        return self.settings.parent

    def stack_file(self, stack: str | None) -> Path:
        """Return the path of a stack's file, which need not exist.

        Without a name it is the project's only stack, or `dev` if the project has no stack file.
        Raises `RehearsalError` if the project has several.
        """
        if stack is not None:
            return self.folder / f"Pulumi.{stack}.yaml"
        found = sorted(self.folder.glob("Pulumi.*.yaml"))
        if len(found) > 1:
            names = ", ".join(path.stem.removeprefix("Pulumi.") for path in found)
            raise RehearsalError(
                f"{self.folder}: has several stacks; pass stack= with one of {names}"
            )
        return found[0] if found else self.folder / f"Pulumi.{DEFAULT_STACK}.yaml"

    def run(self) -> None:
        """Run `__main__.py` as Pulumi's language host does: in its folder, all modules new.

        Modules of the project are forgotten afterwards, so that the next command of the engine
        registers the resources that they declare when they are imported.
        """
        program = self.main / "__main__.py"
        if self.runtime != "python" or not program.is_file():
            raise RehearsalError(
                f"{program}: there is no such Python program (runtime {self.runtime!r}); pass one "
                "with program="
            )
        before = set(sys.modules)
        with contextlib.chdir(self.main), _imported_from(self.main):
            try:
                runpy.run_path(str(program), run_name="__main__")
            finally:
                for name in set(sys.modules) - before:
                    file = getattr(sys.modules[name], "__file__", None)
                    if file and _belongs_to(Path(file), self.folder):
                        del sys.modules[name]


def read(path: Path) -> Project:
    """Read the project in a folder, or the one of a `Pulumi.yaml`. Raises `RehearsalError`."""
    settings = path if path.is_file() else _settings_in(path)
    try:
        found: object = yaml.safe_load(settings.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RehearsalError(f"{settings}: cannot be read: {error}") from None
    if not isinstance(found, dict) or not isinstance(cast("Any", found).get("name"), str):
        raise RehearsalError(f"{settings}: has no name; write name: and runtime: python")
    values = cast("dict[str, Any]", found)
    runtime = values.get("runtime")
    if isinstance(runtime, dict):
        runtime = cast("dict[str, Any]", runtime).get("name")
    main = settings.parent / str(values.get("main") or ".")
    return Project(
        name=values["name"],
        settings=settings.absolute(),
        main=(main.parent if main.suffix == ".py" else main).absolute(),
        runtime=str(runtime),
    )


def _settings_in(folder: Path) -> Path:
    for name in SETTINGS:
        if (folder / name).is_file():
            return folder / name
    raise RehearsalError(
        f"{folder}: has no Pulumi.yaml; give the folder of a Pulumi project, or write one with "
        "name: and runtime: python"
    )


@contextlib.contextmanager
def _imported_from(folder: Path) -> Generator[None]:
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


def _belongs_to(file: Path, folder: Path) -> bool:
    """Return whether a module is the project's, not a package installed in its folder."""
    return file.is_relative_to(folder) and "site-packages" not in file.parts
