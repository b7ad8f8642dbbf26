"""S3 buckets and their settings.

Replacement, from the provider's documentation: hashicorp/terraform-provider-aws
website/docs/r/s3_bucket*.html.markdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import AwsKind, arn, region_of
from pulumi_rehearsal.standin.aws.policy_documents import (
    document_problems,
    public,
    several,
    statements,
)
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import flag, objects, text
from pulumi_rehearsal.standin.rules import Problem, choice, conflict, must_exist, spelled
from pulumi_rehearsal.standin.world import World


class Bucket(AwsKind):
    """A bucket; its name is unique in the world."""

    token = tokens.BUCKET
    autonamed = "bucket"
    autoname_limit = 63
    computed: ClassVar[frozenset[str]] = frozenset(
        {"arn", "bucketDomainName", "bucketRegion", "bucketRegionalDomainName", "hostedZoneId"}
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"bucket", "bucketNamespace", "bucketPrefix", "objectLockEnabled", "region"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the name."""
        yield from conflict(inputs, "bucket", "bucketPrefix")
        yield from spelled(
            inputs,
            "bucket",
            r"(?!xn--)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
            63,
            "3 to 63 lower-case letters, digits, dots and hyphens",
        )

    def identify(self, call: Call, world: World) -> str:
        return self.physical_name(call, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a free name."""
        name = text(call.inputs, "bucket")
        if old is None and name and world.get(name, tokens.BUCKET) is not None:
            raise Refusal(f"BucketAlreadyExists: bucket {name} exists; choose another name")

    def compute(self, call: Call, id: str, world: World) -> Properties:
        region = region_of(call.scope, call.inputs)
        return {
            "arn": arn("s3", "", id, account=""),
            "bucket": id,
            "bucketDomainName": f"{id}.s3.amazonaws.com",
            "bucketRegion": region,
            "bucketRegionalDomainName": f"{id}.s3.{region}.amazonaws.com",
            "hostedZoneId": "Z3BJ6K6RIION7M",
        }


class _BucketSetting(AwsKind):
    """A setting of a bucket, at most one of each kind."""

    replaced_on: ClassVar[frozenset[str]] = frozenset({"bucket", "region"})

    def identify(self, call: Call, world: World) -> str:
        return text(call.inputs, "bucket") or ""

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the bucket, and refuse a second setting of the kind."""
        name = text(call.inputs, "bucket")
        must_exist(world, tokens.BUCKET, name, call.scope, "NoSuchBucket")
        if old is None and world.get(name or "", self.token, call.scope) is not None:
            raise Refusal(
                f"bucket {name} has a {self.token.rpartition(':')[2]} already, and the two would "
                "undo each other: leave one out"
            )


class BucketPublicAccessBlock(_BucketSetting):
    """The public access block of a bucket."""

    token = tokens.BUCKET_PUBLIC_ACCESS_BLOCK


class BucketOwnershipControls(_BucketSetting):
    """The object ownership of a bucket."""

    token = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        owners = ("BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter")
        yield from choice(inputs, "rule.objectOwnership", owners)


class BucketVersioning(_BucketSetting):
    """The versioning of a bucket."""

    token = "aws:s3/bucketVersioning:BucketVersioning"

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        states = ("Disabled", "Enabled", "Suspended")
        yield from choice(inputs, "versioningConfiguration.status", states)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Refuse to disable versioning: once enabled, it can only be suspended."""
        super().refuse(call, old, world)
        status = text(call.inputs, "versioningConfiguration.status")
        if old is not None and status == "Disabled":
            raise Refusal(
                f"versioning of bucket {old.id} cannot go back to Disabled; write Suspended"
            )


class BucketPolicy(_BucketSetting):
    """The resource policy of a bucket."""

    token = "aws:s3/bucketPolicy:BucketPolicy"
    replaced_on: ClassVar[frozenset[str]] = frozenset({"bucket", "region"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Require a document of at most 20 KiB with a principal in each statement."""
        if found := list(document_problems(inputs, "policy", limit=20_480)):
            yield from found
            return
        for index, statement in enumerate(statements(text(inputs, "policy"))):
            if not statement.get("Principal") and not statement.get("NotPrincipal"):
                yield f"policy.Statement[{index}]", "has no Principal, which a bucket policy needs"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Refuse a policy about another bucket, and a public one if those are blocked."""
        super().refuse(call, old, world)
        bucket, policy = text(call.inputs, "bucket"), text(call.inputs, "policy")
        if bucket is None or policy is None:
            return
        own = arn("s3", "", bucket, account="")
        for statement in statements(policy):
            for resource in several(statement.get("Resource")):
                if resource != own and not str(resource).startswith(f"{own}/"):
                    raise Refusal(
                        f"MalformedPolicy: {resource} is not in bucket {bucket}; write {own} "
                        f"or {own}/*"
                    )
        block = world.get(bucket, tokens.BUCKET_PUBLIC_ACCESS_BLOCK, call.scope)
        if block is not None and flag(block.inputs, "blockPublicPolicy") and public(policy):
            raise Refusal(
                f"AccessDenied: bucket {bucket} blocks public policies, and this one allows "
                "everyone an action; name the principals"
            )


class BucketLifecycleConfiguration(_BucketSetting):
    """The lifecycle rules of a bucket."""

    token = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check status and id of each rule."""
        rules = objects(inputs, "rules")
        ids = [text(rule, "id") for rule in rules]
        for index, rule in enumerate(rules):
            for path, reason in choice(rule, "status", ("Disabled", "Enabled")):
                yield f"rules[{index}].{path}", reason
            if ids.count(ids[index]) > 1:
                yield f"rules[{index}].id", f"{ids[index]!r} is used twice"


class BucketServerSideEncryptionConfiguration(_BucketSetting):
    """The default encryption of a bucket."""

    token = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the algorithm of each rule."""
        default = "applyServerSideEncryptionByDefault"
        path = f"{default}.sseAlgorithm"
        for index, rule in enumerate(objects(inputs, "rules")):
            for where, reason in choice(rule, path, ("AES256", "aws:kms", "aws:kms:dsse")):
                yield f"rules[{index}].{where}", reason
            if text(rule, f"{default}.kmsMasterKeyId") and text(rule, path) == "AES256":
                yield f"rules[{index}].{path}", "AES256 uses no KMS key: write aws:kms"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the KMS key, if the stack has keys."""
        super().refuse(call, old, world)
        for rule in objects(call.inputs, "rules"):
            key = text(rule, "applyServerSideEncryptionByDefault.kmsMasterKeyId")
            if key is not None and world.by_arn(key) is None and world.all(tokens.KMS_KEY):
                raise Refusal(f"KMS.NotFoundException: key {key} does not exist (any more)")


KINDS = (
    Bucket(),
    BucketPublicAccessBlock(),
    BucketOwnershipControls(),
    BucketVersioning(),
    BucketPolicy(),
    BucketLifecycleConfiguration(),
    BucketServerSideEncryptionConfiguration(),
)
