from __future__ import annotations

from functools import partial
from typing import Annotated, Self

from msgspec import Meta

from broker_core.clock import NS_PER_MS
from broker_core.flow.config import FlowConfig
from broker_core.operations.entry import ADMIN, READ, Entry, Right, Visible, listed
from broker_core.operations.fields import Cause, Client, Encoding, Name, NewName, Positive, WaitMs
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.request import Request, Result
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Lease
from broker_core.queues.subscription import BacklogPolicy
from broker_core.settings import about
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


class ListQueues(Request[list[QueueView]], frozen=True, kw_only=True):
    """Queues and subscriptions."""


class CreateQueue(Request[QueueView], frozen=True, kw_only=True):
    name: NewName
    settings: QueueConfig = QueueConfig()
    flow: FlowConfig | None = None
    log: LogSettings = LogSettings()


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
        BacklogPolicy,
        about("what happens when it is full: producers wait or are refused, or only this subscriber misses messages"),
    ] = "drop_newest"


class DescribeQueue(Request[QueueView], frozen=True, kw_only=True):
    queue: Name


class QueueConfiguration(Request[QueueConfigAnswer], frozen=True, kw_only=True):
    queue: Name


class DeleteQueue(Request[None], frozen=True, kw_only=True):
    queue: Name


class Peek(Request[list[MessageAnswer]], frozen=True, kw_only=True):
    queue: Name
    max_messages: Annotated[int, Meta(ge=1, le=1_000), about("show at most this many messages", flag="--count")] = 10
    encoding: Encoding = "text"


class PurgeQueue(Request[Messages], frozen=True, kw_only=True):
    queue: Name


class UndoPurgeQueue(Request[Messages], frozen=True, kw_only=True):
    queue: Name


LeaseToken = Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,16}\.[0-9]{1,6}\.[a-zA-Z0-9._@:-]{1,300}$")]
Leases = Annotated[list[LeaseToken], Meta(min_length=1, max_length=10_000)]


def lease_token(partition: int, offset: int, attempt: int, holder: str) -> str:
    return f"{partition}.{offset}.{attempt}.{holder}"


class Delivery(MessageAnswer, frozen=True, kw_only=True):
    """A message, and the lease that acknowledges, refuses, extends or releases it."""

    lease: str
    attempt: int
    lease_ms: int

    @classmethod
    def of_lease(cls, lease: Lease, now_ns: int, wanted: Encoding) -> Self:
        """The message is in the encoding `wanted`; `lease_ms` is what is left at `now_ns`."""
        token = lease_token(lease.partition, lease.offset, lease.attempt, lease.holder)
        lease_ms = max(0, (lease.deadline_ns - now_ns) // NS_PER_MS)
        return cls.of(lease.message, wanted, lease=token, attempt=lease.attempt, lease_ms=lease_ms)


class LeaseRefused(Result, frozen=True, kw_only=True):
    lease: str
    error: str
    message: str


class LeasesDone(Result, frozen=True, kw_only=True):
    done: int
    refused: list[LeaseRefused]


class Take(Request[list[Delivery]], frozen=True, kw_only=True):
    """At most `max_messages`; waits up to `timeout_ms` for the first. None if none came in time."""

    queue: Name
    max_messages: Annotated[int, Meta(ge=1, le=10_000)] = 1
    timeout_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    holder: Client = ""
    weight: Annotated[int, Meta(ge=1, le=1_000, description="Its share of a queue that balances by weight")] = 1
    encoding: Encoding = "text"


class Ack(Request[LeasesDone], frozen=True, kw_only=True):
    """The work on these is done. With `durable` the response comes when that is stored; null: as the queue is set."""

    queue: Name
    leases: Leases
    durable: bool | None = None


class Nack(Request[LeasesDone], frozen=True, kw_only=True):
    """The work on these failed: they are delivered again, or, without `requeue`, become dead letters."""

    queue: Name
    leases: Leases
    cause: Cause = "nack"
    requeue: bool = True


class Extend(Request[LeasesDone], frozen=True, kw_only=True):
    """These leases end `lease_ms` from now, or after the queue's own time."""

    queue: Name
    leases: Leases
    lease_ms: WaitMs | None = None


class Release(Request[LeasesDone], frozen=True, kw_only=True):
    """These are available again, as if they had not been delivered."""

    queue: Name
    leases: Leases


_READ, _ADMIN = (Right(READ, "queue", "queue"),), (Right(ADMIN, "queue", "queue"),)
_TAG = "Queues"
_look = partial(Entry, tag=_TAG, rights=_READ)
_change = partial(Entry, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog", errors=(409,))
_empty = partial(Entry, tag=_TAG, rights=_ADMIN, errors=(409,))
_lease = partial(Entry, tag=_TAG, rights=_READ, mode="parked", served_by="listener", errors=(409,))

ENTRIES = (
    listed(ListQueues, "GET /v1/queues", "List queues and subscriptions", _TAG, Visible("queue")),
    _change(CreateQueue, "POST /v1/queues", "Create a queue", rights=(Right(ADMIN, "queue", "name"),), created=True),
    _change(
        CreateSubscription,
        "POST /v1/subscriptions",
        "Create a subscription: a queue that gets every message of a topic",
        rights=(Right(ADMIN, "queue", "name"), Right(READ, "topic", "topic")),
        created=True,
        errors=(404, 409),
    ),
    _look(DescribeQueue, "GET /v1/queues/{queue}", "Describe a queue: its counts, settings and leases"),
    _look(QueueConfiguration, "GET /v1/queues/{queue}/config", "Show the settings of a queue", called="queue_config"),
    _change(
        DeleteQueue, "DELETE /v1/queues/{queue}", "Delete a queue or subscription, its messages and its dead letters"
    ),
    _look(Peek, "GET /v1/queues/{queue}/messages", "Show the next messages of a queue without taking them"),
    _empty(PurgeQueue, "POST /v1/queues/{queue}/purge", "Remove all messages that are not leased"),
    _empty(
        UndoPurgeQueue,
        "POST /v1/queues/{queue}/undo-purge",
        "Restore what the last purge removed, up to five minutes later",
    ),
    _lease(Take, "POST /v1/queues/{queue}/take", "Take messages; each is leased to the caller"),
    _lease(Ack, "POST /v1/queues/{queue}/ack", "Acknowledge messages: the work is done"),
    _lease(
        Nack,
        "POST /v1/queues/{queue}/nack",
        "Refuse messages: they are delivered again by the queue's retry policy, or become dead letters",
    ),
    _lease(Extend, "POST /v1/queues/{queue}/extend", "Extend leases"),
    _lease(Release, "POST /v1/queues/{queue}/release", "Release messages, as if they had not been delivered"),
)
