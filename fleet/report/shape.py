"""The keys of a report as data: what `--format json` prints and every rendering reads.

The keys are stable: a key may be added, and `version` grows when one changes its meaning. Readers
bear missing keys, since the other report of a comparison may be of another revision.

Units: CPU in millicores (`_m`), memory and disk in MiB (`_mib`) or GiB (`_gib`), money in USD on
demand, months of 730 hours, dates as YYYY-MM-DD.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

VERSION = 1


class Amounts(TypedDict):
    """CPU, memory and disk."""

    cpu_m: int
    memory_mib: int
    disk_mib: int


class Range(TypedDict):
    """Least and most, in USD."""

    floor: float
    ceiling: float


class Price(TypedDict):
    """What the dearest kind of node costs an hour."""

    usd_per_hour: float
    kind: str
    region: str | None
    """Whose price it is; None where the cloud has one price everywhere."""
    date: str | None
    source: str


class MadeOf(TypedDict):
    """What a node takes from its pool when it is made; None where the platform has no such thing.

    `fleet.report.updates` decides by these, by `kinds`, `capacity`, `zones`, `labels` and `taints`
    what a change does to nodes that run.
    """

    image_type: str | None
    image: str | None
    """EKS: the AMI release. OKE: the image's OCID, None for the newest of the day."""
    disk_gib: int | None
    raid0: bool | None
    efa_interfaces: int | None
    reservation: str | None
    ocpus: int | None
    memory_gb: int | None
    max_pods: int | None
    cycling: bool | None
    """OKE: whether a change replaces nodes that run."""


class Pool(TypedDict):
    """One pool, its nodes, and what they cost."""

    path: str
    """Where the stack file says it."""
    role: Literal["gpu", "system"]
    kinds: list[str]
    """Instance types or shapes, in order of preference."""
    gpu: str | None
    gpu_memory_gb: int | None
    """Of each card, fraction of one or MIG instance."""
    gpus: int
    """Devices of a node."""
    advertised: int
    """nvidia.com/gpu of a node: devices times slices."""
    time_slices: int
    mig_instances: int
    min: int
    """Nodes."""
    max: int
    idle: int
    """Nodes that run while no job does: the minimum, or those that waiting runners hold."""
    capacity: str
    """As the platform spells it."""
    not_counted: str | None
    """How the real price differs from the counted one."""
    zones: list[str]
    driver: str | None
    """NVIDIA driver that the nodes have at least."""
    free: Amounts
    """What jobs may use of an empty node, of the smallest kind."""
    devices: dict[str, int]
    """Host devices, and how many jobs share each."""
    paused: bool
    price: Price | None
    """None where the nodes are somebody else's."""
    usd_per_month: Range | None
    made_of: MadeOf
    labels: dict[str, str]
    taints: list[str]
    """Each as key=value:Effect."""


class Job(TypedDict):
    """What a job of a lane gets."""

    gpus: int
    device: str | None
    cpu_m: int
    memory_mib: int
    disk_mib: int
    """0 where the job asks for no disk."""
    shm_mib: int
    memory_limit_mib: int
    left_out: list[str]
    """Sizes that the lane leaves out, like cpu: they follow from the node or from the others."""


class Placement(TypedDict):
    """A lane's jobs on one kind of node of one of its pools."""

    pool: str
    kind: str
    jobs_per_node: int
    limited_by: str
    """Resource that runs out first, as Kubernetes spells it, or what keeps jobs off the node."""
    usd_per_job_hour: float | None
    """Price of the node, divided by the jobs that fill it."""


class Lane(TypedDict):
    """One lane: what to write to get it, where it lands, how many fit."""

    path: str
    forge: Literal["github", "gitlab"]
    name: str
    url: str
    """Repository, organisation or enterprise; on GitLab the server."""
    group: str | None
    """GitHub's runner group."""
    write: list[str]
    """GitHub: what `runs-on` may say, the lane's name first. GitLab: every tag."""
    pools: list[str]
    """In order of preference."""
    job: Job
    placements: list[Placement]
    least_jobs: int
    """Runners that wait for jobs, each on a node."""
    most_jobs: int
    """Jobs at once that the lane starts; none while it is paused."""
    jobs_on_full_pools: int
    """Jobs at once that its pools at full size have room for, if it had them to itself."""
    usd_per_job_hour: Range | None
    """Cheapest and dearest of the placements."""
    image: str | None
    """Image of a job; None where the workflow names it. GitLab: of a job that names none."""
    runner_image: str | None
    """GitHub: image of the runner."""
    container_mode: str | None
    chart_version: str
    paused: bool


class Network(TypedDict):
    """The cluster's network: its own or somebody else's."""

    id: str | None
    cidr: str | None
    subnets: dict[str, str]
    """Range, or id where it is somebody else's, by zone (EKS) or role (OKE)."""


class Cluster(TypedDict):
    """One cluster and everything on it."""

    kind: Literal["eks", "oke", "existing"]
    region: str | None
    account: str | None
    """Profile of the stack file."""
    compartment: str | None
    context: str | None
    """Context of the kubeconfig of a cluster that exists."""
    version: str | None
    support_end: str | None
    support_rule: str | None
    """What the date is, or what will decide it."""
    network: Network | None
    tags: dict[str, str]
    drivers: dict[str, str | None]
    """Year and month in which its branch ends, by driver; None where that is not known."""
    charts: dict[str, str]
    """Version by chart."""
    usd_per_month: Range | None
    pools: dict[str, Pool]
    lanes: dict[str, Lane]
    """By forge and name, like github/gpu-t4."""


class Totals(TypedDict):
    """Sums over the stack."""

    usd_per_month: Range
    price_dates: list[str]
    """First and last date of the price lists; empty where no price has one."""
    gpus: dict[str, int]
    """Devices at full size by model; a fraction of a card is told with its memory."""
    lanes: int
    pools: int


class Quota(TypedDict):
    """A quota, and what the stack takes of it at full size."""

    cloud: Literal["aws", "oci"]
    account: str | None
    region: str
    domains: list[str]
    name: str
    code: str | None
    unit: str
    needed: int
    default: int | None
    pools: list[str]


class Finding(TypedDict):
    """What a check says."""

    rule: str
    severity: Literal["error", "warning", "note"]
    path: str
    message: str
    remedy: str


class Silenced(Finding):
    """What a check would say, and why the stack file silences it."""

    reason: str


class Report(TypedDict):
    """One stack."""

    version: int
    stack: str | None
    date: str
    """Day for which it was judged."""
    totals: Totals
    clusters: dict[str, Cluster]
    quotas: list[Quota]
    findings: list[Finding]
    silenced: list[Silenced]
    difference: NotRequired[dict[str, object]]
    """What `fleet.report.difference.compare` says, where a base was named."""
