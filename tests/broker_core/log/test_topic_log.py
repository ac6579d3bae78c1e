"""A topic: partitions in directories of their own, limits, settings."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles, MemoryFiles
from broker_core.limits import MAX_PARTITIONS
from broker_core.log import topic_log
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner, crc32_partition
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message

from .logs import EPOCH_MS


def test_a_topic_is_found_again_with_all_its_partitions(tmp_path):
    config = LogConfig(durability="file")
    topic = TopicLog(DiskFiles(tmp_path), "orders", 2, config=config, epoch_ms=EPOCH_MS)
    topic.add_partitions(1)
    for partition, log in enumerate(topic.partitions):
        log.append_batch(0, [Message(b"%d" % partition)])
    topic.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["orders-0", "orders-1", "orders-2"]
    again = TopicLog(DiskFiles(tmp_path), "orders", 3, config=config, epoch_ms=EPOCH_MS)
    assert [log.message(0).value for log in again.partitions] == [b"0", b"1", b"2"]
    assert [log.message(0).topic for log in again.partitions] == ["orders"] * 3


def test_keys_choose_their_partition_and_the_rest_takes_turns():
    topic = TopicLog(MemoryFiles(), "t", 4, config=LogConfig(), epoch_ms=0, partitioner=Partitioner(sticky_messages=1))
    assert topic.partition_for(b"key") == crc32_partition(b"key", 4)
    assert [topic.partition_for(None) for _ in range(5)] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize("count", [0, -1, MAX_PARTITIONS + 1])
def test_an_impossible_number_of_partitions_is_refused(count):
    with pytest.raises(BrokerError) as caught:
        TopicLog(MemoryFiles(), "t", count, config=LogConfig(), epoch_ms=0)
    assert caught.value.code is ErrorCode.INVALID_PARTITIONS


def test_partitions_are_added_all_or_none(tmp_path, monkeypatch):
    def failing(files, directory, topic, partition, **settings):
        if partition == 2:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        return PartitionLog(files, directory, topic, partition, **settings)

    topic = TopicLog(DiskFiles(tmp_path), "t", 1, config=LogConfig(durability="file"), epoch_ms=0)
    with monkeypatch.context() as patch:
        patch.setattr(topic_log, "PartitionLog", failing)
        with pytest.raises(BrokerError, match="full"):
            topic.add_partitions(3)
    assert len(topic.partitions) == 1
    topic.add_partitions(3)
    for log in topic.partitions:
        log.append_batch(0, [Message(b"v")])
    assert [(log.partition, log.end_offset) for log in topic.partitions] == [(at, 1) for at in range(4)]


def test_a_name_that_would_leave_the_directory_is_refused():
    with pytest.raises(BrokerError) as caught:
        TopicLog(MemoryFiles(), "../t", 1, config=LogConfig(), epoch_ms=0)
    assert caught.value.code is ErrorCode.INVALID_TOPIC


@pytest.mark.parametrize(
    "wrong",
    [{"segment_bytes": 0}, {"retention_ms": -1}, {"durability": "paper"}, {"cleanup": "both"}, {"segment_ms": 0}],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BrokerError) as caught:
        LogConfig(**wrong)
    assert caught.value.code is ErrorCode.INVALID_CONFIG
    assert next(iter(wrong)) in str(caught.value)


def test_every_call_on_a_closed_topic_that_writes_is_refused():
    topic = TopicLog(MemoryFiles(), "t", 1, config=LogConfig(), epoch_ms=0)
    topic.close()
    topic.close()
    with pytest.raises(BrokerError) as caught:
        topic.partitions[0].append_batch(0, [Message(b"v")])
    assert caught.value.code is ErrorCode.CLOSED
