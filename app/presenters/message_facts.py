from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from app.sessions.event_text import event_word, kind_word
from app.sessions.history.life import Life, Place
from broker_core.events import WITHDRAWN, Event, EventKind
from broker_core.messages import StoredMessage, grouped
from broker_core.operations.browse import DescribeMessage, Held, Present
from broker_core.operations.values import json_bytes
from broker_core.schemas.languages import SchemaKind
from broker_core.snapshots import Snapshot
from widgets.facts import Fact, Facts, with_rows, with_values
from widgets.formats import Times, duration, exact_size, plain_text, session_time
from widgets.i18n import tr
from widgets.panels.inspector import MOMENT, InspectorFacts
from widgets.panels.life_path import LifeStep

_BY_CAUSE = frozenset(
    {EventKind.NACKED, EventKind.RELEASED, EventKind.REJECTED, EventKind.DROPPED, EventKind.EVICTED, EventKind.EXPIRED}
)


def request_of(place: Place) -> DescribeMessage:
    return DescribeMessage(topic=place.topic, partition=place.partition, offset=place.offset)


def message_facts(
    place: Place, snapshot: Snapshot, times: Times, life: Life | None, present: Present | None
) -> InspectorFacts:
    message = None if present is None else present.message
    readable = None if present is None else present.readable
    notes = []
    if life is None:
        notes.append(tr("Looking for its history..."))
    elif not life.whole:
        notes.append(tr("Its earlier history is not shown: this session is not recorded, and older events are gone."))
    elif not life.events:
        notes.append(tr("So far, nothing is known about a message there."))
    if present is not None and message is None:
        notes.append(tr("The message itself is not available. {why}", why=present.why))
    held = () if present is None else present.held
    headers = () if message is None else message.headers
    sections = with_rows(
        ("", _where(place, message, life, times, readable)),
        (tr("Now"), tuple(_held(one, snapshot) for one in held)),
        (tr("Readers"), _readers(place, snapshot)),
        (tr("Deliveries"), () if life is None else _deliveries(life.events, snapshot)),
        (tr("Headers"), tuple((name, plain_text(value, 400)) for name, value in headers)),
    )
    return InspectorFacts(
        tr("Message"),
        str(place),
        _state(life, present, snapshot.time_ns),
        sections,
        " ".join(notes),
        () if life is None else steps_of(life, snapshot, times),
        None if message is None else message.value if readable is None else readable[2],
        message is not None,
    )


def _where(
    place: Place,
    message: StoredMessage | None,
    life: Life | None,
    times: Times,
    readable: tuple[int, SchemaKind, bytes] | None,
) -> Facts:
    events = () if life is None else life.events
    published = message or next((event for event in events if event.kind is EventKind.PUBLISHED), None)
    published_ns, key = (None, None) if published is None else (published.published_ns, published.key)
    size = schema = ""
    if message is not None:
        size = tr("no value") if message.value is None else exact_size(len(message.value))
    if readable is not None:
        schema = tr("{language}, id {id}; shown as JSON", language=readable[1].value, id=readable[0])
    others = () if life is None else [other for other in life.places if other != place]
    return with_values(
        (tr("Partition"), f"{place.topic}/{place.partition}", f"lane:{place.topic}/{place.partition}"),
        (tr("Offset"), f"{place.offset:,}"),
        (tr("Key"), tr("none") if key is None else plain_text(key, 400)),
        (tr("Published"), "" if published_ns is None else session_time(published_ns), f"{MOMENT}{published_ns}"),
        (tr("Wall time"), "" if published_ns is None else times.wall(published_ns)),
        (tr("Size"), size),
        (tr("Schema"), schema),
        *((tr("Also"), str(other), other.id) for other in others),
    )


def _held(held: Held, snapshot: Snapshot) -> Fact:
    if held.state == "In flight":
        at = session_time(held.until_ns)
        words = tr(
            "held by {holder} until {time}, attempt {attempt}", holder=held.holder, time=at, attempt=held.attempt
        )
        return held.queue, words, client_id(held.holder, snapshot)
    if held.state == "Delayed":
        return held.queue, tr("waits for its next attempt at {time}", time=session_time(held.until_ns))
    return held.queue, tr("ready to be delivered")


def _readers(place: Place, snapshot: Snapshot) -> Facts:
    found: list[Fact] = []
    for group in snapshot.groups:
        for at in group.offsets:
            if (at.topic, at.partition) == place[:2]:
                done = at.committed is not None and at.committed > place.offset
                handed = at.position is not None and at.position > place.offset
                word = tr("committed") if done else tr("delivered, not committed") if handed else tr("not read yet")
                owner = tr("; owner {name}", name=at.owner) if at.owner and not done else ""
                found.append((group.name, word + owner, f"group:{group.name}"))
    return tuple(found)


def _deliveries(events: Sequence[Event], snapshot: Snapshot) -> Facts:
    delivered = (each for each in events if each.kind is EventKind.DELIVERED and each.time_ns <= snapshot.time_ns)
    found = []
    for reader, given in grouped((each.group or tr("subscriber"), each) for each in delivered).items():
        who = list(dict.fromkeys(event.client for event in given))
        times = tr("once") if len(given) == 1 else tr("twice") if len(given) == 2 else tr("{n} times", n=len(given))
        found.append((reader, tr("{times}, to {who}", times=times, who=", ".join(who))))
    return tuple(found)


def _state(life: Life | None, present: Present | None, now_ns: int) -> str:
    words = [held.state for held in (present.held if present else ())]
    if words and life is not None and not any(event.time_ns > now_ns for event in life.events):
        return "In flight" if "In flight" in words else words[0]
    past = [event for event in (life.events if life else ()) if event.time_ns <= now_ns]
    if past and past[-1].cause == WITHDRAWN and any(event.kind is EventKind.REDRIVEN for event in past):
        return kind_word(EventKind.DEAD_LETTERED)  # its redrive was undone
    return event_word(past[-1]) if past else ""


def steps_of(life: Life, snapshot: Snapshot, times: Times) -> tuple[LifeStep, ...]:
    """The path. What lies behind the shown moment is marked as later."""
    steps = []
    before_ns: int | None = None
    places = iter(life.places[1:])
    heading = str(life.places[0]) if len(life.places) > 1 else ""
    for event in life.events:
        links = _links(event, snapshot)
        steps.append(
            LifeStep(
                event.time_ns,
                session_time(event.time_ns),
                times.hint(event.time_ns),
                event_word(event),
                _detail(event, before_ns, linked=bool(links)),
                links,
                event.time_ns > snapshot.time_ns,
                heading,
            )
        )
        before_ns, heading = event.time_ns, ""
        if event.to_topic and event.to_offset is not None:
            # From here on it has another topic and offset.
            arrived = next(places, None)
            heading = tr("From here on it is {place}", place=str(arrived)) if arrived is not None else ""
    return tuple(steps)


def _detail(event: Event, before_ns: int | None, *, linked: bool) -> str:
    """What the event says; `linked` if a link names its client."""
    parts = []
    if event.kind is EventKind.DELIVERED:
        parts.append(tr("to {client} of {group}", client=event.client, group=event.group or tr("no group")))
        if event.attempt:
            parts.append(tr("attempt {number}", number=event.attempt))
    elif event.kind is EventKind.ACKNOWLEDGED:
        parts.append(tr("by {client} of {group}", client=event.client or "?", group=event.group))
    elif event.kind is EventKind.PUBLISHED:
        many = tr("in a batch of {count}", count=f"{event.count:,}") if event.count > 1 else ""
        parts += [tr("by {client}", client=event.client), many] if event.client and not linked else [many]
    elif event.kind in {EventKind.DEAD_LETTERED, EventKind.REDRIVEN}:
        if event.cause and event.kind is EventKind.DEAD_LETTERED:
            parts.append(tr("because: {cause}", cause=event.cause))
        elif event.cause:
            parts.append(tr("it had failed with: {cause}", cause=event.cause))
        if event.to_topic:
            to = f"{event.to_topic}/{event.to_partition}"
            parts.append(tr("to {place} at {offset}", place=to, offset=f"{event.to_offset or 0:,}"))
    elif event.kind in _BY_CAUSE:
        parts += [event.cause, event.client and tr("by {client}", client=event.client)]
    elif event.client:
        parts.append(tr("of {client}", client=event.client))
    if before_ns is not None:
        parts.append(tr("{time} later", time=duration(event.time_ns - before_ns)))
    return "; ".join(part for part in parts if part)


def _links(event: Event, snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    client = client_id(event.client, snapshot)
    if not client:
        return ()
    return ((tr("by {client}", client=event.client) if event.kind is EventKind.PUBLISHED else event.client, client),)


def client_id(name: str, snapshot: Snapshot) -> str:
    """The id of an actor of that name; "" if there is none."""
    actor = snapshot.actor(name)
    return "" if actor is None else f"{actor.role}:{name}"


def message_json(message: StoredMessage) -> str:
    """A message as JSON: bytes that are no text are Base64, which a field tells."""
    return json.dumps(
        {
            "topic": message.topic,
            "partition": message.partition,
            "offset": message.offset,
            "published_ns": message.published_ns,
            "timestamp_ms": message.timestamp_ms,
            "key": json_bytes(message.key),
            "value": _json_value(message.value),
            "headers": [{"name": name, "value": json_bytes(value)} for name, value in message.headers],
        },
        indent=2,
        ensure_ascii=False,
    )


def _json_value(data: bytes | None) -> Any:
    if data is not None and data[:1] in b"{[":
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            pass
    return json_bytes(data)
