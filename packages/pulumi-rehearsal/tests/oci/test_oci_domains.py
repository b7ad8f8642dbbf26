"""Identity domains: users, groups, applications, and the trust that ties tokens to users."""

from __future__ import annotations

from typing import Any

import pytest
from oci_tenancy import Tenancy
from pulumi_rehearsal.standin.kind import Resource
from pulumi_rehearsal.standin.oci import tokens

DOMAIN = "https://idcs-0123.identity.oraclecloud.com"
SCHEMAS = {
    tokens.DOMAIN_USER: "core:2.0:User",
    tokens.DOMAIN_GROUP: "core:2.0:Group",
    tokens.DOMAIN_APP: "oracle:idcs:App",
    tokens.DOMAIN_TRUST: "oracle:idcs:IdentityPropagationTrust",
}
EXTENSION = "urnietfparamsscimschemasoracleidcsextensionuserUser"


def make(tenancy: Tenancy, token: str, name: str, /, **inputs: Any) -> Resource:
    given = {
        "idcsEndpoint": DOMAIN,
        "schemas": [f"urn:ietf:params:scim:schemas:{SCHEMAS[token]}"],
        **inputs,
    }
    return tenancy.make(token, name, **given)


def service_user(tenancy: Tenancy, name: str = "deploy", /, **inputs: Any) -> Resource:
    return make(
        tenancy,
        tokens.DOMAIN_USER,
        name,
        **{"userName": name, EXTENSION: {"serviceUser": True}, **inputs},
    )


def group(tenancy: Tenancy, *members: str, **inputs: Any) -> Resource:
    return make(
        tenancy,
        tokens.DOMAIN_GROUP,
        "deployers",
        displayName="deployers",
        members=[{"type": "User", "value": member} for member in members],
        **inputs,
    )


def app(tenancy: Tenancy, **inputs: Any) -> Resource:
    given = {
        "displayName": "exchange",
        "basedOnTemplate": {"value": "CustomWebAppTemplateId"},
        "isOauthClient": True,
        "clientType": "confidential",
        "allowedGrants": ["client_credentials"],
        "active": True,
    }
    return make(tenancy, tokens.DOMAIN_APP, "exchange", **{**given, **inputs})


def trust(
    tenancy: Tenancy, user: str, client: str, name: str = "github", **inputs: Any
) -> Resource:
    given = {
        "name": name,
        "type": "JWT",
        "active": True,
        "issuer": f"https://{name}.example",
        "publicKeyEndpoint": f"https://{name}.example/keys",
        "oauthClients": [client],
        "subjectType": "User",
        "allowImpersonation": True,
        "impersonationServiceUsers": [{"rule": "sub eq repo:a/b:environment:c", "value": user}],
    }
    return make(tenancy, tokens.DOMAIN_TRUST, name, **{**given, **inputs})


def test_a_client_goes_by_its_name_and_keeps_its_secret_secret(tenancy, refused):
    user, client = service_user(tenancy), app(tenancy)
    assert client.outputs["name"] != client.inputs["displayName"]
    made = trust(tenancy, user.id, client.outputs["name"])
    assert made.outputs["ocid"].startswith("ocid1.identitypropagationtrust.")
    for number, wrong in enumerate((client.id, client.outputs["ocid"], "exchange")):
        with refused("give its name output"):
            trust(tenancy, user.id, wrong, name=f"other{number}")


def test_a_client_that_somebody_else_made_is_taken_on_trust(tenancy):
    assert trust(tenancy, service_user(tenancy).id, "theirs")


def test_an_endpoint_and_a_schema_are_checked(tenancy, invalid):
    with invalid("is no URL of an identity domain"):
        service_user(tenancy, idcsEndpoint="https://idcs.example")
    with invalid("lacks urn:ietf:params:scim:schemas:core:2.0:User"):
        service_user(tenancy, schemas=["urn:ietf:params:scim:schemas:core:2.0:Group"])


def test_a_service_user_has_no_password_and_a_person_has_a_name(tenancy, invalid):
    with invalid("a service user has none"):
        service_user(tenancy, password="x")
    with invalid("serviceUser: true"):
        service_user(tenancy, **{EXTENSION: {"serviceUser": False}})


def test_names_are_unique_in_their_domain(tenancy, refused):
    service_user(tenancy, "deploy")
    with refused("userName 'deploy' exists in the domain"):
        make(
            tenancy,
            tokens.DOMAIN_USER,
            "again",
            userName="deploy",
            **{EXTENSION: {"serviceUser": True}},
        )
    elsewhere = "https://idcs-4567.identity.oraclecloud.com"
    service_user(tenancy, "deploy-there", userName="deploy", idcsEndpoint=elsewhere)


def test_a_groups_member_is_the_id_of_a_user(tenancy, refused, invalid):
    user = service_user(tenancy)
    with refused("not its OCID"):
        group(tenancy, user.outputs["ocid"])
    with invalid("is none of User"):
        make(
            tenancy,
            tokens.DOMAIN_GROUP,
            "g",
            displayName="g",
            members=[{"type": "Group", "value": user.id}],
        )
    assert group(tenancy, user.id)


def test_what_is_in_use_goes_by_force_only(tenancy, refused):
    user = service_user(tenancy)
    members = group(tenancy, user.id)
    with refused("set forceDelete"):
        tenancy.delete(members)
    with refused("is in use by DomainsGroup deployers"):
        tenancy.delete(user)
    client = app(tenancy)
    with refused("is active; deactivate it"):
        tenancy.delete(client)
    tenancy.delete(tenancy.change(members, forceDelete=True))
    tenancy.delete(tenancy.change(client, forceDelete=True))
    tenancy.delete(user)


def test_a_trust_holds_its_user_and_its_client(tenancy, refused):
    user, client = service_user(tenancy, forceDelete=True), app(tenancy, forceDelete=True)
    made = trust(tenancy, user.id, client.outputs["name"])
    for thing in (user, client):
        with refused("is in use by DomainsIdentityPropagationTrust github"):
            tenancy.delete(thing)
    tenancy.delete(made)
    tenancy.delete(client)
    tenancy.delete(user)


def test_only_service_users_are_impersonated(tenancy, refused):
    person = service_user(
        tenancy,
        "person",
        name={"familyName": "P"},
        emails=[{"type": "work", "value": "p@example.com", "primary": True}],
        **{EXTENSION: {"serviceUser": False}},
    )
    with refused("only a service user is impersonated"):
        trust(tenancy, person.id, "theirs")
    with refused("give the id, not the OCID"):
        trust(tenancy, person.outputs["ocid"], "theirs", name="other")


def test_an_issuer_has_one_trust(tenancy, refused):
    user = service_user(tenancy)
    trust(tenancy, user.id, "theirs")
    with refused("takes tokens of https://github.example already"):
        trust(tenancy, user.id, "theirs", name="second", issuer="https://github.example")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"type": "OIDC"}, "is none of"),
        ({"subjectType": "Group"}, "is none of"),
        ({"publicKeyEndpoint": None}, "give exactly one of publicKeyEndpoint"),
        ({"impersonationServiceUsers": None}, "needs a rule and a user"),
        ({"allowImpersonation": False}, "without it no rule holds"),
        ({"impersonationServiceUsers": [{"rule": "sub", "value": "x"}]}, "write <claim> eq"),
        ({"impersonationServiceUsers": [{"rule": "sub is x", "value": "x"}]}, "is no rule"),
    ],
)
def test_a_trust_that_takes_nothing_is_invalid(tenancy, invalid, inputs, words):
    with invalid(words):
        trust(tenancy, "user", "theirs", **inputs)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"clientType": "secret"}, "is none of"),
        ({"allowedGrants": []}, "client_credentials"),
        ({"clientType": "public"}, "only a confidential client"),
    ],
)
def test_an_application_that_cannot_exchange_is_invalid(tenancy, invalid, inputs, words):
    with invalid(words):
        app(tenancy, **inputs)
