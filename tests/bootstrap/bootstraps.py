"""The shipped stack file of the bootstrap, changed as a test wants it, and its plan."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

from bootstrap.parse import KEY, load
from bootstrap.plan import BootstrapPlan

FILE = Path(__file__).parents[2] / "bootstrap" / "Pulumi.ci.yaml"
BUCKET = "arn:aws:s3:::state"
KEY_ARN = "arn:aws:kms:us-west-2:111122223333:key/1"

_SHIPPED: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["config"]


def body(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The shipped bootstrap with some dotted keys set, or removed where the value is `GONE`."""
    data = copy.deepcopy(_SHIPPED[KEY])
    for path, value in (changes or {}).items():
        holder = data
        *parents, last = path.split(".")
        for part in parents:
            holder = holder.setdefault(part, {})
        if value is GONE:
            del holder[last]
        else:
            holder[last] = value
    return data


def plan(changes: dict[str, Any] | None = None) -> BootstrapPlan:
    """Its plan."""
    return load(body(changes), source="test")


GONE = object()
"""Takes a key out of `body`."""
