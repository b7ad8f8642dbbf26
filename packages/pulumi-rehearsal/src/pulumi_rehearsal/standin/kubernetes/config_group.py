"""`yaml/v2` ConfigGroup: a component for which the provider registers one child for each object.

Source: pulumi/pulumi-kubernetes provider/pkg/provider/yaml/v2/{configgroup,yaml}.go (children are
called `<prefix or group name>:[namespace/]<name>`). Nothing is downloaded: the address of one of
ARC's definitions gives an invented definition, and any other address is refused.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import grpc
import yaml
from pulumi.runtime.proto import provider_pb2, resource_pb2, resource_pb2_grpc

from pulumi_rehearsal.standin import wire
from pulumi_rehearsal.standin.kind import Construct, Invalid, Properties, Refusal
from pulumi_rehearsal.standin.kubernetes import arc
from pulumi_rehearsal.standin.properties import flag, items, mapping, text, texts
from pulumi_rehearsal.standin.values import UNKNOWN, contains_unknown

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

SKIP_AWAIT: Final = "pulumi.com/skipAwait"

_INPUTS: Final = frozenset({"files", "objs", "resourcePrefix", "skipAwait", "yaml"})


class ConfigGroup(Construct):
    """A component with one child for each object in its files."""

    token: ClassVar[str] = "kubernetes:yaml/v2:ConfigGroup"

    def construct(self, request: Any, scope: str, world: World) -> Any:
        inputs = wire.decode(request.inputs).properties
        unknown = [name for name in inputs if name not in _INPUTS]
        if unknown:
            reasons = ((name, f"{self.token} has no property {name!r}") for name in unknown)
            raise Invalid(*reasons)
        try:
            return _registered(request, inputs)
        except grpc.RpcError as error:
            raise Refusal(f"{self.token}: the engine accepts no more resources") from error


def _registered(request: Any, inputs: Properties) -> Any:
    with grpc.insecure_channel(request.monitorEndpoint) as channel:
        monitor: Any = resource_pb2_grpc.ResourceMonitorStub(channel)
        urn = str(monitor.RegisterResource(_group_request(request)).urn)
        if contains_unknown(inputs):
            return _response(urn, UNKNOWN)
        prefix = text(inputs, "resourcePrefix")
        prefix = str(request.name) if prefix is None else prefix
        children = [
            _reference(monitor.RegisterResource(_child_request(request, urn, prefix, found)))
            for found in _objects(inputs)
        ]
    return _response(urn, children)


def _objects(inputs: Properties) -> Iterator[Properties]:
    """Yield the objects of the files, of the YAML text and of the list, in this order."""
    documents: list[Properties] = []
    for address in texts(inputs, "files"):
        documents.extend(_fetched(address))
    documents.extend(_documents(text(inputs, "yaml") or ""))
    documents.extend(cast("tuple[Properties, ...]", items(inputs, "objs")))
    for document in documents:
        if not text(document, "kind") or not text(document, "apiVersion"):
            raise Refusal("Kubernetes resources require a kind and apiVersion")
        if not text(document, "metadata.name"):
            raise Refusal("Kubernetes resources require a .metadata.name")
        yield _unawaited(document) if flag(inputs, "skipAwait") else document


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


def _unawaited(document: Properties) -> Properties:
    annotations = {**mapping(document, "metadata.annotations"), SKIP_AWAIT: "true"}
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}


def _group_request(request: Any) -> Any:
    return resource_pb2.RegisterResourceRequest(
        type=request.type,
        name=request.name,
        parent=request.parent,
        custom=False,
        protect=request.protect,
        dependencies=request.dependencies,
        providers=request.providers,
        aliases=request.aliases,
        deletedWith=request.deletedWith,
        acceptSecrets=True,
        acceptResources=True,
    )


def _child_request(request: Any, group: str, prefix: str, document: Properties) -> Any:
    secrets = {("data",), ("stringData",)} if document["kind"] == "Secret" else set[wire.Path]()
    return resource_pb2.RegisterResourceRequest(
        type=_token(document),
        name=f"{prefix}:{_qualified_name(document)}" if prefix else _qualified_name(document),
        parent=group,
        custom=True,
        object=wire.encode(document, frozenset(secrets)),
        protect=request.protect,
        provider=request.providers.get("kubernetes", ""),
        version=metadata.version("pulumi_kubernetes"),
        acceptSecrets=True,
        acceptResources=True,
        supportsPartialValues=True,
    )


def _token(document: Properties) -> str:
    version = str(document["apiVersion"])
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{document['kind']}"


def _qualified_name(document: Properties) -> str:
    name, namespace = text(document, "metadata.name"), text(document, "metadata.namespace")
    return f"{namespace}/{name}" if namespace else str(name)


def _reference(registered: Any) -> Properties:
    return {
        wire.SIGNATURE: wire.RESOURCE,
        "urn": registered.urn,
        "id": registered.id,
        "packageVersion": metadata.version("pulumi_kubernetes"),
    }


def _response(urn: str, resources: Any) -> Any:
    state = wire.encode({"resources": resources})
    return provider_pb2.ConstructResponse(urn=urn, state=state)
