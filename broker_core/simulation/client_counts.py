"""What each client has done, counted from the event stream: the same live and when a recording is folded."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from broker_core.events import Event, EventKind
from broker_core.snapshots import ActorView


class _Counts(msgspec.Struct):
    processed: int = 0
    failed: int = 0
    rejected: int = 0
    dropped: int = 0
    outcome: str = ""


_FAILED = frozenset({EventKind.NACKED, EventKind.LEASE_EXPIRED})


class ClientCounts:
    """A sink of the event stream. `counted(view)` is the view of an actor with its counts, in messages."""

    def __init__(self, actors: Iterable[ActorView] = ()) -> None:
        self._clients = {
            actor.name: _Counts(actor.processed, actor.failed, actor.rejected, actor.dropped, actor.outcome)
            for actor in actors
        }

    def __call__(self, event: Event) -> None:
        kind = event.kind
        if kind is EventKind.PUBLISHED:
            counts = self._of(event)
            counts.processed += event.count
            counts.outcome = ""
        elif kind is EventKind.ACKNOWLEDGED:
            self._of(event).processed += event.count
        elif kind in _FAILED:
            self._of(event).failed += event.count
        elif kind is EventKind.REJECTED:
            counts = self._of(event)
            counts.rejected += event.count
            counts.outcome = kind.value
        elif kind is EventKind.DROPPED:
            counts = self._of(event)
            counts.dropped += event.count
            counts.outcome = kind.value
        elif kind is EventKind.DEAD_LETTERED and not event.group:
            # A schema has sent it there, and not to where it was published.
            counts = self._of(event)
            counts.failed += event.count
            counts.outcome = kind.value
        elif kind is EventKind.CLIENT_STARTED:
            self._clients.pop(event.client, None)

    def _of(self, event: Event) -> _Counts:
        counts = self._clients.get(event.client)
        if counts is None:
            counts = self._clients[event.client] = _Counts()
        return counts

    def counted(self, view: ActorView) -> ActorView:
        counts = self._clients.get(view.name) or _Counts()
        return msgspec.structs.replace(view, **msgspec.structs.asdict(counts))
