"""The end of a test in some lines: members, rebalances, faults and errors, and the last messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, islice

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.logs import Logs
from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError
from broker_core.events import MESSAGE_KINDS, Event, EventKind, what_happened

MAX_CONTROL = 25
MAX_MESSAGES = 10
MAX_NOTES = 40  # the last ones
MAX_DECISIVE = 20  # of what a verdict names, beside those
VALUE_CHARACTERS = 60
_SAME = ("kind", "topic", "partition", "client", "group", "attempt", "cause")
# What rebalances say, too.
_NOT_TOLD = frozenset({EventKind.SESSION_STARTED, EventKind.SESSION_ENDED, EventKind.GROUP_STATE})
_CREATED = frozenset({EventKind.TOPIC_CREATED, EventKind.QUEUE_CREATED})
# What all that follows depends on.
_BASIC = _CREATED | {
    *(EventKind.TOPIC_DELETED, EventKind.RECORDS_DELETED, EventKind.OFFSETS_RESET),
    *(EventKind.FAULT, EventKind.DAMAGE, EventKind.USER_ACTION),
}
MAX_BASIC = 15


class _Line(msgspec.Struct):
    """An event, or a run of messages as one, with the numbers of all that it stands for."""

    event: Event
    seqs: list[int]


def timeline(
    events: Sequence[Event],
    broker: Broker,
    now_ns: int | None,
    *,
    decisive: Iterable[Event] = (),
    groups: Iterable[str] = (),
    notes: Sequence[tuple[int, str]] = (),
    whole: bool = False,
) -> str:
    """A line an event, with the value of its first message where the broker still has it; then the state, in words.

    `notes` are lines of programs and errors of requests, each with its time.
    Of many events the first that are `decisive`, what concerns their groups and `groups`, and the last ones are told,
    and it is said how many are not; all are with `whole`. Needs the broker's lock. `now_ns` is None for a broker that
    is closed, whose state is not told.
    """
    named = dict(islice({event.seq: event for event in decisive}.items(), MAX_DECISIVE))
    known = {**{event.seq: event for event in events}, **named}
    lines = _lines(known[seq] for seq in sorted(known))
    kept = {line.event.seq for line in (lines if whole else _chosen(lines, named, set(groups)))}
    told: list[str] = []
    later = deque(sorted(notes, key=lambda note: note[0])[-MAX_NOTES:])
    for is_kept, part in groupby(lines, key=lambda line: line.event.seq in kept):
        alike = list(part)
        if not is_kept:
            told.append(f"{'...':>11} {len(alike)} more")
            continue
        for line in alike:
            while later and later[0][0] < line.event.time_ns:
                told.append(_noted(later.popleft()))
            told.append(_told(line.event, broker.logs))
    told += map(_noted, later)
    if not lines:
        told.append("Nothing happened in it.")
    left_out = len(lines) - len(kept)
    if left_out:
        told.append(f"{left_out} of {len(lines)} lines are left out; timeline(whole=True) and the recording have them.")
    if now_ns is not None:
        told.append(f"At the end: {broker.conditions.words(now_ns)}.")
    return "\n".join(told)


def _noted(note: tuple[int, str]) -> str:
    return f"{s_from_ns(note[0]):9.3f} s {note[1]}"


def _told(event: Event, logs: Logs) -> str:
    value = _value(event, logs) if event.kind in MESSAGE_KINDS else None
    return f"{s_from_ns(event.time_ns):9.3f} s {what_happened(event)}{_shown(value)}{_places(event)}"


def _chosen(lines: Sequence[_Line], named: Collection[int], groups: set[str]) -> list[_Line]:
    messages = [line for line in lines if line.event.kind in MESSAGE_KINDS]
    decisive = [line for line in lines if any(seq in named for seq in line.seqs)]
    told = [*decisive, *messages[-MAX_MESSAGES:]]
    topics = {line.event.topic for line in told}
    groups = groups | {line.event.group for line in decisive} - {""}
    # The last control events come first, in this order.
    ranks: tuple[list[_Line], ...] = ([], [], [], [])
    for line in reversed([line for line in lines if line.event.kind not in MESSAGE_KINDS]):
        event = line.event
        if event.kind in _CREATED and event.topic in topics:
            ranks[0].append(line)
        elif event.group in groups or (event.kind in _BASIC and len(ranks[1]) < MAX_BASIC):
            ranks[1].append(line)
        else:
            ranks[3 if event.kind in _BASIC else 2].append(line)
    return [*told, *[line for rank in ranks for line in rank][:MAX_CONTROL]]


def _lines(events: Iterable[Event]) -> list[_Line]:
    """A line an event; of messages that follow each other and have met the same, one line."""
    lines: list[_Line] = []
    run = -1  # the place of the last messages
    for event in events:
        if event.kind in _NOT_TOLD:
            continue
        if event.kind in MESSAGE_KINDS:
            if run >= 0 and _follows(lines[run].event, event):
                lines[run].event = msgspec.structs.replace(lines[run].event, count=lines[run].event.count + event.count)
                lines[run].seqs.append(event.seq)
                continue
            run = len(lines)
        lines.append(_Line(event, [event.seq]))
    return lines


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
    places = event.told.get("partitions")
    if not isinstance(places, list | tuple):
        return ""
    return f"  {', '.join(f'{topic}/{number}' for topic, number in places)}"
