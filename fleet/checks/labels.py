"""Node labels and cloud tags: what clouds refuse, and what feature discovery writes itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.catalog.feature_discovery import expected_label, owned_label
from fleet.catalog.gpus import PRODUCT_LABEL
from fleet.catalog.limits import AWS_MAX_TAGS, AWS_TAG_PATTERN, EKS_LABEL, OCI_TAG_KEY
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan
from fleet.findings import Severity

_SUFFIXES = re.compile(r"(-MIG-[^-]+)?(-SHARED)?$")
_OWN_AWS_TAGS = 3
"""Tags that this program adds to one AWS resource at most: the cluster, Name, a subnet's role."""


@check("label-owned")
def owned_labels(view: View) -> Iterator[Problem]:
    """Labels of existing pools that feature discovery writes differently.

    The labels of a pool are what its jobs select, so they would find no node. An error where this
    stack's operator runs feature discovery, else a warning: somebody else's may.
    """
    for cluster in view.plan.clusters:
        existing = view.spec_of(cluster).existing
        if existing is None:
            continue
        discovers = cluster.gpu_stack.operator is not None
        for pool in cluster.pools:
            spec = existing.pools[pool.name]
            mig = spec.sharing.mig if spec.sharing is not None else None
            for key, value in pool.labels.items():
                wanted = _expected(pool, key, mig)
                if wanted is None or wanted == value:
                    continue
                certain = key != PRODUCT_LABEL or _never(value, wanted, pool.gpu or "")
                if not certain and _same_card(value, wanted, pool.gpu or ""):
                    continue
                severity: Severity = "error" if discovers and certain else "warning"
                yield Problem(
                    path=f"{pool.path}.labels",
                    message=(
                        f"say {key}: {value}, where GPU feature discovery writes {wanted} for "
                        f"these nodes ({pool.nodes[0].gpus} x {pool.gpu})"
                    ),
                    remedy=(
                        f"write {wanted}, or select the nodes by a label of your own, like "
                        "kubernetes.io/hostname"
                    ),
                    severity=severity,
                )


def _expected(pool: Pool, key: str, mig: str | None) -> str | None:
    if pool.gpu is None or not owned_label(key) or (mig is not None and pool.mig_instances == 1):
        return None  # no GPU, not discovery's, or a profile that another check tells
    return expected_label(
        key, model=pool.gpu, gpus=pool.nodes[0].gpus, slices=pool.time_slices, mig=mig
    )


def _never(value: str, wanted: str, model: str) -> bool:
    """Whether discovery writes that product for no card of the model: a short name, or another."""
    suffix, expected = _suffix(value), _suffix(wanted)
    name = value.removesuffix(suffix).casefold()
    family = model.partition("-")[0].partition(" ")[0].casefold()
    return name in (model.casefold(), family) or family not in name or suffix != expected


def _same_card(value: str, wanted: str, model: str) -> bool:
    """Whether it may be the product of another board of the model: PCIE for SXM4."""
    vendor, family = wanted.partition("-")[0], model.partition("-")[0]
    return value.startswith(f"{vendor}-") and family in value


def _suffix(product: str) -> str:
    found = _SUFFIXES.search(product)
    return found[0] if found is not None else ""


@check("node-label")
def eks_labels(view: View) -> Iterator[Problem]:
    """EKS' limits on node labels, which are narrower than Kubernetes'; tags of the autoscaler."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        for pool in cluster.platform.pools:
            for key, value in pool.labels.items():
                if len(key) > EKS_LABEL.max_length:
                    yield Problem(
                        path=f"{pool.path}.labels",
                        message=(
                            f"hold the key {key} of {len(key)} characters; EKS allows "
                            f"{EKS_LABEL.max_length}, the prefix included"
                        ),
                        remedy="shorten the key",
                    )
                if not value:
                    yield Problem(
                        path=f"{pool.path}.labels",
                        message=f"give {key} no value, which EKS refuses",
                        remedy=f'give it one, like {key}: "true"',
                    )
            if len(pool.autoscaling_tags) > AWS_MAX_TAGS:
                yield Problem(
                    path=f"{pool.path}.labels",
                    message=(
                        f"make {len(pool.autoscaling_tags)} tags of the Auto Scaling group, one "
                        f"for each label beside this program's own; AWS allows {AWS_MAX_TAGS}"
                    ),
                    remedy=f"remove {len(pool.autoscaling_tags) - AWS_MAX_TAGS} labels",
                )


@check("cloud-tag")
def cloud_tags(view: View) -> Iterator[Problem]:
    """Tags that a cloud of the stack refuses on some resource: their number, length, characters."""
    kinds = {type(cluster.platform) for cluster in view.plan.clusters}
    tags = view.stack.tags
    if OkePlan in kinds:
        for key in tags:
            if len(key) > OCI_TAG_KEY.max_length:
                yield Problem(
                    path=f"tags.{key}",
                    message=f"has {len(key)} characters; OCI allows {OCI_TAG_KEY.max_length}",
                    remedy="shorten it",
                )
    if EksPlan not in kinds:
        return
    most = AWS_MAX_TAGS - _OWN_AWS_TAGS
    if len(tags) > most:
        yield Problem(
            path="tags",
            message=f"are {len(tags)}; with this program's own, AWS takes {AWS_MAX_TAGS}",
            remedy=f"use {most} or fewer",
        )
    seen: dict[str, str] = {}
    for key, value in tags.items():
        if not re.fullmatch(AWS_TAG_PATTERN, f"{key}{value}"):
            yield Problem(
                path=f"tags.{key}",
                message="holds a character that AWS refuses on roles",
                remedy="use letters, digits, spaces and . : / = + - @ _",
            )
        first = seen.setdefault(key.casefold(), key)
        if first != key:
            yield Problem(
                path=f"tags.{key}",
                message=f"is {first} to IAM, which does not tell keys apart by case",
                remedy="keep one of them",
            )
