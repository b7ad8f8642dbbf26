"""Failures on demand: a resource that fails or stalls at a given step, by logical name."""

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
    """What goes wrong: a resource whose logical name matches the glob `name`, at those `steps`.

    `times` counts per resource and step, None is always. `seconds` above zero stalls the step for
    so long and then lets it go on; zero fails it.
    """

    name: str
    steps: tuple[Step, ...] = STEPS
    times: int | None = 1
    seconds: float = 0


EACH_ONCE = Fault(name="*", steps=("create",))
"""Every resource fails its first create."""


class Faults:
    """The faults of one rehearsal."""

    def __init__(self, *faults: Fault) -> None:
        self._faults = faults
        self._struck: Counter[tuple[int, str, str]] = Counter()
        self._lock = threading.Condition()
        self._cancellations = 0

    def strike(self, step: Step, urn: str, name: str) -> None:
        """Stalls or raises `Refusal` where a fault is due; called before the step does anything."""
        for index, fault in enumerate(self._faults):
            if not self._due(index, fault, step, urn, name):
                continue
            if not fault.seconds:
                raise Refusal(
                    f"injected failure: {step} of {name!r} (asked for by the rehearsal's options)"
                )
            if self._cancelled_within(fault.seconds):
                raise Refusal(f"{step} of {name!r} was cancelled while it stalled")

    def cancel(self) -> None:
        """Ends the stalls that run; the engine asks for it at the end of every command too."""
        with self._lock:
            self._cancellations += 1
            self._lock.notify_all()

    @property
    def struck(self) -> int:
        """How often a fault came due so far."""
        return sum(self._struck.values())

    @property
    def idle(self) -> tuple[Fault, ...]:
        """The faults that never came due."""
        busy = {index for index, _, _ in self._struck}
        return tuple(fault for index, fault in enumerate(self._faults) if index not in busy)

    def _cancelled_within(self, seconds: float) -> bool:
        with self._lock:
            before = self._cancellations
            return self._lock.wait_for(lambda: self._cancellations != before, seconds)

    def _due(self, index: int, fault: Fault, step: Step, urn: str, name: str) -> bool:
        if step not in fault.steps or not fnmatch.fnmatchcase(name, fault.name):
            return False
        with self._lock:
            key = (index, step, urn)
            if fault.times is not None and self._struck[key] >= fault.times:
                return False
            self._struck[key] += 1
        return True
