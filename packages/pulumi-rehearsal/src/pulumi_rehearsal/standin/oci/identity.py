"""IAM policies and dynamic groups.

Replacement: marks in the SDK, see base.py. Grammar of statements:
https://docs.oracle.com/en-us/iaas/Content/Identity/policysyntax/policysyntax.htm ; only the part of
it that grants is read, and of conditions only `ALL {a = 'b', ...}` and a single `a = 'b'`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import tokens
from pulumi_rehearsal.standin.oci.base import OciKind
from pulumi_rehearsal.standin.properties import text, texts
from pulumi_rehearsal.standin.rules import Problem, spelled
from pulumi_rehearsal.standin.world import World

MAX_STATEMENTS: Final = 50
"""https://docs.oracle.com/en-us/iaas/Content/Identity/Concepts/policies.htm#limits"""

_VERBS: Final = ("inspect", "read", "use", "manage")
"""Each holds those before it."""

_STATEMENT: Final = re.compile(
    r"allow\s+(?P<subject>any-user|any-group|(?:dynamic-|)group\s+.+?|service\s+.+?)"
    r"\s+to\s+(?P<verb>inspect|read|use|manage|\{[^}]*\})(?:\s+(?P<resource>[a-z-]+))?"
    r"\s+in\s+(?P<where>tenancy|compartment\s+(?:id\s+)?\S+)"
    r"(?:\s+where\s+(?P<condition>.+))?",
    re.IGNORECASE | re.DOTALL,
)
_TERM: Final = re.compile(r"([\w.-]+)\s*=\s*'([^']*)'")
_NAME: Final = r"[A-Za-z0-9._-]+"


class _Named(OciKind):
    """Something of IAM whose name is unique in its compartment."""

    autonamed = "name"
    autoname_limit = 100
    regional = False
    state = "ACTIVE"
    replaced_on: ClassVar[frozenset[str]] = frozenset({"compartmentId", "name"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Name and description."""
        yield from spelled(inputs, "name", _NAME, 100, "letters, digits, periods, - and _")
        description = text(inputs, "description")
        if description is not None and not 1 <= len(description) <= 400:
            yield "description", f"has {len(description)} characters, must have 1 to 400"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """No other has the name."""
        name, compartment = text(call.inputs, "name"), text(call.inputs, "compartmentId")
        for other in world.where(self.token, call.scope, name=name, compartmentId=compartment):
            if old is None or other.id != old.id:
                noun = self.token.rpartition(":")[2]
                raise Refusal(
                    f"409-{noun}AlreadyExists: {noun} {name!r} exists in the compartment; leave "
                    "name out, or choose another"
                )


class Policy(_Named):
    """Statements that allow."""

    token = tokens.POLICY
    id_type = "policy"
    computed: ClassVar[frozenset[str]] = frozenset(
        {"eTag", "inactiveState", "lastUpdateETag", "policyHash", "state", "timeCreated"}
    )
    recomputed: ClassVar[frozenset[str]] = frozenset({"lastUpdateETag", "policyHash"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Every statement parses."""
        yield from super().problems(inputs)
        statements = texts(inputs, "statements")
        if len(statements) > MAX_STATEMENTS:
            yield "statements", f"{len(statements)} are more than the {MAX_STATEMENTS} OCI takes"
        for index, statement in enumerate(statements):
            found = _STATEMENT.fullmatch(statement.strip())
            path = f"statements[{index}]"
            if found is None:
                yield (
                    path,
                    f"{statement!r} is no statement: write Allow <subject> to <verb> <resource> in "
                    "compartment id <ocid> [where <condition>]",
                )
            elif (found["condition"] or "").count("{") != (found["condition"] or "").count("}"):
                yield path, "has a condition whose braces do not match"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Hashes of the text."""
        digits = world.fresh_hex(call.urn, 32)
        return {"eTag": digits, "inactiveState": "", "lastUpdateETag": digits, "policyHash": digits}


class DynamicGroup(_Named):
    """Instances and other resources that a rule matches."""

    token = tokens.DYNAMIC_GROUP
    id_type = "dynamicgroup"
    computed: ClassVar[frozenset[str]] = frozenset({"inactiveState", "state", "timeCreated"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """The rule has its form."""
        yield from super().problems(inputs)
        rule = text(inputs, "matchingRule")
        if rule is not None and not re.fullmatch(
            r"\s*((any|all)\s*\{.+\}|[\w.]+\s*(=|!=)\s*'[^']+')\s*", rule, re.IGNORECASE | re.DOTALL
        ):
            yield "matchingRule", "is not written as ALL {instance.compartment.id = '<ocid>'}"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Nothing is wrong with it."""
        return {"inactiveState": ""}


def grants(
    policy: Resource,
    subject: str,
    verb: str,
    resource: str,
    conditions: Mapping[str, str] | None = None,
) -> bool:
    """Whether a statement lets `subject` do that under conditions no narrower than these.

    Without `conditions` any will do.
    """
    for statement in texts(policy.outputs, "statements"):
        found = _STATEMENT.fullmatch(statement.strip())
        if found is None or found["resource"] is None:
            continue
        if not found["subject"].lower().startswith(subject):
            continue
        allowed = found["resource"].lower() in (resource, "all-resources")
        strong = found["verb"].lower() in _VERBS[_VERBS.index(verb) :]
        terms = dict(_TERM.findall(found["condition"] or ""))
        if allowed and strong and (conditions is None or terms.items() <= conditions.items()):
            return True
    return False


KINDS = (Policy(), DynamicGroup())
