"""Annotations that pulumi-kubernetes reads: what a create waits for, and how a deletion goes on.

`pulumi.com/waitFor` has what must be true of an object before its create ends.

Source: pulumi/pulumi-kubernetes provider/pkg/metadata/overrides.go and provider/pkg/jsonpath (one
expression or a JSON list of them: `jsonpath={.path}`, `jsonpath={.path}=value`,
`condition=Type[=Status]`; all must be true). Only plain paths are evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from pulumi_rehearsal.standin.properties import mapping, objects, text
from pulumi_rehearsal.standin.values import Properties

WAIT_FOR: Final = "pulumi.com/waitFor"

DELETION_POLICY: Final = "pulumi.com/deletionPropagationPolicy"
"""`foreground` by default: dependents go first, at every level below the object."""

_JSON_PATH: Final = re.compile(r"jsonpath=\{?\.?(?P<path>[^={}]*)\}?(?:=(?P<value>.*))?")
_CONDITION: Final = re.compile(r"condition=(?P<type>[^=]+)(?:=(?P<status>.*))?")


def deletes_dependents_first(inputs: Properties) -> bool:
    """Whether Kubernetes deletes what depends on the object before the object itself."""
    policy = mapping(inputs, "metadata.annotations").get(DELETION_POLICY, "foreground")
    return str(policy).casefold() == "foreground"


def unmet(outputs: Properties) -> Iterator[str]:
    """Yield the expressions of the annotation that are not true of an object."""
    annotation = mapping(outputs, "metadata.annotations").get(WAIT_FOR)
    if annotation is None:
        return
    for expression in _expressions(str(annotation)):
        if not _is_true(expression, outputs):
            yield expression


def _expressions(annotation: str) -> list[str]:
    if not annotation.startswith("["):
        return [annotation]
    try:
        parsed: Any = json.loads(annotation)
    except json.JSONDecodeError:
        return [annotation]
    return [str(one) for one in cast("list[Any]", parsed)]


def _is_true(expression: str, outputs: Properties) -> bool:
    if match := _JSON_PATH.fullmatch(expression):
        value: Any = outputs
        for name in match["path"].replace("\\.", "\0").split("."):
            key, parent = name.replace("\0", "."), cast("Properties", value)
            value = parent.get(key) if isinstance(value, dict) else None
        return value is not None and match["value"] in (None, str(value))
    if match := _CONDITION.fullmatch(expression):
        wanted = (match["status"] or "True").casefold()
        return any(
            one.get("type") == match["type"] and (text(one, "status") or "").casefold() == wanted
            for one in objects(outputs, "status.conditions")
        )
    return False
