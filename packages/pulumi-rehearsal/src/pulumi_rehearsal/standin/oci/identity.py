"""IAM policies, and the users, groups, applications and trusts of identity domains.

Sources: base.py (replacement); https://docs.oracle.com/en-us/iaas/Content/Identity/policysyntax/policysyntax.htm
(only statements that allow are parsed, and of conditions only `ALL {a = 'b', ...}` and a single
`a = 'b'`); https://docs.oracle.com/iaas/Content/Identity/api-getstarted/json_web_token_exchange.htm
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import tokens
from pulumi_rehearsal.standin.oci.base import OciKind, ocid, refuse_while_used
from pulumi_rehearsal.standin.properties import flag, given, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice, exactly_one, spelled
from pulumi_rehearsal.standin.world import World

MAX_STATEMENTS: Final = 50
"""https://docs.oracle.com/en-us/iaas/Content/Identity/Concepts/policies.htm#limits"""

_VERBS: Final = ("inspect", "read", "use", "manage")
"""Each verb includes the ones before it."""

_STATEMENT: Final = re.compile(
    r"allow\s+(?P<subject>any-user|any-group|(?:dynamic-|)group\s+.+?|service\s+.+?)"
    r"\s+to\s+(?P<verb>inspect|read|use|manage|\{[^}]*\})(?:\s+(?P<resource>[a-z-]+))?"
    r"\s+in\s+(?P<where>tenancy|compartment\s+(?:id\s+)?\S+)"
    r"(?:\s+where\s+(?P<condition>.+))?",
    re.IGNORECASE | re.DOTALL,
)
_TERM: Final = re.compile(r"([\w.-]+)\s*=\s*'([^']*)'")
_RULE: Final = re.compile(r"[A-Za-z_][\w.-]*\s+(eq|co)\s+\S.*")
_ENDPOINT: Final = r"https://[a-z0-9.-]+\.identity\.oraclecloud\.com(:443)?"


class Policy(OciKind):
    """A list of statements that allow."""

    token = tokens.POLICY
    id_type = "policy"
    autonamed = "name"
    autoname_limit = 100
    regional = False
    state = "ACTIVE"
    computed: ClassVar[frozenset[str]] = frozenset(
        {"eTag", "inactiveState", "lastUpdateETag", "policyHash", "state", "timeCreated"}
    )
    recomputed: ClassVar[frozenset[str]] = frozenset({"lastUpdateETag", "policyHash"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"compartmentId", "name"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        allowed = "letters, digits, periods, - and _"
        yield from spelled(inputs, "name", r"[A-Za-z0-9._-]+", self.autoname_limit, allowed)
        description = text(inputs, "description")
        if description is not None and not 1 <= len(description) <= 400:
            yield "description", f"has {len(description)} characters, must have 1 to 400"
        statements = texts(inputs, "statements")
        if len(statements) > MAX_STATEMENTS:
            yield "statements", f"has {len(statements)} statements, the limit is {MAX_STATEMENTS}"
        for index, statement in enumerate(statements):
            found = _STATEMENT.fullmatch(statement.strip())
            path = f"statements[{index}]"
            if found is None:
                yield (
                    path,
                    f"{statement!r} is not a statement: write Allow <subject> to <verb> <resource> "
                    "in compartment id <ocid> [where <condition>]",
                )
            elif (found["condition"] or "").count("{") != (found["condition"] or "").count("}"):
                yield path, "has a condition whose braces do not match"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        name, compartment = text(call.inputs, "name"), text(call.inputs, "compartmentId")
        for other in world.where(self.token, call.scope, name=name, compartmentId=compartment):
            if old is None or other.id != old.id:
                raise Refusal(
                    f"409-PolicyAlreadyExists: Policy {name!r} exists in the compartment; leave "
                    "name out, or choose another"
                )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        digits = world.fresh_hex(call.urn, 32)
        return {"eTag": digits, "inactiveState": "", "lastUpdateETag": digits, "policyHash": digits}


def grants(
    policy: Resource,
    subject: str,
    verb: str,
    resource: str,
    conditions: Mapping[str, str] | None = None,
) -> bool:
    """Whether a statement of the policy allows a subject that begins with `subject` to do this.

    The statement's conditions must be among `conditions`, if these are given.
    """
    for statement in texts(policy.outputs, "statements"):
        found = _STATEMENT.fullmatch(statement.strip())
        if found is None or found["resource"] is None:
            continue
        if not found["subject"].lower().startswith(subject):
            continue
        allowed = found["resource"].lower() in (resource, "all-resources")
        included = found["verb"].lower() in _VERBS[_VERBS.index(verb) :]
        terms = dict(_TERM.findall(found["condition"] or ""))
        if allowed and included and (conditions is None or terms.items() <= conditions.items()):
            return True
    return False


class _DomainKind(OciKind):
    """A resource of an identity domain: a SCIM resource with a schema and a unique name."""

    regional = False
    state = ""
    error = "404-NotFound"
    computed: ClassVar[frozenset[str]] = frozenset({"ocid"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"idcsEndpoint"})
    schema_name: ClassVar[str] = ""
    unique: ClassVar[str] = ""
    """The input that must be unique in the domain."""

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        endpoint = text(inputs, "idcsEndpoint")
        if endpoint is not None and not re.fullmatch(_ENDPOINT, endpoint):
            yield "idcsEndpoint", f"{endpoint!r} is not the URL of an identity domain"
        wanted = f"urn:ietf:params:scim:schemas:{self.schema_name}"
        if texts(inputs, "schemas") and wanted not in texts(inputs, "schemas"):
            yield "schemas", f"lacks {wanted}"

    def identify(self, call: Call, world: World) -> str:
        # The id is not the OCID, which is another output.
        return world.fresh_hex(call.urn, 32)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"ocid": ocid(self.id_type, "", id)}

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        name, endpoint = text(call.inputs, self.unique), text(call.inputs, "idcsEndpoint")
        for other in world.where(self.token, idcsEndpoint=endpoint):
            other_name = text(other.inputs, self.unique)
            if name is not None and name == other_name and (old is None or other.id != old.id):
                noun = self.token.rpartition(":")[2].removeprefix("Domains")
                raise Refusal(
                    f"409-Conflict: {noun} with {self.unique} {name!r} exists in the domain; "
                    "choose another"
                )


class User(_DomainKind):
    """A person, or a service user, which has no sign-in."""

    token = tokens.DOMAIN_USER
    id_type = "user"
    schema_name = "core:2.0:User"
    unique = "userName"

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from super().problems(inputs)
        if is_service_user(inputs):
            if given(inputs, "password"):
                yield "password", "must be left out for a service user"
        else:
            for path in ("name", "emails"):
                if not given(inputs, path):
                    yield path, "is required for a person; for a service user set serviceUser: true"

    def delete(self, old: Resource, world: World) -> None:
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


class Group(_DomainKind):
    """A group of users."""

    token = tokens.DOMAIN_GROUP
    id_type = "group"
    schema_name = "core:2.0:Group"
    unique = "displayName"

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from super().problems(inputs)
        for index, member in enumerate(objects(inputs, "members")):
            for path, reason in choice(member, "type", ("User",)):
                yield f"members[{index}].{path}", reason

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        super().refuse(call, old, world)
        for member in _values(call.inputs, "members"):
            if world.get(member, tokens.DOMAIN_USER) is None:
                raise Refusal(
                    f"404-NotFound: the group's member {member!r} is not a user; give a user's id, "
                    "not its OCID"
                )

    def delete(self, old: Resource, world: World) -> None:
        if _values(old.inputs, "members") and not flag(old.inputs, "forceDelete"):
            raise Refusal(
                f"409-Conflict: group {old.name} has members; remove them, or set forceDelete"
            )


class App(_DomainKind):
    """An application; the `name` of an OAuth client is its client id."""

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
        yield from super().problems(inputs)
        yield from choice(inputs, "clientType", ("confidential", "public", "trusted"))
        grants = texts(inputs, "allowedGrants")
        if flag(inputs, "isOauthClient") and not grants:
            yield "allowedGrants", "a client needs at least one grant, such as client_credentials"
        if "client_credentials" in grants and text(inputs, "clientType") == "public":
            yield "clientType", "must be confidential for the grant client_credentials"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        made = {"clientSecret": f"idcscs-{call.hex(32)}", "name": call.hex(32)}
        return {**super().compute(call, id, world), **made}

    def delete(self, old: Resource, world: World) -> None:
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


class IdentityPropagationTrust(_DomainKind):
    """Trust in the tokens of an issuer: for which clients, and the service user of each token."""

    token = tokens.DOMAIN_TRUST
    id_type = "identitypropagationtrust"
    schema_name = "oracle:idcs:IdentityPropagationTrust"
    unique = "name"
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"claimValidations.name", "idcsEndpoint", "impersonationServiceUsers.ref", "name"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from super().problems(inputs)
        yield from choice(inputs, "type", ("AWS", "JWT", "SAML", "SPNEGO", "X509"))
        yield from choice(inputs, "subjectType", ("App", "User"))
        if text(inputs, "type") == "JWT":
            yield from exactly_one(inputs, ("publicKeyEndpoint", "publicCertificate"))
        users = objects(inputs, "impersonationServiceUsers")
        if flag(inputs, "allowImpersonation") and not given(inputs, "impersonationServiceUsers"):
            yield "impersonationServiceUsers", "is required with allowImpersonation"
        if users and not flag(inputs, "allowImpersonation"):
            yield "allowImpersonation", "must be true for impersonationServiceUsers to apply"
        for index, user in enumerate(users):
            rule = text(user, "rule")
            if rule is not None and not _RULE.fullmatch(rule):
                yield (
                    f"impersonationServiceUsers[{index}].rule",
                    f"{rule!r} is not a rule: write <claim> eq <value>",
                )

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        super().refuse(call, old, world)
        issuer, endpoint = text(call.inputs, "issuer"), text(call.inputs, "idcsEndpoint")
        for other in world.where(self.token, issuer=issuer, idcsEndpoint=endpoint):
            if old is None or other.id != old.id:
                raise Refusal(f"409-Conflict: trust {other.name} is for the issuer {issuer} too")
        for wanted in _values(call.inputs, "impersonationServiceUsers"):
            user = world.get(wanted, tokens.DOMAIN_USER)
            if user is None:
                raise Refusal(
                    f"404-NotFound: no user has the id {wanted!r}; give the id, not the OCID"
                )
            if not is_service_user(user.inputs):
                raise Refusal(
                    f"400-InvalidParameter: {user.name} is a person; only a service user can be "
                    "impersonated"
                )
        for client in texts(call.inputs, "oauthClients"):
            for app in world.all(tokens.DOMAIN_APP):
                if client in (app.id, text(app.outputs, "ocid"), text(app.inputs, "displayName")):
                    raise Refusal(
                        f"400-InvalidParameter: {client!r} is not the client id of application "
                        f"{app.name}; give its output name"
                    )


def is_service_user(inputs: Properties) -> bool:
    """Whether the inputs of a User describe a service user."""
    path = "urnietfparamsscimschemasoracleidcsextensionuserUser.serviceUser"
    return flag(inputs, path) is True


def _values(inputs: Properties, path: str) -> list[str]:
    return [value for one in objects(inputs, path) if (value := text(one, "value"))]


KINDS = (Policy(), User(), Group(), App(), IdentityPropagationTrust())
