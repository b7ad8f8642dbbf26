"""The two services that a service gateway can lead to, and the lookup that tells them.

https://docs.oracle.com/en-us/iaas/Content/Network/Tasks/servicegateway.htm
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pulumi_rehearsal.standin.kind import Lookup, Properties
from pulumi_rehearsal.standin.oci import regions
from pulumi_rehearsal.standin.oci.base import ocid, region_of
from pulumi_rehearsal.standin.properties import flag, objects, text, texts
from pulumi_rehearsal.standin.world import World

_LABEL: Final = re.compile(r"(all-[a-z0-9-]+-services-in-oracle-services-network)|oci-[a-z0-9-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """One service; `cidr_block` is the label that rules name."""

    id: str
    name: str
    cidr_block: str


def of_region(region: str) -> tuple[Service, ...]:
    """All services, and Object Storage alone."""
    key = regions.key(region)
    return tuple(
        Service(id=ocid("service", region, label), name=name, cidr_block=label)
        for name, label in (
            (f"OCI {key.upper()} Object Storage", f"oci-{key}-objectstorage"),
            (
                f"All {key.upper()} Services In Oracle Services Network",
                f"all-{key}-services-in-oracle-services-network",
            ),
        )
    )


def is_label(text: str) -> bool:
    """Whether `text` has the form of a service label."""
    return _LABEL.fullmatch(text) is not None


class GetServices(Lookup):
    """What a service gateway can lead to."""

    token = "oci:Core/getServices:getServices"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The services that pass every filter."""
        found: list[Properties] = [
            {
                "cidrBlock": one.cidr_block,
                "description": one.name,
                "id": one.id,
                "name": one.name,
            }
            for one in of_region(region_of(scope))
        ]
        return {
            "filters": args.get("filters"),
            "id": "CoreServicesDataSource-0",
            "services": filtered(found, args),
        }


def filtered(found: list[Properties], args: Properties) -> list[Properties]:
    """Those that match each of the provider's `filters`, by value or by regular expression."""
    for one in objects(args, "filters"):
        name, values = text(one, "name") or "", texts(one, "values")
        if flag(one, "regex"):
            found = [
                item
                for item in found
                if any(re.search(value, str(item.get(name))) for value in values)
            ]
        else:
            found = [item for item in found if str(item.get(name)) in values]
    return found


LOOKUPS = (GetServices(),)
