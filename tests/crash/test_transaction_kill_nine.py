"""A transaction of confluent-kafka whose server dies before or after any of its requests: all of it, or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from broker_core import Admin, BrokerHost, HostConfig, LogConfig
from broker_core.listeners.kafka.call import TABLE
from broker_core.listeners.kafka.listener import KafkaListener

PATIENCE_S = 30.0
PLACES = [TopicPartition("orders", number) for number in range(2)]
REQUESTS = ("InitProducerId", "AddPartitionsToTxn", "Produce", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn")


def config(durability: str) -> HostConfig:
    return HostConfig(log=LogConfig(durability=durability))  # type: ignore[arg-type]


def serve(folder: Path, durability: str, request: str, moment: str) -> None:
    """The child: a broker with a Kafka listener that kills itself when it has served one transaction, at the second
    `request`, before it is handled or before it is answered; says its port.
    """
    (key,) = [api.key for api in TABLE.values() if api.name == request]
    api, seen = TABLE[key], 0

    def handle(call: Any, asked: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == 2 and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = api.handle(call, asked)
        if seen == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    TABLE[key] = api._replace(handle=handle)
    with BrokerHost(folder, config(durability)) as host, KafkaListener(host, port=0) as listener:
        print(listener.port, flush=True)
        threading.Event().wait()


CODE = "import sys, pathlib; from tests.crash.test_transaction_kill_nine import serve; "
CODE += "serve(pathlib.Path(sys.argv[1]), *sys.argv[2:])"


@pytest.mark.promise("36")
@pytest.mark.parametrize(
    ("durability", "request_name", "moment"),
    [
        pytest.param(
            durability, each, moment, marks=() if (durability, each) == ("file", "EndTxn") else pytest.mark.long
        )
        for durability, each in (*(("file", each) for each in REQUESTS), ("fsync", "EndTxn"))
        for moment in ("before", "after")
    ],
)
def test_a_transaction_is_all_or_nothing_over_a_kill(
    tmp_path: Path, durability: str, request_name: str, moment: str
) -> None:
    with BrokerHost(tmp_path, config(durability)) as host:
        Admin(host).create_topic("orders", 2)
        Admin(host).create_topic("payments", 1)
    child = subprocess.Popen(
        [sys.executable, "-c", CODE, str(tmp_path), durability, request_name, moment],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    port = int(child.stdout.readline())
    settings = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "log_level": 0,
        "reconnect.backoff.max.ms": 200,
        # Else librdkafka 2.16 gives the only broker up, forgets who coordinates the transaction, and hangs.
        "metadata.recovery.strategy": "none",
    }
    outcome: dict[str, str] = {}

    def work() -> None:
        producer = Producer({**settings, "transactional.id": "shop", "linger.ms": 0})
        producer.init_transactions(PATIENCE_S)
        group = Consumer({**settings, "group.id": "billing"})
        for name in ("first", "second"):
            if request_name == "InitProducerId" and name == "second":
                producer = Producer({**settings, "transactional.id": "shop", "linger.ms": 0})
                producer.init_transactions(PATIENCE_S)
            outcome[name] = transaction(producer, group, name)
        group.close()

    worker = threading.Thread(target=work)
    worker.start()
    child.wait(PATIENCE_S)
    child.stdout.close()
    with BrokerHost(tmp_path, config(durability)) as host, KafkaListener(host, port=port):
        worker.join(3 * PATIENCE_S)
        assert not worker.is_alive()
        assert outcome["first"] == "committed"
        assert outcome["second"] in {"committed", "aborted"}
        committed = [name for name in ("first", "second") if outcome[name] == "committed"]
        last = Producer({**settings, "transactional.id": "other"})
        last.init_transactions(PATIENCE_S)
        assert transaction(last, None, "last") == "committed"
        assert sorted(read(settings, 2 * len(committed) + 2)) == sorted([*committed, *committed, "last", "last"])
        rows = [row for row in Admin(host).lag("billing") if row.topic == "payments"]
        assert [row.committed for row in rows] == [0]
        assert host.call(lambda _now: host.broker.transactions.views()) == ()
        for number in range(2):
            log = host.broker.logs.partition("orders", number)
            assert (dict(log.segments.open_transactions), log.last_stable_offset) == ({}, log.end_offset)


def transaction(producer: Producer, group: Consumer | None, value: str) -> str:
    """Both partitions and an offset; how it has ended."""
    try:
        producer.begin_transaction()
        for place in PLACES:
            producer.produce(place.topic, value.encode(), partition=place.partition)
        assert producer.flush(PATIENCE_S) == 0
        if group is not None:
            offsets = [TopicPartition("payments", 0, 0)]
            producer.send_offsets_to_transaction(offsets, group.consumer_group_metadata(), PATIENCE_S)
        producer.commit_transaction(PATIENCE_S)
    except KafkaException as error:
        if not error.args[0].txn_requires_abort():
            raise
        producer.abort_transaction(PATIENCE_S)
        return "aborted"
    return "committed"


def read(settings: dict[str, Any], count: int) -> list[str]:
    """So many committed messages from the beginning, and no more where more are there."""
    consumer = Consumer({**settings, "group.id": "reader", "isolation.level": "read_committed"})
    consumer.assign([TopicPartition(place.topic, place.partition, 0) for place in PLACES])
    found = consumer.consume(count, PATIENCE_S) + consumer.consume(1, 0.5)
    consumer.close()
    return [(message.value() or b"").decode() for message in found]
