"""Decodes the headers of dead letters: Spring, Kafka Connect, and share groups (KIP-1191)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from broker_core.messages import Headers

_NAMED: Final = re.compile(r".*[._-](dlt|dlq)|(dlt|dlq)[._-].*", re.IGNORECASE)
_SPRING, _CONNECT, _SHARE = "kafka_dlt-", "__connect.errors.", "__dlq.errors."


class Origin(NamedTuple):
    """Where a dead letter comes from and why, as far as its headers tell; "" and None for what they do not.

    `reader` is the group, or the connector, that gave up on it.
    """

    topic: str = ""
    partition: int | None = None
    offset: int | None = None
    cause: str = ""
    attempts: int | None = None
    reader: str = ""
    published_ms: int | None = None


def is_dead_letter_name(topic: str) -> bool:
    """Whether `topic` is a usual name for a topic of dead letters: orders.DLT, orders-dlq, dlq.orders."""
    return _NAMED.fullmatch(topic) is not None


def origin_of(headers: Headers) -> Origin | None:
    """None if they are not those of a dead letter."""
    found = {name.lower(): value or b"" for name, value in headers}
    for prefix, read in ((_SPRING, _of_spring), (_CONNECT, _of_connect), (_SHARE, _of_share_group)):
        if any(name.startswith(prefix) for name in found):
            return read({name.removeprefix(prefix): value for name, value in found.items()})
    return None


def _of_spring(found: dict[str, bytes]) -> Origin:
    return Origin(
        _text(found, "original-topic"),
        _binary(found, "original-partition"),
        _binary(found, "original-offset"),
        _cause(_text(found, "exception-cause-fqcn", "exception-fqcn"), _text(found, "exception-message")),
        _binary(found, "retry_topic-attempts", "kafka_deliveryattempt"),
        _text(found, "original-consumer-group"),
        _binary(found, "original-timestamp"),
    )


def _of_connect(found: dict[str, bytes]) -> Origin:
    return Origin(
        _text(found, "topic"),
        _decimal(found, "partition"),
        _decimal(found, "offset"),
        _cause(_text(found, "exception.class.name"), _text(found, "exception.message") or _text(found, "stage")),
        reader=_text(found, "connector.name"),
    )


def _of_share_group(found: dict[str, bytes]) -> Origin:
    return Origin(
        _text(found, "topic"),
        _decimal(found, "partition"),
        _decimal(found, "offset"),
        _text(found, "message"),
        _decimal(found, "delivery.count"),
        _text(found, "group"),
    )


def _text(found: dict[str, bytes], *names: str) -> str:
    return next((found[name].decode(errors="replace") for name in names if found.get(name)), "")


def _cause(kind: str, message: str) -> str:
    """The class without its package, and the first line of what it says."""
    return ": ".join(part for part in (kind.rpartition(".")[2], message.partition("\n")[0].strip()) if part)


def _decimal(found: dict[str, bytes], name: str) -> int | None:
    text = _text(found, name)
    return int(text) if re.fullmatch(r"\d{1,19}", text) else None


def _binary(found: dict[str, bytes], *names: str) -> int | None:
    """The first of `names` that is found, as a byte, int or long of Java's ByteBuffer; None if it is none."""
    value = next((found[name] for name in names if name in found), b"")
    return int.from_bytes(value, "big", signed=True) if len(value) in {1, 4, 8} else None
