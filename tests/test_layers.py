"""The shape of the code: one arrow of imports, and things that stand in one place only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.catalog.charts import CHARTS
from tests.stackfiles import ROOT

ARROW = ("change", "rehearsal", "bootstrap", "__main__", "stacks", "components", "fleet")
"""Each may import those to its right."""

PROGRAMS = {"__main__": "bootstrap", "stacks": "bootstrap", "bootstrap": "stacks"}
"""Two programs side by side: each layer here must not import that one."""

OUTSIDE = ("tests", "benchmarks", "tools", "policy", "packages")
"""May import anything, and nothing imports them."""

CLOUDS = {"aws": "pulumi_aws", "oci": "pulumi_oci"}
MAX_LINES = 400


def files(*layers: str) -> list[Path]:
    found: list[Path] = []
    for layer in layers:
        folder = ROOT / layer
        found += [ROOT / f"{layer}.py", *sorted(folder.rglob("*.py"))]
    aside = {"__pycache__", ".venv"}
    return [file for file in found if file.is_file() and not aside & set(file.parts)]


def named(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imports(file: Path) -> Iterator[str]:
    """Yield every module that a file imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(file.read_text(), named(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{named(file)}: write imports in full"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def calls(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(), named(file))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


EVERYTHING = files(*ARROW)


def test_every_package_of_the_program_has_its_place_in_the_arrow() -> None:
    packages = {
        path.stem if path.is_file() else path.name
        for path in ROOT.iterdir()
        if not path.name.startswith(".")
        and (path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py"))))
    }
    assert packages - {"__pycache__"} <= {*ARROW, *OUTSIDE}
    assert all(files(layer) for layer in ARROW), "the test looks for something that is not there"


def test_imports_follow_the_arrow() -> None:
    for index, layer in enumerate(ARROW):
        forbidden = {*ARROW[:index], *OUTSIDE}
        for file in files(layer):
            wrong = {name for name in imports(file) if name.partition(".")[0] in forbidden}
            assert not wrong, f"{named(file)}: {layer} may import {', '.join(ARROW[index:])}"


@pytest.mark.parametrize(("layer", "other"), PROGRAMS.items())
def test_the_two_programs_know_nothing_of_each_other(layer: str, other: str) -> None:
    for file in files(layer):
        wrong = [name for name in imports(file) if name.partition(".")[0] in (other, "__main__")]
        assert not wrong, f"{named(file)}: {layer} and {other} are two programs"


def test_the_domain_knows_no_pulumi() -> None:
    for file in files("fleet"):
        wrong = {name for name in imports(file) if name.startswith(("pulumi", "google", "grpc"))}
        assert not wrong, f"{named(file)}: fleet is judged without any engine"


def test_the_policy_pack_judges_from_outside_and_shares_only_the_domain() -> None:
    forbidden = {*ARROW, *OUTSIDE} - {"fleet", "policy"}
    for file in files("policy"):
        names = set(imports(file))
        wrong = {name for name in names if name.partition(".")[0] in forbidden}
        assert not wrong, f"{named(file)}: the pack may import fleet"
        if file.name != "__main__.py":
            own = {name for name in names if name.startswith("pulumi")}
            assert not own, f"{named(file)}: the program's environment has no pulumi-policy"


def test_configuration_is_read_in_one_place() -> None:
    program = files("__main__", "bootstrap", "stacks", "components")
    readers = {
        named(file)
        for file in program
        if any(call.rpartition(".")[2] in ("Config", "get_config") for call in calls(file))
        or any(name.startswith("pulumi.runtime") for name in imports(file))
    }
    assert readers == {"stacks/load.py", "bootstrap/load.py"}, "one place for each program"


def test_providers_are_built_in_one_place() -> None:
    builders = {
        named(file)
        for file in files("__main__", "bootstrap", "stacks", "components")
        for call in calls(file)
        if re.search(r"(^|\.)Provider$", call)
    }
    assert builders == {"stacks/providers.py", "bootstrap/deploy.py"}, "one for each program"


def test_chart_versions_stand_in_one_place() -> None:
    pins = {pin.version for pin in CHARTS.values()}
    assert pins
    assert all(re.search(r"\d+\.\d+\.\d+", pin) for pin in pins), "a pin is a whole version"
    for file in files("__main__", "bootstrap", "stacks", "components", "fleet"):
        if named(file) != "fleet/catalog/charts.py":
            found = {pin for pin in pins if f'"{pin}"' in _code(file)}
            assert not found, f"{named(file)} repeats {found}: use fleet.catalog.charts"


@pytest.mark.parametrize("cloud", CLOUDS)
def test_each_cloud_stands_alone(cloud: str) -> None:
    others = tuple(sdk for name, sdk in CLOUDS.items() if name != cloud)
    for file in files(f"components/{cloud}") if (ROOT / "components" / cloud).is_dir() else []:
        assert not [name for name in imports(file) if name.startswith(others)], named(file)


@pytest.mark.parametrize("folder", ["gpu", "runners"])
def test_what_runs_inside_a_cluster_is_of_no_cloud(folder: str) -> None:
    for file in files(f"components/{folder}"):
        wrong = [name for name in imports(file) if name.startswith(tuple(CLOUDS.values()))]
        assert not wrong, named(file)


def test_files_are_small() -> None:
    sizes = {named(file): len(file.read_text().splitlines()) for file in files(*ARROW, *OUTSIDE)}
    large = {name: lines for name, lines in sizes.items() if lines > MAX_LINES}
    assert not large, f"over {MAX_LINES} lines: cut each where it does two things"


def test_every_file_says_what_it_is() -> None:
    silent = [
        named(file)
        for file in EVERYTHING
        if not ast.get_docstring(ast.parse(file.read_text(), named(file)))
    ]
    assert not silent, "a module starts with one sentence of purpose"


def test_test_files_have_names_of_their_own() -> None:
    stems = [file.stem for file in files("tests") if file.stem != "conftest"]
    twice = {stem for stem in stems if stems.count(stem) > 1}
    assert not twice, "without packages in tests/, two files of one name are one module"


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
