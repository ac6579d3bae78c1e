"""As Soak.java: produces or consumes until it is killed, and writes what it was told, a JSON line each.

`python -m tests.reference.soak_client produce|consume confluent|aiokafka SERVERS TOPIC CLIENT [PAUSE_MS]`
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError
from confluent_kafka import Consumer, KafkaException, Producer

CONSUMING = {"session_timeout_ms": 6_000, "enable_auto_commit": False, "auto_offset_reset": "earliest"}


def write(word: str, rows: Iterable[tuple[Any, ...]]) -> None:
    print(json.dumps([word, [*rows]]), flush=True)


def value_of(client: str, number: int) -> bytes:
    return f"{client}/{os.getpid()}/{number}".encode()


def dotted(settings: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in settings.items()}


def produce_confluent(servers: str, topic: str, client: str, pause_ms: str) -> None:
    more = {"enable.idempotence": True, "delivery.timeout.ms": 180_000, "linger.ms": 5, "log_level": 0}
    producer = Producer({"bootstrap.servers": servers, "client.id": client, **more})

    def done(error: object, told: Any) -> None:
        if error is None:
            write("acked", [(told.partition(), told.offset(), told.value().decode())])

    for number in itertools.count():
        producer.produce(topic, value_of(client, number), key=b"%d" % (number % 17), on_delivery=done)
        producer.poll(int(pause_ms) / 1_000)


def consume_confluent(servers: str, topic: str, client: str) -> None:
    more = {"bootstrap.servers": servers, "client.id": client, "group.id": client, "log_level": 0}
    consumer = Consumer({**dotted(CONSUMING), **more})
    consumer.subscribe([topic])
    while True:
        got = [(each.partition(), each.offset()) for each in consumer.consume(500, 0.2) if not each.error()]
        if got:
            write("got", got)
            try:
                done = consumer.commit(asynchronous=False) or []
            except KafkaException:  # the group has moved on
                continue
            write("committed", [(each.partition, each.offset) for each in done if each.offset >= 0])


async def produce_aiokafka(servers: str, topic: str, client: str, pause_ms: str) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=servers, client_id=client, enable_idempotence=True)
    await producer.start()

    async def send(number: int) -> None:
        with contextlib.suppress(KafkaError):
            told = await producer.send_and_wait(topic, value_of(client, number), key=b"%d" % (number % 17))
            write("acked", [(told.partition, told.offset, value_of(client, number).decode())])

    sending: set[asyncio.Task[None]] = set()
    for number in itertools.count():
        sending = {each for each in sending if not each.done()} | {asyncio.create_task(send(number))}
        await asyncio.sleep(int(pause_ms) / 1_000)


async def consume_aiokafka(servers: str, topic: str, client: str) -> None:
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=servers, client_id=client, group_id=client, **CONSUMING)
    await consumer.start()
    while True:
        found = await consumer.getmany(timeout_ms=200, max_records=500)
        got = [(place.partition, each.offset) for place, rows in found.items() for each in rows]
        if got:
            write("got", got)
            try:
                await consumer.commit()
            except KafkaError:
                continue
            write("committed", [(p.partition, await consumer.position(p)) for p in consumer.assignment()])


def main(verb: str, library: str, *arguments: str) -> None:
    """Until it is killed, and again where the cluster does not answer yet."""
    while True:
        try:
            work = globals()[f"{verb}_{library}"](*arguments)
            if work is not None:
                asyncio.run(work)
        except KafkaError:
            time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
