"""A consumer of kafka-python, in a group or by hand."""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Sequence
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from tests.figures.programs.program import Log, obey

PATIENCE_S = 90.0
SILENCE_S = 10.0


class _Tells(ConsumerRebalanceListener):
    def __init__(self, log: Log) -> None:
        self._log = log

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        for each in revoked:
            self._log.write("gave", each.topic, each.partition, -1)

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for each in assigned:
            self._log.write("got", each.topic, each.partition, -1)


class Program:
    """`told` has `servers`, `client`, `group`, and `topics` or `by_hand`."""

    def __init__(self, told: dict[str, Any], log: Log) -> None:
        self._told, self._log = told, log
        self._has_read = False
        self._connect()

    def _connect(self) -> None:
        told = self._told
        self._consumer = KafkaConsumer(
            bootstrap_servers=told["servers"],
            client_id=told["client"],
            group_id=told["group"],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=20,
            heartbeat_interval_ms=100,
            session_timeout_ms=45_000,
            max_poll_records=1,
        )
        if by_hand := told.get("by_hand"):
            self._consumer.assign([TopicPartition(topic, partition) for topic, partition, *_ in by_hand])
        else:
            self._consumer.subscribe(told["topics"], listener=_Tells(self._log))

    def _poll(self, timeout_ms: int) -> int:
        found = 0
        for messages in self._consumer.poll(timeout_ms=timeout_ms).values():
            for message in messages:
                self._log.write("polled", message.topic, message.partition, message.offset)
                found += 1
        self._has_read = self._has_read or found > 0
        return found

    def take(self, count: int) -> None:
        began = time.monotonic()
        until = began + PATIENCE_S
        while count and time.monotonic() < until:
            count -= self._poll(100)
            # With its partitions it goes silent now and then, whatever the broker, before it has fetched anything.
            if not self._has_read and time.monotonic() - began > SILENCE_S:
                self._consumer.close()
                self._connect()
                began = time.monotonic()

    def serve(self) -> None:
        """Be there, and read nothing, until more is told: what rebalances need."""
        while not select.select([sys.stdin], [], [], 0)[0]:
            self._consumer.pause(*self._consumer.assignment())
            self._poll(20)
        self._consumer.resume(*self._consumer.assignment())

    def nothing(self) -> None:
        """End what goes on until more is told."""

    def commit(self, offsets: Sequence[tuple[str, int, int]] | None = None) -> None:
        places = self._consumer.assignment() if offsets is None else ()
        found = {place: self._consumer.position(place) for place in places}
        found |= {TopicPartition(topic, partition): offset for topic, partition, offset in offsets or ()}
        try:
            self._consumer.commit({place: OffsetAndMetadata(offset, "", -1) for place, offset in found.items()})
        except KafkaError:
            return  # it has no right to
        for place, offset in found.items():
            self._log.write("committed", place.topic, place.partition, offset)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self._log.write("sought", topic, partition, offset)
        self._consumer.seek(TopicPartition(topic, partition), offset)

    def close(self) -> None:
        self._consumer.close()


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    log = Log(told["log"], told["client"])
    obey(Program(told, log), log)
