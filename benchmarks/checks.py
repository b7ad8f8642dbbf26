"""What the checks cost: 1,000 pools and 2,000 lanes of one cluster against 10 and 20.

Run from the repository root: `python benchmarks/checks.py`. Times are CPU seconds of this process,
the two sizes by turns, and the median of the turns is shown. Reading and planning stand beside the
checks, because a preview pays for all three.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from fleet.checks.judge import CHECKS, judge
from fleet.checks.view import View
from fleet.config.load import parse
from fleet.plan import build

FEW, MANY = 10, 1000
CHECKS_AT_MOST_S = 1.0
_TODAY = date(2026, 11, 21)
_KINDS = ("g4dn.xlarge", "g5.2xlarge", "g6.12xlarge", "p4d.24xlarge")


def stack(pools: int) -> dict[str, Any]:
    """Return the data of one cluster with that many GPU pools and twice as many lanes."""
    system = {"instance_types": ["m6i.4xlarge"], "min_size": 2, "max_size": 200}
    gpu = {
        f"p{index}": {"instance_types": [_KINDS[index % len(_KINDS)]], "max_size": 10}
        for index in range(pools)
    }
    github = {
        f"gh-{index}": {
            "pools": [f"p{index}"],
            "gpus": 1,
            "max_runners": 10,
            "labels": [f"kind-{index}", "gpu"],
        }
        for index in range(pools)
    }
    gitlab = {
        f"gl-{index}": {
            "pools": [f"p{index}"],
            "gpus": 1,
            "concurrent": 4,
            "tags": [f"kind-{index}", "gpu"],
            "runner": {"group_id": 42},
        }
        for index in range(pools)
    }
    cluster: dict[str, Any] = {
        "eks": {
            "region": "us-west-2",
            "version": "1.35",
            "network": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]},
            "pools": {"system": system, **gpu},
        },
        "gpu_stack": {"operator": {}},
        "github": {
            "url": "https://github.com/example-org",
            "existing_secret": "app",
            "lanes": github,
        },
        "gitlab": {"api_token": {"secret": "gitlabApiToken"}, "lanes": gitlab},
    }
    return {"clusters": {"ci": cluster}}


def seconds(step: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    started = time.process_time()
    step()
    return time.process_time() - started


def main() -> int:
    """Print each step for both sizes; 1 when the checks of the larger take too long."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=5, help="turns of each size")
    turns: int = options.parse_args().turns
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(turns):
        for size in (FEW, MANY):
            data = stack(size)
            parsed = parse(data)
            assert parsed.stack is not None
            read = parsed.stack
            plan = build(read)

            def judged() -> list[object]:
                return list(judge(View(stack=read, plan=plan, today=_TODAY)))  # noqa: B023

            for what, step in (
                ("read", lambda: parse(data)),  # noqa: B023
                ("plan", lambda: build(read)),  # noqa: B023
                ("checks", judged),
            ):
                found.setdefault((what, size), []).append(seconds(step))
    print(f"{len(CHECKS)} checks; CPU seconds, median of {turns} turns")
    print(f"{'':<10}{FEW:>8} pools{MANY:>8} pools{'ratio a pool':>15}")
    for what in ("read", "plan", "checks"):
        few, many = median(found[what, FEW]), median(found[what, MANY])
        print(f"{what:<10}{few:>14.4f}{many:>14.4f}{many / few * FEW / MANY:>15.2f}")
    over = median(found["checks", MANY]) > CHECKS_AT_MOST_S
    print(f"checks of {MANY} pools: at most {CHECKS_AT_MOST_S} s: {'OVER' if over else 'ok'}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
