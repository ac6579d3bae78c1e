from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import resources
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError
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


_DECLARED = tomllib.loads(resources.path("events.toml").read_text(encoding="utf-8"))
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
    parts = [cause_text(event.cause)] if event.cause else []
    if event.to_topic:
        to = f"{event.to_topic}/{event.to_partition}" if event.to_partition is not None else event.to_topic
        at = "" if event.to_offset is None else f" at {event.to_offset:,}"
        parts.append(tr("to {place}", place=to + at))
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
    """What the detail of an event has under a name: one text or several, and the session time if it is a moment."""

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


def event_line(event: Event) -> str:
    group = "" if event.group == event.topic else event.group  # a queue is called as its topic
    who = " ".join(part for part in (group, event.client) if part)
    attempt = "" if event.attempt is None else tr("attempt {number}", number=event.attempt)
    words = [f"#{event.seq:,}", session_time(event.time_ns), event_word(event), place_text(event), who]
    rest = "; ".join(part for part in (attempt, about(event)) if part)
    return " ".join([word for word in words if word] + ([f"({rest})"] if rest else []))


# Sentences of the core, which recordings keep in English, are said in the language of the program.
_WRITTEN = tomllib.loads(resources.path("sentences.toml").read_text(encoding="utf-8"))
_NUMBERS = frozenset({"count", "factor", "most", "rate", "time"})
_WITHOUT_SPACES = frozenset({"error", "group", "queue", "topic"})


def _pattern(text: str) -> re.Pattern[str]:
    def value(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{r'[^ ]+' if found[1] in _WITHOUT_SPACES else '.+'})"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", value, re.escape(text)))


# Parts of rules are words such as "of", which others use otherwise.
_RULES = [(_pattern(text), text) for text in _WRITTEN.pop("rules_of_faults").values()]
_PARTS_OF_RULES = frozenset({"messages", "requests", "what"})
_SENTENCES = [(_pattern(text), text) for part in _WRITTEN.values() for text in part.values()]


def error_text(error: BaseException) -> str:
    """`str(error)`; what has happened is translated, what it is about is as the broker has it."""
    said = error.code.sentence if isinstance(error, BrokerError) else ""
    return tr(said) + str(error).removeprefix(said)


def rule_text(what: str) -> str:
    """What a fault does, which is the rule of its requests or messages."""
    return _sentence(what, of_rules=True)


def cause_text(cause: str) -> str:
    """`cause`, or what was done, with each sentence translated that is the broker's own; clients use any wording."""
    return "; ".join(_sentence(part) for part in cause.split("; "))


def _sentence(text: str, of_rules: bool = False) -> str:
    known, values = _found(text, of_rules)
    if not known:
        return text

    def told(name: str, value: str) -> str:
        if name in _NUMBERS:
            return localized(value)
        if of_rules and name not in _PARTS_OF_RULES:
            return value
        return _sentence(value, of_rules or name == "rule")

    return tr(known, **{name: told(name, value) for name, value in values.items()})


@cache
def _found(text: str, of_rules: bool) -> tuple[str, dict[str, str]]:
    """The sentence of the core that `text` is, and its values; "" if it is none."""
    for pattern, known in _RULES if of_rules else _SENTENCES:
        if found := pattern.fullmatch(text):
            return known, found.groupdict()
    return "", {}
