"""Regions that a cloud does not have, and resources in another region than their cluster."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from fleet.catalog.regions import AWS_REGIONS, OCI_REGIONS, region_of_domain, region_of_ocid
from fleet.checks.check import check
from fleet.checks.view import View
from fleet.config.oke import Oke
from fleet.findings import Finding


@check("region", "warning")
def unknown_regions(view: View) -> Iterator[Finding]:
    """Regions that are not on this program's list of AWS or OCI regions."""
    for name, cluster in view.stack.clusters.items():
        for kind, cloud, spec, known in (
            ("eks", "AWS", cluster.eks, AWS_REGIONS),
            ("oke", "OCI", cluster.oke, OCI_REGIONS),
        ):
            if spec is None or spec.region in known:
                continue
            near = get_close_matches(spec.region, sorted(known), n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            yield unknown_regions.finding(
                f"clusters.{name}.{kind}.region",
                message=(
                    f"is {spec.region}, which is not on the list of {cloud} regions: if it does "
                    "not exist, up fails at the first resource"
                ),
                remedy=f"{hint}If the region is newer than the list, silence region",
            )


@check("other-region")
def other_regions(view: View) -> Iterator[Finding]:
    """OCI resources of a cluster that are in another region."""
    for name, cluster in view.stack.clusters.items():
        oke, path = cluster.oke, f"clusters.{name}.oke"
        if oke is None:
            continue
        regions = {place: region for place, region in _regional(oke) if region is not None}
        named = set(regions.values())
        if len(regions) > 1 and len(named) == 1 and oke.region not in named:
            yield other_regions.finding(
                f"{path}.region",
                message=(
                    f"is {oke.region}, but everything that the cluster refers to is in "
                    f"{min(named)}: OCI would not find it"
                ),
                remedy=f"write region: {min(named)}, or refer to resources of {oke.region}",
            )
            continue
        for place, region in regions.items():
            if region != oke.region:
                yield other_regions.finding(
                    f"{path}.{place}",
                    message=f"is in {region}, but the cluster is in {oke.region}: OCI refuses it",
                    remedy=f"use one of {oke.region}, or correct the cluster's region",
                )


def _regional(oke: Oke) -> Iterator[tuple[str, str | None]]:
    """Yield the path and region of each identifier that contains a region."""
    for key, value in oke.network:
        if key.endswith("_id") and value is not None:
            yield f"network.{key}", region_of_ocid(value)
        if key.endswith("_ids"):
            for index, one in enumerate(value or ()):
                yield f"network.{key}[{index}]", region_of_ocid(one)
    for index, domain in enumerate(oke.availability_domains):
        yield f"availability_domains[{index}]", region_of_domain(domain)
    for name, pool in oke.pools.items():
        for key in ("image_id", "capacity_reservation_id"):
            value = getattr(pool, key)
            if value is not None:
                yield f"pools.{name}.{key}", region_of_ocid(value)


@check("eviction", "warning")
def evictions(view: View) -> Iterator[Finding]:
    """OKE pools whose nodes are replaced during an update without waiting for their jobs."""
    for name, cluster in view.stack.clusters.items():
        for pool_name, pool in (cluster.oke.pools if cluster.oke is not None else {}).items():
            if pool.node_cycling and pool.eviction_minutes == 0:
                yield evictions.finding(
                    f"clusters.{name}.oke.pools.{pool_name}.eviction_minutes",
                    message="is 0 with node_cycling: an update of the pool ends running jobs",
                    remedy="remove eviction_minutes (the default is 60), or remove node_cycling",
                )
