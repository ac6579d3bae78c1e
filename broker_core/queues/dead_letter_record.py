"""The record of a dead letter: the original message plus headers about its origin and its attempts.

All header names begin with `brokerscope.dead.`; values are UTF-8. A redrive removes them, except `redrives`.

    topic, partition, offset   the original position
    queue                      the queue that dead-lettered it
    cause                      the reason
    attempts                   JSON: [[holder, delivered, ended, outcome], ...], the last ones; times in ns before death
    age_ns                     the time from publishing to dead-lettering
    redrives                   the number of earlier redrives

Times are relative because session time starts at 0 with each session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_CAUSE_CHARS, MAX_NAME_CHARS, MAX_OWN_HEADER_BYTES, MAX_PRIORITIES
from broker_core.log.reserved_headers import message_of
from broker_core.messages import Headers, Message, StoredMessage
from broker_core.settings import CallArguments, TimeMsOrZero
from broker_core.snapshots import AttemptView, DeadLetterView


class DeadLetterEdit(CallArguments, frozen=True):
    """The fields to change; None removes a value, key or time to live, `headers` replaces all headers."""

    value: bytes | UnsetType | None = UNSET
    key: bytes | UnsetType | None = UNSET
    headers: Headers | UnsetType = UNSET
    ttl_ms: TimeMsOrZero | UnsetType | None = UNSET
    priority: Annotated[int, Meta(ge=0, le=MAX_PRIORITIES - 1)] | UnsetType = UNSET

    def applied_to(self, message: Message) -> Message:
        """`message` with the changes."""
        named = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(message, **{name: each for name, each in named.items() if each is not UNSET})


Edits = Mapping[int, Message | DeadLetterEdit]  # by offset in the dead letter queue; a Message replaces the whole


PREFIX = "brokerscope.dead."
REDRIVES_HEADER = PREFIX + "redrives"

_HISTORY_BYTES = MAX_OWN_HEADER_BYTES // 2  # the other half is for names and the cause
_ATTEMPTS = msgspec.json.Decoder(list[tuple[str, int, int, str]])


def redrives_of(headers: Headers) -> int:
    return next((_number(value or b"") for name, value in reversed(headers) if name == REDRIVES_HEADER), 0)


def _number(digits: bytes) -> int:
    # A producer may have set any value.
    return int(digits) if digits.isdigit() and len(digits) < 20 else 0


def without_dead_headers(headers: Headers) -> Headers:
    return tuple([header for header in headers if not header[0].startswith(PREFIX)])


def encode(now_ns: int, stored: StoredMessage, queue: str, cause: str, attempts: tuple[AttemptView, ...]) -> Message:
    ended = [
        (a.holder[:MAX_NAME_CHARS], now_ns - a.delivered_ns, now_ns - a.ended_ns, a.outcome[:MAX_CAUSE_CHARS])
        for a in attempts
    ]
    while len(history := msgspec.json.encode(ended)) > _HISTORY_BYTES:
        del ended[0]
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
    headers = (*without_dead_headers(original.headers), *((PREFIX + name, value) for name, value in fields.items()))
    return msgspec.structs.replace(original, headers=headers)


def decode(stored: StoredMessage) -> DeadLetterView:
    """The dead letter of a stored message. Raises DAMAGED if the message is not a dead letter."""
    found = {name.removeprefix(PREFIX): value or b"" for name, value in stored.headers if name.startswith(PREFIX)}
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
            ErrorCode.DAMAGED, f"{stored.topic} {stored.offset} is not a dead letter ({error})"
        ) from error


def with_redrive(stored: StoredMessage, edited: Message | DeadLetterEdit | None = None) -> Message:
    """The message that a redrive appends: the original or edited message, with its number of redrives."""
    message = message_of(stored)
    count = (REDRIVES_HEADER, b"%d" % (redrives_of(message.headers) + 1))
    if isinstance(edited, DeadLetterEdit):
        message = edited.applied_to(message)
    elif edited is not None:
        message = edited
    return msgspec.structs.replace(message, headers=(*without_dead_headers(message.headers), count))
