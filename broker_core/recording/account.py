"""The account of every message: one projection of the event stream, from which each reader's sums and every verdict
come. `resources.account` has its states and reasons as tables.

A reader is a group, a share group's or fan-out subscription, or a queue; "" is nobody, where no reader has a topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.broker.deliveries import Deliveries, DeliveryState, GivenPart
from broker_core.broker.partition_owners import GroupPlace, PartitionOwners
from broker_core.events import (
    ABORTED,
    BEYOND_END,
    COMPACTED,
    FETCHED_AGAIN,
    FIRST_COMMIT,
    READ_OUTSIDE,
    RESET_OFFSETS,
    UNDO_PURGE,
    WITHDRAWN,
    Event,
    EventKind,
    is_by_hand,
)
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.recording.markers import aborted_by, markers_of
from broker_core.runs import Runs
from broker_core.snapshots import Snapshot
from resources.account import CONNECTION_LOST, FELL_SILENT, LEASE_OVER, MEMBER_LEFT, NACKED, RELEASED, RESET, STATES

NOBODY = ""
_OWN_RELEASES = frozenset({"released", "closed"})  # causes: its holder gave it back untouched


class Again(NamedTuple):
    """A run of `messages` from `offset` on that `reader` got once more: `why`, and the clients `before` and `after`."""

    source: str
    partition: int
    offset: int
    messages: int
    reader: str
    why: str
    before: str
    after: str
    event: Event


class Unsound(NamedTuple):
    """A commit of `reader` up to `committed`, beyond `limit`: the end of the log, or what it was ever given."""

    source: str
    partition: int
    reader: str
    client: str
    committed: int
    limit: int
    beyond_end: bool
    event: Event


class StateRange(NamedTuple):
    """A run of messages in one state."""

    partition: int
    first: int
    end: int
    delivery: DeliveryState


@dataclass
class Row:
    """Where the messages of `source` are for `reader`. The `counts` by state add up to `published` and `redriven`: what
    is redriven to its queue has left it as a dead letter, and is there once more.
    """

    source: str
    reader: str
    counts: Counter[str]
    places: list[StateRange]
    elsewhere: bool = False  # the reader keeps its offsets elsewhere: no commit of it is known
    is_queue: bool = False
    was_deleted: bool = False
    redriven: int = 0

    @property
    def published(self) -> int:
        return self.counts.total() - self.redriven

    @property
    def lost(self) -> int:
        return sum(count for state, count in self.counts.items() if STATES[state].loss)

    @property
    def open(self) -> int:
        done = self.counts["in_hand"] if self.elsewhere else 0
        return sum(count for state, count in self.counts.items() if STATES[state].open) - done


@dataclass
class _Log:
    published: Runs[bool] = field(default_factory=Runs)
    redriven: Runs[bool] = field(default_factory=Runs)  # of those published
    others: Runs[bool] = field(default_factory=Runs)  # offsets of no message: markers, and what was withdrawn
    aborted: list[tuple[int, int]] = field(default_factory=list)
    start: int = 0


_Logs = dict[TopicPartition, _Log]
_Readings = dict[GroupPlace, Deliveries]  # by reader, source and partition


class Account:
    """A sink of the event stream, from the beginning of a session."""

    def __init__(self, before: Snapshot | None = None) -> None:
        """`before` is the state before the first event, where the broker was not empty then."""
        self.published = self.events = 0
        self.again: list[Again] = []
        self.fetched_again: list[Again] = []
        self.unsound: list[Unsound] = []
        self.dropped: Counter[str] = Counter()
        self.outside: set[str] = set()  # groups that somebody has read who is not known
        self.gaps = 0
        self.compacting: set[str] = set()
        self._logs: _Logs = {}
        self._readings: _Readings = {}
        self.queues: dict[str, str] = {}  # and subscriptions: what each reads
        self.owners = PartitionOwners(self._readings, self._deliveries_at, self.queues)
        self._aside: dict[str, tuple[_Logs, _Readings, dict[str, str]]] = {}  # of deleted topics and queues
        self._deleted: list[Row] = []  # rows of deleted readers
        self._rules: dict[EventKind, Callable[[Event], object]] = {
            **self.owners.handlers,
            EventKind.PUBLISHED: self._published,
            EventKind.DELIVERED: self._delivered,
            EventKind.PASSED_OVER: self._passed_over,
            EventKind.ACKNOWLEDGED: self._acknowledged,
            EventKind.NACKED: lambda event: self._given_back(event, NACKED),
            EventKind.LEASE_EXPIRED: lambda event: self._given_back(event, LEASE_OVER),
            EventKind.RELEASED: lambda event: self._given_back(event, why_released(event.cause)),
            EventKind.DEAD_LETTERED: lambda event: self._settled(event, "dead_lettered"),
            EventKind.EXPIRED: lambda event: self._settled(event, "expired"),
            EventKind.EVICTED: lambda event: self._settled(event, "evicted"),
            EventKind.DAMAGE: lambda event: self._settled(event, "deleted"),
            EventKind.PURGED: self._purged,
            EventKind.REDRIVEN: self._redriven,
            EventKind.DROPPED: lambda event: self.dropped.update({event.topic or event.group: event.count}),
            EventKind.TRANSACTION_ENDED: self._transaction_ended,
            EventKind.RECORDS_DELETED: self._records_deleted,
            EventKind.TOPIC_CREATED: self._topic_created,
            EventKind.QUEUE_CREATED: self._queue_created,
            EventKind.TOPIC_DELETED: self._topic_deleted,
            EventKind.READING_BEGAN: lambda event: self._of(event).begin_at(event.offset or 0),
            EventKind.READING_ENDED: self._reading_ended,
            EventKind.COMMIT_BEYOND: self._commit_beyond,
            EventKind.PARTITIONS_ASSIGNED: self._partitions_assigned,
            EventKind.GROUP_STATE: self._group_state,
            EventKind.OFFSETS_RESET: self._offsets_reset,
            EventKind.USER_ACTION: self._user_action,
            EventKind.GAP: lambda event: setattr(self, "gaps", self.gaps + 1),
        }
        if before is not None:
            self._begin(before)

    def __call__(self, event: Event) -> None:
        self.events += 1
        if (rule := self._rules.get(event.kind)) is not None:
            rule(event)

    # -- what is known

    def rows(self) -> list[Row]:
        """One a reader and source, in the order in which they came; a topic that nobody reads has one of NOBODY."""
        rows = [self._row(*key) for key in dict.fromkeys((source, reader) for reader, source, _ in self._readings)]
        read = {row.source for row in (*self._deleted, *rows)}
        nobodys = [topic for topic in dict.fromkeys(topic for topic, _ in self._logs) if topic not in read]
        rows += [self._row(topic, NOBODY) for topic in nobodys]
        return [*self._deleted, *(row for row in rows if row.counts.total() or row.reader)]

    def missing(self) -> Iterator[tuple[str, int, int, int]]:
        """(topic, partition, first, end) of offsets that were never published, between others that were."""
        for (topic, partition), log in self._logs.items():
            for first, end in log.published.gaps(log.start, log.published.end) if len(log.published) > 1 else ():
                for low, high in log.others.gaps(first, end):
                    yield topic, partition, low, high

    def lost(self, rows: Iterable[Row]) -> int:
        """How many messages readers of `rows` have lost, were dropped before they were stored, or are missing."""
        missing = sum(end - first for _, _, first, end in self.missing())
        return sum(row.lost for row in rows) + self.dropped.total() + missing

    def delivery_states(
        self, reader: str, place: TopicPartition, first: int, end: int
    ) -> list[tuple[int, int, DeliveryState]]:
        """(first, end, state) of the messages between two offsets for a reader."""
        log, found = self._logs.get(place), self._readings.get((reader, *place)) or Deliveries()
        if log is None:
            return []
        between: Runs[bool] = Runs()
        for low, high, there in log.published.split(first, end):
            if there:
                between.put(low, high, True)
        return found.places(between, self._aborted(reader, log), compacts=place[0] in self.compacting)

    def _aborted(self, reader: str, log: _Log) -> list[tuple[int, int]]:
        """A queue purges what it passes over."""
        return [] if reader in self.queues else log.aborted

    def aborted(self, place: TopicPartition) -> list[tuple[int, int]]:
        """(first, end) of what was aborted in a partition."""
        return self._log(place).aborted

    def committed(self, place: GroupPlace) -> int | None:
        """Up to where a group has committed; None if it has not."""
        found = self._readings.get(place)
        return None if found is None else found.committed

    def _row(self, source: str, reader: str, *, was_deleted: bool = False) -> Row:
        counts: Counter[str] = Counter()
        places: list[StateRange] = []
        used: list[Deliveries] = []
        redriven = 0
        for number in sorted(number for topic, number in self._logs if topic == source):
            log, deliveries = self._logs[source, number], self._readings.get((reader, source, number))
            if reader == NOBODY:
                deliveries = Deliveries(0)
                deliveries.delete(log.start)
            if deliveries is None:
                continue
            redriven += sum(end - first for first, end, _ in log.redriven)
            compacts = source in self.compacting
            for first, end, delivery in deliveries.places(log.published, self._aborted(reader, log), compacts=compacts):
                counts[delivery.state] += end - first
                places.append(StateRange(number, first, end, delivery))
            if len(deliveries.runs):
                used.append(deliveries)
        elsewhere = bool(used) and all(each.keeps_offsets_elsewhere for each in used)
        held = [place.delivery.member for place in places if place.delivery.state == "in_hand"]
        by_hand = elsewhere and all(map(is_by_hand, held))
        return Row(source, reader, counts, places, by_hand, reader in self.queues, was_deleted, redriven)

    # -- the log

    def _begin(self, before: Snapshot) -> None:
        for topic in before.topics:
            if topic.compacted:
                self.compacting.add(topic.name)
            for part in topic.partitions:
                log = self._log((topic.name, part.partition))
                log.start = part.start_offset
                log.published.put(part.start_offset, part.end_offset, True)
        for group in before.groups:
            for at in group.offsets:
                found = self._deliveries_at((group.name, at.topic, at.partition))
                found.committed, found.begin = at.committed, at.committed if at.start is None else at.start
        for queue in before.queues:
            self.queues[queue.name] = source = queue.topic or queue.name
            logs = {place: log for place, log in self._logs.items() if place[0] == source}
            sizes = (end - first for log in logs.values() for first, end, _ in log.published)
            if queue.messages_count in {0, sum(sizes)}:  # it has settled all of them, or none
                begins = {place: 0 if queue.messages_count else log.published.end for place, log in logs.items()}
                self._readings |= {(queue.name, *place): Deliveries(begin) for place, begin in begins.items()}

    def _log(self, place: TopicPartition) -> _Log:
        found = self._logs.get(place)
        if found is None:
            found = self._logs[place] = _Log()
            for queue, source in self.queues.items():
                if source == place[0]:
                    self._readings.setdefault((queue, *place), Deliveries(0))
        return found

    def _published(self, event: Event) -> None:
        assert event.partition is not None and event.offset is not None
        self.published += event.count
        self._log(event.place).published.put(event.offset, event.offset + event.count, True)

    def _redriven(self, event: Event) -> None:
        """Into a queue's own log; what is redriven to a topic has an event of its publishing, too."""
        if self.queues.get(event.group) == event.group and event.to_partition is not None:
            log = self._log((event.to_topic, event.to_partition))
            for runs in (log.published, log.redriven):
                runs.put(event.to_offset or 0, (event.to_offset or 0) + max(1, event.count), True)

    def _transaction_ended(self, event: Event) -> None:
        for place, offset in markers_of(event):
            self._log(place).others.put(offset, offset + 1, True)
        for place, first, end in aborted_by(event):
            self._log(place).aborted.append((first, end))

    def _records_deleted(self, event: Event) -> None:
        end = event.offsets.stop
        self._log(event.place).start = end
        for (_, *place), found in self._readings.items():
            if place == [event.topic, event.partition]:
                found.delete(end)

    def _topic_created(self, event: Event) -> None:
        self._restore(event, event.topic)
        for number in range(event.count):
            self._log((event.topic, number))
        self._settings(event)

    def _queue_created(self, event: Event) -> None:
        name = event.group or event.topic
        self._restore(event, name)
        self.queues[name] = event.topic
        for number in range(event.count):
            end = 0 if event.told.get("from_start") else self._log((event.topic, number)).published.end
            self._readings.setdefault((name, event.topic, number), Deliveries(end))

    def _topic_deleted(self, event: Event) -> None:
        """Set a deleted topic's messages aside: they are judged no more, unless the topic is restored."""
        name = event.group or event.topic
        logs = {} if event.group else {place: log for place, log in self._logs.items() if place[0] == name}
        mine = {key: found for key, found in self._readings.items() if (key[0] if event.group else key[1]) == name}
        queues = {name: self.queues[name]} if name in self.queues else {}
        self._logs = {place: log for place, log in self._logs.items() if place not in logs}
        for key in mine:
            del self._readings[key]
        self.queues.pop(name, None)
        self._aside[name] = (logs, mine, queues)

    def _restore(self, event: Event, name: str) -> None:
        logs, mine, queues = self._aside.pop(name, ({}, {}, {}))
        if event.cause == "restored":
            self._logs |= logs
            self._readings |= mine
            self.queues |= queues
        elif logs:  # another topic of its name: it may not be compacted
            self.compacting.discard(name)

    def _settings(self, event: Event) -> None:
        """A topic that was compacted once may lack messages for as long as it exists."""
        if event.compacts:
            self.compacting.add(event.topic)

    # -- who is given what

    def _of(self, event: Event) -> Deliveries:
        return self._deliveries_at((event.group, *event.place))

    def _deliveries_at(self, place: GroupPlace) -> Deliveries:
        found = self._readings.get(place)
        if found is None:
            found = self._readings[place] = Deliveries()
            found.log_start = self._log(place[1:]).start
        return found

    def _delivered(self, event: Event) -> None:
        assert event.offset is not None
        end = event.offset + event.count
        member = event.member or event.client
        lost, attempt = "", event.attempt or 0
        if event.group not in self.queues:
            lost, attempt = self.owners.why_lost((event.group, *event.place), member), 0
        for part in self._of(event).give(event.offset, end, event.client, member, lost=lost, attempt=attempt):
            if part.again:
                self._note(event, part)

    def _note(self, event: Event, part: GivenPart) -> None:
        fetched = part.again == FETCHED_AGAIN
        again = Again(
            *(event.topic, event.partition or 0, part.first, part.end - part.first, event.group),
            *("" if fetched else part.again, part.before, event.client, event),
        )
        (self.fetched_again if fetched else self.again).append(again)

    def _passed_over(self, event: Event) -> None:
        self._of(event).pass_over(event.offsets.start, event.offsets.stop)
        if event.cause == EventKind.ACKNOWLEDGED:
            found = self._of(event)
            found.committed = max(found.committed or 0, event.offsets.stop)

    def _acknowledged(self, event: Event) -> None:
        first, end = event.offsets.start, event.offsets.stop
        found = self._of(event)
        if event.group in self.queues:
            found.set_final_state(first, end, "acknowledged")
            return
        limit = max(found.given_end, found.begin or 0, first)
        if end > limit and self._log(event.place).published.between(limit, end):
            self._beyond_given(event, limit, end)
        found.acknowledge(first, end)

    def _beyond_given(self, event: Event, limit: int, end: int) -> None:
        """A commit tells of each run of messages that it passes."""
        last = self.unsound[-1] if self.unsound else None
        where = (event.topic, event.partition or 0, event.group, event.client)
        if last is not None and last[:4] == where and last.event.time_ns == event.time_ns and last.committed == limit:
            self.unsound[-1] = last._replace(committed=end)
        else:
            self.unsound.append(Unsound(*where, end, limit, False, event))

    def _given_back(self, event: Event, why: str) -> None:
        self._of(event).give_back(event.offsets.start, event.offsets.stop, why)

    def _settled(self, event: Event, state: str) -> None:
        of_queue = self.queues.get(event.group) == event.topic  # and not of its dead letters
        if of_queue and event.offset is not None and event.partition is not None:
            self._of(event).set_final_state(event.offset, event.offset + max(1, event.count), state)

    def _purged(self, event: Event) -> None:
        if event.cause == WITHDRAWN and self.queues.get(event.group) == event.topic:
            first, end, log = event.offsets.start, event.offsets.stop, self._log(event.place)
            log.published.remove(first, end)
            log.redriven.remove(first, end)
            log.others.put(first, end, True)
            return
        states = {ABORTED: "aborted", COMPACTED: "compacted", RESET_OFFSETS: "skipped_by_reset"}
        self._settled(event, states.get(event.cause, "purged"))

    def _user_action(self, event: Event) -> None:
        self._settings(event)
        self.owners(event)
        if event.cause not in {UNDO_PURGE, RESET_OFFSETS} or event.group not in self.queues:
            return
        for partition, first, end in event.told.get("runs", ()):
            why = RESET if event.cause == RESET_OFFSETS else ""
            self._deliveries_at((event.group, event.topic, partition)).bring_back(first, end, why)

    # -- owners

    def _group_state(self, event: Event) -> None:
        """A reader that is deleted is judged as it was then."""
        if event.cause == GroupState.DEAD and event.group not in self.queues:
            sources = dict.fromkeys(source for reader, source, _ in self._readings if reader == event.group)
            self._deleted += [self._row(source, event.group, was_deleted=True) for source in sources]
        self.owners(event)

    def _partitions_assigned(self, event: Event) -> None:
        for place in event.partitions:
            self._deliveries_at(place)
        self.owners(event)

    def _reading_ended(self, event: Event) -> None:
        found = self._of(event)
        if found.committed is not None:
            found.lose(event.member, CONNECTION_LOST)

    def _offsets_reset(self, event: Event) -> None:
        if event.cause == READ_OUTSIDE:
            self.outside.add(event.group)
        for topic, partition, old, new in event.told.get("changes", ()):
            found = self._deliveries_at((event.group, topic, partition))
            if event.cause == FIRST_COMMIT and found.begin is None:
                found.begin_at(new)  # what it did before is not known
            found.pass_by(old, new, self.aborted((topic, partition)))
        self.owners(event)

    def _commit_beyond(self, event: Event) -> None:
        found, committed = self._of(event), event.offset or 0
        if event.cause == BEYOND_END:
            end, where = committed - event.count, (event.topic, event.partition or 0, event.group, event.client)
            self.unsound.append(Unsound(*where, committed, end, True, event))
        found.committed = max(found.committed or 0, committed)


def why_released(cause: str) -> str:
    """Why a lease was released, from the `cause` that the broker gives."""
    if cause in _OWN_RELEASES:
        return RELEASED
    if "missed its heartbeats" in cause:
        return FELL_SILENT
    return CONNECTION_LOST if "connection" in cause else MEMBER_LEFT
