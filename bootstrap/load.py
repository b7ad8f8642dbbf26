"""Pulumi's configuration as a plan: this program's only importer of `pulumi.Config`."""

from __future__ import annotations

import json

import pulumi

from bootstrap.parse import KEY, load
from bootstrap.plan import BootstrapPlan
from fleet.findings import StackFileError


def from_config() -> BootstrapPlan:
    """Load the current stack.

    Raises pulumi.RunError, which the engine prints without a traceback, with every problem of the
    stack file at once; nothing has been registered then.
    """
    project, _, key = KEY.partition(":")
    text = pulumi.Config(project).get(key)
    source = f"Pulumi.{pulumi.get_stack()}.yaml"
    if text is None:
        raise pulumi.RunError(
            f"{source}: has no {KEY}.\n"
            "    Copy the one of bootstrap/Pulumi.ci.yaml and change it (docs/bootstrap.md)."
        )
    try:
        return load(_data(text), source=source)
    except StackFileError as error:
        raise pulumi.RunError(str(error)) from None


def _data(text: str) -> object:
    """The value of the key: the engine hands a map over as JSON, anything else as its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
