"""The properties of a resource type in the installed SDK: names, types, and which are required.

They are read from the generated classes (`NodeGroupArgs` and the nested `*Args` that it names): a
getter has the wire name and the type, and a property whose type excludes `None` is required. An SDK
is imported when the first of its types is needed.
"""

from __future__ import annotations

import difflib
import enum
import functools
import importlib
import keyword
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

import pulumi
from pulumi.runtime import rpc

from pulumi_rehearsal import lazy_modules
from pulumi_rehearsal.standin.values import UNKNOWN, Properties

# The threads of the stand-ins and the program look up the same SDK modules.
lazy_modules.make_thread_safe()

Problem = tuple[str, str]
"""A path from the top of the inputs, and what is wrong there."""

_TYPE_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def problems(token: str, inputs: Properties) -> list[Problem]:
    """Return what the SDK's class for `token` does not accept in `inputs`."""
    cls = args_class(token)
    if cls is None:
        return [("", f"the installed SDK has no resource type {token!r}")]
    return list(_object_problems(inputs, cls, token, ""))


@functools.cache
def resource_class(token: str) -> type | None:
    """Return the SDK's class of a resource type, or `None` if no installed SDK has it."""
    package, module, _ = token.split(":", 2)
    try:
        importlib.import_module(f"pulumi_{package.replace('-', '_')}")
    except ModuleNotFoundError:
        return None
    registered = rpc.get_resource_module(package, module, "")
    if registered is None:
        return None
    information = cast("dict[str, Any]", getattr(registered, "mod_info", {}))
    name = information["classes"].get(token)
    if name is None:
        return None
    return cast("type", getattr(importlib.import_module(information["fqn"]), name))


@functools.cache
def args_class(token: str) -> type | None:
    """Return the SDK's `*Args` class of a resource type, or `None` if the SDK has none."""
    resource = resource_class(token)
    if resource is None:
        return None
    home, name = sys.modules[resource.__module__], resource.__name__
    for candidate in (f"{name}InitArgs", f"{name}Args"):  # a Kubernetes NamespaceArgs is nested
        if hasattr(home, candidate):
            return cast("type", getattr(home, candidate))
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One property of an `*Args` class."""

    hint: Any
    required: bool


@functools.cache
def fields(cls: type) -> Mapping[str, Field]:
    """Return the properties of an `*Args` class by wire name."""
    return {name: Field(hint=hint, required=not _admits_none(hint)) for name, hint in _getters(cls)}


@functools.cache
def outputs(token: str) -> Mapping[str, Any]:
    """Return the type of each output that a resource of that type always has, by wire name."""
    cls = resource_class(token)
    hints = {} if cls is None else dict(_getters(cls))
    plain = {name: get_args(hint)[0] for name, hint in hints.items() if get_args(hint)}
    return {name: hint for name, hint in plain.items() if not _admits_none(hint)}


@functools.cache
def lookup_outputs(token: str) -> Mapping[str, Any] | None:
    """Return the type of each output of a data source, `None` if no installed SDK has it."""
    package, module, name = token.split(":", 2)
    function = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    home = f"pulumi_{package.replace('-', '_')}"
    folder = module.partition("/")[0].lower()
    folder = f"{folder}_" if keyword.iskeyword(folder) else folder
    for path in (f"{home}.{folder}.{function}", f"{home}.{function}"):
        try:
            found = importlib.import_module(path)
        except ModuleNotFoundError:
            continue
        cls = getattr(found, f"{name[0].upper()}{name[1:]}Result", None)
        if cls is not None:
            return {key: hint for key, hint in _getters(cls) if not _admits_none(hint)}
    return None


def _getters(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield wire name and type of each property that the SDK declares with `pulumi.getter`."""
    namespace = dict(vars(sys.modules[cls.__module__]))
    local = {"Output": pulumi.Output, "T": type(None)}
    for member in vars(cls).values():
        wire_name = getattr(getattr(member, "fget", None), "_pulumi_name", None)
        if wire_name is not None:
            yield wire_name, typing.get_type_hints(member.fget, namespace, local)["return"]


def _object_problems(
    value: Mapping[str, Any], cls: type, owner: str, path: str
) -> Iterator[Problem]:
    known = fields(cls)
    for name, item in value.items():
        here = f"{path}.{name}" if path else name
        if name not in known:
            yield here, f"{owner} has no property {name!r}{_suggestion(name, known)}"
        elif item is not None:
            yield from _value_problems(item, known[name].hint, here)
    for name, field in known.items():
        if field.required and value.get(name) is None:
            yield (f"{path}.{name}" if path else name), f"{owner} needs {name!r}, which is missing"


def _value_problems(value: Any, hint: Any, path: str) -> Iterator[Problem]:
    if value is UNKNOWN or value is None:
        return
    members = _members(hint)
    candidates = [member for member in members if _fits(value, member)]
    if not candidates:
        yield path, f"is {_describe(value)}, must be {_wanted(members)}"
        return
    verdicts = [list(_inner_problems(value, member, path)) for member in candidates]
    yield from min(verdicts, key=len)


def _inner_problems(value: Any, member: Any, path: str) -> Iterator[Problem]:
    arguments = get_args(member)
    if isinstance(value, list) and arguments:
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _value_problems(item, arguments[0], f"{path}[{index}]")
    elif _is_object(member):
        properties = cast("Properties", value)
        yield from _object_problems(properties, member, member.__name__.removesuffix("Args"), path)
    elif isinstance(value, dict) and arguments:
        for key, item in cast("dict[str, Any]", value).items():
            yield from _value_problems(item, arguments[1], f"{path}.{key}")


def _fits(value: Any, member: Any) -> bool:
    """Whether `value` has the outer shape of `member`."""
    if member is Any:
        return True
    origin = get_origin(member) or member
    if origin is Literal:
        return value in get_args(member)
    if not isinstance(origin, type):
        return True
    if issubclass(origin, enum.Enum):
        return value in {item.value for item in origin}
    if isinstance(value, bool):
        return origin is bool
    return isinstance(value, _wire_types(cast("type[object]", origin)))


def _wire_types(origin: type) -> type | tuple[type, ...]:
    """Return the Python types that a value of the SDK's type has on the wire."""
    if origin in (bool, int, str):
        return origin
    if origin is float:
        return (int, float)
    return list if issubclass(origin, Sequence) else dict


@functools.cache
def _members(hint: Any) -> tuple[Any, ...]:
    """Return the types that a value on the wire may have, without `Output` and `Awaitable`."""
    if get_origin(hint) not in (Union, types.UnionType):
        return () if _is_plumbing(hint) else (hint,)
    return tuple(member for part in get_args(hint) for member in _members(part))


def _is_plumbing(hint: Any) -> bool:
    if hint is type(None) or typing.is_typeddict(hint):
        return True
    if isinstance(hint, typing.ForwardRef):
        return hint.__forward_arg__.startswith("Output[")
    origin = get_origin(hint) or hint
    module = getattr(origin, "__module__", "")
    return (
        origin is pulumi.Output
        or getattr(origin, "__name__", "") == "Awaitable"
        or (module.endswith(".outputs"))
    )


def _is_object(member: Any) -> bool:
    return isinstance(member, type) and bool(getattr(member, "_pulumi_input_type", False))


def _admits_none(hint: Any) -> bool:
    if hint is Any or hint is type(None):
        return True
    if get_origin(hint) in (Union, types.UnionType):
        parts = [part for part in get_args(hint) if get_origin(part) is not pulumi.Output]
        return any(_admits_none(part) for part in parts)
    return False


def _suggestion(name: str, known: Mapping[str, Field]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _wanted(members: tuple[Any, ...]) -> str:
    return " or ".join(dict.fromkeys(_name(member) for member in members))


def _name(member: Any) -> str:
    origin = get_origin(member) or member
    if member in _TYPE_NAMES:
        return _TYPE_NAMES[member]
    if origin is Literal:
        return " or ".join(repr(choice) for choice in get_args(member))
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return "one of " + ", ".join(repr(item.value) for item in origin)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return "a list"
    return f"a mapping ({origin.__name__})" if _is_object(member) else "a mapping"


def _describe(value: Any) -> str:
    """Return the kind of a value, never the value, which may be a secret."""
    for shape, name in {**_TYPE_NAMES, list: "a list", dict: "a mapping"}.items():
        if type(value) is shape:
            return name
    return "something else"
