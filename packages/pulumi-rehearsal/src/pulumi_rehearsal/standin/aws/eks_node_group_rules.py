"""Rules of EKS that relate a managed node group to other resources; each raises `Refusal`.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (templates),
https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html (capacity blocks),
https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html (role), and
https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3306 (sizes).
"""

from __future__ import annotations

import re
from typing import Final

from pulumi_rehearsal.standin.aws import iam, instance_types, network_rules, tokens, user_data, vpc
from pulumi_rehearsal.standin.aws.eks_addon import missing_node_addons
from pulumi_rehearsal.standin.aws.eks_cluster import SKEW, minor
from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import flag, given, mapping, number, objects, text, texts
from pulumi_rehearsal.standin.rules import must_exist
from pulumi_rehearsal.standin.world import World

_NODE_POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy")
_PULL_POLICIES: Final = (
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEC2ContainerRegistryReadOnly",
)
_FORBIDDEN_IN_TEMPLATE: Final = {
    "iamInstanceProfile": "EKS creates the instance profile of nodeRoleArn itself",
    "hibernationOptions": "managed nodes do not hibernate",
}
_RELEASE: Final = re.compile(r"1\.\d+\.\d+-\d{8}")


def refuse_sizes(sizes: Properties) -> None:
    """Require min <= desired <= max."""
    low, wanted, high = (number(sizes, name) for name in ("minSize", "desiredSize", "maxSize"))
    if low is not None and wanted is not None and low > wanted:
        raise Refusal(
            f"InvalidParameterException: Minimum capacity {low} can't be greater than desired "
            f"size {wanted}; raise scalingConfig.desiredSize in the same update"
        )
    if wanted is not None and high is not None and wanted > high:
        raise Refusal(
            f"InvalidParameterException: desired capacity {wanted} can't be greater than max size "
            f"{high}; lower desiredSize or raise maxSize"
        )


def refuse_role(world: World, cluster: Resource, role_arn: str | None) -> None:
    """Require a role that EC2 can assume, with the policies that a node needs."""
    role = iam.role_by_arn(world, role_arn, "InvalidParameterException")
    if role is None:
        return
    if not iam.trusts(role, "ec2.amazonaws.com", "sts:AssumeRole"):
        raise Refusal(
            f"InvalidParameterException: instances cannot assume role {role.id}: its trust policy "
            "must allow sts:AssumeRole to the service ec2.amazonaws.com"
        )
    network = () if _cni_has_role(world, cluster) else (("AmazonEKS_CNI_Policy",),)
    for names in (_NODE_POLICIES, _PULL_POLICIES, *network):
        if not iam.has_aws_policy(world, role, *names):
            raise Refusal(
                f"node role {role.id} does not have {' or '.join(names)} (yet): nodes would never "
                "join; attach it, and make the node group depend on the attachment"
            )


def refuse_network(
    world: World, cluster: Resource, inputs: Properties, template: Resource | None
) -> tuple[Resource, ...]:
    """Require subnets of the cluster's VPC, of one zone for a placement group or capacity block."""
    found = network_rules.subnets(world, cluster.scope, texts(inputs, "subnetIds"))
    vpc_id = text(cluster.outputs, "vpcConfig.vpcId")
    for subnet in found:
        actual = text(subnet.outputs, "vpcId")
        if vpc_id and actual != vpc_id:
            raise Refusal(
                f"InvalidParameterException: subnet {subnet.id} is in VPC {actual}, the cluster "
                f"in {vpc_id}; use subnets of the cluster's VPC"
            )
    if template is None:
        return found
    network_rules.refuse_foreign_groups(world, cluster.scope, groups_of(template), found)
    zones = network_rules.zones(found)
    for reason, applies in (
        ("a capacity block is in one zone", text(inputs, "capacityType") == "CAPACITY_BLOCK"),
        ("a cluster placement group is in one zone", _in_cluster_placement(world, template)),
    ):
        if applies and (len(zones) > 1 or len(texts(inputs, "subnetIds")) > 1):
            where = ", ".join(zones) or "several subnets"
            raise Refusal(
                f"InvalidParameterException: {reason}, these subnets are in {where}; give the one "
                "subnet of that zone"
            )
    return found


def refuse_template(template: Resource, inputs: Properties) -> None:
    """Require the template's version; refuse what EKS forbids in it or together with it."""
    _refuse_version(template, text(inputs, "launchTemplate.version"))
    inside = template.outputs
    for path in ("diskSize", "remoteAccess"):
        if given(inputs, path):
            raise Refusal(
                f"InvalidParameterException: {path} is not allowed with a launch template; "
                "set it in the template (blockDeviceMappings, keyName)"
            )
    if given(inputs, "instanceTypes") and given(inside, "instanceType"):
        raise Refusal(
            "InvalidParameterException: the instance type is given both in the node group and in "
            "the launch template; keep instanceTypes and leave it out of the template"
        )
    for path, reason in _FORBIDDEN_IN_TEMPLATE.items():
        if given(inside, path):
            raise Refusal(
                f"InvalidParameterException: the launch template may not have {path}: {reason}; "
                "leave it out"
            )
    if text(inside, "instanceInitiatedShutdownBehavior") == "terminate":
        raise Refusal(
            "InvalidParameterException: the launch template may not have "
            "instanceInitiatedShutdownBehavior terminate; leave it out"
        )
    if any(given(one, "subnetId") for one in objects(inside, "networkInterfaces")):
        raise Refusal(
            "InvalidParameterException: the launch template may not name a subnet; give subnetIds "
            "of the node group"
        )
    if given(inside, "imageId") and text(inputs, "amiType") not in (None, "CUSTOM"):
        raise Refusal(
            "InvalidParameterException: the launch template has an image, so amiType must be "
            "left out (or CUSTOM)"
        )
    if given(inside, "imageId") and given(inputs, "releaseVersion"):
        raise Refusal(
            "InvalidParameterException: the launch template has an image, so releaseVersion "
            "must be left out"
        )
    _refuse_user_data(inputs, text(inside, "userData"))
    _refuse_market(inputs, inside)
    _refuse_interfaces(inputs, inside)


def refuse_instance_types(inputs: Properties, template: Resource | None) -> None:
    """Require instance types on which the AMI runs: architecture and GPU."""
    ami_type = text(inputs, "amiType") or ""
    for name in types_of(inputs, template):
        if not instance_types.is_type(name):
            raise Refusal(f"InvalidParameterException: {name!r} is not an instance type")
        if ami_type in ("", "CUSTOM"):
            continue
        if ("ARM_64" in ami_type) != instance_types.is_arm(name):
            raise Refusal(
                f"InvalidParameterException: {name} does not run AMI type {ami_type}, which is "
                "for another architecture; use the AMI type of its architecture"
            )
        if "NVIDIA" in ami_type and not instance_types.has_nvidia_gpu(name):
            raise Refusal(
                f"InvalidParameterException: {name} has no NVIDIA GPU for AMI type {ami_type}; "
                "use a STANDARD AMI type, or an instance type with a GPU"
            )


def refuse_versions(cluster: Resource, inputs: Properties, old: Resource | None) -> None:
    """Check the nodes' version against the cluster's, the earlier one, and the AMI release."""
    control = minor(text(cluster.outputs, "version"))
    version = text(inputs, "version")
    nodes = minor(version) if version else control
    if control is None or nodes is None:
        return
    if nodes > control:
        raise Refusal(
            f"InvalidParameterException: nodes of 1.{nodes} are newer than the control plane of "
            f"1.{control}; upgrade the cluster first"
        )
    if control - nodes > SKEW:
        raise Refusal(
            f"InvalidParameterException: nodes of 1.{nodes} are more than {SKEW} minors older "
            f"than the control plane of 1.{control}; use a newer version"
        )
    before = minor(text(old.outputs, "version")) if old else None
    if before is not None and nodes < before:
        raise Refusal(
            f"InvalidParameterException: a node group cannot go back from 1.{before} to "
            f"1.{nodes}; replace it under another name"
        )
    release = text(inputs, "releaseVersion")
    if release is None or (text(inputs, "amiType") or "").startswith("BOTTLEROCKET"):
        return
    if not _RELEASE.fullmatch(release):
        raise Refusal(
            f"InvalidParameterException: {release!r} is not an AMI release; write it as "
            f"1.{nodes}.0-20261101"
        )
    if minor(release) != nodes:
        raise Refusal(
            f"InvalidParameterException: AMI release {release} is not for Kubernetes 1.{nodes}; "
            "pin a release of the same minor"
        )


def refuse_never_ready(world: World, cluster: Resource, found: tuple[Resource, ...]) -> None:
    """Refuse what keeps nodes from becoming Ready, so that EKS ends with CREATE_FAILED."""
    missing = missing_node_addons(world, cluster)
    if missing:
        raise Refusal(
            f"NodeCreationFailure: cluster {cluster.id} has no add-on {' and '.join(missing)} "
            "(bootstrapSelfManagedAddons is false): nodes never become Ready; make the node group "
            "depend on the add-ons"
        )
    for subnet in found:
        if not _reaches_out(world, subnet):
            raise Refusal(
                f"NodeCreationFailure: instances in subnet {subnet.id} reach neither a registry "
                "nor the API server: its route table has no route out (yet); make the node group "
                "depend on the subnet's route and route table association"
            )


def template_of(world: World, scope: str, inputs: Properties) -> Resource | None:
    """Return the node group's launch template, which it names by id or by name."""
    by_id = text(inputs, "launchTemplate.id")
    name = text(inputs, "launchTemplate.name")
    if by_id is not None:
        return must_exist(
            world, tokens.LAUNCH_TEMPLATE, by_id, scope, "InvalidLaunchTemplateId.NotFound"
        )
    if name is None:
        return None
    found = world.find(tokens.LAUNCH_TEMPLATE, scope, name=name)
    if found is None:
        raise Refusal(
            f"InvalidLaunchTemplateName.NotFoundException: no launch template is named {name}; "
            "refer to the LaunchTemplate's output"
        )
    return found


def types_of(inputs: Properties, template: Resource | None) -> tuple[str, ...]:
    """Return the instance types of the node group, else of its launch template."""
    inside = text(template.outputs, "instanceType") if template else None
    return texts(inputs, "instanceTypes") or ((inside,) if inside else ())


def groups_of(template: Resource) -> tuple[str, ...]:
    """Return the security groups in a launch template."""
    interfaces = objects(template.outputs, "networkInterfaces")
    return (
        *texts(template.outputs, "vpcSecurityGroupIds"),
        *(found for one in interfaces for found in texts(one, "securityGroups")),
    )


def _cni_has_role(world: World, cluster: Resource) -> bool:
    """Whether vpc-cni has its own IAM role, so that the node role needs no CNI policy."""
    addon = world.get(f"{cluster.id}:vpc-cni", tokens.ADDON, cluster.scope)
    associations = world.where(
        tokens.POD_IDENTITY_ASSOCIATION,
        cluster.scope,
        clusterName=cluster.id,
        namespace="kube-system",
        serviceAccount="aws-node",
    )
    return bool(associations) or (
        addon is not None
        and (
            given(addon.inputs, "podIdentityAssociations")
            or given(addon.inputs, "serviceAccountRoleArn")
        )
    )


def _refuse_version(template: Resource, version: str | None) -> None:
    latest = number(template.outputs, "latestVersion") or 1
    if version is None or version in ("$Latest", "$Default"):
        return
    if not version.isdigit() or not 1 <= int(version) <= latest:
        raise Refusal(
            f"InvalidLaunchTemplateId.VersionNotFound: launch template {template.id} has no "
            f"version {version}, its last is {latest}; refer to its latestVersion output"
        )


def _refuse_user_data(inputs: Properties, encoded: str | None) -> None:
    if encoded is None or not (text(inputs, "amiType") or "AL2023").startswith("AL2023"):
        return
    for problem in user_data.problems(encoded):
        raise Refusal(f"Ec2LaunchTemplateInvalidConfiguration: {problem}")


def _refuse_market(inputs: Properties, inside: Properties) -> None:
    market = text(inside, "instanceMarketOptions.marketType")
    block = text(inputs, "capacityType") == "CAPACITY_BLOCK"
    target = mapping(inside, "capacityReservationSpecification.capacityReservationTarget")
    if market == "spot":
        raise Refusal(
            "InvalidParameterException: the launch template may not request spot instances; set "
            "the node group's capacityType to SPOT"
        )
    if block != (market == "capacity-block"):
        raise Refusal(
            "InvalidParameterException: capacityType CAPACITY_BLOCK and the template's "
            "instanceMarketOptions.marketType capacity-block go together; give both or neither"
        )
    if block and not target:
        raise Refusal(
            "InvalidParameterException: capacityType CAPACITY_BLOCK needs the reservation: set "
            "capacityReservationSpecification.capacityReservationTarget in the launch template"
        )


def _refuse_interfaces(inputs: Properties, inside: Properties) -> None:
    interfaces = objects(inside, "networkInterfaces")
    cards = sum(text(one, "interfaceType") in ("efa", "efa-only") for one in interfaces)
    names = texts(inputs, "instanceTypes") or tuple(filter(None, [text(inside, "instanceType")]))
    for name in names if cards else ():
        available = instance_types.efa_cards(name)
        if cards > available:
            raise Refusal(
                f"InvalidParameterCombination: the launch template has {cards} EFA interfaces, "
                f"instance type {name} has {available or 'none'}; use at most one per network "
                "card, or leave EFA out"
            )


def _in_cluster_placement(world: World, template: Resource) -> bool:
    name = text(template.outputs, "placement.groupName")
    group = world.get(name or "", tokens.PLACEMENT_GROUP, template.scope)
    return group is not None and text(group.outputs, "strategy") == "cluster"


def _reaches_out(world: World, subnet: Resource) -> bool:
    endpoints = world.where(
        tokens.VPC_ENDPOINT,
        subnet.scope,
        vpcId=text(subnet.outputs, "vpcId"),
        vpcEndpointType="Interface",
    )
    if endpoints:
        return True
    for route in vpc.routes_of(world, subnet):
        if given(route, "natGatewayId") or given(route, "transitGatewayId"):
            return True
        if given(route, "gatewayId") and flag(subnet.outputs, "mapPublicIpOnLaunch"):
            return True
    return False
