"""The real stack files of this repository, and how to run the real program on one of them."""

import copy
import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.computed import OCI_CALLS
from tests.engine import Call, Registered, attempt

ROOT = Path(__file__).parent.parent
STACKS = tuple(
    sorted(
        file.name.removeprefix("Pulumi.")[: -len(".yaml")] for file in ROOT.glob("Pulumi.*.yaml")
    )
)
GROUPS = "aws:autoscaling/getAmiIds:getAmiIds"
"""The SDK's odd name of the data source aws_autoscaling_groups."""
GROUP = "aws:autoscaling/getGroup:getGroup"
NO_GROUPS: Mapping[str, Call] = {GROUPS: lambda _arguments: {"names": [], "arns": []}, **OCI_CALLS}
"""Answers of the clouds before the first `pulumi up`."""


def config(stack: str) -> dict[str, Any]:
    """Return the value of `config` in a stack file."""
    return yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())["config"]


def body(stack: str) -> dict[str, Any]:
    """Return a copy of `gpu-runners:stack` for a test to change."""
    return copy.deepcopy(config(stack)["gpu-runners:stack"])


def secrets(data: object) -> dict[str, str]:
    """Return a placeholder for each `{secret: name}` of a stack."""
    names = re.findall(r'"secret": "([^"]+)"', json.dumps(data))
    return {f"gpu-runners:{name}": f"plain-text-of-{name}" for name in sorted(set(names))}


def run(
    stack: str,
    *,
    data: object = None,
    known: bool = True,
    given: Mapping[str, str] | None = None,
    calls: Mapping[str, Call] = NO_GROUPS,
) -> tuple[Registered, Exception | None]:
    """Run `__main__.py` on a stack file, or on `data` in place of its stack.

    `given` are the configured secrets; default: all that the stack names.
    """
    settings = config(stack)
    if data is not None:
        settings["gpu-runners:stack"] = data
    texts = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in settings.items()
    }
    return attempt(
        lambda: runpy.run_path(str(ROOT / "__main__.py")) and None,
        known=known,
        stack=stack,
        config=texts,
        secrets=secrets(settings) if given is None else given,
        calls=calls,
    )
