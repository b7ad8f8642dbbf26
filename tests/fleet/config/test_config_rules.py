"""Rules about several values of one model: a broken rule gives one finding with a remedy."""

from typing import Any

from tests.cases import for_each
from tests.fleet.samples import GONE, changed_rows, every_key, loaded, refused

EKS = "clusters.ci.eks"
T4 = f"{EKS}.pools.t4"
A100 = f"{EKS}.pools.a100"
SYSTEM = f"{EKS}.pools.system"
NETWORK = f"{EKS}.network"
GPU = "clusters.ci.github.lanes.gpu"
GL = "clusters.ci.gitlab.lanes.gl"
VPC = "clusters.existing.eks.network"

# Path, value, and parts of the message and of the remedy; or changes and path.
BROKEN: list[tuple[Any, Any, str, str]] = [
    ("tags.aws:team", "x", "starts with aws:", "rename the tag"),
    ("tags.AWS:team", "x", "starts with aws:", "rename the tag"),
    (
        {EKS: GONE},
        "clusters.ci",
        "has no eks or oke or existing",
        "add exactly one of them, like existing: ",
    ),
    # the network
    (
        {f"{NETWORK}.vpc_id": "vpc-0123456789abcdef0", f"{NETWORK}.zones": GONE}
        | {f"{NETWORK}.nat": GONE, f"{NETWORK}.cidr": GONE},
        f"{NETWORK}.subnet_ids",
        "lists no zone, but EKS needs subnets in at least two",
        "add another zone",
    ),
    (NETWORK, {}, "has no cidr or vpc_id", "like cidr: 10.0.0.0/16"),
    (
        {f"{VPC}.cidr": "10.0.0.0/16", f"{VPC}.subnet_ids": GONE}
        | {f"{VPC}.zones": ["eu-central-1a", "eu-central-1b"], f"{VPC}.vpc_id": GONE}
        | {f"{VPC}.subnet_ids": {"eu-central-1a": "subnet-0123456789abcdef0"}},
        f"{VPC}.subnet_ids",
        "belongs to an existing VPC",
        "remove subnet_ids, or replace cidr",
    ),
    (f"{VPC}.zones", ["eu-central-1a", "eu-central-1b"], "VPC to create", "vpc_id"),
    (f"{VPC}.nat", "one", "belongs to a VPC to create", "remove nat"),
    (f"{NETWORK}.zones", ["us-west-2a"], "lists one zone, but EKS", "add another zone"),
    (
        f"{NETWORK}.zones",
        ["us-west-2a", "us-west-2b", "us-west-2a"],
        "lists a zone twice",
        "list each zone once",
    ),
    # the cluster
    (
        {f"{EKS}.region": "us-gov-west-1", f"{EKS}.pools.a100": GONE}
        | {f"{NETWORK}.zones": ["us-gov-west-1a", "us-gov-west-1b"]}
        | {"clusters.ci.github.lanes.big": GONE},
        f"{EKS}.region",
        "is outside AWS' commercial partition",
        "use a commercial region",
    ),
    (
        {f"{NETWORK}.zones": ["us-west-2a", "us-west-2b", "us-east-1a"]},
        f"{EKS}.region",
        "is us-west-2, but the network lists zone us-east-1a",
        "use region: us-east-1, or",
    ),
    (
        f"{T4}.zones",
        ["us-west-2d"],
        "lists us-west-2d, where the network has no subnet",
        "choose from us-west-2a, us-west-2b",
    ),
    (
        f"{T4}.release_version",
        "1.34.10-20260903",
        "but the cluster runs Kubernetes 1.35",
        "remove it for the pinned release",
    ),
    (
        {f"{SYSTEM}.min_size": 0},
        f"{EKS}.pools",
        "has no CPU pool with min_size of 1 or more",
        "system: {instance_types: [m6i.large], min_size: 2, max_size: 4}",
    ),
    # pools
    ({f"{T4}.min_size": 11}, f"{T4}.max_size", "is 10, below min_size (11)", "raise max_size or"),
    (
        f"{T4}.instance_types",
        ["g4dn.xlarge", "g5.xlarge"],
        "different GPU models or GPU counts",
        "make one pool for each",
    ),
    (
        f"{T4}.instance_types",
        ["g4dn.xlarge", "g4dn.12xlarge"],
        "different GPU models or GPU counts",
        "make one pool for each",
    ),
    (
        {f"{T4}.disk_gib": 99, f"{T4}.instance_store": "unused"},
        f"{T4}.disk_gib",
        "is 99, below 100, so CUDA images fill the disk",
        "disk_gib: 200 or more",
    ),
    (
        {f"{EKS}.pools.v100": {"instance_types": ["p3.2xlarge"], "max_size": 1, "disk_gib": 99}},
        f"{EKS}.pools.v100.disk_gib",
        "is 99, below 100, so CUDA images fill the disk",
        "disk_gib: 200 or more",
    ),
    (f"{SYSTEM}.sharing", {"time_slicing": 2}, "m6i.large has no GPU", "remove sharing"),
    (
        f"{T4}.ami_type",
        "AL2023_x86_64_STANDARD",
        "but the instance types have GPUs",
        "use AL2023_x86_64_NVIDIA",
    ),
    (
        f"{SYSTEM}.ami_type",
        "AL2023_x86_64_NVIDIA",
        "but the instance types have no GPU",
        "use AL2023_x86_64_STANDARD",
    ),
    (
        {f"{A100}.capacity_reservation_id": GONE},
        f"{A100}.capacity_type",
        "is CAPACITY_BLOCK, but the pool has no",
        "add capacity_reservation_id",
    ),
    (
        {f"{A100}.capacity_type": "SPOT"},
        f"{A100}.capacity_reservation_id",
        "EC2 starts no spot instances in a reservation",
        "capacity_type: ON_DEMAND",
    ),
    (
        {f"{A100}.zones": GONE, f"{A100}.efa": False},
        f"{A100}.capacity_reservation_id",
        "does not have exactly one zone",
        "list the reservation's zone",
    ),
    (
        {f"{A100}.zones": ["us-west-2a", "us-west-2b"], f"{A100}.efa": False},
        f"{A100}.capacity_reservation_id",
        "does not have exactly one zone",
        "list the reservation's zone",
    ),
    (
        {f"{T4}.efa": True, f"{T4}.zones": ["us-west-2a"]},
        f"{T4}.efa",
        "is on, but g4dn.2xlarge does not support it",
        "remove efa",
    ),
    (
        {f"{A100}.zones": GONE, f"{A100}.capacity_type": "ON_DEMAND"}
        | {f"{A100}.capacity_reservation_id": GONE},
        f"{A100}.efa",
        "need exactly one zone",
        "list one zone",
    ),
    # the GPU stack
    (
        {"clusters.ci.gpu_stack": {"advertiser": "operator"}},
        "clusters.ci.gpu_stack.advertiser",
        "is operator, but the cluster has no operator",
        "add operator: {} too",
    ),
    # lanes
    (
        {"clusters.existing.github.lanes.cpu-only.memory": GONE},
        "clusters.existing.github.lanes.cpu-only",
        "requests no GPU, so cpu and memory have no fair share",
        "add gpus: 1, or both",
    ),
    (
        {"clusters.existing.github.lanes.cpu-only.cpu": GONE},
        "clusters.existing.github.lanes.cpu-only",
        "requests no GPU, so cpu and memory have no fair share",
        "add gpus: 1, or both",
    ),
    (
        {f"{GPU}.env": {"NVIDIA_VISIBLE_DEVICES": "all"}},
        f"{GPU}.env.NVIDIA_VISIBLE_DEVICES",
        "could show a job every GPU",
        "remove it: the device plugin sets it",
    ),
    (
        {f"{GL}.env": {"NVIDIA_VISIBLE_DEVICES": "all"}},
        f"{GL}.env.NVIDIA_VISIBLE_DEVICES",
        "could show a job every GPU",
        "remove it",
    ),
    (
        {f"{GPU}.env": {"CUDA_VISIBLE_DEVICES": "1"}},
        f"{GPU}.env.CUDA_VISIBLE_DEVICES",
        "hides all GPUs of a job",
        "remove it",
    ),
    (
        {f"{GL}.env": {"CUDA_VISIBLE_DEVICES": "-1"}},
        f"{GL}.env.CUDA_VISIBLE_DEVICES",
        "hides all GPUs of a job",
        "remove it",
    ),
    (f"{GPU}.pools", ["t4", "t4"], "contains a pool twice", "list each pool once"),
    (
        f"{GPU}.min_runners",
        5,
        "is 5, above max_runners (4)",
        "lower min_runners or raise max_runners",
    ),
    (
        {"clusters.existing.github.lanes.cpu-only.container_mode": "kubernetes"},
        "clusters.existing.github.lanes.cpu-only.disk",
        "it sizes the work volume",
        "add disk: 20Gi",
    ),
    (
        {f"{GL}.env": {"A": "a {{ b"}},
        f"{GL}.env.A",
        "contains double braces",
        "put a space between the braces",
    ),
    ({f"{GL}.env": {"A": "a }} b"}}, f"{GL}.env.A", "contains double braces", "put a space"),
    # one source of each secret
    (
        {"clusters.ci.github.existing_secret": "app-keys"},
        "clusters.ci.github",
        "has app and existing_secret",
        "keep app or existing_secret",
    ),
    (
        {"clusters.ci.github.app": GONE},
        "clusters.ci.github",
        "has no app or existing_secret",
        "add exactly one of them",
    ),
    (
        {f"{GL}.token": {"secret": "runnerToken"}},
        GL,
        "has runner and token",
        "keep runner or token or existing_secret",
    ),
    (
        {f"{GL}.runner": GONE},
        GL,
        "has no runner or token or existing_secret",
        "like runner: {group_id: 42}",
    ),
    (f"{GL}.runner", {}, "has no group_id or project_id or instance", "add"),
    (
        {f"{GL}.runner.project_id": 1},
        f"{GL}.runner",
        "has group_id and project_id",
        "keep group_id or project_id or instance",
    ),
    (
        {"clusters.ci.gitlab.api_token": GONE},
        "clusters.ci.gitlab",
        "has no api_token, with which the runners of gl, project, instance are created",
        "add api_token: {secret: gitlabApiToken}",
    ),
]


@for_each(("changes", "path", "message", "remedy"), changed_rows(BROKEN))
def test_a_broken_rule_is_one_finding_at_the_value_to_change(
    changes: dict[str, Any], path: str, message: str, remedy: str
) -> None:
    (finding,) = refused(every_key(changes))
    assert (finding.path, finding.rule, finding.severity) == (path, "rule", "error")
    assert message in finding.message
    assert remedy in finding.remedy


def test_a_network_to_make_and_one_to_use_are_not_both() -> None:
    findings = refused(every_key({f"{VPC}.cidr": "10.0.0.0/16"}))
    assert (VPC, "has cidr and vpc_id, but takes only one") in {
        (one.path, one.message) for one in findings
    }


def test_efa_and_its_missing_zone_are_both_reported() -> None:
    findings = refused(every_key({f"{T4}.efa": True}))
    assert [one.remedy for one in findings] == [
        "remove efa",
        "list one zone, like zones: [us-west-2a]",
    ]


@for_each(
    "changes",
    [
        {f"{T4}.disk_gib": 100, f"{T4}.instance_store": "unused"},  # a warning
        {f"{GPU}.env": {"CUDA_VISIBLE_DEVICES": "0"}},
        {f"{GPU}.env": {"CUDA_VISIBLE_DEVICES": "0,1"}},  # CUDA ends at what it does not find
        {"clusters.existing.github.lanes.cpu-only.env": {"CUDA_VISIBLE_DEVICES": ""}},
        {f"{GPU}.image": f"ghcr.io/example/runner:1@sha256:{'0f' * 32}"},
        {f"{T4}.disk_gib": 60},  # its instance store holds the images
        {f"{T4}.instance_types": ["g4dn.xlarge", "g4dn.2xlarge"]},  # the smallest counts
        {f"{T4}.zones": ["us-west-2b", "us-west-2a"]},
        {f"{A100}.capacity_type": "ON_DEMAND"},  # an open reservation
        {f"{GPU}.env": {"A": "{{ github }}"}},  # ARC's chart renders no templates
        {"clusters.ci.gpu_stack": {"advertiser": "operator", "operator": {}}},
        {"clusters.ci.gpu_stack": {}},
    ],
)
def test_what_looks_odd_and_is_right_is_let_through(changes: dict[str, Any]) -> None:
    loaded(every_key(changes))
