"""The fleet of the current stack. This is the only module that reads `pulumi.Config`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi

from fleet.findings import StackFileError
from fleet.load import Fleet, load

PROJECT = "gpu-runners"


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A fleet without errors, and the secrets that it names."""

    fleet: Fleet
    secrets: Mapping[str, pulumi.Output[str]] = field(repr=False)


def from_config() -> Loaded:
    """Load the current stack.

    Raises pulumi.RunError with every error of the stack file, before anything is registered. The
    engine prints it without a traceback.
    """
    config = pulumi.Config(PROJECT)
    text = config.get("stack")
    source = f"Pulumi.{pulumi.get_stack()}.yaml"
    if text is None:
        raise pulumi.RunError(
            f"{source}: has no {PROJECT}:stack.\n"
            f"    Copy the one of Pulumi.staging.yaml and change it; README.md explains each key."
        )
    try:
        fleet = load(
            _data(text),
            source=source,
            has_secret=lambda name: config.get_secret(name) is not None,
        )
    except StackFileError as error:
        raise pulumi.RunError(str(error)) from None
    for warning in fleet.warnings:
        pulumi.log.warn(str(warning))
    secrets = {name: config.require_secret(name) for name in fleet.secret_names}
    return Loaded(fleet=fleet, secrets=secrets)


def _data(text: str) -> object:
    """Decode the value of the key. The engine passes a map as JSON, and a scalar as its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
