from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from app.sessions.history.series import Points
from broker_core.events import Event, EventKind
from widgets.i18n import tr

# Reasons name the place in the value, so there are few; a flood of others is counted together.
ROWS_MAX = 1_000
_KINDS = {EventKind.REJECTED: "refused", EventKind.DEAD_LETTERED: "dead-lettered"}


class Refusal(NamedTuple):
    """Messages of one producer that a schema refused for one reason. Times are session ns."""

    topic: str
    client: str
    cause: str
    became: str
    messages: int
    last_ns: int


class RefusalCollector:
    """A sink of the event stream; called by the engine's thread, read by the window's."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], Points] = {}

    kinds = frozenset(_KINDS)

    def __call__(self, event: Event) -> None:
        became = _KINDS.get(event.kind)
        if became is None or not event.cause.startswith("schema "):
            return
        key = (event.topic, event.client, event.cause, became)
        if key not in self._found and len(self._found) >= ROWS_MAX:
            key = ("", "", tr("other reasons"), became)
        self._found.setdefault(key, Points()).add(event.time_ns, max(1, event.count))

    def rows(self, until_ns: int) -> tuple[Refusal, ...]:
        """Messages refused by `until_ns`, the latest first."""
        rows = []
        for key, points in tuple(self._found.items()):
            number = bisect_right(points.lines, until_ns)
            if number:
                rows.append(Refusal(*key, int(points.values[number - 1]), points.lines[number - 1]))
        return tuple(sorted(rows, key=lambda row: -row.last_ns))
