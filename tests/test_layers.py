"""The layers of the code: which package imports which, and facts that have one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.catalog.charts import CHARTS
from tests.stackfiles import ROOT

MAY_IMPORT = {
    "fleet": set[str](),
    "components": {"fleet"},
    "stacks": {"fleet", "components"},
    "__main__": {"stacks"},
    "bootstrap": {"fleet"},
    "rehearsal": {"fleet", "bootstrap", "pulumi_rehearsal"},
    "change": {"fleet", "stacks", "rehearsal", "pulumi_rehearsal"},
    "policy": {"fleet"},
    "tools": {"change"},
}
"""What each package of this repository may import of it, besides itself.

`__main__` and `bootstrap` are two programs. `policy` runs outside of both, and shares `fleet` only.
"""

UNRESTRICTED = {"tests", "benchmarks"}
"""They may import everything, and no package imports them."""

OURS = {*MAY_IMPORT, *UNRESTRICTED, "pulumi_rehearsal"}
CLOUDS = {"aws": "pulumi_aws", "oci": "pulumi_oci"}
SDK = ("pulumi", "google", "grpc")


def files(*packages: str) -> list[Path]:
    found: list[Path] = []
    for package in packages:
        found += [ROOT / f"{package}.py", *sorted((ROOT / package).rglob("*.py"))]
    ignored = {"__pycache__", ".venv"}
    return [file for file in found if file.is_file() and not ignored & set(file.parts)]


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imports(file: Path) -> Iterator[str]:
    """Yield every module that a file imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(file.read_text(), relative(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(file)}: use absolute imports"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def calls(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(), relative(file))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_every_package_has_a_rule() -> None:
    packages = {
        path.stem if path.is_file() else path.name
        for path in ROOT.iterdir()
        if not path.name.startswith(".")
        and (path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py"))))
    }
    assert packages - {"__pycache__", "packages"} <= OURS
    assert all(files(package) for package in MAY_IMPORT), "a rule for a package without files"


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_only_what_they_may(package: str) -> None:
    forbidden = OURS - MAY_IMPORT[package] - {package}
    for file in files(package):
        wrong = {name for name in imports(file) if name.partition(".")[0] in forbidden}
        allowed = ", ".join(sorted(MAY_IMPORT[package])) or "nothing else of this repository"
        assert not wrong, f"{relative(file)}: {package} may import {allowed}"


WITH_SDK = {"bootstrap/__main__.py", "bootstrap/load.py", "bootstrap/deploy.py"}


def test_models_and_plans_import_no_sdk() -> None:
    for file in files("fleet", "bootstrap"):
        name = relative(file)
        if name not in WITH_SDK and not name.startswith("bootstrap/components/"):
            wrong = {module for module in imports(file) if module.startswith(SDK)}
            assert not wrong, f"{name}: models, plans and checks run without the engine"


def test_only_the_entry_file_of_the_policy_pack_imports_the_sdk() -> None:
    for file in files("policy"):
        if file.name != "__main__.py":
            wrong = {name for name in imports(file) if name.startswith(SDK)}
            assert not wrong, f"{relative(file)}: the program's environment has no pulumi-policy"


PROGRAMS = ("__main__", "bootstrap", "stacks", "components")


def test_configuration_is_read_in_one_file_of_each_program() -> None:
    readers = {
        relative(file)
        for file in files(*PROGRAMS)
        if any(call.rpartition(".")[2] in ("Config", "get_config") for call in calls(file))
        or any(name.startswith("pulumi.runtime") for name in imports(file))
    }
    assert readers == {"stacks/deploy.py", "bootstrap/load.py"}


def test_providers_are_built_in_one_file_of_each_program() -> None:
    builders = {
        relative(file)
        for file in files(*PROGRAMS)
        for call in calls(file)
        if re.search(r"(^|\.)Provider$", call)
    }
    assert builders == {"stacks/providers.py", "bootstrap/deploy.py"}


def test_chart_versions_are_in_one_file() -> None:
    versions = {chart.version for chart in CHARTS.values()}
    assert versions
    assert all(re.search(r"\d+\.\d+\.\d+", one) for one in versions), "a version is complete"
    for file in files(*PROGRAMS, "fleet"):
        if relative(file) != "fleet/catalog/charts.py":
            code = _code(file)
            found = {version for version in versions if f'"{version}"' in code}
            assert not found, f"{relative(file)} repeats {found}: use fleet.catalog.charts"


@pytest.mark.parametrize("cloud", CLOUDS)
def test_components_of_a_cloud_import_no_other_cloud(cloud: str) -> None:
    others = tuple(sdk for name, sdk in CLOUDS.items() if name != cloud)
    for file in files(f"components/{cloud}"):
        assert not [name for name in imports(file) if name.startswith(others)], relative(file)


@pytest.mark.parametrize("folder", ["gpu", "runners"])
def test_components_inside_a_cluster_import_no_cloud(folder: str) -> None:
    for file in files(f"components/{folder}"):
        wrong = [name for name in imports(file) if name.startswith(tuple(CLOUDS.values()))]
        assert not wrong, relative(file)


def test_every_module_has_a_docstring() -> None:
    without = [
        relative(file)
        for file in files(*MAY_IMPORT)
        if not ast.get_docstring(ast.parse(file.read_text(), relative(file)))
    ]
    assert not without


def test_test_files_have_unique_names() -> None:
    stems = [file.stem for file in files("tests") if file.stem != "conftest"]
    twice = {stem for stem in stems if stems.count(stem) > 1}
    assert not twice, "tests/ has no packages, so two files of one name are one module"


def _code(file: Path) -> str:
    """Return a file's code without comments and docstrings."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [
                one
                for one in body
                if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ] or [ast.Pass()]
    return ast.unparse(tree).replace("'", '"')
