"""The pack as the engine starts it: `pulumi preview --policy-pack policy`.

Only the engine runs this file: the constructor of a PolicyPack serves until it is ended.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyPack,
    PolicyResource,
    ReportViolation,
    ResourceValidation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

# The engine starts the folder, which puts it first on the path, and not the repository.
sys.path.insert(0, str(Path(__file__).parent.parent))

from policy import rules
from policy.declared import Declared, declared_in
from policy.inputs import Resource, plain


@functools.cache
def stack_file(stack: str) -> Declared:
    """What the stack of that name declares, read once."""
    return declared_in(stack, os.environ)


def of(args: ResourceValidationArgs | PolicyResource) -> Resource:
    """Return the resource in the rules' own words."""
    return Resource(
        type=args.resource_type, name=args.name, inputs=plain(args.props, UnknownValueError)
    )


def stack_of(urn: str) -> str:
    """Return the name of the stack, which is the first part of every URN."""
    return urn.removeprefix("urn:pulumi:").partition("::")[0]


def validator(rule: rules.Rule) -> ResourceValidation:
    """Report what the rule yields."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        for problem in rule(of(args), stack_file(stack_of(args.urn))):
            report(problem, None)

    return validate


def ceiling(args: StackValidationArgs, report: ReportViolation) -> None:
    """Report a stack that may grow over its ceiling."""
    maximum = args.get_config().get("max_gpus")
    if not args.resources:
        return
    declared = stack_file(stack_of(args.resources[0].urn))
    urns = {one.name: one.urn for one in args.resources}
    found = map(of, args.resources)
    limit = int(maximum) if maximum is not None else None
    for name, problem in rules.gpu_ceiling(found, declared, limit):
        report(problem, urns[name])


def description(rule: object) -> str:
    """Return the first line of a rule's docstring."""
    return (rule.__doc__ or "").partition("\n")[0]


PolicyPack(
    "gpu-runners",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[
        *(
            ResourceValidationPolicy(
                name=name, description=description(rule), validate=validator(rule)
            )
            for name, rule in rules.RULES.items()
        ),
        StackValidationPolicy(
            name=rules.CEILING,
            description=description(rules.gpu_ceiling),
            validate=ceiling,
            config_schema=PolicyConfigSchema({"max_gpus": {"type": "integer", "minimum": 0}}),
        ),
    ],
)
