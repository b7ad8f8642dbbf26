"""EKS managed node groups, and their live size, which the autoscaler may change.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/eks/node_group.go. From
the same file (resourceNodeGroupUpdate): a change of `launchTemplate`, `releaseVersion` or `version`
is UpdateNodegroupVersion and rolls the nodes; a change anywhere in `scalingConfig` sends all three
sizes by UpdateNodegroupConfig, also the desired one, even if the autoscaler has changed it; a
change of labels or taints alone sends no size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import autoscaling, eks_node_group_rules, network_rules, tokens
from pulumi_rehearsal.standin.aws.base import AwsKind, arn, region_of
from pulumi_rehearsal.standin.aws.eks_cluster import NAME_PATTERN, cluster_named, minor
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes_names import LABEL_KEY, LABEL_VALUE
from pulumi_rehearsal.standin.properties import (
    flag,
    given,
    lookup,
    mapping,
    number,
    objects,
    strings,
    text,
    texts,
)
from pulumi_rehearsal.standin.rules import Problem, between, choice, conflict, exactly_one, spelled
from pulumi_rehearsal.standin.world import Event, World

_LINUX: Final = ("x86_64", "ARM_64")
AMI_TYPES: Final = frozenset(
    {
        *(f"AL2_{suffix}" for suffix in ("x86_64", "x86_64_GPU", "ARM_64")),
        *(f"AL2023_{arch}_{use}" for arch in _LINUX for use in ("NVIDIA", "STANDARD")),
        "AL2023_x86_64_NEURON",
        *(
            f"BOTTLEROCKET_{arch}{use}"
            for arch in _LINUX
            for use in ("", "_FIPS", "_NVIDIA", "_NVIDIA_FIPS")
        ),
        *(
            f"WINDOWS_{edition}_{year}_x86_64"
            for edition in ("CORE", "FULL")
            for year in (2019, 2022, 2025)
        ),
        "CUSTOM",
    }
)
CAPACITY_TYPES: Final = ("CAPACITY_BLOCK", "ON_DEMAND", "SPOT")
TAINT_EFFECTS: Final = ("NO_EXECUTE", "NO_SCHEDULE", "PREFER_NO_SCHEDULE")
REPAIR_ACTIONS: Final = ("NoAction", "Reboot", "Replace")
UPDATE_STRATEGIES: Final = ("DEFAULT", "MINIMAL")
POOL_STATES: Final = ("HIBERNATED", "RUNNING", "STOPPED")
# Enumerations: botocore 1.44.5, service model of EKS.

MAX_TAINTS: Final = 50
LAST_AL2_MINOR: Final = 32
"""https://github.com/awslabs/amazon-eks-ami/issues/2545 : no Amazon Linux 2 AMI after 1.32."""

RESERVED_LABELS: Final = ("eks.amazonaws.com/", "k8s.io/", "kubernetes.io/")
"""https://github.com/kubernetes/cloud-provider-aws/issues/242"""


class NodeGroup(AwsKind):
    """A managed node group with its Auto Scaling group."""

    token = tokens.NODE_GROUP
    autonamed = "nodeGroupName"
    autoname_limit = 63
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "resources", "status"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "amiType",
            "capacityType",
            "clusterName",
            "diskSize",
            "instanceTypes",
            "launchTemplate.id",
            "launchTemplate.name",
            "nodeGroupName",
            "nodeGroupNamePrefix",
            "nodeRoleArn",
            "region",
            "remoteAccess",
            "subnetIds",
        }
    )
    # warmPoolConfig is newer than the schema that was read.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "forceUpdateVersion",
            "labels",
            "launchTemplate.version",
            "nodeRepairConfig",
            "releaseVersion",
            "scalingConfig",
            "tags",
            "taints",
            "updateConfig",
            "version",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check enumerations, names, sizes, labels and taints."""
        yield from conflict(inputs, "nodeGroupName", "nodeGroupNamePrefix")
        yield from spelled(inputs, "nodeGroupName", NAME_PATTERN, 63, "letters, digits, - and _")
        yield from choice(inputs, "amiType", AMI_TYPES)
        yield from choice(inputs, "capacityType", CAPACITY_TYPES)
        yield from choice(inputs, "updateConfig.updateStrategy", UPDATE_STRATEGIES)
        yield from choice(inputs, "warmPoolConfig.poolState", POOL_STATES)
        yield from conflict(inputs, "launchTemplate.id", "launchTemplate.name")
        yield from between(inputs, "scalingConfig.minSize", 0, 1_000)
        yield from between(inputs, "scalingConfig.desiredSize", 0, 1_000)
        yield from between(inputs, "scalingConfig.maxSize", 1, 1_000)
        unavailable = ("updateConfig.maxUnavailable", "updateConfig.maxUnavailablePercentage")
        for path in unavailable:
            yield from between(inputs, path, 1, 100)
        if mapping(inputs, "updateConfig"):
            yield from exactly_one(inputs, unavailable)
        yield from _repair_problems(inputs)
        yield from _label_problems(inputs)
        yield from _taint_problems(inputs)

    def identify(self, call: Call, world: World) -> str:
        """Return `<cluster>:<node group>`."""
        return f"{text(call.inputs, 'clusterName')}:{self.physical_name(call, world)}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Check the relations to cluster, role, launch template and network."""
        inputs = call.inputs
        cluster = cluster_named(world, call.scope, text(inputs, "clusterName"))
        if cluster is None:
            return
        sizes = mapping(inputs, "scalingConfig")
        if old is None:
            name = text(inputs, "nodeGroupName")
            if world.get(f"{cluster.id}:{name}", self.token, call.scope) is not None:
                raise Refusal(
                    f"ResourceInUseException: node group {name} exists in {cluster.id}; leave "
                    "nodeGroupName out, so that a replacement gets another name"
                )
            eks_node_group_rules.refuse_sizes(sizes)
            eks_node_group_rules.refuse_role(world, cluster, text(inputs, "nodeRoleArn"))
        template = eks_node_group_rules.template_of(world, call.scope, inputs)
        if template is None and text(inputs, "capacityType") == "CAPACITY_BLOCK":
            raise Refusal(
                "InvalidParameterException: capacityType CAPACITY_BLOCK needs a launch template "
                "with the market type capacity-block and the reservation"
            )
        eks_node_group_rules.refuse_versions(cluster, inputs, old)
        _refuse_amazon_linux_2(cluster, inputs)
        if template is not None:
            eks_node_group_rules.refuse_template(template, inputs)
        eks_node_group_rules.refuse_instance_types(inputs, template)
        found = eks_node_group_rules.refuse_network(world, cluster, inputs, template)
        if old is None and (number(sizes, "desiredSize") or 0) > 0:
            eks_node_group_rules.refuse_never_ready(world, cluster, found)
        _warn_of_repair(world, call, cluster)
        if template is not None:
            _warn_of_groups(world, call, cluster, template)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Create the Auto Scaling group too."""
        made_id, outputs = super().create(call, world)
        name = text(outputs, "nodeGroupName") or ""
        subnets = network_rules.subnets(world, call.scope, texts(call.inputs, "subnetIds"))
        sizes = mapping(call.inputs, "scalingConfig")
        group = autoscaling.make_group(world, call, name, subnets, sizes)
        resources = [{"autoscalingGroups": [{"name": group.id}], "remoteAccessSecurityGroupId": ""}]
        return made_id, {**outputs, "resources": resources}

    def compute(self, call: Call, id: str, world: World) -> Properties:
        inputs = call.inputs
        cluster = cluster_named(world, call.scope, text(inputs, "clusterName"))
        template = eks_node_group_rules.template_of(world, call.scope, inputs)
        version = text(inputs, "version") or (text(cluster.outputs, "version") if cluster else "")
        own_image = template is not None and given(template.outputs, "imageId")
        cluster_name, _, name = id.partition(":")
        digits = world.fresh_hex(call.urn, 32)
        uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        region = region_of(call.scope, inputs)
        chosen: Properties = {
            "amiType": "CUSTOM" if own_image else "AL2023_x86_64_STANDARD",
            "capacityType": "ON_DEMAND",
            "diskSize": 0 if template else 20,
            "instanceTypes": []
            if template and given(template.outputs, "instanceType")
            else ["t3.medium"],
            "releaseVersion": "" if own_image else f"{version}.0-20261101",
            "version": version,
        }
        unasked = {key: value for key, value in chosen.items() if not given(inputs, key)}
        return {
            **unasked,
            **_described_template(inputs, template),
            "arn": arn("eks", region, f"nodegroup/{cluster_name}/{name}/{uuid}"),
            "nodeGroupName": name,
            "nodeGroupNamePrefix": text(inputs, "nodeGroupNamePrefix") or "",
            "status": "ACTIVE",
        }

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Roll the nodes, then resize the group: the provider's order."""
        outputs = super().update(call, old, world)
        template = eks_node_group_rules.template_of(world, call.scope, call.inputs)
        _roll(world, call, old)
        # Compared with the last inputs, because the outputs have the live size.
        if lookup(call.inputs, "scalingConfig") != lookup(old.inputs, "scalingConfig"):
            _resize(world, call, old)
        else:
            outputs["scalingConfig"] = mapping(old.outputs, "scalingConfig")
        return {**outputs, **_described_template(call.inputs, template)}

    def delete(self, old: Resource, world: World) -> None:
        """Delete the Auto Scaling group too."""
        group = autoscaling.group_of(world, old)
        if group is not None:
            world.remove(group)


def _resize(world: World, call: Call, old: Resource) -> None:
    sizes = mapping(call.inputs, "scalingConfig")
    live = autoscaling.live_size(world, old)
    try:
        eks_node_group_rules.refuse_sizes(sizes)
    except Refusal as refusal:
        raise Refusal(f"{refusal} (the group has {live} nodes now)") from None
    wanted = number(sizes, "desiredSize")
    if wanted is not None and wanted < live:
        world.record(
            "warned",
            old,
            f"scaled in {live - wanted} nodes under running jobs: the update sent desiredSize "
            f"{wanted}, the autoscaler had {live}",
        )
    autoscaling.resize(world, old, sizes)


def _roll(world: World, call: Call, old: Resource) -> None:
    paths = ("launchTemplate", "releaseVersion", "version")
    changed = [path for path in paths if lookup(call.inputs, path) != lookup(old.inputs, path)]
    live = autoscaling.live_size(world, old)
    if changed and live:
        world.record(
            "warned", old, f"rolled {live} nodes under running jobs: {', '.join(changed)} changed"
        )


def _described_template(inputs: Properties, template: Resource | None) -> Properties:
    if template is None:
        return {}
    described = {
        "id": template.id,
        "name": text(template.outputs, "name"),
        "version": text(inputs, "launchTemplate.version"),
    }
    return {"launchTemplate": described}


def _refuse_amazon_linux_2(cluster: Resource, inputs: Properties) -> None:
    version = text(inputs, "version") or text(cluster.outputs, "version") or ""
    is_al2 = (text(inputs, "amiType") or "").startswith("AL2_")
    if is_al2 and (minor(version) or 0) > LAST_AL2_MINOR:
        raise Refusal(
            f"InvalidParameterException: AMI type {text(inputs, 'amiType')} does not exist for "
            f"Kubernetes {version}; use an AL2023 type"
        )


def _warn(world: World, call: Call, detail: str) -> None:
    world.note(Event(action="warned", urn=call.urn, type=call.type, name=call.name, detail=detail))


def _warn_of_repair(world: World, call: Call, cluster: Resource) -> None:
    agent = world.get(f"{cluster.id}:eks-node-monitoring-agent", tokens.ADDON, call.scope)
    if flag(call.inputs, "nodeRepairConfig.enabled") and agent is None:
        _warn(
            world,
            call,
            f"node repair detects no GPU fault: cluster {cluster.id} has no add-on "
            "eks-node-monitoring-agent (yet); make the node group depend on it",
        )


def _warn_of_groups(world: World, call: Call, cluster: Resource, template: Resource) -> None:
    groups = eks_node_group_rules.groups_of(template)
    if groups and text(cluster.outputs, "vpcConfig.clusterSecurityGroupId") not in groups:
        _warn(
            world,
            call,
            "the launch template has security groups, so EKS adds none, and the cluster's own is "
            "not among them: the control plane reaches the kubelets only if a rule allows it",
        )


def _repair_problems(inputs: Properties) -> Iterator[Problem]:
    base = "nodeRepairConfig"
    for what in ("maxParallelNodesRepaired", "maxUnhealthyNodeThreshold"):
        yield from conflict(inputs, f"{base}.{what}Count", f"{base}.{what}Percentage")
    overrides = objects(inputs, f"{base}.nodeRepairConfigOverrides")
    for index, override in enumerate(overrides):
        for path, reason in choice(override, "repairAction", REPAIR_ACTIONS):
            yield f"{base}.nodeRepairConfigOverrides[{index}].{path}", reason


def _label_problems(inputs: Properties) -> Iterator[Problem]:
    for key, value in strings(inputs, "labels").items():
        path = f"labels.{key}"
        if not LABEL_KEY.fullmatch(key):
            yield path, f"{key!r} is not a Kubernetes label key"
        if not LABEL_VALUE.fullmatch(value):
            yield path, f"{value!r} is not a Kubernetes label value"
        if any(reserved in key for reserved in RESERVED_LABELS):
            yield (
                path,
                f"Label cannot contain reserved prefixes {', '.join(RESERVED_LABELS)}: use "
                "another prefix",
            )


def _taint_problems(inputs: Properties) -> Iterator[Problem]:
    taints = objects(inputs, "taints")
    if len(taints) > MAX_TAINTS:
        yield "taints", f"{len(taints)} taints are more than the {MAX_TAINTS} that EKS accepts"
    for index, taint in enumerate(taints):
        for path, reason in choice(taint, "effect", TAINT_EFFECTS):
            yield f"taints[{index}].{path}", f"{reason} (EKS does not use Kubernetes' names)"
        key, value = text(taint, "key"), text(taint, "value")
        if key is not None and (len(key) > 63 or not LABEL_KEY.fullmatch(key)):
            yield f"taints[{index}].key", f"{key!r} is not a taint key of at most 63 characters"
        if value is not None and not LABEL_VALUE.fullmatch(value):
            yield f"taints[{index}].value", f"{value!r} is not a Kubernetes label value"


KINDS = (NodeGroup(),)
