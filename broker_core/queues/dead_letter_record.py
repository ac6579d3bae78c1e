"""How a dead letter is stored: the original message plus headers that say where it came from and what happened.

All headers begin with `brokerscope.dead.`; values are UTF-8. They are taken off again by a redrive, except `redrives`.

    topic, partition, offset   where it was first stored
    queue                      the queue that gave up on it
    cause                      why
    attempts                   JSON: [[holder, delivered, ended, outcome], ...], the last ones; times in ns before death
    age_ns                     how long before its death it was published
    redrives                   how often it was redriven before

Times are relative because session time begins anew with each session.
"""

from __future__ import annotations

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_CAUSE_CHARS, MAX_NAME_CHARS, MAX_OWN_HEADER_BYTES
from broker_core.log.reserved_headers import message_of
from broker_core.messages import Headers, Message, StoredMessage
from broker_core.queues.dead_letter_edit import DeadLetterEdit
from broker_core.snapshots import AttemptView, DeadLetterView

PREFIX = "brokerscope.dead."
REDRIVES_HEADER = PREFIX + "redrives"

_HISTORY_BYTES = MAX_OWN_HEADER_BYTES // 2  # the other half is for the rest: names, a cause
_ATTEMPTS = msgspec.json.Decoder(list[tuple[str, int, int, str]])


def redrives_of(headers: Headers) -> int:
    """How often a message with these headers was redriven."""
    return next((_number(value) for name, value in reversed(headers) if name == REDRIVES_HEADER), 0)


def _number(digits: bytes) -> int:
    # Headers are data: a producer may have written anything there.
    return int(digits) if digits.isdigit() and len(digits) < 20 else 0


def without_dead_headers(headers: Headers) -> Headers:
    """The headers of the original."""
    return tuple([header for header in headers if not header[0].startswith(PREFIX)])


def encode(now_ns: int, stored: StoredMessage, queue: str, cause: str, attempts: tuple[AttemptView, ...]) -> Message:
    """The message to append to the bin."""
    told = [
        (a.holder[:MAX_NAME_CHARS], now_ns - a.delivered_ns, now_ns - a.ended_ns, a.outcome[:MAX_CAUSE_CHARS])
        for a in attempts
    ]
    while len(history := msgspec.json.encode(told)) > _HISTORY_BYTES:
        del told[0]
    original = message_of(stored)
    fields = {
        "topic": stored.topic.encode(),
        "partition": b"%d" % stored.partition,
        "offset": b"%d" % stored.offset,
        "queue": queue.encode(),
        "cause": cause[:MAX_CAUSE_CHARS].encode(errors="replace"),
        "attempts": history,
        "age_ns": b"%d" % max(now_ns - stored.published_ns, 0),
        "redrives": b"%d" % redrives_of(stored.headers),
    }
    headers = (
        *without_dead_headers(original.headers),
        *((PREFIX + name, value) for name, value in fields.items()),
    )
    return msgspec.structs.replace(original, headers=headers)


def decode(stored: StoredMessage) -> DeadLetterView:
    """The dead letter in a message of a bin. Raises DAMAGED where it is something else."""
    found = {name.removeprefix(PREFIX): value for name, value in stored.headers if name.startswith(PREFIX)}
    dead_ns = stored.published_ns
    try:
        return DeadLetterView(
            queue=found["queue"].decode(),
            offset=stored.offset,
            origin_topic=found["topic"].decode(),
            origin_partition=int(found["partition"]),
            origin_offset=int(found["offset"]),
            key=stored.key,
            value=stored.value,
            headers=without_dead_headers(message_of(stored).headers),
            cause=found["cause"].decode(),
            published_ns=dead_ns - int(found["age_ns"]),
            dead_ns=dead_ns,
            redrives=int(found["redrives"]),
            attempts=tuple(
                AttemptView(holder, dead_ns - delivered, dead_ns - ended, outcome)
                for holder, delivered, ended, outcome in _ATTEMPTS.decode(found["attempts"])
            ),
        )
    except (KeyError, ValueError) as error:
        raise BrokerError(
            ErrorCode.DAMAGED, f"{stored.topic} {stored.offset} does not look like a dead letter ({error})"
        ) from error


def with_redrive(stored: StoredMessage, edited: Message | DeadLetterEdit | None = None) -> Message:
    """What a redrive appends to the origin: the original, or what it was edited into, with one redrive more."""
    message = message_of(stored)
    count = (REDRIVES_HEADER, b"%d" % (redrives_of(message.headers) + 1))
    if isinstance(edited, DeadLetterEdit):
        message = edited.applied_to(message)
    elif edited is not None:
        message = edited
    return msgspec.structs.replace(message, headers=(*without_dead_headers(message.headers), count))
