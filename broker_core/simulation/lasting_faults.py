from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.events import EventKind, EventStream
from broker_core.snapshots import FaultView
from broker_core.timers import Timer


class _Lasting(msgspec.Struct):
    view: FaultView
    over: Callable[[], object]  # ends it, and emits the event
    timer: Timer | None


class LastingFaults:
    """Faults that have begun, by client and fault; each begin and end is a `fault` event."""

    def __init__(self, loop: Loop, events: EventStream) -> None:
        self._loop = loop
        self._events = events
        self._lasting: dict[tuple[str, str], _Lasting] = {}

    def begin(
        self, client: str, fault: str, what: str, for_s: float | None, end: Callable[[], object], *, ended: str = ""
    ) -> None:
        """`what` begins, in place of another of the same client and `fault`; with `for_s` it ends by itself."""
        place = (client, fault)
        self.drop(place)

        def over() -> None:
            self.emit(client, ended or f"{what} is over", {"ended": fault})
            end()

        now_ns, timer, until_ns = self._loop.now_ns, None, None
        if for_s is not None:
            until_ns = now_ns + ns_from_s(for_s)
            timer = self._loop.timers.at(until_ns, lambda _at: self.end(place))
        self._lasting[place] = _Lasting(FaultView(client, fault, what, now_ns, until_ns), over, timer)
        self.emit(client, what, {"fault": fault, "until_ns": until_ns})

    def end(self, place: tuple[str, str]) -> None:
        over = self._lasting[place].over
        self.drop(place)
        over()

    def drop(self, place: tuple[str, str]) -> bool:
        """Forget it without an event; whether it lasted."""
        lasting = self._lasting.pop(place, None)
        if lasting is not None and lasting.timer is not None:
            lasting.timer.cancel()
        return lasting is not None

    def of(self, client: str) -> list[tuple[str, str]]:
        return [place for place in self._lasting if place[0] == client]

    def views(self) -> tuple[FaultView, ...]:
        return tuple(each.view for each in self._lasting.values())

    def emit(self, client: str, cause: str, detail: dict[str, object] | None = None) -> None:
        self._events.emit(self._loop.now_ns, EventKind.FAULT, client=client, cause=cause, detail=detail)
