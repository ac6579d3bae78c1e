"""Looking on: events as they happen, and the figures."""

from __future__ import annotations

from broker_core.broker.views import SlowReader
from broker_core.events import Event
from broker_core.snapshots import Totals
from broker_core.wire.body import Body, Int32, Int64, Millis


class TailEvents(Body, frozen=True):
    """Events from number `from_seq` on (-1: from now on), at most so many; where there is none, waits for the first.

    A broker keeps the last few thousand since somebody asked for the first time.
    """

    from_seq: int
    max_events: Int32
    wait_ms: Millis


class Events(Body, frozen=True):
    """`next_seq` is where to go on; `missed` were there but are kept no longer."""

    events: tuple[Event, ...]
    next_seq: int
    missed: int


class Metrics(Body, frozen=True):
    """Figures of the broker as a whole."""


class MetricsReply(Body, frozen=True):
    """Totals in messages, since the broker's session began `now_ns` ago; open connections of all listeners."""

    now_ns: int
    totals: Totals
    topics: int
    queues: int
    groups: int
    connections: int


class ListDamage(Body, frozen=True):
    """What was found damaged on the disk, in sentences."""


class SlowReaders(Body, frozen=True):
    """See `Broker.slow_readers`."""

    max_lag: Int64 | None
    max_lag_ns: Int64 | None


class SlowReadersReply(Body, frozen=True):
    """The furthest behind first."""

    readers: tuple[SlowReader, ...]
