"""Settings of OKE clusters: a mistake gives one finding with its path and a remedy."""

from typing import Any

from tests.cases import for_each
from tests.fleet.samples import GONE, changed_rows, every_key, reported

OKE = "clusters.oci.oke"
SYSTEM = f"{OKE}.pools.system"
A10 = f"{OKE}.pools.a10"

SLIPS: list[tuple[Any, Any, str, str]] = [
    (f"{A10}.shape", "VM.GPU.A10.3", "is not an OCI shape", "VM.GPU.A10.2"),
    ({f"{A10}.shape": "BM.GPU.A10.4"}, f"{A10}.preemptible", "bare metal", "remove preemptible"),
    (
        {f"{A10}.sharing": {"mig": "1g.5gb"}},
        f"{A10}.sharing.mig",
        "A10 has no MIG",
        "use time_slicing",
    ),
    (
        {"clusters.oci.gpu_stack.operator": {"driver": True}},
        "clusters.oci.gpu_stack.operator.driver",
        "Oracle's GPU image has the driver",
        "remove driver",
    ),
    (
        {"clusters.oci.gpu_stack.advertiser": "provider"},
        f"{A10}.sharing",
        "Oracle's device plugin",
        "advertiser: device_plugin",
    ),
    (
        "clusters.oci.github.lanes.a10.image",
        "example/runner:2.338.0",
        "without its registry",
        "docker.io/example/runner:2.338.0",
    ),
    ("clusters.oci.github.lanes.a10.gpu", "A100-40GB", "pool a10 have A10", "remove a10"),
    (f"{A10}.boot_volume_gb", 199, "is 199, below 200", "boot_volume_gb: 400 or more"),
    (f"{A10}.ocpus", 2, "has a fixed size", "remove ocpus"),
    (f"{SYSTEM}.ocpus", GONE, "is missing", "ocpus: 2"),
    (f"{SYSTEM}.memory_gb", 512, "is outside the limits", "within the limits"),
    (f"{SYSTEM}.ocpus", 500, "is outside the limits", "within the limits"),
    (
        {f"{SYSTEM}.preemptible": True},
        f"{SYSTEM}.capacity_reservation_id",
        "no preemptible nodes in a reservation",
        "or preemptible",
    ),
    (
        f"{SYSTEM}.availability_domains",
        ["Uocm:US-ASHBURN-AD-3"],
        "not a domain of the cluster",
        "Uocm:US-ASHBURN-AD-1",
    ),
    (
        {f"{SYSTEM}.availability_domains": GONE},
        f"{SYSTEM}.capacity_reservation_id",
        "more than one availability domain",
        "list the reservation's domain",
    ),
    (f"{SYSTEM}.max_size", 1, "below min_size", "raise max_size"),
    (f"{SYSTEM}.image_id", "latest", "form", "like ocid1.image."),
    (f"{SYSTEM}.sharing", {"time_slicing": 2}, "VM.Standard.E5.Flex has no GPU", "remove sharing"),
    (f"{OKE}.version", "1.33", "on OKE", "1.35"),
    (
        {f"{OKE}.availability_domains": ["AD-1"]},
        f"{OKE}.availability_domains[0]",
        "is not an availability domain",
        "Uocm:US-ASHBURN-AD-1",
    ),
    ({f"{SYSTEM}.min_size": 0}, f"{OKE}.pools", "no CPU pool with min_size of 1", "system:"),
    ({"tags": {"a.b": "c"}}, "tags.a.b", "which OCI rejects", "rename the tag"),
    (
        f"{OKE}.network.worker_subnet_id",
        "ocid1.subnet.oc1.iad.aaaa",
        "belongs to an existing VCN",
        "remove worker_subnet_id",
    ),
    ("clusters.oci-existing.oke.network.worker_subnet_id", GONE, "is missing", "ocid1.subnet"),
]


@for_each(("changes", "path", "message", "remedy"), changed_rows(SLIPS))
def test_a_mistake_is_one_finding_with_path_and_remedy(
    changes: dict[str, Any], path: str, message: str, remedy: str
) -> None:
    ((found, text, mend),) = reported(every_key(changes))
    assert found == path
    assert message in text
    assert remedy in mend
