"""Keys, log groups, buckets, and the data sources that need no resource."""

from __future__ import annotations

import json

import pytest
from pulumi_rehearsal.standin.aws import KINDS, LOOKUPS, tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal
from pulumi_rehearsal.standin.schema import args_class, fields

PARAMETER = "aws:ssm/getParameter:getParameter"
ENCRYPTION = (
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
)
EKS_AMI = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/"


def test_every_token_is_one_of_the_installed_sdk():
    for kind in KINDS:
        assert args_class(kind.token) is not None, kind.token


def test_every_listed_path_is_one_of_the_installed_sdk():
    for kind in KINDS:
        known = fields(args_class(kind.token)).keys() | {"*"}
        for path in kind.replaced_on | kind.updated_on:
            assert path.partition(".")[0] in known, f"{kind.token} has no {path}"


def test_no_path_both_replaces_and_updates():
    for kind in KINDS:
        assert kind.replaced_on.isdisjoint(kind.updated_on), kind.token


def test_no_token_is_known_twice():
    known = [one.token for one in (*KINDS, *LOOKUPS)]
    assert len(known) == len(set(known))


def test_an_alias_is_named_under_alias(account):
    key = account.make(tokens.KMS_KEY, "secrets")
    alias = account.make(tokens.KMS_ALIAS, "secrets", targetKeyId=key.id)
    assert alias.id.startswith("alias/secrets-")
    assert alias.outputs["targetKeyArn"] == key.outputs["arn"]


def test_an_alias_of_aws_is_invalid(account):
    with pytest.raises(Invalid, match="not beginning with 'alias/aws/'"):
        account.make(tokens.KMS_ALIAS, "a", name="alias/aws/ebs", targetKeyId="x")


def test_an_alias_of_a_key_that_does_not_exist_is_refused(account):
    with pytest.raises(Refusal, match="NotFoundException"):
        account.make(tokens.KMS_ALIAS, "a", targetKeyId="00000000-0000")


def test_a_retention_that_cloudwatch_does_not_have_is_invalid(account):
    with pytest.raises(Invalid, match="10 is none of"):
        account.make(tokens.LOG_GROUP, "logs", retentionInDays=10)


def test_the_log_group_of_a_cluster_that_logs_already_is_refused(fleet):
    fleet.make_cluster("logged", enabledClusterLogTypes=["audit"])
    with pytest.raises(Refusal, match="make the cluster depend on the log group"):
        fleet.make(tokens.LOG_GROUP, "logs", name="/aws/eks/logged/cluster")


def test_the_log_group_that_goes_before_its_cluster_is_warned_of(fleet):
    group = fleet.make(tokens.LOG_GROUP, "logs", name="/aws/eks/logged/cluster")
    fleet.make_cluster("logged", enabledClusterLogTypes=["audit"])
    fleet.delete(group)
    assert any("still logs" in detail for detail in fleet.warnings())


def test_a_bucket_name_in_capitals_is_invalid(account):
    with pytest.raises(Invalid, match="lower-case"):
        account.make(tokens.BUCKET, "b", bucket="State")


def test_a_setting_of_a_bucket_that_does_not_exist_is_refused(account):
    with pytest.raises(Refusal, match="NoSuchBucket"):
        account.make(ENCRYPTION, "e", bucket="nothing", rules=[])


def test_a_bucket_setting_is_made_once(account):
    bucket = account.make(tokens.BUCKET, "state")
    account.make(ENCRYPTION, "first", bucket=bucket.id, rules=[])
    with pytest.raises(Refusal, match="would undo each other"):
        account.make(ENCRYPTION, "second", bucket=bucket.id, rules=[])


def test_the_zones_are_those_of_the_region(account):
    zones = account.look("aws:index/getAvailabilityZones:getAvailabilityZones")
    assert zones["names"][:3] == ["us-west-2a", "us-west-2b", "us-west-2c"]
    assert zones["zoneIds"][0] == "usw2-az1"


def test_the_region_is_the_providers(account):
    assert account.look("aws:index/getRegion:getRegion")["region"] == "us-west-2"


def test_the_caller_is_of_the_made_up_account(account):
    identity = account.look("aws:index/getCallerIdentity:getCallerIdentity")
    assert identity["accountId"] == "111122223333"


def test_a_policy_document_is_rendered(account):
    statement = {
        "actions": ["sts:AssumeRole"],
        "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
        "conditions": [{"test": "StringEquals", "variable": "aws:Source", "values": ["x"]}],
    }
    found = account.look("aws:iam/getPolicyDocument:getPolicyDocument", statements=[statement])
    assert json.loads(found["json"])["Statement"] == [
        {
            "Effect": "Allow",
            "Action": ["sts:AssumeRole"],
            "Principal": {"Service": ["ec2.amazonaws.com"]},
            "Condition": {"StringEquals": {"aws:Source": ["x"]}},
        }
    ]
