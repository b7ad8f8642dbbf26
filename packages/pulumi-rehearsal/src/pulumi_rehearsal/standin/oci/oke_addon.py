"""OKE cluster add-ons.

Replacement: see base.py; for inputs without a mark, ForceNew in oracle/terraform-provider-oci
internal/service/containerengine/containerengine_addon_resource.go. From the same file: a create is
InstallAddon, so a program cannot switch off a default add-on by creating a resource; a delete is
DisableAddon, also for a default add-on.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import oke_autoscaler, tokens
from pulumi_rehearsal.standin.oci.addon_keys import (
    AUTOSCALER,
    COMMON_KEYS,
    DURATIONS,
    ESSENTIAL,
    FLAGS,
    GPU_PLUGIN,
    JSON_KEYS,
    KEYS,
    VERSIONS,
)
from pulumi_rehearsal.standin.oci.base import OciKind
from pulumi_rehearsal.standin.oci.oke_cluster import cluster_of, is_enhanced
from pulumi_rehearsal.standin.oci.oke_nodes import DISABLED
from pulumi_rehearsal.standin.properties import flag, objects, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.world import Event, World

_DURATION: Final = re.compile(r"(\d+(\.\d+)?(ms|s|m|h))+")
_VERSION: Final = re.compile(r"v\d+\.\d+\.\d+[0-9A-Za-z.-]*")


class Addon(OciKind):
    """One add-on of a cluster."""

    token = tokens.ADDON
    state = "ACTIVE"
    computed: ClassVar[frozenset[str]] = frozenset(
        {"addonErrors", "currentInstalledVersion", "state", "timeCreated"}
    )
    recomputed: ClassVar[frozenset[str]] = frozenset({"currentInstalledVersion"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"addonName", "clusterId"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        name = text(inputs, "addonName")
        version = text(inputs, "version")
        if version is not None and not _VERSION.fullmatch(version):
            yield "version", f"{version!r} must have the form {VERSIONS[AUTOSCALER]}"
        if name is None:
            return
        if name not in VERSIONS:
            yield "addonName", f"OKE has no add-on {name!r}; it has {', '.join(VERSIONS)}"
        seen: set[str] = set()
        for index, one in enumerate(objects(inputs, "configurations")):
            key, value = text(one, "key"), text(one, "value")
            if key is None:
                continue
            for inner, reason in _setting_problems(name, key, value):
                yield f"configurations[{index}].{inner}", reason
            if key in seen:
                yield f"configurations[{index}].key", f"{key!r} is given twice"
            seen.add(key)
        if name == AUTOSCALER:
            yield from oke_autoscaler.problems(inputs)

    def identify(self, call: Call, world: World) -> str:
        inputs = call.inputs
        return f"clusters/{text(inputs, 'clusterId')}/addons/{text(inputs, 'addonName')}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        inputs = call.inputs
        cluster = cluster_of(world, call.scope, text(inputs, "clusterId"))
        name = text(inputs, "addonName")
        if cluster is None or name is None:
            return
        if not is_enhanced(cluster):
            raise Refusal(
                f"400-InvalidParameter: add-on {name} requires an enhanced cluster, {cluster.name} "
                "is a basic one; set its type to ENHANCED_CLUSTER"
            )
        if old is None:
            made_id = self.identify(call, world)
            other = world.get(made_id, tokens.ADDON, call.scope)
            if other is not None:
                raise Refusal(
                    f"409-Conflict: resource {other.name} already installs add-on {name} in "
                    f"cluster {cluster.name}; leave one of the two out"
                )
            if name in ESSENTIAL and not flag(inputs, "overrideExisting"):
                raise Refusal(
                    f"409-Conflict: add-on {name} is part of every new cluster; set "
                    "overrideExisting to true"
                )
            disabled = world.get(_disabled_id(made_id), tokens.ADDON, call.scope)
            if disabled is not None:
                world.remove(disabled)
        if name == AUTOSCALER:
            oke_autoscaler.refuse(world, cluster, inputs)
            for warning in oke_autoscaler.warnings(world, cluster, inputs):
                _warn(world, call, warning)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        name = text(call.inputs, "addonName") or ""
        version = text(call.inputs, "version")
        installed = version or VERSIONS[name]
        return {"addonErrors": [], "currentInstalledVersion": installed, "version": version or ""}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        return {**super().update(call, old, world), **self.compute(call, old.id, world)}

    def delete(self, old: Resource, world: World) -> None:
        name = text(old.outputs, "addonName") or ""
        if name not in ESSENTIAL and name != GPU_PLUGIN:
            return
        cluster_id = text(old.outputs, "clusterId")
        world.add(
            Resource(
                urn="",
                type=old.type,
                name=name,
                id=_disabled_id(old.id),
                scope=old.scope,
                inputs={},
                outputs={"addonName": name, "clusterId": cluster_id, "state": DISABLED},
            )
        )


def faults(world: World, cluster: Resource) -> Iterator[str]:
    """Describe essential add-ons that were disabled."""
    for addon in world.where(tokens.ADDON, cluster.scope, clusterId=cluster.id, state=DISABLED):
        name = text(addon.outputs, "addonName")
        if name in ESSENTIAL:
            yield (
                f"cluster {cluster.name!r} has no add-on {name}: deleting its resource disabled "
                "this default add-on; keep the resource, or enable the add-on again"
            )


def _disabled_id(addon_id: str) -> str:
    return f"{addon_id}/disabled"


def json_of(value: str) -> Any:
    """Parse JSON, as text or in base64. Raise `ValueError` if it is neither."""
    try:
        return json.loads(value)
    except ValueError:
        pass
    try:
        return json.loads(base64.b64decode(value, validate=True))
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _setting_problems(name: str, key: str, value: str | None) -> Iterator[Problem]:
    known = KEYS.get(name)
    if known is not None and key not in known | COMMON_KEYS:
        yield "key", f"add-on {name} has no setting {key!r}"
    if value is None:
        return
    if key in JSON_KEYS:
        try:
            json_of(value)
        except ValueError:
            yield "value", f"{key} must be JSON, as text or in base64"
    if key in DURATIONS.get(name, frozenset()) and not _DURATION.fullmatch(value):
        yield "value", f"{key} {value!r} is not a duration such as 15m"
    if key in FLAGS.get(name, frozenset()) and value not in ("true", "false"):
        yield "value", f"{key} {value!r} is neither 'true' nor 'false'"
    if key == "numOfReplicas" and not value.isdigit():
        yield "value", f"{key} {value!r} is not a whole number"


def _warn(world: World, call: Call, detail: str) -> None:
    world.note(Event(action="warned", urn=call.urn, type=call.type, name=call.name, detail=detail))


KINDS = (Addon(),)
