"""Two threads may use a lazily imported module at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import importlib.util, sys, threading
from pulumi_rehearsal import lazy_modules
lazy_modules.make_thread_safe()
spec = importlib.util.spec_from_file_location("slow", sys.argv[1])
spec.loader = importlib.util.LazyLoader(spec.loader)
slow = importlib.util.module_from_spec(spec)
sys.modules["slow"] = slow
spec.loader.exec_module(slow)
found = []
threads = [threading.Thread(target=lambda: found.append(slow.VALUE)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(found))
"""


def test_threads_wait_until_a_lazy_module_is_loaded(tmp_path: Path) -> None:
    module = tmp_path / "slow.py"
    module.write_text("import time\ntime.sleep(0.3)\nVALUE = 1\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(module)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "8", done.stderr


def test_a_lazy_module_that_uses_itself_is_loaded(tmp_path: Path) -> None:
    module = tmp_path / "slow.py"
    module.write_text("import slow\nNAME = slow.__name__\nVALUE = 1\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(module)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "8", done.stderr
