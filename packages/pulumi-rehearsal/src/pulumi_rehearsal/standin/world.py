"""The resources that exist in the stand-in clouds of one rehearsal, and a journal of events.

One `World` lasts for all commands of a rehearsal. The server holds `lock` during each create,
update and delete, so that a `Kind` may check a condition and then act on it.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pulumi_rehearsal.standin.jobs import Jobs
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource

Action = Literal["created", "updated", "deleted", "refused", "warned"]

_ABSENT = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event; `detail` is the message of a refusal or warning."""

    action: Action
    urn: str
    type: str
    name: str
    detail: str = ""


class World:
    """The resources of every scope (see `kind.Call.scope`), and the journal."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.jobs = Jobs(self)
        self._resources: dict[tuple[str, str, str], Resource] = {}
        self._journal: list[Event] = []
        self._gone: list[Resource] = []
        self._generations: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._kept: set[tuple[str, str, str]] = set()
        self._remembered: dict[tuple[str, str, str], str] = {}

    def add(self, resource: Resource) -> None:
        """Add a resource. Raises `ValueError` if one of its type and id exists in its scope."""
        with self.lock:
            key = _key(resource)
            if key in self._resources:
                raise ValueError(
                    f"{resource.type} {resource.id!r} exists already in {resource.scope}"
                )
            self._resources[key] = resource
            self._generations[resource.urn] += 1

    def add_kept(self, resource: Resource, warning: str) -> None:
        """Add a resource that a destroy leaves in the cloud, as the real provider does."""
        self.add(resource)
        self._kept.add(_key(resource))
        self.record("warned", resource, warning)

    def is_kept(self, resource: Resource) -> bool:
        """Whether a destroy leaves the resource in the cloud."""
        return _key(resource) in self._kept

    def replace(self, resource: Resource) -> None:
        """Put `resource` in the place of the one of the same scope, type and id."""
        with self.lock:
            self._resources[_key(resource)] = resource

    def remove(self, resource: Resource) -> None:
        """Remove `resource`, unless it is gone already. A job that runs on it is killed."""
        with self.lock:
            found = self._resources.pop(_key(resource), None)
            if found is not None:
                self._gone.append(found)
                self._remembered.pop(_key(resource), None)
                self.jobs.removed(found)

    def remember(self, resource: Resource, text: str) -> None:
        """Keep what a cloud knows of a resource and does not show in its outputs."""
        with self.lock:
            self._remembered[_key(resource)] = text

    def remembered(self, resource: Resource) -> str:
        """Return the text of `remember`, empty if there is none."""
        return self._remembered.get(_key(resource), "")

    def gone(self, type: str) -> tuple[Resource, ...]:
        """Return the removed resources of that type as they last were, oldest first."""
        with self.lock:
            return tuple(resource for resource in self._gone if resource.type == type)

    def get(self, id: str, type: str | None = None, scope: str | None = None) -> Resource | None:
        """Return the resource with that id; give `type` and `scope` if ids are not unique."""
        with self.lock:
            if type is not None and scope is not None:
                return self._resources.get((scope, type, id))
            for resource in self._resources.values():
                if (
                    resource.id == id
                    and type in (None, resource.type)
                    and scope in (None, resource.scope)
                ):
                    return resource
        return None

    def all(self, type: str | None = None, scope: str | None = None) -> tuple[Resource, ...]:
        """Return the resources of that type in that scope, in order of creation."""
        with self.lock:
            return tuple(
                resource
                for resource in self._resources.values()
                if type in (None, resource.type) and scope in (None, resource.scope)
            )

    def where(
        self, type: str | None = None, scope: str | None = None, **properties: Any
    ) -> tuple[Resource, ...]:
        """Return the resources whose top-level outputs (else inputs) have these values."""
        return tuple(
            resource
            for resource in self.all(type, scope)
            if all(_value(resource, name) == wanted for name, wanted in properties.items())
        )

    def find(
        self, type: str | None = None, scope: str | None = None, **properties: Any
    ) -> Resource | None:
        """Return the first of `where`, or `None`."""
        return next(iter(self.where(type, scope, **properties)), None)

    def by_arn(self, arn: str) -> Resource | None:
        """Return the resource with that ARN."""
        return self.find(arn=arn)

    def generation(self, urn: str) -> int:
        """Return the number of resources of that URN that were created so far."""
        with self.lock:
            return self._generations[urn]

    def fresh_hex(self, seed: str, digits: int) -> str:
        """Return hexadecimal digits that depend on `seed` and on the number of calls with it."""
        with self.lock:
            self._calls[seed] += 1
            text = f"{seed}#{self._calls[seed]}"
        return hashlib.sha256(text.encode()).hexdigest()[:digits]

    def record(self, action: Action, resource: Resource, detail: str = "") -> None:
        """Add an event about a resource to the journal."""
        event = Event(
            action=action, urn=resource.urn, type=resource.type, name=resource.name, detail=detail
        )
        self.note(event)

    def note(self, event: Event) -> None:
        """Add an event to the journal."""
        with self.lock:
            self._journal.append(event)

    @property
    def journal(self) -> tuple[Event, ...]:
        """The events so far, oldest first."""
        with self.lock:
            return tuple(self._journal)

    def __len__(self) -> int:
        return len(self._resources)


def _key(resource: Resource) -> tuple[str, str, str]:
    return (resource.scope, resource.type, resource.id)


def _value(resource: Resource, name: str) -> Any:
    value = resource.outputs.get(name, resource.inputs.get(name, _ABSENT))
    return _ABSENT if value is UNKNOWN else value
