"""Make lazily imported modules safe for threads on Python versions that lack the fix.

A Pulumi SDK imports its modules lazily, with `importlib.util.LazyLoader`. The program and the
stand-ins share a process, so two threads can load a module at the same time. Before Python 3.11.8
and 3.12.2 the second thread then sees a half-loaded module and fails with "partially initialized
module ... has no attribute". Source: https://github.com/python/cpython/issues/114763.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import types
from typing import Any, Final

_FIXED_IN: Final = {(3, 11): 8, (3, 12): 2}
"""First patch release with the fix, by minor version; later minor versions have it."""


def make_thread_safe() -> None:
    """Give modules that are loaded lazily a lock, if this Python has none."""
    if sys.version_info[2] < _FIXED_IN.get(sys.version_info[:2], 0):
        lazy: Any = vars(importlib.util)["_LazyModule"]
        lazy.__getattribute__ = _load_once


def _load_once(module: Any, name: str) -> Any:
    """Load a lazy module at the first use of an attribute; other threads wait for it.

    It does what `_LazyModule.__getattribute__` of CPython 3.11.8 does, which changes the class of
    the module after the load instead of before it.
    """
    lazy = vars(importlib.util)["_LazyModule"]
    spec = object.__getattribute__(module, "__spec__")
    state = spec.loader_state
    with state.setdefault("lock", threading.RLock()):
        if object.__getattribute__(module, "__class__") is lazy:
            # The module's own code may use the module while it is loaded.
            if state.get("is_loading"):
                return types.ModuleType.__getattribute__(module, name)
            state["is_loading"] = True
            attributes = types.ModuleType.__getattribute__(module, "__dict__")
            before = state["__dict__"]
            changed = {
                key: value
                for key, value in attributes.items()
                if key not in before or value is not before[key]
            }
            spec.loader.exec_module(module)
            attributes.update(changed)
            module.__class__ = types.ModuleType
    return getattr(module, name)
