"""The end of a test in some lines: members, rebalances, faults and errors, and the last messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.logs import Logs
from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError
from broker_core.events import MESSAGE_KINDS, Event, EventKind, what_happened

MAX_CONTROL = 25
MAX_MESSAGES = 10
VALUE_CHARACTERS = 60
_SAME = ("kind", "topic", "partition", "client", "group", "attempt", "cause")
# What rebalances say, too.
_NOT_TOLD = frozenset({EventKind.SESSION_STARTED, EventKind.SESSION_ENDED, EventKind.GROUP_STATE})


def timeline(events: Sequence[Event], broker: Broker, now_ns: int | None) -> str:
    """A line an event, with the value of its first message where the broker still has it; then the state, in words.

    Needs the broker's lock. `now_ns` is None for a broker that is closed, whose state is not told.
    """
    control = [event for event in events if event.kind not in MESSAGE_KINDS and event.kind not in _NOT_TOLD]
    messages = list(_runs(event for event in events if event.kind in MESSAGE_KINDS))
    told = sorted([*control[-MAX_CONTROL:], *messages[-MAX_MESSAGES:]], key=lambda event: event.seq)
    lines: list[str] = []
    for event in told:
        value = _value(event, broker.logs) if event.kind in MESSAGE_KINDS else None
        lines.append(f"{s_from_ns(event.time_ns):9.3f} s {what_happened(event)}{_shown(value)}{_places(event)}")
    if not lines:
        lines.append("Nothing happened in it.")
    if now_ns is not None:
        lines.append(f"At the end: {broker.conditions.words(now_ns)}.")
    return "\n".join(lines)


def _runs(events: Iterable[Event]) -> Iterator[Event]:
    """Of messages that follow each other and have met the same, one event."""
    run: Event | None = None
    for event in events:
        if run is not None and _follows(run, event):
            run = msgspec.structs.replace(run, count=run.count + event.count)
            continue
        if run is not None:
            yield run
        run = event
    if run is not None:
        yield run


def _follows(run: Event, event: Event) -> bool:
    same = all(getattr(run, name) == getattr(event, name) for name in _SAME)
    return same and run.offset is not None and event.offset == run.offset + run.count


def _value(event: Event, logs: Logs) -> bytes | None:
    if event.partition is None or event.offset is None:
        return None
    try:
        found = logs.partition(event.topic, event.partition).read(event.offset, max_messages=1)
    except BrokerError:  # it is deleted, or damaged
        return None
    return found[0].value if found and found[0].offset == event.offset else None


def _shown(value: bytes | None) -> str:
    if value is None:
        return ""
    text = repr(value.decode(errors="replace"))
    return f"  {text if len(text) <= VALUE_CHARACTERS else f'{text[:VALUE_CHARACTERS]}...'}"


def _places(event: Event) -> str:
    places = (event.detail or {}).get("partitions")
    return (
        ""
        if not isinstance(places, list | tuple)
        else f"  {', '.join(f'{topic}/{number}' for topic, number in places)}"
    )
