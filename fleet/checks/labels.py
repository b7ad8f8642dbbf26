"""Node labels and cloud tags: what clouds refuse, and what GPU feature discovery writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.catalog.feature_discovery import expected_label, owned_label
from fleet.catalog.gpus import PRODUCT_LABEL
from fleet.catalog.limits import AWS_MAX_TAGS, AWS_TAG_PATTERN, EKS_LABEL, OCI_TAG_KEY
from fleet.checks.check import check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan
from fleet.findings import Finding

_SUFFIXES = re.compile(r"(-MIG-[^-]+)?(-SHARED)?$")
_OWN_AWS_TAGS = 3
"""Most tags that this program adds to one AWS resource: the cluster, Name, a subnet's role."""


@check("node-label")
def eks_labels(view: View) -> Iterator[Finding]:
    """EKS node labels that EKS refuses, or that give an Auto Scaling group too many tags."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        for pool in cluster.platform.pools:
            path = f"{pool.path}.labels"
            for key, value in pool.labels.items():
                if len(key) > EKS_LABEL.max_length:
                    yield eks_labels.finding(
                        path,
                        message=(
                            f"has the key {key} of {len(key)} characters, but EKS allows "
                            f"{EKS_LABEL.max_length} with the prefix: it would refuse the node "
                            "group"
                        ),
                        remedy="shorten the key",
                    )
                if not value:
                    yield eks_labels.finding(
                        path,
                        message=f"has {key} without a value, which EKS refuses",
                        remedy=f'give it a value, like {key}: "true"',
                    )
            extra = len(pool.autoscaling_tags) - AWS_MAX_TAGS
            if extra > 0:
                yield eks_labels.finding(
                    path,
                    message=(
                        f"the Auto Scaling group would have {len(pool.autoscaling_tags)} tags, "
                        "one for each label and this program's own, but AWS allows "
                        f"{AWS_MAX_TAGS}"
                    ),
                    remedy=f"remove {extra} label{'s' if extra > 1 else ''}",
                )


@check("cloud-tag")
def cloud_tags(view: View) -> Iterator[Finding]:
    """Tags of the stack that AWS or OCI refuses: too many, too long, or with wrong characters."""
    kinds = {type(cluster.platform) for cluster in view.plan.clusters}
    tags = view.stack.tags
    if OkePlan in kinds:
        for key in tags:
            if len(key) > OCI_TAG_KEY.max_length:
                yield cloud_tags.finding(
                    f"tags.{key}",
                    message=f"has {len(key)} characters, but OCI allows {OCI_TAG_KEY.max_length}",
                    remedy="shorten the key",
                )
    if EksPlan not in kinds:
        return
    allowed = AWS_MAX_TAGS - _OWN_AWS_TAGS
    if len(tags) > allowed:
        yield cloud_tags.finding(
            "tags",
            message=(
                f"has {len(tags)} tags; this program adds {_OWN_AWS_TAGS}, and AWS allows "
                f"{AWS_MAX_TAGS} on a resource"
            ),
            remedy=f"use {allowed} or fewer",
        )
    seen: dict[str, str] = {}
    for key, value in tags.items():
        if not re.fullmatch(AWS_TAG_PATTERN, f"{key}{value}"):
            yield cloud_tags.finding(
                f"tags.{key}",
                message="has a character that AWS refuses in tags of IAM roles",
                remedy="use letters, digits, spaces and . : / = + - @ _",
            )
        first = seen.setdefault(key.casefold(), key)
        if first != key:
            yield cloud_tags.finding(
                f"tags.{key}",
                message=f"differs from {first} only by case, and IAM ignores the case of keys",
                remedy="keep one of them",
            )


@check("label-owned")
def owned_labels(view: View) -> Iterator[Finding]:
    """Labels of existing pools that GPU feature discovery writes with another value.

    Jobs select nodes by the labels of their pools, so they would find no node. An error if this
    stack's GPU Operator runs feature discovery. Otherwise a warning: the existing cluster may run
    it.
    """
    for cluster in view.plan.clusters:
        existing = view.spec_of(cluster).existing
        if existing is None:
            continue
        discovers = cluster.gpu_stack.operator is not None
        for pool in cluster.pools:
            sharing = existing.pools[pool.name].sharing
            mig = sharing.mig if sharing is not None else None
            for key, value in pool.labels.items():
                wanted = _expected(pool, key, mig)
                if wanted is None or wanted == value:
                    continue
                certain = key != PRODUCT_LABEL or _is_impossible(value, wanted, pool.gpu or "")
                if not certain and _is_same_model(value, wanted, pool.gpu or ""):
                    continue
                yield owned_labels.finding(
                    f"{pool.path}.labels",
                    message=(
                        f"has {key}: {value}, but GPU feature discovery writes {wanted} on nodes "
                        f"with {pool.nodes[0].gpus} x {pool.gpu}: jobs that select {value} would "
                        "find no node"
                    ),
                    remedy=(
                        f"write {wanted}, or select the nodes by your own label, like "
                        "kubernetes.io/hostname"
                    ),
                    severity="error" if discovers and certain else "warning",
                )


def _expected(pool: Pool, key: str, mig: str | None) -> str | None:
    """Return what feature discovery writes for a key, `None` if it does not write that key."""
    unknown_profile = mig is not None and pool.mig_instances == 1  # an error of another rule
    if pool.gpu is None or not owned_label(key) or unknown_profile:
        return None
    return expected_label(
        key, model=pool.gpu, gpus=pool.nodes[0].gpus, slices=pool.time_slices, mig=mig
    )


def _is_impossible(value: str, wanted: str, model: str) -> bool:
    """Whether feature discovery writes that product for no board of the model."""
    suffix, expected = _suffix(value), _suffix(wanted)
    name = value.removesuffix(suffix).casefold()
    family = model.partition("-")[0].partition(" ")[0].casefold()
    return name in (model.casefold(), family) or family not in name or suffix != expected


def _is_same_model(value: str, wanted: str, model: str) -> bool:
    """Whether it may be the product of another board of the model, such as PCIE for SXM4."""
    vendor, family = wanted.partition("-")[0], model.partition("-")[0]
    return value.startswith(f"{vendor}-") and family in value


def _suffix(product: str) -> str:
    found = _SUFFIXES.search(product)
    return found[0] if found is not None else ""
