"""IAM: documents, names, attachments, and the order of deletion."""

from __future__ import annotations

import json

import pytest
from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal

ALLOW = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
    }
)
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": "ec2.amazonaws.com"},
            }
        ],
    }
)


def test_a_role_is_named_by_the_provider(account):
    role = account.make(tokens.ROLE, "node", assumeRolePolicy=TRUST)
    assert role.id.startswith("node-")
    assert len(role.id) == len("node-") + 7
    assert role.outputs["arn"] == f"arn:aws:iam::111122223333:role/{role.id}"


def test_a_role_keeps_its_automatic_name_when_it_changes(account):
    role = account.make(tokens.ROLE, "node", assumeRolePolicy=TRUST)
    assert account.change(role, description="x").inputs["name"] == role.inputs["name"]


def test_a_name_prefix_leaves_the_name_to_the_cloud(account):
    role = account.make(tokens.ROLE, "node", namePrefix="ci-", assumeRolePolicy=TRUST)
    assert "name" not in role.inputs
    assert role.outputs["name"].startswith("ci-")
    assert len(role.outputs["name"]) == len("ci-") + 26


def test_an_automatic_role_name_over_64_characters_is_invalid(account):
    with pytest.raises(Invalid, match="the limit is 64"):
        account.make(tokens.ROLE, "r" * 57, assumeRolePolicy=TRUST)


def test_a_role_name_with_a_slash_is_invalid(account):
    with pytest.raises(Invalid, match="must consist of"):
        account.make(tokens.ROLE, "r", name="ci/node", assumeRolePolicy=TRUST)


def test_a_trust_policy_that_is_no_json_is_invalid(account):
    with pytest.raises(Invalid, match="is not JSON"):
        account.make(tokens.ROLE, "r", assumeRolePolicy="{")


def test_a_trust_policy_without_a_principal_is_invalid(account):
    with pytest.raises(Invalid, match="has no Principal"):
        account.make(tokens.ROLE, "r", assumeRolePolicy=ALLOW)


def test_a_policy_without_a_resource_is_invalid(account):
    document = json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*"}]}
    )
    with pytest.raises(Invalid, match="neither Resource nor NotResource"):
        account.make(tokens.ROLE_POLICY, "p", role="node", policy=document)


def test_a_policy_of_an_old_version_is_invalid(account):
    with pytest.raises(Invalid, match="2012-10-17"):
        account.make(
            tokens.ROLE_POLICY, "p", role="node", policy=ALLOW.replace("2012-10-17", "2008-10-17")
        )


def test_a_policy_over_its_limit_is_invalid(account):
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "x" * 10_300}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    with pytest.raises(Invalid, match="more than 10240 characters"):
        account.make(tokens.ROLE_POLICY, "p", role="node", policy=document)


def test_a_role_name_is_taken_once(account):
    account.make(tokens.ROLE, "first", name="node", assumeRolePolicy=TRUST)
    with pytest.raises(Refusal, match="EntityAlreadyExists"):
        account.make(tokens.ROLE, "second", name="node", assumeRolePolicy=TRUST)


def test_a_policy_for_a_role_that_does_not_exist_is_refused(account):
    with pytest.raises(Refusal, match="NoSuchEntity"):
        account.make(tokens.ROLE_POLICY, "p", role="nobody", policy=ALLOW)


def test_an_arn_in_place_of_a_role_name_is_explained(account):
    with pytest.raises(Refusal, match="this is an ARN"):
        account.make(
            tokens.ROLE_POLICY, "p", role="arn:aws:iam::111122223333:role/node", policy=ALLOW
        )


def test_a_policy_that_aws_may_not_have_is_a_warning(account):
    role = account.make(tokens.ROLE, "node", assumeRolePolicy=TRUST)
    account.attach(role, "AmazonEKSWorkerPolicy")
    (warning,) = account.warnings()
    assert warning.startswith("cannot check that AWS has a policy ")
    assert warning.endswith("/AmazonEKSWorkerPolicy")


def test_a_policy_of_the_account_must_exist_to_be_attached(account):
    role = account.make(tokens.ROLE, "node", assumeRolePolicy=TRUST)
    with pytest.raises(Refusal, match="does not exist"):
        account.make(
            tokens.ROLE_POLICY_ATTACHMENT,
            "b",
            role=role.id,
            policyArn="arn:aws:iam::111122223333:policy/other",
        )


def test_one_attachment_is_made_once(account):
    role = account.role("node", "ec2.amazonaws.com", "AmazonEKS_CNI_Policy")
    with pytest.raises(Refusal, match="attached to role"):
        account.make(
            tokens.ROLE_POLICY_ATTACHMENT,
            "again",
            role=role.id,
            policyArn="arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
        )


def test_a_role_with_attachments_is_not_deleted(account):
    role = account.make(tokens.ROLE, "node", assumeRolePolicy=TRUST)
    attachment = account.attach(role, "AmazonEKS_CNI_Policy")
    with pytest.raises(Refusal, match="DeleteConflict"):
        account.delete(role)
    account.delete(attachment)
    account.delete(role)


def test_an_issuer_has_one_oidc_provider(account):
    issuer = {"url": "https://oidc.eks.us-west-2.amazonaws.com/id/1", "clientIdLists": ["sts"]}
    account.make(tokens.OIDC_PROVIDER, "first", **issuer)
    with pytest.raises(Refusal, match="EntityAlreadyExists"):
        account.make(tokens.OIDC_PROVIDER, "second", **issuer)
