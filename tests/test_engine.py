"""The fake engine refuses what a real one would, and hides nothing from a test."""

import asyncio
import importlib

import pulumi
import pulumi_aws as aws
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes
import pytest
from pulumi import _types

from tests.cases import for_each
from tests.computed import COMPUTED, GITLAB_TOKEN
from tests.engine import STACK_TYPE, Called, Registered, Undeclared, attempt, deploy
from tests.wire import UNKNOWN


class Box(pulumi.ComponentResource):
    """A component with one child."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("test:index:Box", name, None, opts)
        self.vpc = aws.ec2.Vpc(
            name, cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=self)
        )
        self.register_outputs({"vpc": self.vpc.id})


def test_records_what_a_raw_request_says() -> None:
    def program() -> None:
        provider = aws.Provider("west", region="us-west-2")
        first = aws.ec2.Vpc("first", opts=pulumi.ResourceOptions(provider=provider, protect=True))
        box = Box(
            "box", pulumi.ResourceOptions(providers=[provider], aliases=[pulumi.Alias("old")])
        )
        aws.ec2.Subnet(
            "subnet",
            vpc_id=box.vpc.id,
            opts=pulumi.ResourceOptions(
                provider=provider,
                depends_on=[first],
                ignore_changes=["tags"],
                replace_on_changes=["cidrBlock"],
                delete_before_replace=True,
            ),
        )

    found = deploy(program)
    subnet, box = found.one(aws.ec2.Subnet), found.one("test:index:Box")
    first, inner = found.one(aws.ec2.Vpc, "first"), found.one(aws.ec2.Vpc, "box")
    assert first.protect
    assert not subnet.protect
    assert subnet.provider_urn == found.one("pulumi:providers:aws").urn
    assert subnet.inputs["vpcId"] == "box-id"
    assert subnet.depends_on == {first.urn, inner.urn}
    assert subnet.property_dependencies["vpcId"] == {inner.urn}
    assert (subnet.ignore_changes, subnet.replace_on_changes) == (("tags",), ("cidrBlock",))
    assert subnet.delete_before_replace
    assert box.aliases == ("old",)
    assert found.children(box) == [inner]
    assert inner.urn.endswith("::test:index:Box$aws:ec2/vpc:Vpc::box")
    assert inner.provider_urn, "a child inherits the provider of its component"
    assert [values.data for values in found.outputs[box.urn]] == [{"vpc": "box-id"}]
    assert found.before(subnet) >= {first.urn, inner.urn, subnet.provider_urn}


def test_a_urn_twice_fails_the_program() -> None:
    def program() -> None:
        Box("box")
        Box("box")

    with pytest.raises(Undeclared, match="::box is registered twice"):
        deploy(program)


def test_a_call_that_is_not_declared_fails_the_program() -> None:
    with pytest.raises(Undeclared, match="getAvailabilityZones"):
        deploy(lambda: aws.get_availability_zones() and None)


def test_an_asynchronous_call_that_is_not_declared_fails_the_program() -> None:
    with pytest.raises(Undeclared, match="getAvailabilityZones"):
        deploy(lambda: pulumi.export("zones", aws.get_availability_zones_output().names))


def test_a_declared_call_is_answered_and_recorded() -> None:
    token = "aws:index/getAvailabilityZones:getAvailabilityZones"
    found = deploy(
        lambda: pulumi.export("zones", aws.get_availability_zones(state="available").names),
        calls={token: lambda arguments: {"names": [arguments["state"]]}},
    )
    assert found.stack_outputs.data == {"zones": ["available"]}
    assert found.calls == [Called(token, {"state": "available"}, provider="")]


def test_a_type_missing_in_the_table_fails_the_program() -> None:
    with pytest.raises(Undeclared, match=r"tests/computed\.py"):
        deploy(lambda: aws.sqs.Queue("queue") and None)


def test_reading_a_foreign_resource_fails_the_program() -> None:
    with pytest.raises(Undeclared, match="reads"):
        deploy(lambda: aws.ec2.Vpc.get("theirs", "vpc-1") and None)


def test_a_namespace_of_others_is_recorded_as_read() -> None:
    found = deploy(lambda: kubernetes.core.v1.Namespace.get("space", "theirs") and None)
    read = found.one(kubernetes.core.v1.Namespace, "space")
    assert (read.read_id, read.inputs) == ("theirs", {})


def test_secrets_are_unwrapped_but_remembered() -> None:
    def program() -> None:
        kubernetes.core.v1.Secret("secret", string_data={"key": pulumi.Output.secret("text")})
        runner = gitlab.UserRunner("runner", runner_type="instance_type")
        pulumi.export("token", {"of": runner.token})
        pulumi.export("configured", pulumi.Config("gpu-runners").require_secret("word"))

    found = deploy(program, secrets={"gpu-runners:word": "configured"})
    secret = found.one(kubernetes.core.v1.Secret)
    assert secret.inputs["stringData"] == {"key": "text"}
    assert secret.values.is_secret("stringData", "key")
    assert not secret.values.is_secret("metadata")
    assert found.stack_outputs.data == {"token": {"of": GITLAB_TOKEN}, "configured": "configured"}
    assert found.stack_outputs.is_secret("token", "of"), "the SDK says that the token is secret"
    assert found.stack_outputs.is_secret("configured")


def test_a_preview_knows_neither_ids_nor_computed_outputs() -> None:
    applied: list[str] = []

    def program() -> None:
        box = Box("box")
        box.vpc.id.apply(applied.append)
        role = aws.iam.Role("role", assume_role_policy="{}")
        aws.iam.RolePolicyAttachment("attached", role=role.name, policy_arn=role.arn)
        pulumi.export("cidr", box.vpc.cidr_block)

    found = deploy(program, known=False)
    assert applied == []
    assert found.one(aws.iam.RolePolicyAttachment).inputs == {"role": UNKNOWN, "policyArn": UNKNOWN}
    assert found.stack_outputs.data == {"cidr": "10.0.0.0/16"}, "inputs are known in a preview too"


def test_what_is_computed_inside_an_input_is_unknown_in_a_preview() -> None:
    def program() -> None:
        cluster = aws.eks.Cluster(
            "ci", name="ci", role_arn="r", vpc_config=aws.eks.ClusterVpcConfigArgs(subnet_ids=["s"])
        )
        pulumi.export("group", cluster.vpc_config.cluster_security_group_id)
        pulumi.export("subnets", cluster.vpc_config.subnet_ids)

    assert deploy(program).stack_outputs.data == {"group": "sg-cluster-ci", "subnets": ["s"]}
    assert deploy(program, known=False).stack_outputs.data == {"group": UNKNOWN, "subnets": ["s"]}


def test_a_program_that_fails_is_returned_with_what_it_registered() -> None:
    def program() -> None:
        Box("box")
        raise pulumi.RunError("enough")

    found, error = attempt(program)
    assert isinstance(error, pulumi.RunError)
    assert [one.name for one in found.resources] == ["box", "box"]


def test_every_registration_and_apply_is_drained() -> None:
    seen: list[str] = []

    async def program() -> None:
        await asyncio.sleep(0)
        box = Box("box")
        box.vpc.id.apply(lambda _id: Box("late").vpc.id.apply(seen.append))

    found = deploy(program)
    assert seen == ["late-id"]
    assert len(found.find("test:index:Box")) == 2


def test_programs_do_not_see_each_other() -> None:
    def program() -> None:
        Box("box")
        pulumi.export("word", pulumi.Config("gpu-runners").get("word"))
        pulumi.log.warn("careful")

    def run(**config: str) -> Registered:
        return deploy(
            program, config={f"gpu-runners:{key}": value for key, value in config.items()}
        )

    assert run(word="first").stack_outputs.data == {"word": "first"}
    second = run()
    assert second.stack_outputs.data == {}
    assert len(second.resources) == 2
    assert second.log == [("warning", "careful")]


@for_each("token", sorted(COMPUTED))
def test_the_table_spells_outputs_as_the_sdk_does(token: str) -> None:
    package, module, noun = token.split(":")
    if package == "pulumi":
        assert COMPUTED[token]("name", {}) == {}, "a provider computes nothing"
        return
    module = {"rbac.authorization.k8s.io/v1": "rbac/v1"}.get(module, module)
    module = module.replace("helm.sh/", "helm/")
    parts = module.split("/") if package == "kubernetes" else module.split("/")[:1]
    if package == "oci":
        parts = [parts[0].lower()]  # its tokens have capitals, its Python modules none
    path = [f"pulumi_{package}", *(part for part in parts if part != "index")]
    cls = getattr(importlib.import_module(".".join(path)), noun)
    outputs = COMPUTED[token]("name", {"name": "name", "version": "1"})
    assert set(outputs) <= set(_types.resource_types(cls)), f"{cls.__name__} has no such output"
    assert cls.pulumi_type == token
    assert token != STACK_TYPE
