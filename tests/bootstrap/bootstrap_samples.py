"""The shipped stack file of the bootstrap with changes, and its plan."""

import copy
from pathlib import Path
from typing import Any

import yaml

from bootstrap.config import KEY, parse
from bootstrap.plan import BootstrapPlan, build

FILE = Path(__file__).parents[2] / "bootstrap" / "Pulumi.ci.yaml"
BUCKET = "arn:aws:s3:::state"
KEY_ARN = "arn:aws:kms:us-west-2:111122223333:key/1"
REMOVED = object()
"""The value that removes a key in `body`."""

_SHIPPED: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["config"]


def body(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the shipped bootstrap with some dotted keys set, or `REMOVED`."""
    data = copy.deepcopy(_SHIPPED[KEY])
    for path, value in (changes or {}).items():
        holder = data
        *parents, last = path.split(".")
        for part in parents:
            holder = holder.setdefault(part, {})
        if value is REMOVED:
            del holder[last]
        else:
            holder[last] = value
    return data


def plan(changes: dict[str, Any] | None = None) -> BootstrapPlan:
    return build(parse(body(changes), source="test"))
