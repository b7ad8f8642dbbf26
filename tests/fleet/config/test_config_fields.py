"""Limits of single values: a value beyond one gives one finding with a remedy."""

from typing import Any

from tests.cases import for_each
from tests.fleet.samples import every_key, loaded, refused, reported

EKS = "clusters.ci.eks"
GITHUB = "clusters.ci.github"
GITLAB = "clusters.ci.gitlab"
T4 = f"{EKS}.pools.t4"
GPU = f"{GITHUB}.lanes.gpu"
GL = f"{GITLAB}.lanes.gl"

QUANTITY = "is not a Kubernetes quantity"
FORM = "does not have the required form"

# Path, value, and parts of the message and of the remedy.
SLIPS: list[tuple[str, Any, str, str]] = [
    # the stack
    ("tags", {"": "x"}, "is empty", "or remove the key"),
    ("tags", {"t" * 129: "x"}, "has 129 characters", "at most 128"),
    ("tags.environment", "e" * 257, "has 257 characters", "at most 256"),
    (
        "charts.repositories",
        {"helm": "https://x.example"},
        "is not one of the allowed",
        "'gpu-operator'",
    ),
    ("charts.repositories.gpu-operator", "charts.example.com", FORM, "like oci://"),
    ("charts.arc_version", "1.2.3", FORM, "like 0.14.0"),
    ("charts.arc_crds", "", "is empty", "remove the key"),
    # the cluster
    ("clusters", {}, "is empty", "add at least one entry"),
    (f"{EKS}.region", "Oregon", FORM, "write it like us-west-2"),
    (f"{EKS}.version", 1.35, ", not text", 'like version: "1.35"'),
    (f"{GPU}.image", "a/b@sha256:0123", "has no valid digest", "64 hexadecimal"),
    (f"{GL}.image", f"a/b:1@{'0' * 64}", "has no valid digest", "sha256:"),
    (f"{GPU}.cuda", 12.9, ", not text", 'in quotes, like cuda: "12.9"'),
    ("clusters.honey.existing.pools.a100.driver", 580.95, ", not text", 'like driver: "580.95.05"'),
    (f"{EKS}.version", 1.3, ", not text", "reads 1.30 without quotes as the number 1.3"),
    (f"{EKS}.version", "1.20", "is not a Kubernetes version that", "1.36"),
    (f"{EKS}.version", "1.35.2", "is not a Kubernetes version that", "1.35,"),
    (f"{EKS}.network.cidr", "10.0.0.1/16", "is not an IPv4 range", "host bits are zero"),
    (f"{EKS}.network.cidr", "fd00::/16", "is not an IPv4 range", "10.1.0.0/16"),
    (f"{EKS}.network.cidr", "10.0.0.0/15", "is a /15", "a range of /16 to /20"),
    (f"{EKS}.network.cidr", "10.0.0.0/21", "is a /21", "a range of /16 to /20"),
    (f"{EKS}.network.zones.0", "a", "is not an availability zone", "us-west-2a"),
    (f"{EKS}.network.zones", [f"us-west-2{z}" for z in "abcdefg"], "has 7 entries", "at most 6"),
    (f"{EKS}.network.nat", "two", "is not one of the allowed", "'one' or 'per-zone'"),
    ("clusters.existing.eks.network.vpc_id", "vpc-1", FORM, "like vpc-0123456789abcdef0"),
    ("clusters.existing.eks.network.subnet_ids.eu-central-1a", "a", FORM, "subnet-"),
    (f"{EKS}.api.allow.0", "203.0.113.1/24", "is not an IPv4 range", "203.0.113.0/24"),
    (f"{EKS}.admins.0", "platform", "is not the ARN", "arn:aws"),
    (f"{EKS}.pools", {}, "is empty", "add at least one entry"),
    # pools
    (f"{T4}.instance_types", [], "is empty", "add at least one entry"),
    (f"{T4}.instance_types.0", "g4dn.xlrge", "is not an EC2 instance type", "g4dn.xlarge"),
    (f"{T4}.instance_types.0", "warp.9", "is not an EC2 instance type", "like g4dn.xlarge"),
    (f"{T4}.min_size", -1, "is -1, below the minimum of 0", "use 0 or more"),
    (f"{T4}.max_size", 0, "is 0, below the minimum of 1", "use 1 or more"),
    (f"{T4}.max_size", "10", "not a whole number", "without quotes"),
    (f"{T4}.max_size", 1.5, "not a whole number", "write digits"),
    (f"{T4}.capacity_type", "spot", "is not one of the allowed", "'SPOT'"),
    ("clusters.ci.eks.pools.a100.capacity_reservation_id", "cr-x", FORM, "cr-0123456789abcdef0"),
    (f"{T4}.ami_type", "AL2_x86_64_GPU", "without further releases", "AL2023_x86_64_NVIDIA"),
    (f"{T4}.ami_type", "AL2023_X86_64_NVIDIA", "is not an AMI type", "use AL2023_x86_64_STANDARD"),
    (f"{T4}.ami_type", "BOTTLEROCKET_x86_64_NVIDIA", "does not support", "AL2023_x86_64_NVIDIA"),
    (f"{T4}.ami_type", "AL2023_ARM_64_NVIDIA", "does not support", "AL2023_x86_64_NVIDIA"),
    (f"{T4}.release_version", "v20260923", FORM, "like 1.35.8-20260923"),
    (f"{T4}.disk_gib", 19, "is 19, below the minimum of 20", "use 20 or more"),
    (f"{T4}.disk_gib", 16385, "is 16385, above the maximum of 16384", "use 16384 or less"),
    (f"{T4}.instance_store", "raid1", "is not one of the allowed", "'raid0' or 'unused'"),
    (f"{T4}.zones", [], "is empty", "add at least one entry"),
    (f"{T4}.zones", ["a"], "is not an availability zone", "us-west-2a"),
    (f"{T4}.sharing.time_slicing", 1, "is 1, below the minimum of 2", "use 2 or more"),
    (f"{T4}.sharing.time_slicing", 49, "is 49, above the maximum of 48", "use 48 or less"),
    (f"{T4}.efa", "yes", "is text, not true or false", "without quotes"),
    (f"{T4}.reserve.cpu", "1 core", QUANTITY, '"500m" or 2'),
    (f"{T4}.reserve.memory", "1 GB", QUANTITY, "8Gi"),
    (f"{T4}.reserve.disk", 1000, "is less than 1Mi", "add a unit, like 8Gi"),
    (f"{T4}.labels", {"a b": "x"}, "is not a valid key of", "example.com/team"),
    (f"{T4}.labels", {"gpu-runners/pool": "x"}, "has a prefix that", "like example.com/team"),
    (f"{T4}.labels", {"nvidia.com/gpu.present": "x"}, "is reserved", "like example.com/team"),
    (f"{T4}.labels", {"node.kubernetes.io/x": "x"}, "is reserved", "like example.com/team"),
    (f"{T4}.labels", {"eks.amazonaws.com/x": "x"}, "is reserved", "like example.com/team"),
    (f"{T4}.labels", {f"example.com/{'t' * 59}/{'n' * 12}": "x"}, "is not a valid key of", "team"),
    (f"{T4}.labels", {f"{'t' * 30}.example.com/{'n' * 42}": "x"}, "has 85 characters", "82"),
    (f"{T4}.labels", {"team": "a b"}, "is not a valid value of", "up to 63"),
    # the GPU stack
    (
        "clusters.ci.gpu_stack.advertiser",
        "both",
        "is not one of the allowed",
        "'device_plugin', 'operator'",
    ),
    # lanes
    (f"{GPU}.pools", [], "is empty", "add at least one entry"),
    (f"{GPU}.pools", ["T4"], "is not a valid name", "lower-case"),
    (f"{GPU}.gpus", -1, "is -1, below the minimum of 0", "use 0 or more"),
    (f"{GPU}.cpu", "two", QUANTITY, '"500m" or 2'),
    (f"{GPU}.cpu", 1.5, QUANTITY, '"500m" or 2'),
    (f"{GPU}.cpu", True, QUANTITY, '"500m" or 2'),
    (f"{GPU}.cpu", -1, QUANTITY, '"500m" or 2'),
    (f"{GPU}.cpu", 0, "is 0", "remove the key for the default"),
    (f"{GPU}.memory", 16, "is less than 1Mi", "add a unit, like 8Gi"),
    (f"{GPU}.memory", "16gb", QUANTITY, "8Gi"),
    (f"{GPU}.memory", "0", "is 0", "remove the key for the default"),
    (f"{GPU}.disk", "1000k", "is less than 1Mi", "add a unit"),
    (f"{GPU}.shm", 0, "is 0", "remove the key for the default"),
    (f"{GPU}.image", "two words", FORM, "like ghcr.io/"),
    (f"{GPU}.env", {"A-B": "x"}, FORM, "TORCH_HOME"),
    (f"{GPU}.min_runners", -1, "is -1, below the minimum of 0", "use 0 or more"),
    (f"{GPU}.max_runners", 0, "is 0, below the minimum of 1", "use 1 or more"),
    (f"{GPU}.group", "", "is empty", "remove the key"),
    (f"{GPU}.labels.0", "", "is empty", "write a value"),
    (f"{GPU}.labels.0", "l" * 256, "has 256 characters", "at most 255"),
    (f"{GPU}.container_mode", "docker", "is not one of the allowed", "'kubernetes-novolume'"),
    # GitHub
    (f"{GITHUB}.url", "https://github.com", FORM, "like https://github.com/example-org"),
    (f"{GITHUB}.url", "http://github.com/example-org", FORM, "like https://"),
    (f"{GITHUB}.app.id", 0, "is 0, below the minimum of 1", "use 1 or more"),
    (f"{GITHUB}.app.installation_id", "2", "not a whole number", "without quotes"),
    (
        f"{GITHUB}.app.private_key",
        "-----BEGIN RSA",
        "is text, but a stack file",
        "`pulumi config set --secret",
    ),
    (f"{GITHUB}.app.private_key.secret", "a key", "is not the name of a", "only the name"),
    ("clusters.existing.github.existing_secret", "App Keys", FORM, "runner-token"),
    ("clusters.existing.github.existing_secret", "a" * 254, "has 254 characters", "253"),
    (f"{GITHUB}.lanes", {}, "is empty", "add at least one entry"),
    # GitLab
    (f"{GITLAB}.url", "gitlab.com", "is not a URL with https://", "like https://gitlab.com"),
    (f"{GITLAB}.api_token", "glpat-0123456789", "is text, but a stack file", "api_token: {secret:"),
    (f"{GITLAB}.api_token.secret", "glpat-0123456789", "is not the name of a", "only the name"),
    (
        f"{GITLAB}.lanes.token.token",
        "glrt-0123456789",
        "is text, but a stack file",
        "token: {secret:",
    ),
    (f"{GITLAB}.lanes", {}, "is empty", "add at least one entry"),
    (f"{GL}.concurrent", 0, "is 0, below the minimum of 1", "use 1 or more"),
    (f"{GL}.tags.0", "", "is empty", "write a value"),
    (f"{GL}.tags", [f"t{n}" for n in range(51)], "has 51 entries", "at most 50"),
    (f"{GL}.runner.group_id", 0, "is 0, below the minimum of 1", "use 1 or more"),
    (
        f"{GITLAB}.lanes.project.runner.project_id",
        0,
        "is 0, below the minimum of 1",
        "use 1 or more",
    ),
    (f"{GITLAB}.lanes.instance.runner.instance", False, "is not one of the allowed", "use true"),
    ("clusters.existing.gitlab.lanes.secret.existing_secret", "", FORM, "runner-token"),
    (f"{GL}.maximum_timeout", 599, "is 599, below the minimum of 600", "use 600 or more"),
    (f"{GL}.services", -1, "is -1, below the minimum of 0", "use 0 or more"),
    (f"{GL}.services", 9, "is 9, above the maximum of 8", "use 8 or less"),
]


@for_each(("path", "value", "message", "remedy"), SLIPS)
def test_an_invalid_value_is_one_finding_with_path_and_remedy(
    path: str, value: Any, message: str, remedy: str
) -> None:
    (finding,) = refused(every_key({path: value}))
    # An error of one item, or of one key of a map, has the path of the item.
    assert finding.path.replace("[", ".").replace("]", "").startswith(path)
    assert message in finding.message
    assert remedy in finding.remedy
    assert finding.severity == "error"


@for_each(
    ("place", "limit"),
    [
        ("clusters", 36),
        ("clusters.ci.eks.pools", 36),
        (f"{GITHUB}.lanes", 45),
        (f"{GITLAB}.lanes", 45),
    ],
)
def test_the_length_of_a_name_is_limited_by_the_names_derived_from_it(
    place: str, limit: int
) -> None:
    body = every_key()
    for part in place.split("."):
        body = body[part]
    entry = body[next(iter(body))]
    long = "n" * (limit + 1)
    ((path, message, remedy),) = reported(every_key({f"{place}.{long}": entry}))
    assert path == f"{place}.{long}"
    assert message == f"is a name of {limit + 1} characters"
    assert (
        remedy == f"shorten it to at most {limit} characters, the limit for names derived from it"
    )
    if "lanes" in place:
        loaded(every_key({f"{place}.{'n' * limit}": entry}))


@for_each("name", ["T4", "4t", "-t4", "t4-", "t_4", "t 4", "täst"])
def test_a_name_that_kubernetes_or_aws_rejects_is_one_finding(name: str) -> None:
    pool = {"instance_types": ["g4dn.xlarge"], "max_size": 1}
    ((path, message, remedy),) = reported(every_key({f"clusters.ci.eks.pools.{name}": pool}))
    assert path == f"clusters.ci.eks.pools.{name}"
    assert message == "is not a valid name"
    assert "start with a letter" in remedy


@for_each("value", [None, 3, "text", [], [{}]])
def test_a_stack_that_is_not_a_map_is_refused_with_a_remedy(value: Any) -> None:
    ((path, message, remedy),) = reported(value)
    assert (path, message) == ("", "is not a map")
    assert "clusters:" in remedy
    assert "(the whole stack): is not a map" in str(refused(value)[0])


def test_an_empty_stack_lacks_its_clusters() -> None:
    assert reported({}) == [("clusters", "is missing", "add clusters (clusters by name)")]


def test_a_file_of_hundreds_of_levels_is_refused_and_not_followed() -> None:
    deep: Any = "end"
    for _ in range(300):
        deep = {"a": deep}
    ((_, message, remedy),) = reported({"clusters": deep})
    assert message == "is nested too deeply"
    assert remedy


@for_each(("text", "cpu_m"), [("500m", 500), ("1.5", 1500), (2, 2000), ("2", 2000), ("100u", 1)])
def test_cpu_is_written_as_kubernetes_does_and_held_in_millicores(text: Any, cpu_m: int) -> None:
    github = loaded(every_key({f"{GPU}.cpu": text})).stack.clusters["ci"].github
    assert github is not None
    assert github.lanes["gpu"].cpu == cpu_m


@for_each(
    ("text", "mib"), [("8Gi", 8192), ("512Mi", 512), ("1G", 953), (2**30, 1024), ("1e9", 953)]
)
def test_memory_is_written_as_kubernetes_does_and_held_in_mib(text: Any, mib: int) -> None:
    github = loaded(every_key({f"{GPU}.memory": text})).stack.clusters["ci"].github
    assert github is not None
    assert github.lanes["gpu"].memory == mib


def test_a_reserve_may_be_zero() -> None:
    eks = loaded(every_key({f"{T4}.reserve": {"cpu": 0, "memory": "0"}})).stack.clusters["ci"].eks
    assert eks is not None
    assert (eks.pools["t4"].reserve.cpu, eks.pools["t4"].reserve.memory) == (0, 0)


@for_each("key", ["team", "example.com/team", "a.b-c.d/x.y_Z-1"])
def test_a_pool_may_have_labels_of_its_own(key: str) -> None:
    eks = loaded(every_key({f"{T4}.labels": {key: "ci.1"}})).stack.clusters["ci"].eks
    assert eks is not None
    assert eks.pools["t4"].labels == {key: "ci.1"}
