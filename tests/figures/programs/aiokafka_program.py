"""A consumer of aiokafka, in a group or by hand."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError

from tests.figures.programs.program import Log, obey

PATIENCE_S = 20.0


class _Tells(ConsumerRebalanceListener):
    def __init__(self, log: Log) -> None:
        self._log = log

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        for each in revoked:
            self._log.write("gave", each.topic, each.partition, -1)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for each in assigned:
            self._log.write("got", each.topic, each.partition, -1)


class Program:
    """`told` has `servers`, `client`, `group`, and `topics` or `by_hand`."""

    def __init__(self, told: dict[str, Any], log: Log) -> None:
        self._log, self._runner = log, asyncio.Runner()
        self._runner.run(self._start(told))

    async def _start(self, told: dict[str, Any]) -> None:
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=told["servers"],
            client_id=told["client"],
            group_id=told["group"],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=20,
            heartbeat_interval_ms=100,
        )
        if by_hand := told.get("by_hand"):
            self._consumer.assign([TopicPartition(topic, partition) for topic, partition, *_ in by_hand])
        else:
            self._consumer.subscribe(told["topics"], listener=_Tells(self._log))
        await self._consumer.start()

    def take(self, count: int) -> None:
        async def take() -> None:
            for _ in range(count):
                message = await self._consumer.getone()
                self._log.write("polled", message.topic, message.partition, message.offset)

        self._runner.run(asyncio.wait_for(take(), PATIENCE_S))

    def serve(self) -> None:
        """Be there, and read nothing, until more is told: what rebalances need."""
        loop = self._runner.get_loop()
        heard = asyncio.Event()
        loop.add_reader(sys.stdin.fileno(), heard.set)
        self._runner.run(heard.wait())
        loop.remove_reader(sys.stdin.fileno())

    def nothing(self) -> None:
        """End what goes on until more is told."""

    def commit(self, offsets: Sequence[tuple[str, int, int]] | None = None) -> None:
        async def commit() -> None:
            places = self._consumer.assignment() if offsets is None else ()
            found = {place: await self._consumer.position(place) for place in places}
            found |= {TopicPartition(topic, partition): offset for topic, partition, offset in offsets or ()}
            try:
                await self._consumer.commit(found)
            except KafkaError:
                return  # it has no right to
            for place, offset in found.items():
                self._log.write("committed", place.topic, place.partition, offset)

        self._runner.run(commit())

    def seek(self, topic: str, partition: int, offset: int) -> None:
        self._log.write("sought", topic, partition, offset)
        self._consumer.seek(TopicPartition(topic, partition), offset)

    def close(self) -> None:
        with self._runner:
            self._runner.run(self._consumer.stop())


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    log = Log(told["log"], told["client"])
    obey(Program(told, log), log)
