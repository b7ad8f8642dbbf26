"""Remote components of the provider: it registers one child for each object of a file or chart.

Sources: pulumi/pulumi-kubernetes provider/pkg/provider/yaml/v2/yaml.go (Register: children are
called `<prefix or component name>:[namespace/]<name>`, their parent is the component) and
pulumi/pulumi sdk/go/pulumi/provider.go (construct: the options of the request go to the component).
The engine itself applies the transforms of the component to its children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import metadata
from typing import Any, Final

import grpc
from pulumi.runtime.proto import provider_pb2, resource_pb2, resource_pb2_grpc

from pulumi_rehearsal.standin import wire
from pulumi_rehearsal.standin.kind import Properties, Refusal
from pulumi_rehearsal.standin.properties import flag, mapping, text
from pulumi_rehearsal.standin.values import UNKNOWN, contains_unknown

SKIP_AWAIT: Final = "pulumi.com/skipAwait"


def construct(request: Any, inputs: Properties, objects: Callable[[], Iterable[Properties]]) -> Any:
    """Register the component of a request, then a child for each of the objects.

    While an input is unknown, no child is registered. Raises `Refusal` if an object has no name or
    kind, or if the engine accepts no more resources.
    """
    try:
        with grpc.insecure_channel(request.monitorEndpoint) as channel:
            monitor: Any = resource_pb2_grpc.ResourceMonitorStub(channel)
            urn = str(monitor.RegisterResource(_component_request(request)).urn)
            if contains_unknown(inputs):
                return _response(urn, UNKNOWN)
            prefix = text(inputs, "resourcePrefix")
            prefix = str(request.name) if prefix is None else prefix
            skip_await = flag(inputs, "skipAwait") is True
            children = [
                monitor.RegisterResource(_child_request(request, urn, prefix, one))
                for one in _checked(objects(), skip_await=skip_await)
            ]
            return _response(urn, [_reference(child) for child in children])
    except grpc.RpcError as error:
        raise Refusal(f"{request.type}: the engine accepts no more resources") from error


def _checked(objects: Iterable[Properties], *, skip_await: bool) -> list[Properties]:
    """Return the objects, all of which have a kind and a name, before the first is registered."""
    found = list(objects)
    for one in found:
        if not text(one, "kind") or not text(one, "apiVersion"):
            raise Refusal("Kubernetes resources require a kind and apiVersion")
        if not text(one, "metadata.name"):
            raise Refusal("Kubernetes resources require a .metadata.name")
    return [_unawaited(one) for one in found] if skip_await else found


def _unawaited(document: Properties) -> Properties:
    annotations = {**mapping(document, "metadata.annotations"), SKIP_AWAIT: "true"}
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}


def _component_request(request: Any) -> Any:
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
        retainOnDelete=request.retainOnDelete,
        acceptSecrets=True,
        acceptResources=True,
    )


def _child_request(request: Any, component: str, prefix: str, document: Properties) -> Any:
    secrets = {("data",), ("stringData",)} if document["kind"] == "Secret" else set[wire.Path]()
    return resource_pb2.RegisterResourceRequest(
        type=token(document),
        name=f"{prefix}:{qualified_name(document)}" if prefix else qualified_name(document),
        parent=component,
        custom=True,
        object=wire.encode(document, frozenset(secrets)),
        protect=request.protect,
        provider=request.providers.get("kubernetes", ""),
        version=metadata.version("pulumi_kubernetes"),
        acceptSecrets=True,
        acceptResources=True,
        supportsPartialValues=True,
    )


def token(document: Properties) -> str:
    """Return the resource type of an object."""
    version = str(document["apiVersion"])
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{document['kind']}"


def qualified_name(document: Properties) -> str:
    """Return the id of an object: `[namespace/]name`."""
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
