"""Readers and producers of three libraries in one shape, for programs that are tried with each."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as PythonPartition
from kafka.structs import OffsetAndMetadata

from broker_core.testing.embedded_broker import EmbeddedBroker

PATIENCE_S = 20


class Reader(ABC):
    """Reads `topic` as a member of `group`, or its partition 0 where that is assigned by hand; commits when told to."""

    def __init__(self, broker: EmbeddedBroker, group: str = "g", topic: str = "t", *, by_hand: bool = False) -> None:
        self.topic = topic
        self.open(broker.bootstrap_servers, group, by_hand)

    @abstractmethod
    def open(self, servers: str, group: str, by_hand: bool) -> None: ...

    @abstractmethod
    def take(self, count: int) -> list[int]:
        """The offsets of the next `count` messages."""

    @abstractmethod
    def commit(self, offset: int | None = None) -> None:
        """Of partition 0, or of all that was taken."""

    @abstractmethod
    def seek(self, offset: int) -> None: ...

    @abstractmethod
    def pause(self, on: bool) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Confluent(Reader):
    def open(self, servers: str, group: str, by_hand: bool) -> None:
        self.consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
            }
        )
        if by_hand:
            self.consumer.assign([TopicPartition(self.topic, 0)])
        else:
            self.consumer.subscribe([self.topic])

    def take(self, count: int) -> list[int]:
        found = []
        for _ in range(count):
            message = self.consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            found.append(message.offset() or 0)
        return found

    def commit(self, offset: int | None = None) -> None:
        offsets = None if offset is None else [TopicPartition(self.topic, 0, offset)]
        self.consumer.commit(offsets=offsets, asynchronous=False)

    def seek(self, offset: int) -> None:
        self.consumer.seek(TopicPartition(self.topic, 0, offset))

    def pause(self, on: bool) -> None:
        (self.consumer.pause if on else self.consumer.resume)(self.consumer.assignment())

    def close(self) -> None:
        self.consumer.close()


class Aiokafka(Reader):
    def open(self, servers: str, group: str, by_hand: bool) -> None:
        self.runner = asyncio.Runner()
        self.runner.run(self._start(servers, group, by_hand))

    async def _start(self, servers: str, group: str, by_hand: bool) -> None:
        self.consumer = AIOKafkaConsumer(
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=50,
        )
        if by_hand:
            self.consumer.assign([AioPartition(self.topic, 0)])
        else:
            self.consumer.subscribe([self.topic])
        await self.consumer.start()

    def take(self, count: int) -> list[int]:
        async def take() -> list[int]:
            return [(await self.consumer.getone()).offset for _ in range(count)]

        return self.runner.run(asyncio.wait_for(take(), PATIENCE_S))

    def commit(self, offset: int | None = None) -> None:
        self.runner.run(self.consumer.commit(None if offset is None else {AioPartition(self.topic, 0): offset}))

    def seek(self, offset: int) -> None:
        self.consumer.seek(AioPartition(self.topic, 0), offset)

    def pause(self, on: bool) -> None:
        async def pause() -> None:  # it asks for a running loop
            (self.consumer.pause if on else self.consumer.resume)(*self.consumer.assignment())

        self.runner.run(pause())

    def close(self) -> None:
        with self.runner:
            self.runner.run(self.consumer.stop())


class KafkaPython(Reader):
    def open(self, servers: str, group: str, by_hand: bool) -> None:
        self.consumer = KafkaConsumer(
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=50,
        )
        if by_hand:
            self.consumer.assign([PythonPartition(self.topic, 0)])
        else:
            self.consumer.subscribe([self.topic])

    def take(self, count: int) -> list[int]:
        found: list[int] = []
        while len(found) < count:
            # It forgets a rebalance that takes longer than the time-out.
            parts = self.consumer.poll(timeout_ms=1_000 * PATIENCE_S, max_records=count - len(found))
            assert parts
            found += [each.offset for part in parts.values() for each in part]
        return found

    def commit(self, offset: int | None = None) -> None:
        place = PythonPartition(self.topic, 0)
        self.consumer.commit(None if offset is None else {place: OffsetAndMetadata(offset, "", -1)})

    def seek(self, offset: int) -> None:
        self.consumer.seek(PythonPartition(self.topic, 0), offset)

    def pause(self, on: bool) -> None:
        (self.consumer.pause if on else self.consumer.resume)(*self.consumer.assignment())

    def close(self) -> None:
        self.consumer.close(autocommit=False)


READERS: dict[str, type[Reader]] = {"confluent-kafka": Confluent, "aiokafka": Aiokafka, "kafka-python": KafkaPython}


def produce(library: str, servers: str, *, idempotent: bool) -> None:
    """Publish a message to t, and wait until it is stored."""
    if library == "confluent-kafka":
        settings = {"enable.idempotence": idempotent, "retry.backoff.ms": 10}
        producer = Producer({"bootstrap.servers": servers, **settings})
        producer.produce("t", b"1")
        assert producer.flush(PATIENCE_S) == 0
    elif library == "aiokafka":

        async def send() -> None:
            settings: dict[str, Any] = {"enable_idempotence": idempotent, "retry_backoff_ms": 10}
            async with AIOKafkaProducer(bootstrap_servers=servers, **settings) as producer:
                await asyncio.wait_for(producer.send_and_wait("t", b"1"), PATIENCE_S)

        asyncio.run(send())
    else:
        producer = KafkaProducer(bootstrap_servers=servers, enable_idempotence=idempotent, retry_backoff_ms=10)
        producer.send("t", b"1").get(PATIENCE_S)
        producer.close()
