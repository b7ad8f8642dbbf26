"""The one door from the data of the bootstrap's stack file to a plan that may be deployed."""

from __future__ import annotations

from bootstrap.config import Bootstrap
from bootstrap.plan import BootstrapPlan, build
from fleet.config.load import parse_as
from fleet.findings import StackFileError

KEY = "gpu-runners-bootstrap:bootstrap"


def load(data: object, *, source: str) -> BootstrapPlan:
    """Read and derive the value of `gpu-runners-bootstrap:bootstrap`.

    `source` names the file in messages. Raises StackFileError with every error at once.
    """
    parsed = parse_as(Bootstrap, data, f"write {KEY}: with environments: under it")
    if parsed.stack is None or parsed.findings:
        raise StackFileError(source, parsed.findings)
    return build(parsed.stack)
