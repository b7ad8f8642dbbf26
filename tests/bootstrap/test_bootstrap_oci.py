"""The OCI part: which token impersonates which user, and the policies of its group."""

from typing import Any

from bootstrap.oci_plan import OciPlan, OciTrust
from bootstrap.report import claims_table
from tests.bootstrap.bootstrap_samples import REMOVED, plan

BY_NUMBER = "repo:example-org@100001/infrastructure@200002"


def tenancy(changes: dict[str, Any] | None = None) -> OciPlan:
    found = plan(changes).oci
    assert found is not None
    return found


def trust(kind: str, changes: dict[str, Any] | None = None) -> OciTrust:
    return next(one for one in tenancy(changes).trusts if one.kind == kind)


def test_each_form_of_githubs_subject_impersonates_its_user() -> None:
    assert {(one.expression, one.user) for one in trust("github").rules} == {
        ("sub eq repo:example-org/infrastructure:pull_request", "preview"),
        (f"sub eq {BY_NUMBER}:pull_request", "preview"),
        ("sub eq repo:example-org/infrastructure:ref:refs/heads/main", "preview"),
        (f"sub eq {BY_NUMBER}:ref:refs/heads/main", "preview"),
        ("sub eq repo:example-org/infrastructure:environment:prod", "deploy-prod"),
        (f"sub eq {BY_NUMBER}:environment:prod", "deploy-prod"),
    }, "staging has no compartment, and so no user"


def test_a_gitlab_preview_needs_the_project_and_a_merge_request_or_schedule() -> None:
    found = trust("gitlab")
    assert (found.client.name, found.client.values) == (
        "project_path",
        ("example-group/infrastructure",),
    ), "without it the preview rule would match merge requests of every project"
    assert {(one.expression, one.user) for one in found.rules} == {
        ("pipeline_source eq merge_request_event", "preview"),
        ("pipeline_source eq schedule", "preview"),
        (
            "sub eq project_path:example-group/infrastructure:ref_type:branch:ref:production",
            "deploy-prod",
        ),
    }


def test_no_rule_contains_a_wildcard() -> None:
    for one in tenancy().trusts:
        assert not [rule for rule in one.rules if "*" in rule.expression]


def test_a_github_token_needs_the_configured_audience() -> None:
    client = trust("github", {"oci.audience": "our-oci"}).client
    assert (client.name, client.values) == ("aud", ("our-oci",))


def test_public_keys_come_from_the_issuer() -> None:
    changes = {"gitlab.url": "https://gitlab.example.com"}
    assert trust("github").keys_url.endswith("githubusercontent.com/.well-known/jwks")
    assert trust("gitlab", changes).keys_url == "https://gitlab.example.com/oauth/discovery/keys"


def test_statements_cover_the_compartment_only_and_a_preview_manages_nothing() -> None:
    (policy,) = tenancy().policies
    compartment = "ocid1.compartment.oc1..aaaaaaaaexample"
    assert policy.compartment_id == compartment
    assert all(one.endswith(f"in compartment id {compartment}") for one in policy.statements)
    preview = [one for one in policy.statements if "'gpu-runners-preview'" in one]
    assert preview
    assert not [one for one in preview if " manage " in one]
    assert not [one for one in policy.statements if "all-resources" in one]


def test_each_environment_with_a_compartment_has_its_own_user() -> None:
    other = "ocid1.compartment.oc1..aaaaaaaaother"
    found = tenancy({"environments.staging.compartment_id": other})
    assert set(found.users) == {"preview", "deploy-staging", "deploy-prod"}
    (staging,) = (one for one in found.policies if one.environment == "staging")
    deployers = [one for one in staging.statements if "deploy" in one]
    assert all("'gpu-runners-deploy-staging'" in one for one in deployers)


def test_the_variables_are_those_that_the_oci_provider_reads() -> None:
    assert tenancy().variables("client") == {
        "OCI_AUTH": "WorkloadIdentityFederation",
        "OCI_TOKEN_EXCHANGE_AUTH": "OAuthClientCredentials",
        "OCI_TOKEN_EXCHANGE_CLIENT_ID": "client",
        "OCI_TOKEN_EXCHANGE_DOMAIN_URL": (
            "https://idcs-0123456789abcdef0123456789abcdef.identity.oraclecloud.com"
        ),
        "OCI_TOKEN_EXCHANGE_REQUESTED_TOKEN_TYPE": "urn:oci:token-type:oci-upst",
        "OCI_TOKEN_EXCHANGE_SUBJECT_TOKEN_TYPE": "jwt",
    }


def test_the_report_lists_the_claims_of_both_clouds() -> None:
    text = claims_table(plan())
    assert f"| AWS | `deploy-prod` | `sub: {BY_NUMBER}:environment:prod` |" in text
    assert "| OCI | `preview` | `pipeline_source eq merge_request_event` |" in text
    without_oci = claims_table(plan({"oci": REMOVED, "environments.prod.compartment_id": REMOVED}))
    assert "OCI" not in without_oci
