"""The package imports nothing but its dependencies, and names no project that uses it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pulumi_rehearsal

SOURCE = Path(pulumi_rehearsal.__file__).parent
DEPENDENCIES = {
    *("pulumi", "grpc", "google", "semver"),  # the SDK and what it is built on
    *("kubernetes_validate", "jsonschema", "referencing"),
    *("packaging", "pytest", "rich", "yaml"),
}
FILES = sorted(SOURCE.rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: use absolute imports"
            yield (node.module or "").partition(".")[0]


def test_the_package_imports_its_dependencies_only() -> None:
    known = DEPENDENCIES | sys.stdlib_module_names | {"pulumi_rehearsal"}
    found = {(file.name, name) for file in FILES for name in imported(file) if name not in known}
    assert found == set()


def test_no_sdk_of_a_cloud_is_imported_before_a_program_uses_it() -> None:
    script = (
        "import sys, pulumi_rehearsal.driver; "
        "print([n for n in sys.modules if n.startswith('pulumi_') and 'rehearsal' not in n])"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_text_of_the_package_names_a_project_that_uses_it() -> None:
    foreign = re.compile(
        r"gpu-runners|\blanes?\b|\bfleets?\b|\bmake (rehearse|test|policy)\b", re.I
    )
    found = {
        f"{file.relative_to(SOURCE)}:{number}: {line.strip()}"
        for file in FILES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if foreign.search(line)
    }
    assert found == set()
