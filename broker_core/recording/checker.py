"""The history checker: reads the event stream of a run and reports the promise that it breaks, with the events.

It knows nothing of the broker's insides. What it holds a run to:

- offsets of a partition increase without a gap, and only what was published is delivered
- a group's first deliveries skip nothing, and it acknowledges only what it was given; what it has acknowledged it is
  not handed again (unless offsets were reset)
- a partition has at most one owner in a group and generation; generations increase; only an owner acknowledges
- a message of a queue has one holder; its attempts count up by one; only its holder ends the lease
- who reads committed messages gets none of an open transaction, and none of one that was aborted
- a queue holds no more than it takes
- a message is dead-lettered at its last attempt, once; a redrive is of a letter that is in the bin, once
- after a drain nothing is missing: what was accepted is acknowledged, dead-lettered, or recorded as taken out
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, MutableMapping
from typing import Any

from broker_core.events import BROKER_CRASH, RESET_OFFSETS, UNDO_PURGE, Event, EventKind, is_by_hand
from broker_core.messages import TopicPartition
from broker_core.recording.accounts import Offsets
from broker_core.recording.markers import Markers, markers_of
from broker_core.recording.violation import MAX_HISTORY, Violation, ownership, shortest
from broker_core.simulation.scenario import Scenario

GroupPlace = tuple[str, str, int]
LeasePlace = tuple[str, str, int, int]


class _Lease:
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
        committed_readers: Iterable[str] = (),
        own_offsets: Collection[str] = frozenset(),
        unseen_seeks: bool = False,
    ) -> None:
        """`max_attempts` (may grow) and `max_depth` are limits of queues. `at_most_once` names groups that promise it,
        `compacted` topics that may have gaps, `committed_readers` groups with isolation level read_committed. Consumers
        of `own_offsets` (may grow) seek and commit where they like, and are not judged. `unseen_seeks`: other programs
        read, too; no event tells where they go on, and they read on for a moment what was taken from them.
        """
        self._events: list[Event] = []
        self._deleted_to: dict[TopicPartition, int] = defaultdict(int)  # the first offset that is there
        self._ends: dict[TopicPartition, int] = defaultdict(int)  # the next offset of each partition
        self._max_attempts = {} if max_attempts is None else max_attempts
        self._max_depth = max_depth or {}
        self._depths: dict[str, int] = defaultdict(int)
        # What each queue, or fan-out subscription, reads, and the offset of each partition at which it began.
        self._queues: dict[str, tuple[str, dict[int, int]]] = {}
        self._leases: dict[LeasePlace, _Lease] = defaultdict(_Lease)
        self._letters: dict[tuple[str, int | None], bool] = {}
        self._bins: dict[str, str] = {}
        self._at_most_once = frozenset(at_most_once)
        self._compacted = frozenset(compacted)
        self._committed_readers = frozenset(committed_readers)
        self._own_offsets = own_offsets
        self._unseen_seeks = unseen_seeks
        self._markers = Markers()
        self._open: dict[str, dict[TopicPartition, int]] = {}  # by client, the first offset of its transaction
        self._starts: dict[GroupPlace, int] = {}
        self._given: dict[GroupPlace, Offsets] = {}
        self._known: dict[GroupPlace, Offsets] = {}  # what the broker itself remembers as given, up to its crash
        self._committed: dict[GroupPlace, int] = {}
        # By member id; the client of each.
        self._owners: dict[GroupPlace, str] = {}
        self._last_owners: dict[GroupPlace, str] = {}
        self._clients: dict[str, str] = {}
        self._own_clients: set[str] = set()  # of the session, not of other programs
        self._generations: dict[str, int] = {}
        # Expelled members until their next heartbeat: they read on, as in Kafka, and their commits are fenced.
        self._zombies: set[tuple[str, str]] = set()
        # If a user has set a position: what was acknowledged is read once more.
        self._rereads: set[GroupPlace] = set()
        self._bygones: dict[str, list[tuple[MutableMapping[Any, Any], dict[Any, Any]]]] = {}
        self._rules: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PUBLISHED: self._published,
            EventKind.REDRIVEN: self._redriven,
            EventKind.NACKED: self._gives_back,
            EventKind.LEASE_EXPIRED: self._gives_back,
            EventKind.RELEASED: self._gives_back,
            EventKind.LEASE_EXTENDED: lambda event: [self._held(event, offset) for offset in event.offsets],
            EventKind.DEAD_LETTERED: self._dead_lettered,
            EventKind.EXPIRED: self._taken_out,
            EventKind.EVICTED: self._taken_out,
            EventKind.DAMAGE: self._taken_out,
            EventKind.PURGED: self._purged,
            EventKind.TOPIC_CREATED: self._created,
            EventKind.QUEUE_CREATED: self._created,
            EventKind.TOPIC_DELETED: self._deleted,
            EventKind.CLIENT_STARTED: self._client_started,
            EventKind.DELIVERED: self._judged(self._delivered),
            EventKind.ACKNOWLEDGED: self._judged(self._acknowledged),
            EventKind.PASSED_OVER: self._judged(self._passed),
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: lambda event: self._gives_up(event.member_id, event.partitions),
            EventKind.MEMBER_LEFT: self._member_left,
            EventKind.MEMBER_JOINED: self._joined,
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
    def of(cls, scenario: Scenario, *, unseen_seeks: bool = False) -> Checker:
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
            compacted={topic.name for topic in scenario.topics if topic.log and "compact" in str(topic.log.cleanup)},
            committed_readers={each.name for each in scenario.groups if each.isolation_level == "read_committed"},
            unseen_seeks=unseen_seeks,
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

    def _judged(self, rule: Callable[[Event], None]) -> Callable[[Event], None]:
        return lambda event: None if event.group in self._own_offsets else rule(event)

    def _transaction_ended(self, event: Event) -> None:
        self._open.pop(event.client, None)
        self._markers.add(event)
        for place, offset in markers_of(event):
            self._ends[place] = max(self._ends[place], offset + 1)

    def _passed(self, event: Event) -> None:
        (self._acknowledged if event.cause == EventKind.ACKNOWLEDGED else self._delivered)(event)

    def _passed_over(self, event: Event, start: int, end: int) -> bool:
        """Whether a reader is given nothing between `start` and `end`: what lay there is gone, a marker, or aborted."""
        start = max(start, self._deleted_to[event.place])
        return event.topic in self._compacted or end - start <= self._markers.passed_over(event.place, start, end)

    def _delivered(self, event: Event) -> None:
        place, begin, end = event.place, event.offsets.start, event.offsets.stop
        if end > self._ends[place]:
            self._fail(f"{event.topic}/{event.partition} delivers {begin}, which was never published", event)
        if event.group in self._queues:
            for offset in event.offsets:
                self._leased(event, offset)
            return
        key = (event.group, *place)
        given = self._given.setdefault(key, Offsets())
        start = self._starts.setdefault(key, begin)
        member = _member(event)
        zombie = (event.group, member) in self._zombies
        for first, stop in () if self._unseen_seeks or is_by_hand(member) else given.gaps(start, begin):
            if not self._passed_over(event, first, stop):
                told = f"{event.group} skipped {first} to {stop - 1} of {event.topic}/{event.partition}"
                self._fail(told, event, offset=first, is_loss=True)
            given.add(first, stop)  # what is passed over once is not looked at again
        acknowledged = begin < self._committed.get(key, 0)
        if acknowledged and not (key in self._rereads or zombie or self._unseen_seeks):
            self._fail(f"{event.group} gets {begin} again, which it had already acknowledged", event)
        known = self._known.setdefault(key, Offsets()).between(begin, end)
        if known and event.group in self._at_most_once:
            self._fail(f"{event.group} gets {begin} twice, but promises at most once", event)
        if known if event.attempt == 1 else known < event.count and not acknowledged:
            attempt = "fetched again" if event.attempt is None else f"attempt {event.attempt}"
            self._fail(f"delivery of {begin} to {event.group} is counted as {attempt}", event)
        own = not self._unseen_seeks or (event.client in self._own_clients and not is_by_hand(member))
        if own and event.group in self._committed_readers:
            self._must_be_committed(event, place)
        owner = self._owners.get(key)
        if owner not in {None, member} and not (zombie or is_by_hand(member) or self._unseen_seeks):
            whose = self._clients.get(owner or "", owner)
            self._fail(f"{event.client} reads {event.topic}/{event.partition}, which {whose} owns", event)
        for offsets in (self._known[key], given):
            offsets.add(begin, end)
        if end > self._committed.get(key, 0):
            self._rereads.discard(key)

    def _must_be_committed(self, event: Event, place: TopicPartition) -> None:
        begin, end = event.offsets.start, event.offsets.stop
        for client, firsts in self._open.items():
            if end > firsts.get(place, end):
                self._fail(f"{event.group} gets {begin}, but the transaction of {client} is open", event)
        if event.kind is EventKind.DELIVERED and self._markers.aborted_between(place, begin, end):
            self._fail(f"{event.group} gets {begin}, which was aborted", event)

    def _acknowledged(self, event: Event) -> None:
        if event.group in self._queues:
            self._ended(event)
            return
        key, begin, end = (event.group, *event.place), event.offsets.start, event.offsets.stop
        committed = self._committed.get(key)
        if committed not in {None, begin} and not (committed < begin and self._passed_over(event, committed, begin)):
            self._fail(f"{event.group} continues acknowledging at {begin}, not at {committed}", event)
        self._committed[key] = end
        for first, stop in self._given.get(key, Offsets()).gaps(begin, end):
            if not self._passed_over(event, first, stop):
                told = f"{event.group} acknowledges {event.topic}/{event.partition} @{first}, which it never received"
                self._fail(told, event, offset=first, is_loss=True)
        member = _member(event)
        known = is_by_hand(member) or not member or self._unseen_seeks
        if not known and member not in {self._last_owners.get(key), self._owners.get(key)}:
            self._fail(f"{event.client} acknowledges for {event.topic}/{event.partition}, which it does not own", event)

    def _client_started(self, event: Event) -> None:
        if "held_from" not in event.told:
            self._own_clients.add(event.client)

    # -- what a user does

    def _reset(self, event: Event) -> None:
        for topic, partition, _from, to in event.told.get("changes", ()):
            key = (event.group, topic, partition)
            self._starts.pop(key, None)
            self._committed[key] = to

    def _group_state(self, event: Event) -> None:
        if event.cause == "Dead":
            for key in [key for key in self._given if key[0] == event.group]:
                self._starts.pop(key, None)
                self._committed.pop(key, None)

    def _user_action(self, event: Event) -> None:
        detail = event.told
        if event.cause in {UNDO_PURGE, "undo redrive", RESET_OFFSETS}:
            self._undone(event)
        elif detail.get("action") == "seek":
            for key, member in self._owners.items():
                client = self._clients.get(member, member)
                if (client, *key[1:]) == (detail["consumer"], detail["topic"], detail["partition"]):
                    self._starts.pop(key, None)
                    self._rereads.add(key)
        elif detail.get("flow") and event.topic in self._queues:
            self._max_depth[event.topic] = detail["flow"]["max_messages"] or sys.maxsize

    def _deleted(self, event: Event) -> None:
        """Keeps the state of a deleted topic, queue or subscription in case it is restored."""
        name = event.group or event.topic
        gone = {name, self._bins.get(name, name)}
        kept: list[tuple[MutableMapping[Any, Any], dict[Any, Any]]] = []
        # By the name in front, and by the topic behind the group.
        known: list[tuple[MutableMapping[Any, Any], int]] = [(self._leases, 0), (self._letters, 0)]
        if not event.group:
            known += [(self._ends, 0), (self._deleted_to, 0), (self._committed, 1)]
            for key in [key for key in self._given if key[1] == name]:
                self._starts.pop(key, None)
                self._given.pop(key)
                self._known.pop(key, None)
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
            starts = {partition: end for (topic, partition), end in self._ends.items() if topic == event.topic}
            self._queues[name] = (event.topic, starts)

    # -- ownership

    def _assigned(self, event: Event) -> None:
        assert event.generation is not None
        if event.generation < self._generations.get(event.group, -1):
            self._fail(f"{event.group} assigns in generation {event.generation}, which is over", event)
        self._generations[event.group] = event.generation
        member = event.member_id
        self._clients[member] = event.client
        for key in event.partitions:
            owner = self._owners.get(key)
            if owner not in {None, member}:
                told = f"{key[1]}/{key[2]} is given to {event.client} while {self._clients.get(owner or '')} owns it"
                self._fail(told, event, history=ownership(self._events, *key))
            self._owners[key] = member

    def _gives_up(self, member: str, places: Iterable[GroupPlace]) -> None:
        for key in places:
            if self._owners.get(key) == member:
                self._last_owners[key] = member
                del self._owners[key]

    def _joined(self, event: Event) -> None:
        member = event.member_id
        self._zombies.discard((event.group, member))
        self._clients[member] = event.client
        replaced = str(event.told.get("replaces", ""))
        for key, owner in self._owners.items():
            if replaced and key[0] == event.group and owner == replaced:
                self._owners[key] = member

    def _member_left(self, event: Event) -> None:
        member = event.member_id
        if "missed its heartbeats" in event.cause:
            self._zombies.add((event.group, member))
        self._gives_up(member, [key for key in self._owners if key[0] == event.group])

    def _completed(self, event: Event) -> None:
        for key in [key for key in self._last_owners if key[0] == event.group]:
            del self._last_owners[key]

    def _fault(self, event: Event) -> None:
        """A broker that has crashed knows no members and no deliveries, only what was stored."""
        if event.told.get("fault") == BROKER_CRASH:
            for forgotten in (self._owners, self._last_owners, self._generations, self._zombies, self._known):
                forgotten.clear()

    # -- queues: one holder for each message, attempts that count up, dead letters, depths

    def _published(self, event: Event) -> None:
        self._append(event, event.place, event.offset)
        if event.client in self._open:
            self._open[event.client].setdefault(event.place, event.offsets.start)
        limit = self._max_depth.get(event.topic)
        depth = self._depths[event.topic]
        # What goes beside the gate, as a redrive does, may lift it above; then nothing more is let in.
        if limit is not None and depth > limit:
            told = f"{event.topic} holds {depth} messages, but its limit is {limit}"
            self._fail(told, event, history=self._waiting(event.topic))

    def _append(self, event: Event, place: TopicPartition, offset: int | None) -> None:
        topic, partition = place
        if offset is None or offset != self._ends[place]:
            self._fail(f"{topic}/{partition} continues at {offset}, not at {self._ends[place]}", event, topic=topic)
        self._ends[place] += max(1, event.count)
        if topic in self._queues:
            self._depths[topic] += max(1, event.count)

    def _records_gone(self, event: Event) -> None:
        self._deleted_to[event.place] = event.offsets.stop
        for queue, (topic, starts) in self._queues.items():
            if topic == event.topic:
                for offset in range(max(event.offsets.start, starts.get(event.place[1], 0)), event.offsets.stop):
                    lease = self._leases[queue, *event.place, offset]
                    # Its holder may still end the lease.
                    if not lease.holder:
                        self._finish(queue, lease)

    def _waiting(self, queue: str) -> list[Event]:
        came = [event for event in self._events if event.kind is EventKind.PUBLISHED and event.topic == queue]
        leases = ((event, self._leases.get((queue, queue, event.partition or 0, event.offset or 0))) for event in came)
        return [event for event, lease in leases if lease is None or not lease.finished][-MAX_HISTORY:]

    def _leased(self, event: Event, offset: int) -> None:
        lease = self._lease(event, offset)
        if lease.finished:
            self._fail(f"{event.topic} delivers {offset}, which is finished", event, offset)
        if lease.holder:
            self._fail(f"{event.topic} hands {offset} to {event.client} while {lease.holder} holds it", event, offset)
        lease.attempts += 1
        if event.attempt != lease.attempts:
            told = f"{event.topic} counts delivery {lease.attempts} of {offset} as attempt {event.attempt}"
            self._fail(told, event, offset)
        lease.holder = event.client

    def _held(self, event: Event, offset: int) -> _Lease:
        lease = self._lease(event, offset)
        if lease.holder != event.client:
            holder = lease.holder or "nobody"
            self._fail(f"{event.client} ends the lease of {offset}, which {holder} holds", event, offset)
        return lease

    def _finish(self, queue: str, lease: _Lease) -> None:
        self._depths[queue] -= not lease.finished
        lease.holder, lease.finished = "", True

    def _gives_back(self, event: Event) -> None:
        for offset in event.offsets:
            lease = self._held(event, offset)
            lease.holder = ""
            lease.attempts -= event.kind is EventKind.RELEASED

    def _ended(self, event: Event) -> None:
        for offset in event.offsets:
            self._finish(event.group, self._held(event, offset))

    def _dead_lettered(self, event: Event) -> None:
        limit = self._max_attempts.get(event.group)
        # One that a schema kept out of its topic was never stored there.
        for offset in event.offsets if event.offset is not None else ():
            lease = self._lease(event, offset)
            if lease.finished:
                self._fail(f"{offset} is dead-lettered after it was finished", event, offset)
            if limit is not None and lease.attempts > limit:
                self._fail(f"{offset} was tried {lease.attempts} times, {limit} are allowed", event, offset)
            self._finish(event.group, lease)
        if self._letters.get((event.to_topic, event.to_offset)):
            self._fail(f"two dead letters lie at {event.to_offset} of {event.to_topic}", event, topic=event.to_topic)
        self._letters[event.to_topic, event.to_offset] = True
        self._bins[event.group] = event.to_topic

    def _redriven(self, event: Event) -> None:
        if not self._letters.get((event.topic, event.offset)):
            self._fail(f"a dead letter that is not in {event.topic} is redriven", event)
        self._letters[event.topic, event.offset] = False
        if self._queues.get(event.group, (event.group,))[0] == event.group:
            assert event.to_partition is not None
            self._append(event, (event.to_topic, event.to_partition), event.to_offset)
        # What a subscription redrives is published to its topic, with a published event.

    def _taken_out(self, event: Event) -> None:
        if event.partition is None or event.offset is None or event.group not in self._queues:
            return
        for offset in event.offsets:
            self._finish(event.group, self._lease(event, offset))

    def _purged(self, event: Event) -> None:
        letters = [offset for offset in event.offsets if self._letters.get((event.topic, offset))]
        for offset in letters:
            self._letters[event.topic, offset] = False
        if not letters:
            self._taken_out(event)

    def _undone(self, event: Event) -> None:
        """A purge or a redrive was undone, or the offsets reset: what was finished is ready again."""
        for offset in event.told.get("offsets") or ():
            self._letters[event.topic, offset] = True
        for partition, first, end in event.told.get("runs", ()):
            for offset in range(first, end):
                place = event.group, event.topic, partition, offset
                if event.cause == RESET_OFFSETS:
                    self._leases.pop(place, None)  # as never delivered
                else:
                    self._leases[place].finished = False
            self._depths[event.group] += end - first

    def _lease(self, event: Event, offset: int) -> _Lease:
        return self._leases[event.group, *event.place, offset]

    # -- the end

    def finish(self) -> None:
        """The run is over, and everything must have come to an end. Raises `Violation`."""
        for (group, topic, partition), start in self._starts.items():
            end, committed = self._ends[topic, partition], self._committed.get((group, topic, partition), start)
            read_to = max(committed, self._deleted_to[topic, partition])
            read_to += self._markers.passed_over((topic, partition), read_to, end)
            if read_to < end and topic not in self._compacted:
                self._fail(
                    f"{group} never acknowledged {committed} to {end - 1} of {topic}/{partition}", None, topic=topic
                )
        for queue, (topic, starts) in self._queues.items():
            for partition in [partition for name, partition in self._ends if name == topic]:
                first = max(starts.get(partition, 0), self._deleted_to[topic, partition])
                for offset in range(first, self._ends[topic, partition]):
                    if not self._leases[queue, topic, partition, offset].finished:
                        self._fail(f"{queue} lost {offset} of {topic}/{partition}", None, offset, topic=topic)

    def _fail(
        self,
        promise: str,
        event: Event | None,
        offset: int | None = None,
        *,
        topic: str = "",
        history: Iterable[Event] | None = None,
        is_loss: bool = False,
    ) -> None:
        if history is None:
            history = shortest(self._events, event, topic or (event.topic if event else ""), offset)
        raise Violation(promise, history, is_loss=is_loss)


def _member(event: Event) -> str:
    return event.member or event.client
