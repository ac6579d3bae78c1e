"""Transactions in the newest versions, as Kafka 4's own clients send them (KIP-890), and what administrators ask."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from kio.schema.errors import ErrorCode as KafkaError

from broker_core import Admin, BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import ProducerStamp, encode_batch
from broker_core.messages import Message
from broker_core.operations.entry import Operation
from broker_core.replies import Reply
from broker_core.transactions.transaction import StateLog

from .raw import asked

PRODUCE, FETCH, LIST_OFFSETS, OFFSET_FETCH, COORDINATOR = 0, 1, 2, 9, 10
INIT, ADD_PARTITIONS, ADD_OFFSETS, END, COMMIT_OFFSETS = 22, 24, 25, 26, 28
DESCRIBE_PRODUCERS, DESCRIBE, LIST = 61, 65, 66
ID = "payments"


class Client:
    """One producer with what it shows."""

    def __init__(self, listener: KafkaListener) -> None:
        self.port = listener.port
        self.shown: dict[str, Any] = {}
        self.sequence = 0

    def ask(self, key: int, version: int, **body: Any) -> Any:
        return asked(self.port, key, version, body)

    def init(self, version: int = 5, **more: Any) -> Any:
        found = self.ask(INIT, version, transactional_id=ID, **({"transaction_timeout": 60_000} | self.shown | more))
        self.take(found)
        return found

    def take(self, found: Any) -> None:
        if found.error_code == KafkaError.none:
            self.shown = {"producer_id": found.producer_id, "producer_epoch": found.producer_epoch}

    def produce(self, version: int, *values: bytes, transactional: bool = True, partition: int = 0) -> Any:
        stamp = ProducerStamp(self.shown["producer_id"], self.shown["producer_epoch"], self.sequence, transactional)
        records = bytes(encode_batch(0, 0, [Message(value) for value in values], stamp)[0])
        (topic,) = self.ask(
            PRODUCE,
            version,
            transactional_id=ID,
            acks=-1,
            timeout=_ms(1_000),
            topic_data=[{"name": "orders", "partition_data": [{"index": partition, "records": records}]}],
        ).responses
        found = topic.partition_responses[0]
        self.sequence += len(values) if found.error_code == KafkaError.none else 0
        return found.error_code

    def put_offset(self) -> Any:
        place = {"partition_index": 0, "committed_offset": 1, "committed_metadata": "note"}
        found = self.ask(
            COMMIT_OFFSETS,
            5,
            transactional_id=ID,
            group_id="billing",
            member_id="",
            generation_id=-1,
            topics=[{"name": "orders", "partitions": [place]}],
            **self.shown,
        )
        return found.topics[0].partitions[0].error_code

    def end(self, version: int, *, committed: bool) -> Any:
        found = self.ask(END, version, transactional_id=ID, committed=committed, **self.shown)
        if version >= 5:
            self.take(found)
            self.sequence = 0
        return found.error_code


def _ms(milliseconds: int) -> int:
    return milliseconds


@pytest.fixture
def client(admin: Admin, listener: KafkaListener) -> Client:
    admin.create_topic("orders", 2)
    return Client(listener)


def fetched(client: Client, isolation: int) -> Any:
    place = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    (topic,) = client.ask(
        FETCH, 12, max_bytes=1 << 20, isolation_level=isolation, topics=[{"topic": "orders", "partitions": [place]}]
    ).responses
    return topic.partitions[0]


def test_partitions_are_added_by_the_way_and_each_transaction_has_its_epoch(client: Client):
    client.init()
    epochs = [client.shown["producer_epoch"]]
    assert client.produce(12, b"a", b"b") == KafkaError.none
    assert client.end(5, committed=True) == KafkaError.none
    epochs.append(client.shown["producer_epoch"])
    assert client.produce(12, b"x") == KafkaError.none
    late = Client.__new__(Client)
    late.port, late.shown, late.sequence = client.port, dict(client.shown), 1
    assert client.end(5, committed=False) == KafkaError.none
    epochs.append(client.shown["producer_epoch"])
    assert late.produce(12, b"late") == KafkaError.invalid_producer_epoch
    assert epochs == [0, 1, 2]
    aborted = fetched(client, 1)
    assert [(each.producer_id, each.first_offset) for each in aborted.aborted_transactions] == [
        (client.shown["producer_id"], 3)
    ]
    assert (aborted.last_stable_offset, aborted.high_watermark) == (5, 5)
    assert fetched(client, 0).aborted_transactions is None


def test_older_versions_must_announce_their_partitions(client: Client):
    client.init()
    assert client.produce(10, b"a") == KafkaError.invalid_txn_state
    assert client.produce(11, b"a") == KafkaError.transaction_abortable
    topics = [{"name": "orders", "partitions": [0]}, {"name": "missing", "partitions": [0]}]
    old = {f"v3_and_below_{name}": value for name, value in client.shown.items()}

    def add(topics: list[Any]) -> list[Any]:
        found = client.ask(ADD_PARTITIONS, 3, v3_and_below_transactional_id=ID, v3_and_below_topics=topics, **old)
        return [
            row.partition_error_code
            for topic in found.results_by_topic_v3_and_below
            for row in topic.results_by_partition
        ]

    assert add(topics) == [KafkaError.operation_not_attempted, KafkaError.unknown_topic_or_partition]
    assert client.produce(10, b"a") == KafkaError.invalid_txn_state
    assert add(topics[:1]) == [KafkaError.none]
    assert client.produce(10, b"a") == KafkaError.none
    assert client.produce(10, b"b", partition=1) == KafkaError.invalid_txn_state
    assert client.end(3, committed=True) == KafkaError.none
    assert client.end(3, committed=True) == KafkaError.none
    assert client.end(3, committed=False) == KafkaError.invalid_txn_state


def test_the_newest_way_to_announce_verifies_too(client: Client):
    client.init()
    topics = [{"name": "orders", "partitions": [0]}]

    def add(verify: bool) -> Any:
        each = {"transactional_id": ID, "verify_only": verify, "topics": topics, **client.shown}
        (found,) = client.ask(ADD_PARTITIONS, 5, transactions=[each]).results_by_transaction
        return found.topic_results[0].results_by_partition[0].partition_error_code

    assert add(True) == KafkaError.transaction_abortable
    assert add(False) == KafkaError.none
    assert add(True) == KafkaError.none


def test_fenced_is_said_as_the_version_knows_it(client: Client):
    client.init()
    old = dict(client.shown)
    client.produce(12, b"a")
    client.shown = {}
    client.init()
    client.shown = old
    assert client.end(5, committed=True) == KafkaError.producer_fenced
    assert client.end(1, committed=True) == KafkaError.invalid_producer_epoch
    assert client.init(5).error_code == KafkaError.producer_fenced
    assert client.init(3).error_code == KafkaError.invalid_producer_epoch


def test_offsets_of_a_transaction_are_unstable_until_it_ends(client: Client, admin: Admin):
    client.init()
    client.produce(12, b"a")
    assert client.put_offset() == KafkaError.none

    def committed(stable: bool) -> tuple[Any, int]:
        topics = [{"name": "orders", "partition_indexes": [0]}]
        groups = [{"group_id": "billing", "topics": topics, "member_id": None, "member_epoch": -1}]
        (group,) = client.ask(OFFSET_FETCH, 9, groups=groups, require_stable=stable).groups
        row = group.topics[0].partitions[0]
        return row.error_code, row.committed_offset

    assert committed(True) == (KafkaError.unstable_offset_commit, -1)
    assert committed(False) == (KafkaError.none, -1)
    client.end(5, committed=True)
    assert committed(True) == (KafkaError.none, 1)


def test_offsets_of_a_transaction_whose_sync_fails_are_refused(client: Client):
    client.init()
    client.produce(12, b"a")
    failed: Reply[None] = Reply()
    failed.fail(BrokerError(ErrorCode.STORAGE_ERROR, "a sync failed"))
    with patch.object(StateLog, "write", return_value=failed):
        assert client.put_offset() == KafkaError.kafka_storage_error


def test_the_last_stable_offset_is_the_latest_for_who_reads_committed_messages(client: Client):
    client.init()
    client.produce(12, b"a", b"b")

    def latest(isolation: int, timestamp: int = -1) -> int:
        place = {"partition_index": 0, "timestamp": timestamp, "current_leader_epoch": -1}
        topics = [{"name": "orders", "partitions": [place]}]
        found = client.ask(LIST_OFFSETS, 7, replica_id=-1, isolation_level=isolation, topics=topics)
        return int(found.topics[0].partitions[0].offset)

    assert (latest(0), latest(1)) == (2, 0)
    assert latest(1, -3) == -1
    client.end(5, committed=True)
    assert (latest(0), latest(1)) == (3, 3)
    assert latest(1, -3) == 0  # the newest timestamp is not that of the marker


def test_administrators_see_ids_transactions_and_producers(client: Client):
    client.init()
    client.produce(12, b"a", b"b")
    (state,) = client.ask(DESCRIBE, 0, transactional_ids=[ID]).transaction_states
    assert (state.transaction_state, state.producer_id, state.producer_epoch) == ("Ongoing", 0, 0)
    assert [(each.topic, each.partitions) for each in state.topics] == [("orders", (0,))]
    (missing,) = client.ask(DESCRIBE, 0, transactional_ids=["nobody"]).transaction_states
    assert missing.error_code == KafkaError.transactional_id_not_found

    def listed(states: tuple[str, ...] = (), producers: tuple[int, ...] = (), least_ms: int = -1) -> list[str]:
        found = client.ask(LIST, 1, state_filters=states, producer_id_filters=producers, duration_filter=least_ms)
        return [each.transactional_id for each in found.transaction_states]

    assert listed() == listed(("Ongoing",), (0,)) == [ID]
    assert listed(("Empty",)) == listed((), (7,)) == listed((), (), 3_600_000) == []
    (topic,) = client.ask(DESCRIBE_PRODUCERS, 0, topics=[{"name": "orders", "partition_indexes": [0]}]).topics
    (producer,) = topic.partitions[0].active_producers
    assert (producer.producer_id, producer.last_sequence, producer.current_txn_start_offset) == (0, 1, 0)


def test_transactional_ids_have_rules(host: BrokerHost, admin: Admin):
    admin.create_topic("orders", 2)
    operations = (Operation.READ, Operation.WRITE)
    rules = (Rule("*", operations, ("*",), (), ("*",), transactional_ids=("shop-*",)),)
    with KafkaListener(host, port=0, access=Access((), rules)) as listener:
        client = Client(listener)
        assert client.init().error_code == KafkaError.transactional_id_authorization_failed
        (found,) = client.ask(COORDINATOR, 4, key_type=1, coordinator_keys=[ID]).coordinators
        assert found.error_code == KafkaError.transactional_id_authorization_failed
        (found,) = client.ask(COORDINATOR, 4, key_type=1, coordinator_keys=["shop-1"]).coordinators
        assert (found.error_code, found.port) == (KafkaError.none, listener.port)
