"""The provider protocol over a connection to a running server, as the engine uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2
from pulumi_rehearsal.standin import wire
from pulumi_rehearsal.standin.faults import Fault, Faults
from pulumi_rehearsal.standin.kind import (
    UNKNOWN,
    Call,
    Invalid,
    Kind,
    Lookup,
    Properties,
    Refusal,
    Resource,
    Unfinished,
)
from pulumi_rehearsal.standin.server import Package, Server
from pulumi_rehearsal.standin.world import World

VPC = "aws:ec2/vpc:Vpc"
KEY = "aws:iam/accessKey:AccessKey"


class Vpc(Kind):
    token: ClassVar[str] = VPC
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "state"})
    recomputed: ClassVar[frozenset[str]] = frozenset({"state"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"cidrBlock"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"tags"})

    def compute(self, call: Call, id: str, world: World) -> Properties:
        outputs = {"arn": f"arn:{id}", "state": "available"}
        if (call.inputs.get("tags") or {}).get("slow"):
            raise Unfinished("the network is not ready", id=id, outputs={"state": "pending"})
        return outputs

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        outputs = super().update(call, old, world)
        if (call.inputs.get("tags") or {}).get("slow"):
            raise Unfinished("the network is not ready", id=old.id, outputs={"state": "pending"})
        return outputs

    def delete(self, old: Resource, world: World) -> None:
        if "keep" in (old.inputs.get("tags") or {}):
            raise Refusal("the network is still in use: delete what is in it first")


class AccessKey(Kind):
    token: ClassVar[str] = KEY
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"secret"})

    def compute(self, call: Call, id: str, world: World) -> Properties:
        if call.inputs["user"] == "nobody":
            raise ZeroDivisionError("a slip in a stand-in")
        return {"secret": "hunter2"}


class Zones(Lookup):
    token: ClassVar[str] = "aws:index/getZones:getZones"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        if args.get("state") == "none":
            raise Invalid(("state", "is none of available"))
        return {"names": [f"{scope}a"], "seen": len(world)}


def region(configuration: Properties) -> str:
    value = configuration.get("region", UNKNOWN)
    return f"aws:{'?' if value is UNKNOWN else value}"


PACKAGE = Package(
    name="aws",
    kinds=(Vpc(), AccessKey()),
    lookups=(Zones(),),
    scope=region,
)


@dataclass
class Client:
    """One connection to a server, as each provider resource has one."""

    server: Server
    stub: Any

    def configure(self, region: str) -> Client:
        args = wire.encode({"region": region})
        answer = self.stub.Configure(provider_pb2.ConfigureRequest(args=args))
        assert answer.acceptSecrets
        assert answer.supportsPreview
        return self

    def check(self, news: Properties, olds: Properties | None = None, type: str = VPC) -> Any:
        old = None if olds is None else wire.encode(olds)
        request = provider_pb2.CheckRequest(urn=urn(type), news=wire.encode(news), olds=old)
        return self.stub.Check(request)

    def create(
        self,
        inputs: Properties,
        *,
        preview: bool = False,
        type: str = VPC,
        secrets: frozenset[wire.Path] = frozenset(),
    ) -> Any:
        properties = wire.encode(inputs, secrets)
        request = provider_pb2.CreateRequest(
            urn=urn(type), type=type, properties=properties, preview=preview
        )
        return self.stub.Create(request)

    def update(self, id: str, olds: Any, news: Properties, *, preview: bool = False) -> Any:
        request = provider_pb2.UpdateRequest(
            id=id, urn=urn(VPC), olds=olds, news=wire.encode(news), preview=preview
        )
        return self.stub.Update(request)

    def delete(self, id: str) -> Any:
        return self.stub.Delete(provider_pb2.DeleteRequest(id=id, urn=urn(VPC)))


def urn(type: str) -> str:
    return f"urn:pulumi:dev::project::gpu-runners:aws:Network${type}::main"


class Servers:
    """Servers that stop when the test ends, and connections to them."""

    def __init__(self) -> None:
        self.running: list[Server] = []
        self.channels: list[Any] = []

    def start(self, *faults: Fault) -> Server:
        server = Server(PACKAGE, World(), Faults(*faults))
        server.start()
        self.running.append(server)
        return server

    def connect(self, server: Server) -> Client:
        # Without the option channels to one port would share a connection.
        options = [("grpc.use_local_subchannel_pool", 1)]
        channel = grpc.insecure_channel(f"127.0.0.1:{server.port}", options=options)
        self.channels.append(channel)
        return Client(server, provider_pb2_grpc.ResourceProviderStub(channel))


@pytest.fixture
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    for channel in servers.channels:
        channel.close()
    for server in servers.running:
        server.stop()


@pytest.fixture
def client(servers: Servers) -> Client:
    return servers.connect(servers.start()).configure("us-west-2")


def error(raised: pytest.ExceptionInfo[grpc.RpcError]) -> str:
    return str(raised.value.details())


def test_check_hands_right_inputs_on_with_their_secrets(client: Client) -> None:
    news = wire.encode({"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}}, frozenset({("tags", "a")}))
    answer = client.stub.Check(provider_pb2.CheckRequest(urn=urn(VPC), news=news))
    assert not answer.failures
    assert answer.inputs == news


def test_check_names_every_wrong_input(client: Client) -> None:
    answer = client.check({"cidr": "10.0.0.0/16", "enableDnsSupport": "yes"})
    assert {failure.property for failure in answer.failures} == {"cidr", "enableDnsSupport"}
    assert "has no property 'cidr'; did you mean" in answer.failures[0].reason
    assert {event.action for event in client.server.world.journal} == {"refused"}


def test_a_type_without_a_stand_in_is_refused_with_the_remedy(client: Client) -> None:
    (failure,) = client.check({}, type="aws:ec2/subnet:Subnet").failures
    assert failure.reason == (
        "the rehearsal has no stand-in for aws:ec2/subnet:Subnet; pass one with kinds=[...]"
    )


def test_a_preview_creates_nothing_and_knows_no_computed_output(client: Client) -> None:
    answer = client.create({"cidrBlock": "10.0.0.0/16"}, preview=True)
    assert answer.id == ""
    assert wire.decode(answer.properties).properties == {
        "cidrBlock": "10.0.0.0/16",
        "arn": UNKNOWN,
        "state": UNKNOWN,
    }
    assert len(client.server.world) == 0


def test_a_create_is_in_the_world_and_in_the_journal(client: Client) -> None:
    answer = client.create({"cidrBlock": "10.0.0.0/16"})
    thing = client.server.world.get(answer.id, VPC, "aws:us-west-2")
    assert thing is not None
    assert wire.decode(answer.properties).properties == thing.outputs
    assert thing.outputs["arn"] == f"arn:{answer.id}"
    assert [event.action for event in client.server.world.journal] == ["created"]


def test_secret_inputs_and_secret_outputs_come_back_marked(client: Client) -> None:
    answer = client.create({"user": "ci"}, type=KEY, secrets=frozenset({("user",)}))
    decoded = wire.decode(answer.properties)
    assert decoded.properties == {"user": "ci", "secret": "hunter2"}
    assert decoded.secrets == {("user",), ("secret",)}


def test_a_previewed_update_keeps_computed_outputs_but_those_that_may_change(
    client: Client,
) -> None:
    made = client.create({"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}})
    request = provider_pb2.UpdateRequest(
        id=made.id,
        urn=urn(VPC),
        olds=made.properties,
        old_inputs=wire.encode({"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}}),
        news=wire.encode({"cidrBlock": "10.0.0.0/16"}),
        preview=True,
    )
    found = wire.decode(client.stub.Update(request).properties).properties
    assert found == {"cidrBlock": "10.0.0.0/16", "arn": f"arn:{made.id}", "state": UNKNOWN}


def failure(raised: pytest.ExceptionInfo[grpc.RpcError]) -> Any:
    """Return what the engine keeps of a resource that is not ready."""
    details = dict(raised.value.trailing_metadata())["grpc-status-details-bin"]
    found = provider_pb2.ErrorResourceInitFailed()
    assert status_pb2.Status.FromString(details).details[0].Unpack(found)
    return found


def test_what_is_not_ready_is_an_error_with_the_resource(client: Client) -> None:
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": {"slow": "yes"}}
    with pytest.raises(grpc.RpcError) as raised:
        client.create(inputs)
    (made,) = client.server.world.all()
    kept = failure(raised)
    assert error(raised) == kept.reasons[0] == "the network is not ready"
    assert (kept.id, wire.decode(kept.inputs).properties) == (made.id, inputs)
    with pytest.raises(grpc.RpcError) as raised:
        client.update(made.id, kept.properties, inputs)
    assert wire.decode(failure(raised).properties).properties == {"state": "pending"}
    assert client.server.defects == []


def test_an_update_changes_the_thing(client: Client) -> None:
    made = client.create({"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}})
    client.update(made.id, made.properties, {"cidrBlock": "10.0.0.0/16"})
    thing = client.server.world.find(VPC)
    assert thing is not None
    assert "tags" not in thing.outputs
    assert thing.outputs["arn"] == f"arn:{made.id}"


def test_an_update_of_what_does_not_exist_is_refused(client: Client) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        client.update("vpc-x", wire.encode({}), {"cidrBlock": "10.0.0.0/16"})
    assert error(raised) == f"{VPC} 'vpc-x' does not exist in aws:us-west-2"


def test_a_refused_delete_leaves_the_thing(client: Client) -> None:
    made = client.create({"cidrBlock": "10.0.0.0/16", "tags": {"keep": "yes"}})
    with pytest.raises(grpc.RpcError) as raised:
        client.delete(made.id)
    assert error(raised) == "the network is still in use: delete what is in it first"
    assert len(client.server.world) == 1
    assert client.server.world.journal[-1].action == "refused"


def test_deleting_what_is_gone_is_no_error(client: Client) -> None:
    made = client.create({"cidrBlock": "10.0.0.0/16"})
    client.delete(made.id)
    assert len(client.server.world) == 0
    client.delete(made.id)


def test_a_replacement_has_another_id_and_generations_beside_the_old_one(client: Client) -> None:
    first = client.create({"cidrBlock": "10.0.0.0/16"})
    second = client.create({"cidrBlock": "10.1.0.0/16"})
    assert first.id != second.id
    client.delete(first.id)
    assert [thing.id for thing in client.server.world.all()] == [second.id]


def test_read_gives_what_exists_and_nothing_for_the_rest(client: Client) -> None:
    made = client.create({"cidrBlock": "10.0.0.0/16"})
    found = client.stub.Read(provider_pb2.ReadRequest(id=made.id, urn=urn(VPC)))
    assert found.properties == made.properties
    assert client.stub.Read(provider_pb2.ReadRequest(id="vpc-x", urn=urn(VPC))).id == ""


def test_diff_warns_of_a_change_without_a_source(client: Client) -> None:
    request = provider_pb2.DiffRequest(
        id="vpc-1",
        urn=urn(VPC),
        old_inputs=wire.encode({"cidrBlock": "10.0.0.0/16"}),
        news=wire.encode({"cidrBlock": "10.1.0.0/16", "instanceTenancy": "dedicated"}),
    )
    answer = client.stub.Diff(request)
    assert list(answer.replaces) == ["cidrBlock"]
    (warning,) = client.server.world.journal
    assert warning.action == "warned"
    assert warning.name == "main"
    assert "instanceTenancy: may replace" in warning.detail


def test_two_connections_to_one_server_are_two_scopes(servers: Servers) -> None:
    server = servers.start()
    west = servers.connect(server).configure("us-west-2")
    east = servers.connect(server).configure("us-east-1")
    west.create({"cidrBlock": "10.0.0.0/16"})
    east.create({"cidrBlock": "10.0.0.0/16"})
    assert {thing.scope for thing in server.world.all()} == {"aws:us-west-2", "aws:us-east-1"}


@pytest.mark.parametrize(
    ("new", "replaced"),
    [("us-east-1", ["region"]), ("us-west-2", []), (UNKNOWN, [])],
)
def test_a_provider_of_another_scope_is_another_provider(
    client: Client, new: object, replaced: list[str]
) -> None:
    request = provider_pb2.DiffRequest(
        olds=wire.encode({"region": "us-west-2"}), news=wire.encode({"region": new})
    )
    assert list(client.stub.DiffConfig(request).replaces) == replaced


def test_a_lookup_answers_from_the_world(client: Client) -> None:
    client.create({"cidrBlock": "10.0.0.0/16"})
    request = provider_pb2.InvokeRequest(tok=Zones.token, args=wire.encode({}))
    answer = getattr(client.stub.Invoke(request), "return")
    assert wire.decode(answer).properties == {"names": ["aws:us-west-2a"], "seen": 1}


@pytest.mark.parametrize(
    ("token", "args", "words"),
    [
        (
            "aws:index/getNone:getNone",
            {},
            "no stand-in for aws:index/getNone:getNone; pass one with lookups=",
        ),
        (Zones.token, {"state": "none"}, "state: is none of available"),
    ],
)
def test_a_refused_lookup_has_the_reason(
    client: Client, token: str, args: Properties, words: str
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        client.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=wire.encode(args)))
    assert words in error(raised)


def test_a_component_without_a_stand_in_is_refused(client: Client) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        client.stub.Construct(provider_pb2.ConstructRequest(type="aws:x:X"))
    assert "no stand-in for aws:x:X; pass one with packages=" in error(raised)


def test_an_exception_of_a_stand_in_is_its_defect(client: Client) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        client.create({"user": "nobody"}, type=KEY)
    assert error(raised).startswith(f"defect in the stand-in for {KEY}: ZeroDivisionError")
    (defect,) = client.server.defects
    assert "Traceback" in defect


def test_an_injected_failure_comes_before_anything_is_made(servers: Servers) -> None:
    server = servers.start(Fault(name="main", steps=("create",)))
    client = servers.connect(server).configure("us-west-2")
    with pytest.raises(grpc.RpcError) as raised:
        client.create({"cidrBlock": "10.0.0.0/16"})
    assert error(raised).startswith("injected failure: create of 'main'")
    assert len(server.world) == 0
    client.create({"cidrBlock": "10.0.0.0/16"})
    assert len(server.world) == 1


def test_cancel_ends_a_stall(servers: Servers) -> None:
    server = servers.start(Fault(name="main", seconds=60))
    client = servers.connect(server).configure("us-west-2")
    request = provider_pb2.DeleteRequest(id="vpc-1", urn=urn(VPC))
    pending = client.stub.Delete.future(request)
    while server.faults.struck == 0:
        pass
    client.stub.Cancel(empty_pb2.Empty())
    with pytest.raises(grpc.RpcError) as raised:
        pending.result(timeout=10)
    assert error(raised) == "delete of 'main' was cancelled while it stalled"


def test_the_first_requests_of_the_engine_are_answered(client: Client) -> None:
    shake = client.stub.Handshake(provider_pb2.ProviderHandshakeRequest())
    assert (shake.accept_secrets, shake.accept_resources, shake.accept_outputs) == (True,) * 3
    assert client.stub.GetPluginInfo(empty_pb2.Empty()).version.startswith("7.")
    assert client.stub.GetSchema(provider_pb2.GetSchemaRequest()).schema == '{"name": "aws"}'
    news = wire.encode({"region": UNKNOWN})
    checked = client.stub.CheckConfig(provider_pb2.CheckRequest(news=news))
    assert checked.inputs == news


def test_the_server_listens_on_the_loopback_only(client: Client) -> None:
    import socket

    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((own, client.server.port), timeout=1)
