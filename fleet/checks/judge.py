"""All checks, and findings about the identifiers that `silence` names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from fleet.checks import (
    capacity,
    counts,
    cuda,
    fits,
    forges,
    gpu_access,
    gpu_stack,
    images,
    job_labels,
    labels,
    lanes,
    names,
    network,
    order,
    places,
    regions,
    security,
    versions,
)
from fleet.checks.check import Check
from fleet.checks.view import View
from fleet.findings import Finding

_MODULES: Final = (
    *(names, labels, network, regions),
    *(gpu_stack, fits, places, cuda, versions, capacity, counts, order),
    *(lanes, gpu_access, images, security, job_labels, forges),
)
"""In the order in which a person would correct the findings: a cluster, its nodes, its lanes."""

CHECKS: Final = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Check)
)
"""Every check of those modules, in the order of definition: adding one needs no list."""

IDENTIFIERS: Final = tuple(dict.fromkeys(check.identifier for check in CHECKS))

_REFUSALS: Final = frozenset(
    {"missing", "null", "rule", "secrets", "shape", "silence", "unknown-pool"}
)
"""Rules without a check: a file that breaks one of them cannot be used at all."""

_SIMILARITY: Final = 0.8
"""Similarity, from 0 to 1, above which an identifier is taken for a misspelt one."""


def judge(view: View) -> Iterator[Finding]:
    """Yield every finding about a stack, also those that the stack silences."""
    for check in CHECKS:
        yield from check.findings(view)


def unknown_silences(keys: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each key of `silence` that is not the identifier of a check."""
    for key in keys:
        rule = key.partition("@")[0]
        if rule in IDENTIFIERS:
            continue
        near = get_close_matches(rule, IDENTIFIERS, n=1, cutoff=_SIMILARITY)
        if rule in _REFUSALS or not near:
            remedy = (
                "remove it and correct the error; docs/troubleshooting.md lists the checks that "
                "can be silenced"
            )
        else:
            remedy = f"did you mean {near[0]}? Copy the identifier from the finding, or remove it"
        yield Finding(
            rule="silence",
            path=f"silence.{key}",
            message=(
                f"{rule} is an error that cannot be silenced: the file cannot be used with it"
                if rule in _REFUSALS
                else f"{rule} is not the identifier of a check, so it silences nothing"
            ),
            remedy=remedy,
        )
