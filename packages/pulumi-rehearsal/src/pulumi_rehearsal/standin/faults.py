"""Injected faults: a resource that fails or stalls at a given step, by logical name."""

from __future__ import annotations

import fnmatch
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from pulumi_rehearsal.standin.kind import Refusal

Step = Literal["create", "update", "delete"]
STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A fault of each resource whose logical name matches the glob `name`, at those `steps`.

    It happens `times` times per resource and step, always for `None`. With `seconds` above zero
    the step stalls for that time and then succeeds; with zero it fails.
    """

    name: str
    steps: tuple[Step, ...] = STEPS
    times: int | None = 1
    seconds: float = 0


EACH_ONCE = Fault(name="*", steps=("create",))
"""Every resource fails the first time that it is created."""


class Faults:
    """The faults of one rehearsal."""

    def __init__(self, *faults: Fault) -> None:
        self._faults = faults
        self._struck: Counter[tuple[int, str, str]] = Counter()
        self._lock = threading.Condition()
        self._cancellations = 0

    def strike(self, step: Step, urn: str, name: str) -> None:
        """Stall or raise `Refusal` if a fault is due; called before the step changes anything."""
        for index, fault in enumerate(self._faults):
            if not self._due(index, fault, step, urn, name):
                continue
            if not fault.seconds:
                raise Refusal(f"injected failure: {step} of {name!r} (an option of the rehearsal)")
            if self._cancelled_within(fault.seconds):
                raise Refusal(f"{step} of {name!r} was cancelled while it stalled")

    def cancel(self) -> None:
        """End the stalls in progress; the engine also calls this at the end of every command."""
        with self._lock:
            self._cancellations += 1
            self._lock.notify_all()

    @property
    def struck(self) -> int:
        """The number of faults that happened so far."""
        return sum(self._struck.values())

    @property
    def idle(self) -> tuple[Fault, ...]:
        """The faults that never happened."""
        busy = {index for index, _, _ in self._struck}
        return tuple(fault for index, fault in enumerate(self._faults) if index not in busy)

    def _cancelled_within(self, seconds: float) -> bool:
        with self._lock:
            count = self._cancellations
            return self._lock.wait_for(lambda: self._cancellations != count, seconds)

    def _due(self, index: int, fault: Fault, step: Step, urn: str, name: str) -> bool:
        if step not in fault.steps or not fnmatch.fnmatchcase(name, fault.name):
            return False
        with self._lock:
            key = (index, step, urn)
            if fault.times is not None and self._struck[key] >= fault.times:
                return False
            self._struck[key] += 1
        return True
