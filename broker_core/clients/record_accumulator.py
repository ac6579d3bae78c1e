"""The record accumulator: messages that were sent without the lock and are not in a batch yet.

`send` appends a receipt to a list, which is atomic, and then checks whether a drain is scheduled. A drain runs under
the lock: it first clears `drain_scheduled`, then takes the entries. A receipt that is appended too late for one drain
therefore finds the flag cleared, and schedules the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from broker_core.broker.broker import Broker
from broker_core.clients.batches import Receipt, messages_of
from broker_core.clients.producer_config import ProducerConfig
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message

T = TypeVar("T")

MOST_ENTRIES = 1_000
SMALL_BYTES = 2_048  # of key and value; for larger messages the cost of the lock does not matter
NEVER = -1


class TopicRecords(msgspec.Struct, eq=False):
    """Messages of one topic, with at most `limit_bytes` of key and value; valid while the broker is at `revision`."""

    topic: str
    entries: list[Receipt] = []
    drain_scheduled: bool = False  # a timer runs
    revision: int = NEVER
    limit_bytes: int = NEVER
    partitioner: Partitioner = msgspec.field(default_factory=Partitioner)
    partitions: int = 1

    def take(self) -> list[Receipt]:
        count = len(self.entries)
        taken = self.entries[:count]
        del self.entries[:count]
        return taken

    def parts(self, receipts: list[Receipt]) -> Iterator[tuple[int, list[Receipt], list[Message]]]:
        """(partition, receipts, messages) for each target partition, in the order of sending."""
        messages = messages_of(receipts)
        if [True for message in messages if message.key is not None]:
            choose = self.partitioner.choose
            places: dict[int, list[int]] = {}
            for place, message in enumerate(messages):
                places.setdefault(choose(message.key, self.partitions), []).append(place)
            for number, found in places.items():
                yield number, [receipts[place] for place in found], [messages[place] for place in found]
            return
        first = 0
        for number, part in self.partitioner.divide(messages, self.partitions).items():
            # Without keys each part is a run.
            yield number, receipts[first : first + len(part)], part
            first += len(part)


class RecordAccumulator:
    """Messages of one producer by topic. Only `by_topic` and its entries may be used without the lock."""

    def __init__(self, broker: Broker, config: ProducerConfig) -> None:
        self.by_topic: dict[str, TopicRecords] = {}
        self.scheduled: dict[TopicRecords, None] = {}  # those whose drain is scheduled
        self._broker = broker
        self.roomy = (
            config.linger_ms > 0 and config.adaptive is None and config.buffer_bytes >= 2 * MOST_ENTRIES * SMALL_BYTES
        )

    def accept(self, topic: str) -> None:
        """Accept the next messages of `topic` without the lock, where its settings permit."""
        if not self.roomy:
            return
        records = self.by_topic.get(topic)
        if records is None:
            records = self.by_topic[topic] = TopicRecords(topic)
        if records.revision != self._broker.logs.revision:
            records.revision, records.limit_bytes = self._broker.logs.revision, NEVER
            partitioner, config = self._broker.logs.partitions_by_key(topic), self._broker.topics.config(topic)
            # Only if no message is checked by itself, and none is refused for having no key.
            if partitioner is not None and config.cleanup == "delete" and self._broker.publishing.takes_batches(topic):
                records.partitioner, records.partitions = partitioner, self._broker.logs.partition_count(topic)
                records.limit_bytes = min(SMALL_BYTES, config.max_message_bytes)

    def stop(self) -> None:
        self.roomy = False
        for records in self.by_topic.values():
            records.revision = NEVER
