"""IAM's answer to one request, as far as the bootstrap's documents need it.

Grammar: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Document = Mapping[str, Any]


def several(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def allows(
    documents: Iterable[Document], action: str, resource: str, **context: str | list[str]
) -> bool:
    """Whether any statement allows it; context keys are spelled with __ for : and ___ for /."""
    given = {
        key.replace("___", "/").replace("__", ":"): several(value) for key, value in context.items()
    }
    return any(
        statement["Effect"] == "Allow"
        and any(fnmatchcase(action, one) for one in several(statement["Action"]))
        and any(fnmatchcase(resource, one) for one in several(statement.get("Resource", "*")))
        and holds(statement.get("Condition", {}), given)
        for document in documents
        for statement in document["Statement"]
    )


def holds(condition: Mapping[str, Mapping[str, Any]], given: Mapping[str, list[str]]) -> bool:
    """Whether every key of every operator has one of its values; an absent key never has."""
    for operator, keys in condition.items():
        for key, wanted in keys.items():
            found = given.get(key, [])
            if operator in ("StringLike", "ArnLike"):
                hit = any(
                    fnmatchcase(one, str(value)) for value in several(wanted) for one in found
                )
            else:
                assert operator in ("StringEquals", "ArnEquals", "Bool"), operator
                hit = any(one in several(wanted) for one in found)
            if not hit:
                return False
    return True


NO_RESOURCE = frozenset({"eks:CreateCluster", "ec2:CreateTags", "ec2:DeleteTags"})
"""Actions that IAM knows for no resource, or for every kind of one, so that a condition decides."""


def too_wide(document: Document) -> list[str]:
    """What in a document gives more than a role needs."""
    found: list[str] = []
    for statement in document["Statement"]:
        for action in several(statement["Action"]):
            service, _, name = action.partition(":")
            reads = name.startswith(("Describe", "Get", "List"))
            if "*" in action:
                found.append(f"{action}: a wildcard action")
            if "NotAction" in statement or "NotResource" in statement:
                found.append(f"{action}: everything but something")
            if "*" in several(statement["Resource"]):
                conditioned = bool(statement.get("Condition"))
                if not reads and not conditioned:
                    found.append(f"{action}: on everything, under no condition")
                if not reads and service != "ec2" and action not in NO_RESOURCE:
                    found.append(f"{action}: on everything")
            if service == "iam" and any(
                not one.partition(":role/")[2].strip("*") for one in several(statement["Resource"])
            ):
                found.append(f"{action}: on any role")
            if action == "iam:PassRole" and "iam:PassedToService" not in str(
                statement.get("Condition")
            ):
                found.append(f"{action}: to any service")
    return found
