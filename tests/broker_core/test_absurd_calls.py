"""Absurd arguments, one at a time, to every public method: a sentence or a result, and the broker lives on.

A TypeError of Python's own is an answer only where the argument's type is wrong. Hooks that the program itself calls,
and what takes a coroutine or an action for the inside of the host, are no methods for users.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import broker_core
from broker_core import (
    Admin,
    AvroSerializer,
    BrokerError,
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
    RemoteBroker,
    RemoteConfig,
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
from broker_core.doors.guard.access import Access
from broker_core.doors.http.door import HttpDoor
from broker_core.doors.wire.door import WireDoor
from broker_core.kinds import kind_of

ABSURD: dict[str, Any] = {
    "None": None,
    "NaN": math.nan,
    "infinity": math.inf,
    "-1": -1,
    "0": 0,
    "2**70": 1 << 70,
    "-2**70": -(1 << 70),
    "1e300": 1e300,
    "1.5": 1.5,
    "True": True,
    "no text": "",
    "NUL": "\0",
    "long text": "x" * 100_000,
    "surrogate": "\ud800",
    "..": "..",
    "no bytes": b"",
    "bytes": b"\xff\x00",
    "list": [],
    "list of None": [None],
    "dict": {},
    "dict of None": {None: None},
    "object": object(),
}
TEXT = '{"type": "integer"}'
HANG_S = 30.0


class World:
    """A broker with one of everything, and something in it."""

    def __init__(self) -> None:
        self.host = BrokerHost()
        self.door: WireDoor | None = None
        self.admin = Admin(self.host)
        self.admin.create_topic("t", partitions=2)
        self.admin.create_queue("q", QueueConfig(max_attempts=1, priorities=3))
        self.admin.create_subscription("s", "t")
        SchemaAdmin(self.host).register("numbers", TEXT)
        SchemaAdmin(self.host).register("avro", '"long"', SchemaKind.AVRO)
        self.producer = Producer(self.host, ProducerConfig(linger_ms=0, max_block_ms=200))
        self.producer.publish("t", b"1", partition=0)
        for _ in range(2 * len(ABSURD)):
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

    def remote(self) -> RemoteBroker:
        self.open_door()
        assert self.door is not None
        return RemoteBroker(port=self.door.port, config=RemoteConfig(request_timeout_ms=2_000))

    def open_door(self) -> None:
        if self.door is None:
            self.door = WireDoor(self.host, port=0).start()

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
    "Receipt": lambda world: world.producer.send("t", b"1"),
    "SimpleQueue": lambda world: SimpleQueue(world.host, "simple"),
    "BrokerHost": lambda world: world.host,
    "RemoteBroker": lambda world: world.remote(),
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
    "HttpDoor": lambda world: HttpDoor(world.host),
    "WireDoor": lambda world: WireDoor(world.host, port=0),
}
CLASSES: dict[str, type] = {
    **{name: found for name in broker_core.__all__ if isinstance(found := getattr(broker_core, name), type)},
    "Access": Access,
    "HttpDoor": HttpDoor,
    "WireDoor": WireDoor,
}
# What the program calls itself.
INSIDE = {
    *((name, hook) for name in CLASSES for hook in ("before_publish", "before_deliver", "publish_failed")),
    *((name, each) for name in ("BrokerHost", "RemoteBroker") for each in ("call", "admin", "locked", "start", "run")),
    *((name, each) for name in ("BrokerHost", "RemoteBroker") for each in ("wait", "waking", "unregister")),
    *(("Chain", each) for each in ("outgoing", "failed", "incoming", "incoming_many")),
    *(("WireDoor", each) for each in ("settled", "in_worker")),
    ("DeadLetterFilter", "accepts"),
    ("SchemaRegistry", "restore"),
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
# Waiting for ever, or for a century, is what these ask for where nothing comes.
WAITS = {("timeout_s", "None"), ("timeout_s", "1e300")}


def _methods() -> Iterator[tuple[str, str]]:
    for name, kind in CLASSES.items():
        if issubclass(kind, BaseException) or hasattr(kind, "__members__"):
            continue
        if not hasattr(kind, "__struct_fields__") and inspect.isfunction(vars(kind).get("__init__")):
            yield name, "__init__"
        for method in dir(kind) if name in MADE else ():
            public = not method.startswith("_") and callable(getattr(kind, method)) and (name, method) not in INSIDE
            if public and _parameters(name, method):
                yield name, method


def _parameters(name: str, method: str) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(getattr(CLASSES[name], method)).parameters)
    found.pop("self", None)
    if (name, method) == ("Producer", "publish"):
        fields = _parameters(name, "send")
        found |= {each: fields[each] for each in ("headers", "ttl_ms", "priority", "partition")}
    return {each: found[each] for each in found if found[each].kind is not inspect.Parameter.VAR_KEYWORD}


def _call(world: World, name: str, method: str, parameter: str, value: Any) -> None:
    needed = {}
    own = CLASSES[name]
    for each, known in _parameters(name, method).items():
        called = name if method == "__init__" else method
        right = RIGHT_FOR.get((called, each)) or RIGHT.get(each)
        if each != parameter and known.default is inspect.Parameter.empty:
            assert right is not None, f"{name}.{method} needs {each}"
            needed[each] = right(world)
    needed[parameter] = value
    if method == "__init__":
        if name == "RemoteBroker":
            world.open_door()
            assert world.door is not None
            needed.setdefault("port", world.door.port)
        made = own(**needed)
        close = getattr(made, "close", None)
        if close is not None and name not in {"WireDoor", "HttpDoor"}:
            close()
        return
    result = getattr(MADE[name](world), method)(**needed)
    if isinstance(result, contextlib.AbstractContextManager) and hasattr(result, "gen"):
        with result:
            pass


def _told(world: World, name: str, method: str, parameter: str, value: Any) -> tuple[str, bool]:
    """What is wrong with what it raised, "" where nothing is; and whether it was refused."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            _call(world, name, method, parameter, value)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANG_S)
    if thread.is_alive():
        return "hangs", False
    if not failed:
        return "", False
    error = failed[0]
    if isinstance(error, BrokerError):
        text = str(error)
        return (f"tells: {text[:300]}" if len(text) > 1_200 or "fault of its own" in text else ""), True
    if isinstance(error, TypeError):
        hints = get_type_hints(_function(name, method, parameter), include_extras=True)
        if parameter in hints and not kind_of(hints[parameter]).accepts(value):
            return "", True
    return f"raises {type(error).__name__}: {error}"[:200], False


def _function(name: str, method: str, parameter: str) -> Any:
    found = getattr(CLASSES[name], method)
    in_send = (name, method) == ("Producer", "publish") and parameter not in inspect.signature(found).parameters
    return inspect.unwrap(Producer.send if in_send else found)


@pytest.mark.parametrize(("name", "method"), list(_methods()))
def test_an_absurd_argument_is_refused_in_a_sentence(
    name: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")  # ".." is a directory, too
    told: dict[str, str] = {}
    world: World | None = None
    for parameter, (called, value) in itertools.product(_parameters(name, method), ABSURD.items()):
        if (parameter, called) in WAITS:
            continue
        world = world or World()
        wrong, refused = _told(world, name, method, parameter, value)
        if wrong:
            told[f"{parameter}={called}"] = wrong
        if wrong == "hangs":
            world = None  # it cannot be closed either
        elif not refused or (name, method) == ("Delivery", "extend"):
            world.close()
            world = None
    if world is not None:
        assert world.host.call(lambda _now: world.host.broker.topic_names())
        world.close()
    assert not told, "\n".join(f"{name}.{method}({each}) {wrong}" for each, wrong in told.items())
