"""The report of a stack as data: what `--format json` prints and every rendering reads.

Keys are stable: a key may be added, and `version` grows when the meaning of one changes. A report
may come from another revision of this program, so every field has a default and unknown keys are
ignored (`filled` keeps a missing key from showing as a difference).

Units: CPU in millicores (`_m`), memory and disk in MiB (`_mib`) or GiB (`_gib`), money in USD at
on-demand prices, months of 730 hours, dates as YYYY-MM-DD.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict

VERSION: Final = 1


class Section(BaseModel):
    """Base class of every part of a report."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True
    )


class Amounts(Section):
    """CPU, memory and disk."""

    cpu_m: int = 0
    memory_mib: int = 0
    disk_mib: int = 0


class Range(Section):
    """Lowest and highest amount, in USD."""

    floor: float = 0
    ceiling: float = 0


class Price(Section):
    """Hourly price of the most expensive kind of node in a pool."""

    usd_per_hour: float = 0
    kind: str = ""
    region: str | None = None
    """`None` for a cloud with the same price in every region."""
    date: str | None = None
    source: str = ""


class MadeOf(Section):
    """Pool settings that a node takes when it is created; `None` where the platform has none.

    Together with `kinds`, `capacity`, `zones`, `labels` and `taints` they decide what a change
    does to running nodes (`change.consequences`).
    """

    image_type: str | None = None
    image: str | None = None
    """EKS: AMI release version. OKE: OCID of the image, `None` for the newest one."""
    disk_gib: int | None = None
    raid0: bool | None = None
    efa_interfaces: int | None = None
    reservation: str | None = None
    ocpus: int | None = None
    memory_gb: int | None = None
    max_pods: int | None = None
    cycling: bool | None = None
    """OKE: whether a change replaces running nodes."""


class Pool(Section):
    """One pool, its nodes and their cost."""

    path: str = ""
    """Path in the stack file."""
    role: str = ""
    """gpu or system."""
    kinds: list[str] = []
    """Instance types or shapes, in order of preference."""
    gpu: str | None = None
    """GPU model."""
    gpu_memory_gb: int | None = None
    """Memory of one card, fraction of a card, or MIG instance."""
    gpus: int = 0
    """GPU devices of one node."""
    advertised: int = 0
    """nvidia.com/gpu of one node: devices times time slices."""
    time_slices: int = 1
    mig_instances: int = 1
    min: int = 0
    """Minimum number of nodes."""
    max: int = 0
    idle: int = 0
    """Nodes that run without any job: the minimum, or the nodes that waiting runners need."""
    capacity: str = ""
    """On-demand, spot or reserved, as the platform spells it."""
    not_counted: str | None = None
    """How the real price differs from `price`."""
    zones: list[str] = []
    driver: str | None = None
    """Lowest version of the NVIDIA driver on the nodes."""
    free: Amounts = Amounts()
    """What jobs can use on an empty node of the smallest kind."""
    devices: dict[str, int] = {}
    """Host devices, with the number of jobs that can share each."""
    paused: bool = False
    drain_minutes: int | None = None
    """How long the cloud waits for the jobs of a node that it replaces, at most."""
    price: Price | None = None
    """`None` for the nodes of an existing cluster."""
    usd_per_month: Range | None = None
    made_of: MadeOf = MadeOf()
    labels: dict[str, str] = {}
    taints: list[str] = []
    """Each as key=value:Effect."""


class Job(Section):
    """Resources of one job of a lane."""

    gpus: int = 0
    device: str | None = None
    cpu_m: int = 0
    memory_mib: int = 0
    disk_mib: int = 0
    """0 for a job without a disk request."""
    shm_mib: int = 0
    memory_limit_mib: int = 0
    left_out: list[str] = []
    """Sizes that the stack file leaves out, like `cpu`: they are computed from the node."""


class Placement(Section):
    """Jobs of a lane on one kind of node of one of its pools."""

    pool: str = ""
    kind: str = ""
    jobs_per_node: int = 0
    limited_by: str = ""
    """Resource that runs out first (Kubernetes' name), or what keeps jobs off the node."""
    usd_per_job_hour: float | None = None
    """Price of the node divided by the number of jobs that fill it."""


class Lane(Section):
    """One lane: how a job selects it, where the job runs, how many jobs fit."""

    path: str = ""
    forge: str = ""
    """github or gitlab."""
    name: str = ""
    url: str = ""
    """GitHub: repository, organisation or enterprise. GitLab: the server."""
    owner: str | None = None
    """GitLab: whom the runner serves, like `group 42`; `None` if the stack does not create it."""
    group: str | None = None
    """GitHub's runner group."""
    generation: str = ""
    """Digits in the names of what the lane makes: a change of them makes a successor."""
    write: list[str] = []
    """GitHub: labels for `runs-on`, the lane's name first. GitLab: the tags."""
    pools: list[str] = []
    """In order of preference."""
    job: Job = Job()
    placements: list[Placement] = []
    least_jobs: int = 0
    """Runners that wait for jobs, each on a node."""
    most_jobs: int = 0
    """Jobs that the lane runs at the same time; 0 while it is paused."""
    drain_minutes: int | None = None
    """How long `up` waits for running jobs when it deletes a set of runners, at most."""
    jobs_on_full_pools: int = 0
    """Jobs of this lane alone that fit on its pools at their maximum size."""
    usd_per_job_hour: Range | None = None
    """Cheapest and most expensive placement."""
    image: str | None = None
    """Image of a job; `None` where the workflow names it. GitLab: the default image."""
    runner_image: str | None = None
    """Image of the runner, on GitHub."""
    container_mode: str | None = None
    chart_version: str = ""
    paused: bool = False


class Network(Section):
    """Network of a cluster."""

    id: str | None = None
    """`None` for a network of this stack."""
    cidr: str | None = None
    """`None` for an existing network."""
    subnets: dict[str, str] = {}
    """CIDR, or the id of an existing subnet, by zone (EKS) or by role (OKE)."""


class Cluster(Section):
    """One cluster with its pools and lanes."""

    kind: str = ""
    """eks, oke or existing."""
    region: str | None = None
    account: str | None = None
    """Profile that the stack file names."""
    compartment: str | None = None
    context: str | None = None
    """kubeconfig context of an existing cluster."""
    version: str | None = None
    support_end: str | None = None
    support_rule: str | None = None
    """What `support_end` is, or what decides it."""
    network: Network | None = None
    tags: dict[str, str] = {}
    drivers: dict[str, str | None] = {}
    """End of life (year and month) of the driver's branch by driver; `None` if unknown."""
    charts: dict[str, str] = {}
    """Version by chart."""
    usd_per_month: Range | None = None
    pools: dict[str, Pool] = {}
    lanes: dict[str, Lane] = {}
    """By forge and name, like github/gpu-t4."""


class Totals(Section):
    """Sums over all clusters."""

    usd_per_month: Range = Range()
    price_dates: list[str] = []
    """First and last date of the price lists; empty if no price has a date."""
    gpus: dict[str, int] = {}
    """GPU devices of full pools by model; a fraction of a card is named with its memory."""
    lanes: int = 0
    pools: int = 0


class Quota(Section):
    """One quota, and how much of it the stack needs at full size."""

    cloud: str = ""
    """aws or oci."""
    account: str | None = None
    region: str = ""
    domains: list[str] = []
    name: str = ""
    code: str | None = None
    unit: str = ""
    needed: int = 0
    default: int | None = None
    """Quota of a new account."""
    pools: list[str] = []


class Finding(Section):
    """One finding of a check."""

    rule: str = ""
    severity: str = ""
    """error, warning or note."""
    path: str = ""
    message: str = ""
    remedy: str = ""


class Silenced(Finding):
    """A finding that the stack file silences."""

    reason: str = ""


class Report(Section):
    """The report of one stack."""

    version: int = VERSION
    stack: str | None = None
    date: str = ""
    """Day for which versions and reservations were judged."""
    totals: Totals = Totals()
    clusters: dict[str, Cluster] = {}
    quotas: list[Quota] = []
    findings: list[Finding] = []
    silenced: list[Silenced] = []

    def lanes(self) -> Iterator[tuple[str, str, Lane]]:
        """Yield every lane with its cluster and its key there."""
        for cluster, body in self.clusters.items():
            for key, lane in body.lanes.items():
                yield cluster, key, lane

    def pools(self) -> Iterator[tuple[str, str, Pool]]:
        """Yield every pool with its cluster and its name."""
        for cluster, body in self.clusters.items():
            for name, pool in body.pools.items():
                yield cluster, name, pool


SomeSection = TypeVar("SomeSection", bound=Section)


def filled(section: SomeSection, other: SomeSection) -> SomeSection:
    """Return `section` with every field that was not in its JSON taken from `other`.

    A key that one of two revisions does not know yet is no difference between their reports.
    """
    updates: dict[str, object] = {}
    for name in type(section).model_fields:
        own, theirs = getattr(section, name), getattr(other, name)
        if name not in section.model_fields_set:
            updates[name] = theirs
        elif isinstance(own, Section) and isinstance(theirs, Section):
            updates[name] = filled(own, theirs)
    return section.model_copy(update=updates)
