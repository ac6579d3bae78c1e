"""Counts per client, computed from the event stream; identical live and when a recording is folded."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from broker_core.events import Event, EventKind
from broker_core.operations.request import Request, Result
from broker_core.simulation.durations import Duration
from broker_core.snapshots import ActorView


class _Counts(msgspec.Struct):
    processed: int = 0
    failed: int = 0
    rejected: int = 0
    dropped: int = 0
    outcome: str = ""


#: What each kind of event adds to, and what is then the outcome of its client's last message.
_ADDS = {
    EventKind.PUBLISHED: ("processed", ""),
    EventKind.ACKNOWLEDGED: ("processed", None),
    EventKind.NACKED: ("failed", None),
    EventKind.LEASE_EXPIRED: ("failed", None),
    EventKind.REJECTED: ("rejected", EventKind.REJECTED.value),
    EventKind.DROPPED: ("dropped", EventKind.DROPPED.value),
    EventKind.DEAD_LETTERED: ("failed", EventKind.DEAD_LETTERED.value),
}


class ClientCounts:
    """A sink of the event stream. `counted(view)` is the view of an actor with its counts, in messages."""

    def __init__(self, actors: Iterable[ActorView] = ()) -> None:
        self._clients = {
            actor.name: _Counts(actor.processed, actor.failed, actor.rejected, actor.dropped, actor.outcome)
            for actor in actors
        }

    def __call__(self, event: Event) -> None:
        kind = event.kind
        if kind is EventKind.CLIENT_STARTED:
            self._clients.pop(event.client, None)
        # A dead letter of no group is one that a schema has sent there, and not to where it was published.
        if kind not in _ADDS or (kind is EventKind.DEAD_LETTERED and event.group):
            return
        counts = self._clients.get(event.client)
        if counts is None:
            counts = self._clients[event.client] = _Counts()
        field, outcome = _ADDS[kind]
        setattr(counts, field, getattr(counts, field) + event.count)
        counts.outcome = counts.outcome if outcome is None else outcome

    def counted(self, view: ActorView) -> ActorView:
        counts = self._clients.get(view.name) or _Counts()
        return msgspec.structs.replace(view, **msgspec.structs.asdict(counts))


class ClientSettings(Result, frozen=True, kw_only=True):
    """`rate_per_s` is None for a producer with the rate of its scenario; `takes` for one that works on no message."""

    rate_per_s: float | None
    takes: Duration | None


class DescribeClient(Request[ClientSettings], frozen=True, kw_only=True):
    """A producer, consumer or worker of the scenario; only a simulation answers."""

    client: str
