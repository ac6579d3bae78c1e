"""Ids of topics and queues (KIP-516): the bytes of a UUID that nothing else ever had, not even of the same name."""

from __future__ import annotations

import hashlib

_NAMESPACE = bytes.fromhex("6f8d7f2e2c4b4b8e9f3a5d1c7a90e6b4")


def topic_id(name: str, *made: object) -> bytes:
    """The id of `name` (RFC 9562, version 5); `made` tells it from others of that name."""
    text = " ".join(map(str, (name, *made)))
    found = bytearray(hashlib.sha1(_NAMESPACE + text.encode(), usedforsecurity=False).digest()[:16])
    found[6], found[8] = found[6] & 0x0F | 0x50, found[8] & 0x3F | 0x80
    return bytes(found)
