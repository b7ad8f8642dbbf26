"""Read the bootstrap's configuration. Only this module imports `pulumi.Config`."""

from __future__ import annotations

import json

import pulumi

from bootstrap.config import KEY, parse
from bootstrap.plan import BootstrapPlan, build
from fleet.findings import StackFileError


def from_config() -> BootstrapPlan:
    """Return the plan of the current stack.

    Raises pulumi.RunError with every error of the stack file. The engine prints it without a
    traceback, and no resource is registered before.
    """
    project, _, key = KEY.partition(":")
    text = pulumi.Config(project).get(key)
    source = f"Pulumi.{pulumi.get_stack()}.yaml"
    if text is None:
        raise pulumi.RunError(
            f"{source}: has no {KEY}.\n"
            "    Copy it from bootstrap/Pulumi.ci.yaml and change it (docs/bootstrap.md)."
        )
    try:
        return build(parse(_data(text), source=source))
    except StackFileError as error:
        raise pulumi.RunError(str(error)) from None


def _data(text: str) -> object:
    """Decode the key's value: the engine passes a map as JSON, a scalar as plain text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
