"""Auto Scaling: the groups of EKS node groups, their tags, their data sources.

EKS creates a group with the node group, and deletes it with it, so that it has no URN. Its
`desiredCapacity` is the live number of nodes, which the autoscaler changes; `set_desired_size` does
that in a test. Replacement: ForceNew in hashicorp/terraform-provider-aws
internal/service/autoscaling/group_tag.go. Tag grammar: kubernetes/autoscaler
cluster-autoscaler/cloudprovider/aws/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import MAX_TAGS, AwsKind, arn, region_of
from pulumi_rehearsal.standin.kind import Call, Lookup, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes_names import LABEL_KEY, LABEL_VALUE
from pulumi_rehearsal.standin.properties import mapping, number, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, must_exist
from pulumi_rehearsal.standin.world import World

_NODE_TEMPLATE: Final = "k8s.io/cluster-autoscaler/node-template/"
_TAINT_VALUE: Final = re.compile(r"([^:]*):(NoSchedule|NoExecute|PreferNoSchedule)")
_QUANTITY: Final = re.compile(r"\d+(\.\d+)?(m|[kKMGTPE]i?)?")
_OPTIONS: Final = frozenset(
    {
        "ignoredaemonsetsutilization",
        "maxnodeprovisiontime",
        "scaledowngpuutilizationthreshold",
        "scaledownunneededtime",
        "scaledownunreadytime",
        "scaledownutilizationthreshold",
        "zeroormaxnodescaling",
    }
)


class Tag(AwsKind):
    """A tag of an Auto Scaling group; the autoscaler reads the tags to predict a new node."""

    token = tokens.AUTO_SCALING_TAG
    replaced_on: ClassVar[frozenset[str]] = frozenset({"autoscalingGroupName", "region", "tag.key"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"tag.propagateAtLaunch", "tag.value"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check lengths, and the autoscaler's tag grammar."""
        key, value = text(inputs, "tag.key"), text(inputs, "tag.value")
        if key is not None:
            if not 1 <= len(key) <= 128:
                yield "tag.key", f"a tag key has 1 to 128 characters, this one has {len(key)}"
            if key.startswith(_NODE_TEMPLATE):
                yield from _template_problems(key.removeprefix(_NODE_TEMPLATE), value)
        if value is not None and len(value) > 256:
            yield "tag.value", f"a tag value has at most 256 characters, this one has {len(value)}"

    def identify(self, call: Call, world: World) -> str:
        """Return `<group>,<key>`."""
        return f"{text(call.inputs, 'autoscalingGroupName')},{text(call.inputs, 'tag.key')}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the group and its limit of tags; refuse a second resource for one tag."""
        name = text(call.inputs, "autoscalingGroupName")
        group = must_exist(world, tokens.AUTO_SCALING_GROUP, name, call.scope, "ValidationError")
        if group is None or old is not None:
            return
        key = text(call.inputs, "tag.key")
        if world.get(f"{name},{key}", tokens.AUTO_SCALING_TAG, call.scope) is not None:
            raise Refusal(
                f"tag {key} of {name} belongs to another resource already, and each would undo "
                "the other: leave one out"
            )
        keys = {text(tag, "key") for tag in objects(group.outputs, "tags")}
        if len(keys | {key}) > MAX_TAGS:
            raise Refusal(
                f"LimitExceeded: {name} would have more than {MAX_TAGS} tags; leave some out"
            )

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Set the tag on the group."""
        made = super().create(call, world)
        _set_tag(world, call)
        return made

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Set the tag on the group."""
        outputs = super().update(call, old, world)
        _set_tag(world, call)
        return outputs

    def delete(self, old: Resource, world: World) -> None:
        """Remove the tag from the group, if the group still exists."""
        group = world.get(
            text(old.inputs, "autoscalingGroupName") or "", tokens.AUTO_SCALING_GROUP, old.scope
        )
        if group is not None:
            key = text(old.inputs, "tag.key")
            kept = [tag for tag in objects(group.outputs, "tags") if text(tag, "key") != key]
            world.replace(replace(group, outputs={**group.outputs, "tags": kept}))


class GetGroups(Lookup):
    """The data source aws_autoscaling_groups, which the SDK calls get_ami_ids."""

    token = "aws:autoscaling/getAmiIds:getAmiIds"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Return names and ARNs of the groups that match every filter; none is no error."""
        wanted = texts(args, "names")
        found = [
            group
            for group in world.all(tokens.AUTO_SCALING_GROUP, scope)
            if (not wanted or group.id in wanted)
            and all(_passes(group, one) for one in objects(args, "filters"))
        ]
        region = region_of(scope, args)
        return {
            "arns": sorted(text(group.outputs, "arn") or "" for group in found),
            "filters": args.get("filters"),
            "id": region,
            "names": sorted(group.id for group in found),
            "region": region,
        }


class GetGroup(Lookup):
    """The data source for one group with its live size."""

    token = "aws:autoscaling/getGroup:getGroup"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Return the group. Raises `Refusal` if there is no group of that name."""
        name = text(args, "name")
        group = must_exist(
            world, tokens.AUTO_SCALING_GROUP, name, scope, "reading Auto Scaling Group"
        )
        if group is None:
            raise Refusal("reading Auto Scaling Group: no name given")
        return {**group.outputs, "id": group.id, "region": region_of(scope, args)}


def make_group(
    world: World, call: Call, node_group: str, subnets: tuple[Resource, ...], sizes: Properties
) -> Resource:
    """Create the group of a node group as EKS does: `eks-<node group>-<uuid>`, with EKS' tags."""
    cluster = text(call.inputs, "clusterName") or ""
    digits = world.fresh_hex(f"{call.urn}/group", 32)
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    name = f"eks-{node_group}-{uuid}"
    region = region_of(call.scope, call.inputs)
    # https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html : EKS sets the
    # tags by which the autoscaler finds the group, and none of the node template's.
    tags = {
        "eks:cluster-name": cluster,
        "eks:nodegroup-name": node_group,
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{cluster}": "owned",
        f"kubernetes.io/cluster/{cluster}": "owned",
    }
    group = Resource(
        urn="",
        type=tokens.AUTO_SCALING_GROUP,
        name=name,
        id=name,
        scope=call.scope,
        inputs={},
        outputs={
            "arn": arn(
                "autoscaling", region, f"autoScalingGroup:{uuid}:autoScalingGroupName/{name}"
            ),
            "availabilityZones": sorted(
                {zone for one in subnets if (zone := text(one.outputs, "availabilityZone"))}
            ),
            "desiredCapacity": number(sizes, "desiredSize") or 0,
            "maxSize": number(sizes, "maxSize") or 0,
            "minSize": number(sizes, "minSize") or 0,
            "name": name,
            "newInstancesProtectedFromScaleIn": False,
            "status": "",
            "tags": [
                {"key": key, "propagateAtLaunch": True, "value": value}
                for key, value in tags.items()
            ],
            "vpcZoneIdentifier": ",".join(texts(call.inputs, "subnetIds")),
        },
    )
    world.add(group)
    return group


def group_of(world: World, node_group: Resource) -> Resource | None:
    """Return the Auto Scaling group of a node group."""
    for resource in objects(node_group.outputs, "resources"):
        for group in objects(resource, "autoscalingGroups"):
            return world.get(text(group, "name") or "", tokens.AUTO_SCALING_GROUP, node_group.scope)
    return None


def live_size(world: World, node_group: Resource) -> int:
    """Return the current number of nodes, which the autoscaler may have changed."""
    group = group_of(world, node_group)
    return (number(group.outputs, "desiredCapacity") or 0) if group else 0


def resize(world: World, node_group: Resource, sizes: Properties) -> None:
    """Set the group's sizes to those of its node group, as EKS does."""
    group = group_of(world, node_group)
    if group is None:
        return
    changed = {
        "desiredCapacity": number(sizes, "desiredSize"),
        "maxSize": number(sizes, "maxSize"),
        "minSize": number(sizes, "minSize"),
    }
    known = {key: value for key, value in changed.items() if value is not None}
    world.replace(replace(group, outputs={**group.outputs, **known}))


def set_desired_size(world: World, cluster: str, name: str, size: int) -> None:
    """Scale a group outside Pulumi, between its min and max, as the autoscaler does.

    `name` is the name of the node group or of its Auto Scaling group, or the logical name (its last
    part is enough). Raises `ValueError` unless exactly one group matches, and for a size outside
    min and max.
    """
    matching = [
        group
        for group in world.where(tokens.NODE_GROUP, clusterName=cluster)
        if name in (text(group.outputs, "nodeGroupName"), group.name)
        or group.name.endswith(f"-{name}")
        or name == (found.id if (found := group_of(world, group)) else None)
    ]
    if len(matching) != 1:
        names = ", ".join(group.id for group in matching) or "none"
        raise ValueError(f"{name!r} in cluster {cluster!r} matches {names}, must match one")
    node_group = matching[0]
    sizes = mapping(node_group.outputs, "scalingConfig")
    low, high = number(sizes, "minSize") or 0, number(sizes, "maxSize") or 0
    if not low <= size <= high:
        raise ValueError(f"{size} is outside {low} to {high} of node group {node_group.id}")
    live = {**sizes, "desiredSize": size}
    resize(world, node_group, live)
    # DescribeNodegroup returns the live size, so that a refresh would write it to the state.
    world.replace(replace(node_group, outputs={**node_group.outputs, "scalingConfig": live}))


def _template_problems(rest: str, value: str | None) -> Iterator[Problem]:
    kind, _, name = rest.partition("/")
    if kind not in ("autoscaling-options", "label", "resources", "taint"):
        yield "tag.key", f"{kind!r} is none of autoscaling-options, label, resources, taint"
    elif not name:
        yield "tag.key", f"has no {kind} after node-template/{kind}/"
    elif kind in ("label", "taint") and not LABEL_KEY.fullmatch(name):
        yield "tag.key", f"{name!r} is not a Kubernetes {kind} key"
    elif kind == "autoscaling-options" and name not in _OPTIONS:
        yield "tag.key", f"{name!r} is none of {', '.join(sorted(_OPTIONS))}"
    elif value is None:
        return
    elif kind == "label" and not LABEL_VALUE.fullmatch(value):
        yield "tag.value", f"{value!r} is not a Kubernetes label value"
    elif kind == "resources" and not _QUANTITY.fullmatch(value):
        yield "tag.value", f"{value!r} is not a Kubernetes quantity: write it as 1, 3500m or 100Gi"
    elif kind == "taint":
        found = _TAINT_VALUE.fullmatch(value)
        if found is None or not LABEL_VALUE.fullmatch(found.group(1)):
            yield (
                "tag.value",
                f"{value!r} is not a taint: write <value>:NoSchedule",
            )


def _passes(group: Resource, one: Properties) -> bool:
    name, values = text(one, "name") or "", texts(one, "values")
    tags = {text(tag, "key"): text(tag, "value") for tag in objects(group.outputs, "tags")}
    if name.startswith("tag:"):
        return tags.get(name.removeprefix("tag:")) in values
    if name in ("tag-key", "key"):
        return not tags.keys().isdisjoint(values)
    if name in ("tag-value", "value"):
        return not set(tags.values()).isdisjoint(values)
    raise Refusal(
        f"ValidationError: filter name {name!r} is none of tag-key, tag-value and tag:<key>"
    )


def _set_tag(world: World, call: Call) -> None:
    group = world.get(
        text(call.inputs, "autoscalingGroupName") or "", tokens.AUTO_SCALING_GROUP, call.scope
    )
    if group is not None:
        tag = mapping(call.inputs, "tag")
        others = [one for one in objects(group.outputs, "tags") if one["key"] != tag.get("key")]
        world.replace(replace(group, outputs={**group.outputs, "tags": [*others, tag]}))


KINDS = (Tag(),)
LOOKUPS = (GetGroups(), GetGroup())
