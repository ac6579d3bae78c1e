from __future__ import annotations

import contextlib
from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from app.sessions.history.series import Points
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import References, SchemaMetadata, SchemaRegistry, SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.simulation.scenario import Scenario
from widgets.i18n import tr


class VersionRow(NamedTuple):
    """`users` are topics and queues, each with the mode of its rule; `changes` those against the version before."""

    found: SchemaVersion
    compatibility: str
    users: tuple[tuple[str, str], ...]
    changes: tuple[SchemaChange, ...]


class Registered(NamedTuple):
    """The registry at a moment, and what topics and queues do with their values, by name."""

    registry: SchemaRegistry
    rules: dict[str, SchemaRule]

    def versions(self, there: frozenset[str]) -> tuple[VersionRow, ...]:
        """Every version that is live, the latest of each subject first; `there` are the topics and queues."""
        registry, rows = self.registry, []
        users: dict[str, list[tuple[str, str]]] = {}
        for name, rule in self.rules.items():
            if name in there:
                users.setdefault(rule.subject, []).append((name, rule.mode))
        for subject in registry.subjects():
            numbers, used = registry.versions(subject), tuple(users.get(subject, ()))
            compatibility = registry.compatibility_of(subject).value
            for before, number in reversed([*pairwise((0, *numbers))]):
                changes = registry.diff(subject, before, number) if before else ()
                rows.append(VersionRow(registry.version(subject, number), compatibility, used, tuple(changes)))
        return tuple(rows)


class SchemaCollector:
    """A sink of the event stream; called by the engine's thread, read by the window's."""

    def __init__(self, scenario: Scenario | None = None) -> None:
        """`scenario` holds what the session begins with."""
        self._scenario = scenario
        self._changes: list[Event] = []
        self._found: tuple[int, Registered] | None = None

    kinds = frozenset({EventKind.USER_ACTION})

    def __call__(self, event: Event) -> None:
        if event.detail and not event.detail.keys().isdisjoint(_DETAILS):
            self._changes.append(event)

    def at(self, time_ns: int) -> Registered:
        count = bisect_right(self._changes, time_ns, key=attrgetter("time_ns"))
        if self._found is None or self._found[0] != count:
            self._found = (count, self._read(count))
        return self._found[1]

    def _read(self, count: int) -> Registered:
        found = Registered(SchemaRegistry(), {})
        if self._scenario is not None:
            for spec in self._scenario.schemas:
                found.registry.set_compatibility(spec.compatibility, spec.subject)
                found.registry.register(spec.subject, spec.text, spec.kind)
            found.rules.update(
                (topic.name, topic.schema) for topic in self._scenario.topics if topic.schema is not None
            )
        for event in self._changes[:count]:
            # The session's registry has accepted it; only an incomplete event can fail here.
            with contextlib.suppress(BrokerError, ValueError, KeyError):
                _change(found, event.topic, event.detail or {})
        return found


_DETAILS = frozenset({"subject", "schema", "rule"})


def _change(found: Registered, topic: str, detail: dict[str, Any]) -> None:
    """Do what an event tells; `broker_core/broker/schemas.py` writes its `detail`, a key for each kind of change."""
    registry, subject = found.registry, str(detail.get("subject", ""))
    if "text" in detail:
        references = msgspec.convert(detail.get("references", ()), References)
        metadata = msgspec.convert(detail.get("metadata"), SchemaMetadata | None)
        kind = SchemaKind(detail.get("kind", SchemaKind.JSON))
        registry.register(subject, str(detail["text"]), kind, references, metadata)
    elif "compatibility" in detail:
        mode = detail["compatibility"]
        registry.set_compatibility(None if mode is None else Compatibility[mode], subject)
    elif "deleted" in detail:
        for version in detail["deleted"]:
            registry.delete_version(subject, int(version), permanent=bool(detail.get("permanent")))
    elif "schema" in detail:
        if detail["schema"] is None:
            found.rules.pop(topic, None)
        else:
            found.rules[topic] = msgspec.convert(detail["schema"], SchemaRule)
    elif detail.get("rule") is not None:  # of a topic that is created: the detail is the action's, by its fields
        found.rules[str(detail["name"])] = msgspec.convert(detail["rule"], SchemaRule)


# Reasons name the place in the value, so there are few; a flood of others is counted together.
ROWS_MAX = 1_000
_KINDS = {EventKind.REJECTED: "refused", EventKind.DEAD_LETTERED: "dead-lettered"}


class Refusal(NamedTuple):
    """Messages of one producer that a schema refused for one reason. Times are session ns."""

    topic: str
    client: str
    cause: str
    became: str
    messages: int
    last_ns: int


class RefusalCollector:
    """A sink of the event stream; called by the engine's thread, read by the window's."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], Points] = {}

    kinds = frozenset(_KINDS)

    def __call__(self, event: Event) -> None:
        became = _KINDS.get(event.kind)
        if became is None or not event.cause.startswith("schema "):
            return
        key = (event.topic, event.client, event.cause, became)
        if key not in self._found and len(self._found) >= ROWS_MAX:
            key = ("", "", tr("other reasons"), became)
        self._found.setdefault(key, Points()).add(event.time_ns, max(1, event.count))

    def rows(self, until_ns: int) -> tuple[Refusal, ...]:
        """Messages refused by `until_ns`, the latest first."""
        rows = []
        for key, points in tuple(self._found.items()):
            number = bisect_right(points.lines, until_ns)
            if number:
                rows.append(Refusal(*key, int(points.values[number - 1]), points.lines[number - 1]))
        return tuple(sorted(rows, key=lambda row: -row.last_ns))
