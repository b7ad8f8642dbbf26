"""Run a Pulumi program through the real engine against stand-in clouds, without an account.

`rehearse` is the whole interface; README.md shows it. The names below are imported on first use,
because the Pulumi SDK takes a fifth of a second to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pulumi_rehearsal.driver import rehearse
    from pulumi_rehearsal.errors import RehearsalError
    from pulumi_rehearsal.result import Result
    from pulumi_rehearsal.standin.faults import Fault
    from pulumi_rehearsal.standin.jobs import Busy
    from pulumi_rehearsal.standin.kind import Kind, Lookup, Refusal
    from pulumi_rehearsal.standin.server import Package
    from pulumi_rehearsal.standin.world import World

__all__ = [
    "Busy",
    "Fault",
    "Kind",
    "Lookup",
    "Package",
    "Refusal",
    "RehearsalError",
    "Result",
    "World",
    "rehearse",
]

_MODULES: Final = {
    "Busy": "standin.jobs",
    "Fault": "standin.faults",
    "Kind": "standin.kind",
    "Lookup": "standin.kind",
    "Package": "standin.server",
    "Refusal": "standin.kind",
    "RehearsalError": "errors",
    "Result": "result",
    "World": "standin.world",
    "rehearse": "driver",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
