"""`kill -9` of the engine while a change waits for running jobs: the next `up` converges."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pulumi_rehearsal import Busy, secrets
from pulumi_rehearsal.engine import Operation, Outcome
from pulumi_rehearsal.messages import reasons
from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.job_needs import watch
from scratch import Moment, Scratch, opened

from rehearsal import checks, stackfile
from rehearsal.project import FLEET, ROOT
from tests.exhaustive import EXHAUSTIVE
from tests.rehearsal.test_rehearsal_existing import KUBECONFIG, STACK

pytestmark = [
    pytest.mark.engine,
    # The SDK reads the events of a killed engine to their unfinished end.
    pytest.mark.filterwarnings("ignore:Error in event stream"),
]

POINTS: list[tuple[Moment, float]] = [
    ("before", 0.3),
    ("after", 0.0),
    ("after", 0.4),
    ("after", 0.8),
    ("waiting", 0.0),
]
"""Kinds of moments, and which of them: 0 is the first, 1 the last."""
if EXHAUSTIVE:
    chance = random.Random(10)  # noqa: S311 - the same points in every run
    POINTS = [
        (chance.choice(["before", "after", "after", "waiting"]), chance.random()) for _ in range(20)
    ]


class Changes:
    """A stack that changes between two revisions, each of which makes and removes lanes."""

    def __init__(self, stack: Scratch, files: list[Path]) -> None:
        self.stack, self.world = stack, stack.world
        self._files = [stackfile.read(file) for file in files]
        self._inventories: dict[int, Counter[str]] = {}
        self.moments: dict[Moment, int] = {}
        """How many moments of each kind a change has."""
        self._now = 0
        stack.world.jobs.plan(Busy("*"))
        for _ in files:
            self.begin()
            self.succeed("up")
            self._inventories[self._now] = self.inventory()
            self.moments = stack.killer.passed

    def begin(self) -> None:
        """Configure the other revision, and let a job run on every lane."""
        self._now = (self._now + 1) % 2
        file = self._files[self._now]
        self.stack.configure(file, secrets.placeholders(file.secret_keys))
        self.world.jobs.start(lambda resource: watch(resource, self.world))
        self.stack.killer.aim(None)

    def inventory(self) -> Counter[str]:
        """Return everything that exists, but runners at GitLab, whose ids change."""
        left = (one for one in self.world.all() if one.type != gitlab.RUNNER)
        return Counter(f"{one.type} {one.id}" for one in left)

    def succeed(self, operation: Operation) -> Outcome:
        outcome = self.stack.run(operation)
        assert outcome.ok, reasons(outcome.complaints)
        return outcome

    def check(self) -> None:
        """Check that the revision is there as without a kill, and that every job ended."""
        self.world.jobs.finish()
        assert self.world.jobs.killed == []
        assert world_faults(self.world) == []
        assert self.succeed("refresh").differences == []
        assert self.inventory() == self._inventories[self._now]


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Changes]:
    folder = tmp_path_factory.mktemp("kills")
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    one, two = folder / "Pulumi.one.yaml", folder / "Pulumi.two.yaml"
    text = STACK.format(kubeconfig=kubeconfig)
    one.write_text(text)
    # A changed label, a removed and a new lane, and another runner at GitLab.
    changed = (
        text.replace("device: dri}", "device: dri, labels: [vulkan, mesa]}")
        .replace("            android:", "            emulator:")
        .replace("group_id: 42", "group_id: 43")
    )
    two.write_text(changed)
    existing = checks.existing(stackfile.read(one))
    with opened(ROOT / "Pulumi.yaml", FLEET.program, existing=existing) as stack:
        yield Changes(stack, [one, two])


def test_the_change_waits_for_its_jobs(changes: Changes) -> None:
    assert changes.moments["waiting"] >= 3, "a changed and a removed set, and a replaced manager"
    assert changes.world.jobs.killed == []


@pytest.mark.parametrize(("moment", "share"), POINTS)
def test_the_next_up_converges(changes: Changes, moment: Moment, share: float) -> None:
    changes.begin()
    count = changes.moments[moment]
    changes.stack.killer.aim(moment, min(int(share * count), count - 1))
    assert not changes.stack.run("up").ok
    assert changes.stack.killer.happened
    changes.stack.killer.aim(None)
    changes.succeed("up")
    changes.check()
