"""EC2 security groups and their rules.

Replacement: ForceNew in hashicorp/terraform-provider-aws
internal/service/ec2/vpc_security_group.go, vpc_security_group_ingress_rule.go (the egress rule is
built on it) and vpc_security_group_rule.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import ACCOUNT, AwsKind, dependency_violation
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import lookup, number, objects, text, texts
from pulumi_rehearsal.standin.rules import (
    Problem,
    between,
    choice,
    conflict,
    exactly_one,
    must_exist,
    spelled,
)
from pulumi_rehearsal.standin.world import World

_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")


class SecurityGroup(AwsKind):
    """A security group; the provider takes away EC2's own allow-all egress rule."""

    token = tokens.SECURITY_GROUP
    id_prefix = "sg"
    arn_type = "security-group"
    autonamed = "name"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "ownerId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"description", "name", "namePrefix", "region", "vpcId"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Name, description, ports."""
        yield from conflict(inputs, "name", "namePrefix")
        yield from spelled(
            inputs,
            "name",
            r"(?!sg-)[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]+",
            255,
            "letters, digits, spaces and ._-:/()#,@[]+=&;{}!$*, not beginning with 'sg-'",
        )
        description = text(inputs, "description")
        if description is not None and len(description) > 255:
            yield "description", "has more than 255 characters: shorten it"
        for direction in ("ingress", "egress"):
            for index, rule in enumerate(objects(inputs, direction)):
                for path, reason in _port_problems(rule, "protocol"):
                    yield f"{direction}[{index}].{path}", reason

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """The VPC has no group of that name; one that is not the stack's own may exist."""
        vpc_id = text(call.inputs, "vpcId")
        if vpc_id is not None and not re.fullmatch(r"vpc-[0-9a-f]{8,17}", vpc_id):
            must_exist(world, tokens.VPC, vpc_id, call.scope, "InvalidVpcID.NotFound")
        name = text(call.inputs, "name")
        if vpc_id is None or name is None or old is not None:
            return
        for other in world.where(tokens.SECURITY_GROUP, call.scope, vpcId=vpc_id, name=name):
            raise Refusal(
                f"InvalidGroup.Duplicate: VPC {vpc_id} has security group {name!r} already "
                f"({other.id}); choose another name"
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Owner, name, the provider's default description."""
        return {
            "description": text(call.inputs, "description") or "Managed by Pulumi",
            "name": self.physical_name(call, world),
            "ownerId": ACCOUNT,
        }

    def delete(self, old: Resource, world: World) -> None:
        """No network interface uses it and no rule of another group names it."""
        rules = (
            rule
            for token in (
                tokens.SECURITY_GROUP_INGRESS_RULE,
                tokens.SECURITY_GROUP_EGRESS_RULE,
                tokens.SECURITY_GROUP_RULE,
            )
            for rule in world.all(token, old.scope)
            if text(rule.outputs, "securityGroupId") != old.id
            and old.id
            in (
                text(rule.outputs, "referencedSecurityGroupId"),
                text(rule.outputs, "sourceSecurityGroupId"),
            )
        )
        clusters = (
            cluster
            for cluster in world.all(tokens.CLUSTER, old.scope)
            if old.id in texts(cluster.outputs, "vpcConfig.securityGroupIds")
        )
        dependency_violation(
            old,
            [*clusters, *_node_groups_using(world, old), *rules],
            "delete these first, or take the group out of them",
        )


class _OneRule(AwsKind):
    """One rule with one source (or destination)."""

    id_prefix = "sgr"
    arn_type = "security-group-rule"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "securityGroupRuleId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"region", "securityGroupId"})
    # Another value of the same source changes in place, another kind of source replaces: both
    # can be, so a change of a source shows as one that may replace.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {"description", "fromPort", "ipProtocol", "tags", "toPort"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """One source, and ports unless the protocol is all or ICMP."""
        yield from exactly_one(inputs, _SOURCES)
        yield from _port_problems(inputs, "ipProtocol")

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Both groups exist in one VPC; the group has no such rule."""
        group = must_exist(
            world,
            tokens.SECURITY_GROUP,
            text(call.inputs, "securityGroupId"),
            call.scope,
            "InvalidGroup.NotFound",
        )
        source = must_exist(
            world,
            tokens.SECURITY_GROUP,
            text(call.inputs, "referencedSecurityGroupId"),
            call.scope,
            "InvalidGroup.NotFound",
        )
        if group is None:
            return
        if source is not None and text(source.outputs, "vpcId") != text(group.outputs, "vpcId"):
            raise Refusal(
                f"InvalidGroup.NotFound: security group {source.id} is in another VPC than "
                f"{group.id}; refer to one of the same VPC"
            )
        for other in world.where(self.token, call.scope, securityGroupId=group.id):
            if (old is None or other.id != old.id) and _same_rule(other.inputs, call.inputs):
                raise Refusal(
                    f"InvalidPermission.Duplicate: security group {group.id} has that rule "
                    f"already ({other.id}); leave one of the two out"
                )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """The rule's own id."""
        return {"securityGroupRuleId": id}


class SecurityGroupIngressRule(_OneRule):
    """One rule for what comes in."""

    token = tokens.SECURITY_GROUP_INGRESS_RULE


class SecurityGroupEgressRule(_OneRule):
    """One rule for what goes out."""

    token = tokens.SECURITY_GROUP_EGRESS_RULE


class SecurityGroupRule(AwsKind):
    """The older resource, one rule with several sources; all but its description replaces."""

    token = tokens.SECURITY_GROUP_RULE
    id_prefix = "sgrule"
    computed: ClassVar[frozenset[str]] = frozenset({"securityGroupRuleId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "cidrBlocks",
            "fromPort",
            "ipv6CidrBlocks",
            "prefixListIds",
            "protocol",
            "region",
            "securityGroupId",
            "self",
            "sourceSecurityGroupId",
            "toPort",
            "type",
        }
    )
    updated_on: ClassVar[frozenset[str]] = frozenset({"description"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Direction and ports; a source of its own kind."""
        yield from choice(inputs, "type", ("egress", "ingress"))
        yield from _port_problems(inputs, "protocol")
        yield from conflict(inputs, "self", "sourceSecurityGroupId")

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """The groups exist."""
        for path in ("securityGroupId", "sourceSecurityGroupId"):
            must_exist(
                world,
                tokens.SECURITY_GROUP,
                text(call.inputs, path),
                call.scope,
                "InvalidGroup.NotFound",
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """The rule's own id."""
        return {"securityGroupRuleId": f"sgr-{world.fresh_hex(call.urn, 17)}"}


def _port_problems(rule: Properties, protocol_path: str) -> Iterator[Problem]:
    for path in ("fromPort", "toPort"):
        yield from between(rule, path, -1, 65535)
    low, high = number(rule, "fromPort"), number(rule, "toPort")
    protocol = text(rule, protocol_path)
    if protocol in ("tcp", "udp", "6", "17"):
        for path in ("fromPort", "toPort"):
            if lookup(rule, path) is None:
                yield path, f"a rule for {protocol} needs {path}"
        if low is not None and high is not None and low > high:
            yield "fromPort", f"{low} is above toPort {high}"


def _same_rule(first: Properties, second: Properties) -> bool:
    paths = (*_SOURCES, "fromPort", "ipProtocol", "toPort")
    return all(lookup(first, path) == lookup(second, path) for path in paths)


def _node_groups_using(world: World, group: Resource) -> Iterator[Resource]:
    for node_group in world.all(tokens.NODE_GROUP, group.scope):
        template = world.get(
            text(node_group.outputs, "launchTemplate.id") or "", tokens.LAUNCH_TEMPLATE, group.scope
        )
        if template is None:
            continue
        interfaces = objects(template.outputs, "networkInterfaces")
        used = {
            *texts(template.outputs, "vpcSecurityGroupIds"),
            *(one for interface in interfaces for one in texts(interface, "securityGroups")),
        }
        if group.id in used:
            yield node_group


KINDS = (
    SecurityGroup(),
    SecurityGroupIngressRule(),
    SecurityGroupEgressRule(),
    SecurityGroupRule(),
)
