"""The bootstrap: on the fake engine, held against the fleet that it is for, on the real one."""

from __future__ import annotations

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
from pulumi_rehearsal.driver import rehearse
from pulumi_rehearsal.errors import RehearsalError

from bootstrap import policies
from bootstrap.parse import KEY
from bootstrap.rights import RIGHTS
from rehearsal.project import BOOTSTRAP
from tests import stackfiles
from tests.bootstrap import bootstraps, iam
from tests.bootstrap.bootstraps import GONE, body
from tests.computed import OCI_CLIENT_SECRET
from tests.engine import Registered, attempt

ROLE = "aws:iam/role:Role"
LANES = {"ci-usw2", "ci-staging"}


def run(
    changes: dict[str, Any] | None = None, *, known: bool = True, data: object = None
) -> tuple[Registered, Exception | None]:
    config = {} if data is GONE else {KEY: json.dumps(body(changes) if data is None else data)}
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


def test_the_outputs_are_the_variables_under_their_own_names() -> None:
    outputs = registered().stack_outputs.data
    assert outputs["AWS_REGION"] == "us-west-2"
    assert outputs["AWS_PREVIEW_ROLE_ARN"].startswith("arn:aws:iam::111122223333:role/gpu-runners-")
    assert set(outputs["AWS_DEPLOY_ROLE_ARN"]) == {"staging", "prod"}
    assert outputs["PULUMI_BACKEND_URL"] == "s3://gpu-runners-state-1a2b3c4?region=us-west-2"
    assert outputs["PULUMI_SECRETS_PROVIDER"] == "awskms://alias/gpu-runners?region=us-west-2"
    assert outputs["OCI_TOKEN_EXCHANGE_CLIENT_ID"] == "client-id-of-gpu-runners-client"
    assert not [name for name in outputs if not name.startswith(("AWS_", "OCI_", "PULUMI_"))]


def test_the_secret_of_the_application_is_nowhere_in_what_is_sent() -> None:
    found = registered()
    sent = [one.values for one in found.resources]
    sent += [values for several in found.outputs.values() for values in several]
    assert not [text for values in sent for _, text in values.texts() if OCI_CLIENT_SECRET in text]


@pytest.mark.parametrize(
    ("gone", "provider"),
    [
        (
            {
                "aws": GONE,
                "environments.staging": GONE,
                "environments.prod.clusters": GONE,
            },
            "pulumi:providers:oci",
        ),
        ({"oci": GONE, "environments.prod.compartment_id": GONE}, "pulumi:providers:aws"),
    ],
)
def test_only_the_cloud_that_is_named_is_touched(gone: dict[str, Any], provider: str) -> None:
    found = registered(gone)
    assert [one.type for one in found.resources if one.type.startswith("pulumi:providers:")] == [
        provider
    ]
    cloud = provider.rpartition(":")[2].upper()
    outputs = found.stack_outputs.data
    assert outputs
    assert all(name.startswith((cloud, "PULUMI_")) for name in outputs)


def test_another_account_is_refused_by_the_provider() -> None:
    provider = registered().one("pulumi:providers:aws")
    assert json.loads(provider.inputs["allowedAccountIds"]) == ["111122223333"]


@pytest.mark.parametrize("known", [True, False])
def test_bucket_and_key_are_protected_unless_told_otherwise(known: bool) -> None:
    guarded = {one.type for one in registered(known=known).resources if one.protect}
    assert guarded == {"aws:kms/key:Key", "aws:s3/bucket:Bucket"}
    free = registered({"protect": False}, known=known)
    assert not [one for one in free.resources if one.protect]


def test_an_existing_provider_is_used_and_none_made() -> None:
    arn = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
    found = registered({"aws.oidc_providers.github": arn})
    made = found.find("aws:iam/openIdConnectProvider:OpenIdConnectProvider")
    assert [one.inputs["url"] for one in made] == ["https://gitlab.com"]
    for role in found.find(ROLE):
        trust = json.loads(role.inputs["assumeRolePolicy"])
        principals = {one["Principal"]["Federated"] for one in trust["Statement"]}
        assert arn in principals


def test_every_role_is_bounded_where_a_boundary_is_given() -> None:
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    roles = registered({"aws.permissions_boundary": boundary}).find(ROLE)
    assert {one.inputs["permissionsBoundary"] for one in roles} == {boundary}
    assert not [one for one in registered().find(ROLE) if "permissionsBoundary" in one.inputs]


def test_a_given_bucket_keeps_its_name() -> None:
    found = registered({"aws.state.bucket": "their-state"})
    assert found.one("aws:s3/bucket:Bucket").inputs["bucket"] == "their-state"
    assert found.stack_outputs.data["PULUMI_BACKEND_URL"] == "s3://their-state?region=us-west-2"


def test_the_bucket_is_closed_encrypted_versioned_and_cleaned() -> None:
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
    assert "days" not in rule["expiration"], "what is current never expires"
    assert found.one("aws:kms/key:Key").inputs["enableKeyRotation"] is True


def test_an_application_that_is_there_is_used_and_none_made() -> None:
    found = registered({"oci.client_id": "theirs"})
    assert not found.find("oci:Identity/domainsApp:DomainsApp")
    trusts = found.find(
        "oci:Identity/domainsIdentityPropagationTrust:DomainsIdentityPropagationTrust"
    )
    assert len(trusts) == 2
    assert {tuple(one.inputs["oauthClients"]) for one in trusts} == {("theirs",)}


def test_every_user_is_a_service_user() -> None:
    users = registered().find("oci:Identity/domainsUser:DomainsUser")
    assert {one.inputs["userName"] for one in users} == {
        "gpu-runners-preview",
        "gpu-runners-deploy-prod",
    }
    for one in users:
        extension = one.inputs["urnietfparamsscimschemasoracleidcsextensionuserUser"]
        assert extension == {"serviceUser": True}


@pytest.mark.parametrize("data", [GONE, {"aws": {}}, "text"])
def test_a_bad_file_stops_before_anything_is_registered(data: object) -> None:
    found, error = run(data=data)
    assert isinstance(error, pulumi.RunError)
    assert "Pulumi.ci.yaml" in str(error)
    assert not found.resources


def test_it_finds_its_packages_when_it_starts_in_its_own_folder() -> None:
    start = "import runpy; runpy.run_path('.', run_name='__main__')"
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", start],
        cwd=BOOTSTRAP.folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"has no {KEY}" in ended.stderr, "every import went well, only the file is missing"


# What the roles may do, held against what the fleet's program does


def fleets_resources() -> Registered:
    found = Registered()
    for stack in stackfiles.STACKS:
        one, error = stackfiles.run(stack)
        assert error is None
        found.resources.extend(one.resources)
    return found


def test_every_aws_type_of_the_fleet_has_its_rights_in_the_table() -> None:
    types = {one.type for one in fleets_resources().resources if one.type.startswith("aws:")}
    assert len(types) > 15
    assert types - RIGHTS.keys() == set(), "bootstrap/rights.py"


def test_the_deploy_role_reaches_every_name_that_the_fleet_gives() -> None:
    found = fleets_resources()
    account = bootstraps.plan().aws
    assert account is not None
    documents = [
        document for role in account.deploy.values() for document in role.cloud_policies().values()
    ]
    roles = found.find(ROLE)
    assert {one.name.partition("-eks")[0] for one in roles if "-eks-node" in one.name} == LANES
    for role in roles:
        arn = f"arn:aws:iam::111122223333:role/{role.name}-1a2b3c4"
        assert iam.allows(documents, "iam:CreateRole", arn), role.name
        assert iam.allows(documents, "iam:PassRole", arn, iam__PassedToService="eks.amazonaws.com")
        assert role.inputs["tags"][policies.CLUSTER_TAG] in LANES
    for inside in found.find("aws:iam/rolePolicy:RolePolicy"):
        arn = f"arn:aws:iam::111122223333:role/{inside.inputs['role']}"
        assert iam.allows(documents, "iam:PutRolePolicy", arn), inside.inputs["role"]
    for group in found.find("aws:cloudwatch/logGroup:LogGroup"):
        arn = f"arn:aws:logs:us-west-2:111122223333:log-group:{group.inputs['name']}"
        assert iam.allows(documents, "logs:CreateLogGroup", arn)


def test_the_policies_that_may_be_attached_are_those_that_are() -> None:
    attached = {
        one.inputs["policyArn"]
        for one in fleets_resources().find("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    }
    assert attached == set(policies.ATTACHED_POLICIES)


def test_what_a_deploy_changes_carries_the_tag_that_lets_it() -> None:
    tagged = {
        token for token, rights in RIGHTS.items() if token.startswith("aws:ec2") and rights.make
    }
    for one in fleets_resources().resources:
        if one.type in tagged:
            assert one.inputs["tags"][policies.CLUSTER_TAG] in LANES, one.name


# The real engine


@pytest.mark.engine
def test_the_shipped_bootstrap_goes_up_rests_is_protected_and_goes_down(tmp_path: Path) -> None:
    result = rehearse(bootstraps.FILE, project=BOOTSTRAP, folder=tmp_path / "left")
    assert result.problems == ()
    assert [phase.title for phase in result.phases] == [
        "preview",
        "up",
        "preview again",
        "destroy while protected",
        "destroy",
    ]
    report = (result.folder / "report.md").read_text(encoding="utf-8")
    assert "Who may become what" in report
    state = (result.folder / "state.json").read_text(encoding="utf-8")
    outputs = next(
        one["outputs"]
        for one in json.loads(state)["deployment"]["resources"]
        if one["type"] == "pulumi:pulumi:Stack"
    )
    assert "idcscs-" not in state, "the application's secret is encrypted in the state"
    assert outputs["PULUMI_BACKEND_URL"].startswith("s3://gpu-runners-state-")


@pytest.mark.engine
def test_a_new_environment_changes_no_other(tmp_path: Path) -> None:
    document = yaml.safe_load(bootstraps.FILE.read_text(encoding="utf-8"))
    environments = document["config"][KEY]["environments"]
    environments["research"] = {"clusters": ["lab"], "branch": "research"}
    changed = tmp_path / "Pulumi.more.yaml"
    changed.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    result = rehearse(bootstraps.FILE, to=changed, project=BOOTSTRAP, folder=tmp_path / "left")
    assert result.problems == ()
    changes = result.phase("up").differences
    made = {one.name for one in changes if one.operation == "create"}
    assert made
    assert all(name.startswith("gpu-runners-deploy-research") for name in made)
    others = {(one.operation, one.name) for one in changes if one.operation != "create"}
    assert others == {("update", "gpu-runners-preview-read")}, "the preview reads one cluster more"


@pytest.mark.parametrize("change", [{KEY: {"aws": {}}}, {}])
def test_a_bad_file_is_refused_before_the_engine_starts(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    file = tmp_path / "Pulumi.bad.yaml"
    file.write_text(yaml.safe_dump({"config": change}), encoding="utf-8")
    with pytest.raises(RehearsalError, match=r"gpu-runners-bootstrap:bootstrap|environments"):
        rehearse(file, project=BOOTSTRAP, folder=tmp_path / "left")
