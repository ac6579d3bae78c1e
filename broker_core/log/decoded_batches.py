"""Messages of batches that are read in parts, so that each batch is decoded once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from broker_core.log.batch_index import BatchIndex
from broker_core.log.segment import Segment
from broker_core.messages import StoredMessage

_KEPT_BATCHES = 4  # partly read batches: about one for each group that reads the partition


class _DecodedBatch:
    __slots__ = ("_messages", "_rest")

    def __init__(self, messages: Iterator[StoredMessage]) -> None:
        self._messages: list[StoredMessage] = []
        self._rest = messages

    def take(self, start: int, stop: int) -> list[StoredMessage]:
        messages = self._messages
        missing = stop - len(messages)
        if missing > 0:
            messages.extend(islice(self._rest, missing))
        return messages[start:stop]


class DecodedBatches:
    """The messages of a partition's batches. Partly read batches are cached, because readers read them in parts."""

    def __init__(self, topic: str, partition: int) -> None:
        self._topic = topic
        self._partition = partition
        self._kept: dict[int, _DecodedBatch] = {}

    def messages(
        self, segment: Segment, index: BatchIndex, slot: int, offset: int, max_messages: int
    ) -> list[StoredMessage]:
        """Up to `max_messages` of the batch in this slot, from `offset` on. Raises DAMAGED."""
        span = index.spans[slot]
        if span == 1:
            return list(self._decode(segment, index, slot))
        if slot in index.with_gaps:
            every = self._decode(segment, index, slot)
            return list(islice((message for message in every if message.offset >= offset), max_messages))
        base_offset = index.base_offset(slot)
        start = max(offset - base_offset, 0)
        batch = self._kept.get(base_offset)
        if batch is None:
            messages = self._decode(segment, index, slot)
            if start == 0 and max_messages >= span:
                return list(messages)
            batch = self._keep(base_offset, _DecodedBatch(messages))
        return batch.take(start, start + max_messages)

    def _decode(self, segment: Segment, index: BatchIndex, slot: int) -> Iterator[StoredMessage]:
        return segment.messages(index, slot, self._topic, self._partition)

    def _keep(self, base_offset: int, batch: _DecodedBatch) -> _DecodedBatch:
        if len(self._kept) >= _KEPT_BATCHES:
            del self._kept[next(iter(self._kept))]
        self._kept[base_offset] = batch
        return batch

    def clear(self) -> None:
        self._kept.clear()


def take_fitting(messages: list[StoredMessage], found: list[StoredMessage], max_bytes: int) -> int:
    """Add `messages` to `found` as far as they fit, but at least one in all; the bytes left, below 0 at the end."""
    for message in messages:
        max_bytes -= message.size_bytes
        if max_bytes < 0 and found:
            break
        found.append(message)
    return max_bytes
