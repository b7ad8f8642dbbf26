"""The rules of the pack: each takes a resource and yields what is wrong with it, and what to do.

GPUs are counted as cards, as `fleet.catalog` has them. Sources stand with the tables there; the
keys are those of pulumi_aws 7, pulumi_oci 5 and pulumi_kubernetes 4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast, get_args

from fleet.catalog.charts import CHARTS
from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.eks import AMI_TYPES, TAINT_EFFECTS
from fleet.catalog.oci import SHAPES
from fleet.catalog.oke import GPU_TAINT_KEY, KUBELET_ARGUMENTS_METADATA, USER_DATA_METADATA
from fleet.catalog.tokens import TOKEN
from fleet.config.stack import ChartName
from fleet.kubernetes.releases import source
from policy.declared import Declared
from policy.inputs import UNKNOWN, Resource, decoded, is_true, texts

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
INSTANCE: Final = "aws:ec2/instance:Instance"
VOLUME: Final = "aws:ebs/volume:Volume"
NODE_POOL: Final = "oci:ContainerEngine/nodePool:NodePool"
KUBERNETES_SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105 (a type)
CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
CHART_TYPES: Final = frozenset(
    {"kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v3:Chart", "kubernetes:helm.sh/v4:Chart"}
)

Rule = Callable[[Resource, Declared], Iterator[str]]

_EXACT_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_TAINTS: Final = re.compile(r"register-with-taints[= ][\"']?([^\s\"']+)")
_HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
_PRIVILEGED: Final = re.compile(r"privileged\\*\"?\s*[:=]\s*true")


def gpu_pools_tainted(resource: Resource, _declared: Declared) -> Iterator[str]:
    """A pool with GPUs keeps away what does not ask for one, from its first node on."""
    if resource.type == NODE_GROUP and _has_gpus(resource):
        taints = resource.items("taints")
        hard = {TAINT_EFFECTS[effect] for effect in _HARD_EFFECTS}
        if taints is not UNKNOWN and not any(
            _get(taint, "key") in (GPU_TAINT_KEY, UNKNOWN)
            and _get(taint, "effect") in (*hard, UNKNOWN)
            for taint in cast("list[Any]", taints)
        ):
            yield (
                f"taints: has GPUs and no taint {GPU_TAINT_KEY}, so that any pod may fill its "
                f"nodes; add {GPU_TAINT_KEY}=true:NO_SCHEDULE"
            )
    if resource.type == NODE_POOL and _has_gpus(resource):
        for key in (KUBELET_ARGUMENTS_METADATA, USER_DATA_METADATA):
            value = resource.at("nodeMetadata", key)
            text = decoded(value) if key == USER_DATA_METADATA and isinstance(value, str) else value
            if value is not UNKNOWN and not _taints_gpu(text or ""):
                reader = "the autoscaler" if key == KUBELET_ARGUMENTS_METADATA else "the kubelet"
                yield (
                    f"nodeMetadata.{key}: has GPUs and tells {reader} of no taint {GPU_TAINT_KEY}; "
                    f"pass --register-with-taints={GPU_TAINT_KEY}=:NoSchedule"
                )


def imds_v2(resource: Resource, _declared: Declared) -> Iterator[str]:
    """The metadata service answers only to a session token: no forged request gets a role."""
    if resource.type in (LAUNCH_TEMPLATE, INSTANCE):
        tokens = resource.at("metadataOptions", "httpTokens")
        off = resource.at("metadataOptions", "httpEndpoint") == "disabled"
        if tokens not in ("required", UNKNOWN) and not off:
            yield "metadataOptions.httpTokens: is not required; write httpTokens: required (IMDSv2)"
    if resource.type == NODE_GROUP and resource.at("launchTemplate") is None:
        yield (
            "launchTemplate: there is none, and without one nodes answer IMDSv1; give a template "
            "with metadataOptions.httpTokens: required"
        )


def encrypted_disks(resource: Resource, _declared: Declared) -> Iterator[str]:
    """Every EBS disk is encrypted. OCI encrypts all block storage, and has no switch for it."""
    if resource.type == LAUNCH_TEMPLATE:
        mappings = resource.items("blockDeviceMappings")
        if mappings == []:
            yield "blockDeviceMappings: names no disk, so that the AMI decides; name it, encrypted"
        yield from _disks(mappings, "blockDeviceMappings", inside="ebs")
    if resource.type == INSTANCE:
        root = resource.at("rootBlockDevice")
        yield from _disks([root] if root is not UNKNOWN else UNKNOWN, "rootBlockDevice")
        yield from _disks(resource.items("ebsBlockDevices"), "ebsBlockDevices")
    if resource.type == VOLUME:
        yield from _disks([resource.inputs], "volume")
    if resource.type == NODE_GROUP and resource.at("launchTemplate") is None:
        yield "launchTemplate: there is none, and without one disks are not encrypted; give one"


def no_plaintext_tokens(resource: Resource, _declared: Declared) -> Iterator[str]:
    """No token stands where it is readable: values, environments, ConfigMaps, scripts, tags.

    The data of a Secret and the settings of a provider are where tokens belong; whether those are
    marked secret a policy is not told.
    """
    if resource.type.startswith("pulumi:providers:"):
        return
    inputs = resource.inputs
    if resource.type == KUBERNETES_SECRET:
        inputs = {key: one for key, one in inputs.items() if key not in ("data", "stringData")}
    found = {path for path, text in texts(inputs) if TOKEN.search(text)}
    for path in sorted(found):
        yield f"{path}: holds a token or a key in plain text; put it in a Secret and name that"


def pinned_charts(resource: Resource, declared: Declared) -> Iterator[str]:
    """A chart has the exact version that this repository pins, or that the stack file names."""
    if resource.type not in CHART_TYPES:
        return
    chart, version = resource.at("chart"), resource.at("version")
    if UNKNOWN in (chart, version):
        return
    name = str(chart).rstrip("/").rpartition("/")[2]
    if not isinstance(version, str) or not _EXACT_VERSION.fullmatch(version):
        yield f"version: {version} of chart {name} is no exact version; write all three numbers"
    elif name in CHARTS and name in get_args(ChartName):
        pinned = source(cast("ChartName", name), declared.charts).version
        if version != pinned:
            yield (
                f"version: chart {name} is pinned to {pinned} in fleet/catalog/charts.py, not "
                f"{version}; change the pin, where every stack and test sees it"
            )


def no_undeclared_privileges(resource: Resource, declared: Declared) -> Iterator[str]:
    """A lane runs privileged containers only where the stack file says so of that lane."""
    lane, path = _privileged_lane(resource)
    if path and lane not in declared.privileged_lanes:
        yield (
            f"{path}: runs privileged containers, which the stack file does not say of this lane; "
            "declare container_mode: dind, device_access: privileged or privileged: true"
        )


def gpu_ceiling(
    resources: Iterable[Resource], declared: Declared, max_gpus: int | None
) -> Iterator[tuple[str, str]]:
    """All pools at their maximum have no more GPUs than the stack's ceiling.

    Yields the name of the largest pool, and what is wrong. Without `max_gpus` there is no ceiling.
    """
    if max_gpus is None:
        return
    pools = {one.name: _most_gpus(one, declared) for one in resources if _has_gpus(one)}
    for name, gpus in pools.items():
        if gpus is None:
            yield name, "has GPUs that cannot be counted; name types that fleet/catalog knows"
    total = sum(gpus or 0 for gpus in pools.values())
    if total > max_gpus:
        largest = max(pools, key=lambda name: pools[name] or 0)
        yield (
            largest,
            f"the pools of this stack may grow to {total} GPUs, its ceiling is {max_gpus}; lower "
            "max_size, or raise max_gpus in the pack's configuration of the stack",
        )


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "gpu-pools-tainted": gpu_pools_tainted,
        "imds-v2": imds_v2,
        "encrypted-disks": encrypted_disks,
        "no-plaintext-tokens": no_plaintext_tokens,
        "pinned-charts": pinned_charts,
        "no-undeclared-privileges": no_undeclared_privileges,
    }
)
CEILING: Final = "gpu-ceiling"


def _get(value: Any, key: str) -> Any:
    if value is UNKNOWN:
        return UNKNOWN
    return cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None


def _disks(disks: Any, path: str, *, inside: str | None = None) -> Iterator[str]:
    if disks is UNKNOWN:
        return
    for index, one in enumerate(cast("list[Any]", disks)):
        disk = _get(one, inside) if inside else one
        # A mapping without `ebs` takes a device away, or is an instance store.
        if inside and disk is None:
            continue
        encrypted = _get(disk, "encrypted")
        if encrypted is not UNKNOWN and not is_true(encrypted):
            yield f"{path}[{index}].encrypted: the disk is not encrypted; write encrypted: true"


def _instance_types(resource: Resource) -> list[str]:
    types = resource.items("instanceTypes")
    return [] if types is UNKNOWN else [str(one) for one in cast("list[Any]", types)]


def _has_gpus(resource: Resource) -> bool:
    if resource.type == NODE_GROUP:
        ami = AMI_TYPES.get(str(resource.at("amiType")))
        known = (INSTANCE_TYPES.get(name) for name in _instance_types(resource))
        by_ami = ami.gpu if ami else "NVIDIA" in str(resource.at("amiType"))
        return by_ami or any(one is not None and one.gpu is not None for one in known)
    if resource.type == NODE_POOL:
        name = str(resource.at("nodeShape"))
        shape = SHAPES.get(name)
        return shape.gpu is not None if shape else ".GPU" in name
    return False


def _most_gpus(resource: Resource, declared: Declared) -> int | None:
    """Count the GPUs of a pool at its maximum; None where the catalog does not know its nodes."""
    if resource.type == NODE_GROUP:
        kinds = [INSTANCE_TYPES.get(name) for name in _instance_types(resource)]
        per_node = [one.gpus for one in kinds if one is not None]
        nodes = resource.at("scalingConfig", "maxSize")
    else:
        shape = SHAPES.get(str(resource.at("nodeShape")))
        kinds, per_node = [shape], [shape.gpus] if shape else []
        size = resource.at("nodeConfigDetails", "size")
        nodes = declared.pool_maxima.get(resource.name, size)
    if not per_node or None in kinds or not isinstance(nodes, int | float):
        return None
    return max(per_node) * int(nodes)


def _taints_gpu(text: str) -> bool:
    for found in _TAINTS.findall(text):
        for taint in found.split(","):
            named, _, effect = taint.rpartition(":")
            if named.partition("=")[0] == GPU_TAINT_KEY and effect in _HARD_EFFECTS:
                return True
    return False


def _privileged_lane(resource: Resource) -> tuple[str, str]:
    """Return the lane of a resource and the path of what makes it privileged; empty without one."""
    if resource.type == CONFIG_MAP:
        for path, text in texts(resource.at("data"), "data"):
            if _PRIVILEGED.search(text):
                return resource.name.removesuffix("-job-pod"), path
    if resource.type in CHART_TYPES:
        lane = resource.name.removesuffix("-release")
        chart = str(resource.at("chart")).rpartition("/")[2]
        if chart == "gha-runner-scale-set":
            if resource.at("values", "containerMode", "type") == "dind":
                return lane, "values.containerMode.type"
            if path := _privileged_at(resource.at("values", "template"), "values.template"):
                return lane, path
        if chart == "gitlab-runner":
            if is_true(resource.at("values", "runners", "privileged")):
                return lane, "values.runners.privileged"
            if _PRIVILEGED.search(str(resource.at("values", "runners", "config"))):
                return lane, "values.runners.config"
    return "", ""


def _privileged_at(value: Any, path: str) -> str:
    """Return the path of the first container that is privileged; empty without one."""
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        if is_true(mapping.get("privileged")):
            return f"{path}.privileged"
        inner = ((one, f"{path}.{key}") for key, one in mapping.items())
    elif isinstance(value, list):
        inner = ((one, f"{path}[{index}]") for index, one in enumerate(cast("list[Any]", value)))
    else:
        return ""
    return next((found for one, below in inner if (found := _privileged_at(one, below))), "")
