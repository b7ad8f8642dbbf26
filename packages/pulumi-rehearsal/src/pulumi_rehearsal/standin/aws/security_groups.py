"""EC2 security groups.

Replacement: ForceNew in hashicorp/terraform-provider-aws
internal/service/ec2/vpc_security_group.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import ACCOUNT, AwsKind, dependency_violation
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import number, objects, text, texts
from pulumi_rehearsal.standin.rules import (
    Problem,
    between,
    conflict,
    must_exist,
    spelled,
)
from pulumi_rehearsal.standin.world import World


class SecurityGroup(AwsKind):
    """A security group; the provider removes EC2's default egress rule."""

    token = tokens.SECURITY_GROUP
    id_prefix = "sg"
    arn_type = "security-group"
    autonamed = "name"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "ownerId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"description", "name", "namePrefix", "region", "vpcId"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check name, description and ports."""
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
        """Require a free name in the VPC. A VPC outside the stack is not checked."""
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
        return {
            "description": text(call.inputs, "description") or "Managed by Pulumi",
            "name": self.physical_name(call, world),
            "ownerId": ACCOUNT,
        }

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while a cluster or a node group uses it."""
        clusters = (
            cluster
            for cluster in world.all(tokens.CLUSTER, old.scope)
            if old.id in texts(cluster.outputs, "vpcConfig.securityGroupIds")
        )
        dependency_violation(
            old,
            [*clusters, *_node_groups_using(world, old)],
            "delete these first, or take the group out of them",
        )


def _port_problems(rule: Properties, protocol_path: str) -> Iterator[Problem]:
    for path in ("fromPort", "toPort"):
        yield from between(rule, path, -1, 65535)
    low, high = number(rule, "fromPort"), number(rule, "toPort")
    has_ports = text(rule, protocol_path) in ("tcp", "udp", "6", "17")
    if has_ports and low is not None and high is not None and low > high:
        yield "fromPort", f"{low} is above toPort {high}"


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


KINDS = (SecurityGroup(),)
