"""Measure the cost of components (against a flat program), of each pool, and of imports.

Run from the repository root: `python benchmarks/registration.py`. Times are CPU seconds of this
process (for imports: of a fresh interpreter), because the fake engine answers at once and other
processes should not matter. Variants run in turn, and the median of the turns is shown.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import pulumi  # noqa: E402 (after the path)
import pulumi_kubernetes as kubernetes  # noqa: E402

from benchmarks.flat import differences, flat  # noqa: E402
from components.cluster import RunnerCluster  # noqa: E402
from fleet.load import load  # noqa: E402
from fleet.plan import Plan  # noqa: E402
from stacks.deploy import exempt_from_garbage_collection  # noqa: E402
from stacks.providers import cloud_provider, gitlab_provider  # noqa: E402
from tests import fleets, stackfiles  # noqa: E402
from tests.computed import OCI_CALLS  # noqa: E402
from tests.engine import Registered, deploy  # noqa: E402

PROD_AT_MOST = 1.2
POOL_AT_MOST = 1.3
IMPORT_AT_MOST_S = 0.15
FEW, MANY = 10, 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of the result; without a limit it is only information."""

    what: str
    figures: str
    value: float
    at_most: float | None = None

    @property
    def over(self) -> bool:
        """Whether the value is above its limit."""
        return self.at_most is not None and self.value > self.at_most

    def __str__(self) -> str:
        limit = f"at most {self.at_most}: {'OVER' if self.over else 'ok'}" if self.at_most else ""
        return f"{self.what:<32}{self.figures:<44}{self.value:6.3f}  {limit}".rstrip()


def clusters(plan: Plan) -> Callable[[], None]:
    """Return a program that registers a plan by the components, as `stacks.deploy` does."""

    def connect(name: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
        return kubernetes.Provider(
            name, kubeconfig=kubeconfig, enable_secret_mutable=True, enable_config_map_mutable=True
        )

    def program() -> None:
        for cluster in plan.clusters:
            providers: list[pulumi.ProviderResource] = [cloud_provider(cluster.platform)]
            if cluster.gitlab is not None:
                providers.append(
                    gitlab_provider(cluster.name, cluster.gitlab, pulumi.Output.secret("glpat"))
                )
            secrets = {"githubAppKey": pulumi.Output.secret("key")}
            opts = pulumi.ResourceOptions(providers=providers)
            RunnerCluster(cluster.name, plan=cluster, connect=connect, secrets=secrets, opts=opts)

    return program


def plan_of(data: object) -> Plan:
    """Load the data of a stack."""
    return load(data, source="benchmark", has_secret=lambda _name: True).plan


def seconds(program: Callable[[], None]) -> float:
    """Return the CPU time of one run under the fake engine."""
    gc.collect()
    exempt_from_garbage_collection()  # as the program does; here it applies to both variants
    start = time.process_time()
    deploy(program, calls=OCI_CALLS)
    return time.process_time() - start


def by_turns(programs: list[Callable[[], None]], turns: int) -> list[list[float]]:
    """Run each program once per turn; return the times of each."""
    times: list[list[float]] = [[] for _ in programs]
    for turn in range(turns):
        order = list(enumerate(programs))
        for index, program in order if turn % 2 else reversed(order):
            times[index].append(seconds(program))
    return times


def prod(turns: int) -> Iterator[Line]:
    """Compare prod with a flat program that registers the same resources."""
    components = clusters(plan_of(stackfiles.body("prod")))
    found = deploy(components, calls=OCI_CALLS)
    script = flat(found)
    unlike = differences(found, deploy(script, calls=OCI_CALLS))
    assert not unlike, f"the flat script registers something else: {unlike}"
    with_components, without = by_turns([components, script], turns)
    ratio = median(a / b for a, b in zip(with_components, without, strict=True))
    a, b = median(with_components), median(without)
    yield Line(
        what=f"prod, {_count(found)}",
        figures=f"components {a * 1000:.0f} ms, flat {b * 1000:.0f} ms, ratio",
        value=ratio,
        at_most=PROD_AT_MOST,
    )


def _count(found: Registered) -> str:
    components = sum(not one.custom and not one.remote for one in found.resources)
    return f"{len(found.resources) - components} resources, in {components}"


def with_pools(count: int) -> Plan:
    """Return the plan of a cluster with that many GPU pools, and with lanes on one of them."""
    pool = {"instance_types": ["g4dn.xlarge"], "max_size": 1}
    pools = {f"p{index}": pool for index in range(count - 1)}
    return plan_of(fleets.stack({"eks": {"pools": pools}}))


def pools(turns: int) -> Iterator[Line]:
    """Compare the time per pool of a large cluster with that of a small one.

    The first line includes the time of the cluster without pools, the second does not. The third
    is measured without garbage collection, which causes most of the difference: a larger program
    has more collections, and each one visits the objects of the whole SDK.
    """
    one, few, many = (clusters(with_pools(count)) for count in (1, FEW, MANY))
    seconds(one)
    one_s, few_s = (median(times) for times in by_turns([one, few], turns))
    many_s = seconds(many)
    yield _per_pool("one pool", few_s / FEW, many_s / MANY, at_most=POOL_AT_MOST)
    few_more, many_more = (few_s - one_s) / (FEW - 1), (many_s - one_s) / (MANY - 1)
    yield _per_pool("one pool more", few_more, many_more)
    gc.disable()
    few_s, many_s = median(seconds(few) for _ in range(turns)), seconds(many)
    gc.enable()
    yield _per_pool("one pool, collector off", few_s / FEW, many_s / MANY)


def planning(turns: int) -> Iterator[Line]:
    """Compare the planning time per pool of a large and a small cluster, without Pulumi."""

    def each(count: int) -> float:
        gc.collect()
        start = time.process_time()
        with_pools(count)
        return (time.process_time() - start) / count

    few, many = (median(each(count) for _ in range(turns)) for count in (FEW, MANY))
    yield _per_pool("plan of one pool", few, many, at_most=POOL_AT_MOST)


def _per_pool(what: str, few: float, many: float, at_most: float | None = None) -> Line:
    return Line(
        what=what,
        figures=f"of {MANY} {many * 1000:.2f} ms, of {FEW} {few * 1000:.2f} ms, ratio",
        value=many / few,
        at_most=at_most,
    )


def importing(turns: int) -> Iterator[Line]:
    """Measure imports of `fleet` in fresh interpreters, minus the start of an empty one."""

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

    for module in ("fleet", "fleet.load"):
        start(f"import {module}")
        found = median(start(f"import {module}") for _ in range(turns))
        yield Line(
            what=f"import {module}",
            figures="seconds",
            value=found,
            at_most=IMPORT_AT_MOST_S if module == "fleet" else None,
        )


def main() -> int:
    """Print every line; return 1 if a value is above its limit."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=15, help="turns of each comparison")
    turns: int = options.parse_args().turns
    few_turns = max(3, turns // 3)
    over = False
    for line in chain(importing(few_turns), prod(turns), planning(few_turns), pools(few_turns)):
        over |= line.over
        print(line, flush=True)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
