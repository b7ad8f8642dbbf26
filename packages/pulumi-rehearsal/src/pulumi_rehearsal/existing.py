"""Resources that exist before the program runs, such as a Secret that another team creates.

Pass them to `rehearse(existing=[...])`. A Kubernetes object exists in every cluster of the
rehearsal, or in the one that `cluster` names: an EKS or OKE cluster of the program, or a kubeconfig
context.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.kubernetes.cluster import NAMESPACE, OUTSIDE, SECRET
from pulumi_rehearsal.standin.kubernetes.pods import RUNTIME_CLASS


def resource(token: str, scope: str, id: str, /, **properties: Any) -> Resource:
    """Return a resource of any type; `scope` is like `aws:eu-west-1`, see `kind.Call.scope`."""
    return Resource(
        urn="", type=token, name=id, id=id, scope=scope, inputs=properties, outputs=properties
    )


def secret(
    namespace: str, name: str, keys: Iterable[str] = (), *, cluster: str | None = None
) -> Resource:
    """Return a Secret with these keys; their values are made up."""
    values = dict.fromkeys(keys, "made-elsewhere")
    metadata = {"name": name, "namespace": namespace}
    return _object(SECRET, metadata, {"stringData": values}, cluster)


def namespace(
    name: str, labels: Mapping[str, str] | None = None, *, cluster: str | None = None
) -> Resource:
    """Return a Namespace."""
    return _object(NAMESPACE, {"name": name, "labels": dict(labels or {})}, {}, cluster)


def runtime_class(name: str) -> Resource:
    """Return a RuntimeClass."""
    return _object(RUNTIME_CLASS, {"name": name}, {})


def _object(
    token: str, metadata: Properties, fields: Properties, cluster: str | None = None
) -> Resource:
    name, namespace = metadata["name"], metadata.get("namespace")
    properties: Properties = {"metadata": metadata, **fields}
    return Resource(
        urn="",
        type=token,
        name=name,
        id=f"{namespace}/{name}" if namespace else name,
        scope=OUTSIDE if cluster is None else f"{OUTSIDE}/{cluster}",
        inputs=properties,
        outputs=properties,
    )
