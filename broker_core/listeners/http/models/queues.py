"""Work queues, and their dead letters."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core.limits import MAX_WAIT_MS
from broker_core.listeners.http.models.basics import (
    Cause,
    Client,
    Encoding,
    JsonValue,
    Name,
    NewName,
    Request,
    Shape,
)
from broker_core.listeners.http.models.topics import FlowSettings, LogSettings, MessageAnswer, Positive
from broker_core.queues.config import QueueConfig
from broker_core.queues.retry import RetryPolicy
from broker_core.queues.subscription import BacklogPolicy
from broker_core.snapshots import QueueView

LeaseMs = Annotated[float, Meta(gt=0, le=MAX_WAIT_MS)]
DelayMs = Annotated[float, Meta(ge=0, le=MAX_WAIT_MS)]


class RetrySettings(Request, frozen=True, kw_only=True):
    """How long a message that was refused waits for its next attempt; times in milliseconds."""

    kind: Literal["none", "fixed", "exponential", "exponential_jitter"] = "none"
    base_ms: DelayMs = 1_000.0
    max_ms: DelayMs = 60_000.0
    factor: Annotated[float, Meta(ge=1, le=1_000)] = 2.0


class QueueSettings(Request, frozen=True, kw_only=True):
    """A lease counts from delivery; after `max_attempts` deliveries (null: never) a message goes to the dead letters.

    With `durable_acks` an acknowledgement is answered when it survives what the queue does; without, a kill of the
    broker may undo the last ones, and their messages come again.
    """

    lease_ms: LeaseMs = 30_000.0
    max_attempts: Annotated[int, Meta(ge=1, le=1_000)] | None = 5
    retry: RetrySettings = RetrySettings()
    priorities: Annotated[int, Meta(ge=1, le=256)] = 1
    ageing_ms: LeaseMs | None = None
    balancing: Literal["first-come", "round-robin", "weighted", "least-loaded"] = "first-come"
    dead_letter_topic: Name | None = None
    durable_acks: bool = False

    def config(self) -> QueueConfig:
        """As the core has it."""
        retry = RetryPolicy(self.retry.kind, self.retry.base_ms, self.retry.max_ms, self.retry.factor)
        return QueueConfig(
            lease_ms=self.lease_ms,
            max_attempts=self.max_attempts,
            retry=retry,
            priorities=self.priorities,
            ageing_ms=self.ageing_ms,
            balancing=self.balancing,
            durable_acks=self.durable_acks,
            dead_letter_topic=self.dead_letter_topic or "",
        )


class CreateQueue(Request, frozen=True, kw_only=True):
    """A new queue."""

    name: NewName
    settings: QueueSettings = QueueSettings()
    flow: FlowSettings | None = None
    log: LogSettings = LogSettings()


class CreateSubscription(Request, frozen=True, kw_only=True):
    """A queue of its own that gets every message of `topic` from now on; at most `max_messages` wait in it.

    Then producers of the topic wait (block) or are refused (reject), or the message, or another in its place, is left
    out of this subscription alone. Of its `priorities` the most urgent message comes first.
    """

    name: NewName
    topic: Name
    settings: QueueSettings = QueueSettings()
    max_messages: Positive | None = None
    policy: BacklogPolicy = "drop_newest"


class LeaseAnswer(Shape, frozen=True, kw_only=True):
    """A message in somebody's hands."""

    partition: int
    offset: int
    holder: str
    attempt: int
    remaining_ms: int


class QueueAnswer(Shape, frozen=True, kw_only=True):
    """A queue or subscription; `leases` are some of those in flight. A `max_attempts` of 0 is "no limit".

    From `acknowledged` to `redriven` it is counted since the queue was created, restarts of the broker included.
    """

    name: str
    ready: int
    delayed: int
    in_flight: int
    dead: int
    lease_ms: float
    max_attempts: int
    priorities: int
    waiting_takers: int
    acknowledged: int
    redelivered: int
    dead_lettered: int
    redriven: int
    leases: list[LeaseAnswer]

    @classmethod
    def of(cls, view: QueueView, now_ns: int) -> QueueAnswer:
        """As the broker says."""
        same = {name: getattr(view, name) for name in cls.__struct_fields__ if name != "leases"}
        leases = [
            LeaseAnswer(
                partition=each.partition,
                offset=each.offset,
                holder=each.holder,
                attempt=each.attempt,
                remaining_ms=max(0, (each.deadline_ns - now_ns) // 1_000_000),
            )
            for each in view.leases
        ]
        return cls(**same, leases=leases)


class QueuesAnswer(Shape, frozen=True, kw_only=True):
    """Those that the caller may read, in the order of creation."""

    queues: list[QueueAnswer]


class Take(Request, frozen=True, kw_only=True):
    """At most `max_messages` that nobody holds; it waits `timeout_ms` for the first."""

    max_messages: Annotated[int, Meta(ge=1, le=10_000)] = 1
    timeout_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    holder: Client = ""
    weight: Annotated[int, Meta(ge=1, le=1_000, description="Its share of a queue that balances by weight")] = 1
    encoding: Encoding = "text"


class PeekQuery(Request, frozen=True, kw_only=True):
    """How many at most."""

    max_messages: Annotated[int, Meta(ge=1, le=1_000)] = 10
    encoding: Encoding = "text"


class Peeked(Shape, frozen=True, kw_only=True):
    """The next messages, the most urgent first."""

    messages: list[MessageAnswer]


class Delivery(Shape, frozen=True, kw_only=True):
    """A message, and the lease with which it is acknowledged, given back, or held longer."""

    lease: str
    attempt: int
    lease_ms: int
    partition: int
    offset: int
    timestamp_ms: int
    key: str | None
    value: JsonValue
    headers: dict[str, str]
    encoding: Encoding


class Taken(Shape, frozen=True, kw_only=True):
    """Messages; none where none came in time."""

    deliveries: list[Delivery]


LeaseToken = Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,16}\.[0-9]{1,6}\.[a-zA-Z0-9._@:-]{1,300}$")]
Leases = Annotated[list[LeaseToken], Meta(min_length=1, max_length=10_000)]


class Ack(Request, frozen=True, kw_only=True):
    """The work on these is done. `durable` answers when that survives what the queue does; null: as the queue says."""

    leases: Leases
    durable: bool | None = None


class Nack(Request, frozen=True, kw_only=True):
    """The work on these failed: they are tried again, or, without `requeue`, become dead letters."""

    leases: Leases
    cause: Cause = "nack"
    requeue: bool = True


class Extend(Request, frozen=True, kw_only=True):
    """These are held for `lease_ms` from now on, or as long as a new lease."""

    leases: Leases
    lease_ms: LeaseMs | None = None


class Release(Request, frozen=True, kw_only=True):
    """These are given back as if they had never been handed out."""

    leases: Leases


class LeaseRefused(Shape, frozen=True, kw_only=True):
    """A lease that could not be used."""

    lease: str
    error: str
    message: str


class LeasesDone(Shape, frozen=True, kw_only=True):
    """How many leases were used, and which could not be."""

    done: int
    refused: list[LeaseRefused]


class Messages(Shape, frozen=True, kw_only=True):
    """How many messages it concerned."""

    messages: int
