"""The bootstrap program on mocks, compared with the fleet's resources, and on the real engine."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.result import Result

from bootstrap import iam_policies
from bootstrap.config import KEY
from bootstrap.iam_actions import ACTIONS
from rehearsal.project import BOOTSTRAP
from rehearsal.run import rehearse
from tests import stackfiles
from tests.bootstrap import bootstrap_samples, iam_evaluation
from tests.bootstrap.bootstrap_samples import REMOVED, body
from tests.computed import OCI_CLIENT_SECRET
from tests.engine import Registered, attempt
from tests.exhaustive import exhaustive

ROLE = "aws:iam/role:Role"
CLUSTERS = {"ci-usw2", "ci-staging"}


def run(
    changes: dict[str, Any] | None = None, *, known: bool = True, data: object = None
) -> tuple[Registered, Exception | None]:
    config = {} if data is REMOVED else {KEY: json.dumps(body(changes) if data is None else data)}
    return attempt(
        lambda: runpy.run_path(str(BOOTSTRAP.folder / "__main__.py")) and None,
        known=known,
        stack="ci",
        config=config,
    )


def registered(changes: dict[str, Any] | None = None, *, known: bool = True) -> Registered:
    found, error = run(changes, known=known)
    assert error is None
    return found


def test_outputs_are_named_as_the_variables_of_ci() -> None:
    outputs = registered().stack_outputs.data
    assert outputs["AWS_REGION"] == "us-west-2"
    assert outputs["AWS_PREVIEW_ROLE_ARN"].startswith("arn:aws:iam::111122223333:role/gpu-runners-")
    assert set(outputs["AWS_DEPLOY_ROLE_ARN"]) == {"staging", "prod"}
    assert outputs["PULUMI_BACKEND_URL"] == "s3://gpu-runners-state-1a2b3c4?region=us-west-2"
    assert outputs["PULUMI_SECRETS_PROVIDER"] == "awskms://alias/gpu-runners?region=us-west-2"
    assert outputs["OCI_TOKEN_EXCHANGE_CLIENT_ID"] == "client-id-of-gpu-runners-client"
    assert not [name for name in outputs if not name.startswith(("AWS_", "OCI_", "PULUMI_"))]


def test_no_input_or_output_contains_the_secret_of_the_application() -> None:
    found = registered()
    sent = [one.values for one in found.resources]
    sent += [values for several in found.outputs.values() for values in several]
    assert not [text for values in sent for _, text in values.texts() if OCI_CLIENT_SECRET in text]


@pytest.mark.parametrize(
    ("changes", "provider"),
    [
        (
            {
                "aws": REMOVED,
                "environments.staging": REMOVED,
                "environments.prod.clusters": REMOVED,
            },
            "pulumi:providers:oci",
        ),
        ({"oci": REMOVED, "environments.prod.compartment_id": REMOVED}, "pulumi:providers:aws"),
    ],
)
def test_a_cloud_without_a_section_has_no_provider_and_no_outputs(
    changes: dict[str, Any], provider: str
) -> None:
    found = registered(changes)
    assert [one.type for one in found.resources if one.type.startswith("pulumi:providers:")] == [
        provider
    ]
    cloud = provider.rpartition(":")[2].upper()
    outputs = found.stack_outputs.data
    assert outputs
    assert all(name.startswith((cloud, "PULUMI_")) for name in outputs)


def test_the_provider_allows_only_the_configured_account() -> None:
    provider = registered().one("pulumi:providers:aws")
    assert json.loads(provider.inputs["allowedAccountIds"]) == ["111122223333"]


@pytest.mark.parametrize("known", [True, False])
def test_bucket_and_key_are_protected_by_default(known: bool) -> None:
    protected = {one.type for one in registered(known=known).resources if one.protect}
    assert protected == {"aws:kms/key:Key", "aws:s3/bucket:Bucket"}
    found = registered({"protect": False}, known=known)
    assert not [one for one in found.resources if one.protect]


def test_an_existing_oidc_provider_is_used() -> None:
    arn = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
    found = registered({"aws.oidc_providers.github": arn})
    created = found.find("aws:iam/openIdConnectProvider:OpenIdConnectProvider")
    assert [one.inputs["url"] for one in created] == ["https://gitlab.com"]
    for role in found.find(ROLE):
        trust = json.loads(role.inputs["assumeRolePolicy"])
        principals = {one["Principal"]["Federated"] for one in trust["Statement"]}
        assert arn in principals


def test_every_role_has_the_permissions_boundary() -> None:
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    roles = registered({"aws.permissions_boundary": boundary}).find(ROLE)
    assert {one.inputs["permissionsBoundary"] for one in roles} == {boundary}
    assert not [one for one in registered().find(ROLE) if "permissionsBoundary" in one.inputs]


def test_only_the_deploy_roles_allow_a_session_of_three_hours() -> None:
    allowed = {one.name: one.inputs["maxSessionDuration"] for one in registered().find(ROLE)}
    assert len(allowed) == 3
    for name, seconds in allowed.items():
        assert seconds == (10800 if "-deploy-" in name else 3600), name


def test_the_configured_bucket_name_is_used() -> None:
    found = registered({"aws.state.bucket": "example-state"})
    assert found.one("aws:s3/bucket:Bucket").inputs["bucket"] == "example-state"
    assert found.stack_outputs.data["PULUMI_BACKEND_URL"] == "s3://example-state?region=us-west-2"


def test_the_bucket_is_private_encrypted_versioned_and_has_a_lifecycle() -> None:
    found = registered()
    block = found.one("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock").inputs
    closed = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
    assert all(block[one] is True for one in closed)
    ownership = found.one("aws:s3/bucketOwnershipControls:BucketOwnershipControls").inputs
    assert ownership["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    versions = found.one("aws:s3/bucketVersioning:BucketVersioning").inputs
    assert versions["versioningConfiguration"] == {"status": "Enabled"}
    (rule,) = found.one(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    ).inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "aws:kms"
    (rule,) = found.one("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration").inputs[
        "rules"
    ]
    assert rule["noncurrentVersionExpiration"] == {"noncurrentDays": 90}
    assert rule["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}
    assert "days" not in rule["expiration"], "current versions never expire"
    assert found.one("aws:kms/key:Key").inputs["enableKeyRotation"] is True


def test_an_existing_application_is_used() -> None:
    found = registered({"oci.client_id": "existing"})
    assert not found.find("oci:Identity/domainsApp:DomainsApp")
    trusts = found.find(
        "oci:Identity/domainsIdentityPropagationTrust:DomainsIdentityPropagationTrust"
    )
    assert len(trusts) == 2
    assert {tuple(one.inputs["oauthClients"]) for one in trusts} == {("existing",)}


def test_every_user_is_a_service_user() -> None:
    users = registered().find("oci:Identity/domainsUser:DomainsUser")
    assert {one.inputs["userName"] for one in users} == {
        "gpu-runners-preview",
        "gpu-runners-deploy-prod",
    }
    for one in users:
        extension = one.inputs["urnietfparamsscimschemasoracleidcsextensionuserUser"]
        assert extension == {"serviceUser": True}


@pytest.mark.parametrize("data", [REMOVED, {"aws": {}}, "text"])
def test_an_invalid_file_registers_nothing(data: object) -> None:
    found, error = run(data=data)
    assert isinstance(error, pulumi.RunError)
    assert "Pulumi.ci.yaml" in str(error)
    assert not found.resources


def test_the_program_imports_its_packages_when_started_in_its_own_folder() -> None:
    start = "import runpy; runpy.run_path('.', run_name='__main__')"
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", start],
        cwd=BOOTSTRAP.folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"has no {KEY}" in ended.stderr, "all imports succeed; only the configuration is missing"


# The policies, compared with the resources of the fleet's program


def fleet_resources() -> Registered:
    found = Registered()
    for stack in stackfiles.STACKS:
        one, error = stackfiles.run(stack)
        assert error is None
        found.resources.extend(one.resources)
    return found


def test_every_aws_type_of_the_fleet_has_iam_actions() -> None:
    types = {one.type for one in fleet_resources().resources if one.type.startswith("aws:")}
    assert len(types) > 15
    assert types - ACTIONS.keys() == set(), (
        "add the actions of the type to bootstrap/iam_actions.py"
    )


def test_the_deploy_roles_match_every_resource_name_of_the_fleet() -> None:
    found = fleet_resources()
    account = bootstrap_samples.plan().aws
    assert account is not None
    documents = [
        document for role in account.deploy.values() for document in role.cloud_policies().values()
    ]
    roles = found.find(ROLE)
    assert {one.name.partition("-eks")[0] for one in roles if "-eks-node" in one.name} == CLUSTERS
    for role in roles:
        arn = f"arn:aws:iam::111122223333:role/{role.name}-1a2b3c4"
        assert iam_evaluation.allows(documents, "iam:CreateRole", arn), role.name
        assert iam_evaluation.allows(
            documents, "iam:PassRole", arn, iam__PassedToService="eks.amazonaws.com"
        )
        assert role.inputs["tags"][iam_policies.CLUSTER_TAG] in CLUSTERS
    for inline in found.find("aws:iam/rolePolicy:RolePolicy"):
        arn = f"arn:aws:iam::111122223333:role/{inline.inputs['role']}"
        assert iam_evaluation.allows(documents, "iam:PutRolePolicy", arn), inline.inputs["role"]
    for group in found.find("aws:cloudwatch/logGroup:LogGroup"):
        arn = f"arn:aws:logs:us-west-2:111122223333:log-group:{group.inputs['name']}"
        assert iam_evaluation.allows(documents, "logs:CreateLogGroup", arn)


def test_the_attachable_policies_are_those_that_the_fleet_attaches() -> None:
    attached = {
        one.inputs["policyArn"]
        for one in fleet_resources().find("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    }
    assert attached == set(iam_policies.ATTACHED_POLICIES)


def test_every_ec2_resource_has_the_tag_that_the_deploy_role_needs() -> None:
    tagged = {
        token for token, actions in ACTIONS.items() if token.startswith("aws:ec2") and actions.make
    }
    for one in fleet_resources().resources:
        if one.type in tagged:
            assert one.inputs["tags"][iam_policies.CLUSTER_TAG] in CLUSTERS, one.name


# The real engine


@pytest.fixture(scope="module")
def one_more_environment(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A rehearsal of the shipped bootstrap, which then gets one more environment."""
    folder = tmp_path_factory.mktemp("bootstrap")
    document = yaml.safe_load(bootstrap_samples.FILE.read_text(encoding="utf-8"))
    environments = document["config"][KEY]["environments"]
    environments["research"] = {"clusters": ["research"], "branch": "research"}
    changed = folder / "Pulumi.more.yaml"
    changed.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return rehearse(bootstrap_samples.FILE, to=changed, project=BOOTSTRAP, folder=folder / "left")


@exhaustive
@pytest.mark.engine
def test_the_shipped_bootstrap_alone_is_created_and_destroyed(tmp_path: Path) -> None:
    # CI does the same with `make rehearse PROJECT=bootstrap`.
    result = rehearse(bootstrap_samples.FILE, project=BOOTSTRAP, folder=tmp_path / "left")
    assert result.problems == ()


@pytest.mark.engine
def test_the_bootstrap_is_created_protected_and_destroyed(one_more_environment: Result) -> None:
    assert one_more_environment.problems == ()
    assert [phase.title for phase in one_more_environment.phases] == [
        "up Pulumi.ci.yaml",
        "preview",
        "up",
        "preview again",
        "refresh",
        "destroy while protected",
        "destroy",
    ]
    report = (one_more_environment.folder / "report.md").read_text(encoding="utf-8")
    assert "Roles and users of CI jobs" in report
    state = (one_more_environment.folder / "state.json").read_text(encoding="utf-8")
    outputs = next(
        one["outputs"]
        for one in json.loads(state)["deployment"]["resources"]
        if one["type"] == "pulumi:pulumi:Stack"
    )
    assert "idcscs-" not in state, "the state encrypts the secret of the application"
    assert outputs["PULUMI_BACKEND_URL"].startswith("s3://gpu-runners-state-")


@pytest.mark.engine
def test_a_new_environment_changes_no_other_environment(one_more_environment: Result) -> None:
    changes = one_more_environment.phase("up").differences
    created = {one.name for one in changes if one.operation == "create"}
    assert created
    assert all(name.startswith("gpu-runners-deploy-research") for name in created)
    others = {(one.operation, one.name) for one in changes if one.operation != "create"}
    assert others == {("update", "gpu-runners-preview-read")}, (
        "the preview role reads one more cluster"
    )


@pytest.mark.parametrize("change", [{KEY: {"aws": {}}}, {}])
def test_a_rehearsal_refuses_an_invalid_file_before_the_engine_starts(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    file = tmp_path / "Pulumi.bad.yaml"
    file.write_text(yaml.safe_dump({"config": change}), encoding="utf-8")
    with pytest.raises(RehearsalError, match=r"gpu-runners-bootstrap:bootstrap|environments"):
        rehearse(file, project=BOOTSTRAP, folder=tmp_path / "left")
