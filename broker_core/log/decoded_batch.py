"""A batch that is decoded only as far as somebody has read it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from broker_core.messages import StoredMessage


class DecodedBatch:
    """The messages of one batch, decoded on demand and kept, since readers take a batch in several bites."""

    __slots__ = ("_messages", "_rest")

    def __init__(self, messages: Iterator[StoredMessage]) -> None:
        self._messages: list[StoredMessage] = []
        self._rest = messages

    def take(self, start: int, stop: int) -> list[StoredMessage]:
        """Messages number `start` to `stop` - 1 of the batch; fewer at its end."""
        messages = self._messages
        missing = stop - len(messages)
        if missing > 0:
            messages.extend(islice(self._rest, missing))
        return messages[start:stop]
