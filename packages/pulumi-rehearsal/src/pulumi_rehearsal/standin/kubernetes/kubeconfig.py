"""Which cluster a provider's configuration points at."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

import yaml

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.properties import objects, text
from pulumi_rehearsal.standin.values import UNKNOWN

UNKNOWN_CLUSTER: Final = "kubernetes:?"


def scope(configuration: Properties) -> str:
    """`kubernetes:<endpoint>` where the kubeconfig is known, else the context's name.

    A kubeconfig is a text or a path (pulumi/pulumi-kubernetes provider/pkg/provider/provider.go,
    Configure); a path is not followed outside the rehearsal, its context stands for the cluster.
    """
    kubeconfig, context = configuration.get("kubeconfig"), configuration.get("context")
    if kubeconfig is UNKNOWN or context is UNKNOWN:
        return UNKNOWN_CLUSTER
    endpoint = _endpoint(str(kubeconfig), None if context is None else str(context))
    named = context or (Path(str(kubeconfig)).name if kubeconfig else "current-context")
    return f"kubernetes:{endpoint or named}"


def _endpoint(kubeconfig: str, context: str | None) -> str | None:
    try:
        parsed: Any = yaml.safe_load(kubeconfig)
    except yaml.YAMLError:
        return None
    if not isinstance(parsed, dict):
        return None
    document = cast("Properties", parsed)
    wanted = context or text(document, "current-context")
    contexts = objects(document, "contexts")
    chosen = [entry for entry in contexts if entry.get("name") == wanted] or list(contexts)
    name = text(chosen[0], "context.cluster") if chosen else None
    for entry in objects(document, "clusters"):
        if name is None or entry.get("name") == name:
            return text(entry, "cluster.server")
    return None
