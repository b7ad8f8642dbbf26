"""Identity domains: users, groups, applications and trusts."""

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


def test_refuse_another_id_of_a_client_than_its_name(tenancy, refused):
    user, client = service_user(tenancy), app(tenancy)
    assert client.outputs["name"] != client.inputs["displayName"]
    made = trust(tenancy, user.id, client.outputs["name"])
    assert made.outputs["ocid"].startswith("ocid1.identitypropagationtrust.")
    for number, wrong in enumerate((client.id, client.outputs["ocid"], "exchange")):
        with refused("give its output name"):
            trust(tenancy, user.id, wrong, name=f"other{number}")


def test_existing_client_is_not_checked(tenancy):
    assert trust(tenancy, service_user(tenancy).id, "theirs")


def test_invalid_endpoint_or_schema(tenancy, invalid):
    with invalid("is not the URL of an identity domain"):
        service_user(tenancy, idcsEndpoint="https://idcs.example")
    with invalid("lacks urn:ietf:params:scim:schemas:core:2.0:User"):
        service_user(tenancy, schemas=["urn:ietf:params:scim:schemas:core:2.0:Group"])


def test_invalid_user(tenancy, invalid):
    with invalid("must be left out for a service user"):
        service_user(tenancy, password="x")
    with invalid("serviceUser: true"):
        service_user(tenancy, **{EXTENSION: {"serviceUser": False}})


def test_refuse_a_name_that_exists_in_the_domain(tenancy, refused):
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


def test_refuse_a_member_that_is_not_the_id_of_a_user(tenancy, refused, invalid):
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


def test_refuse_deletion_without_force(tenancy, refused):
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


def test_refuse_deletion_of_the_user_or_client_of_a_trust(tenancy, refused):
    user, client = service_user(tenancy, forceDelete=True), app(tenancy, forceDelete=True)
    made = trust(tenancy, user.id, client.outputs["name"])
    for resource in (user, client):
        with refused("is in use by DomainsIdentityPropagationTrust github"):
            tenancy.delete(resource)
    tenancy.delete(made)
    tenancy.delete(client)
    tenancy.delete(user)


def test_refuse_impersonation_of_a_person(tenancy, refused):
    person = service_user(
        tenancy,
        "person",
        name={"familyName": "P"},
        emails=[{"type": "work", "value": "p@example.com", "primary": True}],
        **{EXTENSION: {"serviceUser": False}},
    )
    with refused("only a service user can be impersonated"):
        trust(tenancy, person.id, "theirs")
    with refused("give the id, not the OCID"):
        trust(tenancy, person.outputs["ocid"], "theirs", name="other")


def test_refuse_a_second_trust_of_an_issuer(tenancy, refused):
    user = service_user(tenancy)
    trust(tenancy, user.id, "theirs")
    with refused("is for the issuer https://github.example too"):
        trust(tenancy, user.id, "theirs", name="second", issuer="https://github.example")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"type": "OIDC"}, "is none of"),
        ({"subjectType": "Group"}, "is none of"),
        ({"publicKeyEndpoint": None}, "give exactly one of publicKeyEndpoint"),
        ({"impersonationServiceUsers": None}, "is required with allowImpersonation"),
        ({"allowImpersonation": False}, "must be true for impersonationServiceUsers"),
        ({"impersonationServiceUsers": [{"rule": "sub", "value": "x"}]}, "write <claim> eq"),
        ({"impersonationServiceUsers": [{"rule": "sub is x", "value": "x"}]}, "is not a rule"),
    ],
)
def test_invalid_trust(tenancy, invalid, inputs, message):
    with invalid(message):
        trust(tenancy, "user", "theirs", **inputs)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"clientType": "secret"}, "is none of"),
        ({"allowedGrants": []}, "client_credentials"),
        ({"clientType": "public"}, "must be confidential"),
    ],
)
def test_invalid_application(tenancy, invalid, inputs, message):
    with invalid(message):
        app(tenancy, **inputs)
