from __future__ import annotations

from typing import NamedTuple

from app.sessions.causes import cause_text
from broker_core.events import WITHDRAWN, Event, EventKind, is_users
from resources.outcomes import OUTCOMES
from widgets.formats import plain_text, session_time
from widgets.i18n import mark, tr


class KindInfo(NamedTuple):
    """Properties of a kind of event in the window.

    `word` is its state word; `choice` the choice of the panel Events that lists it, beside those for messages and for
    all others; `lane` and `tick`, where it stands on the timeline: the lane, and the text of `count` of them.
    """

    word: str
    choice: str = ""
    lane: str = ""
    tick: str = ""


# One line a kind of event. A kind that is not here is shown by its name.
KINDS: dict[EventKind, KindInfo] = {
    EventKind.PUBLISHED: KindInfo(mark("Published")),
    EventKind.DELIVERED: KindInfo(mark("Delivered")),
    EventKind.ACKNOWLEDGED: KindInfo(mark("Acknowledged")),
    EventKind.PASSED_OVER: KindInfo(mark("Aborted, passed over")),
    EventKind.NACKED: KindInfo(mark("Nacked"), "failures"),
    EventKind.RELEASED: KindInfo(mark("Released")),
    EventKind.LEASE_EXTENDED: KindInfo(mark("Lease extended")),
    EventKind.LEASE_EXPIRED: KindInfo(mark("Lease expired"), "failures"),
    EventKind.DEAD_LETTERED: KindInfo(
        mark("Dead-lettered"), "failures", "dead letter", mark("{count:,} dead-lettered")
    ),
    EventKind.REDRIVEN: KindInfo(mark("Redriven"), "", "redrive", mark("{count:,} redriven")),
    EventKind.PURGED: KindInfo(mark("Purged")),
    **{EventKind(kind): KindInfo(word, "failures") for kind, word in OUTCOMES.items()},
    EventKind.SESSION_STARTED: KindInfo(mark("Session started")),
    EventKind.SESSION_ENDED: KindInfo(mark("Session ended")),
    EventKind.TOPIC_CREATED: KindInfo(mark("Topic created")),
    EventKind.TOPIC_DELETED: KindInfo(mark("Topic deleted")),
    EventKind.PARTITIONS_ADDED: KindInfo(mark("Partitions added")),
    EventKind.RECORDS_DELETED: KindInfo(mark("Records deleted")),
    EventKind.QUEUE_CREATED: KindInfo(mark("Queue created")),
    EventKind.CLIENT_STARTED: KindInfo(mark("Client started")),
    EventKind.CLIENT_STOPPED: KindInfo(mark("Client stopped")),
    EventKind.MEMBER_JOINED: KindInfo(mark("Member joined"), "rebalances"),
    EventKind.MEMBER_LEFT: KindInfo(mark("Member left"), "rebalances"),
    EventKind.GROUP_STATE: KindInfo(mark("Group state"), "rebalances"),
    EventKind.REBALANCE_STARTED: KindInfo(mark("Rebalance started"), "rebalances"),
    EventKind.PARTITIONS_REVOKED: KindInfo(mark("Partitions revoked"), "rebalances"),
    EventKind.PARTITIONS_ASSIGNED: KindInfo(mark("Partitions assigned"), "rebalances"),
    EventKind.REBALANCE_COMPLETED: KindInfo(mark("Rebalance completed"), "rebalances"),
    EventKind.READING_BEGAN: KindInfo(mark("Reading began")),
    EventKind.OFFSETS_RESET: KindInfo(mark("Offsets reset")),
    EventKind.PRODUCER_BLOCKED: KindInfo(mark("Producer blocked"), "failures"),
    EventKind.PRODUCER_UNBLOCKED: KindInfo(mark("Producer unblocked")),
    EventKind.TRANSACTION_STARTED: KindInfo(mark("Transaction started")),
    EventKind.TRANSACTION_ENDED: KindInfo(mark("Transaction ended")),
    EventKind.ALERT_RAISED: KindInfo(mark("Alert"), "failures", "alert", mark("Alert: {cause}")),
    EventKind.ALERT_OVER: KindInfo(mark("Alert over")),
    EventKind.FAULT: KindInfo(mark("Fault"), "failures", "fault", "{who}: {cause}"),
    EventKind.DAMAGE: KindInfo(mark("Corruption"), "failures"),
    EventKind.GAP: KindInfo(mark("Not observed"), "failures", "fault", mark("Not observed: {cause}")),
    EventKind.USER_ACTION: KindInfo(mark("My action"), "mine", "action", "{cause}"),
}


_MOMENTS = frozenset({"from_ns", "heard_ns", "since_ns", "started_ns", "until_ns"})  # of a detail: session times


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
    if event.offset is None:
        return where
    if event.count > 1:
        return tr(
            "{where} at {first:,} to {last:,}", where=where, first=event.offset, last=event.offset + event.count - 1
        )
    return tr("{where} at {offset:,}", where=where, offset=event.offset)


def about(event: Event) -> str:
    """Details that the columns do not show: the cause, the destination, the detail of a control event."""
    parts = [cause_text(event.cause)] if event.cause else []
    if event.to_topic:
        to = f"{event.to_topic}/{event.to_partition}" if event.to_partition is not None else event.to_topic
        at = "" if event.to_offset is None else f" at {event.to_offset:,}"
        parts.append(tr("to {place}", place=to + at))
    if event.generation is not None and event.generation >= 0:
        parts.append(tr("generation {number}", number=event.generation))
    detail = event.detail or {}
    # The cause of an action is its sentence.
    if event.kind is not EventKind.USER_ACTION:
        parts += [
            f"{name.removesuffix('_ns').replace('_', ' ')} {session_time(value) if name in _MOMENTS else _short(value)}"
            for name, value in detail.items()
            if value not in (None, "", [], ())
        ]
    return "; ".join(parts)


def event_line(event: Event) -> str:
    """One event in a line: number, time, kind, place, client, and details in parentheses."""
    group = "" if event.group == event.topic else event.group  # a queue is called as its topic
    who = " ".join(part for part in (group, event.client) if part)
    attempt = "" if event.attempt is None else tr("attempt {number}", number=event.attempt)
    words = [f"#{event.seq:,}", session_time(event.time_ns), event_word(event), place_text(event), who]
    rest = "; ".join(part for part in (attempt, about(event)) if part)
    return " ".join([word for word in words if word] + ([f"({rest})"] if rest else []))


def _short(value: object) -> str:
    text = str(value)
    if isinstance(value, list | tuple):
        match value:
            case [str(topic), int(partition), *owner]:
                text = " ".join([f"{topic}/{partition}", *map(str, owner)])
            case _:
                text = ", ".join(map(_short, value))
    return plain_text(text.encode(errors="replace"), 80)
