"""`yaml/v2` ConfigGroup: a component with one child for each object in its files.

Source: pulumi/pulumi-kubernetes provider/pkg/provider/yaml/v2/{configgroup,yaml}.go. Nothing is
downloaded: the address of one of ARC's definitions gives an invented definition, and any other
address is refused.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import yaml

from pulumi_rehearsal.standin import schema, wire
from pulumi_rehearsal.standin.kind import Construct, Invalid, Properties, Refusal
from pulumi_rehearsal.standin.kubernetes import arc, component
from pulumi_rehearsal.standin.properties import items, text, texts

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World


class ConfigGroup(Construct):
    """A component with one child for each object in its files."""

    token: ClassVar[str] = "kubernetes:yaml/v2:ConfigGroup"

    def construct(self, request: Any, scope: str, world: World) -> Any:
        inputs = wire.decode(request.inputs).properties
        if problems := schema.problems(self.token, inputs):
            raise Invalid(*problems)
        return component.construct(request, inputs, lambda: _objects(inputs))


def _objects(inputs: Properties) -> Iterator[Properties]:
    """Yield the objects of the files, of the YAML text and of the list, in this order."""
    for address in texts(inputs, "files"):
        yield from _fetched(address)
    yield from _documents(text(inputs, "yaml") or "")
    yield from cast("tuple[Properties, ...]", items(inputs, "objs"))


def _fetched(address: str) -> Iterator[Properties]:
    """Yield the objects of an address, a path or a glob pattern."""
    if "://" in address:
        definition = arc.definition_from(address)
        if definition is None:
            raise Refusal(
                f"{address}: a rehearsal downloads nothing, and knows only the file names of ARC's "
                "definitions: give a file on disk"
            )
        yield definition
        return
    paths = [Path(name) for name in sorted(glob.glob(address))] or [Path(address)]
    for path in paths:
        try:
            found = list(_documents(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise Refusal(f"{path}: cannot be read: {error.strerror}") from error
        except yaml.YAMLError as error:
            raise Refusal(f"{path}: is not YAML") from error
        yield from found


def _documents(content: str) -> Iterator[Properties]:
    for document in yaml.safe_load_all(content):
        if isinstance(document, dict):
            yield from _expanded(cast("Properties", document))


def _expanded(document: Properties) -> Iterator[Properties]:
    """Yield the objects in a kind `...List`, or the document itself."""
    if (text(document, "kind") or "").endswith("List") and "items" in document:
        for item in items(document, "items"):
            yield from _expanded(cast("Properties", item))
    else:
        yield document
