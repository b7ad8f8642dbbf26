"""Identity domains: service users, groups, applications, and trust in other issuers' tokens.

Replacement: marks in the SDK, see base.py. Token exchange:
https://docs.oracle.com/iaas/Content/Identity/api-getstarted/json_web_token_exchange.htm
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import tokens
from pulumi_rehearsal.standin.oci.base import OciKind, ocid, refuse_while_used
from pulumi_rehearsal.standin.properties import flag, given, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice, exactly_one
from pulumi_rehearsal.standin.world import World

_RULE: Final = re.compile(r"[A-Za-z_][\w.-]*\s+(eq|co)\s+\S.*")
_ENDPOINT: Final = r"https://[a-z0-9.-]+\.identity\.oraclecloud\.com(:443)?"


class _InDomain(OciKind):
    """Something in an identity domain: a SCIM resource with a schema and a name of its own."""

    regional = False
    state = ""
    error = "404-NotFound"
    replaced_on: ClassVar[frozenset[str]] = frozenset({"idcsEndpoint"})
    schema_name: ClassVar[str] = ""
    unique: ClassVar[str] = ""
    """The input that no other of the type has in the same domain."""

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Endpoint and schema."""
        endpoint = text(inputs, "idcsEndpoint")
        if endpoint is not None and not re.fullmatch(_ENDPOINT, endpoint):
            yield "idcsEndpoint", f"{endpoint!r} is no URL of an identity domain"
        wanted = f"urn:ietf:params:scim:schemas:{self.schema_name}"
        if texts(inputs, "schemas") and wanted not in texts(inputs, "schemas"):
            yield "schemas", f"lacks {wanted}"

    def identify(self, call: Call, world: World) -> str:
        """32 hexadecimal digits; the OCID is another output."""
        return world.fresh_hex(call.urn, 32)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """The OCID."""
        return {"ocid": ocid(self.id_type, "", id)}

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """No other has the name."""
        name, endpoint = text(call.inputs, self.unique), text(call.inputs, "idcsEndpoint")
        for other in world.where(self.token, idcsEndpoint=endpoint):
            taken = text(other.inputs, self.unique)
            if name is not None and name == taken and (old is None or other.id != old.id):
                noun = self.token.rpartition(":")[2].removeprefix("Domains")
                raise Refusal(
                    f"409-Conflict: {noun} with {self.unique} {name!r} exists in the domain; "
                    "choose another"
                )


class User(_InDomain):
    """A person, or a service user that nobody can sign in as."""

    token = tokens.DOMAIN_USER
    id_type = "user"
    schema_name = "core:2.0:User"
    unique = "userName"
    computed: ClassVar[frozenset[str]] = frozenset({"ocid"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """A service user has no password; a person has a name and an address."""
        yield from super().problems(inputs)
        if is_service_user(inputs):
            if given(inputs, "password"):
                yield "password", "a service user has none: remove it"
        else:
            for path in ("name", "emails"):
                if not given(inputs, path):
                    yield path, "a person has one; for a job's user set serviceUser: true"

    def delete(self, old: Resource, world: World) -> None:
        """No trust and, unless by force, no group may name it."""
        refuse_while_used(
            old,
            [
                trust
                for trust in world.all(tokens.DOMAIN_TRUST)
                if old.id in _values(trust.inputs, "impersonationServiceUsers")
            ],
            "delete these first",
        )
        if not flag(old.inputs, "forceDelete"):
            groups = world.all(tokens.DOMAIN_GROUP)
            members = [one for one in groups if old.id in _values(one.inputs, "members")]
            refuse_while_used(old, members, "delete these first, or set forceDelete")


class Group(_InDomain):
    """Users for whom a policy is written."""

    token = tokens.DOMAIN_GROUP
    id_type = "group"
    schema_name = "core:2.0:Group"
    unique = "displayName"
    computed: ClassVar[frozenset[str]] = frozenset({"ocid"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Members are users."""
        yield from super().problems(inputs)
        for index, member in enumerate(objects(inputs, "members")):
            for path, reason in choice(member, "type", ("User",)):
                yield f"members[{index}].{path}", reason

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Its members exist."""
        super().refuse(call, old, world)
        for member in _values(call.inputs, "members"):
            if world.get(member, tokens.DOMAIN_USER) is None:
                raise Refusal(
                    f"404-NotFound: the group's member {member!r} is no user; give the id of one, "
                    "not its OCID"
                )

    def delete(self, old: Resource, world: World) -> None:
        """A group with members goes by force only."""
        if _values(old.inputs, "members") and not flag(old.inputs, "forceDelete"):
            raise Refusal(
                f"409-Conflict: group {old.name} has members; take them out, or set forceDelete"
            )


class App(_InDomain):
    """An application; as an OAuth client its `name` is the client id."""

    token = tokens.DOMAIN_APP
    id_type = "domainapp"
    schema_name = "oracle:idcs:App"
    unique = "displayName"
    computed: ClassVar[frozenset[str]] = frozenset({"clientSecret", "name", "ocid"})
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"clientSecret"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"basedOnTemplate.value", "idcsEndpoint", "isAliasApp", "isUnmanagedApp", "name"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Kinds of client and grant."""
        yield from super().problems(inputs)
        yield from choice(inputs, "clientType", ("confidential", "public", "trusted"))
        grants = texts(inputs, "allowedGrants")
        if flag(inputs, "isOauthClient") and not grants:
            yield "allowedGrants", "a client is allowed one grant at least: client_credentials"
        if "client_credentials" in grants and text(inputs, "clientType") == "public":
            yield "clientType", "only a confidential client has credentials of its own"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Client id and secret; the secret has the shape of one, and no more."""
        made = {"clientSecret": f"idcscs-{call.hex(32)}", "name": call.hex(32)}
        return {**super().compute(call, id, world), **made}

    def delete(self, old: Resource, world: World) -> None:
        """An active application goes by force only; a trust may not name it."""
        refuse_while_used(
            old,
            [
                trust
                for trust in world.all(tokens.DOMAIN_TRUST)
                if text(old.outputs, "name") in texts(trust.inputs, "oauthClients")
            ],
            "delete these first",
        )
        if flag(old.inputs, "active") and not flag(old.inputs, "forceDelete"):
            raise Refusal(
                f"400-InvalidParameter: application {old.name} is active; deactivate it, or set "
                "forceDelete"
            )


class IdentityPropagationTrust(_InDomain):
    """Whose tokens are taken, from which client, and which user each becomes."""

    token = tokens.DOMAIN_TRUST
    id_type = "identitypropagationtrust"
    schema_name = "oracle:idcs:IdentityPropagationTrust"
    unique = "name"
    computed: ClassVar[frozenset[str]] = frozenset({"ocid"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"claimValidations.name", "idcsEndpoint", "impersonationServiceUsers.ref", "name"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Type, keys, rules."""
        yield from super().problems(inputs)
        kinds = ("AWS", "JWT", "SAML", "SPNEGO", "X509")
        yield from choice(inputs, "type", kinds)
        yield from choice(inputs, "subjectType", ("App", "User"))
        if text(inputs, "type") == "JWT":
            yield from exactly_one(inputs, ("publicKeyEndpoint", "publicCertificate"))
        users = objects(inputs, "impersonationServiceUsers")
        if flag(inputs, "allowImpersonation") and not given(inputs, "impersonationServiceUsers"):
            yield "impersonationServiceUsers", "allowImpersonation needs a rule and a user"
        if users and not flag(inputs, "allowImpersonation"):
            yield "allowImpersonation", "without it no rule holds: set it"
        for index, user in enumerate(users):
            rule = text(user, "rule")
            if rule is not None and not _RULE.fullmatch(rule):
                yield (
                    f"impersonationServiceUsers[{index}].rule",
                    f"{rule!r} is no rule: write <claim> eq <value>",
                )

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """One trust an issuer; users exist and are service users; clients go by their id."""
        super().refuse(call, old, world)
        issuer, endpoint = text(call.inputs, "issuer"), text(call.inputs, "idcsEndpoint")
        for other in world.where(self.token, issuer=issuer, idcsEndpoint=endpoint):
            if old is None or other.id != old.id:
                raise Refusal(f"409-Conflict: trust {other.name} takes tokens of {issuer} already")
        for wanted in _values(call.inputs, "impersonationServiceUsers"):
            user = world.get(wanted, tokens.DOMAIN_USER)
            if user is None:
                raise Refusal(
                    f"404-NotFound: no user has the id {wanted!r}; give the id, not the OCID"
                )
            if not is_service_user(user.inputs):
                raise Refusal(
                    f"400-InvalidParameter: {user.name} is a person; only a service user is "
                    "impersonated"
                )
        for client in texts(call.inputs, "oauthClients"):
            for app in world.all(tokens.DOMAIN_APP):
                if client in (app.id, text(app.outputs, "ocid"), text(app.inputs, "displayName")):
                    raise Refusal(
                        f"400-InvalidParameter: {client!r} is no client id of application "
                        f"{app.name}; give its name output"
                    )


def is_service_user(inputs: Properties) -> bool:
    """Whether a user is one that only a token signs in."""
    path = "urnietfparamsscimschemasoracleidcsextensionuserUser.serviceUser"
    return flag(inputs, path) is True


def _values(inputs: Properties, path: str) -> list[str]:
    return [value for one in objects(inputs, path) if (value := text(one, "value"))]


KINDS = (User(), Group(), App(), IdentityPropagationTrust())
