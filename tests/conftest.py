"""What holds for every test."""

from __future__ import annotations

import gc

# The SDKs are a million objects that live as long as the process. By default the collector walks
# over all of them once or twice in each program, which is a fifth of the time of a test run.
gc.set_threshold(50_000, 20, 100)
