from __future__ import annotations

from typing import Annotated, Self

from msgspec import Meta

from broker_core.clock import NS_PER_MS
from broker_core.operations.entry import Entry
from broker_core.operations.fields import Cause, Client, Encoding, JsonValue, Name, WaitMs
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import READ, Right
from broker_core.operations.values import shown
from broker_core.queues.lease import Lease

LeaseToken = Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,16}\.[0-9]{1,6}\.[a-zA-Z0-9._@:-]{1,300}$")]
Leases = Annotated[list[LeaseToken], Meta(min_length=1, max_length=10_000)]


def lease_token(partition: int, offset: int, attempt: int, holder: str) -> str:
    return f"{partition}.{offset}.{attempt}.{holder}"


class Delivery(Result, frozen=True, kw_only=True):
    """A message, and the lease that acknowledges, refuses, extends or releases it."""

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

    @classmethod
    def of(cls, lease: Lease, now_ns: int, wanted: Encoding) -> Self:
        stored = lease.message
        return cls(
            lease=lease_token(lease.partition, lease.offset, lease.attempt, lease.holder),
            attempt=lease.attempt,
            lease_ms=max(0, (lease.deadline_ns - now_ns) // NS_PER_MS),
            partition=lease.partition,
            offset=lease.offset,
            timestamp_ms=stored.timestamp_ms,
            **shown(stored, wanted),
        )


class Taken(Result, frozen=True, kw_only=True):
    """Messages; empty if none came in time."""

    deliveries: list[Delivery]


class LeaseRefused(Result, frozen=True, kw_only=True):
    lease: str
    error: str
    message: str


class LeasesDone(Result, frozen=True, kw_only=True):
    done: int
    refused: list[LeaseRefused]


class Take(Request[Taken], frozen=True, kw_only=True):
    """At most `max_messages`; waits up to `timeout_ms` for the first."""

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


_READ = (Right(READ, "queue", "queue"),)


def _entry(request: type[Request[LeasesDone]] | type[Take], verb: str, title: str) -> Entry:
    return Entry(
        request,
        f"POST /v1/queues/{{queue}}/{verb}",
        title,
        "Queues",
        _READ,
        mode="parked",
        served_by="listener",
        errors=(409,),
    )


ENTRIES = (
    _entry(Take, "take", "Take messages; each is leased to the caller"),
    _entry(Ack, "ack", "Acknowledge messages: the work is done"),
    _entry(
        Nack,
        "nack",
        "Refuse messages: they are delivered again by the queue's retry policy, or become dead letters",
    ),
    _entry(Extend, "extend", "Extend leases"),
    _entry(Release, "release", "Release messages, as if they had not been delivered"),
)
