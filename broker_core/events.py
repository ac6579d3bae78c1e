"""The ordered stream of the broker's events, the source of panels, timeline, recording, metrics and report.

One event may stand for a run of messages that were published at one moment and treated alike, so that totals are exact
at any rate.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import msgspec


class EventKind(enum.StrEnum):
    """The kind of an event. The values are those of the session format."""

    # Messages: each carries a run of `count` messages from `offset` on.
    PUBLISHED = "published"
    DELIVERED = "delivered"
    ACKNOWLEDGED = "acknowledged"
    NACKED = "nacked"
    RELEASED = "released"
    LEASE_EXTENDED = "lease_extended"
    LEASE_EXPIRED = "lease_expired"
    DEAD_LETTERED = "dead_lettered"
    REDRIVEN = "redriven"
    PURGED = "purged"
    REJECTED = "rejected"
    DROPPED = "dropped"
    EVICTED = "evicted"
    EXPIRED = "expired"
    #: Aborted messages that a reader of committed ones has fetched, or, with the cause "acknowledged", committed.
    PASSED_OVER = "passed_over"
    # Control: few, and read alone by the timeline.
    SESSION_STARTED = "session_started"
    SESSION_ENDED = "session_ended"
    TOPIC_CREATED = "topic_created"
    TOPIC_DELETED = "topic_deleted"
    PARTITIONS_ADDED = "partitions_added"
    RECORDS_DELETED = "records_deleted"
    QUEUE_CREATED = "queue_created"
    CLIENT_STARTED = "client_started"
    CLIENT_STOPPED = "client_stopped"
    MEMBER_JOINED = "member_joined"
    MEMBER_LEFT = "member_left"
    #: The connection of a member that has not left, or the last one of a program that has published, has ended.
    CONNECTION_ENDED = "connection_ended"
    GROUP_STATE = "group_state"
    REBALANCE_STARTED = "rebalance_started"
    PARTITIONS_REVOKED = "partitions_revoked"
    PARTITIONS_ASSIGNED = "partitions_assigned"
    REBALANCE_COMPLETED = "rebalance_completed"
    READING_BEGAN = "reading_began"
    #: A reader by hand is gone that has not acknowledged all that it was given of a partition.
    READING_ENDED = "reading_ended"
    #: A group has committed an offset beyond the end of the log, or beyond all that it was ever given.
    COMMIT_BEYOND = "commit_beyond"
    OFFSETS_RESET = "offsets_reset"
    PRODUCER_BLOCKED = "producer_blocked"
    PRODUCER_UNBLOCKED = "producer_unblocked"
    TRANSACTION_STARTED = "transaction_started"
    TRANSACTION_ENDED = "transaction_ended"
    ALERT_RAISED = "alert_raised"
    ALERT_OVER = "alert_over"
    #: The rows of `changes` in their details: (topic, partition, leader before, leader), a leader of -1 is none;
    #: (topic, partition, in sync); (topic, partition, leader, replicas, in sync).
    LEADERS_MOVED = "leaders_moved"
    IN_SYNC_SHRUNK = "in_sync_shrunk"
    IN_SYNC_GROWN = "in_sync_grown"
    PARTITIONS_PLACED = "partitions_placed"
    NODE_GONE = "node_gone"
    NODE_SEEN = "node_seen"
    CONTROLLER_MOVED = "controller_moved"
    #: What a node's absence has meant, told once it is over; told before, too, if it lasts.
    INCIDENT = "incident"
    FAULT = "fault"
    DAMAGE = "damage"
    GAP = "gap"
    USER_ACTION = "user_action"


_KINDS = list(EventKind)
MESSAGE_KINDS = frozenset(_KINDS[: _KINDS.index(EventKind.SESSION_STARTED)])


#: The fault in the detail of the event of a broker's crash: nobody is in a group any more.
BROKER_CRASH = "broker crash"
NOT_DONE = "could not be done"  # how the cause of a fault begins that is a scheduled action which was not possible
SCENARIO = "scenario"  # who acts, in the detail of an action that the scenario's schedule has planned
#: The cause of a delivery that is neither the first nor another one: its owner fetches once more what it has in hand,
#: after a seek or a pause, or because it has discarded what it had fetched ahead.
FETCHED_AGAIN = "fetched again"
#: The cause of OFFSETS_RESET if somebody has committed whose reads are not known. They are not judged.
READ_OUTSIDE = "read outside the group"
#: The cause of OFFSETS_RESET by a commit of a client that has read nothing, as an administrator's tool.
SET_BY_TOOL = "set by a client that reads nothing"
#: The cause of OFFSETS_RESET by a commit below the committed offset; and of COMMIT_BEYOND.
COMMITTED_BACKWARDS, BEYOND_END, BEYOND_GIVEN = "committed backwards", "beyond the end", "beyond what was given"
#: The cause of OFFSETS_RESET by the first commit of an observed group: of how many messages it is, is not known.
FIRST_COMMIT = "the first commit that was seen"
#: The causes of actions by which finished messages are ready again.
UNDO_PURGE, RESET_OFFSETS = "undo purge", "reset offsets"
#: The cause of a purge that takes one message back: its redrive or its publishing was undone.
WITHDRAWN = "withdrawn"
#: The causes of purges of what a queue passes over: of an aborted transaction, or removed by compaction before it.
ABORTED, COMPACTED = "aborted", "compacted"
_BY_HAND = "@"


class Event(msgspec.Struct, frozen=True, gc=False):
    """An event of a run of messages, or of a part of the broker.

    Times are nanoseconds since the session began. Fields that do not apply to the kind are None or "". `group` is the
    consumer group or the queue. `attempt` counts deliveries to that group from 1; it is None of what was only
    FETCHED_AGAIN. The `cause` of a second delivery to a group is a word of `resources.account.REASONS`. A run that was
    seen from outside was published from `published_ns` on, up to its time. `to_*` is the position at which a dead
    letter or a redriven message was appended. `detail` is set on control events only. `member` is who of a consumer
    group was given messages or acknowledged them: a member id, or a `reader_by_hand`. `client` is the name to show,
    which several members may have had.
    """

    seq: int
    time_ns: int
    kind: EventKind
    topic: str = ""
    partition: int | None = None
    offset: int | None = None
    count: int = 0
    size_bytes: int = 0
    client: str = ""
    group: str = ""
    generation: int | None = None
    attempt: int | None = None
    published_ns: int | None = None
    key: bytes | None = None
    cause: str = ""
    to_topic: str = ""
    to_partition: int | None = None
    to_offset: int | None = None
    detail: dict[str, Any] | None = None
    member: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """`detail`, {} for None."""
        return self.detail or {}

    @property
    def compacts(self) -> bool:
        """Whether it says that its topic compacts, from now on."""
        settings = self.told.get("log") or {} if self.kind is EventKind.USER_ACTION else self.told
        return "compact" in str(settings.get("cleanup", ""))

    @property
    def place(self) -> tuple[str, int]:
        """The topic and partition of a run of messages; AssertionError if there is none."""
        assert self.partition is not None
        return self.topic, self.partition

    @property
    def offsets(self) -> range:
        """The offsets of the messages that the event is about. AssertionError if it is about none."""
        assert self.offset is not None
        return range(self.offset, self.offset + self.count)

    @property
    def member_id(self) -> str:
        """The id of the member that joined, left, or got or lost partitions; the client's name if no id is known."""
        return str(self.told.get("member_id", "")) or self.client

    @property
    def partitions(self) -> list[tuple[str, str, int]]:
        """(group, topic, partition) of what a member got or lost."""
        return [(self.group, str(topic), int(number)) for topic, number in self.told.get("partitions", ())]


def reader_by_hand(name: object) -> str:
    """The name in `Event.member` of a reader that is no member of a group because it assigned its partitions itself."""
    return f"{_BY_HAND}{name}"


def is_by_hand(member: str) -> bool:
    """Whether this is no member id, but a `reader_by_hand`."""
    return member.startswith(_BY_HAND)


def is_users(event: Event) -> bool:
    """Whether it is an action of the user, and none that the scenario's schedule has planned."""
    return event.kind is EventKind.USER_ACTION and (event.detail or {}).get("by") != SCENARIO


def describe(event: Event) -> str:
    return f"#{event.seq} {event.time_ns / 1e9:.6f} s {what_happened(event)}"


def what_happened(event: Event) -> str:
    """`describe` without the number and the time."""
    place = f"{event.topic}/{event.partition}" if event.partition is not None else event.topic
    where = f" {place} @{event.offset}" if event.offset is not None else f" {place}" if place else ""
    last = f"-{event.offset + event.count - 1}" if event.offset is not None and event.count > 1 else ""
    who = " ".join(part for part in (event.group and f"group {event.group}", event.client) if part)
    attempt = f" attempt {event.attempt}" if event.attempt else ""
    generation = f" generation {event.generation}" if event.generation is not None else ""
    cause = f" ({event.cause})" if event.cause else ""
    return f"{event.kind}{where}{last} {who}{attempt}{generation}{cause}".rstrip()


Sink = Callable[[Event], object]


class EventStream:
    """Numbers events and passes each to all sinks, in order; to a sink that has `kinds`, only events of these.

    Where a sink raises, `on_failure(error)` is called and the other sinks get the event; without `on_failure` the error
    propagates.
    """

    def __init__(self, on_failure: Callable[[Exception], object] | None = None) -> None:
        self._sinks: list[Sink] = []
        self._of_kind: dict[EventKind, tuple[Sink, ...]] = {}
        self._on_failure = on_failure
        self.count = 0
        self.acting = ""  # who acts now, if that is not the user

    def attach(self, sink: Sink) -> None:
        self._sinks.append(sink)
        self._of_kind.clear()

    def detach(self, sink: Sink) -> None:
        if sink in self._sinks:
            self._sinks.remove(sink)
            self._of_kind.clear()

    def emit_action(self, time_ns: int, *, detail: dict[str, Any] | None = None, **fields: Any) -> None:
        """Emit a `user_action`; its detail says who acts, if that is not the user."""
        if self.acting:
            detail = {**(detail or {}), "by": self.acting}
        self.emit(time_ns, EventKind.USER_ACTION, detail=detail, **fields)

    def emit(self, time_ns: int, kind: EventKind, **fields: Any) -> None:
        event = Event(self.count, time_ns, kind, **fields)
        self.count += 1
        self.pass_on(event)

    def pass_on(self, event: Event) -> None:
        kind = event.kind
        sinks = self._of_kind.get(kind)
        if sinks is None:
            sinks = tuple(sink for sink in self._sinks if kind in getattr(sink, "kinds", (kind,)))
            self._of_kind[kind] = sinks
        for sink in sinks:
            try:
                sink(event)
            except Exception as error:
                if self._on_failure is None:
                    raise
                self._on_failure(error)
