"""The rules of the pack: each yields the violations of one resource, with what to change.

GPUs are counted as in `fleet.catalog`. The keys of inputs are those of pulumi_aws 7, pulumi_oci 5
and pulumi_kubernetes 4.
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
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
SCALE_SET: Final = "kubernetes:actions.github.com/v1alpha1:AutoscalingRunnerSet"

Rule = Callable[[Resource, Declared], Iterator[str]]

_CHART_LABELS: Final = {SCALE_SET: "helm.sh/chart", "kubernetes:apps/v1:Deployment": "chart"}
"""Label with chart and version of the objects that lanes are made of."""
_CHARTS_OF_LABELS: Final = {"gha-rs": "gha-runner-scale-set", "gitlab-runner": "gitlab-runner"}

_EXACT_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_TAINTS: Final = re.compile(r"register-with-taints[= ][\"']?([^\s\"']+)")
_HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
_PRIVILEGED: Final = re.compile(r"privileged\\*\"?\s*[:=]\s*true")


def gpu_pools_tainted(resource: Resource, _declared: Declared) -> Iterator[str]:
    """Require a taint on pools with GPUs, so that only GPU pods run there."""
    if resource.type == NODE_GROUP and _has_gpus(resource):
        taints = resource.items("taints")
        hard = {TAINT_EFFECTS[effect] for effect in _HARD_EFFECTS}
        if taints is not UNKNOWN and not any(
            _get(taint, "key") in (GPU_TAINT_KEY, UNKNOWN)
            and _get(taint, "effect") in (*hard, UNKNOWN)
            for taint in cast("list[Any]", taints)
        ):
            yield (
                f"taints: the pool has GPUs but no taint {GPU_TAINT_KEY}, so any pod can fill its "
                f"nodes; add {GPU_TAINT_KEY}=true:NO_SCHEDULE"
            )
    if resource.type == NODE_POOL and _has_gpus(resource):
        for key in (KUBELET_ARGUMENTS_METADATA, USER_DATA_METADATA):
            value = resource.at("nodeMetadata", key)
            text = decoded(value) if key == USER_DATA_METADATA and isinstance(value, str) else value
            if value is not UNKNOWN and not _taints_gpu(text or ""):
                reader = "the autoscaler" if key == KUBELET_ARGUMENTS_METADATA else "the kubelet"
                yield (
                    f"nodeMetadata.{key}: the pool has GPUs, but {reader} reads no taint "
                    f"{GPU_TAINT_KEY} here; add --register-with-taints={GPU_TAINT_KEY}=:NoSchedule"
                )


def imds_v2(resource: Resource, _declared: Declared) -> Iterator[str]:
    """Require IMDSv2: without a session token, a forged request could get the node's role."""
    if resource.type in (LAUNCH_TEMPLATE, INSTANCE):
        tokens = resource.at("metadataOptions", "httpTokens")
        off = resource.at("metadataOptions", "httpEndpoint") == "disabled"
        if tokens not in ("required", UNKNOWN) and not off:
            yield "metadataOptions.httpTokens: allows IMDSv1; set it to required"
    if resource.type == NODE_GROUP and resource.at("launchTemplate") is None:
        yield (
            "launchTemplate: is missing, so the nodes have IMDSv1; add a launch template with "
            "metadataOptions.httpTokens: required"
        )


def encrypted_disks(resource: Resource, _declared: Declared) -> Iterator[str]:
    """Require encryption of every EBS disk. OCI always encrypts block storage."""
    if resource.type == LAUNCH_TEMPLATE:
        mappings = resource.items("blockDeviceMappings")
        if mappings == []:
            yield "blockDeviceMappings: is empty, so the AMI decides; add an encrypted disk"
        yield from _disks(mappings, "blockDeviceMappings", inside="ebs")
    if resource.type == INSTANCE:
        root = resource.at("rootBlockDevice")
        yield from _disks([root] if root is not UNKNOWN else UNKNOWN, "rootBlockDevice")
        yield from _disks(resource.items("ebsBlockDevices"), "ebsBlockDevices")
    if resource.type == VOLUME:
        yield from _disks([resource.inputs], "volume")
    if resource.type == NODE_GROUP and resource.at("launchTemplate") is None:
        yield "launchTemplate: is missing, so the disks are not encrypted; add a launch template"


def no_plaintext_tokens(resource: Resource, _declared: Declared) -> Iterator[str]:
    """Refuse tokens in readable text: values, environments, ConfigMaps, scripts, tags.

    Tokens belong in the data of a Secret and the settings of a provider. A policy cannot see
    whether those are marked as secret.
    """
    if resource.type.startswith("pulumi:providers:"):
        return
    inputs = resource.inputs
    if resource.type == KUBERNETES_SECRET:
        inputs = {key: one for key, one in inputs.items() if key not in ("data", "stringData")}
    found = {path for path, text in texts(inputs) if TOKEN.search(text)}
    for path in sorted(found):
        yield f"{path}: contains a token or a key in plain text; move it to a Secret"


def pinned_charts(resource: Resource, declared: Declared) -> Iterator[str]:
    """Require the chart versions of this repository or of the stack file.

    A v4 Chart does not show its inputs to a policy. Its objects do, in a label.
    """
    if resource.type == RELEASE:
        chart, version = resource.at("chart"), resource.at("version")
        if UNKNOWN in (chart, version):
            return
        name = str(chart).rstrip("/").rpartition("/")[2]
    else:
        label = str(resource.at("metadata", "labels", _CHART_LABELS.get(resource.type, "")))
        stem, _, version = label.rpartition("-")
        name = _CHARTS_OF_LABELS.get(stem, "")
        if not name:
            return
    if not isinstance(version, str) or not _EXACT_VERSION.fullmatch(version):
        yield f"version: {version} of chart {name} is not an exact version; write one like 1.2.3"
    elif name in CHARTS and name in get_args(ChartName):
        pinned = source(cast("ChartName", name), declared.charts).version
        if version != pinned:
            yield (
                f"version: chart {name} is pinned to {pinned} in fleet/catalog/charts.py, not to "
                f"{version}; change the version there"
            )


def no_undeclared_privileges(resource: Resource, declared: Declared) -> Iterator[str]:
    """Refuse privileged containers of a lane unless its stack file allows them."""
    lane, path = _privileged_lane(resource)
    if path and lane not in declared.privileged_lanes:
        yield (
            f"{path}: allows privileged containers, but the stack file does not for this lane; add "
            "container_mode: dind, device_access: privileged or privileged: true to the lane"
        )


def gpu_ceiling(
    resources: Iterable[Resource], declared: Declared, max_gpus: int | None
) -> Iterator[tuple[str, str]]:
    """Limit the GPUs of all pools together at their maximum size to `max_gpus`.

    Yields the name of the largest pool and the violation. `None` disables the rule.
    """
    if max_gpus is None:
        return
    pools = {one.name: _max_gpus(one, declared) for one in resources if _has_gpus(one)}
    for name, gpus in pools.items():
        if gpus is None:
            yield (
                name,
                "has an unknown number of GPUs; use instance types or shapes of fleet/catalog",
            )
    total = sum(gpus or 0 for gpus in pools.values())
    if total > max_gpus:
        largest = max(pools, key=lambda name: pools[name] or 0)
        yield (
            largest,
            f"the pools of this stack can grow to {total} GPUs, but max_gpus is {max_gpus}; lower "
            "max_size, or raise max_gpus in policy/<stack>.json",
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
        # A mapping without `ebs` removes a device or is an instance store.
        if inside and disk is None:
            continue
        encrypted = _get(disk, "encrypted")
        if encrypted is not UNKNOWN and not is_true(encrypted):
            yield f"{path}[{index}].encrypted: the disk is not encrypted; set encrypted: true"


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


def _max_gpus(resource: Resource, declared: Declared) -> int | None:
    """Return the GPUs of a pool at its maximum; `None` if the catalog does not know its nodes."""
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
    """Return the lane of a resource and the path of its privileged setting; empty without one."""
    if resource.type == CONFIG_MAP:
        for path, text in texts(resource.at("data"), "data"):
            if _PRIVILEGED.search(text):
                return _lane(resource.name), path
    if resource.type == SCALE_SET:
        path = _privileged_at(resource.at("spec", "template"), "spec.template")
        if path:
            return _lane(resource.name), path
    return "", ""


def _lane(name: str) -> str:
    """Return the lane of an object: `<lane>-job-pod`, or `<lane>-<generation>:<object>`."""
    chart, colon, _ = name.partition(":")
    return chart.rpartition("-")[0] if colon else name.removesuffix("-job-pod")


def _privileged_at(value: Any, path: str) -> str:
    """Return the path of the first privileged container; empty without one."""
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
