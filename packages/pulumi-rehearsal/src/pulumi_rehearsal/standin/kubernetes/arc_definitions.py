"""The four kinds that ARC's controller chart brings, as definitions small enough to make up.

A file that cannot be fetched in a rehearsal stands for the kind in its name
(`actions.github.com_<plural>.yaml`); the version in its address stays with the definition, so that
a new chart version changes it. Names: actions/actions-runner-controller
charts/gha-runner-scale-set-controller/crds.
"""

from __future__ import annotations

import re
from typing import Final

from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.properties import strings

GROUP: Final = "actions.github.com"
VERSION: Final = "v1alpha1"

KINDS_BY_PLURAL: Final = {
    "autoscalinglisteners": "AutoscalingListener",
    "autoscalingrunnersets": "AutoscalingRunnerSet",
    "ephemeralrunners": "EphemeralRunner",
    "ephemeralrunnersets": "EphemeralRunnerSet",
}

DEFINITION: Final = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"

RUNNER_SET: Final = f"kubernetes:{GROUP}/{VERSION}:AutoscalingRunnerSet"
"""The object that a scale-set release makes, and that the controller may take away."""

CHART_VERSION: Final = "rehearsal/arc-chart-version"
"""Annotation of a made-up definition: the chart version that its address named."""

_FILE: Final = re.compile(r"actions\.github\.com_([a-z]+)\.ya?ml")
_CHART_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")


def definition_name(plural: str) -> str:
    """The name of a definition in the cluster."""
    return f"{plural}.{GROUP}"


def definition_from(address: str) -> Properties | None:
    """The definition that a file's address stands for; None where it is none of the four."""
    match = _FILE.fullmatch(address.rpartition("/")[2])
    if match is None or match.group(1) not in KINDS_BY_PLURAL:
        return None
    version = _CHART_VERSION.search(address)
    return definition(match.group(1), version.group() if version else None)


def definition(plural: str, chart_version: str | None) -> Properties:
    """A CustomResourceDefinition that accepts any content."""
    kind = KINDS_BY_PLURAL[plural]
    metadata: Properties = {"name": definition_name(plural)}
    if chart_version is not None:
        metadata["annotations"] = {CHART_VERSION: chart_version}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": GROUP,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def chart_version(definition: Resource) -> str | None:
    """The chart version that a definition came from, where it is known."""
    return strings(definition.inputs, "metadata.annotations").get(CHART_VERSION)
