"""IAM policy documents: their validation, and the principals that a trust policy names.

Grammar: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.properties import mapping, objects, text
from pulumi_rehearsal.standin.rules import Problem

SHARED_ISSUERS: Final = frozenset({"gitlab.com", "token.actions.githubusercontent.com"})
"""Issuers for which AWS requires a condition on the subject; AWS lists more."""


def document_problems(
    inputs: Properties, path: str, *, trust: bool = False, limit: int = 2_048
) -> Iterator[Problem]:
    """Yield what IAM refuses in the document at `path`, of at most `limit` characters."""
    document = text(inputs, path)
    if document is None:
        return
    try:
        parsed = json.loads(document)
    except ValueError as error:
        yield path, f"is not JSON: {error}"
        return
    if not isinstance(parsed, dict) or not statements(document):
        yield path, "is not a policy document: it has no Statement"
        return
    if len("".join(document.split())) > limit:
        yield path, f"has more than {limit} characters, white space not counted: shorten it"
    if cast("Properties", parsed).get("Version") != "2012-10-17":
        yield path, 'must have "Version": "2012-10-17"'
    for index, statement in enumerate(statements(document)):
        here = f"{path}.Statement[{index}]"
        if statement.get("Effect") not in ("Allow", "Deny"):
            yield here, "Effect must be Allow or Deny"
        if not statement.get("Action") and not statement.get("NotAction"):
            yield here, "has neither Action nor NotAction"
        if trust and not statement.get("Principal"):
            yield here, "has no Principal, which a trust policy needs"
        if not trust and not statement.get("Resource") and not statement.get("NotResource"):
            yield here, "has neither Resource nor NotResource"


def trusts(trust_policy: str | None, service: str, *actions: str) -> bool:
    """Whether a role's trust policy lets `service` do all of `actions`."""
    allowed: set[str] = set()
    for statement in statements(trust_policy):
        services = several(mapping(statement, "Principal").get("Service"))
        if statement.get("Effect") == "Allow" and service in services:
            allowed.update(several(statement.get("Action")))
    return all(action in allowed or "sts:*" in allowed for action in actions)


def trusts_federation(trust_policy: str | None, issuer: str) -> bool:
    """Whether a role may be assumed with a web identity of `issuer` (a URL)."""
    host = issuer.removeprefix("https://")
    return any(
        str(principal).endswith(f"oidc-provider/{host}")
        for statement in statements(trust_policy)
        for principal in several(mapping(statement, "Principal").get("Federated"))
        if "sts:AssumeRoleWithWebIdentity" in several(statement.get("Action"))
    )


def public(policy: str | None) -> bool:
    """Whether a resource policy allows an action to everyone, even under a condition."""
    return any(
        statement.get("Effect") == "Allow"
        and "*" in (statement.get("Principal"), mapping(statement, "Principal").get("AWS"))
        for statement in statements(policy)
    )


def federation_problems(inputs: Properties, path: str) -> Iterator[Problem]:
    """Yield what IAM refuses in a trust policy for an issuer that many accounts share.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_oidc_secure-by-default.html
    """
    for index, statement in enumerate(statements(text(inputs, path))):
        for principal in several(mapping(statement, "Principal").get("Federated")):
            host = str(principal).partition("oidc-provider/")[2]
            if host in SHARED_ISSUERS and not _names_subject(statement, f"{host}:sub"):
                yield (
                    f"{path}.Statement[{index}]",
                    f"trusts every account of {host}: add a Condition on {host}:sub",
                )


def _names_subject(statement: Properties, key: str) -> bool:
    values = [
        value
        for operator in ("StringEquals", "StringLike")
        for value in several(mapping(statement, f"Condition.{operator}").get(key))
        if value is not None
    ]
    return bool(values) and not any(set(str(value)) <= set("*?") for value in values)


def statements(document: str | None) -> tuple[Properties, ...]:
    """Return the statements of a policy document, none for other JSON."""
    if document is None:
        return ()
    parsed: Any = json.loads(document)
    if not isinstance(parsed, dict):
        return ()
    found = cast("Properties", parsed).get("Statement")
    return objects({"found": found if isinstance(found, list) else [found]}, "found")


def several(value: object) -> list[Any]:
    """Return a list; the grammar allows one value in place of a list of one."""
    return cast("list[Any]", value) if isinstance(value, list) else [value]
