"""Tests that take minutes and run every night: `make test EXHAUSTIVE=1`."""

import os

import pytest

EXHAUSTIVE = bool(os.environ.get("EXHAUSTIVE"))

exhaustive = pytest.mark.skipif(not EXHAUSTIVE, reason="runs every night: make test EXHAUSTIVE=1")
