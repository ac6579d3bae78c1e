"""A broker with one of everything, what is made of each public class, and right arguments by their names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import broker_core
from broker_core import (
    Acl,
    AvroSerializer,
    BrokerHost,
    BytesSerializer,
    Chain,
    Compatibility,
    Dedupe,
    Delivery,
    Filter,
    GroupConsumer,
    HttpBroker,
    HttpGroupReader,
    HttpPublisher,
    HttpQueueReader,
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
from broker_core.operations.topics import ListTopics
from tests.broker_core.admin import Admin, SchemaAdmin

MESSAGES = 25  # more than there are absurd values: a call may take one
TEXT = '{"type": "integer"}'


class BrokerFixture:
    """A broker with one of everything, and something in it."""

    def __init__(self) -> None:
        self.host = BrokerHost()
        self.admin = Admin(self.host)
        self.admin.create_topic("t", partitions=2)
        self.admin.create_queue("q", QueueConfig(max_attempts=1, priorities=3))
        Admin(self.host).create_subscription("s", "t")
        SchemaAdmin(self.host).register("numbers", TEXT)
        SchemaAdmin(self.host).register("avro", '"long"', SchemaKind.AVRO)
        self.producer = Producer(self.host, ProducerConfig(linger_ms=0, max_block_ms=200))
        self.producer.publish("t", b"1", partition=0)
        self.producer.publish_many("q", [Message(b"1")] * (2 * MESSAGES))
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


def _registry(fixture: BrokerFixture) -> SchemaRegistry:
    return SchemaAdmin(fixture.host).registry


def _delivery(fixture: BrokerFixture) -> Delivery:
    found = fixture.worker.take(5)
    assert found is not None
    return found


def _nobody(_fixture: BrokerFixture) -> HttpBroker:
    return HttpBroker("http://127.0.0.1:1")


# How each is made, or, where making it is what is tried, the class itself.
MADE: dict[str, Callable[[BrokerFixture], Any]] = {
    "Acl": lambda fixture: Acl("billing", "read", "topic", "t"),
    "Admin": lambda fixture: fixture.admin,
    "SchemaRegistry": _registry,
    "Producer": lambda fixture: fixture.producer,
    "GroupConsumer": lambda fixture: fixture.reader,
    "QueueConsumer": lambda fixture: fixture.worker,
    "Delivery": _delivery,
    "Receipt": lambda fixture: fixture.producer.send("t", b"1"),
    "SimpleQueue": lambda fixture: SimpleQueue(fixture.host, "simple"),
    "BrokerHost": lambda fixture: fixture.host,
    "HttpBroker": _nobody,
    "HttpGroupReader": lambda fixture: HttpGroupReader(_nobody(fixture), "g", "t"),
    "HttpPublisher": lambda fixture: HttpPublisher(_nobody(fixture), "t"),
    "HttpQueueReader": lambda fixture: HttpQueueReader(_nobody(fixture), "q"),
    "AvroSerializer": lambda fixture: AvroSerializer(_registry(fixture), "avro"),
    "JsonSerializer": lambda fixture: JsonSerializer(),
    "BytesSerializer": lambda fixture: BytesSerializer(),
    "StringSerializer": lambda fixture: StringSerializer(),
    "MessagePackSerializer": lambda fixture: MessagePackSerializer(),
    "Chain": lambda fixture: Chain([Timestamp()], lambda: 0),
    "SqliteEffects": lambda fixture: SqliteEffects(sqlite3.connect(":memory:"), "g"),
    "RetryPolicy": lambda fixture: RetryPolicy("exponential_jitter"),
    "QueueConfig": lambda fixture: QueueConfig(),
    "DeadLetterEdit": lambda fixture: broker_core.DeadLetterEdit(),
    "Access": lambda fixture: Access.of_token("0123456789abcdef"),
    "Dedupe": lambda fixture: Dedupe(),
    "Filter": lambda fixture: Filter(bool),
    "Logging": lambda fixture: Logging(),
    "Routing": lambda fixture: Routing(lambda _message: None),
    "Timestamp": lambda fixture: Timestamp(),
    "Transform": lambda fixture: Transform(),
    "HttpListener": lambda fixture: HttpListener(fixture.host),
    "KafkaListener": lambda fixture: KafkaListener(fixture.host, port=0),
}
# An argument that is right, by its name.
RIGHT: dict[str, Callable[[BrokerFixture], Any]] = {
    "host": lambda fixture: fixture.host,
    "broker": _nobody,
    "name": lambda fixture: "t",
    "topic": lambda fixture: "t",
    "topics": lambda fixture: ["t"],
    "queue": lambda fixture: "q",
    "group": lambda fixture: "g",
    "subject": lambda fixture: "numbers",
    "text": lambda fixture: TEXT,
    "registry": _registry,
    "version": lambda fixture: 1,
    "before": lambda fixture: {0: 1},
    "schema_id": lambda fixture: 1,
    "mode": lambda fixture: Compatibility.FULL,
    "rule": lambda fixture: SchemaRule("numbers"),
    "partition": lambda fixture: 0,
    "partitions": lambda fixture: [("t", 0)],
    "offset": lambda fixture: 0,
    "offsets": lambda fixture: [0],
    "total": lambda fixture: 3,
    "rate_per_s": lambda fixture: 100.0,
    "target": lambda fixture: Target("earliest"),
    "timestamp_ms": lambda fixture: 0,
    "message": lambda fixture: fixture.message,
    "messages": lambda fixture: [fixture.message],
    "stored": lambda fixture: fixture.message,
    "value": lambda fixture: b"1",
    "data": lambda fixture: b"1",
    "payload": lambda fixture: {"a": 1},
    "transmission": lambda fixture: {"id": "a", "timestamp": "2026-01-01T00:00:00Z", "payload": 1},
    "since": lambda fixture: "2026-01-01T00:00:00Z",
    "max_messages": lambda fixture: 1,
    "deliveries": lambda fixture: [_delivery(fixture)],
    "delivery": _delivery,
    "handler": lambda fixture: lambda _delivery: fixture.worker.close(),
    "accepts": lambda fixture: bool,
    "route": lambda fixture: lambda _message: None,
    "middleware": lambda fixture: [],
    "now_ns": lambda fixture: lambda: 0,
    "published_ns": lambda fixture: 0,
    "connection": lambda fixture: sqlite3.connect(":memory:"),
    "consumer": lambda fixture: fixture.reader,
    "callback": lambda fixture: lambda: None,
    "client": lambda fixture: "c",
    "reply": lambda fixture: fixture.host.durable(),
    "attempt": lambda fixture: 1,
    "unit_interval": lambda fixture: 0.5,
    "letter": lambda fixture: fixture.admin.dead_letters("q")[0],
    "token": lambda fixture: "0123456789abcdef",
    "path": lambda fixture: None,
    "principal": lambda fixture: Access.of_token("0123456789abcdef").principal("0123456789abcdef"),
    "operation": lambda fixture: "read",
    "kind": lambda fixture: "topic",
    "address": lambda fixture: "127.0.0.1",
    "url": lambda fixture: "http://127.0.0.1:1",
    "body": lambda fixture: {},
    "request": lambda fixture: ListTopics(),
}
RIGHT_FOR: dict[tuple[str, str], Callable[[BrokerFixture], Any]] = {
    ("create_topic", "name"): lambda fixture: "new",
    ("concerns", "principal"): lambda fixture: "billing",
    ("is_too_old", "now_ns"): lambda fixture: 0,
    ("post", "path"): lambda fixture: "/produce",
    ("create_queue", "name"): lambda fixture: "new",
    ("create_subscription", "name"): lambda fixture: "new",
    ("purge_queue", "name"): lambda fixture: "q",
    ("delete_queue", "name"): lambda fixture: "q",
    ("describe_queue", "name"): lambda fixture: "q",
    ("queue_config", "name"): lambda fixture: "q",
    ("peek_queue", "name"): lambda fixture: "q",
    ("undo_purge_queue", "name"): lambda fixture: "q",
    ("describe_group", "name"): lambda fixture: "g",
    ("SimpleQueue", "name"): lambda fixture: "simple",
    ("diff", "before"): lambda fixture: 1,
    ("send_message", "message"): lambda fixture: Message(b"1"),
    ("publish_many", "messages"): lambda fixture: [Message(b"1")],
    ("outgoing", "message"): lambda fixture: Message(b"1"),
    ("failed", "message"): lambda fixture: Message(b"1"),
    ("applied_to", "message"): lambda fixture: Message(b"1"),
    ("acknowledge", "message"): lambda fixture: "a",
    ("SchemaRegistry", "register"): lambda fixture: "numbers",
    ("AvroSerializer", "subject"): lambda fixture: "avro",
    ("check", "kind"): lambda fixture: SchemaKind.JSON,
}
