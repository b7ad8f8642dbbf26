"""The package as a whole: light to import, and free of Pulumi and pydantic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fleet

_IMPORT = """
import importlib, pkgutil, sys
import fleet.charts
assert not [name for name in sys.modules if name.startswith("fleet.charts.")]
for module in pkgutil.iter_modules(fleet.charts.__path__, "fleet.charts."):
    importlib.import_module(module.name)
print(*sorted({name.split(".")[0] for name in sys.modules} & {"pulumi", "pydantic", "yaml"}))
"""


def test_the_package_imports_none_of_its_modules_and_no_heavy_library() -> None:
    done = subprocess.run(  # noqa: S603 -- our own interpreter and our own text
        [sys.executable, "-c", _IMPORT],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(fleet.__file__).parents[1],
    )
    assert done.stdout.strip() == ""
