"""The fake engine: runs a program under Pulumi's runtime and records every raw registration.

Stricter than the SDK's own mocks: a URN registered twice, a call that the test did not declare and
a type that is missing in `tests.computed` fail the program. Each run has its own event loop and its
own context, so programs do not see each other and the order of tests does not matter.
"""

# ruff: noqa: N802 (gRPC method names are not ours)

import asyncio
import contextvars
import pickle
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypedDict, TypeVar, Unpack, cast

import pulumi
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime import Settings, configure, run_in_stack, set_all_config
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.proto import engine_pb2, resource_pb2

from tests.computed import COMPUTED, Computed
from tests.wire import UNKNOWN, Values, may_become, merged, secret, unknown, values

PROJECT = "gpu-runners"
STACK_TYPE = "pulumi:pulumi:Stack"
READ = ("kubernetes:core/v1:Namespace",)
"""Types that the program reads where others make the resource; it uses none of their outputs."""

Call = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Undeclared(Exception):  # noqa: N818 (a test reads better without the suffix)
    """The program used a call or a type that the test did not declare."""


class Called(NamedTuple):
    """One call of a provider's function."""

    token: str
    arguments: dict[str, Any]
    provider: str
    """`urn::id`; empty where the engine would fall back to a default provider."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Registration:
    """One RegisterResource or ReadResource request, decoded."""

    urn: str
    type: str
    name: str
    parent: str
    custom: bool
    remote: bool
    values: Values
    provider: str
    """`urn::id`; empty where the engine would fall back to a default provider."""
    providers: dict[str, str]
    depends_on: frozenset[str]
    """Explicit dependencies, and those through inputs."""
    property_dependencies: dict[str, frozenset[str]]
    protect: bool
    ignore_changes: tuple[str, ...]
    replace_on_changes: tuple[str, ...]
    delete_before_replace: bool
    aliases: tuple[str, ...]
    read_id: str = ""
    """ID of a resource that the program only reads; empty for one that it makes."""
    timeouts: dict[str, str]
    """By operation, as the program spells them."""

    @property
    def inputs(self) -> dict[str, Any]:
        """Return the inputs of the request, in the provider's spelling."""
        return self.values.data

    @property
    def provider_urn(self) -> str:
        """URN of the explicit provider, empty without one."""
        return self.provider.rpartition("::")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """The registrations, outputs, calls and log messages of one run of a program."""

    resources: list[Registration] = field(default_factory=list[Registration])
    outputs: dict[str, list[Values]] = field(default_factory=dict[str, list[Values]])
    """By URN of the component (or stack), one entry for each time that outputs were registered."""
    calls: list[Called] = field(default_factory=list[Called])
    log: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Severity and text of each message, debug output aside."""

    def find(
        self, kind: type[pulumi.Resource] | str, name: str | None = None
    ) -> list[Registration]:
        """Every resource of an SDK class or type token, in order of arrival."""
        token = kind if isinstance(kind, str) else str(cast("Any", kind).pulumi_type)
        return [one for one in self.resources if one.type == token and name in (None, one.name)]

    def one(self, kind: type[pulumi.Resource] | str, name: str | None = None) -> Registration:
        """Return the only resource of that type (and name)."""
        found = self.find(kind, name)
        assert len(found) == 1, f"{kind} {name or ''}: {[one.name for one in found]}"
        return found[0]

    def children(self, parent: Registration) -> list[Registration]:
        """Return what was registered with that parent."""
        return [one for one in self.resources if one.parent == parent.urn]

    def within(self, component: Registration) -> list[Registration]:
        """Return everything below a component."""
        direct = self.children(component)
        return [*direct, *(deeper for child in direct for deeper in self.within(child))]

    def before(self, resource: Registration) -> set[str]:
        """URNs of what the engine finishes before that resource starts, and removes after it."""
        by_urn = {one.urn: one for one in self.resources}
        found: set[str] = set()
        waiting = [resource]
        while waiting:
            current = waiting.pop()
            for urn in (*current.depends_on, *filter(None, (current.provider_urn,))):
                if urn not in found and urn in by_urn:
                    found.add(urn)
                    waiting.append(by_urn[urn])
        return found

    @property
    def stack_outputs(self) -> Values:
        """Return the outputs of the stack."""
        (found,) = (sets for urn, sets in self.outputs.items() if f"::{STACK_TYPE}::" in urn)
        return found[-1]


class Options(TypedDict, total=False):
    """How to run a program; each may be left out."""

    known: bool
    """False: a preview of a first update, where ids and computed outputs are unknown."""
    stack: str
    config: Mapping[str, str]
    secrets: Mapping[str, str]
    """Configuration that is marked secret."""
    calls: Mapping[str, Call]
    """Answers of provider functions, by token."""
    computed: Mapping[str, Computed]


def deploy(program: Callable[[], Awaitable[None] | None], **options: Unpack[Options]) -> Registered:
    """Run a program to the end and return what it registered.

    Raises what the program raises, and Undeclared.
    """
    registered, error = attempt(program, **options)
    if error is not None:
        raise error
    return registered


def deploy_both(
    program: Callable[[], Awaitable[None] | None], **options: Unpack[Options]
) -> Registered:
    """Run an update and a preview of it, where ids and computed outputs are unknown.

    Returns the update. A preview registers the same resources with the same options. Its inputs
    and outputs are equal or unknown, and secret where those of the update are.
    """
    update, preview = (deploy(program, **{**options, "known": known}) for known in (True, False))
    planned = {one.urn: one for one in preview.resources}
    assert planned.keys() == {one.urn for one in update.resources}, "the preview has other ones"
    for one in update.resources:
        plan = planned[one.urn]
        same = replace(plan, values=one.values, provider=one.provider, providers=one.providers)
        assert same == one, f"{one.urn} has other options in a preview"
        assert plan.provider_urn == one.provider_urn, one.urn
        assert plan.providers.keys() == one.providers.keys(), one.urn
        _agree(plan.values, one.values, one.urn)
    assert preview.outputs.keys() == update.outputs.keys()
    for urn, several in update.outputs.items():
        for plan, final in zip(preview.outputs[urn], several, strict=True):
            _agree(plan, final, urn)
    assert preview.log == update.log
    return update


def _agree(preview: Values, update: Values, urn: str) -> None:
    assert may_become(preview.data, update.data), f"{urn}: {preview.data} is not {update.data}"
    for path, text in preview.texts():
        if text != UNKNOWN:
            assert preview.is_secret(*path) == update.is_secret(*path), f"{urn}: {path}"


def attempt(
    program: Callable[[], Awaitable[None] | None], **options: Unpack[Options]
) -> tuple[Registered, Exception | None]:
    """Do as `deploy` does, but return what was registered also when the program fails."""
    registered = Registered()
    known = options.get("known", True)
    secrets = options.get("secrets", {})
    monitor = _Monitor(
        registered,
        known=known,
        calls=options.get("calls", {}),
        computed=options.get("computed", COMPUTED),
    )

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(_Inline())
        # The first error is raised below; the echoes of it in other tasks say nothing new.
        loop.set_exception_handler(lambda _loop, _context: None)
        configure(
            Settings(
                project=PROJECT,
                stack=options.get("stack", "test"),
                organization="example",
                monitor=monitor,
                engine=_Log(registered),
                dry_run=not known,
            )
        )
        set_all_config({**options.get("config", {}), **secrets}, list(secrets))
        await run_in_stack(program)

    with asyncio.Runner() as runner:
        try:
            runner.run(main(), context=contextvars.Context())
        except Exception as error:
            return registered, error
    return registered, None


Made = TypeVar("Made")
Parameters = ParamSpec("Parameters")


def remembered(make: Callable[Parameters, Made]) -> Callable[Parameters, Made]:
    """Run equal programs once: what they registered is only looked at, never changed."""
    found: dict[bytes, Made] = {}

    @wraps(make)
    def once(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Made:
        key = pickle.dumps((args, kwargs))
        if key not in found:
            found[key] = make(*args, **kwargs)
        return found[key]

    return once


class _Inline(ThreadPoolExecutor):
    """Runs at once what the SDK sends to a thread: the fake engine never blocks."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


class _Log:
    """The engine's side of `pulumi.log`."""

    def __init__(self, registered: Registered) -> None:
        self._registered = registered

    def Log(self, request: engine_pb2.LogRequest) -> empty_pb2.Empty:
        if request.severity != engine_pb2.DEBUG:
            severity = engine_pb2.LogSeverity.Name(request.severity)
            self._registered.log.append((severity.lower(), request.message))
        return empty_pb2.Empty()


class _Monitor(MockMonitor):
    """The resource monitor: decodes and records each request, and answers as the clouds would."""

    def __init__(
        self,
        registered: Registered,
        *,
        known: bool,
        calls: Mapping[str, Call],
        computed: Mapping[str, Computed],
    ) -> None:
        super().__init__(cast("Any", None))
        self._registered = registered
        self._known = known
        self._calls = calls
        self._computed = computed
        self._urns: set[str] = set()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Qualify the type by all its parents, as the engine does; the SDK's mocks keep one."""
        around = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if around == STACK_TYPE else f"{around}${type_}"
        return f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::{qualified}::{name}"

    def RegisterResource(
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        urn = self._new_urn(request)
        if request.type == STACK_TYPE:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        raw = json_format.MessageToDict(request.object)
        self._registered.resources.append(_decoded(urn, request, raw))
        if not request.custom and not request.remote:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        state = self._state(request, raw)
        answer = resource_pb2.RegisterResourceResponse(urn=urn, object=state)
        if self._known and request.custom:
            answer.id = f"{request.name}-id"
        return answer

    def _state(
        self, request: resource_pb2.RegisterResourceRequest, raw: dict[str, Any]
    ) -> struct_pb2.Struct:
        if request.type not in self._computed:
            raise Undeclared(
                f"{request.type} is missing in tests/computed.py: add what it computes"
            )
        added = self._computed[request.type](request.name, values(raw).data)
        state = merged(raw, added if self._known else unknown(added, raw))
        for key in request.additionalSecretOutputs:
            if key in state:
                state[key] = secret(state[key])
        struct = struct_pb2.Struct()
        struct.update(state)
        return struct

    def RegisterResourceOutputs(
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        decoded = values(json_format.MessageToDict(request.outputs))
        self._registered.outputs.setdefault(request.urn, []).append(decoded)
        return empty_pb2.Empty()

    def Invoke(
        self, request: resource_pb2.ResourceInvokeRequest
    ) -> resource_pb2.ResourceInvokeResponse:
        arguments = values(json_format.MessageToDict(request.args)).data
        if request.tok not in self._calls:
            raise Undeclared(f"the program calls {request.tok}, which the test did not declare")
        self._registered.calls.append(Called(request.tok, arguments, request.provider))
        answer = resource_pb2.ResourceInvokeResponse()
        getattr(answer, "return").update(dict(self._calls[request.tok](arguments)))
        return answer

    def ReadResource(
        self, request: resource_pb2.ReadResourceRequest
    ) -> resource_pb2.ReadResourceResponse:
        urn = self._new_urn(request)
        if request.type not in READ:
            raise Undeclared(f"the program reads {request.type} {request.id}, which is not its own")
        same = resource_pb2.RegisterResourceRequest(
            type=request.type,
            name=request.name,
            parent=request.parent,
            custom=True,
            provider=request.provider,
            dependencies=request.dependencies,
        )
        read = replace(_decoded(urn, same, {}), read_id=request.id)
        self._registered.resources.append(read)
        return resource_pb2.ReadResourceResponse(urn=urn)

    def _new_urn(
        self, request: resource_pb2.RegisterResourceRequest | resource_pb2.ReadResourceRequest
    ) -> str:
        urn = self.make_urn(request.parent, request.type, request.name)
        if urn in self._urns:
            raise Undeclared(f"{urn} is registered twice")
        self._urns.add(urn)
        return urn


def _decoded(
    urn: str, request: resource_pb2.RegisterResourceRequest, raw: dict[str, Any]
) -> Registration:
    return Registration(
        urn=urn,
        type=request.type,
        name=request.name,
        parent=request.parent,
        custom=request.custom,
        remote=request.remote,
        values=values(raw),
        provider=request.provider,
        providers=dict(request.providers),
        depends_on=frozenset(request.dependencies),
        property_dependencies={
            key: frozenset(through.urns) for key, through in request.propertyDependencies.items()
        },
        protect=request.protect,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        delete_before_replace=request.deleteBeforeReplace,
        aliases=tuple(alias.urn or alias.spec.name for alias in request.aliases),
        timeouts={
            operation: limit
            for operation in ("create", "update", "delete")
            if (limit := getattr(request.customTimeouts, operation))
        },
    )
