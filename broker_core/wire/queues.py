"""Queues and subscriptions: taking, ending leases, administration. What is put in is published, as to a topic."""

from __future__ import annotations

from typing import Literal

from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Lease
from broker_core.queues.subscription import BacklogPolicy
from broker_core.snapshots import QueueView
from broker_core.wire.body import Body, Int32, Int64, Millis, Name


class CreateQueue(Body, frozen=True):
    """See `Broker.create_queue`."""

    name: Name
    config: QueueConfig = QueueConfig()
    flow: FlowConfig | None = None
    log: LogConfig | None = None


class CreateSubscription(Body, frozen=True):
    """See `Broker.subscribe`."""

    name: Name
    topic: Name
    config: QueueConfig = QueueConfig()
    max_messages: Int64 | None = None
    policy: BacklogPolicy = "drop_newest"


class DeleteQueue(Body, frozen=True):
    """A queue or subscription, with its messages and dead letters."""

    name: Name


class ListQueues(Body, frozen=True):
    """The names of all queues and subscriptions."""


class DescribeQueue(Body, frozen=True):
    """See `QueueView`."""

    name: Name
    max_leases: Int32 = 100
    max_dead_letters: Int32 = 100


class QueueDescription(Body, frozen=True):
    """Counts, leases, the newest dead letters; how it hands out messages."""

    view: QueueView
    config: QueueConfig = QueueConfig()


class PurgeQueue(Body, frozen=True):
    """Take out everything that nobody holds; with `undo`, bring back what the last purge took."""

    name: Name
    undo: bool = False


class PeekQueue(Body, frozen=True):
    """The next messages, the most urgent first; nothing is taken."""

    name: Name
    max_messages: Int32


class Count(Body, frozen=True):
    """How many messages that was."""

    count: int


class Take(Body, frozen=True):
    """At most `max_messages`, leased to `holder`; where none is there, what comes within `wait_ms`.

    `weight` is the holder's share where the queue goes by weights.
    """

    queue: Name
    holder: Name
    max_messages: Int32
    wait_ms: Millis
    weight: Int32 = 1


class Leases(Body, frozen=True):
    """What was handed out."""

    leases: tuple[Lease, ...]


class Held(Body, frozen=True):
    """Which lease is meant."""

    queue: Name
    partition: Int32
    offset: Int64
    holder: Name
    attempt: Int32


class Settle(Body, frozen=True):
    """The end of leases, all of one kind. `requeue` is for nack: without it the message goes to the dead letters.

    `durable` is for ack, see `Queue.ack`.
    """

    outcome: Literal["ack", "nack", "release"]
    leases: tuple[Held, ...]
    cause: str = ""
    requeue: bool = True
    durable: bool | None = None


class Settled(Body, frozen=True):
    """(error code or 0, about what) of each lease, in order."""

    errors: tuple[tuple[int, str], ...]


class Extend(Body, frozen=True):
    """The leases end `lease_ms` from now, or as late as new ones."""

    leases: tuple[Held, ...]
    lease_ms: float | None = None


class Extended(Body, frozen=True):
    """(end of the lease in session ns, error code or 0, about what) of each, in order."""

    ends: tuple[tuple[int, int, str], ...]


class ReleaseHolder(Body, frozen=True):
    """`holder` is gone: its takes end, what it holds is given back."""

    queue: Name
    holder: Name
    cause: Name
