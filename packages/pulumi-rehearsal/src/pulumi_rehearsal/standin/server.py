"""One stand-in provider as the engine sees it: a gRPC server on the loopback for one package.

The engine attaches to it (`PULUMI_DEBUG_PROVIDERS=<package>:<port>`), once for each provider
resource and over a separate connection, so that the connection identifies the cluster or region.
The rules of a resource type are in its `Kind`. The server does what all types share: decoding,
preview, diff, secrets and the records in the `World`. It never logs a property's value.
Protocol: pulumi/pulumi proto/pulumi/provider.proto.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Container, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, NoReturn, Protocol, TypeVar, cast

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from pulumi_rehearsal.standin import difference, wire
from pulumi_rehearsal.standin.faults import Faults, Step
from pulumi_rehearsal.standin.kind import (
    Call,
    Construct,
    Invalid,
    Kind,
    Lookup,
    Refusal,
    Resource,
    Unfinished,
)
from pulumi_rehearsal.standin.values import UNKNOWN, Properties
from pulumi_rehearsal.standin.world import Event, World

WORKERS = 16
"""Threads of one server; further requests of the engine wait for a free one."""

MESSAGE_BYTES = 64 * 1024 * 1024


class Context(Protocol):
    """The part of gRPC's servicer context that the server uses."""

    def peer(self) -> str:
        """Return the connection, `ipv4:127.0.0.1:<port>`."""
        ...

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """End the call with an error."""
        ...

    def set_trailing_metadata(self, trailing_metadata: tuple[tuple[str, bytes], ...]) -> None:
        """Set what is sent after the answer."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """The stand-ins of one provider.

    `scope` turns a provider configuration into `Call.scope`. `fallback` returns the kind of a type
    that `kinds` does not list, `None` for the generic one. `check_up` returns what does not work
    after an `up` that succeeded, `watch` a function that says why a job
    on that object can no longer go on, empty if it can.
    """

    name: str
    kinds: tuple[Kind, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    constructs: tuple[Construct, ...] = ()
    scope: Callable[[Properties], str]
    fallback: Callable[[str], Kind | None] = field(default=lambda token: None)
    check_up: Callable[[World], Sequence[str]] = field(default=lambda world: ())
    watch: Callable[[Resource, World], Callable[[], str]] = field(
        default=lambda resource, world: lambda: ""
    )


class _Unready(Exception):  # noqa: N818
    """A resource that exists, but is not ready: sdk/go/common/resource/plugin/provider_plugin.go.

    The engine finds the resource in the details of the status.
    """

    def __init__(self, error: Unfinished, request: Any, outputs: struct_pb2.Struct) -> None:
        super().__init__(str(error))
        failure = provider_pb2.ErrorResourceInitFailed(
            id=error.id,
            properties=outputs,
            inputs=request.news if hasattr(request, "news") else request.properties,
            reasons=[str(error)],
        )
        self.code = grpc.StatusCode.UNKNOWN
        status = status_pb2.Status(code=self.code.value[0], message=str(error))
        status.details.add().Pack(failure)
        self.metadata = (("grpc-status-details-bin", status.SerializeToString()),)


Method = TypeVar("Method", bound=Callable[..., Any])


def _answering(method: Method) -> Method:
    """Turn a refusal into an error of the call, and any other exception into a recorded defect."""

    @functools.wraps(method)
    def answer(self: Server, request: Any, context: Context) -> Any:
        try:
            return method(self, request, context)
        except _Unready as unready:
            self.note("refused", request, str(unready))
            context.set_trailing_metadata(unready.metadata)
            context.abort(unready.code, str(unready))
        except Refusal as refusal:
            self.note("refused", request, str(refusal))
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(refusal))
        except Invalid as invalid:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(invalid))
        except Exception as error:
            self.defects.append(traceback.format_exc())
            what = getattr(request, "type", "") or getattr(request, "tok", "")
            message = f"defect in the stand-in for {what or self.package.name}: {error!r}"
            context.abort(grpc.StatusCode.INTERNAL, message)

    return cast("Method", answer)


class Server(provider_pb2_grpc.ResourceProviderServicer):
    """The provider protocol over a `World`.

    `unknown` and `unknown_lookup` return the kind of a type and the data source that the package
    does not know; by default both are refused.
    """

    def __init__(
        self,
        package: Package,
        world: World,
        faults: Faults,
        unknown: Callable[[str], Kind | None] = lambda token: None,
        unknown_lookup: Callable[[str], Lookup | None] = lambda token: None,
    ) -> None:
        self.package = package
        self._unknown = unknown
        self._unknown_lookup = unknown_lookup
        self.world = world
        self.faults = faults
        self.defects: list[str] = []
        self._kinds = {kind.token: kind for kind in package.kinds}
        self._lookups = {lookup.token: lookup for lookup in package.lookups}
        self._constructs = {construct.token: construct for construct in package.constructs}
        self._scopes: dict[str, str] = {}
        self._settings: dict[str, Properties] = {}
        self._server: Any = None
        self.port = 0

    def start(self) -> int:
        """Listen on a free port of the loopback and return its number."""
        options = [
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.max_send_message_length", MESSAGE_BYTES),
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(futures.ThreadPoolExecutor(WORKERS), options=options)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(self, self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()
        return self.port

    def stop(self) -> None:
        """End the injected stalls and the calls in progress, and close the port."""
        self.faults.cancel()
        if self._server is not None:
            self._server.stop(grace=None).wait()

    def note(self, action: Any, request: Any, detail: str) -> None:
        """Add an event about the resource of `request` to the world's journal."""
        urn = getattr(request, "urn", "")
        what = getattr(request, "type", "") or getattr(request, "tok", "")
        name = urn.rpartition("::")[2]
        self.world.note(Event(action=action, urn=urn, type=what, name=name, detail=detail))

    # Provider

    def Handshake(self, request: Any, context: Context) -> Any:
        """Return the features that this provider supports."""
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=True, accept_resources=True, accept_outputs=True
        )

    def Attach(self, request: Any, context: Context) -> Any:
        """Ignore the engine's address: the stand-in sends no requests to the engine."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Context) -> Any:
        """Return the version of the installed SDK."""
        version = metadata.version(f"pulumi_{self.package.name}")
        return plugin_pb2.PluginInfo(version=version)

    def GetSchema(self, request: Any, context: Context) -> Any:
        """Return an empty schema: the stand-in validates against the SDK's classes."""
        return provider_pb2.GetSchemaResponse(schema=f'{{"name": "{self.package.name}"}}')

    @_answering
    def CheckConfig(self, request: Any, context: Context) -> Any:
        """Accept any configuration that the SDK's provider class accepted."""
        return provider_pb2.CheckResponse(inputs=request.news)

    @_answering
    def DiffConfig(self, request: Any, context: Context) -> Any:
        """Replace the provider, and so its resources, if the scope changes."""
        old = wire.decode(request.olds).properties
        new = wire.decode(request.news).properties
        scope = self.package.scope(new)
        moved = self.package.scope(old) != scope and not scope.endswith(":?")
        return difference.provider_answer(difference.changes(old, new), replaces=moved)

    @_answering
    def Configure(self, request: Any, context: Context) -> Any:
        """Remember the provider's configuration and its scope for this connection."""
        properties = wire.decode(request.args).properties
        self._settings[context.peer()] = properties
        self._scopes[context.peer()] = self.package.scope(properties)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=True, supportsPreview=True
        )

    def Cancel(self, request: Any, context: Context) -> Any:
        """End the injected stalls, because the engine was interrupted."""
        self.faults.cancel()
        return empty_pb2.Empty()

    # Resources

    @_answering
    def Check(self, request: Any, context: Context) -> Any:
        """Return the inputs with defaults, or what is wrong with them."""
        news = wire.decode(request.news)
        olds = wire.decode(request.olds).properties if request.HasField("olds") else None
        try:
            kind = self._kind(request)
            checked = kind.check(self._call(request, context, news.properties), olds or None)
        except Invalid as invalid:
            failures = [
                provider_pb2.CheckFailure(property=path, reason=_located(path, reason))
                for path, reason in invalid.problems
            ]
            for path, reason in invalid.problems:
                self.note("refused", request, _located(path, reason))
            return provider_pb2.CheckResponse(failures=failures)
        return provider_pb2.CheckResponse(inputs=wire.encode(checked, news.secrets))

    @_answering
    def Diff(self, request: Any, context: Context) -> Any:
        """Compare the inputs, and decide on a replacement from the kind's tables."""
        kind = self._kind(request)
        old = wire.decode(request.old_inputs).properties
        new = wire.decode(request.news).properties
        changed = difference.changes(old, new)
        for path in difference.unsourced(kind, changed):
            detail = f"{path}: may replace (the stand-in has no source for it)"
            self.note("warned", request, detail)
        name, settings = request.urn.rpartition("::")[2], self._settings.get(context.peer())
        return difference.answer(kind, name, old, new, changed, settings=settings)

    @_answering
    def Create(self, request: Any, context: Context) -> Any:
        """Return unknown outputs in a preview; otherwise create the resource in the world."""
        kind = self._kind(request)
        given = wire.decode(request.properties)
        secrets = given.secrets
        call = self._call(request, context, given.properties)
        if request.preview:
            outputs = {**call.inputs, **dict.fromkeys(kind.computed, UNKNOWN)}
            return provider_pb2.CreateResponse(properties=_outputs(kind, outputs, secrets))
        self._strike("create", request)
        with self.world.lock:
            unfinished: Unfinished | None = None
            try:
                id, outputs = kind.create(call, self.world)
            except Unfinished as error:
                id, outputs, unfinished = error.id, error.outputs, error
            resource = call.resource(id, outputs)
            store = self.world.replace if kind.adopts(call) else self.world.add
            store(resource)
            self.world.record("created", resource)
        if unfinished is not None:
            raise _Unready(unfinished, request, _outputs(kind, outputs, secrets))
        return provider_pb2.CreateResponse(id=id, properties=_outputs(kind, outputs, secrets))

    @_answering
    def Update(self, request: Any, context: Context) -> Any:
        """Return unknown outputs in a preview; otherwise update the resource in the world."""
        kind = self._kind(request)
        given = wire.decode(request.news)
        earlier = wire.decode(request.olds)
        call = self._call(request, context, given.properties)
        secrets = given.secrets | {path for path in earlier.secrets if path[0] not in call.inputs}
        if request.preview:
            old_inputs = wire.decode(request.old_inputs).properties
            old = call.resource(request.id, earlier.properties, old_inputs)
            outputs = {
                **Kind.update(kind, call, old, self.world),
                **dict.fromkeys(kind.recomputed, UNKNOWN),
            }
            return provider_pb2.UpdateResponse(properties=_outputs(kind, outputs, secrets))
        self._strike("update", request)
        with self.world.lock:
            old = self._existing(request, call.scope)
            if old is None:
                raise Refusal(f"{call.type} {request.id!r} does not exist in {call.scope}")
            unfinished: Unfinished | None = None
            try:
                outputs = kind.update(call, old, self.world)
            except Unfinished as error:
                outputs, unfinished = error.outputs, error
            resource = call.resource(old.id, outputs)
            self.world.replace(resource)
            self.world.record("updated", resource)
        if unfinished is not None:
            raise _Unready(unfinished, request, _outputs(kind, outputs, secrets))
        return provider_pb2.UpdateResponse(properties=_outputs(kind, outputs, secrets))

    @_answering
    def Delete(self, request: Any, context: Context) -> Any:
        """Delete the resource, unless it is gone already."""
        kind = self._kind(request)
        self._strike("delete", request)
        with self.world.lock:
            old = self._existing(request, self._scope(context))
            if old is None:
                kind.delete_missing(request.id)
            else:
                kind.delete(old, self.world)
                kind.remove(old, self.world, request.timeout)
                self.world.record("deleted", old)
        return empty_pb2.Empty()

    @_answering
    def Read(self, request: Any, context: Context) -> Any:
        """Return the resource, or an empty answer if it does not exist."""
        kind = self._kind(request)
        with self.world.lock:
            found = kind.read(request.id, self._scope(context), self.world)
        if found is None:
            return provider_pb2.ReadResponse()
        known = wire.decode(request.inputs).secrets
        return provider_pb2.ReadResponse(
            id=found.id,
            inputs=wire.encode(found.inputs, known),
            properties=_outputs(kind, found.outputs, known),
        )

    # Functions and components

    @_answering
    def Invoke(self, request: Any, context: Context) -> Any:
        """Return the answer of a data source."""
        lookup = self._lookups.get(request.tok) or self._unknown_lookup(request.tok)
        if lookup is None:
            raise Refusal(self._unknown_type(request.tok, "lookups"))
        self._warn_once(request.tok, lookup.warning, self._lookups)
        self._lookups[request.tok] = lookup
        args = wire.decode(request.args).properties
        with self.world.lock:
            answer = lookup.invoke(args, self._scope(context), self.world)
        fields: dict[str, Any] = {"return": wire.encode(answer)}  # `return` is a keyword of Python
        return provider_pb2.InvokeResponse(**fields)

    @_answering
    def Construct(self, request: Any, context: Context) -> Any:
        """Let a remote component register itself and its children with the engine."""
        construct = self._constructs.get(request.type)
        if construct is None:
            raise Refusal(self._unknown_type(request.type, "packages"))
        return construct.construct(request, self._scope(context), self.world)

    # Shared

    def _kind(self, request: Any) -> Kind:
        token = request.type or _type_of(request.urn)
        kind = self._kinds.get(token) or self.package.fallback(token) or self._unknown(token)
        if kind is None:
            raise Invalid(("", self._unknown_type(token, "kinds")))
        self._warn_once(token, kind.warning, self._kinds)
        self._kinds[token] = kind
        return kind

    def _warn_once(self, token: str, warning: str, used: Container[str]) -> None:
        if warning and token not in used:
            event = Event(action="warned", urn="", type=token, name="", detail=warning)
            self.world.note(event)

    def _unknown_type(self, token: str, option: str) -> str:
        return f"the rehearsal has no stand-in for {token}; pass one with {option}=[...]"

    def _scope(self, context: Context) -> str:
        return self._scopes.get(context.peer(), f"{self.package.name}:?")

    def _call(self, request: Any, context: Context, inputs: Properties) -> Call:
        return Call(
            urn=request.urn,
            type=request.type or _type_of(request.urn),
            name=request.urn.rpartition("::")[2],
            inputs=inputs,
            scope=self._scope(context),
            preview=bool(getattr(request, "preview", False)),
            generation=self.world.generation(request.urn),
            settings=self._settings.get(context.peer(), {}),
        )

    def _existing(self, request: Any, scope: str) -> Resource | None:
        return self.world.get(request.id, request.type or _type_of(request.urn), scope)

    def _strike(self, step: Step, request: Any) -> None:
        self.faults.strike(step, request.urn, request.urn.rpartition("::")[2])


def _outputs(kind: Kind, outputs: Properties, secrets: frozenset[wire.Path]) -> struct_pb2.Struct:
    return wire.encode(outputs, secrets | {(name,) for name in kind.secret_outputs})


def _located(path: str, reason: str) -> str:
    return f"{path}: {reason}" if path else reason


def _type_of(urn: str) -> str:
    """Return the last type of a URN's chain of parents."""
    return urn.split("::")[2].rpartition("$")[2]
