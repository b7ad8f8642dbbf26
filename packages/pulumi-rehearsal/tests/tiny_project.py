"""A small Pulumi project to rehearse, with stand-ins of its own for three resource types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pulumi
from pulumi_rehearsal.driver import rehearse
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.standin.faults import Fault
from pulumi_rehearsal.standin.kind import UNKNOWN, Call, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.world import World

TINY = """\
config:
  pulumi:disable-default-providers: ["*"]
  tiny:stack:
    instance_type: g4dn.xlarge
"""


class Vpc(Kind):
    token: ClassVar[str] = "aws:ec2/vpc:Vpc"
    computed: ClassVar[frozenset[str]] = frozenset({"arn"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"cidrBlock"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"tags"})

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"arn": f"arn:aws:ec2:us-west-2:111122223333:vpc/{id}"}


class NodeGroup(Kind):
    token: ClassVar[str] = "aws:eks/nodeGroup:NodeGroup"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "status"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"instanceTypes", "nodeGroupName"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"scalingConfig"})
    recomputed: ClassVar[frozenset[str]] = frozenset({"status"})
    autonamed: ClassVar[str | None] = "nodeGroupName"
    autoname_limit: ClassVar[int] = 63

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"arn": f"arn:aws:eks:us-west-2:111122223333:nodegroup/{id}", "status": "ACTIVE"}

    def delete(self, old: Resource, world: World) -> None:
        if world.find("kubernetes:core/v1:Secret") is not None:
            raise Refusal("a Secret still needs the nodes: let it depend on the node group")


class Secret(Kind):
    token: ClassVar[str] = "kubernetes:core/v1:Secret"
    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})

    def identify(self, call: Call, world: World) -> str:
        metadata = call.inputs["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"


def _scope(package: str, field: str) -> Callable[[Properties], str]:
    def scope(configuration: Properties) -> str:
        value = configuration.get(field, UNKNOWN)
        return f"{package}:{'?' if value is UNKNOWN else value}"

    return scope


AWS = Package(
    name="aws",
    kinds=(Vpc(), NodeGroup()),
    scope=_scope("aws", "region"),
)
KUBERNETES = Package(
    name="kubernetes",
    kinds=(Secret(),),
    scope=_scope("kubernetes", "kubeconfig"),
)


def tiny_program() -> None:
    """A protected network, a node group in it, and a Secret in each of two clusters."""
    import pulumi_aws as aws
    import pulumi_kubernetes as kubernetes

    config = pulumi.Config("tiny")
    stack = config.require_object("stack")
    in_aws = aws.Provider("aws", region="us-west-2")
    network = aws.ec2.Vpc(
        "network",
        cidr_block="10.0.0.0/16",
        opts=pulumi.ResourceOptions(provider=in_aws, protect=True),
    )
    pool = aws.eks.NodeGroup(
        "pool",
        cluster_name=network.id,
        node_role_arn=network.arn,
        subnet_ids=[network.id],
        instance_types=[stack["instance_type"]],
        scaling_config={"min_size": 0, "max_size": 2, "desired_size": 0},
        opts=pulumi.ResourceOptions(provider=in_aws),
    )
    token = config.require_secret("token")
    for name in ("one", "two"):
        provider = kubernetes.Provider(name, kubeconfig=pool.arn.apply(lambda arn, n=name: n + arn))
        annotations = {"token": config.require("token")} if stack.get("leak") else {}
        kubernetes.core.v1.Secret(
            f"{name}-secret",
            metadata={"name": "token", "namespace": "ci", "annotations": annotations},
            string_data={"token": token, "token64": token.apply(lambda text: text * 2)},
            opts=pulumi.ResourceOptions(provider=provider),
        )
    pulumi.export("arn", pool.arn)


Rehearse = Callable[..., Result]


def rehearse_in(
    folder: Path,
    change: str = "",
    *,
    then: str | None = None,
    faults: Sequence[Fault] = (),
    program: Callable[[], None] = tiny_program,
    packages: Sequence[Package] = (AWS, KUBERNETES),
    **more: Any,
) -> Result:
    """Rehearse the small program; `change` is appended to its stack file, `then` to a second."""
    first, second = folder / "Pulumi.tiny.yaml", folder / "then.yaml"
    (folder / "Pulumi.yaml").write_text("name: tiny\nruntime: python\n")
    first.write_text(TINY + change)
    if then is not None:
        second.write_text(TINY + then)
    return rehearse(
        folder,
        stack="tiny",
        to=None if then is None else second,
        secret_config=["token"],
        faults=faults,
        folder=folder / "out",
        program=program,
        packages=packages,
        **{"only_known_types": True, **more},
    )
