"""Trust policies and role policies, evaluated as IAM would evaluate them."""

import json
from typing import Any

import pytest

from bootstrap import iam_policies
from bootstrap.iam_actions import ACTIONS
from bootstrap.plan import AwsPlan, RolePlan
from tests.bootstrap.bootstrap_samples import BUCKET, KEY_ARN, REMOVED, plan
from tests.bootstrap.iam_evaluation import allows, as_list, too_wide

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


def documents(role: RolePlan) -> list[iam_policies.Document]:
    return [role.state_policy(BUCKET, KEY_ARN), *role.cloud_policies().values()]


PREVIEW = account().preview
STAGING = account().deploy["staging"]
PROD = account().deploy["prod"]
ROLES = {"preview": PREVIEW, "staging": STAGING, "prod": PROD}
every_role = pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))


def may_assume(role: RolePlan, issuer: str, subject: str, audience: str | None = None) -> bool:
    trust = role.trust({"github": "github-arn", "gitlab": "gitlab-arn"})
    return allows(
        [trust],
        "sts:AssumeRoleWithWebIdentity",
        "*",
        **{f"{issuer}__sub": subject, f"{issuer}__aud": audience or "sts.amazonaws.com"},
    )


@pytest.mark.parametrize("repository", [BY_NAME, BY_NUMBER])
def test_both_forms_of_githubs_subject_are_accepted(repository: str) -> None:
    assert may_assume(PREVIEW, GITHUB, f"{repository}:pull_request")
    assert may_assume(STAGING, GITHUB, f"{repository}:environment:staging")


@pytest.mark.parametrize("repository", [BY_NAME, BY_NUMBER])
def test_the_drift_check_previews_from_the_configured_branch(repository: str) -> None:
    assert may_assume(PREVIEW, GITHUB, f"{repository}:ref:refs/heads/main")
    other = account({"github.branch": "trunk"}).preview
    assert may_assume(other, GITHUB, f"{repository}:ref:refs/heads/trunk")
    assert not may_assume(other, GITHUB, f"{repository}:ref:refs/heads/main")


def test_without_ids_only_the_subject_with_names_is_accepted() -> None:
    role = account({"github.owner_id": REMOVED, "github.repository_id": REMOVED}).preview
    assert may_assume(role, GITHUB, f"{BY_NAME}:pull_request")
    assert not may_assume(role, GITHUB, f"{BY_NUMBER}:pull_request")


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
    assert not may_assume(PREVIEW, GITHUB, subject)


@pytest.mark.parametrize("subject", ["pull_request", "ref:refs/heads/main", "environment:prod"])
def test_a_deploy_role_accepts_only_jobs_of_its_environment(subject: str) -> None:
    assert not may_assume(STAGING, GITHUB, f"{BY_NAME}:{subject}")


@every_role
def test_a_token_for_another_audience_is_refused(role: RolePlan) -> None:
    subject = next(one for _, claim in role.claims.values() for one in claim.values)
    assert may_assume(role, GITHUB, subject)
    assert not may_assume(role, GITHUB, subject, "https://cloud.oracle.com")


def test_gitlab_deploys_from_one_branch_and_previews_from_any() -> None:
    assert may_assume(PREVIEW, "gitlab.com", f"{PROJECT}:a-feature")
    assert may_assume(STAGING, "gitlab.com", f"{PROJECT}:main")
    assert not may_assume(STAGING, "gitlab.com", f"{PROJECT}:a-feature")
    assert not may_assume(PROD, "gitlab.com", f"{PROJECT}:main")
    other = "project_path:example-group/other:ref_type:branch:ref:main"
    assert not may_assume(PREVIEW, "gitlab.com", other)


def test_a_self_managed_gitlab_is_the_issuer() -> None:
    role = account({"gitlab.url": "https://gitlab.example.com"}).preview
    assert may_assume(role, "gitlab.example.com", f"{PROJECT}:a-feature")
    assert not may_assume(role, "gitlab.com", f"{PROJECT}:a-feature")


def test_a_subject_of_one_issuer_is_refused_from_the_other() -> None:
    assert not may_assume(PREVIEW, "gitlab.com", f"{BY_NAME}:pull_request")
    assert not may_assume(PREVIEW, GITHUB, f"{PROJECT}:main")


@every_role
def test_no_statement_is_too_wide(role: RolePlan) -> None:
    for document in documents(role):
        assert too_wide(document) == []


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ({"Action": "*", "Resource": "*"}, "a wildcard action"),
        ({"Action": ["ec2:*"], "Resource": "*"}, "a wildcard action"),
        ({"Action": "ec2:CreateVpc", "Resource": "*"}, "without condition"),
        ({"Action": "s3:PutObject", "Resource": ["*"]}, "on every resource"),
        ({"Action": "iam:CreateRole", "Resource": f"{ROLE}/*"}, "on any role"),
        ({"Action": "iam:PassRole", "Resource": f"{ROLE}/ci-*"}, "to any service"),
    ],
)
def test_a_statement_that_is_too_wide_is_found(statement: dict[str, Any], reason: str) -> None:
    document = iam_policies.network_writing(STAGING.scope)
    document["Statement"].append({"Effect": "Allow", **statement})
    assert any(reason in one for one in too_wide(document))


@every_role
def test_the_policies_of_a_role_are_below_the_limit(role: RolePlan) -> None:
    text = "".join(json.dumps(one) for one in documents(role))
    assert len("".join(text.split())) <= iam_policies.INLINE_LIMIT


def test_the_maximum_of_clusters_with_the_longest_names_is_below_the_limit() -> None:
    environments = {
        f"e{one}": {"clusters": [f"{'c' * 32}-{one}x{two}" for two in range(4)], "branch": "main"}
        for one in range(5)
    }
    regions = ["us-west-2", "us-east-1", "eu-central-1", "ap-southeast-2"]
    changes = {"environments": environments, "aws.cluster_regions": regions, "oci": REMOVED}
    found = account(changes)
    bucket, key = f"arn:aws:s3:::{'b' * 63}", f"{KEY_ARN}{'0' * 35}"
    for role in (found.preview, *found.deploy.values()):
        sent = [role.state_policy(bucket, key), *role.cloud_policies().values()]
        text = "".join(json.dumps(one) for one in sent)
        assert len("".join(text.split())) <= iam_policies.INLINE_LIMIT


def test_a_preview_writes_nothing() -> None:
    actions = {
        action
        for document in documents(PREVIEW)
        for statement in document["Statement"]
        for action in as_list(statement["Action"])
    }
    verbs = {action.partition(":")[2] for action in actions}
    assert {one for one in verbs if not one.startswith(("Describe", "Get", "List"))} == {"Decrypt"}


def may(role: RolePlan, action: str, resource: str, **context: Any) -> bool:
    return allows(documents(role), action, resource, **context)


def test_a_preview_reads_the_state_of_every_stack_except_the_bootstrap() -> None:
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
def test_a_deploy_role_writes_the_state_of_its_own_stack_only(key: str) -> None:
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
        assert may(STAGING, action, f"{BUCKET}/.pulumi/{key}")
        assert not may(PROD, action, f"{BUCKET}/.pulumi/{key}")
    assert not may(PREVIEW, "s3:PutObject", f"{BUCKET}/.pulumi/{key}")


def test_a_stack_name_with_a_dot_is_another_stack() -> None:
    assert not may(STAGING, "s3:PutObject", f"{BUCKET}/.pulumi/stacks/gpu-runners/staging.eu.json")
    assert not may(STAGING, "s3:PutObject", f"{BUCKET}/.pulumi/history/gpu-runners/staging.eu/1")


def test_preview_decrypts_and_deploy_also_encrypts() -> None:
    assert may(PREVIEW, "kms:Decrypt", KEY_ARN)
    assert not may(PREVIEW, "kms:GenerateDataKey", KEY_ARN)
    assert may(STAGING, "kms:GenerateDataKey", KEY_ARN)
    assert not may(STAGING, "kms:ScheduleKeyDeletion", KEY_ARN)
    assert not may(STAGING, "kms:Decrypt", "arn:aws:kms:us-west-2:111122223333:key/other")


def test_a_deploy_role_changes_its_own_clusters_only() -> None:
    eks = "arn:aws:eks:us-west-2:111122223333"
    for own in ("cluster/ci-staging", "nodegroup/ci-staging/t4/1", "addon/ci-staging/coredns/1"):
        assert may(STAGING, "eks:TagResource", f"{eks}:{own}", **HERE)
    for action in ("eks:DeleteCluster", "eks:UpdateClusterVersion"):
        assert may(STAGING, action, f"{eks}:cluster/ci-staging", **HERE)
        assert not may(STAGING, action, f"{eks}:cluster/ci-usw2", **HERE)
        assert not may(STAGING, action, f"{eks}:cluster/ci-staging-2", **HERE)
        assert not may(STAGING, action, f"{eks}:cluster/ci-staging")


def test_a_cluster_is_created_only_with_its_own_tag() -> None:
    tag = "aws__RequestTag___gpu-runners___cluster"
    assert may(STAGING, "eks:CreateCluster", "*", **HERE, **{tag: "ci-staging"})
    assert not may(STAGING, "eks:CreateCluster", "*", **HERE, **{tag: "ci-usw2"})
    assert not may(STAGING, "eks:CreateCluster", "*", **HERE)


def test_networks_are_created_in_the_region_and_changed_only_with_the_tag() -> None:
    tag = "aws__ResourceTag___gpu-runners___cluster"
    assert may(STAGING, "ec2:CreateVpc", "*", **HERE)
    assert not may(STAGING, "ec2:CreateVpc", "*", aws__RequestedRegion="eu-west-1")
    assert may(STAGING, "ec2:DeleteVpc", "*", **HERE, **{tag: "ci-staging"})
    assert not may(STAGING, "ec2:DeleteVpc", "*", **HERE, **{tag: "ci-usw2"})
    assert not may(STAGING, "ec2:DeleteVpc", "*", **HERE)
    assert not may(STAGING, "ec2:TerminateInstances", "*", **HERE, **{tag: "ci-staging"})


def test_rules_are_added_only_to_security_groups_with_the_tag() -> None:
    tag = "aws__ResourceTag___gpu-runners___cluster"
    for action in ("ec2:AuthorizeSecurityGroupIngress", "ec2:AuthorizeSecurityGroupEgress"):
        assert may(STAGING, action, "*", **HERE, **{tag: "ci-staging"})
        assert not may(STAGING, action, "*", **HERE)


def test_tags_are_set_on_creation_or_on_resources_with_the_tag() -> None:
    tag = "aws__ResourceTag___gpu-runners___cluster"
    assert may(STAGING, "ec2:CreateTags", "*", **HERE, ec2__CreateAction="CreateSubnet")
    assert may(STAGING, "ec2:CreateTags", "*", **HERE, **{tag: "ci-staging"})
    assert not may(STAGING, "ec2:CreateTags", "*", **HERE), (
        "otherwise the role could tag any resource and then change it"
    )


def test_only_roles_of_the_clusters_are_changed_and_passed_to_eks() -> None:
    node = f"{ROLE}/ci-staging-eks-node-1a2b3c4"
    passed = {"iam__PassedToService": "eks.amazonaws.com"}
    assert may(STAGING, "iam:CreateRole", node)
    assert may(STAGING, "iam:PassRole", node, **passed)
    assert not may(STAGING, "iam:PassRole", node, iam__PassedToService="lambda.amazonaws.com")
    for other in ("admin", "ci-usw2-eks-node-1a2b3c4", "gpu-runners-deploy-staging-1a2b3c4"):
        assert not may(STAGING, "iam:UpdateAssumeRolePolicy", f"{ROLE}/{other}")
        assert not may(STAGING, "iam:PassRole", f"{ROLE}/{other}", **passed)


def test_only_the_policies_of_the_fleet_are_attached() -> None:
    node = f"{ROLE}/ci-staging-eks-node-1a2b3c4"
    worker = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    admin = "arn:aws:iam::aws:policy/AdministratorAccess"
    assert may(STAGING, "iam:AttachRolePolicy", node, iam__PolicyARN=worker)
    assert not may(STAGING, "iam:AttachRolePolicy", node, iam__PolicyARN=admin)
    assert not may(STAGING, "iam:PutRolePolicy", node)
    assert may(STAGING, "iam:PutRolePolicy", f"{ROLE}/ci-staging-autoscaler-role-1a2b3c4")


def test_a_deploy_role_without_eks_clusters_writes_only_state() -> None:
    changes = {"environments.prod.clusters": REMOVED, "aws.permissions_boundary": BOUNDARY}
    role = account(changes).deploy["prod"]
    assert set(role.cloud_policies()) == {"list"}
    assert not may(role, "ec2:CreateVpc", "*", **HERE)
    assert role.permissions_boundary == BOUNDARY


def test_no_action_of_the_table_has_a_wildcard() -> None:
    for token, actions in ACTIONS.items():
        for action in (*actions.read, *actions.make, *actions.change):
            service, _, name = action.partition(":")
            assert service in ("autoscaling", "ec2", "eks", "iam", "logs"), token
            assert name.isalpha(), action
        assert all(
            one.partition(":")[2].startswith(("Describe", "Get", "List")) for one in actions.read
        ), token


def test_the_bucket_policy_denies_requests_without_tls() -> None:
    (statement,) = iam_policies.tls_only(BUCKET)["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Resource"] == [BUCKET, f"{BUCKET}/*"]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
