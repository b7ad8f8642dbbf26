"""Documents for tests."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel

from change.document import Base, Document, Group, Property, Resource

COMMIT = "0123456789abcdef0123456789abcdef01234567"

SomeModel = TypeVar("SomeModel", bound=BaseModel)


def validated(model: type[SomeModel], values: dict[str, Any]) -> SomeModel:
    """Validate as JSON: strict models accept a list for a tuple only there."""
    return model.model_validate_json(
        json.dumps(values, default=lambda one: one.model_dump(mode="json"))
    )


def resource(operation: str = "update", **more: Any) -> Resource:
    values: dict[str, Any] = {
        "type": "aws:eks/nodeGroup:NodeGroup",
        "name": "ci-t4",
        "urn": "urn:pulumi:s::p::aws:eks/nodeGroup:NodeGroup::ci-t4",
    }
    return validated(Resource, {"operation": operation, **values, **more})


def group(operation: str = "update", **more: Any) -> Group:
    values: dict[str, Any] = {"kind": "pool", "cluster": "ci", "name": "t4"}
    return validated(Group, {"operation": operation, **values, **more})


def prop(path: str = "scalingConfig.maxSize", **more: Any) -> Property:
    return validated(Property, {"path": path, "change": "update", **more})


def diff(**more: Any) -> Document:
    values: dict[str, Any] = {
        "stack": "prod",
        "engine": "3.259.0",
        "base": Base(ref="origin/main", commit=COMMIT),
        "head": COMMIT[::-1],
        "unchanged": 7,
    }
    return validated(Document, {**values, **more})
