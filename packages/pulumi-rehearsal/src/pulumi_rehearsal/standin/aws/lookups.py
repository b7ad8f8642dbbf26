"""AWS data sources that answer without a resource of the stack: account, zones, AMI releases.

The AMI releases are made up, of the right form (`1.35.0-20261101`): a rehearsal cannot know what
AWS published. Parameter names: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from pulumi_rehearsal.standin.aws.base import ACCOUNT, PARTITION, arn, region_of
from pulumi_rehearsal.standin.aws.eks_cluster import VERSIONS, cluster_named
from pulumi_rehearsal.standin.kind import Lookup, Properties, Refusal
from pulumi_rehearsal.standin.properties import lookup, mapping, text, texts
from pulumi_rehearsal.standin.world import World

ZONES: Final = {"us-east-1": "abcdef", "us-west-1": "ab", "us-west-2": "abcd"}
"""Letters of zones where a region has not three of them."""

_AMAZON_LINUX: Final = re.compile(
    r"/aws/service/eks/optimized-ami/(?P<version>1\.\d+)/amazon-linux-2023/"
    r"(?P<arch>x86_64|arm64)/(?P<variant>standard|nvidia|neuron)/"
    r"(recommended|amazon-eks-node-[\w.-]+)/(?P<what>image_id|release_version)"
)
_BOTTLEROCKET: Final = re.compile(
    r"/aws/service/bottlerocket/aws-k8s-(?P<version>1\.\d+)(-nvidia)?(-fips)?/"
    r"(?P<arch>x86_64|arm64)/latest/(?P<what>image_id|image_version)"
)


class GetParameter(Lookup):
    """A public parameter of EKS's AMIs."""

    token = "aws:ssm/getParameter:getParameter"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The parameter. Raises `Refusal` for one that EKS does not publish."""
        name = text(args, "name") or ""
        region = region_of(scope, args)
        value = _value(name)
        return {
            "arn": arn("ssm", region, f"parameter{name}", account=""),
            "id": name,
            "insecureValue": value,
            "name": name,
            "region": region,
            "type": "String",
            "value": value,
            "version": 1,
            "withDecryption": lookup(args, "withDecryption"),
        }


class GetCallerIdentity(Lookup):
    """Who calls."""

    token = "aws:index/getCallerIdentity:getCallerIdentity"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """A role that exists nowhere."""
        session = arn("sts", "", "assumed-role/rehearsal/pulumi")
        return {
            "accountId": ACCOUNT,
            "arn": session,
            "id": ACCOUNT,
            "userId": "AROAREHEARSAL00000000:pulumi",
        }


class GetPartition(Lookup):
    """Which AWS."""

    token = "aws:index/getPartition:getPartition"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The commercial one."""
        return {
            "dnsSuffix": "amazonaws.com",
            "id": PARTITION,
            "partition": PARTITION,
            "reverseDnsPrefix": "com.amazonaws",
        }


class GetAvailabilityZones(Lookup):
    """The zones of a region."""

    token = "aws:index/getAvailabilityZones:getAvailabilityZones"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Plain zones; filters that ask for those only change nothing."""
        region = region_of(scope, args)
        excluded = texts(args, "excludeNames")
        letters = ZONES.get(region, "abc")
        names = [f"{region}{letter}" for letter in letters if f"{region}{letter}" not in excluded]
        short = _short(region)
        return {
            **args,
            "groupNames": [region],
            "id": region,
            "names": names,
            "region": region,
            "zoneIds": [f"{short}-az{1 + letters.index(name[-1])}" for name in names],
        }


class GetCluster(Lookup):
    """A cluster of the stack by name."""

    token = "aws:eks/getCluster:getCluster"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """What the cluster says; the provider's plural names for single blocks."""
        cluster = cluster_named(world, scope, text(args, "name"))
        if cluster is None:
            raise Refusal("reading EKS Cluster: no name given")
        outputs = cluster.outputs
        same = (
            "arn",
            "createdAt",
            "deletionProtection",
            "enabledClusterLogTypes",
            "endpoint",
            "identities",
            "name",
            "platformVersion",
            "region",
            "roleArn",
            "status",
            "tags",
            "version",
            "vpcConfig",
        )
        return {
            **{key: outputs.get(key) for key in same},
            "accessConfigs": [mapping(outputs, "accessConfig")],
            "certificateAuthorities": [mapping(outputs, "certificateAuthority")],
            "id": cluster.id,
        }


def _short(region: str) -> str:
    """How a zone id spells a region: `usw2` for us-west-2, `apse1` for ap-southeast-1."""
    area, *directions, number = region.split("-")
    initials = re.findall("north|south|east|west|central", "".join(directions))
    return area + "".join(word[0] for word in initials) + number


def _value(name: str) -> str:
    found = _AMAZON_LINUX.fullmatch(name) or _BOTTLEROCKET.fullmatch(name)
    if found is None or found["version"] not in VERSIONS:
        raise Refusal(
            f"ParameterNotFound: {name!r}; for an EKS AMI write /aws/service/eks/optimized-ami/"
            "<version>/amazon-linux-2023/<x86_64|arm64>/<standard|nvidia|neuron>/recommended/"
            f"<image_id|release_version>, with a version of {', '.join(VERSIONS)}"
        )
    match found["what"]:
        case "release_version":
            return f"{found['version']}.0-20261101"
        case "image_version":
            return "1.50.0-abcd1234"
        case _:
            return f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}"


LOOKUPS = (
    GetParameter(),
    GetCallerIdentity(),
    GetPartition(),
    GetAvailabilityZones(),
    GetCluster(),
)
