"""Everything that exists in the stand-in clouds of one rehearsal, and what happened to it.

A `World` lives through preview, `up`, a failed `up` and `destroy` in one process. The server holds
`lock` around each create, update and delete, so that a `Kind` may look and then act.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource

Action = Literal["created", "updated", "deleted", "refused", "warned"]

_ABSENT = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One thing that happened; `detail` is the message of a refusal or warning."""

    action: Action
    urn: str
    type: str
    name: str
    detail: str = ""


class World:
    """The things of every scope (see `kind.Call.scope`), and the journal."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._things: dict[tuple[str, str, str], Resource] = {}
        self._journal: list[Event] = []
        self._gone: list[Resource] = []
        self._generations: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()

    def add(self, thing: Resource) -> None:
        """Raises `ValueError` where a thing of that type and id exists in the scope."""
        with self.lock:
            key = _key(thing)
            if key in self._things:
                raise ValueError(f"{thing.type} {thing.id!r} exists already in {thing.scope}")
            self._things[key] = thing
            self._generations[thing.urn] += 1

    def replace(self, thing: Resource) -> None:
        """Puts `thing` where one of the same scope, type and id was."""
        with self.lock:
            self._things[_key(thing)] = thing

    def remove(self, thing: Resource) -> None:
        """Takes `thing` out; nothing happens where it is gone already."""
        with self.lock:
            found = self._things.pop(_key(thing), None)
            if found is not None:
                self._gone.append(found)

    def gone(self, type: str) -> tuple[Resource, ...]:
        """Every thing of that type that was taken out, as it was last, oldest first."""
        with self.lock:
            return tuple(thing for thing in self._gone if thing.type == type)

    def get(self, id: str, type: str | None = None, scope: str | None = None) -> Resource | None:
        """The thing with that id; give `type` and `scope` where ids are not unique."""
        with self.lock:
            if type is not None and scope is not None:
                return self._things.get((scope, type, id))
            for thing in self._things.values():
                if thing.id == id and type in (None, thing.type) and scope in (None, thing.scope):
                    return thing
        return None

    def all(self, type: str | None = None, scope: str | None = None) -> tuple[Resource, ...]:
        """Every thing of that type in that scope, in order of creation."""
        with self.lock:
            return tuple(
                thing
                for thing in self._things.values()
                if type in (None, thing.type) and scope in (None, thing.scope)
            )

    def where(
        self, type: str | None = None, scope: str | None = None, **properties: Any
    ) -> tuple[Resource, ...]:
        """Every thing whose outputs (else inputs) hold these values at the top level."""
        return tuple(
            thing
            for thing in self.all(type, scope)
            if all(_value(thing, name) == wanted for name, wanted in properties.items())
        )

    def find(
        self, type: str | None = None, scope: str | None = None, **properties: Any
    ) -> Resource | None:
        """The first of `where`, or None."""
        return next(iter(self.where(type, scope, **properties)), None)

    def by_arn(self, arn: str) -> Resource | None:
        """The thing whose output `arn` it is."""
        return self.find(arn=arn)

    def generation(self, urn: str) -> int:
        """How many resources of that URN were created so far."""
        with self.lock:
            return self._generations[urn]

    def fresh_hex(self, seed: str, digits: int) -> str:
        """Hexadecimal digits that depend on `seed` and on how often it was asked, nothing else."""
        with self.lock:
            self._asked[seed] += 1
            text = f"{seed}#{self._asked[seed]}"
        return hashlib.sha256(text.encode()).hexdigest()[:digits]

    def record(self, action: Action, thing: Resource, detail: str = "") -> None:
        """Adds a line to the journal."""
        event = Event(action=action, urn=thing.urn, type=thing.type, name=thing.name, detail=detail)
        self.note(event)

    def note(self, event: Event) -> None:
        """Adds `event` to the journal."""
        with self.lock:
            self._journal.append(event)

    @property
    def journal(self) -> tuple[Event, ...]:
        """What happened so far, oldest first."""
        with self.lock:
            return tuple(self._journal)

    def __len__(self) -> int:
        return len(self._things)


def _key(thing: Resource) -> tuple[str, str, str]:
    return (thing.scope, thing.type, thing.id)


def _value(thing: Resource, name: str) -> Any:
    value = thing.outputs.get(name, thing.inputs.get(name, _ABSENT))
    return _ABSENT if value is UNKNOWN else value
