"""The S3 bucket and KMS key that hold the state of every stack and the secrets in it.

Pulumi locks with files in the bucket itself, under `.pulumi/locks/`; no table is needed.
https://www.pulumi.com/docs/iac/concepts/state-and-backends/
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from bootstrap.plan import StatePlan
from bootstrap.policies import tls_only

KEY_DELETION_DAYS = 30
"""The longest that KMS takes: without the key every state is lost."""

UPLOAD_DAYS = 7
"""After so many days the parts of an upload that broke off are removed."""


@dataclass(frozen=True, kw_only=True)
class StateStoreArgs:
    """The plan of the store."""

    plan: StatePlan


class StateStore(pulumi.ComponentResource):
    """Key and alias; bucket with versions, encryption, an owner, a lifecycle, and TLS only."""

    bucket_name: pulumi.Output[str]
    """Name of the bucket, once all its settings are in place."""
    bucket_arn: pulumi.Output[str]
    """ARN of the bucket."""
    key_arn: pulumi.Output[str]
    """ARN of the key, which IAM wants where others take the alias."""

    def __init__(
        self, name: str, args: StateStoreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:bootstrap:StateStore", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        kept = pulumi.ResourceOptions.merge(
            child, pulumi.ResourceOptions(protect=plan.protect or None)
        )
        key = aws.kms.Key(
            f"{name}-key",
            description="Encrypts the state of Pulumi and the secrets in it",
            enable_key_rotation=True,
            deletion_window_in_days=KEY_DELETION_DAYS,
            tags=plan.tags,
            opts=kept,
        )
        aws.kms.Alias(f"{name}-key", name=plan.alias, target_key_id=key.key_id, opts=child)
        bucket = aws.s3.Bucket(
            f"{name}-state",
            bucket=plan.bucket,
            tags=plan.tags,
            opts=kept,
        )
        _settings(name, plan, bucket, key, child)
        self.bucket_name = bucket.bucket
        self.bucket_arn = bucket.arn
        self.key_arn = key.arn
        self.register_outputs({"bucket": self.bucket_name, "alias": plan.alias})


def _settings(
    name: str,
    plan: StatePlan,
    bucket: aws.s3.Bucket,
    key: aws.kms.Key,
    child: pulumi.ResourceOptions,
) -> None:
    aws.s3.BucketOwnershipControls(
        f"{name}-ownership",
        bucket=bucket.bucket,
        rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
        opts=child,
    )
    closed = aws.s3.BucketPublicAccessBlock(
        f"{name}-public",
        bucket=bucket.bucket,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=child,
    )
    aws.s3.BucketServerSideEncryptionConfiguration(
        f"{name}-encryption",
        bucket=bucket.bucket,
        rules=[
            aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                apply_server_side_encryption_by_default=(
                    aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                        sse_algorithm="aws:kms", kms_master_key_id=key.arn
                    )
                ),
                # One data key for many objects: locks come and go with every update.
                bucket_key_enabled=True,
            )
        ],
        opts=child,
    )
    versions = aws.s3.BucketVersioning(
        f"{name}-versions",
        bucket=bucket.bucket,
        versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(
            status="Enabled"
        ),
        opts=child,
    )
    aws.s3.BucketLifecycleConfiguration(
        f"{name}-lifecycle",
        bucket=bucket.bucket,
        rules=[
            aws.s3.BucketLifecycleConfigurationRuleArgs(
                id="old-versions",
                status="Enabled",
                filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
                noncurrent_version_expiration=(
                    aws.s3.BucketLifecycleConfigurationRuleNoncurrentVersionExpirationArgs(
                        noncurrent_days=plan.keep_versions_days
                    )
                ),
                # What is left of a lock: a marker over versions that are gone.
                expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(
                    expired_object_delete_marker=True
                ),
                abort_incomplete_multipart_upload=(
                    aws.s3.BucketLifecycleConfigurationRuleAbortIncompleteMultipartUploadArgs(
                        days_after_initiation=UPLOAD_DAYS
                    )
                ),
            )
        ],
        # As the provider's documentation has it: versions first, then rules about them.
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[versions])),
    )
    aws.s3.BucketPolicy(
        f"{name}-tls",
        bucket=bucket.bucket,
        policy=bucket.arn.apply(lambda arn: json.dumps(tls_only(arn))),
        # S3 takes one change of a bucket's access at a time.
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[closed])),
    )
