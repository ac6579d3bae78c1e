"""A broker with one of everything, what is made of each public class, and right arguments by their names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import broker_core
from broker_core import (
    Admin,
    AvroSerializer,
    BrokerHost,
    BytesSerializer,
    Chain,
    Compatibility,
    Dedupe,
    Delivery,
    Filter,
    GroupConsumer,
    JsonSchemaSerializer,
    JsonSerializer,
    Logging,
    Message,
    MessagePackSerializer,
    Producer,
    ProducerConfig,
    QueueConfig,
    QueueConsumer,
    RetryPolicy,
    Routing,
    SchemaAdmin,
    SchemaKind,
    SchemaRegistry,
    SchemaRule,
    SimpleQueue,
    SqliteEffects,
    StringSerializer,
    Target,
    Timestamp,
    Transform,
)
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener

MESSAGES = 25  # more than there are absurd values: a call may take one
TEXT = '{"type": "integer"}'


class World:
    """A broker with one of everything, and something in it."""

    def __init__(self) -> None:
        self.host = BrokerHost()
        self.admin = Admin(self.host)
        self.admin.create_topic("t", partitions=2)
        self.admin.create_queue("q", QueueConfig(max_attempts=1, priorities=3))
        self.admin.create_subscription("s", "t")
        SchemaAdmin(self.host).register("numbers", TEXT)
        SchemaAdmin(self.host).register("avro", '"long"', SchemaKind.AVRO)
        self.producer = Producer(self.host, ProducerConfig(linger_ms=0, max_block_ms=200))
        self.producer.publish("t", b"1", partition=0)
        for _ in range(2 * MESSAGES):
            self.producer.publish("q", b"1")
        self.worker = QueueConsumer(self.host, "q")
        dead = self.worker.take(5)
        assert dead is not None
        dead.nack("broken")
        self.reader = GroupConsumer(self.host, "g", ["t"])
        while not (found := self.reader.poll(5)):
            pass
        self.message = found[0]
        self.reader.commit()

    def close(self) -> None:
        self.producer.close(0)
        self.host.close()


def _registry(world: World) -> SchemaRegistry:
    return SchemaAdmin(world.host).registry


def _delivery(world: World) -> Delivery:
    found = world.worker.take(5)
    assert found is not None
    return found


# How each is made, or, where making it is what is tried, the class itself.
MADE: dict[str, Callable[[World], Any]] = {
    "Admin": lambda world: world.admin,
    "SchemaAdmin": lambda world: SchemaAdmin(world.host),
    "SchemaRegistry": _registry,
    "Producer": lambda world: world.producer,
    "GroupConsumer": lambda world: world.reader,
    "QueueConsumer": lambda world: world.worker,
    "Delivery": _delivery,
    "RunningRedrive": lambda world: world.admin.redrive_paced("q", [0], 100.0),
    "Receipt": lambda world: world.producer.send("t", b"1"),
    "SimpleQueue": lambda world: SimpleQueue(world.host, "simple"),
    "BrokerHost": lambda world: world.host,
    "AvroSerializer": lambda world: AvroSerializer(_registry(world), "avro"),
    "JsonSchemaSerializer": lambda world: JsonSchemaSerializer(_registry(world), "numbers"),
    "JsonSerializer": lambda world: JsonSerializer(),
    "BytesSerializer": lambda world: BytesSerializer(),
    "StringSerializer": lambda world: StringSerializer(),
    "MessagePackSerializer": lambda world: MessagePackSerializer(),
    "Chain": lambda world: Chain([Timestamp()], lambda: 0),
    "SqliteEffects": lambda world: SqliteEffects(sqlite3.connect(":memory:"), "g"),
    "RetryPolicy": lambda world: RetryPolicy("exponential_jitter"),
    "QueueConfig": lambda world: QueueConfig(),
    "DeadLetterEdit": lambda world: broker_core.DeadLetterEdit(),
    "DeadLetterFilter": lambda world: broker_core.DeadLetterFilter(text="1"),
    "Access": lambda world: Access.of_token("0123456789abcdef"),
    "Dedupe": lambda world: Dedupe(),
    "Filter": lambda world: Filter(bool),
    "Logging": lambda world: Logging(),
    "Routing": lambda world: Routing(lambda _message: None),
    "Timestamp": lambda world: Timestamp(),
    "Transform": lambda world: Transform(),
    "HttpListener": lambda world: HttpListener(world.host),
    "KafkaListener": lambda world: KafkaListener(world.host, port=0),
}
# An argument that is right, by its name.
RIGHT: dict[str, Callable[[World], Any]] = {
    "host": lambda world: world.host,
    "name": lambda world: "t",
    "topic": lambda world: "t",
    "topics": lambda world: ["t"],
    "queue": lambda world: "q",
    "group": lambda world: "g",
    "subject": lambda world: "numbers",
    "text": lambda world: TEXT,
    "registry": _registry,
    "version": lambda world: 1,
    "before": lambda world: {0: 1},
    "schema_id": lambda world: 1,
    "mode": lambda world: Compatibility.FULL,
    "rule": lambda world: SchemaRule("numbers"),
    "partition": lambda world: 0,
    "partitions": lambda world: [("t", 0)],
    "offset": lambda world: 0,
    "offsets": lambda world: [0],
    "total": lambda world: 3,
    "rate_per_s": lambda world: 100.0,
    "target": lambda world: Target("earliest"),
    "timestamp_ms": lambda world: 0,
    "message": lambda world: world.message,
    "messages": lambda world: [world.message],
    "stored": lambda world: world.message,
    "value": lambda world: b"1",
    "data": lambda world: b"1",
    "payload": lambda world: {"a": 1},
    "transmission": lambda world: {"id": "a", "timestamp": "2026-01-01T00:00:00Z", "payload": 1},
    "since": lambda world: "2026-01-01T00:00:00Z",
    "max_messages": lambda world: 1,
    "deliveries": lambda world: [_delivery(world)],
    "delivery": _delivery,
    "handler": lambda world: lambda _delivery: world.worker.close(),
    "accepts": lambda world: bool,
    "route": lambda world: lambda _message: None,
    "middleware": lambda world: [],
    "now_ns": lambda world: lambda: 0,
    "connection": lambda world: sqlite3.connect(":memory:"),
    "consumer": lambda world: world.reader,
    "callback": lambda world: lambda: None,
    "client": lambda world: "c",
    "reply": lambda world: world.host.kept(),
    "attempt": lambda world: 1,
    "unit_interval": lambda world: 0.5,
    "letter": lambda world: world.admin.dead_letters("q")[0],
    "token": lambda world: "0123456789abcdef",
    "path": lambda world: None,
    "principal": lambda world: Access.of_token("0123456789abcdef").principal("0123456789abcdef"),
    "operation": lambda world: "read",
    "kind": lambda world: "topic",
    "address": lambda world: "127.0.0.1",
}
RIGHT_FOR: dict[tuple[str, str], Callable[[World], Any]] = {
    ("create_topic", "name"): lambda world: "new",
    ("create_queue", "name"): lambda world: "new",
    ("create_subscription", "name"): lambda world: "new",
    ("purge_queue", "name"): lambda world: "q",
    ("delete_queue", "name"): lambda world: "q",
    ("describe_queue", "name"): lambda world: "q",
    ("queue_config", "name"): lambda world: "q",
    ("peek_queue", "name"): lambda world: "q",
    ("undo_purge_queue", "name"): lambda world: "q",
    ("describe_group", "name"): lambda world: "g",
    ("SimpleQueue", "name"): lambda world: "simple",
    ("diff", "before"): lambda world: 1,
    ("send_message", "message"): lambda world: Message(b"1"),
    ("publish_many", "messages"): lambda world: [Message(b"1")],
    ("outgoing", "message"): lambda world: Message(b"1"),
    ("failed", "message"): lambda world: Message(b"1"),
    ("applied_to", "message"): lambda world: Message(b"1"),
    ("acknowledge", "message"): lambda world: "a",
    ("SchemaRegistry", "register"): lambda world: "numbers",
    ("AvroSerializer", "subject"): lambda world: "avro",
    ("check", "kind"): lambda world: SchemaKind.JSON,
}
