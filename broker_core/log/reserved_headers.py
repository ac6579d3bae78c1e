"""Reserved record headers for values that Kafka's record format has no field for.

`brokerscope.ttl_ms` and `brokerscope.priority` hold decimal digits. A message without the value has no such header.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_OWN_HEADER_BYTES, MAX_TTL_MS
from broker_core.messages import PRIORITY_HEADER, TTL_HEADER, Headers, Message, StoredMessage

RESERVED = frozenset({TTL_HEADER, PRIORITY_HEADER})
OWN_PREFIX = "brokerscope."


def users_headers(headers: Headers) -> int:
    return sum(not name.startswith(OWN_PREFIX) for name, _ in headers)


def counted_bytes(headers: Headers) -> int:
    """The bytes that count towards the size of a message; up to a limit, the broker's headers do not count."""
    users = own = 0
    for name, value in headers:
        if name.startswith(OWN_PREFIX):
            own += len(name) + len(value or b"")
        else:
            users += len(name) + len(value or b"")
    return users + max(0, own - MAX_OWN_HEADER_BYTES)


def check_sizes(name: str, messages: Sequence[Message], limit_bytes: int) -> None:
    """Raises MESSAGE_TOO_LARGE if a message exceeds the limit of the partition `name`."""
    for message in messages:
        size = len(message.key or b"") + len(message.value or b"") + counted_bytes(message.headers)
        if size > limit_bytes:
            raise BrokerError(
                ErrorCode.MESSAGE_TOO_LARGE, f"{size} bytes for {name}, which takes at most {limit_bytes}"
            )


def reserved_headers(message: Message) -> Headers:
    headers: Headers = ()
    if message.ttl_ms is not None:
        headers += ((TTL_HEADER, b"%d" % message.ttl_ms),)
    if message.priority:
        headers += ((PRIORITY_HEADER, b"%d" % message.priority),)
    return headers


def check_lifetimes(messages: Sequence[Message]) -> None:
    """Raises INVALID_RECORD for a time to live below 0 or above a century."""
    for lifetime_ms in [message.ttl_ms for message in messages if message.ttl_ms is not None]:
        if not 0 <= lifetime_ms <= MAX_TTL_MS:
            about = f"a ttl_ms of {lifetime_ms}; it must be from 0 to {MAX_TTL_MS}, a century"
            raise BrokerError(ErrorCode.INVALID_RECORD, about)


def with_ttl(messages: Sequence[Message], ttl_ms: int) -> list[Message]:
    return [
        message
        if message.ttl_ms is not None and message.ttl_ms <= ttl_ms
        else msgspec.structs.replace(message, ttl_ms=ttl_ms)
        for message in messages
    ]


def expires_ns(stored: StoredMessage) -> int | None:
    """The session time at which the message expires; None for never."""
    lifetime_ms = stored.ttl_ms
    return None if lifetime_ms is None else stored.published_ns + lifetime_ms * NS_PER_MS


def message_of(stored: StoredMessage) -> Message:
    """The message as its producer published it, for publishing it again."""
    headers = tuple(header for header in stored.headers if header[0] not in RESERVED)
    return Message(stored.value, stored.key, headers, stored.ttl_ms, stored.priority)
