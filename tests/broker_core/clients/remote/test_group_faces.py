"""Group consumers on both faces (A2 to A7, A20)."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.producer import Producer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import TopicPartition
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from tests.broker_core.clients.remote.conftest import Face

QUICK = ConsumerConfig(heartbeat_interval_ms=20, session_timeout_ms=2_000, rebalance_timeout_ms=2_000)


def publish(face: Face, *values: bytes, topic: str = "commits", partition: int | None = None) -> None:
    with Producer(face.host) as producer:
        for value in values:
            producer.send(topic, value, partition=partition)


def drain(consumer: GroupConsumer, count: int, within_s: float = 10) -> list[bytes | None]:
    found: list[bytes | None] = []
    end_s = time.monotonic() + within_s
    while len(found) < count and time.monotonic() < end_s:
        found += [message.value for message in consumer.poll(0.1)]
    return found


def settle(consumer: GroupConsumer) -> None:
    """Until it has joined, and no poll of before goes on."""
    while not consumer.assignment:
        consumer.poll(0.05)
    assert consumer.poll(0.2) == []


def test_everything_comes_once_and_a_second_life_goes_on_behind_the_commit(face: Face):
    Admin(face.clients).create_topic("commits", 4)
    publish(face, *[b"%d" % number for number in range(300)])
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        found = drain(consumer, 300)
        assert set(found) == {b"%d" % number for number in range(300)} and len(found) == 300
        consumer.commit()
        assert consumer.committed("commits", 0) == consumer.position("commits", 0)
    publish(face, b"later")
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        assert drain(consumer, 1) == [b"later"]


def test_a_message_comes_as_it_was_stored(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    with Producer(face.host) as producer:
        producer.publish("commits", b"\0\xff", b"\xfe", headers=(("h", b"\x80"),))
    stored = face.host.call(lambda _now: face.host.broker.partition("commits", 0).message(0))
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        [message] = consumer.poll(5)
    assert (message.topic, message.partition, message.offset) == ("commits", 0, 0)
    assert (message.key, message.value, message.headers) == (b"\xfe", b"\0\xff", (("h", b"\x80"),))
    assert (message.timestamp_ms, message.published_ns) == (stored.timestamp_ms, stored.published_ns)


def test_a_poll_waits_for_what_comes(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        settle(consumer)
        timer = threading.Timer(0.2, publish, (face, b"late"))
        timer.start()
        started_s = time.monotonic()
        assert [message.value for message in consumer.poll(20)] == [b"late"]
        assert time.monotonic() - started_s < 10
        timer.join()


def test_two_members_share_the_partitions_and_the_survivor_gets_all(face: Face):
    Admin(face.clients).create_topic("commits", 4)
    told: list[tuple[str, tuple[TopicPartition, ...]]] = []

    def on_assigned(partitions: Sequence[TopicPartition]) -> None:
        told.append(("assigned", tuple(partitions)))

    def on_revoked(partitions: Sequence[TopicPartition]) -> None:
        told.append(("revoked", tuple(partitions)))

    with GroupConsumer(
        face.clients, "readers", ["commits"], QUICK, on_assigned=on_assigned, on_revoked=on_revoked
    ) as first:
        end_s = time.monotonic() + 10
        while len(first.assignment) < 4 and time.monotonic() < end_s:
            first.poll(0.05)
        with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as second:
            while not (len(first.assignment) == len(second.assignment) == 2) and time.monotonic() < end_s:
                first.poll(0.05)
                second.poll(0.05)
            assert sorted(first.assignment + second.assignment) == [("commits", number) for number in range(4)]
        while len(first.assignment) < 4 and time.monotonic() < end_s:
            first.poll(0.05)
        assert len(first.assignment) == 4
    assert [what for what, _ in told][:3] == ["assigned", "revoked", "assigned"]


def test_new_partitions_are_found_and_given_to_a_member(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        consumer.poll(1)
        assert consumer.assignment == (("commits", 0),)
        Admin(face.host).create_partitions("commits", 3)
        publish(face, b"new", partition=2)
        assert drain(consumer, 1) == [b"new"]
        assert len(consumer.assignment) == 3


def test_subscription_by_pattern_finds_topics_that_come_later(face: Face):
    Admin(face.clients).create_topic("a-1", 1)
    with GroupConsumer(face.clients, "readers", config=QUICK, pattern="a-.*") as consumer:
        publish(face, b"one", topic="a-1")
        assert drain(consumer, 1) == [b"one"]
        Admin(face.host).create_topic("a-2", 1)
        publish(face, b"two", topic="a-2")
        assert drain(consumer, 1) == [b"two"]


def test_seek_position_and_time(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, b"a", b"b", b"c")
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        assert drain(consumer, 3) == [b"a", b"b", b"c"]
        consumer.seek("commits", 0, 1)
        assert consumer.position("commits", 0) == 1
        assert drain(consumer, 2) == [b"b", b"c"]
        assert consumer.seek_to_time("commits", 0, 0) == 0
        assert drain(consumer, 3) == [b"a", b"b", b"c"]
        assert consumer.seek_to_time("commits", 0, 1 << 50) == 3
        with pytest.raises(BrokerError) as caught:
            consumer.seek("commits", 7, 0)
        assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_pause_gives_nothing_until_resume(face: Face):
    Admin(face.clients).create_topic("commits", 2)
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        settle(consumer)
        consumer.pause([("commits", 0)])
        publish(face, b"held", partition=0)
        publish(face, b"free", partition=1)
        assert drain(consumer, 1) == [b"free"]
        assert consumer.poll(0.2) == []
        consumer.resume([("commits", 0)])
        assert drain(consumer, 1) == [b"held"]


def test_assigned_by_hand_and_read_from_the_end(face: Face):
    Admin(face.clients).create_topic("commits", 2)
    publish(face, b"old", partition=0)
    config = ConsumerConfig(auto_offset_reset="latest")
    with GroupConsumer(face.clients, "readers", config=config) as consumer:
        consumer.assign([("commits", 0)])
        assert consumer.poll(0.1) == []
        publish(face, b"new", partition=0)
        assert drain(consumer, 1) == [b"new"]
        with pytest.raises(BrokerError) as caught:
            consumer.assign([("nowhere", 0)])
        assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_nothing_committed_is_an_error_where_that_is_asked_for(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    config = ConsumerConfig(auto_offset_reset="none")
    with GroupConsumer(face.clients, "readers", config=config) as consumer:
        with pytest.raises(BrokerError) as caught:
            consumer.assign([("commits", 0)])
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_iteration_gives_one_after_the_other_and_ends_with_the_close(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, b"a", b"b", b"c")
    found: list[bytes | None] = []
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        for message in consumer:
            found.append(message.value)
            if len(found) == 3:
                consumer.close()
    assert found == [b"a", b"b", b"c"]


def test_commits_without_waiting_are_told_to_a_callback(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, b"a")
    told: list[BrokerError | None] = []
    done = threading.Event()

    def on_commit(error: BrokerError | None) -> None:
        told.append(error)
        done.set()

    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
        drain(consumer, 1)
        consumer.commit_async(on_commit=on_commit)
        assert done.wait(10) and told == [None]
        assert consumer.committed("commits", 0) == 1


def test_at_most_once_commits_before_it_hands_out(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, b"a", b"b")
    config = ConsumerConfig(guarantee="at_most_once", max_poll_messages=1)
    with GroupConsumer(face.clients, "readers", ["commits"], config) as consumer:
        assert drain(consumer, 1) == [b"a"]
        assert consumer.committed("commits", 0) == 1


def test_of_two_with_one_instance_id_the_newer_stays(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    config = ConsumerConfig(heartbeat_interval_ms=20, session_timeout_ms=2_000, instance_id="desk-1")
    with GroupConsumer(face.clients, "readers", ["commits"], config) as old:
        old.poll(1)
        with GroupConsumer(face.clients, "readers", ["commits"], config) as new:
            end_s = time.monotonic() + 10
            while not new.assignment and time.monotonic() < end_s:
                new.poll(0.05)
            assert new.assignment
            with pytest.raises(BrokerError) as caught:
                for _ in range(200):
                    old.poll(0.05)
            assert caught.value.code is ErrorCode.FENCED_INSTANCE_ID


def test_large_messages_come_in_polls_of_bounded_size(face: Face):
    Admin(face.clients).create_topic("large", 1, log=LogConfig(max_message_bytes=3_000_000))
    with Producer(face.clients) as producer:
        for number in range(6):
            producer.publish_many("large", [Message(bytes([number]) * 2_500_000)])
    with GroupConsumer(face.clients, "readers", ["large"], QUICK) as consumer:
        found: list[bytes | None] = []
        end_s = time.monotonic() + 20
        while len(found) < 6 and time.monotonic() < end_s:
            polled = [message.value for message in consumer.poll(1)]
            assert sum(len(value or b"") for value in polled) <= 10_000_000
            found += polled
    assert [value[:1] if value else b"" for value in found] == [bytes([number]) for number in range(6)]


def test_listeners_may_seek_when_they_get_and_commit_when_they_give_up(face: Face):
    Admin(face.clients).create_topic("commits", 2)
    publish(face, *[b"%d" % number for number in range(10)], partition=0)
    told: list[str] = []

    def on_assigned(partitions: Sequence[TopicPartition]) -> None:
        for topic, partition in partitions:
            if partition == 0:
                consumer.seek(topic, partition, 6)
                told.append("sought")

    def on_revoked(_partitions: Sequence[TopicPartition]) -> None:
        consumer.commit()
        told.append("committed")

    consumer = GroupConsumer(
        face.clients, "readers", ["commits"], QUICK, on_assigned=on_assigned, on_revoked=on_revoked
    )
    with consumer:
        assert drain(consumer, 4) == [b"6", b"7", b"8", b"9"]
    assert told == ["sought", "committed"]
    assert face.host.call(lambda _now: face.host.broker.groups.committed("readers", "commits", 0)) == 10


def test_members_that_come_and_go_lose_no_message(face: Face):
    """Promise 8: at least once, whoever reads when."""
    Admin(face.clients).create_topic("commits", 8)
    count = 2_000
    publish(face, *[b"%d" % number for number in range(count)])
    seen: set[bytes | None] = set()
    wrong: list[BaseException] = []
    allowed = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}

    def live(number: int) -> None:
        try:
            for life in range(3):
                with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as consumer:
                    end_s = time.monotonic() + 0.15 * (1 + (number + life) % 3)
                    while time.monotonic() < end_s:
                        found = consumer.poll(0.02, 50)
                        try:
                            consumer.commit()
                        except BrokerError as error:
                            if error.code not in allowed:
                                raise
                        seen.update(message.value for message in found)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=live, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong, wrong
    with GroupConsumer(face.clients, "readers", ["commits"], QUICK) as last:
        end_s = time.monotonic() + 15
        while len(seen) < count and time.monotonic() < end_s:
            seen.update(message.value for message in last.poll(0.1))
    assert len(seen) == count
