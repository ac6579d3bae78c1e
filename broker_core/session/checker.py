"""The history checker: reads the event stream of a run and says which promise it breaks, with the events that show it.

It knows nothing of the broker's insides. What it holds a run to:

- offsets of a partition increase without a gap, and only what was published is delivered
- a group's first deliveries skip nothing; what it has acknowledged it is not handed again (unless offsets were reset)
- a partition has at most one owner in a group and generation; generations increase; only an owner acknowledges
- a message of a queue has one holder; its attempts count up by one; only its holder ends the lease
- a queue holds no more than it takes
- a message is dead-lettered at its last attempt, once; a redrive is of a letter that is in the bin, once
- after a drain nothing is missing: what was accepted is acknowledged, dead-lettered, or recorded as taken out
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from broker_core.events import Event, EventKind
from broker_core.lab.scenario import Scenario
from broker_core.session.violation import MAX_HISTORY, Violation, ownership, shortest

Place = tuple[str, int]
GroupPlace = tuple[str, str, int]
LeasePlace = tuple[str, str, int, int]


class _Lease:
    """Where one message of a queue stands."""

    __slots__ = ("attempts", "finished", "holder")

    def __init__(self) -> None:
        self.holder = ""
        self.attempts = 0
        self.finished = False


class Checker:
    """A sink of the event stream. Raises `Violation` at the event that breaks a promise."""

    def __init__(
        self,
        *,
        max_attempts: dict[str, int] | None = None,
        max_depth: dict[str, int] | None = None,
        at_most_once: Iterable[str] = (),
        compacted: Iterable[str] = (),
    ) -> None:
        """`max_attempts` holds the delivery limits of queues, `max_depth` how many messages a queue may hold.

        `at_most_once` names groups that promise it, `compacted` topics in whose partitions offsets may be empty.
        """
        self._events: list[Event] = []
        self._max_attempts = max_attempts or {}
        self._max_depth = max_depth or {}
        self._depths: dict[str, int] = defaultdict(int)
        self._at_most_once = frozenset(at_most_once)
        self._compacted = frozenset(compacted)
        self._deleted_to: dict[Place, int] = defaultdict(int)
        # What each queue, or fan-out subscription, reads, and the offset of each partition at which it began.
        self._queues: dict[str, tuple[str, dict[int, int]]] = {}
        self._ends: dict[Place, int] = defaultdict(int)
        self._starts: dict[GroupPlace, int] = {}
        self._delivered_ends: dict[GroupPlace, int] = {}
        self._committed: dict[GroupPlace, int] = {}
        self._owners: dict[GroupPlace, tuple[str, int]] = {}
        self._last_owners: dict[GroupPlace, str] = {}
        self._generations: dict[str, int] = {}
        # Thrown out and not told yet: they go on reading, as in Kafka; what they commit is fenced.
        self._zombies: set[tuple[str, str]] = set()
        self._leases: dict[LeasePlace, _Lease] = defaultdict(_Lease)
        self._letters: dict[tuple[str, int | None], bool] = {}
        self._rules: dict[EventKind, Callable[[Event], None]] = {
            EventKind.QUEUE_CREATED: self._queue_created,
            EventKind.PUBLISHED: self._published,
            EventKind.REDRIVEN: self._redriven,
            EventKind.DELIVERED: self._delivered,
            EventKind.ACKNOWLEDGED: self._acknowledged,
            EventKind.NACKED: self._gives_back,
            EventKind.LEASE_EXPIRED: self._gives_back,
            EventKind.RELEASED: self._released,
            EventKind.LEASE_EXTENDED: self._extended,
            EventKind.DEAD_LETTERED: self._dead_lettered,
            EventKind.EXPIRED: self._taken_out,
            EventKind.EVICTED: self._taken_out,
            EventKind.DAMAGE: self._taken_out,
            EventKind.PURGED: self._purged,
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: self._revoked,
            EventKind.MEMBER_LEFT: self._member_left,
            EventKind.MEMBER_JOINED: lambda event: self._zombies.discard((event.group, event.client)),
            EventKind.REBALANCE_COMPLETED: self._completed,
            EventKind.OFFSETS_RESET: self._reset,
            EventKind.RECORDS_DELETED: self._records_deleted,
            EventKind.USER_ACTION: self._undone,
        }

    @classmethod
    def of(cls, scenario: Scenario) -> Checker:
        """One that knows the limits of `scenario`."""
        return cls(
            max_attempts={each.name: each.config.max_attempts for each in scenario.queues}
            | {name: each.config.max_attempts for each in scenario.subscribers for name in each.subscriptions.values()},
            max_depth={
                each.name: each.flow.max_messages for each in scenario.queues if each.flow and each.flow.max_messages
            },
            compacted={topic.name for topic in scenario.topics if topic.log and topic.log.cleanup == "compact"},
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

    def _queue_created(self, event: Event) -> None:
        starts = {partition: end for (topic, partition), end in self._ends.items() if topic == event.topic}
        self._queues[event.group or event.topic] = (event.topic, starts)

    # -- partitions

    def _published(self, event: Event) -> None:
        self._append(event, event.topic, event.partition, event.offset)
        limit = self._max_depth.get(event.topic)
        depth = self._depths[event.topic]
        # What goes beside the gate, as a redrive does, may lift it above; then nothing more is let in.
        if limit is not None and depth > limit:
            self._fail(
                f"{event.topic} holds {depth} messages, and takes {limit}", event, history=self._waiting(event.topic)
            )

    def _waiting(self, queue: str) -> list[Event]:
        """How the last of what is in `queue` came there."""
        came = [event for event in self._events if event.kind is EventKind.PUBLISHED and event.topic == queue]
        leases = ((event, self._leases.get((queue, queue, event.partition or 0, event.offset or 0))) for event in came)
        return [event for event, lease in leases if lease is None or not lease.finished][-MAX_HISTORY:]

    def _append(self, event: Event, topic: str, partition: int | None, offset: int | None) -> None:
        assert partition is not None
        assert offset is not None
        place = (topic, partition)
        if offset != self._ends[place]:
            self._fail(f"{topic}/{partition} goes on at {offset}, not at {self._ends[place]}", event, topic)
        self._ends[place] = offset + max(1, event.count)
        if topic in self._queues:
            self._depths[topic] += max(1, event.count)

    def _records_deleted(self, event: Event) -> None:
        assert event.partition is not None
        assert event.offset is not None
        self._deleted_to[event.topic, event.partition] = event.offset + event.count
        for queue, (topic, starts) in self._queues.items():
            if topic == event.topic:
                for offset in range(max(event.offset, starts.get(event.partition, 0)), event.offset + event.count):
                    self._finish(queue, self._leases[queue, topic, event.partition, offset])

    def _nothing_before(self, event: Event) -> bool:
        """True where a reader may come to this offset from any before it: what lay between is gone."""
        assert event.partition is not None
        assert event.offset is not None
        return event.topic in self._compacted or event.offset <= self._deleted_to[event.topic, event.partition]

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
        if event.offset > known and not self._nothing_before(event):
            self._fail(f"{event.group} skipped {known} to {event.offset - 1} of {event.topic}/{event.partition}", event)
        if event.offset < self._committed.get(key, 0):
            self._fail(f"{event.group} gets {event.offset} again, which it has acknowledged", event)
        if event.offset < known and event.group in self._at_most_once:
            self._fail(f"{event.group} gets {event.offset} twice, and promises at most once", event)
        if (event.offset < known) != (event.attempt != 1):
            self._fail(f"delivery of {event.offset} to {event.group} is counted as attempt {event.attempt}", event)
        owner = self._owners.get(key)
        if owner is not None and owner[0] != event.client and (event.group, event.client) not in self._zombies:
            self._fail(f"{event.client} reads {event.topic}/{event.partition}, which {owner[0]} owns", event)
        self._delivered_ends[key] = max(known, end)

    def _acknowledged(self, event: Event) -> None:
        assert event.partition is not None
        assert event.offset is not None
        if event.group in self._queues:
            for offset in range(event.offset, event.offset + event.count):
                lease = self._held(event, offset)
                self._finish(event.group, lease)
            return
        key = (event.group, event.topic, event.partition)
        committed = self._committed.get(key)
        forward = committed is not None and event.offset > committed and self._nothing_before(event)
        if committed is not None and event.offset != committed and not forward:
            self._fail(f"{event.group} goes on acknowledging at {event.offset}, not at {committed}", event)
        if event.offset + event.count > self._delivered_ends.get(key, 0):
            self._fail(f"{event.group} acknowledges {event.offset}, which it never got", event)
        allowed = {self._last_owners.get(key), self._owners.get(key, ("", 0))[0]}
        if event.client and event.client not in allowed:
            self._fail(f"{event.client} acknowledges for {event.topic}/{event.partition}, which it does not own", event)
        self._committed[key] = event.offset + event.count

    def _reset(self, event: Event) -> None:
        """Offsets were set by hand: whatever follows for the group starts anew."""
        for known in (self._starts, self._delivered_ends, self._committed):
            for key in [key for key in known if key[0] == event.group]:
                del known[key]

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

    # -- leases

    def _leased(self, event: Event, offset: int) -> None:
        lease = self._leases[self._message(event, offset)]
        if lease.finished:
            self._fail(f"{event.topic} hands out {offset}, which is finished", event, event.topic, offset)
        if lease.holder:
            self._fail(
                f"{event.topic} hands {offset} to {event.client} while {lease.holder} holds it",
                event,
                event.topic,
                offset,
            )
        lease.attempts += 1
        if event.attempt != lease.attempts:
            self._fail(
                f"{event.topic} counts delivery {lease.attempts} of {offset} as attempt {event.attempt}",
                event,
                event.topic,
                offset,
            )
        lease.holder = event.client

    def _held(self, event: Event, offset: int) -> _Lease:
        lease = self._leases[self._message(event, offset)]
        if lease.holder != event.client:
            holder = lease.holder or "nobody"
            self._fail(f"{event.client} ends the lease of {offset}, which {holder} holds", event, event.topic, offset)
        return lease

    def _finish(self, queue: str, lease: _Lease) -> None:
        self._depths[queue] -= not lease.finished
        lease.holder, lease.finished = "", True

    def _gives_back(self, event: Event) -> None:
        for offset in self._offsets(event):
            self._held(event, offset).holder = ""

    def _extended(self, event: Event) -> None:
        for offset in self._offsets(event):
            self._held(event, offset)

    def _released(self, event: Event) -> None:
        for offset in self._offsets(event):
            lease = self._held(event, offset)
            lease.holder = ""
            lease.attempts -= 1

    def _dead_lettered(self, event: Event) -> None:
        limit = self._max_attempts.get(event.group)
        # One that a schema kept out of its topic was never stored there.
        for offset in self._offsets(event) if event.offset is not None else ():
            lease = self._leases[self._message(event, offset)]
            if lease.finished:
                self._fail(f"{offset} is dead-lettered after it was finished", event, event.topic, offset)
            if limit is not None and lease.attempts > limit:
                self._fail(
                    f"{offset} was tried {lease.attempts} times, {limit} are allowed", event, event.topic, offset
                )
            self._finish(event.group, lease)
        if self._letters.get((event.to_topic, event.to_offset)):
            self._fail(f"two dead letters lie at {event.to_offset} of {event.to_topic}", event, event.to_topic)
        self._letters[event.to_topic, event.to_offset] = True

    def _redriven(self, event: Event) -> None:
        if not self._letters.get((event.topic, event.offset)):
            self._fail(f"a dead letter that is not in {event.topic} is redriven", event, event.topic, event.offset)
        self._letters[event.topic, event.offset] = False
        self._append(event, event.to_topic, event.to_partition, event.to_offset)

    def _taken_out(self, event: Event) -> None:
        if event.partition is None or event.offset is None or event.group not in self._queues:
            return
        for offset in self._offsets(event):
            self._finish(event.group, self._leases[self._message(event, offset)])

    def _purged(self, event: Event) -> None:
        letters = [offset for offset in self._offsets(event) if self._letters.get((event.topic, offset))]
        for offset in letters:
            self._letters[event.topic, offset] = False
        if not letters:
            self._taken_out(event)

    def _undone(self, event: Event) -> None:
        """A user has taken a purge or a redrive back: what it took is there again."""
        detail = event.detail or {}
        if event.cause not in {"undo purge", "undo redrive"}:
            return
        for offset in detail.get("offsets", ()):
            self._letters[event.topic, offset] = True
        for partition, first, end in detail.get("runs", ()):
            for offset in range(first, end):
                self._leases[event.group, event.topic, partition, offset].finished = False
            self._depths[event.group] += end - first

    # -- the end

    def finish(self, *, drained: bool = True) -> None:
        """The run is over. With `drained`, everything must have come to an end. Raises `Violation`."""
        if not drained:
            return
        for (group, topic, partition), start in self._starts.items():
            end, committed = self._ends[topic, partition], self._committed.get((group, topic, partition), start)
            if max(committed, self._deleted_to[topic, partition]) < end and topic not in self._compacted:
                self._fail(f"{group} never acknowledged {committed} to {end - 1} of {topic}/{partition}", None, topic)
        for queue, (topic, starts) in self._queues.items():
            for partition in [partition for name, partition in self._ends if name == topic]:
                for offset in range(starts.get(partition, 0), self._ends[topic, partition]):
                    if not self._leases[queue, topic, partition, offset].finished:
                        self._fail(f"{queue} lost {offset} of {topic}/{partition}", None, topic, offset)

    # -- telling

    @staticmethod
    def _offsets(event: Event) -> range:
        assert event.offset is not None
        return range(event.offset, event.offset + event.count)

    @staticmethod
    def _message(event: Event, offset: int) -> LeasePlace:
        assert event.partition is not None
        return event.group, event.topic, event.partition, offset

    def _fail(
        self,
        promise: str,
        event: Event | None,
        topic: str = "",
        offset: int | None = None,
        history: Iterable[Event] | None = None,
    ) -> None:
        if history is None:
            history = shortest(self._events, event, topic or (event.topic if event else ""), offset)
        raise Violation(promise, history)
