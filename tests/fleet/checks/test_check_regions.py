"""Regions that a cloud does not have, and resources in another region than their cluster."""

from typing import Any

import pytest

from fleet.catalog.regions import OCI_REGION_OF_KEY, OCI_REGIONS, region_of_domain, region_of_ocid
from tests.fleet.checks.planted import found
from tests.fleet.samples import GONE, every_key

OCI = "clusters.oci.oke"
NETWORK = "clusters.oci-existing.oke.network"


def of(kind: str, key: str) -> str:
    return f"ocid1.{kind}.oc1.{key}.aaaaaaaaother"


def frankfurt(data: dict[str, Any]) -> dict[str, Any]:
    """Return one that lies in Frankfurt whole."""
    oke = data["clusters"]["oci"]["oke"]
    oke["region"] = "eu-frankfurt-1"
    oke["availability_domains"] = ["Uocm:EU-FRANKFURT-1-AD-1", "Uocm:EU-FRANKFURT-1-AD-2"]
    oke["pools"]["system"] |= {
        "availability_domains": ["Uocm:EU-FRANKFURT-1-AD-2"],
        "image_id": of("image", "eu-frankfurt-1"),
        "capacity_reservation_id": of("capacityreservation", "fra"),
    }
    oke["pools"]["a10"]["image_id"] = of("image", "fra")
    return data


@pytest.mark.parametrize(
    ("path", "region", "meant"),
    [
        ("clusters.ci.eks.region", "us-west-3", "us-west-"),
        ("clusters.ci.eks.region", "us-wset-2", "us-west-2"),
        (f"{OCI}.region", "us-ashbrun-1", "us-ashburn-1"),
        (f"{OCI}.region", "eu-lisbon-1", ""),
    ],
)
def test_an_unknown_region_is_a_warning_with_a_similar_one(
    path: str, region: str, meant: str
) -> None:
    data = every_key({path: region})
    if "eks" in path:
        data["clusters"]["ci"]["eks"]["network"]["zones"] = [f"{region}a", f"{region}b"]
        data["clusters"]["ci"]["eks"]["pools"]["a100"]["zones"] = [f"{region}a"]
    (finding,) = found("region", data)
    assert (finding.path, finding.severity) == (path, "warning")
    assert region in finding.message
    assert meant in finding.remedy
    assert finding.remedy.endswith("silence region")


def test_known_regions_have_no_finding() -> None:
    data = every_key()
    assert not found("region", data)
    assert not found("other-region", data)
    assert not found("other-region", frankfurt(data)), "keys and names of a region are the same"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{OCI}.pools.a10.image_id", of("image", "phx")),
        (f"{OCI}.pools.a10.image_id", of("image", "eu-frankfurt-1")),
        (f"{OCI}.pools.system.capacity_reservation_id", of("capacityreservation", "phx")),
        (f"{OCI}.availability_domains.0", "Uocm:PHX-AD-1"),
        (f"{OCI}.availability_domains.0", "Uocm:EU-FRANKFURT-1-AD-1"),
        (f"{NETWORK}.vcn_id", of("vcn", "iad")),
        (f"{NETWORK}.worker_subnet_id", of("subnet", "iad")),
        (f"{NETWORK}.load_balancer_subnet_id", of("subnet", "uk-london-1")),
        (f"{NETWORK}.pod_security_group_ids.0", of("networksecuritygroup", "phx")),
    ],
)
def test_resources_of_another_region_are_reported_at_their_path(path: str, value: str) -> None:
    (finding,) = found("other-region", every_key({path: value}))
    assert finding.severity == "error"
    assert finding.path == path.removesuffix(".0") + ("[0]" if path.endswith(".0") else "")
    assert "but the cluster is in" in finding.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{OCI}.pools.a10.image_id", of("image", "")),
        (f"{OCI}.pools.a10.image_id", of("image", "xyz")),
        (f"{OCI}.pools.a10.image_id", of("image", "us-ashburn-1")),
        (f"{OCI}.availability_domains.0", "Uocm:NOWHERE-AD-1"),
        (f"{OCI}.availability_domains.0", "US-ASHBURN-AD-3"),
    ],
)
def test_an_unknown_key_of_a_region_has_no_finding(path: str, value: str) -> None:
    assert not found("other-region", every_key({path: value}))


def test_a_wrong_region_is_reported_once_if_all_resources_agree() -> None:
    (finding,) = found("other-region", every_key({f"{OCI}.region": "us-phoenix-1"}))
    assert finding.path == f"{OCI}.region"
    assert finding.message == (
        "is us-phoenix-1, but everything that the cluster refers to is in us-ashburn-1: OCI would "
        "not find it"
    )
    assert finding.remedy.startswith("write region: us-ashburn-1")


def test_availability_domains_of_phoenix_and_ashburn_have_short_region_names() -> None:
    assert region_of_domain("Uocm:PHX-AD-2") == "us-phoenix-1"
    assert region_of_domain("kIdk:US-ASHBURN-AD-1") == "us-ashburn-1"
    assert region_of_domain("AP-TOKYO-1-AD-1") == "ap-tokyo-1"
    assert region_of_ocid("ocid1.tenancy.oc1..aaaa") is None


def test_each_region_of_oci_has_one_key() -> None:
    assert len(OCI_REGIONS) == len(OCI_REGION_OF_KEY)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"node_cycling": True, "eviction_minutes": 0}, True),
        ({"node_cycling": True, "eviction_minutes": 1}, False),
        ({"node_cycling": True, "eviction_minutes": GONE}, False),
        ({"node_cycling": False, "eviction_minutes": 0}, False),
    ],
)
def test_an_update_that_does_not_wait_for_jobs_is_a_warning(
    changes: dict[str, Any], told: bool
) -> None:
    pool = f"{OCI}.pools.system"
    data = every_key({f"{pool}.{key}": value for key, value in changes.items()})
    findings = found("eviction", data)
    assert [one.path for one in findings] == ([f"{pool}.eviction_minutes"] if told else [])
