"""One account of a stand-in cloud, in which a test creates, changes and deletes resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pulumi_rehearsal.standin.kind import Call, Kind, Lookup, Properties, Resource, Unfinished
from pulumi_rehearsal.standin.world import World


@dataclass
class CloudAccount:
    """One account; every method acts as one call of the engine."""

    kinds: ClassVar[Mapping[str, Kind]]
    lookups: ClassVar[Mapping[str, Lookup]]
    home: ClassVar[str]
    """The scope of resources that are created without one."""

    world: World = field(default_factory=World)
    settings: Properties = field(default_factory=dict)
    """The configuration of the provider."""

    def call(self, token: str, name: str, inputs: Properties, scope: str | None = None) -> Call:
        urn = f"urn:pulumi:test::test::{token}::{name}"
        return Call(
            urn=urn,
            type=token,
            name=name,
            inputs=inputs,
            scope=scope or self.home,
            generation=self.world.generation(urn),
            settings=self.settings,
        )

    def make(self, token: str, name: str, /, scope: str | None = None, **inputs: Any) -> Resource:
        kind = self.kinds[token]
        checked = kind.check(self.call(token, name, inputs, scope), None)
        call = self.call(token, name, checked, scope)
        unfinished: Unfinished | None = None
        try:
            made_id, outputs = kind.create(call, self.world)
        except Unfinished as error:
            made_id, outputs, unfinished = error.id, error.outputs, error
        thing = Resource(
            urn=call.urn,
            type=token,
            name=name,
            id=made_id,
            scope=call.scope,
            inputs=checked,
            outputs=outputs,
        )
        store = self.world.replace if kind.adopts(call) else self.world.add
        store(thing)
        self.world.record("created", thing)
        if unfinished is not None:
            raise unfinished
        return thing

    def now(self, thing: Resource) -> Resource:
        found = self.world.get(thing.id, thing.type, thing.scope)
        assert found is not None, f"{thing.id} is gone"
        return found

    def change(self, thing: Resource, /, **inputs: Any) -> Resource:
        """Change inputs; an input of `None` is removed."""
        kind = self.kinds[thing.type]
        old = self.now(thing)
        wanted = {
            key: value for key, value in {**old.inputs, **inputs}.items() if value is not None
        }
        checked = kind.check(self.call(old.type, old.name, wanted, old.scope), old.inputs)
        outputs = kind.update(self.call(old.type, old.name, checked, old.scope), old, self.world)
        changed = Resource(
            urn=old.urn,
            type=old.type,
            name=old.name,
            id=old.id,
            scope=old.scope,
            inputs=checked,
            outputs=outputs,
        )
        self.world.replace(changed)
        self.world.record("updated", changed)
        return changed

    def delete(self, thing: Resource, timeout_s: float = 0) -> None:
        old = self.now(thing)
        self.kinds[thing.type].delete(old, self.world)
        self.kinds[thing.type].remove(old, self.world, timeout_s)
        self.world.record("deleted", old)

    def look(self, token: str, /, **args: Any) -> Properties:
        return self.lookups[token].invoke(args, self.home, self.world)

    def warnings(self) -> list[str]:
        return [event.detail for event in self.world.journal if event.action == "warned"]
