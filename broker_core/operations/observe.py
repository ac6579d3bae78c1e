from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from broker_core.events import Event, EventKind
from broker_core.filters.parser import MAX_CHARS
from broker_core.operations.entry import ADMIN, READ, Entry, Right, declaring
from broker_core.operations.fields import Name, Number
from broker_core.operations.request import Input, Request, Result
from broker_core.settings import about
from broker_core.snapshots import ConnectionView, SlowReader, Snapshot, Totals

_KINDS = "|".join(EventKind)


class BrokerAnswer(Result, frozen=True, kw_only=True):
    """The broker. `damage` holds a sentence for each corruption found on the disk, the oldest first."""

    version: str
    uptime_ms: int
    durability: str
    events: int
    connections: int
    totals: Totals
    damage: list[str]


class EventQuery(Input, frozen=True, kw_only=True):
    """A selection of events: of some kinds (separated by commas), of one topic or queue, of one group."""

    kinds: Annotated[str, Meta(pattern=rf"^(({_KINDS})(,({_KINDS}))*)?$(?!\n)", max_length=1_000)] = ""
    topic: Name | None = None
    group: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=1_000_000, description="End the stream after this many events")] | None = None


class Observed(Result, frozen=True, kw_only=True):
    """The state of the broker, and the events before it, of which `missed` more are not kept.

    Times are nanoseconds since it was opened, which was at `epoch_ms` in Unix time. `refused` has operations, by the
    names that they have here, that the broker does for nobody, and why.
    """

    epoch_ms: int
    missed: int
    events: list[Event]
    snapshot: Snapshot
    connections: tuple[ConnectionView, ...] = ()
    refused: dict[str, str] = msgspec.field(default_factory=dict)


ENTRIES: list[Entry] = []
_operation = declaring(ENTRIES, tag="Broker", rights=(Right(READ, "broker"),))


@_operation("GET /v1/broker", "Describe the broker: uptime, durability and totals", served_by="listener")
class DescribeBroker(Request[BrokerAnswer], frozen=True, kw_only=True):
    """The broker as it is now."""


@_operation(
    "GET /v1/observe",
    "Get the whole state, and all events since an earlier one",
    rights=(Right(ADMIN, "broker"),),
    mode="slow",
)
class ObserveBroker(Request[Observed], frozen=True, kw_only=True):
    """Get the events after the first `seen`, which an earlier reply calls `snapshot.events`.

    The broker keeps its last events from the first such request on, which needs no `seen`.
    """

    seen: Number | None = None


@_operation("GET /v1/connections", "List the open connections of all listeners", served_by="listener")
class ListConnections(Request[list[ConnectionView]], frozen=True, kw_only=True):
    """Open connections."""


@_operation(
    "DELETE /v1/connections/{connection}",
    "Cut a connection",
    rights=(Right(ADMIN, "broker"),),
    served_by="listener",
    repeatable=True,
)
class CutConnection(Request[None], frozen=True, kw_only=True):
    connection: Number


@_operation("GET /v1/damage", "List corruption found on the disk")
class ListDamage(Request[list[str]], frozen=True, kw_only=True):
    """A sentence for each corruption found when the broker was opened, and since, the oldest first."""


@_operation("GET /v1/slow-readers", "List groups and queues whose lag is above the limits, the largest first")
class ListSlowReaders(Request[list[SlowReader]], frozen=True, kw_only=True):
    """Readers that lag by more than `max_lag` messages or `max_lag_ms` are slow."""

    max_lag: Annotated[int, Meta(ge=0, le=1 << 53), about("greatest lag in messages")] = 0
    max_lag_ms: Annotated[int, Meta(ge=0, le=1 << 43)] | None = None


class VerdictAnswer(Result, frozen=True, kw_only=True):
    """Whether a promise holds. `explanation` says so, and what is wrong, each with the life of its message."""

    name: str
    holds: bool
    explanation: str


@_operation(
    "GET /v1/audit",
    "Judge whether anything was lost, delivered twice or out of order",
    mode="slow",
    errors=(409,),
    details="Only on a broker that is opened for tests, which keeps all its events.",
)
class AuditBroker(Request[list[VerdictAnswer]], frozen=True, kw_only=True):
    """Whether anything was lost, delivered twice, delivered out of order, or is not done yet."""


class ConditionAnswer(Result, frozen=True, kw_only=True):
    """Whether the condition came to hold in time; `what` fits it, or is the state at the end, in words."""

    holds: bool
    what: str


@_operation(
    "POST /v1/wait",
    "Wait until a condition holds",
    mode="parked",
    details="Responds after `timeout_ms` at the latest; `holds` says whether the condition is met.",
)
class WaitUntil(Request[ConditionAnswer], frozen=True, kw_only=True):
    """A condition on a group, queue or topic as it is, or on an event and the state right after it.

    `kind = group and lag = 0`, `group = "billing" and state = Stable`, `~dlq`.
    """

    condition: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_CHARS,
            examples=['group = "billing" and lag = 0'],
            description="In the language of the window's filters",
        ),
    ]
    timeout_ms: Annotated[int, Meta(ge=0, le=600_000)] = 5_000
