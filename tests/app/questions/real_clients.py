"""Records the session `recordings/real_clients`: `python -m tests.app.questions.real_clients FOLDER`, which takes seven
seconds. confluent-kafka, aiokafka and kafka-python are a group, of which one member is kicked; a reader assigns its
partitions by hand, a slow one blocks a producer, a share group has a dead letter, and a schema refuses a message.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, Message, Producer, ShareConsumer, TopicPartition
from kafka import KafkaConsumer

from broker_core import FlowConfig, SchemaRule
from broker_core.groups.config import GroupSettings
from broker_core.recording.recorder import Recorder
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.scenario_text import scenario_text
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.admin import Admin, SchemaAdmin

KEYFRAME_S = 0.5
REJECT, ACCEPT = 3, 1


class Clients:
    """Programs of others, until `stop` is set."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broker = broker
        self.stop = threading.Event()
        self._settings = {"bootstrap.servers": broker.bootstrap_servers}

    def confluent(self, group: str, client: str, topic: str, *, work_s: float = 0.0, by_hand: int = 0) -> None:
        """Reads and commits, one message at a time."""
        settings = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "fetch.wait.max.ms": 50}
        consumer = Consumer({**self._settings, **settings, "group.id": group, "client.id": client})
        if by_hand:
            consumer.assign([TopicPartition(topic, partition, 0) for partition in range(by_hand)])
        else:
            consumer.subscribe([topic])
        while not self.stop.is_set():
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                time.sleep(work_s)
                with contextlib.suppress(Exception):  # it was kicked
                    consumer.commit(message, asynchronous=False)
        consumer.close()

    def kafka_python(self, group: str, client: str, topic: str) -> None:
        """The same by batches."""
        consumer = KafkaConsumer(
            topic,
            **{name.replace(".", "_"): value for name, value in self._settings.items()},
            group_id=group,
            client_id=client,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=50,
        )
        while not self.stop.is_set():
            if any(consumer.poll(50).values()):
                with contextlib.suppress(Exception):
                    consumer.commit()
        consumer.close()

    def aiokafka(self, group: str, client: str, topic: str) -> None:
        """The same in an asyncio loop."""

        async def run() -> None:
            consumer = AIOKafkaConsumer(
                topic,
                bootstrap_servers=self.broker.bootstrap_servers,
                group_id=group,
                client_id=client,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            )
            async with consumer:
                while not self.stop.is_set():
                    if await consumer.getmany(timeout_ms=50):
                        with contextlib.suppress(Exception):
                            await consumer.commit()

        asyncio.run(run())

    def produce(self, client: str, topic: str, every_s: float, key: Callable[[int], str | None]) -> None:
        """Publishes one message after the other."""
        producer, number = Producer({**self._settings, "client.id": client}), 0
        while not self.stop.is_set():
            producer.produce(topic, f"{topic} {number}", key=key(number))
            producer.poll(0)
            number += 1
            time.sleep(every_s)
        producer.purge()

    def packer(self) -> ShareConsumer:
        """A member of a share group that acknowledges by itself."""
        settings = {"group.id": "packers", "client.id": "packer", "share.acknowledgement.mode": "explicit"}
        consumer = ShareConsumer({**self._settings, **settings})
        consumer.subscribe(["tasks"])
        return consumer


def keyframes(broker: EmbeddedBroker, recorder: Recorder, stop: threading.Event) -> None:
    """The whole state, twice a second."""

    def take(now_ns: int) -> None:
        state = broker.host.broker.snapshot(now_ns, max_leases=100, max_dead_letters=100)
        recorder.keyframe(msgspec.structs.replace(state, actors=(), faults=(), transactions=()))

    while not stop.wait(KEYFRAME_S):
        broker.host.call(take)


def record(folder: Path) -> None:
    """The session."""
    with EmbeddedBroker() as broker:
        text = scenario_text(Scenario(title="Real clients", about="Programs of three libraries.", until_s=10))
        recorder = Recorder(folder, scenario_name="Real clients", scenario_text=text, clock="wall")
        broker.host.events.attach(recorder)
        broker.create_topic("orders", 6)
        broker.create_topic("mails", flow=FlowConfig(max_messages=20))
        broker.create_topic("tasks")
        SchemaAdmin(broker.host).register("reading", '{"type": "object", "required": ["celsius"]}')
        broker.admin.create_topic("readings", schema=SchemaRule("reading"))
        share = GroupSettings(auto_offset_reset="earliest")
        broker.host.call(lambda _now: broker.host.broker.groups.configs.set("packers", share))
        clients = Clients(broker)
        running: list[threading.Thread] = []

        def start(target: Callable[..., object], *arguments: Any, **more: Any) -> None:
            running.append(threading.Thread(target=target, args=arguments, kwargs=more))
            running[-1].start()

        start(keyframes, broker, recorder, clients.stop)
        start(clients.produce, "shop", "orders", 0.02, lambda number: f"key-{number % 20}" if number % 3 else "VIP")
        start(clients.produce, "notifier", "mails", 0.03, lambda _number: None)
        start(clients.confluent, "billing", "biller-confluent", "orders")
        start(clients.confluent, "archive", "archiver", "orders", by_hand=6)
        start(clients.confluent, "mailer", "mailer", "mails", work_s=0.1)
        time.sleep(1.5)
        start(clients.kafka_python, "billing", "biller-python", "orders")
        time.sleep(1.2)
        start(clients.aiokafka, "billing", "biller-aio", "orders")
        time.sleep(1.2)
        _pack(broker, clients)
        sensor = Producer({"bootstrap.servers": broker.bootstrap_servers, "client.id": "sensor"})
        sensor.produce("readings", '{"fahrenheit": 70}')
        sensor.flush(3)
        time.sleep(0.5)
        broker.faults.kick("billing", "biller-confluent")
        time.sleep(1.5)
        clients.stop.set()
        for thread in running:
            thread.join(20)
        recorder.close(time_ns=broker.host.now_ns)


def _pack(broker: EmbeddedBroker, clients: Clients) -> None:
    """The first task becomes a dead letter, which is redriven; the others are in its hands."""
    packer = clients.packer()
    for _ in range(3):
        packer.poll(0.2)
    broker.publish("tasks", *(f"task {number}" for number in range(12)))
    found: list[Message] = []
    while not found:
        found = list(packer.poll(0.2) or ())
    packer.acknowledge(found[0], REJECT)
    for message in found[1:]:
        packer.acknowledge(message, ACCEPT)
    while not packer.poll(0.2):  # it sends its acknowledgements, and gets more
        pass
    Admin(broker.host).redrive("packers.tasks", [broker.admin.dead_letters("packers.tasks")[0].offset])
    threading.Thread(target=lambda: (clients.stop.wait(), packer.close())).start()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
