"""Looks at every alert, and tells when one is raised and when it is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from broker_core.broker.occurrences import FIELDS, Occurrence, State, only_state, tester
from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.events import EventKind, EventStream
from broker_core.filters import FilterError, parse
from broker_core.settings import NotNegativeNumber
from broker_core.timers import Timers

MAX_NAME = 80


class Alert(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`when` asks named things, as in `lag("billing") > 100`; it must hold for `for_s` seconds of session time.

    Raises ValueError for a condition that cannot be read, or that needs an event.
    """

    name: str
    when: str
    for_s: NotNegativeNumber = 0.0

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MAX_NAME:
            raise ValueError(f"the name of an alert has 1 to {MAX_NAME} characters")
        try:
            condition = parse(self.when, FIELDS)
        except FilterError as error:
            raise ValueError(str(error)) from error
        if condition.takes_all or not only_state(condition):
            raise ValueError('an alert refers to things by name, as in lag("billing") > 100')

    @property
    def condition(self) -> str:
        return f"{self.when} for {self.for_s:g} s" if self.for_s else self.when


LOOK_EVERY_NS = NS_PER_S // 4


@dataclass(slots=True)
class _Watched:
    alert: Alert
    holds: Callable[[Occurrence], bool]
    since_ns: int | None = None
    raised: bool = False


class AlertWatch:
    """Emits `alert_raised` once when a condition has held for its time, and `alert_over` when it holds no more.

    With `timers` it looks four times a second of session time, else when `look` is called. Without an alert it takes no
    time and has no timer.
    """

    def __init__(self, timers: Timers | None, events: EventStream, state: Callable[[], State]) -> None:
        self._timers = timers
        self._events = events
        self._state = state
        self._watched: dict[str, _Watched] = {}
        self._looking = False

    def get(self, name: str) -> Alert | None:
        found = self._watched.get(name)
        return None if found is None else found.alert

    def set(self, now_ns: int, alert: Alert) -> None:
        self.remove(now_ns, alert.name)
        self._watched[alert.name] = _Watched(alert, tester(parse(alert.when, FIELDS)))
        if self._timers is not None and not self._looking:
            self._looking = True
            self._timers.at(now_ns + LOOK_EVERY_NS, self._look)

    def remove(self, now_ns: int, name: str) -> None:
        """Watch for it no more; one that was raised is over."""
        watched = self._watched.pop(name, None)
        if watched is not None and watched.raised:
            self._tell(now_ns, EventKind.ALERT_OVER, watched)

    def _look(self, now_ns: int) -> None:
        assert self._timers is not None
        self.look(now_ns)
        self._looking = bool(self._watched)
        if self._looking:
            self._timers.at(now_ns + LOOK_EVERY_NS, self._look)

    def look(self, now_ns: int) -> None:
        if not self._watched:
            return
        now = Occurrence(None, "", self._state())
        for watched in tuple(self._watched.values()):
            if not watched.holds(now):
                if watched.raised:
                    self._tell(now_ns, EventKind.ALERT_OVER, watched)
                watched.since_ns, watched.raised = None, False
                continue
            if watched.since_ns is None:
                watched.since_ns = now_ns
            if not watched.raised and now_ns - watched.since_ns >= ns_from_s(watched.alert.for_s):
                watched.raised = True
                self._tell(now_ns, EventKind.ALERT_RAISED, watched)

    def _tell(self, now_ns: int, kind: EventKind, watched: _Watched) -> None:
        alert = watched.alert
        self._events.emit(
            now_ns,
            kind,
            cause=alert.name,
            detail={"when": alert.when, "for_s": alert.for_s, "since_ns": watched.since_ns},
        )
