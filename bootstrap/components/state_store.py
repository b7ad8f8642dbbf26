"""The S3 bucket for the state of every stack, and the KMS key that encrypts it and its secrets.

Pulumi locks a stack with a file under `.pulumi/locks/` in the bucket, so no table is needed.
https://www.pulumi.com/docs/iac/concepts/state-and-backends/
"""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from bootstrap.iam_policies import tls_only
from bootstrap.plan import StatePlan

KEY_DELETION_DAYS = 30
"""The maximum of KMS. Without the key, every state is lost."""

UPLOAD_DAYS = 7
"""Days after which S3 removes the parts of an incomplete upload."""


class StateStore(pulumi.ComponentResource):
    """A key with alias; a private, encrypted, versioned bucket with lifecycle rules."""

    bucket_name: pulumi.Output[str]
    """Name of the bucket."""
    bucket_arn: pulumi.Output[str]
    key_arn: pulumi.Output[str]
    """ARN of the key: IAM policies take no alias."""

    def __init__(
        self, name: str, args: StatePlan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:bootstrap:StateStore", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        protected = pulumi.ResourceOptions.merge(
            child, pulumi.ResourceOptions(protect=args.protect or None)
        )
        key = aws.kms.Key(
            f"{name}-key",
            description="Encrypts the state of Pulumi and the secrets in it",
            enable_key_rotation=True,
            deletion_window_in_days=KEY_DELETION_DAYS,
            tags=args.tags,
            opts=protected,
        )
        aws.kms.Alias(f"{name}-key", name=args.alias, target_key_id=key.key_id, opts=child)
        bucket = aws.s3.Bucket(
            f"{name}-state",
            bucket=args.bucket,
            tags=args.tags,
            opts=protected,
        )
        _settings(name, args, bucket, key, child)
        self.bucket_name = bucket.bucket
        self.bucket_arn = bucket.arn
        self.key_arn = key.arn
        self.register_outputs({"bucket": self.bucket_name, "alias": args.alias})


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
                # One data key for many objects, since every update creates and deletes lock files.
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
                # Deleted lock files leave a delete marker after their versions expire.
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
        # The provider's documentation requires versioning before rules about versions.
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[versions])),
    )
    aws.s3.BucketPolicy(
        f"{name}-tls",
        bucket=bucket.bucket,
        policy=bucket.arn.apply(lambda arn: json.dumps(tls_only(arn))),
        # S3 refuses concurrent changes of the access settings of a bucket.
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[closed])),
    )
