"""What schemas refused, gathered from the event stream: one line for each topic, producer and reason."""

from __future__ import annotations

from typing import NamedTuple

from broker_core.events import Event, EventKind
from widgets.words import tr

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
    first_ns: int
    last_ns: int


class RefusalFeed:
    """A sink of the event stream; called by the engine's thread, read by the window's."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], Refusal] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        became = _KINDS.get(event.kind)
        if became is None or not event.cause.startswith("schema "):
            return
        key = (event.topic, event.client, event.cause, became)
        found = self._found.get(key)
        if found is None and len(self._found) >= ROWS_MAX:
            key = ("", "", tr("other reasons"), became)
            found = self._found.get(key)
        count = max(1, event.count)
        self._found[key] = (
            Refusal(*key, count, event.time_ns, event.time_ns)
            if found is None
            else found._replace(messages=found.messages + count, last_ns=event.time_ns)
        )

    def rows(self, until_ns: int) -> tuple[Refusal, ...]:
        """What was refused first at `until_ns` or before, the latest on top."""
        rows = [row for row in tuple(self._found.values()) if row.first_ns <= until_ns]
        return tuple(sorted(rows, key=lambda row: -row.last_ns))
