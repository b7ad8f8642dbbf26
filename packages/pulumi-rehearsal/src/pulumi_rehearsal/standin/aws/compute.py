"""EC2 launch templates and placement groups.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/ec2/
ec2_launch_template.go (its name only: any other change creates another version) and
ec2_placement_group.go (all but tags). Rules for templates of managed node groups are in
`eks_node_group_rules`. Only the contents of a template's last version are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import AwsKind, arn, dependency_violation, region_of
from pulumi_rehearsal.standin.aws.user_data import base64_problem
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, lookup, number, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, between, choice, conflict, must_exist, spelled
from pulumi_rehearsal.standin.world import World

VOLUME_TYPES: Final = ("gp2", "gp3", "io1", "io2", "sc1", "st1", "standard")
INTERFACE_TYPES: Final = ("efa", "efa-only", "interface")
TAGGED_TYPES: Final = (
    "elastic-gpu",
    "instance",
    "network-interface",
    "spot-instances-request",
    "volume",
)
"""https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateTagSpecificationRequest.html"""

_ENUMERATIONS: Final = {
    "capacityReservationSpecification.capacityReservationPreference": (
        "capacity-reservations-only",
        "none",
        "open",
    ),
    "instanceInitiatedShutdownBehavior": ("stop", "terminate"),
    "instanceMarketOptions.marketType": ("capacity-block", "spot"),
    "metadataOptions.httpEndpoint": ("disabled", "enabled"),
    "metadataOptions.httpProtocolIpv6": ("disabled", "enabled"),
    "metadataOptions.httpTokens": ("optional", "required"),
    "metadataOptions.instanceMetadataTags": ("disabled", "enabled"),
    "placement.tenancy": ("dedicated", "default", "host"),
}

# A change of these alone creates no new version: they are not in the resource's updateKeys.
_VERSIONLESS: Final = frozenset(
    {"defaultVersion", "name", "namePrefix", "region", "tags", "updateDefaultVersion"}
)


class LaunchTemplate(AwsKind):
    """A launch template."""

    token = tokens.LAUNCH_TEMPLATE
    id_prefix = "lt"
    arn_type = "launch-template"
    autonamed = "name"
    autoname_limit = 128
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "defaultVersion", "latestVersion"})
    recomputed: ClassVar[frozenset[str]] = frozenset({"defaultVersion", "latestVersion"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"name", "namePrefix", "region"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check enumerations, disks, and properties that conflict."""
        yield from conflict(inputs, "name", "namePrefix")
        yield from conflict(inputs, "defaultVersion", "updateDefaultVersion")
        yield from conflict(inputs, "securityGroupNames", "vpcSecurityGroupIds")
        name = text(inputs, "name")
        if name is not None and len(name) < 3:
            yield "name", f"{name!r} has fewer than 3 characters"
        yield from spelled(
            inputs, "name", r"[a-zA-Z0-9().\-/_]+", 128, "letters, digits and ().-/_"
        )
        for path, allowed in _ENUMERATIONS.items():
            yield from choice(inputs, path, allowed)
        yield from between(inputs, "metadataOptions.httpPutResponseHopLimit", 1, 64)
        for index, device in enumerate(objects(inputs, "blockDeviceMappings")):
            for path, reason in _disk_problems(device):
                yield f"blockDeviceMappings[{index}].{path}", reason
        for index, interface in enumerate(objects(inputs, "networkInterfaces")):
            for path, reason in choice(interface, "interfaceType", INTERFACE_TYPES):
                yield f"networkInterfaces[{index}].{path}", reason
        for index, specification in enumerate(objects(inputs, "tagSpecifications")):
            for path, reason in choice(specification, "resourceType", TAGGED_TYPES):
                yield f"tagSpecifications[{index}].{path}", reason

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Refuse a name that is taken, invalid combinations, and references to nothing."""
        inputs = call.inputs
        name = text(inputs, "name")
        if old is None and name and world.find(tokens.LAUNCH_TEMPLATE, call.scope, name=name):
            raise Refusal(
                f"InvalidLaunchTemplateName.AlreadyExistsException: a template named {name} "
                "exists; leave the name out or choose another"
            )
        if given(inputs, "networkInterfaces") and (
            given(inputs, "vpcSecurityGroupIds") or given(inputs, "securityGroupNames")
        ):
            raise Refusal(
                "InvalidParameterCombination: network interfaces and instance-level security "
                "groups may not both be given; put the groups into networkInterfaces"
            )
        encoded = text(inputs, "userData")
        if encoded is not None and (problem := base64_problem(encoded)):
            raise Refusal(problem)
        self._refuse_unknown(call, world)
        refuse_efa_order(objects(inputs, "networkInterfaces"))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        name = self.physical_name(call, world)
        return {"defaultVersion": 1, "latestVersion": 1, "name": name}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Create another version, and make it the default if `updateDefaultVersion` is set."""
        outputs = super().update(call, old, world)
        latest = number(old.outputs, "latestVersion") or 1
        versioned = {*old.inputs, *call.inputs} - _VERSIONLESS
        if any(old.inputs.get(key) != call.inputs.get(key) for key in versioned):
            latest += 1
        default = number(call.inputs, "defaultVersion") or number(old.outputs, "defaultVersion")
        if lookup(call.inputs, "updateDefaultVersion") is True:
            default = latest
        if default is not None and default > latest:
            raise Refusal(
                f"InvalidLaunchTemplateId.VersionNotFound: template {old.id} has no version "
                f"{default}, its last is {latest}"
            )
        return {**outputs, "defaultVersion": default, "latestVersion": latest}

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while a node group uses it: EC2 would delete it and leave the group DEGRADED."""
        users = [
            group
            for group in world.all(tokens.NODE_GROUP, old.scope)
            if old.id == text(group.outputs, "launchTemplate.id")
        ]
        dependency_violation(
            old,
            users,
            "delete these first; otherwise they become DEGRADED (Ec2LaunchTemplateNotFound)",
        )

    def _refuse_unknown(self, call: Call, world: World) -> None:
        interfaces = objects(call.inputs, "networkInterfaces")
        groups = (
            *texts(call.inputs, "vpcSecurityGroupIds"),
            *(one for interface in interfaces for one in texts(interface, "securityGroups")),
        )
        for group_id in groups:
            must_exist(world, tokens.SECURITY_GROUP, group_id, call.scope, "InvalidGroup.NotFound")
        placement_group = text(call.inputs, "placement.groupName")
        must_exist(
            world,
            tokens.PLACEMENT_GROUP,
            placement_group,
            call.scope,
            "InvalidPlacementGroup.Unknown",
        )


class PlacementGroup(AwsKind):
    """A placement group."""

    token = tokens.PLACEMENT_GROUP
    autonamed = "name"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "placementGroupId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"name", "partitionCount", "region", "spreadLevel", "strategy"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the strategy, and the properties that belong to one strategy."""
        yield from choice(inputs, "strategy", ("cluster", "partition", "spread"))
        yield from choice(inputs, "spreadLevel", ("host", "rack"))
        strategy = text(inputs, "strategy")
        if given(inputs, "partitionCount") and strategy not in (None, "partition"):
            yield "partitionCount", f"does not apply to strategy {strategy!r}: leave it out"
        if given(inputs, "spreadLevel") and strategy not in (None, "spread"):
            yield "spreadLevel", f"does not apply to strategy {strategy!r}: leave it out"

    def identify(self, call: Call, world: World) -> str:
        return text(call.inputs, "name") or ""

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a free name in the region."""
        name = text(call.inputs, "name")
        if old is None and name and world.get(name, tokens.PLACEMENT_GROUP, call.scope):
            raise Refusal(
                f"InvalidPlacementGroup.Duplicate: placement group {name} exists; choose another "
                "name"
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        region = region_of(call.scope, call.inputs)
        return {
            "arn": arn("ec2", region, f"placement-group/{id}"),
            "placementGroupId": f"pg-{world.fresh_hex(call.urn, 17)}",
        }

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while a launch template uses it."""
        users = [
            template
            for template in world.all(tokens.LAUNCH_TEMPLATE, old.scope)
            if text(template.outputs, "placement.groupName") == old.id
        ]
        dependency_violation(old, users, "delete these first")


def refuse_efa_order(interfaces: tuple[Properties, ...]) -> None:
    """Raise `Refusal` for EFA interfaces in the wrong order.

    Interface i is on network card i. Its device index is 0 on the first card and 1 on the others,
    and the first is of type efa: terraform-aws-modules/terraform-aws-eks
    modules/eks-managed-node-group/main.tf.
    """
    if not any(text(one, "interfaceType") in ("efa", "efa-only") for one in interfaces):
        return
    first = interfaces[0]
    if text(first, "interfaceType") != "efa" or (number(first, "deviceIndex") or 0) != 0:
        raise Refusal(
            "InvalidParameterCombination: the first network interface has the node's IP "
            "address: it must be of type efa with networkCardIndex 0 and deviceIndex 0"
        )
    cards = [number(one, "networkCardIndex") or 0 for one in interfaces]
    if cards != list(range(len(interfaces))):
        raise Refusal(
            f"InvalidParameterCombination: network cards {cards} of the EFA interfaces must "
            "count up from 0, one interface per card"
        )
    if any((number(one, "deviceIndex") or 0) != 1 for one in interfaces[1:]):
        raise Refusal(
            "InvalidParameterCombination: EFA interfaces after the first need deviceIndex 1"
        )


def _disk_problems(device: Properties) -> Iterator[Problem]:
    yield from choice(device, "ebs.volumeType", VOLUME_TYPES)
    yield from between(device, "ebs.volumeSize", 1, 65_536)
    yield from between(device, "ebs.throughput", 125, 2_000)
    yield from between(device, "ebs.iops", 100, 256_000)
    kind = text(device, "ebs.volumeType")
    if given(device, "ebs.throughput") and kind not in (None, "gp3"):
        yield "ebs.throughput", f"applies to gp3 only, not {kind}: leave it out"
    if given(device, "ebs.iops") and kind not in (None, "gp3", "io1", "io2"):
        yield "ebs.iops", f"applies to gp3, io1 and io2 only, not {kind}: leave it out"
    if kind in ("io1", "io2") and not given(device, "ebs.iops"):
        yield "ebs.iops", f"is required for {kind}"
    if given(device, "ebs.kmsKeyId") and str(lookup(device, "ebs.encrypted")) not in (
        "True",
        "true",
        "UNKNOWN",
    ):
        yield "ebs.encrypted", "must be true if kmsKeyId is given"


KINDS = (LaunchTemplate(), PlacementGroup())
