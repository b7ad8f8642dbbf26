"""Who may become a role, and what the role may do: asked of the documents as IAM would."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bootstrap import policies
from bootstrap.plan import AwsPlan, RolePlan
from bootstrap.rights import RIGHTS
from tests.bootstrap.bootstraps import BUCKET, GONE, KEY_ARN, plan
from tests.bootstrap.iam import allows, several, too_wide

HERE = {"aws__RequestedRegion": "us-west-2"}
ROLE = "arn:aws:iam::111122223333:role"
GITHUB = "token.actions.githubusercontent.com"
BY_NAME = "repo:example-org/infrastructure"
BY_NUMBER = "repo:example-org@100001/infrastructure@200002"
PROJECT = "project_path:example-group/infrastructure:ref_type:branch:ref"
BOUNDARY = "arn:aws:iam::111122223333:policy/boundary"


def account(changes: dict[str, Any] | None = None) -> AwsPlan:
    found = plan(changes).aws
    assert found is not None
    return found


def documents(role: RolePlan) -> list[policies.Document]:
    return [role.state_policy(BUCKET, KEY_ARN), *role.cloud_policies().values()]


PREVIEW = account().preview
STAGING = account().deploy["staging"]
PROD = account().deploy["prod"]
ROLES = {"preview": PREVIEW, "staging": STAGING, "prod": PROD}
every_role = pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))


def may_become(role: RolePlan, issuer: str, subject: str, audience: str | None = None) -> bool:
    trust = role.trust({"github": "github-arn", "gitlab": "gitlab-arn"})
    return allows(
        [trust],
        "sts:AssumeRoleWithWebIdentity",
        "*",
        **{f"{issuer}__sub": subject, f"{issuer}__aud": audience or "sts.amazonaws.com"},
    )


@pytest.mark.parametrize("repository", [BY_NAME, BY_NUMBER])
def test_both_forms_of_githubs_subject_are_trusted(repository: str) -> None:
    assert may_become(PREVIEW, GITHUB, f"{repository}:pull_request")
    assert may_become(STAGING, GITHUB, f"{repository}:environment:staging")


@pytest.mark.parametrize("repository", [BY_NAME, BY_NUMBER])
def test_the_check_for_drift_previews_from_its_branch(repository: str) -> None:
    assert may_become(PREVIEW, GITHUB, f"{repository}:ref:refs/heads/main")
    other = account({"github.branch": "trunk"}).preview
    assert may_become(other, GITHUB, f"{repository}:ref:refs/heads/trunk")
    assert not may_become(other, GITHUB, f"{repository}:ref:refs/heads/main")


def test_without_the_numbers_only_the_names_are_trusted() -> None:
    role = account({"github.owner_id": GONE, "github.repository_id": GONE}).preview
    assert may_become(role, GITHUB, f"{BY_NAME}:pull_request")
    assert not may_become(role, GITHUB, f"{BY_NUMBER}:pull_request")


@pytest.mark.parametrize(
    "subject",
    [
        f"{BY_NAME}:ref:refs/heads/other",
        f"{BY_NAME}:ref:refs/tags/main",
        f"{BY_NAME}:environment:staging",
        f"{BY_NAME}:pull_request:more",
        "repo:example-org/other:pull_request",
        "repo:example-org-2/infrastructure:pull_request",
        "repo:example-org@1/infrastructure@200002:pull_request",
    ],
)
def test_no_other_workflow_may_preview(subject: str) -> None:
    assert not may_become(PREVIEW, GITHUB, subject)


@pytest.mark.parametrize("subject", ["pull_request", "ref:refs/heads/main", "environment:prod"])
def test_only_its_own_environment_deploys(subject: str) -> None:
    assert not may_become(STAGING, GITHUB, f"{BY_NAME}:{subject}")


@every_role
def test_a_token_for_somebody_else_is_refused(role: RolePlan) -> None:
    own = next(one for _, claim in role.claims.values() for one in claim.values)
    assert may_become(role, GITHUB, own)
    assert not may_become(role, GITHUB, own, "https://cloud.oracle.com")


def test_gitlab_deploys_from_the_branch_and_previews_from_any() -> None:
    assert may_become(PREVIEW, "gitlab.com", f"{PROJECT}:a-feature")
    assert may_become(STAGING, "gitlab.com", f"{PROJECT}:main")
    assert not may_become(STAGING, "gitlab.com", f"{PROJECT}:a-feature")
    assert not may_become(PROD, "gitlab.com", f"{PROJECT}:main")
    other = "project_path:example-group/other:ref_type:branch:ref:main"
    assert not may_become(PREVIEW, "gitlab.com", other)


def test_a_gitlab_of_your_own_is_its_own_issuer() -> None:
    role = account({"gitlab.url": "https://gitlab.example.com"}).preview
    assert may_become(role, "gitlab.example.com", f"{PROJECT}:a-feature")
    assert not may_become(role, "gitlab.com", f"{PROJECT}:a-feature")


def test_the_subject_of_one_issuer_is_nothing_to_the_other() -> None:
    assert not may_become(PREVIEW, "gitlab.com", f"{BY_NAME}:pull_request")
    assert not may_become(PREVIEW, GITHUB, f"{PROJECT}:main")


@every_role
def test_no_statement_is_too_wide(role: RolePlan) -> None:
    for document in documents(role):
        assert too_wide(document) == []


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ({"Action": "*", "Resource": "*"}, "a wildcard action"),
        ({"Action": ["ec2:*"], "Resource": "*"}, "a wildcard action"),
        ({"Action": "ec2:CreateVpc", "Resource": "*"}, "under no condition"),
        ({"Action": "s3:PutObject", "Resource": ["*"]}, "on everything"),
        ({"Action": "iam:CreateRole", "Resource": f"{ROLE}/*"}, "on any role"),
        ({"Action": "iam:PassRole", "Resource": f"{ROLE}/ci-*"}, "to any service"),
    ],
)
def test_a_planted_statement_that_is_too_wide_is_found(planted: dict[str, Any], words: str) -> None:
    document = policies.network_writing(STAGING.scope)
    document["Statement"].append({"Effect": "Allow", **planted})
    assert any(words in one for one in too_wide(document))


@every_role
def test_a_role_has_room_for_its_policies(role: RolePlan) -> None:
    text = "".join(json.dumps(one) for one in documents(role))
    assert len("".join(text.split())) <= policies.INLINE_LIMIT


def test_as_many_clusters_of_the_longest_name_as_the_spec_takes_still_fit() -> None:
    environments = {
        f"e{one}": {"clusters": [f"{'c' * 32}-{one}x{two}" for two in range(4)], "branch": "main"}
        for one in range(5)
    }
    regions = ["us-west-2", "us-east-1", "eu-central-1", "ap-southeast-2"]
    changes = {"environments": environments, "aws.cluster_regions": regions, "oci": GONE}
    found = account(changes)
    bucket, key = f"arn:aws:s3:::{'b' * 63}", f"{KEY_ARN}{'0' * 35}"
    for role in (found.preview, *found.deploy.values()):
        several_texts = [role.state_policy(bucket, key), *role.cloud_policies().values()]
        text = "".join(json.dumps(one) for one in several_texts)
        assert len("".join(text.split())) <= policies.INLINE_LIMIT


def test_a_preview_writes_nothing_anywhere() -> None:
    actions = {
        action
        for document in documents(PREVIEW)
        for statement in document["Statement"]
        for action in several(statement["Action"])
    }
    verbs = {action.partition(":")[2] for action in actions}
    assert {one for one in verbs if not one.startswith(("Describe", "Get", "List"))} == {"Decrypt"}


def may(role: RolePlan, action: str, resource: str, **context: Any) -> bool:
    return allows(documents(role), action, resource, **context)


def test_the_state_of_every_stack_is_read_by_a_preview_but_not_the_bootstraps() -> None:
    state = f"{BUCKET}/.pulumi/stacks"
    for stack in ("staging", "prod"):
        assert may(PREVIEW, "s3:GetObject", f"{state}/gpu-runners/{stack}.json")
    assert may(PREVIEW, "s3:GetObject", f"{BUCKET}/.pulumi/meta.yaml")
    assert not may(PREVIEW, "s3:GetObject", f"{state}/gpu-runners-bootstrap/ci.json")
    assert not may(STAGING, "s3:GetObject", f"{state}/gpu-runners-bootstrap/ci.json")


@pytest.mark.parametrize(
    "key",
    [
        "stacks/gpu-runners/staging.json",
        "stacks/gpu-runners/staging.json.bak",
        "stacks/gpu-runners/staging.json.gz.bak",
        "stacks/gpu-runners/staging.pulumi-tags",
        "history/gpu-runners/staging/staging-1.history.json",
        "backups/gpu-runners/staging/staging.1.json",
        "locks/organization/gpu-runners/staging/1.json",
    ],
)
def test_a_deploy_writes_the_state_of_its_own_stack_only(key: str) -> None:
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
        assert may(STAGING, action, f"{BUCKET}/.pulumi/{key}")
        assert not may(PROD, action, f"{BUCKET}/.pulumi/{key}")
    assert not may(PREVIEW, "s3:PutObject", f"{BUCKET}/.pulumi/{key}")


def test_a_stack_whose_name_goes_on_after_a_dot_is_another() -> None:
    assert not may(STAGING, "s3:PutObject", f"{BUCKET}/.pulumi/stacks/gpu-runners/staging.eu.json")
    assert not may(STAGING, "s3:PutObject", f"{BUCKET}/.pulumi/history/gpu-runners/staging.eu/1")


def test_the_key_opens_secrets_and_encrypts_state() -> None:
    assert may(PREVIEW, "kms:Decrypt", KEY_ARN)
    assert not may(PREVIEW, "kms:GenerateDataKey", KEY_ARN)
    assert may(STAGING, "kms:GenerateDataKey", KEY_ARN)
    assert not may(STAGING, "kms:ScheduleKeyDeletion", KEY_ARN)
    assert not may(STAGING, "kms:Decrypt", "arn:aws:kms:us-west-2:111122223333:key/other")


def test_a_deploy_touches_its_own_clusters_only() -> None:
    eks = "arn:aws:eks:us-west-2:111122223333"
    for own in ("cluster/ci-staging", "nodegroup/ci-staging/t4/1", "addon/ci-staging/coredns/1"):
        assert may(STAGING, "eks:TagResource", f"{eks}:{own}", **HERE)
    for action in ("eks:DeleteCluster", "eks:UpdateClusterVersion"):
        assert may(STAGING, action, f"{eks}:cluster/ci-staging", **HERE)
        assert not may(STAGING, action, f"{eks}:cluster/ci-usw2", **HERE)
        assert not may(STAGING, action, f"{eks}:cluster/ci-staging-2", **HERE)
        assert not may(STAGING, action, f"{eks}:cluster/ci-staging")


def test_a_cluster_is_made_only_with_its_own_tag() -> None:
    tag = "aws__RequestTag___gpu-runners___cluster"
    assert may(STAGING, "eks:CreateCluster", "*", **HERE, **{tag: "ci-staging"})
    assert not may(STAGING, "eks:CreateCluster", "*", **HERE, **{tag: "ci-usw2"})
    assert not may(STAGING, "eks:CreateCluster", "*", **HERE)


def test_networks_are_made_anywhere_in_the_region_and_changed_by_their_tag() -> None:
    tag = "aws__ResourceTag___gpu-runners___cluster"
    assert may(STAGING, "ec2:CreateVpc", "*", **HERE)
    assert not may(STAGING, "ec2:CreateVpc", "*", aws__RequestedRegion="eu-west-1")
    assert may(STAGING, "ec2:DeleteVpc", "*", **HERE, **{tag: "ci-staging"})
    assert not may(STAGING, "ec2:DeleteVpc", "*", **HERE, **{tag: "ci-usw2"})
    assert not may(STAGING, "ec2:DeleteVpc", "*", **HERE)
    assert not may(STAGING, "ec2:TerminateInstances", "*", **HERE, **{tag: "ci-staging"})


def test_a_security_group_is_opened_by_its_tag_only() -> None:
    tag = "aws__ResourceTag___gpu-runners___cluster"
    for action in ("ec2:AuthorizeSecurityGroupIngress", "ec2:AuthorizeSecurityGroupEgress"):
        assert may(STAGING, action, "*", **HERE, **{tag: "ci-staging"})
        assert not may(STAGING, action, "*", **HERE)


def test_tags_are_set_at_birth_or_on_what_is_ones_own() -> None:
    tag = "aws__ResourceTag___gpu-runners___cluster"
    assert may(STAGING, "ec2:CreateTags", "*", **HERE, ec2__CreateAction="CreateSubnet")
    assert may(STAGING, "ec2:CreateTags", "*", **HERE, **{tag: "ci-staging"})
    assert not may(STAGING, "ec2:CreateTags", "*", **HERE), "else a tag opens anything"


def test_roles_are_the_clusters_own_and_go_to_eks() -> None:
    node = f"{ROLE}/ci-staging-eks-node-1a2b3c4"
    passed = {"iam__PassedToService": "eks.amazonaws.com"}
    assert may(STAGING, "iam:CreateRole", node)
    assert may(STAGING, "iam:PassRole", node, **passed)
    assert not may(STAGING, "iam:PassRole", node, iam__PassedToService="lambda.amazonaws.com")
    for other in ("admin", "ci-usw2-eks-node-1a2b3c4", "gpu-runners-deploy-staging-1a2b3c4"):
        assert not may(STAGING, "iam:UpdateAssumeRolePolicy", f"{ROLE}/{other}")
        assert not may(STAGING, "iam:PassRole", f"{ROLE}/{other}", **passed)


def test_only_the_policies_of_the_program_are_attached() -> None:
    node = f"{ROLE}/ci-staging-eks-node-1a2b3c4"
    worker = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    admin = "arn:aws:iam::aws:policy/AdministratorAccess"
    assert may(STAGING, "iam:AttachRolePolicy", node, iam__PolicyARN=worker)
    assert not may(STAGING, "iam:AttachRolePolicy", node, iam__PolicyARN=admin)
    assert not may(STAGING, "iam:PutRolePolicy", node)
    assert may(STAGING, "iam:PutRolePolicy", f"{ROLE}/ci-staging-autoscaler-role-1a2b3c4")


def test_an_environment_without_eks_clusters_deploys_state_only() -> None:
    changes = {
        "environments.prod.clusters": GONE,
        "aws.permissions_boundary": BOUNDARY,
    }
    role = account(changes).deploy["prod"]
    assert set(role.cloud_policies()) == {"list"}
    assert not may(role, "ec2:CreateVpc", "*", **HERE)
    assert role.permissions_boundary == BOUNDARY


def test_every_action_of_the_table_is_written_in_full() -> None:
    for token, rights in RIGHTS.items():
        for action in (*rights.read, *rights.make, *rights.change):
            service, _, name = action.partition(":")
            assert service in ("autoscaling", "ec2", "eks", "iam", "logs"), token
            assert name.isalpha(), action
        assert all(
            one.partition(":")[2].startswith(("Describe", "Get", "List")) for one in rights.read
        ), token


def test_the_bucket_answers_over_tls_only() -> None:
    (statement,) = policies.tls_only(BUCKET)["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Resource"] == [BUCKET, f"{BUCKET}/*"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
