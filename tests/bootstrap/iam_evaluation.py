"""IAM policy evaluation, as far as the policies of the bootstrap need it.

Grammar: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Document = Mapping[str, Any]


def as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def allows(
    documents: Iterable[Document], action: str, resource: str, **context: str | list[str]
) -> bool:
    """Return whether a statement allows the action.

    Context keys are spelled with `__` for `:` and `___` for `/`.
    """
    given = {
        key.replace("___", "/").replace("__", ":"): as_list(value) for key, value in context.items()
    }
    return any(
        statement["Effect"] == "Allow"
        and any(fnmatchcase(action, one) for one in as_list(statement["Action"]))
        and any(fnmatchcase(resource, one) for one in as_list(statement.get("Resource", "*")))
        and matches(statement.get("Condition", {}), given)
        for document in documents
        for statement in document["Statement"]
    )


def matches(condition: Mapping[str, Mapping[str, Any]], given: Mapping[str, list[str]]) -> bool:
    """Return whether each key of each operator has an accepted value; an absent key has none."""
    for operator, keys in condition.items():
        for key, wanted in keys.items():
            found = given.get(key, [])
            if operator in ("StringLike", "ArnLike"):
                hit = any(
                    fnmatchcase(one, str(value)) for value in as_list(wanted) for one in found
                )
            else:
                assert operator in ("StringEquals", "ArnEquals", "Bool"), operator
                hit = any(one in as_list(wanted) for one in found)
            if not hit:
                return False
    return True


WITHOUT_RESOURCE = frozenset({"eks:CreateCluster", "ec2:CreateTags", "ec2:DeleteTags"})
"""Writing actions that only a condition can limit."""


def too_wide(document: Document) -> list[str]:
    """Return what a document allows beyond the needs of a role."""
    found: list[str] = []
    for statement in document["Statement"]:
        for action in as_list(statement["Action"]):
            service, _, name = action.partition(":")
            reads = name.startswith(("Describe", "Get", "List"))
            if "*" in action:
                found.append(f"{action}: a wildcard action")
            if "NotAction" in statement or "NotResource" in statement:
                found.append(f"{action}: NotAction or NotResource")
            if "*" in as_list(statement["Resource"]):
                conditioned = bool(statement.get("Condition"))
                if not reads and not conditioned:
                    found.append(f"{action}: on every resource, without condition")
                if not reads and service != "ec2" and action not in WITHOUT_RESOURCE:
                    found.append(f"{action}: on every resource")
            if service == "iam" and any(
                not one.partition(":role/")[2].strip("*") for one in as_list(statement["Resource"])
            ):
                found.append(f"{action}: on any role")
            if action == "iam:PassRole" and "iam:PassedToService" not in str(
                statement.get("Condition")
            ):
                found.append(f"{action}: to any service")
    return found
