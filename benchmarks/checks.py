"""CPU time of the checks for one cluster with 1,000 pools and 2,000 lanes, and with 10 and 20.

Run it from the repository root: `python benchmarks/checks.py`. It measures CPU seconds of this
process, alternates the two sizes, and prints the median of the turns. It also measures reading and
planning, because a preview runs all three. It exits with 1 if the checks take too long.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
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


def measure(pools: int) -> Iterator[tuple[str, float]]:
    """Yield the name and the CPU seconds of each step for a stack with that many GPU pools."""
    data = stack(pools)
    started = time.process_time()
    parsed = parse(data).stack
    assert parsed is not None
    yield "read", time.process_time() - started
    started = time.process_time()
    plan = build(parsed)
    yield "plan", time.process_time() - started
    started = time.process_time()
    list(judge(View(stack=parsed, plan=plan, today=_TODAY)))
    yield "checks", time.process_time() - started


def main() -> int:
    """Print each step for both sizes; return 1 if the checks of the larger take too long."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=5, help="turns of each size")
    turns: int = options.parse_args().turns
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(turns):
        for pools in (FEW, MANY):
            for step, seconds in measure(pools):
                found.setdefault((step, pools), []).append(seconds)
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
