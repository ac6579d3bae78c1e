"""Fetched messages by partition, without touching each message."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence

from broker_core.messages import StoredMessage, TopicPartition

_FEW = 8  # up to here a plain loop is faster


def partition_runs(messages: Sequence[StoredMessage]) -> Iterator[tuple[TopicPartition, int, int]]:
    """(partition, begin, end) of each partition's messages in the list, where a fetch puts them side by side."""
    first = 0
    while first < len(messages):
        topic, partition = messages[first].topic, messages[first].partition

        def elsewhere(message: StoredMessage, topic: str = topic, partition: int = partition) -> bool:
            return message.partition != partition or message.topic != topic

        end = bisect_left(messages, True, lo=first + 1, key=elsewhere)
        yield (topic, partition), first, end
        first = end


def next_offsets(messages: Sequence[StoredMessage]) -> dict[TopicPartition, int]:
    if len(messages) < _FEW:
        return {(message.topic, message.partition): message.offset + 1 for message in messages}
    return {place: messages[end - 1].offset + 1 for place, _, end in partition_runs(messages)}


def within(messages: Sequence[StoredMessage], places: Container[TopicPartition]) -> list[StoredMessage]:
    if len(messages) < _FEW:
        return [message for message in messages if (message.topic, message.partition) in places]
    found: list[StoredMessage] = []
    for place, first, end in partition_runs(messages):
        if place in places:
            found += messages[first:end]
    return found
