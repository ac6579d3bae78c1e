"""Views: the state of the broker at one moment as immutable values, for panels and keyframes."""

from __future__ import annotations

from collections.abc import Container, Iterable
from operator import add, sub
from typing import Final, Literal

import msgspec

from broker_core.access import AccessRow, Acl, ClientQuota, ScramUser
from broker_core.clock import NS_PER_S
from broker_core.messages import Headers

MAX_LEASES: Final = 500  # listed in a keyframe, of each queue
MAX_LETTERS: Final = 200


class PartitionView(msgspec.Struct, frozen=True, gc=False):
    """A partition of a topic.

    `lost` holds the (start, end) offset ranges that cannot be read; then it is degraded. `markers` is the number of
    offsets between start and end that end transactions and hold no message. `transactions` holds (producer id, first
    offset) of each that is open, the oldest first.

    `leader`, `replicas` and `in_sync` are ids of nodes: a leader of -1 is none, None is not known.
    """

    partition: int
    start_offset: int
    end_offset: int
    size_bytes: int
    lost: tuple[tuple[int, int], ...] = ()
    markers: int = 0
    transactions: tuple[tuple[int, int], ...] = ()
    leader: int | None = None
    replicas: tuple[int, ...] = ()
    in_sync: tuple[int, ...] = ()

    @property
    def last_stable_offset(self) -> int:
        """Where readers of committed messages wait: the first offset of an open transaction, else the end."""
        return min((first for _, first in self.transactions), default=self.end_offset)

    @property
    def messages_count(self) -> int:
        """Messages between start and end; of a compacted topic, those that compaction has removed count, too."""
        return self.end_offset - self.start_offset - self.markers


class GateView(msgspec.Struct, frozen=True):
    """The backpressure of a topic or queue. Counts are in messages.

    `policy` is block, reject, drop_newest, drop_oldest or priority_evict. `depth` is the backlog of the slowest reader,
    `slowest` its name; `depth_bytes` is 0 without `limit_bytes`. `rejected` and `dropped` were not stored; `evicted`
    were removed for others. `tokens` is None without a rate limit. `blocked` holds (producer, since_ns) in the order of
    waiting.
    """

    target: str
    policy: str
    depth: int
    limit: int | None
    rate_limit_per_s: float | None = None
    tokens: float | None = None
    slowest: str = ""
    blocked: tuple[tuple[str, int], ...] = ()
    blocked_ns_total: int = 0
    rejected: int = 0
    dropped: int = 0
    evicted: int = 0
    depth_bytes: int = 0
    limit_bytes: int | None = None


class TopicView(msgspec.Struct, frozen=True):
    """A topic with its partitions in order. `schema` is the subject of its values, "" for none.

    If it is `compacted`, or was at some time, counts of messages are at most so many: what compaction has removed
    counts, too.
    """

    name: str
    partitions: tuple[PartitionView, ...]
    published: int
    published_bytes: int
    gate: GateView | None
    schema: str = ""
    compacted: bool = False
    min_in_sync: int = 0  # replicas, without which it takes no message with acks=all; 0 is not known

    @property
    def messages_count(self) -> int:
        return sum(each.messages_count for each in self.partitions)

    @property
    def size_bytes(self) -> int:
        return sum(each.size_bytes for each in self.partitions)


class OffsetView(msgspec.Struct, frozen=True, gc=False):
    """The offsets of a group in one partition.

    `committed` is None if nothing is committed; then `start` is where the group began to read, None if that is
    not known. `position` is the next offset of the owner. `lag` counts messages from the committed offset, or else from
    `start`, up to the end; `lag_ns` is the age of the first of them; both are None for unknown. `in_flight` counts
    messages delivered to the owner since the assignment that are not committed; they begin at `in_flight_from`, which
    is None if none were delivered.
    """

    topic: str
    partition: int
    owner: str
    position: int | None
    committed: int | None
    end_offset: int
    lag: int | None
    lag_ns: int | None
    in_flight: int = 0
    in_flight_from: int | None = None
    start: int | None = None


class MemberView(msgspec.Struct, frozen=True):
    """A member of a group. `partitions` holds (topic, partition). `lost_ns` is when its connection has ended that was
    not heard of since.
    """

    client: str
    member_id: str
    instance_id: str
    topics: tuple[str, ...]
    partitions: tuple[tuple[str, int], ...]
    joined_ns: int
    last_heartbeat_ns: int
    lost_ns: int | None = None


NOT_SEEN = "Not seen"
SEEN_LATE: Final = "seen after it was over"  # how the cause of a rebalance begins that was between two looks
CLASSIC, SHARE, STREAMS = "classic", "share", "streams"


class GroupView(msgspec.Struct, frozen=True):
    """A consumer group. `state` is a word of `groups.states.GroupState`, or `NOT_SEEN` while a broker elsewhere does
    not tell of it: then the rest is as it was, and no lag is known. A `generation` below 0 is not known.

    `kind` is that of a cluster: classic, consumer, share or streams; "" in a broker of our own. What a share group has
    "committed" are the messages before the end that its lag does not count.
    """

    name: str
    state: str
    generation: int
    assignor: str
    leader: str
    topics: tuple[str, ...]
    members: tuple[MemberView, ...]
    offsets: tuple[OffsetView, ...]
    state_since_ns: int
    kind: str = ""

    @property
    def owners(self) -> dict[tuple[str, int], str]:
        """The client that owns each (topic, partition)."""
        return {place: member.client for member in self.members for place in member.partitions}

    @property
    def lag(self) -> int | None:
        """The sum of the lags that are known, in messages; None if none is."""
        return total_lag(at.lag for at in self.offsets)

    @property
    def lag_unknown(self) -> int:
        """How many partitions, of topics that its members read, have no known lag (Kafka's tools show "-" there)."""
        return sum(1 for at in self.offsets if at.lag is None and at.topic in self.topics)


class ShareMemberView(msgspec.Struct, frozen=True):
    """A member, and the topics that it subscribes to; it may take from each of their partitions."""

    client: str
    member_id: str
    epoch: int
    topics: tuple[str, ...]


class ShareOffsetView(msgspec.Struct, frozen=True):
    """The progress of a share group in one partition.

    `start_offset` is the first that is not finished; `in_flight` messages are leased. `lag` counts all that are not
    finished: ready, delayed or in flight.
    """

    topic: str
    partition: int
    start_offset: int
    end_offset: int
    in_flight: int
    lag: int


class ShareGroupView(msgspec.Struct, frozen=True):
    """A share group. `state` is Stable, or Empty without members; `epoch` is that of the last member to join."""

    name: str
    state: str
    epoch: int
    members: tuple[ShareMemberView, ...]
    offsets: tuple[ShareOffsetView, ...]


def total_lag(lags: Iterable[int | None]) -> int | None:
    known = [lag for lag in lags if lag is not None]
    return sum(known) if known else None


class LeaseView(msgspec.Struct, frozen=True, gc=False):
    """A leased message: held by `holder` until `deadline_ns`. `attempt` counts deliveries from 1.

    A `max_attempts` of 0 is no limit.
    """

    queue: str
    partition: int
    offset: int
    key: bytes | None
    holder: str
    acquired_ns: int
    deadline_ns: int
    attempt: int
    max_attempts: int

    @property
    def has_limits(self) -> bool:
        """Whether `deadline_ns` and `max_attempts` are known: they are not before a keyframe holds the queue."""
        return self.deadline_ns > self.acquired_ns


class AttemptView(msgspec.Struct, frozen=True, gc=False):
    """A delivery of a dead letter."""

    holder: str
    delivered_ns: int
    ended_ns: int
    outcome: str


class DeadLetterView(msgspec.Struct, frozen=True):
    """A dead letter: its offset in the dead letter queue, its origin, the cause, and its attempts."""

    queue: str
    offset: int
    origin_topic: str
    origin_partition: int
    origin_offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    cause: str
    published_ns: int
    dead_ns: int
    redrives: int
    attempts: tuple[AttemptView, ...]


class RetryView(msgspec.Struct, frozen=True):
    """The retry policy of a queue: the fields of `queues.retry.RetryPolicy`."""

    kind: str = "none"
    base_ms: float = 0.0
    max_ms: float = 0.0
    factor: float = 1.0


class WaitView(msgspec.Struct, frozen=True, gc=False):
    """A delayed message, available from `due_ns` on; None for one that waits to be dead-lettered."""

    partition: int
    offset: int
    due_ns: int | None


class QueueView(msgspec.Struct, frozen=True):
    """A queue. Of its messages, `ready` can be taken now, `delayed` wait for a retry, `in_flight` are leased.

    `leases`, `waits` (delayed messages) and `dead_letters` are limited by the caller; counts are complete. `topic` is
    the log that it reads: its own, or the topic of a subscription. `dead_letter_topic` is its dead letter queue.
    `redriven` counts redrives, those that were undone, too. With a `lease_ms` of 0, `max_attempts` is not known either.
    """

    name: str
    priorities: int
    ready: int
    delayed: int
    in_flight: int
    dead: int
    lease_ms: int
    max_attempts: int
    waiting_takers: int
    acknowledged: int
    redelivered: int
    dead_lettered: int
    redriven: int
    leases: tuple[LeaseView, ...]
    dead_letters: tuple[DeadLetterView, ...]
    gate: GateView | None
    topic: str = ""
    dead_letter_topic: str = ""
    retry: RetryView = RetryView()
    waits: tuple[WaitView, ...] = ()

    @property
    def reads(self) -> str:
        """The topic of a subscription; "" for a queue."""
        return "" if self.topic == self.name else self.topic

    @property
    def waiting(self) -> int:
        """Messages that can be taken, now or after a delay."""
        return self.ready + self.delayed

    @property
    def messages_count(self) -> int:
        return self.waiting + self.in_flight


class ActorView(msgspec.Struct, frozen=True):
    """A producer, consumer or worker of the scenario.

    `role` is producer, consumer or worker; `state` is one of `ActorState`, of which idle is unassigned. `target` is the
    topic of a producer, the group of a consumer ("" while unassigned), or the queue of a worker. `linger_ms` is a
    producer's.

    Counts are in messages. `processed`: published or acknowledged. `failed`: nacked or left to expire by a worker, or
    dead-lettered by a schema for a producer. `rejected` and `dropped`: not stored by the target. `outcome` is the event
    kind of a producer's last message that was not stored, "" if it was stored. `held_from` is the group that a
    consumer of another program is held out of, "" for clients of the scenario.
    """

    name: str
    role: str
    state: str
    target: str
    topics: tuple[str, ...]
    processed: int
    failed: int
    since_ns: int
    linger_ms: float = 0.0
    rejected: int = 0
    dropped: int = 0
    outcome: str = ""
    held_from: str = ""


ActorState = Literal["idle", "joining", "waiting", "running", "processing", "blocked", "paused", "crashed", "stopped"]
#: Actors in these states when a session ends stay in them; all others are stopped.
STAYS_AFTER_THE_END = frozenset({"crashed", "idle", "stopped"})


class RebalanceView(msgspec.Struct, frozen=True):
    """A rebalance, which is running while `ended_ns` is None. `before` and `after` hold (topic, partition, client)."""

    group: str
    cause: str
    started_ns: int
    ended_ns: int | None
    generation_before: int
    generation_after: int | None
    before: tuple[tuple[str, int, str], ...]
    after: tuple[tuple[str, int, str], ...]

    @property
    def is_late(self) -> bool:
        """Whether it was some time between its start and its end: how long it lasted is not known."""
        return self.cause.startswith(SEEN_LATE)

    @property
    def moved(self) -> tuple[tuple[str, int, str, str], ...]:
        """(topic, partition, old owner, new owner) of moved partitions; "" is no owner."""
        old = {(topic, partition): client for topic, partition, client in self.before}
        new = {(topic, partition): client for topic, partition, client in self.after}
        keys = sorted(old.keys() | new.keys())
        return tuple((*key, old.get(key, ""), new.get(key, "")) for key in keys if old.get(key, "") != new.get(key, ""))

    @property
    def kept(self) -> tuple[tuple[str, int, str], ...]:
        """(topic, partition, owner) of partitions that kept their owner."""
        return tuple(sorted(set(self.before) & set(self.after)))


class TransactionView(msgspec.Struct, frozen=True):
    """A transaction that has not ended: of which producer, since when, and after how long it is aborted."""

    transactional_id: str
    producer_id: int
    epoch: int
    client: str
    started_ns: int
    timeout_ms: int


RULE_PREFIX, FAULT_PREFIX = "rule ", "fault "  # of rules, and of faults of requests


class FaultView(msgspec.Struct, frozen=True):
    """An active fault or rule on `client` ("" is every client, or the disk); `what` describes it.

    `fault` identifies it among those of a client. `until_ns` is None if it lasts until it is removed.
    """

    client: str
    fault: str
    what: str
    since_ns: int
    until_ns: int | None

    @property
    def is_rule(self) -> bool:
        """Whether messages fail by a rule: of a client, or of the topic, queue or group of that name."""
        return self.fault.startswith(RULE_PREFIX)

    @property
    def is_of_requests(self) -> bool:
        """Whether requests of Kafka programs meet it."""
        return self.fault.startswith(FAULT_PREFIX)


class Totals(msgspec.Struct, frozen=True, gc=False):
    """The broker's own counts, in messages, since the session began.

    `delivered` counts all deliveries; of those `redelivered` what a group or queue handed out again, `fetched_again`
    what a client only fetched once more.
    """

    published: int = 0
    delivered: int = 0
    acknowledged: int = 0
    redelivered: int = 0
    dead_lettered: int = 0
    redriven: int = 0
    rejected: int = 0
    dropped: int = 0
    expired: int = 0
    evicted: int = 0
    purged: int = 0
    rebalances: int = 0
    fetched_again: int = 0

    def plus(self, other: Totals) -> Totals:
        """The sums, field by field."""
        return Totals(*map(add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))

    def minus(self, other: Totals) -> Totals:
        """The differences, field by field."""
        return Totals(*map(sub, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))


class SlowReader(msgspec.Struct, frozen=True):
    """A group or a queue that is behind in one partition, and, of a group, the client that reads it.

    `lag_ns` is the age of the oldest waiting message.
    """

    reader: str
    client: str
    topic: str
    partition: int
    lag: int
    lag_ns: int


class ConnectionView(msgspec.Struct, frozen=True):
    """One connection at one moment. Times are session nanoseconds; sizes are bytes sent and received.

    `client` is what it calls itself, `software` what it runs and `group` the last group that it named ("" while it has
    not said so), `principal` who its token says it is. Rates are per second, over the last second or two. Of one that
    has ended, `last_error` says who cut it, and why.
    """

    id: int
    listener: str
    peer: str
    client: str
    principal: str
    opened_ns: int
    heard_ns: int
    requests: int
    messages_in: int
    messages_out: int
    bytes_in: int
    bytes_out: int
    requests_per_s: float
    messages_in_per_s: float
    messages_out_per_s: float
    bytes_in_per_s: float
    bytes_out_per_s: float
    errors: int
    last_error: str
    ended_ns: int | None = None  # while it is open
    software: str = ""
    group: str = ""


class NodeView(msgspec.Struct, frozen=True):
    """A broker of a cluster, or a controller that is none (then its `address` is ""). Since `gone_ns` it is not seen,
    `why` says what was seen instead. `disk` holds the bytes that are free and all, None if that is not known.
    """

    node: int
    address: str
    rack: str = ""
    is_controller: bool = False
    gone_ns: int | None = None
    why: str = ""
    disk: tuple[int, int] | None = None


#: How a partition is replicated, the worst first. Kafka's words; "" if nothing is wrong or nothing is known.
LEADERLESS, BELOW_MIN, AT_MIN, UNDER_REPLICATED = "no leader", "below min.insync", "at min.insync", "under-replicated"
WORST_FIRST: Final = (LEADERLESS, BELOW_MIN, AT_MIN, UNDER_REPLICATED)
UNDER: Final = frozenset({BELOW_MIN, AT_MIN, UNDER_REPLICATED})


class Snapshot(msgspec.Struct, frozen=True):
    """The whole state at `time_ns`, after the first `events` events of the session."""

    time_ns: int
    events: int
    topics: tuple[TopicView, ...] = ()
    groups: tuple[GroupView, ...] = ()
    queues: tuple[QueueView, ...] = ()
    actors: tuple[ActorView, ...] = ()
    rebalances: tuple[RebalanceView, ...] = ()
    totals: Totals = Totals()
    faults: tuple[FaultView, ...] = ()
    transactions: tuple[TransactionView, ...] = ()
    acls: tuple[Acl, ...] = ()
    quotas: tuple[ClientQuota, ...] = ()
    users: tuple[ScramUser, ...] = ()
    nodes: tuple[NodeView, ...] = ()

    @property
    def nodes_gone(self) -> frozenset[int]:
        return frozenset(each.node for each in self.nodes if each.gone_ns is not None)

    @property
    def access(self) -> tuple[AccessRow, ...]:
        return (*self.acls, *self.quotas, *self.users)

    @property
    def compacted(self) -> frozenset[str]:
        return frozenset(topic.name for topic in self.topics if topic.compacted)

    @property
    def partition_counts(self) -> dict[str, int]:
        """How many partitions each topic has, by its name."""
        return {topic.name: len(topic.partitions) for topic in self.topics}

    def topic(self, name: str) -> TopicView | None:
        return next((each for each in self.topics if each.name == name), None)

    def group(self, name: str) -> GroupView | None:
        return next((each for each in self.groups if each.name == name), None)

    def queue(self, name: str) -> QueueView | None:
        return next((each for each in self.queues if each.name == name), None)

    def actor(self, name: str) -> ActorView | None:
        return next((each for each in self.actors if each.name == name), None)

    def seats(self, client: str) -> list[tuple[GroupView, MemberView]]:
        """The groups that a client is a member of, with that member."""
        return [(group, member) for group in self.groups for member in group.members if member.client == client]


def counts_removed(offsets: Iterable[OffsetView], compacted: Container[str]) -> bool:
    """Whether some messages of a lag may be removed: compaction tells nobody of which offsets."""
    return any(at.lag and at.topic in compacted for at in offsets)


def may_be_marker(at: OffsetView) -> bool:
    """Whether what a group of a cluster lacks may be the marker that ends a transaction, which is no message: a lag of
    1 that stands. Headers were not read.
    """
    return at.lag == 1 and (at.lag_ns is None or at.lag_ns >= 10 * NS_PER_S)


def replication(part: PartitionView, min_in_sync: int, gone: frozenset[int]) -> str:
    """How a partition is replicated while the nodes of `gone` are not seen: what they lead has no leader."""
    if part.leader is None:
        return ""
    if part.leader < 0 or part.leader in gone:
        return LEADERLESS
    if len(part.in_sync) < min_in_sync:
        return BELOW_MIN
    if len(part.in_sync) < len(part.replicas):
        return AT_MIN if len(part.in_sync) == min_in_sync else UNDER_REPLICATED
    return ""
