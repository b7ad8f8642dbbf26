"""KMS keys and aliases, CloudWatch log groups.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/kms/key.go, alias.go,
internal/service/logs/group.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import AwsKind, arn, region_of
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import lookup, text, texts
from pulumi_rehearsal.standin.rules import Problem, between, choice, conflict, must_exist, spelled
from pulumi_rehearsal.standin.world import World

RETENTION_DAYS: Final = frozenset(
    {
        0,
        1,
        3,
        5,
        7,
        14,
        30,
        60,
        90,
        120,
        150,
        180,
        365,
        400,
        545,
        731,
        1096,
        1827,
        2192,
        2557,
        2922,
        3288,
        3653,
    }
)


class Key(AwsKind):
    """A KMS key."""

    token = tokens.KMS_KEY
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "keyId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "customKeyStoreId",
            "customerMasterKeySpec",
            "keyUsage",
            "multiRegion",
            "region",
            "xksKeyId",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check days and usage."""
        yield from between(inputs, "deletionWindowInDays", 7, 30)
        yield from between(inputs, "rotationPeriodInDays", 90, 2560)
        yield from choice(
            inputs,
            "keyUsage",
            ("ENCRYPT_DECRYPT", "GENERATE_VERIFY_MAC", "KEY_AGREEMENT", "SIGN_VERIFY"),
        )

    def identify(self, call: Call, world: World) -> str:
        digits = world.fresh_hex(call.urn, 32)
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"arn": arn("kms", region_of(call.scope, call.inputs), f"key/{id}"), "keyId": id}


class Alias(AwsKind):
    """An alias of a KMS key."""

    token = tokens.KMS_ALIAS
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "targetKeyArn"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"name", "namePrefix", "region"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Require `alias/` and a valid name."""
        yield from conflict(inputs, "name", "namePrefix")
        yield from spelled(
            inputs,
            "name",
            r"alias/(?!aws/)[a-zA-Z0-9/_-]+",
            256,
            "'alias/' and letters, digits, /, _ and -, not beginning with 'alias/aws/'",
        )

    def check(self, call: Call, old: Properties | None) -> Properties:
        """Prefix the automatic name with `alias/` (pulumi/pulumi-aws provider/resources.go)."""
        inputs = super().check(call, old)
        if lookup(inputs, "name") is not None or lookup(inputs, "namePrefix") is not None:
            return inputs
        kept = text(old or {}, "name")
        return {**inputs, "name": kept or f"alias/{call.name}-{call.hex(7)}"}

    def identify(self, call: Call, world: World) -> str:
        return self.physical_name(call, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the key and a free name."""
        target = text(call.inputs, "targetKeyId")
        if target and not target.startswith("arn:"):
            must_exist(world, tokens.KMS_KEY, target, call.scope, "NotFoundException")
        name = text(call.inputs, "name")
        if old is None and name and world.get(name, tokens.KMS_ALIAS, call.scope):
            raise Refusal(f"AlreadyExistsException: alias {name} exists; choose another name")

    def compute(self, call: Call, id: str, world: World) -> Properties:
        region = region_of(call.scope, call.inputs)
        target = text(call.inputs, "targetKeyId") or ""
        key = target if target.startswith("arn:") else arn("kms", region, f"key/{target}")
        return {"arn": arn("kms", region, id), "targetKeyArn": key}


class LogGroup(AwsKind):
    """A CloudWatch log group."""

    token = tokens.LOG_GROUP
    autonamed = "name"
    autoname_limit = 512
    computed: ClassVar[frozenset[str]] = frozenset({"arn"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"logGroupClass", "name", "namePrefix", "region"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check name, class and retention."""
        yield from conflict(inputs, "name", "namePrefix")
        yield from spelled(inputs, "name", r"[\w.\-/#]+", 512, "letters, digits and _ . - / #")
        yield from choice(inputs, "logGroupClass", ("DELIVERY", "INFREQUENT_ACCESS", "STANDARD"))
        days = lookup(inputs, "retentionInDays")
        if isinstance(days, int) and days not in RETENTION_DAYS:
            allowed = ", ".join(str(one) for one in sorted(RETENTION_DAYS))
            yield "retentionInDays", f"{days} is none of {allowed}"

    def identify(self, call: Call, world: World) -> str:
        return self.physical_name(call, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a free name: EKS creates its cluster's group when the cluster first logs."""
        name = text(call.inputs, "name") or ""
        if old is not None:
            return
        if world.get(name, tokens.LOG_GROUP, call.scope) is not None:
            raise Refusal(f"ResourceAlreadyExistsException: log group {name} exists")
        for cluster in world.all(tokens.CLUSTER, call.scope):
            if name == _log_group_of(cluster):
                raise Refusal(
                    f"ResourceAlreadyExistsException: log group {name} exists: cluster "
                    f"{cluster.id} created it when it began to log; make the cluster depend on the "
                    "log group"
                )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        region = region_of(call.scope, call.inputs)
        return {"arn": arn("logs", region, f"log-group:{id}"), "name": id}

    def delete(self, old: Resource, world: World) -> None:
        """Warn if a cluster still logs: EKS would create the group again, outside the stack."""
        for cluster in world.all(tokens.CLUSTER, old.scope):
            if old.id == _log_group_of(cluster):
                world.record(
                    "warned", old, f"cluster {cluster.id} still logs and creates {old.id} again"
                )


def _log_group_of(cluster: Resource) -> str | None:
    logs = texts(cluster.outputs, "enabledClusterLogTypes")
    return f"/aws/eks/{cluster.id}/cluster" if logs else None


KINDS = (Key(), Alias(), LogGroup())
