"""A flat program made from recorded registrations: the same resources without components.

Each resource is built again by its SDK class with the inputs that it had. A value that came from
another resource is that resource's output again, so the engine sees the same dependencies. Inputs
are plain maps and not the SDK's `Args` classes, which is the cheapest way that the SDK offers.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pulumi
from pulumi import _types  # pyright: ignore[reportPrivateUsage] - the names of properties

from tests.computed import COMPUTED
from tests.engine import Registered, Registration

Made = Mapping[str, Any]
"""Resources by their URN in the recorded program."""

Input = Callable[[Made], Any]


@dataclass(frozen=True, slots=True)
class Output:
    """An output of a resource, and the path to its value with the SDK's names."""

    urn: str
    path: tuple[str | int, ...]
    as_text: bool = False

    def of(self, made: Made) -> Any:
        """Return the output of the resource in this run."""
        found = made[self.urn]
        for part in self.path:
            found = found[part] if isinstance(part, int) else getattr(found, part)
        return found.apply(str) if self.as_text else found


def flat(found: Registered) -> Callable[[], None]:
    """Return a program that registers all of `found` except its components."""
    real = {one.urn: one for one in found.resources if one.custom or one.remote}
    steps = [(urn, _step(one, real)) for urn, one in real.items()]

    def program() -> None:
        made: dict[str, Any] = {}
        for urn, build in steps:
            made[urn] = build(made)

    return program


def _step(one: Registration, real: Mapping[str, Registration]) -> Callable[[Made], Any]:
    cls = sdk_class(one.type)
    taken = inspect.signature(cls._internal_init).parameters
    names = {key: name for name, key in _types.resource_py_to_pulumi_names(cls).items()}
    inputs = {
        name: _input(one, key, value, real)
        for key, value in one.inputs.items()
        if (name := names.get(key, _snake(key))) in taken
    }
    plain = {name: value for name, value in inputs.items() if not callable(value)}
    wired = {name: value for name, value in inputs.items() if callable(value)}
    implied = {urn for urns in one.property_dependencies.values() for urn in urns}
    after = [urn for urn in real if urn in one.depends_on - implied]
    provider = one.provider_urn or _inherited(one)

    def build(made: Made) -> Any:
        opts = pulumi.ResourceOptions(
            provider=made[provider] if provider else None,
            depends_on=[made[urn] for urn in after],
            protect=one.protect or None,
            ignore_changes=list(one.ignore_changes) or None,
            replace_on_changes=list(one.replace_on_changes) or None,
            delete_before_replace=one.delete_before_replace or None,
        )
        return cls(one.name, opts=opts, **plain, **{key: make(made) for key, make in wired.items()})

    return build


def _inherited(one: Registration) -> str:
    """Return the provider that a remote component has for its own package."""
    reference = one.providers.get(one.type.partition(":")[0], "") if one.remote else ""
    return reference.rpartition("::")[0]


def _input(
    one: Registration, key: str, value: Any, real: Mapping[str, Registration]
) -> Any | Input:
    if one.type.startswith("pulumi:providers:") and value in ("true", "false"):
        value = value == "true"
    sources = [urn for urn in real if urn in one.property_dependencies.get(key, ())]
    secret = one.values.is_secret(key)
    if not sources and not secret:
        return value
    known: dict[str, Output] = {}
    for urn in sources:
        known |= {text: output for text, output in _outputs(real[urn]) if text not in known}
    used: set[str] = set()

    def output(leaf: Any) -> Any:
        if not isinstance(leaf, str) or leaf not in known:
            return leaf
        used.add(known[leaf].urn)
        return known[leaf]

    shape = _changed(value, output)

    def make(made: Made) -> Any:
        if set(sources) <= used:
            found = _changed(
                shape, lambda leaf: leaf.of(made) if isinstance(leaf, Output) else leaf
            )
        else:  # computed from outputs, as a kubeconfig is
            several = (Output(urn, ("urn",)).of(made) for urn in sources)
            found = pulumi.Output.all(*several).apply(lambda _: value)
        return pulumi.Output.secret(found) if secret else found

    return make


def _outputs(one: Registration) -> Iterator[tuple[str, Output]]:
    """Yield every output from which a string of another resource may come."""
    if one.custom:
        yield f"{one.name}-id", Output(one.urn, ("id",))
    yield from _leaves(COMPUTED[one.type](one.name, one.inputs), (), one.urn)
    for key, value in one.inputs.items():
        if isinstance(value, str):
            yield value, Output(one.urn, (_snake(key),))


def _leaves(value: Any, path: tuple[str | int, ...], urn: str) -> Iterator[tuple[str, Output]]:
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _leaves(item, (*path, _snake(key)), urn)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _leaves(item, (*path, index), urn)
    else:
        yield str(value), Output(urn, path, as_text=not isinstance(value, str))


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the same maps and lists with changed leaves."""
    if isinstance(value, dict):
        whole = cast("dict[str, Any]", value)
        return {key: _changed(item, change) for key, item in whole.items()}
    if isinstance(value, list):
        return [_changed(item, change) for item in cast("list[Any]", value)]
    return change(value)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: f"_{match[1].lower()}", name)


def sdk_class(token: str) -> Any:
    """Import the SDK class of a type token."""
    package, module, noun = token.split(":")
    if package == "pulumi":
        return importlib.import_module(f"pulumi_{noun}").Provider
    module = module.replace("helm.sh/", "helm/").replace(".authorization.k8s.io", "")
    parts = module.split("/") if package == "kubernetes" else module.split("/")[:1]
    path = [f"pulumi_{package}", *(part for part in parts if part != "index")]
    return getattr(importlib.import_module(".".join(path).lower()), noun)


def differences(found: Registered, again: Registered) -> list[str]:
    """Return the resources that two runs registered differently, without components."""
    wanted, got = _comparable(found), _comparable(again)
    return sorted(
        f"{kind} {name}"
        for kind, name in wanted.keys() | got.keys()
        if wanted.get((kind, name)) != got.get((kind, name))
    )


def _comparable(found: Registered) -> dict[tuple[str, str], object]:
    return {
        (one.type, one.name): (
            one.inputs,
            one.values.secret_paths,
            _short(one.depends_on),
            {key: _short(urns) for key, urns in one.property_dependencies.items() if urns},
            _short([one.provider_urn or _inherited(one)]),
            (one.protect, one.delete_before_replace),
            (one.ignore_changes, one.replace_on_changes),
        )
        for one in found.resources
        if one.custom or one.remote
    }


def _short(urns: Iterable[str]) -> set[str]:
    """Return type and name of each resource, without the types of its parents."""
    return {urn.rpartition("$")[2] if "$" in urn else urn.split("::", 2)[-1] for urn in urns}
