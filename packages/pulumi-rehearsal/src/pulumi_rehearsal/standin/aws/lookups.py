"""AWS data sources that need no resource: account, region, partition, zones, policy documents."""

from __future__ import annotations

import json
import re
from typing import Final

from pulumi_rehearsal.standin.aws.base import ACCOUNT, PARTITION, arn, region_of
from pulumi_rehearsal.standin.kind import Lookup, Properties
from pulumi_rehearsal.standin.properties import objects, texts
from pulumi_rehearsal.standin.world import World

ZONES: Final = {"us-east-1": "abcdef", "us-west-1": "ab", "us-west-2": "abcd"}
"""Letters of the zones of regions whose zones are not a, b and c."""


class GetCallerIdentity(Lookup):
    """The account and principal of the provider."""

    token = "aws:index/getCallerIdentity:getCallerIdentity"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Return a made-up role."""
        session = arn("sts", "", "assumed-role/rehearsal/pulumi")
        return {
            "accountId": ACCOUNT,
            "arn": session,
            "id": ACCOUNT,
            "userId": "AROAREHEARSAL00000000:pulumi",
        }


class GetRegion(Lookup):
    """The region of the provider."""

    token = "aws:index/getRegion:getRegion"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        region = region_of(scope, args)
        return {
            "description": region,
            "endpoint": f"ec2.{region}.amazonaws.com",
            "id": region,
            "name": region,
            "region": region,
        }


class GetPartition(Lookup):
    """The AWS partition."""

    token = "aws:index/getPartition:getPartition"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Return the partition of AWS' commercial regions."""
        return {
            "dnsSuffix": "amazonaws.com",
            "id": PARTITION,
            "partition": PARTITION,
            "reverseDnsPrefix": "com.amazonaws",
        }


class GetAvailabilityZones(Lookup):
    """The availability zones of a region."""

    token = "aws:index/getAvailabilityZones:getAvailabilityZones"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Return the standard zones; filters are ignored."""
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


class GetPolicyDocument(Lookup):
    """The JSON of an IAM policy document.

    Source: hashicorp/terraform-provider-aws internal/service/iam/policy_document_data_source.go
    """

    token = "aws:iam/getPolicyDocument:getPolicyDocument"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Render the statements; source and override documents are ignored."""
        document = {
            "Version": args.get("version") or "2012-10-17",
            "Statement": [_statement(one) for one in objects(args, "statements")],
        }
        text = json.dumps(document, indent=2)
        return {**args, "id": "policy-document", "json": text, "minifiedJson": json.dumps(document)}


def _statement(given: Properties) -> Properties:
    lists = {
        name: texts(given, key)
        for name, key in (
            ("Action", "actions"),
            ("NotAction", "notActions"),
            ("Resource", "resources"),
            ("NotResource", "notResources"),
        )
    }
    principals = {
        name: {one["type"]: texts(one, "identifiers") for one in objects(given, key)}
        for name, key in (("Principal", "principals"), ("NotPrincipal", "notPrincipals"))
    }
    conditions: dict[str, Properties] = {}
    for one in objects(given, "conditions"):
        conditions.setdefault(one["test"], {})[one["variable"]] = texts(one, "values")
    found: Properties = {**lists, **principals, "Condition": conditions, "Sid": given.get("sid")}
    return {"Effect": given.get("effect") or "Allow", **{k: v for k, v in found.items() if v}}


def _short(region: str) -> str:
    """Return a region as zone ids have it: `usw2` for us-west-2, `apse1` for ap-southeast-1."""
    area, *directions, number = region.split("-")
    names = re.findall("north|south|east|west|central", "".join(directions))
    return area + "".join(name[0] for name in names) + number


LOOKUPS = (
    GetCallerIdentity(),
    GetRegion(),
    GetPartition(),
    GetAvailabilityZones(),
    GetPolicyDocument(),
)
