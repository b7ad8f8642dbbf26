"""Entry point of the policy pack: `pulumi preview --policy-pack policy`.

Only the engine runs this file: the constructor of PolicyPack serves requests until it is stopped.
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

# The engine starts the folder policy/, so the root of the repository is not on the path.
sys.path.insert(0, str(Path(__file__).parent.parent))

from policy import rules
from policy.declared import Declared, declared_in
from policy.inputs import Resource, plain


@functools.cache
def stack_file(stack: str) -> Declared:
    """Return what the stack file declares; read it once."""
    return declared_in(stack, os.environ)


def resource_of(args: ResourceValidationArgs | PolicyResource) -> Resource:
    """Return the resource as the rules' own type."""
    return Resource(
        type=args.resource_type, name=args.name, inputs=plain(args.props, UnknownValueError)
    )


def stack_of(urn: str) -> str:
    """Return the name of the stack from a URN."""
    return urn.removeprefix("urn:pulumi:").partition("::")[0]


def validator(rule: rules.Rule) -> ResourceValidation:
    """Return a validation that reports the violations of the rule."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        for violation in rule(resource_of(args), stack_file(stack_of(args.urn))):
            report(violation, None)

    return validate


def ceiling(args: StackValidationArgs, report: ReportViolation) -> None:
    """Report a stack whose pools together can have more GPUs than `max_gpus`."""
    maximum = args.get_config().get("max_gpus")
    if not args.resources:
        return
    declared = stack_file(stack_of(args.resources[0].urn))
    urns = {one.name: one.urn for one in args.resources}
    found = map(resource_of, args.resources)
    limit = int(maximum) if maximum is not None else None
    for name, violation in rules.gpu_ceiling(found, declared, limit):
        report(violation, urns[name])


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
