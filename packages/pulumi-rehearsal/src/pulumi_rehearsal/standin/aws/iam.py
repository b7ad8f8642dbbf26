"""IAM: roles, their inline and attached policies, OIDC providers. Names are global, not regional.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/iam/role.go,
role_policy.go, role_policy_attachment.go, openid_connect_provider.go. IAM's eventual consistency (a
new role is visible only after seconds) is not imitated: the provider waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import policy_documents, tokens
from pulumi_rehearsal.standin.aws.base import CREATED_AT, AwsKind, arn
from pulumi_rehearsal.standin.aws.policy_documents import document_problems, federation_problems
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import flag, items, text, texts
from pulumi_rehearsal.standin.rules import Problem, between, conflict, spelled
from pulumi_rehearsal.standin.world import Event, World

AWS_MANAGED_POLICIES: Final = frozenset(
    {
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEC2ContainerRegistryReadOnly",
        "AmazonEKSClusterPolicy",
        "AmazonEKSVPCResourceController",
        "AmazonEKSWorkerNodeMinimalPolicy",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonS3ReadOnlyAccess",
        "AmazonSSMManagedInstanceCore",
        "CloudWatchAgentServerPolicy",
        "service-role/AmazonEBSCSIDriverPolicy",
        "service-role/AmazonEFSCSIDriverPolicy",
    }
)
"""Some of https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html ."""

ATTACHED_POLICIES: Final = 10
"""Managed policies per role: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"""

INLINE_POLICIES: Final = 10_240
"""Characters of all policies inside one role without white space; from the same page."""

_NAME: Final = r"[\w+=,.@-]+"
_NAME_CHARACTERS: Final = "letters, digits and _+=,.@-"


class Role(AwsKind):
    """An IAM role."""

    token = tokens.ROLE
    autonamed = "name"
    # IAM's limit, which pulumi/pulumi-aws provider/resources.go applies to automatic names.
    autoname_limit = 64
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "createDate", "uniqueId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"name", "namePrefix", "path"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check name, session length and trust policy."""
        yield from conflict(inputs, "name", "namePrefix")
        yield from spelled(inputs, "name", _NAME, 64, _NAME_CHARACTERS)
        yield from between(inputs, "maxSessionDuration", 3600, 43200)
        found = list(document_problems(inputs, "assumeRolePolicy", trust=True))
        yield from found or federation_problems(inputs, "assumeRolePolicy")

    def identify(self, call: Call, world: World) -> str:
        return self.physical_name(call, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a free name in the account."""
        _refuse_taken_name(self, call, old, world)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        path = text(call.inputs, "path") or "/"
        return {
            "arn": arn("iam", "", f"role{path}{id}"),
            "createDate": CREATED_AT,
            "name": id,
            "path": path,
            "maxSessionDuration": call.inputs.get("maxSessionDuration", 3600),
            "uniqueId": f"AROA{world.fresh_hex(call.urn, 17).upper()}",
        }

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while policies are attached, unless `forceDetachPolicies` is set."""
        policies = (
            ()
            if flag(old.inputs, "forceDetachPolicies")
            else (
                *world.where(tokens.ROLE_POLICY_ATTACHMENT, role=old.id),
                *world.where(tokens.ROLE_POLICY, role=old.id),
            )
        )
        if users := [policy.id for policy in policies]:
            raise Refusal(
                f"DeleteConflict: role {old.id} still has {', '.join(users)}; delete these first"
            )


class RolePolicy(AwsKind):
    """An inline policy of a role."""

    token = tokens.ROLE_POLICY
    autonamed = "name"
    autoname_limit = 128
    replaced_on: ClassVar[frozenset[str]] = frozenset({"name", "namePrefix", "role"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from conflict(inputs, "name", "namePrefix")
        yield from spelled(inputs, "name", _NAME, 128, _NAME_CHARACTERS)
        yield from document_problems(inputs, "policy", limit=10_240)

    def identify(self, call: Call, world: World) -> str:
        """Return `<role>:<name>`."""
        return f"{text(call.inputs, 'role')}:{self.physical_name(call, world)}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the role, and its limit of characters in inline policies."""
        role = _role_named(world, text(call.inputs, "role"))
        if role is None:
            return
        others = [
            text(one.outputs, "policy") or ""
            for one in world.where(self.token, role=role.id)
            if old is None or one.id != old.id
        ]
        size = sum(
            len("".join(one.split())) for one in (*others, text(call.inputs, "policy") or "")
        )
        if size > INLINE_POLICIES:
            raise Refusal(
                f"LimitExceeded: the inline policies of role {role.id} have {size} characters, "
                f"over the limit of {INLINE_POLICIES}; shorten them, or attach a managed policy"
            )


class RolePolicyAttachment(AwsKind):
    """The attachment of a managed policy to a role."""

    token = tokens.ROLE_POLICY_ATTACHMENT
    replaced_on: ClassVar[frozenset[str]] = frozenset({"*"})
    updated_on: ClassVar[frozenset[str]] = frozenset()

    def identify(self, call: Call, world: World) -> str:
        """Return `<role>/<policy ARN>`."""
        return f"{text(call.inputs, 'role')}/{text(call.inputs, 'policyArn')}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require role and policy, and the role's limit of attached policies."""
        role = _role_named(world, text(call.inputs, "role"))
        policy_arn = text(call.inputs, "policyArn")
        if policy_arn is None or role is None:
            return
        prefix = arn("iam", "", "policy/", account="aws")
        if policy_arn.startswith(prefix):
            if policy_arn.removeprefix(prefix) not in AWS_MANAGED_POLICIES:
                world.note(
                    Event(
                        action="warned",
                        urn=call.urn,
                        type=call.type,
                        name=call.name,
                        detail=f"cannot check that AWS has a policy {policy_arn}",
                    )
                )
        elif world.find(tokens.POLICY, arn=policy_arn) is None:
            raise Refusal(
                f"NoSuchEntity: policy {policy_arn} does not exist; refer to the Policy's arn"
            )
        if policy_arn in attached_policies(world, role):
            raise Refusal(
                f"{policy_arn} is attached to role {role.id} already; two resources for one "
                "attachment undo each other: leave one out"
            )
        if len(attached_policies(world, role)) >= ATTACHED_POLICIES:
            raise Refusal(
                f"LimitExceeded: role {role.id} has {ATTACHED_POLICIES} managed policies, the "
                "default quota; combine some of them in one policy"
            )


class OpenIdConnectProvider(AwsKind):
    """An OIDC provider: an issuer whose tokens IAM accepts."""

    token = tokens.OIDC_PROVIDER
    computed: ClassVar[frozenset[str]] = frozenset({"arn"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"url"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the URL and the thumbprints."""
        url = text(inputs, "url")
        if url is not None and not url.startswith("https://"):
            yield "url", "must begin with https://"
        for index, thumbprint in enumerate(texts(inputs, "thumbprintLists")):
            if len(thumbprint) != 40:
                yield f"thumbprintLists[{index}]", "a SHA-1 thumbprint has 40 hexadecimal digits"

    def identify(self, call: Call, world: World) -> str:
        """Return the ARN, which contains the URL."""
        host = (text(call.inputs, "url") or "").removeprefix("https://")
        return arn("iam", "", f"oidc-provider/{host}")

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Refuse a second provider for one issuer."""
        url = text(call.inputs, "url")
        if old is None and world.find(tokens.OIDC_PROVIDER, url=url) is not None:
            raise Refusal(f"EntityAlreadyExists: an OIDC provider for {url} exists; use that one")

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"arn": id}


def role_by_arn(world: World, role_arn: str | None, error: str) -> Resource | None:
    """Return the role with that ARN, `None` for no ARN. Raises `Refusal` if it is absent."""
    if role_arn is None:
        return None
    role = world.find(tokens.ROLE, arn=role_arn)
    if role is None:
        raise Refusal(
            f"{error}: role {role_arn} does not exist (yet); refer to the Role's arn, so that it "
            "is created first"
        )
    return role


def trusts(role: Resource, service: str, *actions: str) -> bool:
    """Whether the role's trust policy lets `service` do all of `actions`."""
    return policy_documents.trusts(text(role.inputs, "assumeRolePolicy"), service, *actions)


def trusts_federation(role: Resource, issuer: str) -> bool:
    """Whether the role may be assumed with a web identity of `issuer` (a URL)."""
    return policy_documents.trusts_federation(text(role.inputs, "assumeRolePolicy"), issuer)


def attached_policies(world: World, role: Resource) -> tuple[str, ...]:
    """Return the ARNs of the managed policies of `role`."""
    attachments = world.where(tokens.ROLE_POLICY_ATTACHMENT, role=role.id)
    return (
        *(policy for one in attachments if (policy := text(one.outputs, "policyArn"))),
        *texts(role.inputs, "managedPolicyArns"),
    )


def has_aws_policy(world: World, role: Resource, *names: str) -> bool:
    """Whether `role` has one of these AWS managed policies."""
    wanted = {arn("iam", "", f"policy/{name}", account="aws") for name in names}
    return not wanted.isdisjoint(attached_policies(world, role))


def has_any_policy(world: World, role: Resource) -> bool:
    """Whether `role` has any policy."""
    return bool(
        attached_policies(world, role)
        or world.where(tokens.ROLE_POLICY, role=role.id)
        or items(role.inputs, "inlinePolicies")
    )


def _role_named(world: World, name: str | None) -> Resource | None:
    if name is None:
        return None
    role = world.find(tokens.ROLE, name=name)
    if role is None:
        hint = ": this is an ARN, give the role's name" if name.startswith("arn:") else ""
        raise Refusal(
            f"NoSuchEntity: the role with name {name} cannot be found{hint}; refer to the Role's "
            "name, so that it is created first"
        )
    return role


def _refuse_taken_name(kind: AwsKind, call: Call, old: Resource | None, world: World) -> None:
    name = text(call.inputs, "name")
    if old is None and name is not None and world.find(kind.token, name=name) is not None:
        noun = kind.token.rpartition(":")[2]
        raise Refusal(
            f"EntityAlreadyExists: {noun} with name {name} already exists; leave the name out "
            "or choose another"
        )


KINDS = (
    Role(),
    RolePolicy(),
    RolePolicyAttachment(),
    OpenIdConnectProvider(),
)
