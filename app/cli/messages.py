from __future__ import annotations

import base64
import contextlib

from app.cli.output import text_of
from broker_core.messages import Headers, StoredMessage
from broker_core.operations.dead_letters import Letter
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.queues import Delivery
from broker_core.operations.values import json_bytes

_BASE64 = "base64:"


def bytes_pair(found: MessageAnswer | Delivery | Letter) -> tuple[bytes | None, bytes | None]:
    """(key, value) of what was asked for as Base64."""
    return _decoded(found.key), _decoded(found.value)


def payload(found: MessageAnswer | Letter, *, as_json: bool) -> dict[str, object]:
    """Key and value of what was asked for as Base64, by their titles, for people or for programs."""
    key, value = map(json_bytes if as_json else text_of, bytes_pair(found))
    return {"Key": key, "Value": value}


def stored(found: MessageAnswer | Delivery, topic: str) -> StoredMessage:
    key, value = bytes_pair(found)
    when_ms = found.timestamp_ms
    return StoredMessage(topic, found.partition, found.offset, when_ms, 0, key, value, headers_of(found))


def headers_of(found: MessageAnswer | Delivery | Letter) -> Headers:
    return tuple((name, _header(text)) for name, text in found.headers.items())


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _header(text: str) -> bytes:
    if text.startswith(_BASE64):
        with contextlib.suppress(ValueError):
            return base64.b64decode(text.removeprefix(_BASE64), validate=True)
    return text.encode()
