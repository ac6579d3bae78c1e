"""What the Java client of Kafka 4.4 writes and expects, where other clients are not as strict."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any
from uuid import uuid4

import pytest

from broker_core import Admin, BrokerHost, LogConfig
from broker_core.listeners.access.access import Access, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import encode_batch
from broker_core.messages import Message
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.kafka.raw import KEYS, Raw, asked
from tests.broker_core.listeners.kafka.test_newest_transactions import Client, fetched

# Of producer 0 in epoch 0, as `MemoryRecords.withTransactionalRecords` made it: its leader epoch is -1.
BATCH = bytes.fromhex(
    "00000000000000000000003effffffff02720ff0ce0010000000000000019ac979e4000000019ac979e40000000000000000"
    "000000000000000000000118000000026b0a666972737400"
)


@pytest.mark.parametrize("base_offset", [0, -1, 1 << 40])
def test_what_the_broker_writes_into_a_batch_may_be_anything(admin: Admin, listener: KafkaListener, base_offset: int):
    """Base offset and leader epoch are not under the checksum; Kafka overwrites both."""
    admin.create_topic("orders")
    client = Client(listener)
    client.init()
    records = base_offset.to_bytes(8, signed=True) + BATCH[8:]
    body = {
        "transactional_id": "payments",
        "acks": -1,
        "timeout": 1_000,
        "topic_data": [{"name": "orders", "partition_data": [{"index": 0, "records": records}]}],
    }
    (topic,) = client.ask(KEYS["Produce"], 12, **body).responses
    assert topic.partition_responses[0].error_code.name == "none"
    assert client.end(5, committed=True).name == "none"
    kept = fetched(client, 1).records
    assert kept[:8] == bytes(8)
    assert kept[12:16] == bytes(4)
    assert kept[16 : len(BATCH)] == BATCH[16:]


def test_a_described_partition_has_lists_where_kafka_has_lists(admin: Admin, listener: KafkaListener):
    """The schema allows null, and Java takes a stream of it."""
    admin.create_topic("orders")
    body = {"topics": [{"name": "orders"}], "response_partition_limit": 10}
    (topic,) = asked(listener.port, KEYS["DescribeTopicPartitions"], 0, body).topics
    (partition,) = topic.partitions
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ((), ())


def test_where_there_are_topic_ids_names_are_not_looked_at(admin: Admin, listener: KafkaListener):
    """Java sends an empty name beside each id."""
    admin.create_topic("orders")

    def told(*topics: dict[str, object]) -> list[tuple[str, str | None]]:
        found = asked(listener.port, KEYS["Metadata"], 13, {"topics": topics}).topics
        return [(each.error_code.name, each.name) for each in found]

    (row,) = asked(listener.port, KEYS["Metadata"], 13, {"topics": [{"name": "orders"}]}).topics
    for name in (None, "", "nope"):
        assert told({"name": name, "topic_id": row.topic_id}) == [("none", "orders")]
        assert told({"name": name, "topic_id": uuid4()}) == [("unknown_topic_id", None)]
    assert told({"name": "", "topic_id": row.topic_id}, {"name": "orders"}) == [("none", "orders")]


def test_what_the_client_may_do_is_told_if_it_asks(host: BrokerHost, admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    reader = (Rule("*", (Operation.READ,), ("orders",), (), ("*",)),)

    def told(port: int) -> list[int]:
        asks = {"topics": [{"name": "orders"}], "include_topic_authorized_operations": True}
        (topic,) = asked(port, KEYS["Metadata"], 13, asks).topics
        older = {"topics": [], "include_cluster_authorized_operations": True}
        cluster = asked(port, KEYS["DescribeCluster"], 2, {"include_cluster_authorized_operations": True})
        (group,) = asked(
            port, KEYS["DescribeGroups"], 5, {"groups": ["g"], "include_authorized_operations": True}
        ).groups
        (page,) = asked(
            port, KEYS["DescribeTopicPartitions"], 0, {"topics": [{"name": "orders"}], "response_partition_limit": 1}
        ).topics
        return [
            topic.topic_authorized_operations,
            page.topic_authorized_operations,
            asked(port, KEYS["Metadata"], 8, older).cluster_authorized_operations,
            cluster.cluster_authorized_operations,
            group.authorized_operations,
        ]

    assert told(listener.port) == [3576, 3576, 8096, 8096, 3400]
    with KafkaListener(host, port=0, access=Access((), reader)) as other:
        describe_read = 1 << 8 | 1 << 10 | 1 << 3
        assert told(other.port) == [describe_read, describe_read, 0, 0, describe_read]
    (silent,) = asked(listener.port, KEYS["Metadata"], 13, {"topics": [{"name": "orders"}]}).topics
    assert silent.topic_authorized_operations == -(1 << 31)


def test_topics_that_differ_by_a_dot_collide(admin: Admin, listener: KafkaListener):
    def made(name: str) -> str:
        topic = {"name": name, "num_partitions": 1, "replication_factor": 1}
        return asked(listener.port, KEYS["CreateTopics"], 7, {"topics": [topic]}).topics[0].error_code.name

    assert [made(name) for name in ("a.b", "a_b", "a.c", "ab")] == ["none", "invalid_topic_exception", "none", "none"]


def test_a_leader_epoch_that_the_leader_never_had_is_from_elsewhere(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")

    def fetched(**place: int) -> str:
        row = {"partition": 0, "partition_max_bytes": 100, **place}
        topic = {"topic": "orders", "partitions": [row]}
        return asked(listener.port, KEYS["Fetch"], 12, {"topics": [topic]}).responses[0].partitions[0].error_code.name

    assert fetched(current_leader_epoch=0) == "none"
    assert fetched(current_leader_epoch=1) == "unknown_leader_epoch"
    assert fetched(current_leader_epoch=0, last_fetched_epoch=1) == "offset_out_of_range"
    row = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": 1}
    body = {"topics": [{"name": "orders", "partitions": [row]}]}
    listed = asked(listener.port, KEYS["ListOffsets"], 7, body).topics[0].partitions[0]
    assert (listed.error_code.name, listed.offset, listed.leader_epoch) == ("unknown_leader_epoch", -1, -1)


@pytest.mark.parametrize(("wanted", "first"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11)])
def test_versions_do_not_know_later_wishes(admin: Admin, listener: KafkaListener, wanted: int, first: int):
    admin.create_topic("orders")
    body = {"topics": [{"name": "orders", "partitions": [{"partition_index": 0, "timestamp": wanted}]}]}
    for version, error in ((first - 1, "unsupported_version"), (first, "none")):
        listed = asked(listener.port, KEYS["ListOffsets"], version, body).topics[0].partitions[0]
        assert listed.error_code.name == error
        assert listed.leader_epoch == (-1 if listed.offset < 0 else 0)


def test_acks_are_none_one_or_all(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    for acks, records, error in ((2, BATCH, "invalid_required_acks"), (1, b"", "invalid_record")):
        topic = {"name": "orders", "partition_data": [{"index": 0, "records": records}]}
        (row,) = asked(listener.port, KEYS["Produce"], 12, {"acks": acks, "topic_data": [topic]}).responses
        assert row.partition_responses[0].error_code.name == error
    unknown = {"topic_id": uuid4(), "partition_data": [{"index": 0, "records": BATCH}]}
    (row,) = asked(listener.port, KEYS["Produce"], 13, {"acks": 1, "topic_data": [unknown]}).responses
    assert row.partition_responses[0].error_code.name == "unknown_topic_id"


def test_a_member_keeps_to_the_protocols_of_its_group(admin: Admin, listener: KafkaListener):
    """Even its only one; and what is said in SyncGroup is compared, too."""
    mine = {"session_timeout": 6_000, "rebalance_timeout": 6_000, "protocol_type": "consumer"}
    metadata = b"\0\0\0\0\0\0\0\0\0\0"

    with closing(Raw(listener.port)) as member:

        def join(group: str = "g", kind: str = "consumer", member_id: str = "", **protocols: bytes) -> Any:
            rows = [{"name": name, "metadata": data} for name, data in protocols.items()]
            body = {**mine, "group_id": group, "member_id": member_id, "protocol_type": kind, "protocols": rows}
            return member.asked(KEYS["JoinGroup"], 9, body)

        assert join().error_code.name == "inconsistent_group_protocol"
        assert join("", range=metadata).error_code.name == "invalid_group_id"
        member_id = join(range=metadata).member_id
        joined = join(member_id=member_id, range=metadata)
        assert join(kind="connect", member_id=member_id, x=b"").error_code.name == "inconsistent_group_protocol"
        assert join(member_id=member_id, sticky=metadata).error_code.name == "inconsistent_group_protocol"
        at = {"group_id": "g", "member_id": member_id, "generation_id": joined.generation_id}
        for kind, name, error in (("connect", "x", "inconsistent_group_protocol"), ("consumer", "range", "none")):
            synced = member.asked(KEYS["SyncGroup"], 5, {**at, "protocol_type": kind, "protocol_name": name})
            assert synced.error_code.name == error
        member.asked(KEYS["LeaveGroup"], 5, {"group_id": "g", "members": [{"member_id": member_id}]})
        (left,) = member.asked(KEYS["DescribeGroups"], 6, {"groups": ["g"]}).groups
        assert (left.group_state, left.protocol_type, left.protocol_data) == ("Empty", "consumer", "")


def test_who_commits_without_being_a_member_is_told_why_as_by_kafka(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    joins = {"group_id": "k", "member_id": "m", "subscribed_topic_names": ["orders"], "rebalance_timeout": 1_000}
    epoch = asked(listener.port, KEYS["ConsumerGroupHeartbeat"], 1, {**joins, "topic_partitions": ()}).member_epoch

    def committed(version: int, group: str, member_id: str, generation: int) -> str:
        row = {"partition_index": 0, "committed_offset": 0}
        body = {"group_id": group, "member_id": member_id, "generation_id_or_member_epoch": generation}
        body["topics"] = [{"name": "orders", "partitions": [row]}]
        return asked(listener.port, KEYS["OffsetCommit"], version, body).topics[0].partitions[0].error_code.name

    assert committed(9, "k", "", -1) == "unknown_member_id"
    assert committed(8, "nobody", "m", 1) == "illegal_generation"
    assert committed(9, "nobody", "m", 1) == "group_id_not_found"
    assert committed(8, "k", "m", epoch + 1) == "unsupported_version"
    assert committed(9, "k", "m", epoch + 1) == "stale_member_epoch"
    assert committed(9, "k", "m", epoch) == "none"

    def fetched(**member: object) -> tuple[str, int]:
        groups = [{"group_id": "k", "topics": None, **member}]
        (group,) = asked(listener.port, KEYS["OffsetFetch"], 9, {"groups": groups}).groups
        return group.error_code.name, len(group.topics)

    assert fetched() == fetched(member_id="m", member_epoch=epoch) == ("none", 1)
    assert fetched(member_id="m", member_epoch=epoch + 1) == ("stale_member_epoch", 0)
    assert fetched(member_id="other", member_epoch=epoch) == ("unknown_member_id", 0)


def test_offsets_of_a_transaction_are_refused_one_by_one(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    client = Client(listener)
    client.init()
    row = {"partition_index": 0, "committed_offset": 0}
    topics = [{"name": name, "partitions": [row]} for name in ("orders", "nope")]
    told = client.ask(
        KEYS["TxnOffsetCommit"], 5, transactional_id="payments", group_id="g", topics=topics, **client.shown
    ).topics
    assert [each.partitions[0].error_code.name for each in told] == ["none", "unknown_topic_or_partition"]
    assert client.end(5, committed=True).name == "none"
    assert admin.lag("g")[0].committed == 0


def test_a_partition_that_is_not_there_is_not_added_to_a_transaction(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    client = Client(listener)
    client.init()
    rows = [{"index": number, "records": BATCH} for number in (0, 7)]
    body = {"transactional_id": "payments", "acks": -1, "topic_data": [{"name": "orders", "partition_data": rows}]}
    (topic,) = client.ask(KEYS["Produce"], 12, **body).responses
    assert [each.error_code.name for each in topic.partition_responses] == ["none", "unknown_topic_or_partition"]
    (state,) = client.ask(KEYS["DescribeTransactions"], 0, transactional_ids=["payments"]).transaction_states
    assert [(each.topic, each.partitions) for each in state.topics] == [("orders", (0,))]


def test_a_commit_after_the_transaction_has_timed_out_is_of_the_wrong_state(host: BrokerHost, admin: Admin):
    admin.create_topic("orders")
    with KafkaListener(host, port=0) as listener:
        client = Client(listener)
        client.init(transaction_timeout=1)
        client.produce(12, b"late")
        before = dict(client.shown)
        while not client.ask(
            KEYS["ListTransactions"], 1, state_filters=["CompleteAbort"], duration_filter=-1
        ).transaction_states:
            pass
        assert client.end(5, committed=True).name == "invalid_txn_state"
        client.init(producer_id=-1, producer_epoch=-1)
        client.shown = before
        assert client.end(5, committed=True).name == "producer_fenced"


@pytest.mark.parametrize("late_ms", [3_700_000, 3_500_000])
def test_timestamps_far_from_now_are_refused(host: BrokerHost, listener: KafkaListener, late_ms: int):
    def produced(topic: str, timestamp_ms: int) -> str:
        records = bytes(encode_batch(0, timestamp_ms, [Message(b"v")])[0])
        body = {"acks": 1, "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]}
        (found,) = asked(listener.port, KEYS["Produce"], 12, body).responses
        return found.partition_responses[0].error_code.name

    admin, now_ms = Admin(host), time.time_ns() // 1_000_000
    admin.create_topic("orders")
    admin.create_topic("young", log=LogConfig(timestamp_before_max_ms=60_000))
    admin.create_topic("appended", log=LogConfig(timestamp_type="LogAppendTime"))
    assert produced("orders", now_ms + late_ms) == ("invalid_timestamp" if late_ms > 3_600_000 else "none")
    assert produced("orders", 1_000) == produced("appended", now_ms + late_ms) == "none"
    assert produced("young", now_ms - 61_000) == "invalid_timestamp"
    assert produced("young", now_ms) == "none"
