"""Events in words."""

from __future__ import annotations

from broker_core.events import Event, EventKind
from resources.outcomes import OUTCOMES
from widgets.formats import plain_text, session_time
from widgets.i18n import mark, tr

KIND_WORDS: dict[EventKind, str] = {
    EventKind.PUBLISHED: mark("Published"),
    EventKind.DELIVERED: mark("Delivered"),
    EventKind.ACKNOWLEDGED: mark("Acknowledged"),
    EventKind.NACKED: mark("Nacked"),
    EventKind.RELEASED: mark("Released"),
    EventKind.LEASE_EXTENDED: mark("Lease extended"),
    EventKind.LEASE_EXPIRED: mark("Lease expired"),
    EventKind.DEAD_LETTERED: mark("Dead-lettered"),
    EventKind.REDRIVEN: mark("Redriven"),
    EventKind.PURGED: mark("Purged"),
    **{EventKind(kind): word for kind, word in OUTCOMES.items()},
    EventKind.SESSION_STARTED: mark("Session started"),
    EventKind.SESSION_ENDED: mark("Session ended"),
    EventKind.TOPIC_CREATED: mark("Topic created"),
    EventKind.TOPIC_DELETED: mark("Topic deleted"),
    EventKind.PARTITIONS_ADDED: mark("Partitions added"),
    EventKind.RECORDS_DELETED: mark("Records deleted"),
    EventKind.QUEUE_CREATED: mark("Queue created"),
    EventKind.CLIENT_STARTED: mark("Client started"),
    EventKind.CLIENT_STOPPED: mark("Client stopped"),
    EventKind.MEMBER_JOINED: mark("Member joined"),
    EventKind.MEMBER_LEFT: mark("Member left"),
    EventKind.GROUP_STATE: mark("Group state"),
    EventKind.REBALANCE_STARTED: mark("Rebalance started"),
    EventKind.PARTITIONS_REVOKED: mark("Partitions revoked"),
    EventKind.PARTITIONS_ASSIGNED: mark("Partitions assigned"),
    EventKind.REBALANCE_COMPLETED: mark("Rebalance completed"),
    EventKind.OFFSETS_RESET: mark("Offsets reset"),
    EventKind.PRODUCER_BLOCKED: mark("Producer blocked"),
    EventKind.PRODUCER_UNBLOCKED: mark("Producer unblocked"),
    EventKind.TRANSACTION_STARTED: mark("Transaction started"),
    EventKind.TRANSACTION_ENDED: mark("Transaction ended"),
    EventKind.FAULT: mark("Fault"),
    EventKind.DAMAGE: mark("Damage"),
    EventKind.USER_ACTION: mark("My action"),
}


def kind_word(kind: EventKind) -> str:
    """The kind as a state word."""
    return KIND_WORDS.get(kind) or str(kind).replace("_", " ").capitalize()


def place_text(event: Event) -> str:
    """Where: topic, partition and offsets, as far as the event has them."""
    if event.partition is None:
        return event.topic
    where = f"{event.topic}/{event.partition}"
    if event.offset is None:
        return where
    if event.count > 1:
        return tr(
            "{where} at {first:,} to {last:,}", where=where, first=event.offset, last=event.offset + event.count - 1
        )
    return tr("{where} at {offset:,}", where=where, offset=event.offset)


def about(event: Event) -> str:
    """What the columns do not show: the cause, the destination, the detail of a control event."""
    parts = [event.cause] if event.cause else []
    if event.to_topic:
        to = f"{event.to_topic}/{event.to_partition}" if event.to_partition is not None else event.to_topic
        at = "" if event.to_offset is None else f" at {event.to_offset:,}"
        parts.append(tr("to {place}", place=to + at))
    if event.generation is not None:
        parts.append(tr("generation {number}", number=event.generation))
    detail = event.detail or {}
    # The cause of an action is its sentence.
    if event.kind is not EventKind.USER_ACTION:
        parts += [
            f"{name.replace('_', ' ')} {_short(value)}" for name, value in detail.items() if value not in (None, "")
        ]
    return "; ".join(parts)


def event_line(event: Event) -> str:
    """One event in a line: number, time, what, where, who, and the rest in parentheses."""
    group = "" if event.group == event.topic else event.group  # a queue is called as its topic
    who = " ".join(part for part in (group, event.client) if part)
    attempt = "" if event.attempt is None else tr("attempt {number}", number=event.attempt)
    words = [f"#{event.seq:,}", session_time(event.time_ns), kind_word(event.kind), place_text(event), who]
    rest = "; ".join(part for part in (attempt, about(event)) if part)
    return " ".join([word for word in words if word] + ([f"({rest})"] if rest else []))


def _short(value: object) -> str:
    text = ", ".join(map(_short, value)) if isinstance(value, list | tuple) else str(value)
    return plain_text(text.encode(errors="replace"), 80)
