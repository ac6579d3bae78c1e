"""No correct program is accused, and each wrong one is caught for its own reason: what not every library can do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from kafka import KafkaConsumer

from broker_core import LogConfig
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.admin import Admin

PATIENCE_S = 20
WHOLE = ("nothing_lost", "nothing_twice", "everything_done", "commits_are_sound", "in_order", "at_least_once")
#: Of a program that ends while its client holds messages that it has fetched ahead: the next one is given them again.
ENDED_IN_BETWEEN = tuple(name for name in WHOLE if name != "nothing_twice")


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("t")
        yield broker


def consumer(broker: EmbeddedBroker, **more: object) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
            **more,
        }
    )


def take(reader: Consumer, count: int, *, commit: bool = True) -> list[Message]:
    found: list[Message] = []
    while len(found) < count:
        message = reader.poll(PATIENCE_S)
        assert message is not None
        assert message.error() is None
        found.append(message)
        if commit:
            reader.commit(message, asynchronous=False)
    return found


def holding(broker: EmbeddedBroker) -> list[str]:
    return [name for name, verdict in broker.audit().verdicts.items() if verdict.holds]


# -- right programs


@pytest.mark.promise("41")
def test_partitions_assigned_by_hand_with_commits(broker: EmbeddedBroker):
    broker.publish("t", *range(6), key="k")
    reader = consumer(broker)
    reader.assign([TopicPartition("t", 0, 0)])
    take(reader, 6)
    reader.close()
    assert holding(broker) == [*WHOLE]
    assert "delivered t/0 @0-5 group g rdkafka" in broker.timeline(whole=True)


@pytest.mark.promise("41")
@pytest.mark.parametrize("library", ["confluent-kafka", "kafka-python"])
def test_a_static_member_that_is_restarted(broker: EmbeddedBroker, library: str):
    broker.publish("t", *range(6))
    for _ in range(2):
        if library == "confluent-kafka":
            reader = consumer(broker, **{"group.instance.id": "one"})
            reader.subscribe(["t"])
            take(reader, 3)
            reader.close()
            continue
        other = KafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            group_instance_id="one",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=1,
        )
        count = 0
        while count < 3:
            count += sum(map(len, other.poll(1_000 * PATIENCE_S).values()))
            other.commit()
        other.close()
    assert holding(broker) == [*ENDED_IN_BETWEEN]
    (name,) = broker.host.broker.groups.clients("g").values()
    assert "#" not in name, "it keeps the name of the one before"


def test_read_committed_passes_over_what_was_aborted(broker: EmbeddedBroker):
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "x"})
    producer.init_transactions(PATIENCE_S)
    for value, commits in (("aborted", False), ("kept", True), ("aborted, too", False)):
        producer.begin_transaction()
        producer.produce("t", value, key="k")
        producer.flush(PATIENCE_S)
        (producer.commit_transaction if commits else producer.abort_transaction)(PATIENCE_S)
    reader = consumer(broker, **{"isolation.level": "read_committed"})
    reader.subscribe(["t"])
    assert [each.value() for each in take(reader, 1)] == [b"kept"]
    reader.close()
    assert holding(broker) == [*WHOLE]
    told = [line.split()[2:4] for line in broker.timeline(whole=True).splitlines() if " delivered " in line]
    assert told == [["delivered", "t/0"]]


@pytest.mark.promise("41")
def test_a_broker_that_is_restarted_under_a_group():
    with EmbeddedBroker(durability="file") as broker:
        broker.create_topic("t")
        broker.publish("t", *range(4))
        for _ in range(2):
            reader = consumer(broker, **{"reconnect.backoff.max.ms": 100})
            reader.subscribe(["t"])
            take(reader, 2)
            reader.close()
            broker.restart()
        assert holding(broker) == [*ENDED_IN_BETWEEN] or holding(broker) == [*WHOLE]


def test_two_programs_of_one_client_id_in_two_groups_are_told_apart(broker: EmbeddedBroker):
    broker.publish("t", *range(4))
    readers = [consumer(broker, **{"group.id": group}) for group in ("billing", "audit")]
    for reader in readers:
        reader.subscribe(["t"])
    for reader in readers:
        take(reader, 4)
        reader.close()
    assert holding(broker) == [*WHOLE]


def test_after_a_topic_is_gone_its_readers_are_not_asked_for_commits(broker: EmbeddedBroker):
    broker.publish("t", *range(4))
    reader = consumer(broker)
    reader.subscribe(["t"])
    take(reader, 2)
    reader.close()
    Admin(broker.host).delete_topic("t")
    assert broker.audit().everything_done()


# -- wrong ones


def why(broker: EmbeddedBroker, name: str, **asked: str) -> str:
    verdict = getattr(broker.audit(), name)(**asked)
    assert not verdict
    return str(verdict.findings[0].what)


def test_nobody_reads_or_the_wrong_topic_is_read(broker: EmbeddedBroker):
    broker.publish("t", "one")
    assert why(broker, "everything_done") == "topic t has 1 message, and nobody reads it"
    reader = consumer(broker)
    reader.subscribe(["tt"])
    reader.poll(0.2)
    reader.close()
    assert why(broker, "everything_done") == "topic t has 1 message, and nobody reads it"
    assert why(broker, "everything_done", by="g") == "g has read nothing"


def test_done_is_asked_of_one_reader(broker: EmbeddedBroker):
    broker.publish("t", *range(3))
    for group, count in (("billing", 3), ("audit", 1)):
        reader = consumer(broker, **{"group.id": group})
        reader.subscribe(["t"])
        take(reader, count)
        reader.close()
    assert broker.audit().everything_done(by="billing")
    told = "the first of 2 messages that group audit has not acknowledged (2 waiting)"
    assert why(broker, "everything_done", by="audit").endswith(told)


def test_a_commit_that_passes_over_messages(broker: EmbeddedBroker):
    Admin(broker.host).create_partitions("t", 2)
    broker.publish("t", *range(8), partition=0)
    broker.publish("t", 8, partition=1)
    reader = consumer(broker)
    reader.assign([TopicPartition("t", 1, 0)])
    take(reader, 1)
    reader.commit(offsets=[TopicPartition("t", 0, 8)], asynchronous=False)
    reader.close()
    told = "t/0 @0 was skipped by group g: it committed beyond it, and was never given it, with 7 more"
    assert why(broker, "nothing_lost") == told
    assert why(broker, "commits_are_sound") == "t/0 was given to its group up to 0, and rdkafka of group g committed 8"


def test_an_order_that_the_reader_by_hand_turns_round(broker: EmbeddedBroker):
    Admin(broker.host).create_partitions("t", 2)
    broker.publish("t", "first", key="k", partition=1)
    broker.publish("t", "second", key="k", partition=0)
    reader = consumer(broker)
    for number in (0, 1):
        reader.assign([TopicPartition("t", number, 0)])
        take(reader, 1)
    reader.close()
    assert "after t/0 @0, which was published later" in why(broker, "in_order")


def test_what_retention_takes_before_it_is_read_is_lost():
    with EmbeddedBroker() as broker:
        broker.create_topic("t", log=LogConfig(retention_ms=1_000, segment_ms=500))
        broker.publish("t", *range(5))
        reader = consumer(broker)
        reader.subscribe(["t"])
        take(reader, 2)
        reader.close()
        broker.clock.advance(600)
        broker.publish("t", "new")
        reader = consumer(broker)
        reader.subscribe(["t"])
        take(reader, 1)
        reader.close()
        assert "deleted before it was acknowledged" in why(broker, "nothing_lost")
