"""Networks: ranges, addresses, and who reaches the Kubernetes API."""

from typing import Any

import pytest

from tests.fleet.checks.planted import found, stack_of
from tests.fleet.samples import SHIPPED, judged, refused, shipped_stack

CI = "clusters.ci.eks"
T4 = {"instance_types": ["g4dn.xlarge"]}


def eks(cidr: str = "10.0.0.0/16", *, pools: Any = None, **network: Any) -> dict[str, Any]:
    data = stack_of(pools or {"t4": {**T4, "max_size": 1}}, {"gpu": {"pools": ["t4"], "gpus": 1}})
    cluster = data["clusters"]["ci"]["eks"]
    cluster["network"] = {"cidr": cidr, "zones": ["us-west-2a", "us-west-2b"], **network}
    return data


def oke(cidr: str = "10.2.0.0/16", *, pools: Any = None, **more: Any) -> dict[str, Any]:
    """Return one OKE cluster as the value of `clusters`."""
    system = {"shape": "VM.Standard.E5.Flex", "ocpus": 2, "memory_gb": 16}
    network = {"cidr": cidr, **more.pop("network", {})}
    return {
        "oci": {
            "oke": {
                "region": "us-ashburn-1",
                "compartment_id": "ocid1.compartment.oc1..aaaaexample",
                "availability_domains": ["Uocm:US-ASHBURN-AD-1"],
                "version": "1.35",
                "network": network,
                "pools": {"system": {**system, "min_size": 2, "max_size": 2}, **(pools or {})},
                **more,
            }
        }
    }


def test_services_of_oke_lie_outside_the_vcn() -> None:
    data = {"clusters": oke("10.96.0.0/16")}
    (finding,) = found("network-overlap", data)
    assert (finding.severity, finding.path) == ("error", "clusters.oci.oke.network.services_cidr")
    assert finding.message == (
        "is 10.96.0.0/16, which overlaps the VCN's 10.96.0.0/16: OKE refuses it"
    )
    apart = {"clusters": oke("10.96.0.0/16", network={"services_cidr": "10.97.0.0/16"})}
    assert found("network-overlap", apart) == []


def test_ranges_of_two_clusters_that_overlap_are_a_warning() -> None:
    data = eks("10.0.0.0/16")
    data["clusters"] |= oke("10.0.240.0/20")
    (finding,) = found("network-overlap", data)
    assert (finding.severity, finding.path) == ("warning", "clusters.oci.oke.network.cidr")
    assert "overlaps 10.0.0.0/16 of clusters.ci.eks.network.cidr" in finding.message
    data["clusters"] |= oke("10.1.0.0/16")
    assert found("network-overlap", data) == []


def test_a_wide_range_is_compared_with_every_range_in_it() -> None:
    data = eks("10.0.0.0/16")
    for index, cidr in enumerate(("10.0.16.0/20", "10.0.64.0/20", "10.1.0.0/16")):
        data["clusters"][f"oci{index}"] = oke(cidr)["oci"]
    assert [one.path for one in found("network-overlap", data)] == [
        "clusters.oci0.oke.network.cidr",
        "clusters.oci1.oke.network.cidr",
    ]


@pytest.mark.parametrize("cidr", ["127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/16", "240.0.0.0/16"])
def test_a_reserved_range_is_an_error(cidr: str) -> None:
    (finding,) = found("network-range", eks(cidr))
    assert (finding.severity, finding.path) == ("error", f"{CI}.network.cidr")


def test_a_public_range_is_a_warning_and_a_private_one_has_no_finding() -> None:
    (finding,) = found("network-range", eks("8.8.0.0/16"))
    assert finding.severity == "warning"
    for cidr in ("10.7.0.0/16", "172.20.0.0/16", "192.168.0.0/16", "100.64.0.0/16"):
        assert found("network-range", eks(cidr)) == []


def test_a_pool_that_its_subnets_cannot_hold_is_an_error() -> None:
    # Two private subnets of /22: 1,019 addresses each; node, job and device plugin take three.
    pools = {"t4": {**T4, "max_size": 680}}
    (finding,) = found("addresses", eks("10.0.0.0/20", pools=pools))
    assert (finding.severity, finding.path) == ("error", f"{CI}.pools.t4.max_size")
    assert finding.message == (
        "is 680: at 3 addresses a node, the nodes and their pods need 2040, but the private "
        "subnets of its zones have 2038: further nodes or pods would not start"
    )
    assert f"{CI}.network.cidr larger" in finding.remedy
    pools["t4"]["max_size"] = 679
    (finding,) = found("addresses", eks("10.0.0.0/20", pools=pools))
    assert finding.severity == "warning", "it holds the least, not what the VPC CNI keeps"


def test_a_pool_of_one_zone_has_one_subnet() -> None:
    pools = {"t4": {**T4, "max_size": 340, "zones": ["us-west-2b"]}}
    (finding,) = found("addresses", eks("10.0.0.0/20", pools=pools))
    assert (finding.severity, finding.path) == ("error", f"{CI}.pools.t4.max_size")
    assert "have 1019" in finding.message


def test_addresses_that_the_vpc_cni_reserves_are_a_warning() -> None:
    # 20 addresses a g4dn.xlarge: two interfaces of ten. Four CPU nodes take 20 each as well.
    pools = {"t4": {**T4, "max_size": 98}}
    (finding,) = found("addresses", eks("10.0.0.0/20", pools=pools))
    assert (finding.severity, finding.path) == ("warning", f"{CI}.network.cidr")
    assert "leaves 2038 addresses in us-west-2a, us-west-2b" in finding.message
    assert "need about 2040" in finding.message
    pools["t4"]["max_size"] = 97
    assert found("addresses", eks("10.0.0.0/20", pools=pools)) == []


def test_pools_that_name_a_zone_fill_it_together() -> None:
    one = {**T4, "max_size": 26, "zones": ["us-west-2a"]}
    pools = {"t4": one, "more": one}
    (finding,) = found("addresses", eks("10.0.0.0/20", pools=pools))
    assert (
        "leaves 1019 addresses in us-west-2a, but all pools at their maximum need about 1040"
        in (finding.message)
    )
    spread = {"t4": one, "more": {**one, "zones": ["us-west-2b"]}}
    assert found("addresses", eks("10.0.0.0/20", pools=spread)) == []


def test_an_existing_network_has_no_finding() -> None:
    data = eks(pools={"t4": {**T4, "max_size": 5000}})
    data["clusters"]["ci"]["eks"]["network"] = {
        "vpc_id": "vpc-0123456789abcdef0",
        "subnet_ids": {
            "us-west-2a": "subnet-0123456789abcdef0",
            "us-west-2b": "subnet-0123456789abcdef1",
        },
    }
    assert found("addresses", data) == []


def test_the_nodes_of_oke_have_a_subnet_and_the_pods_another() -> None:
    a10 = {"shape": "VM.GPU.A10.1", "max_size": 1022}
    (finding,) = found("addresses", {"clusters": oke("10.2.0.0/20", pools={"a10": a10})})
    assert (finding.severity, finding.path) == ("error", "clusters.oci.oke.pools.a10.max_size")
    assert finding.message.startswith("is 1022, but the subnet of the nodes has 1021")
    a10["max_size"] = 40
    (finding,) = found("addresses", {"clusters": oke("10.2.0.0/20", pools={"a10": a10})})
    assert (finding.severity, finding.path) == ("warning", "clusters.oci.oke.network.cidr")
    assert "leaves 2045 addresses for pods" in finding.message
    a10["max_size"] = 10
    assert found("addresses", {"clusters": oke("10.2.0.0/20", pools={"a10": a10})}) == []


@pytest.mark.parametrize("cidr", ["10.0.0.0/8", "192.168.7.0/24", "172.16.0.1/32", "127.0.0.1/32"])
def test_a_private_range_for_a_public_endpoint_is_an_error_on_eks(cidr: str) -> None:
    data = eks()
    data["clusters"]["ci"]["eks"]["api"] = {"allow": ["8.8.8.0/24", cidr]}
    (finding,) = found("api-range", data)
    assert (finding.severity, finding.path) == ("error", f"{CI}.api.allow")
    assert cidr in finding.message


def test_a_documentation_range_is_a_note_and_a_public_one_has_no_finding() -> None:
    data = eks()
    data["clusters"]["ci"]["eks"]["api"] = {"allow": ["203.0.113.0/24"]}
    (finding,) = found("api-range", data)
    assert finding.severity == "note", "what is shipped names such a range, to be replaced"
    data["clusters"]["ci"]["eks"]["api"] = {"allow": ["8.8.8.0/24", "0.0.0.0/0"]}
    assert found("api-range", data) == []


def test_oke_takes_private_ranges() -> None:
    assert found("api-range", {"clusters": oke(api={"allow": ["10.0.0.0/8"]})}) == []


def test_a_private_endpoint_is_a_note() -> None:
    data = eks()
    data["clusters"] |= oke(api={"allow": ["8.8.8.0/24"]})
    (finding,) = found("private-endpoint", data)
    assert (finding.severity, finding.path) == ("note", f"{CI}.api.allow")
    assert finding.remedy.startswith("run pulumi inside the network")


def test_a_range_with_an_error_of_form_is_reported_once() -> None:
    data = eks("10.0.0.0/20", pools={"t4": {**T4, "max_size": 5000}})
    data["clusters"]["ci"]["eks"]["network"]["cidr"] = "10.0.0.0/24"
    assert [one.path for one in refused(data)] == [f"{CI}.network.cidr"]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_networks_hold_what_they_may_grow_to(name: str) -> None:
    rules = ("addresses", "network-overlap", "network-range")
    assert [one for one in judged(shipped_stack(name)) if one.rule in rules] == []
