"""Middleware that fails on a message, on both faces: nothing is lost, nothing is passed over."""

from __future__ import annotations

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.middleware import Filter, Middleware, Transform
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import QueueConfig
from tests.broker_core.clients.remote.conftest import Face

BY_HAND = ConsumerConfig(heartbeat_interval_ms=20, session_timeout_ms=2_000, auto_commit_interval_ms=None)


def refuses(found: StoredMessage) -> StoredMessage:
    if found.value == b"bad":
        raise ValueError("unreadable")
    return found


class Interrupted(Middleware):
    """Ctrl+C, once, when it sees the second message."""

    def __init__(self) -> None:
        self.calm = False

    def before_deliver(self, message: StoredMessage, context: object) -> StoredMessage:
        if message.offset == 1 and not self.calm:
            self.calm = True
            raise KeyboardInterrupt
        return message


def publish(face: Face, topic: str, *values: bytes, partition: int | None = None) -> None:
    with Producer(face.host) as producer:
        for value in values:
            producer.send(topic, value, partition=partition)


def reader(face: Face, *middleware: Middleware, config: ConsumerConfig | None = None) -> GroupConsumer:
    consumer = GroupConsumer(
        face.clients, "readers", config=config or BY_HAND, middleware=middleware or [Transform(deliver=refuses)]
    )
    consumer.assign([("commits", number) for number in range(face.clients.broker.partition_count("commits"))])
    return consumer


def polled(consumer: GroupConsumer) -> list[bytes | None]:
    return [message.value for message in consumer.poll(5)]


def fails_at(consumer: GroupConsumer, place: str) -> None:
    with pytest.raises(BrokerError) as caught:
        consumer.poll(5)
    assert caught.value.code is ErrorCode.MIDDLEWARE_FAILED and place in str(caught.value)


def test_a_message_that_fails_is_told_with_its_place_until_a_seek_goes_past_it(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, "commits", b"good1", b"bad", b"good2")
    with reader(face) as consumer:
        assert polled(consumer) == [b"good1"]
        for _ in range(3):
            fails_at(consumer, "Transform raised ValueError: unreadable, at commits/0@1.")
            consumer.commit()
            assert consumer.position("commits", 0) == consumer.committed("commits", 0) == 1
        consumer.seek("commits", 0, 2)
        assert polled(consumer) == [b"good2"]
        consumer.commit()
        assert consumer.committed("commits", 0) == 3


def test_what_is_committed_by_itself_stops_at_the_message_that_fails(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, "commits", b"dropped", b"bad", b"good2")
    drops = Filter(lambda message: message.value != b"dropped", on="deliver")
    with reader(face, drops, Transform(deliver=refuses), config=ConsumerConfig(auto_commit_interval_ms=0)) as consumer:
        fails_at(consumer, "commits/0@1")
        fails_at(consumer, "commits/0@1")
    with reader(face, Transform()) as consumer:
        assert consumer.committed("commits", 0) == 1
        assert polled(consumer) == [b"bad", b"good2"]


def test_the_other_partitions_go_on_and_the_failure_is_told_in_between(face: Face):
    Admin(face.clients).create_topic("commits", 2)
    publish(face, "commits", b"bad", b"behind", partition=0)
    publish(face, "commits", b"a", partition=1)
    with reader(face) as consumer:
        assert polled(consumer) == [b"a"]
        publish(face, "commits", b"b", partition=1)
        fails_at(consumer, "commits/0@0")
        assert polled(consumer) == [b"b"]
        consumer.pause([("commits", 0)])
        publish(face, "commits", b"c", partition=1)
        assert polled(consumer) == [b"c"]
        consumer.resume([("commits", 0)])
        fails_at(consumer, "commits/0@0")
        consumer.seek("commits", 0, 1)
        assert polled(consumer) == [b"behind"]


def test_a_seek_settles_a_failure_that_was_not_told_yet(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, "commits", b"good1", b"bad", b"good2")
    with reader(face) as consumer:
        assert polled(consumer) == [b"good1"]
        consumer.seek("commits", 0, 2)
        assert polled(consumer) == [b"good2"]


def test_an_iteration_ends_with_the_failure_and_a_new_one_meets_it_again(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, "commits", b"good1", b"bad", b"good2")
    with reader(face) as consumer:
        found: list[bytes | None] = []
        for _ in range(2):
            with pytest.raises(BrokerError, match="commits/0@1"):
                found.extend(message.value for message in consumer)
        assert found == [b"good1"]
        consumer.seek("commits", 0, 2)
        assert next(iter(consumer)).value == b"good2"


def test_what_was_fetched_when_somebody_presses_ctrl_c_comes_again(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, "commits", b"0", b"1", b"2")
    with reader(face, Interrupted()) as consumer:
        with pytest.raises(KeyboardInterrupt):
            consumer.poll(5)
        assert polled(consumer) == [b"0", b"1", b"2"]


def test_a_queue_tries_it_again_and_then_has_a_dead_letter_with_the_cause(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs", QueueConfig(max_attempts=2))
    publish(face, "jobs", b"bad", b"good", b"bad")
    with QueueConsumer(face.clients, "jobs", middleware=[Transform(deliver=refuses)]) as consumer:
        [delivery] = consumer.take_many(3, 5)
        assert delivery.message.value == b"good"
        delivery.ack()
        for _ in range(2):
            with pytest.raises(BrokerError, match="at jobs/0@") as caught:
                consumer.take(5)
            assert caught.value.code is ErrorCode.MIDDLEWARE_FAILED
        view = admin.describe_queue("jobs")
        assert (view.ready, view.in_flight, view.dead) == (0, 0, 2)
        assert admin.dead_letters_by_cause("jobs") == {"ValueError: unreadable": 2}


def test_a_handler_goes_on_behind_a_message_on_which_the_middleware_fails(face: Face):
    Admin(face.clients).create_queue("jobs", QueueConfig(max_attempts=1))
    publish(face, "jobs", b"bad", b"good")
    seen: list[bytes | None] = []
    with QueueConsumer(face.clients, "jobs", middleware=[Transform(deliver=refuses)]) as consumer:

        def handle(delivery) -> None:
            seen.append(delivery.message.value)
            delivery.ack()
            consumer.close()

        consumer.run(handle)
    assert seen == [b"good"] and Admin(face.clients).describe_queue("jobs").dead == 1


def test_what_was_taken_when_somebody_presses_ctrl_c_is_given_back(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs", QueueConfig(max_attempts=1))
    publish(face, "jobs", b"0", b"1", b"2")
    with QueueConsumer(face.clients, "jobs", middleware=[Interrupted()]) as consumer:
        with pytest.raises(KeyboardInterrupt):
            consumer.take_many(3, 5)
        view = admin.describe_queue("jobs")
        assert (view.ready, view.in_flight, view.dead) == (3, 0, 0)


def test_a_middleware_that_gives_something_else_than_a_message_has_failed(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    publish(face, "commits", b"x")
    with reader(face, Transform(deliver=lambda found: Message(found.value))) as consumer:  # type: ignore[arg-type, return-value]
        fails_at(consumer, "commits/0@0")
