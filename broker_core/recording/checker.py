"""The history checker: reads the event stream of a run and reports the promise that it breaks, with the events.

It knows nothing of the broker's insides. What it holds a run to:

- offsets of a partition increase without a gap, and only what was published is delivered
- a group's first deliveries skip nothing; what it has acknowledged it is not handed again (unless offsets were reset)
- a partition has at most one owner in a group and generation; generations increase; only an owner acknowledges
- a message of a queue has one holder; its attempts count up by one; only its holder ends the lease
- who reads committed messages gets none of an open transaction
- a queue holds no more than it takes
- a message is dead-lettered at its last attempt, once; a redrive is of a letter that is in the bin, once
- after a drain nothing is missing: what was accepted is acknowledged, dead-lettered, or recorded as taken out
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

from broker_core.events import BROKER_CRASH, Event, EventKind
from broker_core.queues.queue_events import RESET_OFFSETS, UNDO_PURGE
from broker_core.recording.markers import Markers, Place, markers_of
from broker_core.recording.queue_rules import QueueRules
from broker_core.recording.violation import Violation, ownership
from broker_core.simulation.scenario import Scenario

GroupPlace = tuple[str, str, int]


class Checker(QueueRules):
    """A sink of the event stream. Raises `Violation` at the event that breaks a promise."""

    def __init__(
        self,
        *,
        max_attempts: dict[str, int] | None = None,
        max_depth: dict[str, int] | None = None,
        at_most_once: Iterable[str] = (),
        compacted: Iterable[str] = (),
        committed_readers: Iterable[str] = (),
    ) -> None:
        """`max_attempts` holds the delivery limits of queues, `max_depth` how many messages a queue may hold.

        `at_most_once` names groups that promise it, `compacted` topics in whose partitions offsets may be empty,
        `committed_readers` groups with the isolation level read_committed.
        """
        super().__init__(dict(max_attempts or {}), dict(max_depth or {}))
        self._at_most_once = frozenset(at_most_once)
        self._compacted = frozenset(compacted)
        self._committed_readers = frozenset(committed_readers)
        self._markers = Markers()
        self._open: dict[str, dict[Place, int]] = {}  # by client, the first offset of its transaction
        self._starts: dict[GroupPlace, int] = {}
        self._delivered_ends: dict[GroupPlace, int] = {}
        self._committed: dict[GroupPlace, int] = {}
        self._owners: dict[GroupPlace, tuple[str, int]] = {}
        self._last_owners: dict[GroupPlace, str] = {}
        self._generations: dict[str, int] = {}
        # Expelled members until their next heartbeat: they read on, as in Kafka, and their commits are fenced.
        self._zombies: set[tuple[str, str]] = set()
        # Where a user has set an offset or a position: reading goes on somewhere else, or once more.
        self._may_jump: set[GroupPlace] = set()
        self._rereads: set[GroupPlace] = set()
        self._bygones: dict[str, list[tuple[MutableMapping[Any, Any], dict[Any, Any]]]] = {}
        self._rules: dict[EventKind, Callable[[Event], None]] = {
            **self._queue_rules(),
            EventKind.TOPIC_CREATED: self._created,
            EventKind.QUEUE_CREATED: self._created,
            EventKind.TOPIC_DELETED: self._deleted,
            EventKind.DELIVERED: self._delivered,
            EventKind.ACKNOWLEDGED: self._acknowledged,
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: self._revoked,
            EventKind.MEMBER_LEFT: self._member_left,
            EventKind.MEMBER_JOINED: lambda event: self._zombies.discard((event.group, event.client)),
            EventKind.REBALANCE_COMPLETED: self._completed,
            EventKind.GROUP_STATE: self._group_state,
            EventKind.OFFSETS_RESET: self._reset,
            EventKind.RECORDS_DELETED: self._records_gone,
            EventKind.TRANSACTION_STARTED: lambda event: self._open.update({event.client: {}}),
            EventKind.TRANSACTION_ENDED: self._transaction_ended,
            EventKind.USER_ACTION: self._user_action,
            EventKind.FAULT: self._fault,
        }

    @classmethod
    def of(cls, scenario: Scenario) -> Checker:
        """One that knows the limits of `scenario`."""
        configs = {each.name: each.config for each in scenario.queues}
        configs |= {name: each.config for each in scenario.subscribers for name in each.subscriptions.values()}
        attempts = {name: config.max_attempts for name, config in configs.items() if config.max_attempts}
        attempts |= {
            name: each.delivery_count_limit for each in scenario.share_groups for name in each.subscriptions.values()
        }
        return cls(
            max_attempts=attempts,
            max_depth={
                each.name: each.flow.max_messages for each in scenario.queues if each.flow and each.flow.max_messages
            },
            compacted={topic.name for topic in scenario.topics if topic.log and topic.log.cleanup == "compact"},
            committed_readers={each.name for each in scenario.groups if each.isolation_level == "read_committed"},
        )

    def __call__(self, event: Event) -> None:
        """Check one event. Raises `Violation`."""
        if self._events and event.seq != self._events[-1].seq + 1:
            raise Violation(f"event {event.seq} follows {self._events[-1].seq}: the stream has a gap", (event,))
        if self._events and event.time_ns < self._events[-1].time_ns:
            raise Violation("time goes backwards", (self._events[-1], event))
        self._events.append(event)
        rule = self._rules.get(event.kind)
        if rule is not None:
            rule(event)

    # -- partitions

    def _published(self, event: Event) -> None:
        super()._published(event)
        assert event.partition is not None
        assert event.offset is not None
        if event.client in self._open:
            self._open[event.client].setdefault((event.topic, event.partition), event.offset)

    def _transaction_ended(self, event: Event) -> None:
        self._open.pop(event.client, None)
        self._markers.add(event)
        for place, offset in markers_of(event):
            self._ends[place] = max(self._ends[place], offset + 1)

    def _nothing_before(self, event: Event, start: int) -> bool:
        """True where a reader may come to this offset from `start`: what lay between is gone, or markers."""
        assert event.partition is not None
        assert event.offset is not None
        place = (event.topic, event.partition)
        if event.topic in self._compacted or event.offset <= self._deleted_to[place]:
            return True
        return self._markers.between(place, start, event.offset) == event.offset - start

    def _delivered(self, event: Event) -> None:
        assert event.partition is not None
        assert event.offset is not None
        end = event.offset + event.count
        if end > self._ends[event.topic, event.partition]:
            self._fail(f"{event.topic}/{event.partition} delivers {event.offset}, which nobody published", event)
        if event.group in self._queues:
            for offset in range(event.offset, end):
                self._leased(event, offset)
            return
        key = (event.group, event.topic, event.partition)
        known = self._delivered_ends.setdefault(key, event.offset)
        self._starts.setdefault(key, event.offset)
        zombie = (event.group, event.client) in self._zombies
        if event.offset > known and key not in self._may_jump and not self._nothing_before(event, known):
            passed_over = f"{event.group} skipped {known} to {event.offset - 1} of {event.topic}/{event.partition}"
            self._fail(passed_over, event, offset=known, is_loss=True)
        if event.offset < self._committed.get(key, 0) and key not in self._rereads and not zombie:
            self._fail(f"{event.group} gets {event.offset} again, which it has acknowledged", event)
        if event.offset < known and event.group in self._at_most_once:
            self._fail(f"{event.group} gets {event.offset} twice, and promises at most once", event)
        if (event.offset < known) != (event.attempt != 1):
            self._fail(f"delivery of {event.offset} to {event.group} is counted as attempt {event.attempt}", event)
        if event.group in self._committed_readers:
            for client, firsts in self._open.items():
                if end > firsts.get((event.topic, event.partition), end):
                    self._fail(f"{event.group} gets {event.offset}, and the transaction of {client} is open", event)
        owner = self._owners.get(key)
        if owner is not None and owner[0] != event.client and not zombie:
            self._fail(f"{event.client} reads {event.topic}/{event.partition}, which {owner[0]} owns", event)
        self._delivered_ends[key] = max(known, end)
        self._may_jump.discard(key)
        if end > self._committed.get(key, 0):
            self._rereads.discard(key)

    def _acknowledged(self, event: Event) -> None:
        assert event.partition is not None
        assert event.offset is not None
        if event.group in self._queues:
            self._ended(event)
            return
        key = (event.group, event.topic, event.partition)
        committed = self._committed.get(key)
        forward = committed is not None and event.offset > committed and self._nothing_before(event, committed)
        if committed is not None and event.offset != committed and not forward:
            self._fail(f"{event.group} goes on acknowledging at {event.offset}, not at {committed}", event)
        if event.offset + event.count > self._delivered_ends.get(key, 0) and key not in self._may_jump:
            self._fail(
                f"{event.group} acknowledges {event.topic}/{event.partition} @{event.offset}, which it never got",
                event,
                is_loss=True,
            )
        allowed = {self._last_owners.get(key), self._owners.get(key, ("", 0))[0]}
        if event.client and event.client not in allowed:
            self._fail(f"{event.client} acknowledges for {event.topic}/{event.partition}, which it does not own", event)
        self._committed[key] = event.offset + event.count

    # -- what a user does

    def _reset(self, event: Event) -> None:
        """Offsets were set by hand: reading and acknowledging go on from there."""
        for topic, partition, _from, to in (event.detail or {}).get("changes", ()):
            key = (event.group, topic, partition)
            self._starts.pop(key, None)
            self._committed[key] = to
            self._may_jump.add(key)

    def _group_state(self, event: Event) -> None:
        if event.cause == "Dead":
            for key in [key for key in self._delivered_ends if key[0] == event.group]:
                self._starts.pop(key, None)
                self._committed.pop(key, None)
                self._may_jump.add(key)

    def _user_action(self, event: Event) -> None:
        detail = event.detail or {}
        if event.cause in {UNDO_PURGE, "undo redrive", RESET_OFFSETS}:
            self._undone(event)
        elif detail.get("action") == "seek":
            for key, (client, _generation) in self._owners.items():
                if (client, *key[1:]) == (detail["consumer"], detail["topic"], detail["partition"]):
                    self._may_jump.add(key)
                    self._rereads.add(key)
        elif detail.get("flow") and event.topic in self._queues:
            self._max_depth[event.topic] = detail["flow"]["max_messages"] or sys.maxsize

    def _deleted(self, event: Event) -> None:
        """What was known of a topic, queue or subscription waits for its being brought back."""
        name = event.group or event.topic
        gone = {name, self._bins.get(name, name)}
        kept: list[tuple[MutableMapping[Any, Any], dict[Any, Any]]] = []
        # By the name in front, and by the topic behind the group.
        known: list[tuple[MutableMapping[Any, Any], int]] = [(self._leases, 0), (self._letters, 0)]
        if not event.group:
            known += [(self._ends, 0), (self._deleted_to, 0), (self._committed, 1)]
            for key in [key for key in self._delivered_ends if key[1] == name]:
                for forgotten in (self._starts, self._delivered_ends):
                    forgotten.pop(key, None)
        for where, place in known:
            moved = {key: where[key] for key in list(where) if key[place] in gone}
            kept.append((where, moved))
        for named in (self._queues, self._depths, self._max_attempts, self._max_depth):
            kept.append((named, {name: named[name]} if name in named else {}))
        for where, moved in kept:
            for key in moved:
                del where[key]
        self._bygones[name] = kept

    def _created(self, event: Event) -> None:
        name = event.group or event.topic
        kept = self._bygones.pop(name, [])
        if event.cause == "restored":
            for where, moved in kept:
                where.update(moved)
        elif event.kind is EventKind.QUEUE_CREATED:
            self._queue_created(event)

    # -- ownership

    def _places(self, event: Event) -> list[GroupPlace]:
        detail = event.detail or {}
        return [(event.group, topic, partition) for topic, partition in detail.get("partitions", ())]

    def _assigned(self, event: Event) -> None:
        assert event.generation is not None
        if event.generation < self._generations.get(event.group, -1):
            self._fail(f"{event.group} assigns in generation {event.generation}, which is over", event)
        self._generations[event.group] = event.generation
        for key in self._places(event):
            owner = self._owners.get(key)
            if owner is not None and owner[0] != event.client:
                told = f"{key[1]}/{key[2]} is given to {event.client} while {owner[0]} owns it"
                self._fail(told, event, history=ownership(self._events, *key))
            self._owners[key] = (event.client, event.generation)

    def _revoked(self, event: Event) -> None:
        for key in self._places(event):
            if self._owners.get(key, ("", 0))[0] == event.client:
                self._last_owners[key] = event.client
                del self._owners[key]

    def _member_left(self, event: Event) -> None:
        if "missed its heartbeats" in event.cause:
            self._zombies.add((event.group, event.client))
        for key, (client, _generation) in list(self._owners.items()):
            if key[0] == event.group and client == event.client:
                self._last_owners[key] = client
                del self._owners[key]

    def _completed(self, event: Event) -> None:
        assert event.generation is not None
        for key in [key for key in self._last_owners if key[0] == event.group]:
            del self._last_owners[key]

    def _fault(self, event: Event) -> None:
        """A broker that has crashed knows no members and no deliveries, only what was stored."""
        if (event.detail or {}).get("fault") == BROKER_CRASH:
            for forgotten in (self._owners, self._last_owners, self._generations, self._zombies):
                forgotten.clear()
            self._may_jump.update(self._delivered_ends)
            self._delivered_ends.clear()

    # -- the end

    def finish(self, *, drained: bool = True) -> None:
        """The run is over. With `drained`, everything must have come to an end. Raises `Violation`."""
        if not drained:
            return
        for (group, topic, partition), start in self._starts.items():
            end, committed = self._ends[topic, partition], self._committed.get((group, topic, partition), start)
            read_to = max(committed, self._deleted_to[topic, partition])
            read_to += self._markers.between((topic, partition), read_to, end)
            if read_to < end and topic not in self._compacted:
                self._fail(f"{group} never acknowledged {committed} to {end - 1} of {topic}/{partition}", None, topic)
        for queue, (topic, starts) in self._queues.items():
            for partition in [partition for name, partition in self._ends if name == topic]:
                first = max(starts.get(partition, 0), self._deleted_to[topic, partition])
                for offset in range(first, self._ends[topic, partition]):
                    if not self._leases[queue, topic, partition, offset].finished:
                        self._fail(f"{queue} lost {offset} of {topic}/{partition}", None, topic, offset)
