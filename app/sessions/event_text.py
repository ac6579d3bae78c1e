from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import resources
from app.sessions.core_sentences import cause_text, rule_text
from broker_core.clock import ns_from_ms
from broker_core.events import WITHDRAWN, Event, EventKind, is_users
from resources.outcomes import OUTCOMES
from widgets.formats import byte_size, duration, per_second, plain_text, session_time
from widgets.i18n import localized, mark, tr


class KindInfo(NamedTuple):
    """Properties of a kind of event in the window, as `resources/events.toml` describes them."""

    word: str
    choice: str = ""
    lane: str = ""
    tick: str = ""


_DECLARED = resources.table("events.toml")
KINDS: dict[EventKind, KindInfo] = {
    **{EventKind(kind): KindInfo(**info) for kind, info in _DECLARED["kinds"].items()},
    **{EventKind(kind): KindInfo(word, "failures") for kind, word in OUTCOMES.items()},
}
_DETAILS: dict[str, str] = _DECLARED["details"]["words"]
_MOMENTS = frozenset({"began_ns", "from_ns", "heard_ns", "since_ns", "started_ns", "until_ns"})
_UNIT = re.compile("_(ns|ms|per_s|s)$")
_UNIX_TIMES = frozenset({"at_ms", "timestamp_ms"})


def kinds_of(choice: str) -> frozenset[EventKind]:
    return frozenset(kind for kind, info in KINDS.items() if info.choice == choice)


def kind_word(kind: EventKind) -> str:
    return KINDS[kind].word if kind in KINDS else str(kind).replace("_", " ").capitalize()


def event_word(event: Event) -> str:
    """The event's kind as a state word: a message withdrawn by an undo was not purged, and scheduled actions are not
    the user's."""
    if event.kind is EventKind.PURGED and event.cause == WITHDRAWN:
        return mark("Withdrawn")
    if event.kind is EventKind.USER_ACTION and not is_users(event):
        return mark("Scheduled")
    return kind_word(event.kind)


def place_text(event: Event) -> str:
    """Where: topic, partition and offsets, as far as the event has them."""
    if event.partition is None:
        return event.topic
    where = f"{event.topic}/{event.partition}"
    return where if event.offset is None else _run_text(where, event.offset, event.count)


def _run_text(where: str, first: int, count: int) -> str:
    if count > 1:
        return tr("{where} at {first:,} to {last:,}", where=where, first=first, last=first + count - 1)
    return tr("{where} at {offset:,}", where=where, offset=first)


def about(event: Event) -> str:
    """Details that the columns do not show: the cause, the destination, the detail of a control event."""
    parts = [cause_of(event)] if event.cause else []
    if event.to_topic:
        to = f"{event.to_topic}/{event.to_partition}" if event.to_partition is not None else event.to_topic
        parts.append(tr("to {place}", place=to if event.to_offset is None else _run_text(to, event.to_offset, 1)))
    if event.generation is not None and event.generation >= 0:
        parts.append(tr("generation {number}", number=event.generation))
    # The cause of an action is its sentence, as that of a silence says whether it is over.
    if event.kind is not EventKind.USER_ACTION:
        parts += [
            plain_text(f"{each.label} {', '.join(each.words)}".encode(errors="replace"), 80)
            for each in details(event.detail)
            if each.name != "is_over"
        ]
    return "; ".join(parts)


class Detail(NamedTuple):
    """A named value in the detail of an event: one text or several, and the session time if it is a moment."""

    name: str
    label: str
    words: list[str]
    time_ns: int | None = None


def details(detail: dict[str, Any] | None, of: str = "") -> Iterator[Detail]:
    """All that is not empty, in words, with units."""
    for name, value in (detail or {}).items():
        plain = _UNIT.sub("", name)
        label = of + (tr(_DETAILS[plain]) if plain in _DETAILS else plain.replace("_", " "))
        if value in (None, "") or (plain != name and not value and name not in _MOMENTS):
            continue
        if isinstance(value, dict):
            yield from details(value, f"{label}: ")
        elif isinstance(value, list | tuple):
            if words := [_row(name, each) for each in value]:
                yield Detail(name, label, words)
        elif name in _MOMENTS:
            yield Detail(name, label, [session_time(value)], value)
        else:
            yield Detail(name, label, [_value(name, value)])


def _row(name: str, row: object) -> str:
    if not isinstance(row, list | tuple):
        return _value("", row)
    match row:
        case [str(topic), int(partition), int(first), *count] if name in {"aborted", "markers"}:
            return _run_text(f"{topic}/{partition}", first, sum(count))
        case [str(topic), int(partition), *rest]:
            found = (_row("", each) for each in rest)
            return " ".join([f"{topic}/{partition}", *([" → ".join(found)] if name == "changes" else found)])
    return ", ".join(_row("", each) for each in row)


def _value(name: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return tr("yes") if value else tr("none") if value is None else tr("no")
    if name in {"fault", "ended"}:
        return plain_text(rule_text(value).encode(errors="replace"), 2_000)
    if name == "bytes_per_s":
        return f"{byte_size(value)}/s"
    if name.endswith("_bytes"):
        return byte_size(value)
    if name.endswith("_per_s"):
        return f"{per_second(value)}/s"
    if name.endswith("_ms") and name not in _UNIX_TIMES:
        return duration(ns_from_ms(value))
    if name.endswith("_s"):
        return localized(f"{value:g} s")
    return plain_text(str(value).encode(errors="replace"), 2_000)


def cause_of(event: Event) -> str:
    """The cause of an event in words; for a fault, what it does, or that it is over."""
    return rule_text(event.cause) if event.kind is EventKind.FAULT else cause_text(event.cause)


def event_line(event: Event) -> str:
    group = "" if event.group == event.topic else event.group  # a queue is called as its topic
    who = " ".join(part for part in (group, event.client) if part)
    attempt = "" if event.attempt is None else tr("attempt {number}", number=event.attempt)
    words = [f"#{event.seq:,}", session_time(event.time_ns), event_word(event), place_text(event), who]
    rest = "; ".join(part for part in (attempt, about(event)) if part)
    return " ".join([word for word in words if word] + ([f"({rest})"] if rest else []))
