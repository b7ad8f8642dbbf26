"""Buckets: their settings, their policy, and what a trust in a shared issuer must say."""

from __future__ import annotations

import json

import pytest
from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal

OWNERSHIP = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
POLICY = "aws:s3/bucketPolicy:BucketPolicy"
ENCRYPTION = (
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
)
GITHUB = "token.actions.githubusercontent.com"


def document(**statement):
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@pytest.fixture
def bucket(account):
    return account.make(tokens.BUCKET, "state", bucket="state")


def about(resource: str, effect: str = "Deny"):
    return document(Effect=effect, Principal="*", Action="s3:*", Resource=resource)


def test_an_owner_that_s3_does_not_have_is_invalid(account, bucket):
    with pytest.raises(Invalid, match="BucketOwnerEnforced"):
        account.make(OWNERSHIP, "o", bucket=bucket.id, rule={"objectOwnership": "Everybody"})


def test_versions_are_suspended_but_never_disabled_again(account, bucket):
    made = account.make(
        VERSIONING, "v", bucket=bucket.id, versioningConfiguration={"status": "Enabled"}
    )
    account.change(made, versioningConfiguration={"status": "Suspended"})
    with pytest.raises(Refusal, match="write Suspended"):
        account.change(made, versioningConfiguration={"status": "Disabled"})
    with pytest.raises(Invalid, match="is none of"):
        account.change(made, versioningConfiguration={"status": "On"})


def test_a_bucket_policy_is_about_its_bucket(account, bucket):
    account.make(POLICY, "p", bucket=bucket.id, policy=about("arn:aws:s3:::state/*"))
    other = account.make(tokens.BUCKET, "other", bucket="other")
    with pytest.raises(Refusal, match="is not in bucket other"):
        account.make(POLICY, "q", bucket=other.id, policy=about("arn:aws:s3:::state"))


def test_a_bucket_policy_names_a_principal(account, bucket):
    policy = document(Effect="Deny", Action="s3:*", Resource="arn:aws:s3:::state")
    with pytest.raises(Invalid, match="has no Principal"):
        account.make(POLICY, "p", bucket=bucket.id, policy=policy)
    with pytest.raises(Invalid, match="is not JSON"):
        account.make(POLICY, "p", bucket=bucket.id, policy="{")


def test_a_public_policy_is_refused_where_it_is_blocked(account, bucket):
    account.make(tokens.BUCKET_PUBLIC_ACCESS_BLOCK, "b", bucket=bucket.id, blockPublicPolicy=True)
    account.make(POLICY, "closed", bucket=bucket.id, policy=about("arn:aws:s3:::state"))
    other = account.make(tokens.BUCKET, "other", bucket="other")
    account.make(tokens.BUCKET_PUBLIC_ACCESS_BLOCK, "c", bucket=other.id, blockPublicPolicy=True)
    with pytest.raises(Refusal, match="blocks public policies"):
        account.make(
            POLICY, "open", bucket=other.id, policy=about("arn:aws:s3:::other", effect="Allow")
        )


def test_a_bucket_is_encrypted_with_a_key_that_exists(account, bucket):
    key = account.make(tokens.KMS_KEY, "key")

    def rule(algorithm: str, arn: str):
        default = {"sseAlgorithm": algorithm, "kmsMasterKeyId": arn}
        return [{"applyServerSideEncryptionByDefault": default}]

    with pytest.raises(Invalid, match="write aws:kms"):
        account.make(ENCRYPTION, "e", bucket=bucket.id, rules=rule("AES256", key.outputs["arn"]))
    with pytest.raises(Refusal, match="does not exist"):
        account.make(ENCRYPTION, "e", bucket=bucket.id, rules=rule("aws:kms", "arn:aws:kms:x"))
    account.make(ENCRYPTION, "e", bucket=bucket.id, rules=rule("aws:kms", key.outputs["arn"]))


def trust(host: str, **conditions):
    return document(
        Effect="Allow",
        Principal={"Federated": f"arn:aws:iam::111122223333:oidc-provider/{host}"},
        Action="sts:AssumeRoleWithWebIdentity",
        Condition=conditions,
    )


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"StringEquals": {f"{GITHUB}:aud": "sts.amazonaws.com"}},
        {"StringLike": {f"{GITHUB}:sub": "*"}},
        {"StringLike": {f"{GITHUB}:sub": ["repo:a/b:*", "*"]}},
    ],
)
def test_a_shared_issuer_is_trusted_only_with_a_subject(account, conditions):
    with pytest.raises(Invalid, match="add a Condition on"):
        account.make(tokens.ROLE, "r", assumeRolePolicy=trust(GITHUB, **conditions))


def test_an_issuer_of_ones_own_may_be_trusted_whole(account):
    account.make(tokens.ROLE, "own", assumeRolePolicy=trust("oidc.eks.us-west-2.amazonaws.com/x"))
    named = {"StringLike": {f"{GITHUB}:sub": "repo:a/b:*"}}
    account.make(tokens.ROLE, "named", assumeRolePolicy=trust(GITHUB, **named))


def test_the_policies_inside_a_role_have_one_limit_together(account):
    role = account.role("ci", "ec2.amazonaws.com")
    half = document(Effect="Allow", Action="s3:GetObject", Resource="x" * 5_200)
    first = account.make(tokens.ROLE_POLICY, "one", role=role.id, policy=half)
    with pytest.raises(Refusal, match="over the limit of"):
        account.make(tokens.ROLE_POLICY, "two", role=role.id, policy=half)
    account.change(first, policy=half.replace("x" * 5_200, "y" * 5_200))
