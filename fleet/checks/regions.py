"""Regions: names that no cloud has, and what lies in another region than its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from fleet.catalog.regions import AWS_REGIONS, OCI_REGIONS, region_of_domain, region_of_ocid
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.config.oke import Oke


@check("region", "warning")
def unknown_regions(view: View) -> Iterator[Problem]:
    """Regions that are not among those of the cloud, as far as this program knows them."""
    for name, cluster in view.stack.clusters.items():
        for kind, spec, known in (
            ("eks", cluster.eks, AWS_REGIONS),
            ("oke", cluster.oke, OCI_REGIONS),
        ):
            if spec is None or spec.region in known:
                continue
            near = get_close_matches(spec.region, sorted(known), n=1)
            yield Problem(
                path=f"clusters.{name}.{kind}.region",
                message=(
                    f"is {spec.region}, no region of {'AWS' if kind == 'eks' else 'OCI'} that this "
                    "program knows"
                ),
                remedy=(f"did you mean {near[0]}? " if near else "")
                + "if it is newer than this program's list, silence region",
            )


@check("other-region")
def other_regions(view: View) -> Iterator[Problem]:
    """Images, networks, reservations and availability domains of another region of OCI."""
    for name, cluster in view.stack.clusters.items():
        oke, path = cluster.oke, f"clusters.{name}.oke"
        if oke is None:
            continue
        regions = {place: region for place, region in _regional(oke) if region is not None}
        named = set(regions.values())
        if len(regions) > 1 and len(named) == 1 and oke.region not in named:
            yield Problem(
                path=f"{path}.region",
                message=f"is {oke.region}, but all that the cluster names lies in {min(named)}",
                remedy=f"write region: {min(named)}, or name what lies in {oke.region}",
            )
            continue
        for place, region in regions.items():
            if region != oke.region:
                yield Problem(
                    path=f"{path}.{place}",
                    message=f"is of region {region}, but the cluster is in {oke.region}",
                    remedy=f"use one of {oke.region}, or correct the cluster's region",
                )


def _regional(oke: Oke) -> Iterator[tuple[str, str | None]]:
    """Path and region of everything that lies in one."""
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
def evictions(view: View) -> Iterator[Problem]:
    """Pools on OKE whose nodes are replaced by an update without waiting for their jobs."""
    for name, cluster in view.stack.clusters.items():
        for pool_name, pool in (cluster.oke.pools if cluster.oke is not None else {}).items():
            if pool.node_cycling and pool.eviction_minutes == 0:
                path = f"clusters.{name}.oke.pools.{pool_name}"
                yield Problem(
                    path=f"{path}.eviction_minutes",
                    message="is 0 with node_cycling: an update ends the jobs that run",
                    remedy="remove it for 60 minutes, or remove node_cycling",
                )
