"""Promise 35: a client is never told that something is kept while the disk refuses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from broker_core import Admin, BrokerError, BrokerHost, ErrorCode
from broker_core.engine.data_directory import DataDirectory
from broker_core.faults.kafka_names import KAFKA_ERRORS
from broker_core.groups.offset_table import OffsetTable
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.conftest import QUICK
from tests.broker_core.listeners.kafka.raw import KEYS, asked

REFUSED = KAFKA_ERRORS["NOT_COORDINATOR"]


def refuse(_table: OffsetTable, _changes: object) -> None:
    raise BrokerError(ErrorCode.STORAGE_ERROR, "'offsets.sqlite': no space left on device")


def commit(port: int, offset: int) -> int:
    """The error code of a commit without a group's membership."""
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    topics = [{"name": "orders", "partitions": [partition]}]
    whole = {"group_id": "billing", "generation_id_or_member_epoch": -1, "member_id": "", "topics": topics}
    answer: Any = asked(port, KEYS["OffsetCommit"], 9, whole)
    return int(answer.topics[0].partitions[0].error_code)


def test_a_commit_that_the_disk_refuses_is_refused_and_taken_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with BrokerHost(tmp_path, config=QUICK) as host:
        Admin(host).create_topic("orders")
        with KafkaListener(host, port=0) as listener:
            assert commit(listener.port, 1) == 0
            with monkeypatch.context() as full:
                full.setattr(OffsetTable, "write", refuse)
                assert commit(listener.port, 2) == REFUSED
            assert commit(listener.port, 3) == 0
    with BrokerHost(tmp_path, config=QUICK) as host:
        assert [each.committed for each in Admin(host).lag("billing")] == [3]


def test_no_member_gets_partitions_while_the_disk_refuses_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with BrokerHost(tmp_path, config=QUICK) as host:
        Admin(host).create_topic("orders")
        with KafkaListener(host, port=0) as listener, monkeypatch.context() as full:
            full.setattr(OffsetTable, "write", refuse)
            join = {
                "group_id": "billing",
                "session_timeout": 10_000,
                "rebalance_timeout": 10_000,
                "member_id": "",
                "protocol_type": "connect",
                "protocols": [{"name": "range", "metadata": b""}],
            }
            joined = asked(listener.port, KEYS["JoinGroup"], 3, join)
            own = {"member_id": joined.member_id, "assignment": b"mine"}
            sync = {
                "group_id": "billing",
                "generation_id": joined.generation_id,
                "member_id": joined.member_id,
                "assignments": [own],
            }
            assert asked(listener.port, KEYS["SyncGroup"], 3, sync).error_code == REFUSED


def test_librdkafka_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with BrokerHost(tmp_path, config=QUICK) as host:
        Admin(host).create_topic("orders")
        with KafkaListener(host, port=0) as listener:
            settings = {"bootstrap.servers": listener.bootstrap_servers, "log_level": 0}
            producer = Producer(settings)
            producer.produce("orders", b"1")
            producer.flush(10)
            consumer = Consumer({**settings, "group.id": "billing", "enable.auto.commit": False})
            try:
                monkeypatch.setattr(OffsetTable, "write", refuse)
                with pytest.raises(KafkaException) as told:
                    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
                assert told.value.args[0].code() == KafkaError.NOT_COORDINATOR
            finally:
                monkeypatch.undo()
                consumer.close()


def test_a_topic_is_not_said_to_be_made_while_the_disk_refuses_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(_directory: DataDirectory, _catalog: object) -> bool:
        raise BrokerError(ErrorCode.STORAGE_ERROR, "'catalog.json': no space left on device")

    with BrokerHost(tmp_path, config=QUICK) as host, KafkaListener(host, port=0) as listener:
        wanted = {"name": "orders", "num_partitions": 1, "replication_factor": 1, "assignments": (), "configs": ()}
        with monkeypatch.context() as disk:
            disk.setattr(DataDirectory, "save_catalog", full)
            answer = asked(listener.port, KEYS["CreateTopics"], 7, {"topics": [wanted]})
        assert answer.topics[0].error_code == KAFKA_ERRORS["KAFKA_STORAGE_ERROR"]
        assert "no space" in answer.topics[0].error_message
