from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.fake_forge import FakeForge, served

RENDERER = """
import argparse, json, os, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--from", dest="source", type=pathlib.Path)
parser.add_argument("--output", type=pathlib.Path)
parser.add_argument("--run")
options = parser.parse_args()
diff = json.loads(options.source.read_text())
text = diff["text"].replace("ENVIRONMENT", " ".join(sorted(os.environ)))
marker = f"<!-- gpu-runners diff: {diff.get('stack', 'prod')} -->"
options.output.write_text(f"{marker}\\n{text}".replace("RUN", options.run))
"""


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    with served(FakeForge()) as running:
        yield running


@pytest.fixture
def renderer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose renderer writes the marker of the diff's `stack`, and its `text`."""
    package = tmp_path / "change"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "comment.py").write_text(RENDERER)
    monkeypatch.setattr("tools.untrusted.ROOT", tmp_path)
    return tmp_path
