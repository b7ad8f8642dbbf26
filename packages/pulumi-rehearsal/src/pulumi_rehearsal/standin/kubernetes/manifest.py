"""Validation of objects against Kubernetes' schemas, as packaged by `kubernetes-validate`.

Reasons never contain a value, because it may be a secret. A value that is unknown in a preview is
valid. Unknown fields are invalid, as for a server-side apply with strict field validation.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from kubernetes_validate import utils  # pyright: ignore[reportMissingTypeStubs]
from referencing import Registry, Resource

from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import UNKNOWN, Properties, contains_unknown

REFERENCE_VERSION: Final = "1.35"
"""The version for clusters whose version is not known."""

_SCHEMAS: Final = "kubernetes-json-schema"


def problems(manifest: Properties, version: str = REFERENCE_VERSION) -> list[Problem]:
    """Validate an object against the schema of its kind in that minor version."""
    kind, api_version = manifest.get("kind"), manifest.get("apiVersion")
    validator = _validator(nearest(version), str(kind).lower(), str(api_version))
    if validator is None:
        return [("kind", f"Kubernetes {version} has no {kind} in {api_version}")]
    return list(dict.fromkeys(_found(validator, manifest)))


def pod_problems(spec: Any, version: str = REFERENCE_VERSION) -> list[Problem]:
    """Validate a pod's `spec`; paths are relative to it."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}
    found = problems(pod, version)
    return [(path.removeprefix("spec").removeprefix("."), reason) for path, reason in found]


@functools.cache
def nearest(version: str) -> str:
    """Return the newest packaged minor version that is not newer than `version`."""
    wanted = _order(version)
    known = sorted({_order(name) for name in utils.all_versions()})
    fitting = [candidate for candidate in known if candidate <= wanted]
    major, minor = fitting[-1] if fitting else known[0]
    return f"{major}.{minor}"


def _order(version: str) -> tuple[int, int]:
    numbers = re.findall(r"\d+", version)
    return int(numbers[0]), int(numbers[1])


@functools.cache
def _validator(version: str, kind: str, api_version: str) -> Draft202012Validator | None:
    group, slash, short = api_version.partition("/")
    name = f"{kind}-{group.split('.')[0]}-{short}" if slash else f"{kind}-{api_version}"
    file = _folder(version) / f"{name}.json"
    if not file.is_file():
        return None
    schema = json.loads(file.read_text(encoding="utf-8"))
    registry = _definitions(version).with_resource("", Resource.from_contents(schema))
    return Draft202012Validator(schema, registry=registry)


@functools.cache
def _definitions(version: str) -> Registry[Any]:
    file = _folder(version) / "_definitions.json"
    contents = json.loads(file.read_text(encoding="utf-8"))
    resource: Resource[Any] = Resource.from_contents(contents)
    empty: Registry[Any] = Registry()
    return resource @ empty


@functools.cache
def _folder(version: str) -> Any:
    root = resources.files("kubernetes_validate") / _SCHEMAS
    return root / f"v{version}.0-local-strict"


def _found(validator: Draft202012Validator, manifest: Properties) -> Iterator[Problem]:
    for error in validator.iter_errors(_without_nulls(manifest)):  # pyright: ignore[reportUnknownMemberType]
        if error.instance is UNKNOWN:
            continue
        if error.validator in ("oneOf", "anyOf") and contains_unknown(error.instance):
            continue
        path = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
        )
        yield path.removeprefix("."), _reason(error)


def _reason(error: Any) -> str:
    match error.validator:
        case "type":
            wanted = error.validator_value
            names = [wanted] if isinstance(wanted, str) else [w for w in wanted if w != "null"]
            return f"must be {' or '.join(names)}"
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"needs {', '.join(repr(name) for name in missing)}, which is missing"
        case "additionalProperties":
            known = error.schema.get("properties", {})
            unknown = [name for name in error.instance if name not in known]
            return f"has no field {', '.join(repr(name) for name in unknown)}"
        case "enum":
            return f"must be one of {', '.join(repr(item) for item in error.validator_value)}"
        case rule:
            return f"violates the rule {rule!r} of the schema"


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: _without_nulls(item) for key, item in items if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in cast("list[Any]", value)]
    return value
