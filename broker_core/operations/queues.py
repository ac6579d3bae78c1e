from __future__ import annotations

from typing import Annotated, Literal, Self

from msgspec import Meta

from broker_core.clock import NS_PER_MS
from broker_core.flow.config import FlowConfig
from broker_core.operations.entry import ADMIN, LISTED, READ, Entry, Right, Visible, declaring
from broker_core.operations.fields import Cause, Client, Encoding, Name, NewName, Offset, Partition, Positive, WaitMs
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.request import Request, Result
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Lease
from broker_core.settings import LimitPolicy, about
from broker_core.snapshots import QueueView

# -- results


class QueueConfigAnswer(Result, frozen=True, kw_only=True):
    """The settings of a queue. `topic` is what a subscription reads, null for a queue with a log of its own."""

    topic: str | None
    settings: QueueConfig
    flow: FlowConfig | None


class Messages(Result, frozen=True, kw_only=True):
    messages: int


# -- requests


ENTRIES: list[Entry] = []
_READ, _ADMIN = (Right(READ, "queue", "queue"),), (Right(ADMIN, "queue", "queue"),)
_TAG = "Queues"
_read_operation = declaring(ENTRIES, tag=_TAG, rights=_READ)
_admin_operation = declaring(ENTRIES, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog", errors=(409,))
_empty = declaring(ENTRIES, tag=_TAG, rights=_ADMIN, errors=(409,))
_lease = declaring(ENTRIES, tag=_TAG, rights=_READ, mode="parked", served_by="listener", errors=(409,))


@_read_operation("GET /v1/queues", "List queues and subscriptions", visible=Visible("queue"), **LISTED)
class ListQueues(Request[list[QueueView]], frozen=True, kw_only=True):
    """Queues and subscriptions."""


@_admin_operation("POST /v1/queues", "Create a queue", rights=(Right(ADMIN, "queue", "name"),), created=True)
class CreateQueue(Request[QueueView], frozen=True, kw_only=True):
    name: NewName
    settings: QueueConfig = QueueConfig()
    flow: FlowConfig | None = None
    log: LogSettings = LogSettings()


@_admin_operation(
    "POST /v1/subscriptions",
    "Create a subscription: a queue that gets every message of a topic",
    rights=(Right(ADMIN, "queue", "name"), Right(READ, "topic", "topic")),
    created=True,
    errors=(404, 409),
)
class CreateSubscription(Request[QueueView], frozen=True, kw_only=True):
    """A queue that gets every message of `topic` from now on; at most `max_messages` wait in it.

    At that limit, producers of the topic wait (block) or are refused (reject), or a message is left out of this
    subscription only. Of its `priorities` the most urgent is delivered first.
    """

    name: NewName
    topic: Annotated[Name, about("topic whose messages it gets from now on")]
    settings: QueueConfig = QueueConfig()
    max_messages: Annotated[Positive | None, about("maximum number of waiting messages")] = None
    policy: Annotated[
        LimitPolicy,
        about("what happens when it is full: producers wait or are refused, or only this subscriber misses messages"),
    ] = "drop_newest"


@_read_operation("GET /v1/queues/{queue}", "Describe a queue: its counts, settings and leases")
class DescribeQueue(Request[QueueView], frozen=True, kw_only=True):
    queue: Name


@_read_operation("GET /v1/queues/{queue}/config", "Show the settings of a queue", called="queue_config")
class QueueConfiguration(Request[QueueConfigAnswer], frozen=True, kw_only=True):
    queue: Name


@_admin_operation("DELETE /v1/queues/{queue}", "Delete a queue or subscription, its messages and its dead letters")
class DeleteQueue(Request[None], frozen=True, kw_only=True):
    queue: Name


@_read_operation("GET /v1/queues/{queue}/messages", "Show the next messages of a queue without taking them")
class Peek(Request[list[MessageAnswer]], frozen=True, kw_only=True):
    queue: Name
    max_messages: Annotated[int, Meta(ge=1, le=1_000), about("show at most this many messages", flag="--count")] = 10
    encoding: Encoding = "text"


@_empty("POST /v1/queues/{queue}/purge", "Remove all messages that are not leased")
class PurgeQueue(Request[Messages], frozen=True, kw_only=True):
    queue: Name


@_empty("POST /v1/queues/{queue}/undo-purge", "Restore what the last purge removed, up to five minutes later")
class UndoPurgeQueue(Request[Messages], frozen=True, kw_only=True):
    queue: Name


LeaseToken = Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,16}\.[0-9]{1,6}\.[a-zA-Z0-9._@:-]{1,300}$(?!\n)")]
Leases = Annotated[list[LeaseToken], Meta(min_length=1, max_length=10_000)]


class Delivery(MessageAnswer, frozen=True, kw_only=True):
    """A message, and the lease that acknowledges, refuses, extends or releases it."""

    lease: str
    attempt: int
    lease_ms: int

    @classmethod
    def of_lease(cls, lease: Lease, now_ns: int, wanted: Encoding) -> Self:
        """The message is in the encoding `wanted`; `lease_ms` is what is left at `now_ns`."""
        token = f"{lease.partition}.{lease.offset}.{lease.attempt}.{lease.holder}"
        lease_ms = max(0, (lease.deadline_ns - now_ns) // NS_PER_MS)
        return cls.of(lease.message, wanted, lease=token, attempt=lease.attempt, lease_ms=lease_ms)


class LeaseRefused(Result, frozen=True, kw_only=True):
    lease: str
    error: str
    message: str


class LeasesDone(Result, frozen=True, kw_only=True):
    done: int
    refused: list[LeaseRefused]


@_lease("POST /v1/queues/{queue}/take", "Take messages; each is leased to the caller")
class Take(Request[list[Delivery]], frozen=True, kw_only=True):
    """At most `max_messages`; waits up to `timeout_ms` for the first. None if none came in time."""

    queue: Name
    max_messages: Annotated[int, Meta(ge=1, le=10_000)] = 1
    timeout_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    holder: Client = ""
    weight: Annotated[int, Meta(ge=1, le=1_000, description="Its share of a queue that balances by weight")] = 1
    encoding: Encoding = "text"


@_lease("POST /v1/queues/{queue}/ack", "Acknowledge messages: the work is done")
class Ack(Request[LeasesDone], frozen=True, kw_only=True):
    """The work on these is done. With `durable` the response comes when that is stored; null: as the queue is set."""

    queue: Name
    leases: Leases
    durable: bool | None = None


@_lease(
    "POST /v1/queues/{queue}/nack",
    "Refuse messages: they are delivered again by the queue's retry policy, or become dead letters",
)
class Nack(Request[LeasesDone], frozen=True, kw_only=True):
    """The work on these failed: they are delivered again, or, without `requeue`, become dead letters."""

    queue: Name
    leases: Leases
    cause: Cause = "nack"
    requeue: bool = True


@_lease("POST /v1/queues/{queue}/extend", "Extend leases")
class Extend(Request[LeasesDone], frozen=True, kw_only=True):
    """These leases end `lease_ms` from now, or after the queue's own time."""

    queue: Name
    leases: Leases
    lease_ms: WaitMs | None = None


@_lease("POST /v1/queues/{queue}/release", "Release messages, as if they had not been delivered")
class Release(Request[LeasesDone], frozen=True, kw_only=True):
    """These are available again, as if they had not been delivered."""

    queue: Name
    leases: Leases


class Settled(Result, frozen=True, kw_only=True):
    """`deadline_ns` is when an extended lease ends, in session time."""

    deadline_ns: int | None = None


@_empty(
    "POST /v1/queues/{queue}/in-flight",
    "Acknowledge, refuse, extend or release one message in flight on behalf of its holder",
)
class SettleLease(Request[Settled], frozen=True, kw_only=True):
    """What becomes of one message in flight, on behalf of its holder: `offset` of `partition` of the queue's log, held
    for its `attempt`-th time.

    `nack` retries it by the retry policy and `dead-letter` gives it up, both with a `cause`; `release` undoes the
    delivery; `extend` ends the lease `lease_ms` from now, or after the queue's own time.
    """

    queue: Name
    partition: Partition
    offset: Offset
    holder: Annotated[str, Meta(min_length=1, max_length=300)]
    attempt: Positive
    act: Literal["ack", "nack", "dead-letter", "release", "extend"]
    cause: Cause = "nacked by hand"
    lease_ms: WaitMs | None = None
