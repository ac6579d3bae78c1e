"""No correct program is accused, of three libraries, and each wrong one is caught for its own reason."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonPartition

from broker_core import LogConfig
from broker_core.testing.embedded_broker import EmbeddedBroker

PATIENCE_S = 20
WHOLE = ("nothing_lost", "nothing_twice", "at_least_once", "in_order", "everything_done")
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


def test_partitions_assigned_by_hand_with_commits(broker: EmbeddedBroker):
    broker.publish("t", *range(6), key="k")
    reader = consumer(broker)
    reader.assign([TopicPartition("t", 0, 0)])
    take(reader, 6)
    reader.close()
    assert holding(broker) == [*WHOLE]
    assert "delivered t/0 @0-5 group g rdkafka" in broker.timeline(whole=True)


def test_partitions_assigned_by_hand_without_commits_and_read_anew_by_the_next_process(broker: EmbeddedBroker):
    broker.publish("t", *range(6), key="k")
    for _ in range(2):  # a cache, which reads everything whenever it starts
        reader = consumer(broker, **{"group.id": "cache"})
        reader.assign([TopicPartition("t", 0, 0)])
        take(reader, 6, commit=False)
        reader.close()
    assert holding(broker) == [*WHOLE]


def test_aiokafka_assigned_by_hand_with_commits(broker: EmbeddedBroker):
    broker.publish("t", *range(6))

    async def run() -> None:
        reader = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        reader.assign([AioPartition("t", 0)])
        async with reader:
            for _ in range(6):
                await asyncio.wait_for(reader.getone(), PATIENCE_S)
            await reader.commit()

    asyncio.run(run())
    assert holding(broker) == [*WHOLE]


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
def test_kafka_python_assigned_by_hand_with_commits_and_a_seek(broker: EmbeddedBroker):
    broker.publish("t", *range(6))
    reader = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id="g",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    place = PythonPartition("t", 0)
    reader.assign([place])
    found: list[int] = []
    while len(found) < 6:
        found += [each.offset for each in reader.poll(1_000).get(place, ())]
    reader.seek(place, 3)  # nothing is committed yet: it looks at them once more
    while len(found) < 9:
        found += [each.offset for each in reader.poll(1_000).get(place, ())]
    reader.commit()
    reader.close()
    assert found == [*range(6), 3, 4, 5]
    assert holding(broker) == [*WHOLE]


def test_pause_and_resume_around_slow_work(broker: EmbeddedBroker):
    broker.publish("t", *range(6))
    reader = consumer(broker)
    reader.subscribe(["t"])
    found = []
    for _ in range(6):
        found += [each.offset() for each in take(reader, 1)]
        reader.pause(reader.assignment())
        reader.poll(0.02)
        reader.resume(reader.assignment())
    reader.close()
    assert found == [*range(6)]
    assert holding(broker) == [*WHOLE]


def test_a_seek_back_to_what_failed(broker: EmbeddedBroker):
    broker.publish("t", *range(6))
    reader = consumer(broker, **{"session.timeout.ms": 5_000})  # less than Kafka takes, unless it is told to
    reader.subscribe(["t"])
    take(reader, 3)
    (failed,) = take(reader, 1, commit=False)
    reader.seek(TopicPartition("t", 0, failed.offset() or 0))
    take(reader, 3)
    reader.close()
    assert holding(broker) == [*WHOLE]


@pytest.mark.parametrize("library", ["confluent-kafka", pytest.param("kafka-python", marks=pytest.mark.long)])
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
            count += sum(map(len, other.poll(1_000).values()))
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
    broker.admin.delete_topic("t")
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
    assert why(broker, "everything_done", by="audit").endswith(
        "the first of 2 messages that group audit has not committed"
    )


def test_a_commit_that_passes_over_messages(broker: EmbeddedBroker):
    broker.publish("t", *range(8))
    reader = consumer(broker)
    reader.assign([TopicPartition("t", 0, 8)])
    reader.poll(0.2)
    reader.commit(offsets=[TopicPartition("t", 0, 8)], asynchronous=False)
    reader.close()
    for name in ("nothing_lost", "everything_done"):
        assert why(broker, name) == "g acknowledges t/0 @0, which it never got"


def test_work_without_a_commit_is_handed_out_twice(broker: EmbeddedBroker):
    broker.publish("t", *range(3))
    for commits in (False, True):
        reader = consumer(broker)
        reader.subscribe(["t"])
        take(reader, 3, commit=commits)
        reader.close()
    told = why(broker, "nothing_twice")
    assert told.endswith("for the second time: rdkafka had been given it, and left without acknowledging it")


def test_a_seek_below_the_commit_is_handed_out_twice(broker: EmbeddedBroker):
    broker.publish("t", *range(3))
    reader = consumer(broker)
    reader.subscribe(["t"])
    take(reader, 3)
    reader.seek(TopicPartition("t", 0, 1))
    take(reader, 2)
    reader.close()
    assert (
        why(broker, "nothing_twice")
        == "t/0 @1 is delivered to rdkafka of g for the second time, which had acknowledged it"
    )
    assert broker.audit().at_least_once()


def test_an_order_that_the_reader_by_hand_turns_round(broker: EmbeddedBroker):
    broker.admin.create_partitions("t", 2)
    broker.publish("t", "first", key="k", partition=1)
    broker.publish("t", "second", key="k", partition=0)
    reader = consumer(broker)
    for number in (0, 1):
        reader.assign([TopicPartition("t", number, 0)])
        take(reader, 1)
    reader.close()
    assert "after t/0 @0, which was published later" in why(broker, "in_order")


def test_what_retention_takes_before_it_is_read_is_not_done():
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
        assert "deleted before it was acknowledged" in why(broker, "everything_done")
