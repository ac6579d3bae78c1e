"""A consumer that is polled by requests, one after the other, perhaps on different connections."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from broker_core.clients.consumer import Consumer
from broker_core.listeners.served import ServedHost
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.listeners.http.context import HttpCall

T = TypeVar("T")


class Polled:
    """A polled consumer. Messages that a disconnected request did not take are kept for the next one."""

    def __init__(self, host: ServedHost, core: Consumer) -> None:
        self._host = host
        self.core = core
        self.busy = asyncio.Lock()
        self._buffer: deque[StoredMessage] = deque()
        self._polling: Reply[list[StoredMessage]] | None = None

    async def poll(self, call: HttpCall, max_messages: int, timeout_ms: int) -> list[StoredMessage]:
        """At most `max_messages`; [] after `timeout_ms`. One request at a time. Raises as `Consumer.poll`."""
        async with self.busy:
            if not self._buffer:
                if self._polling is None:
                    self._polling = self._host.start(self.core.poll(timeout_ms, max_messages, hand_out=False))
                polling = self._polling
                try:
                    # A fetch that ends with the deadline needs a moment to settle its reply.
                    found = await call.wait(polling, timeout_s=timeout_ms / 1_000 + 0.02)
                except TimeoutError:
                    return []  # it still joins its group, or an earlier poll goes on: the next request polls again
                finally:
                    if polling.done:
                        self._polling = None
                self._buffer.extend(found)
            taken = [self._buffer.popleft() for _ in range(min(max_messages, len(self._buffer)))]
            return self._host.call(lambda _now: self.core.hand(taken))

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Read on from `offset`. Raises INVALID_REQUEST for a partition that it does not own."""
        self._host.call(lambda _now: self.core.seek(topic, partition, offset))
        self._buffer = deque(each for each in self._buffer if (each.topic, each.partition) != (topic, partition))

    def positions(self) -> dict[TopicPartition, int]:
        found = dict(self.core.positions)
        for message in reversed(self._buffer):
            place = (message.topic, message.partition)
            if place in found:
                found[place] = message.offset
        return found
