"""The broker as a whole."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_core.events import EventKind
from broker_core.listeners.http.models.basics import Name, Request, Shape

_KINDS = "|".join(EventKind)


class TotalsAnswer(Shape, frozen=True, kw_only=True):
    """What the broker has counted since it was opened, in messages."""

    published: int
    delivered: int
    acknowledged: int
    redelivered: int
    dead_lettered: int
    redriven: int
    rejected: int
    dropped: int
    expired: int
    evicted: int
    purged: int
    rebalances: int


class BrokerAnswer(Shape, frozen=True, kw_only=True):
    """The broker. `damage` is what was found damaged on the disk, in sentences, the oldest first."""

    version: str
    uptime_ms: int
    durability: str
    events: int
    connections: int
    totals: TotalsAnswer
    damage: list[str]


class ConnectionAnswer(Shape, frozen=True, kw_only=True):
    """An open connection at any listener; sizes in bytes, rates a second."""

    id: int
    listener: str
    peer: str
    client: str
    principal: str
    age_ms: int
    quiet_ms: int
    requests: int
    messages_in: int
    messages_out: int
    bytes_in: int
    bytes_out: int
    requests_per_s: float
    bytes_in_per_s: float
    bytes_out_per_s: float
    errors: int
    last_error: str


class ConnectionsAnswer(Shape, frozen=True, kw_only=True):
    """In the order in which they came."""

    connections: list[ConnectionAnswer]


class EventQuery(Request, frozen=True, kw_only=True):
    """Which events: of these kinds (names with commas between), of one topic or queue, of one group. All, without."""

    kinds: Annotated[str, Meta(pattern=rf"^(({_KINDS})(,({_KINDS}))*)?$", max_length=1_000)] = ""
    topic: Name | None = None
    group: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=1_000_000, description="End the stream after so many events")] | None = None


class SlowQuery(Request, frozen=True, kw_only=True):
    """How far behind is slow: in messages, or in milliseconds."""

    max_lag: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    max_lag_ms: Annotated[int, Meta(ge=0, le=1 << 43)] | None = None


class SlowReaderAnswer(Shape, frozen=True, kw_only=True):
    """A group or queue that is behind in one partition."""

    reader: str
    client: str
    topic: str
    partition: int
    lag: int
    lag_ms: int


class SlowReadersAnswer(Shape, frozen=True, kw_only=True):
    """The furthest behind first."""

    slow_readers: list[SlowReaderAnswer]
