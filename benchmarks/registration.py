"""What the components cost: prod against a flat script, many pools against few, and the imports.

Run from the repository root: `python benchmarks/registration.py`. Times are CPU seconds of this
process (for imports: of a fresh interpreter), as the fake engine answers at once and neighbours on
the machine do not count. Variants run by turns, and the median of the turns is shown.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import pulumi  # noqa: E402 (after the path)
import pulumi_kubernetes as kubernetes  # noqa: E402

from benchmarks.flat import differences, flat  # noqa: E402
from components.cluster import RunnerCluster, RunnerClusterArgs  # noqa: E402
from fleet.load import load  # noqa: E402
from fleet.plan.build import Plan  # noqa: E402
from stacks.providers import aws_provider, gitlab_provider  # noqa: E402
from tests import fleets, stackfiles  # noqa: E402
from tests.engine import Registered, deploy  # noqa: E402

PROD_AT_MOST = 1.2
POOL_AT_MOST = 1.3
IMPORT_AT_MOST_S = 0.15
FEW, MANY = 10, 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of the result."""

    what: str
    figures: str
    value: float
    at_most: float

    def __str__(self) -> str:
        verdict = "ok" if self.value <= self.at_most else "OVER"
        return f"{self.what:<34}{self.figures:<44}{self.value:6.3f}   at most {self.at_most}  {verdict}"


def clusters(plan: Plan) -> Callable[[], None]:
    """Return a program that registers a plan by the components, as `stacks.deploy` does."""

    def connect(name: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
        return kubernetes.Provider(
            name, kubeconfig=kubeconfig, enable_secret_mutable=True, enable_config_map_mutable=True
        )

    def program() -> None:
        for cluster in plan.clusters:
            providers: list[pulumi.ProviderResource] = [aws_provider(cluster.eks)]
            if cluster.gitlab is not None:
                providers.append(
                    gitlab_provider(cluster.name, cluster.gitlab, pulumi.Output.secret("glpat"))
                )
            secrets = {"githubAppKey": pulumi.Output.secret("key")}
            args = RunnerClusterArgs(plan=cluster, connect=connect, secrets=secrets)
            opts = pulumi.ResourceOptions(providers=providers)
            RunnerCluster(cluster.name, args, opts)

    return program


def plan_of(data: object) -> Plan:
    """Load the data of a stack."""
    return load(data, source="benchmark", has_secret=lambda _name: True).plan


def seconds(program: Callable[[], None]) -> float:
    """CPU time of one run under the fake engine."""
    gc.collect()
    start = time.process_time()
    deploy(program)
    return time.process_time() - start


def by_turns(programs: list[Callable[[], None]], turns: int) -> list[list[float]]:
    """Run each program once per turn; return the times of each."""
    times: list[list[float]] = [[] for _ in programs]
    for turn in range(turns):
        order = list(enumerate(programs))
        for index, program in order if turn % 2 else reversed(order):
            times[index].append(seconds(program))
    return times


def prod(turns: int) -> Line:
    """Compare prod with a flat script that registers exactly the same."""
    components = clusters(plan_of(stackfiles.body("prod")))
    found = deploy(components)
    script = flat(found)
    unlike = differences(found, deploy(script))
    assert not unlike, f"the flat script registers something else: {unlike}"
    with_components, without = by_turns([components, script], turns)
    ratio = median(a / b for a, b in zip(with_components, without, strict=True))
    a, b = median(with_components), median(without)
    return Line(
        what=f"prod, {_count(found)}",
        figures=f"components {a * 1000:.0f} ms, flat {b * 1000:.0f} ms, ratio",
        value=ratio,
        at_most=PROD_AT_MOST,
    )


def _count(found: Registered) -> str:
    components = sum(not one.custom and not one.remote for one in found.resources)
    return f"{len(found.resources) - components} resources + {components}"


def with_pools(count: int) -> Plan:
    """Plan a cluster with that many GPU pools, its lanes on one of them."""
    pool = {"instance_types": ["g4dn.xlarge"], "max_size": 1}
    pools = {f"p{index}": pool for index in range(count - 1)}
    return plan_of(fleets.stack({"eks": {"pools": pools}}))


def pools(turns: int) -> Line:
    """Compare what one pool costs among many with what it costs among few."""
    few, many = clusters(with_pools(FEW)), clusters(with_pools(MANY))
    seconds(few)
    few_s = median(seconds(few) for _ in range(turns)) / FEW
    many_s = seconds(many) / MANY
    return Line(
        what=f"one pool of {MANY}",
        figures=f"{many_s * 1000:.1f} ms, of {FEW} {few_s * 1000:.1f} ms, ratio",
        value=many_s / few_s,
        at_most=POOL_AT_MOST,
    )


def pools_alone(turns: int) -> Line:
    """Compare as `pools` does, but without what a cluster costs that has one pool."""
    none, few, many = (clusters(with_pools(count)) for count in (1, FEW + 1, MANY + 1))
    seconds(few)
    none_s, few_s = (median(times) for times in by_turns([none, few], turns))
    few_each = (few_s - none_s) / FEW
    many_each = (seconds(many) - none_s) / MANY
    return Line(
        what=f"one pool more, of {MANY}",
        figures=f"{many_each * 1000:.1f} ms, of {FEW} {few_each * 1000:.1f} ms, ratio",
        value=many_each / few_each,
        at_most=POOL_AT_MOST,
    )


def planning(turns: int) -> Line:
    """Compare the plan of one pool among many and among few: no Pulumi in it."""

    def each(count: int) -> float:
        gc.collect()
        start = time.process_time()
        with_pools(count)
        return (time.process_time() - start) / count

    few_s = median(each(FEW) for _ in range(turns))
    many_s = median(each(MANY) for _ in range(3))
    return Line(
        what=f"plan of one pool of {MANY}",
        figures=f"{many_s * 1000:.2f} ms, of {FEW} {few_s * 1000:.2f} ms, ratio",
        value=many_s / few_s,
        at_most=POOL_AT_MOST,
    )


def importing(module: str, turns: int) -> Line:
    """Time the import of a module in a fresh interpreter, less an empty interpreter's start."""

    def start(statement: str) -> float:
        script = (
            f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
        )
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    start(f"import {module}")
    found = median(start(f"import {module}") for _ in range(turns))
    return Line(what=f"import {module}", figures="seconds", value=found, at_most=IMPORT_AT_MOST_S)


def main() -> int:
    """Print every line; 1 when one is over."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=15, help="turns of each comparison")
    turns: int = options.parse_args().turns
    few_turns = max(3, turns // 3)
    over = False
    for measure in (
        partial(importing, "fleet", few_turns),
        partial(importing, "fleet.load", few_turns),
        partial(prod, turns),
        partial(planning, few_turns),
        partial(pools, few_turns),
        partial(pools_alone, few_turns),
    ):
        line = measure()
        over |= line.value > line.at_most
        print(line, flush=True)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
