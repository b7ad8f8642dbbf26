"""Regions of Oracle's commercial realm: keys, availability domains, and their form in an OCID.

Keys and the four regions with three availability domains:
https://docs.oracle.com/en-us/iaas/Content/General/Concepts/regions.htm . An OCID contains
the region's key in the two oldest regions, and its name in all others. Each tenancy has its own
prefix in the names of availability domains; `PREFIX` is that of the stand-in's tenancy.
"""

from __future__ import annotations

import re
from typing import Final

PREFIX: Final = "Uocm"

_KEYS: Final = """
af-johannesburg-1:jnb ap-chuncheon-1:yny ap-hyderabad-1:hyd ap-melbourne-1:mel ap-mumbai-1:bom
ap-osaka-1:kix ap-seoul-1:icn ap-singapore-1:sin ap-sydney-1:syd ap-tokyo-1:nrt
ca-montreal-1:yul ca-toronto-1:yyz eu-amsterdam-1:ams eu-frankfurt-1:fra eu-madrid-1:mad
eu-marseille-1:mrs eu-milan-1:lin eu-paris-1:cdg eu-stockholm-1:arn eu-zurich-1:zrh
il-jerusalem-1:mtz me-abudhabi-1:auh me-dubai-1:dxb me-jeddah-1:jed mx-monterrey-1:mty
mx-queretaro-1:qro sa-santiago-1:scl sa-saopaulo-1:gru sa-vinhedo-1:vcp uk-cardiff-1:cwl
uk-london-1:lhr us-ashburn-1:iad us-chicago-1:ord us-phoenix-1:phx us-sanjose-1:sjc
"""
KEYS: Final = dict(re.findall(r"(\S+):(\S+)", _KEYS))

_THREE_DOMAINS: Final = frozenset({"eu-frankfurt-1", "uk-london-1", "us-ashburn-1", "us-phoenix-1"})
_OLDEST: Final = {"us-ashburn-1": "US-ASHBURN", "us-phoenix-1": "PHX"}


def key(region: str) -> str:
    """Return the region's key, `iad`; the name itself for a region that is not listed."""
    return KEYS.get(region, region)


def in_ocid(region: str) -> str:
    """Return the region as an OCID contains it: `iad`, but `eu-frankfurt-1`."""
    return key(region) if region in _OLDEST else region


def availability_domains(region: str) -> tuple[str, ...]:
    """Return the names of the region's availability domains, `Uocm:US-ASHBURN-AD-1`."""
    count = 3 if region in _THREE_DOMAINS else 1
    name = _OLDEST.get(region, region.upper())
    return tuple(f"{PREFIX}:{name}-AD-{number}" for number in range(1, count + 1))


def has_domain(region: str, name: str) -> bool:
    """Whether the region has that availability domain, with any prefix and in any case."""
    found = re.fullmatch(r"[A-Za-z]{4}:(.+)", name)
    known = (domain.partition(":")[2] for domain in availability_domains(region))
    return found is not None and found.group(1).upper() in known
