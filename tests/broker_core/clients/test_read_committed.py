"""Consumers with the isolation level read_committed, in virtual time."""

from __future__ import annotations

from collections import Counter

from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.operations.messages import ReadMessages
from broker_core.transactions.transaction import Identity
from tests.broker_core.clients.virtual_broker import VirtualBroker


class Transactions:
    """Publishes to partition 0 of commits as the producer `name`."""

    def __init__(self, virtual: VirtualBroker, name: str) -> None:
        self.virtual, self.name = virtual, name
        begun = virtual.broker.transactions.begin_session(virtual.now_ns, name, 10_000, client=name)
        self.identity: Identity = begun.result()
        self.sequences: Counter[int] = Counter()

    def publish(self, *values: bytes) -> None:
        broker, now_ns = self.virtual.broker, self.virtual.now_ns
        broker.transactions.add_partitions(now_ns, self.name, self.identity, [("commits", 0)])
        stamp = ProducerStamp(*self.identity, self.sequences[0], transactional=True)
        messages = [Message(value) for value in values]
        assert broker.publishing.publish_batch(
            now_ns, "commits", 0, messages, client=self.name, producer=stamp
        ).result()
        self.sequences[0] += len(values)

    def end(self, *, commits: bool) -> None:
        now_ns = self.virtual.now_ns
        self.virtual.broker.transactions.end(now_ns, self.name, self.identity, commits=commits).result()


def read(virtual: VirtualBroker, consumer: object) -> list[bytes | None]:
    return [message.value for message in virtual.do(consumer.poll(100))]  # type: ignore[attr-defined]


def lag(virtual: VirtualBroker) -> int | None:
    (view,) = virtual.broker.groups.view(virtual.now_ns, "readers").offsets
    return view.lag


def test_it_reads_up_to_the_first_open_transaction_and_the_rest_when_that_has_ended():
    virtual = VirtualBroker(1)
    first, second = Transactions(virtual, "first"), Transactions(virtual, "second")
    virtual.publish(b"plain")
    first.publish(b"a")
    second.publish(b"b")
    second.end(commits=True)
    consumer, hasty = virtual.consumer(isolation_level="read_committed"), virtual.consumer("hasty", "screens")
    assert read(virtual, consumer) == [b"plain"]
    assert read(virtual, hasty) == [b"plain", b"a", b"b"]
    assert read(virtual, consumer) == []
    first.end(commits=True)
    assert read(virtual, consumer) == [b"a", b"b"]


def test_who_reads_without_a_consumer_comes_past_the_markers_to_the_end():
    virtual = VirtualBroker(1)
    shop = Transactions(virtual, "shop")
    shop.publish(b"a")
    shop.end(commits=True)
    first = virtual.broker.handle(virtual.now_ns, ReadMessages(topic="commits", partition=0)).result()
    assert ([message.value for message in first.messages], first.next_offset, first.end_offset) == (["a"], 1, 2)
    rest = ReadMessages(topic="commits", partition=0, offset=first.next_offset)
    assert virtual.broker.handle(virtual.now_ns, rest).result().next_offset == 2


def test_a_fetch_that_waits_at_the_last_stable_offset_is_served_when_the_transaction_ends():
    virtual = VirtualBroker(1)
    producer = Transactions(virtual, "producer")
    producer.publish(b"a")
    consumer = virtual.consumer(isolation_level="read_committed")
    assert read(virtual, consumer) == []
    reply = virtual.broker.fetches.fetch(
        virtual.now_ns, "readers", "reader", {("commits", 0): 0}, max_messages=9, deadline_ns=10**12, stable=True
    )
    producer.publish(b"b")
    assert not reply.done
    producer.end(commits=True)
    assert [message.value for message in reply.result()] == [b"a", b"b"]


def test_aborted_messages_are_passed_over_and_no_lag_is_left_of_them():
    virtual = VirtualBroker(1)
    producer = Transactions(virtual, "producer")
    consumer = virtual.consumer(isolation_level="read_committed")
    producer.publish(b"a", b"b")
    producer.end(commits=False)
    assert read(virtual, consumer) == []
    assert consumer.passed_over
    consumer.commit()
    assert lag(virtual) == 0
    producer.publish(b"c")
    producer.end(commits=True)
    producer.publish(b"d")
    producer.end(commits=False)
    (message,) = virtual.do(consumer.poll(100))
    assert message.value == b"c"
    consumer.done(message)
    consumer.commit()
    assert lag(virtual) == 0
    assert not consumer.passed_over


def test_a_message_before_aborted_ones_is_not_committed_before_it_is_done():
    virtual = VirtualBroker(1)
    producer = Transactions(virtual, "producer")
    consumer = virtual.consumer(isolation_level="read_committed")
    virtual.publish(b"first", b"second")
    producer.publish(b"aborted")
    producer.end(commits=False)
    messages = virtual.do(consumer.poll(100))
    consumer.done(messages[0])
    consumer.commit()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 1
    consumer.abandon()
    virtual.run(20)
    again = virtual.consumer("again", isolation_level="read_committed")
    assert read(virtual, again) == [b"second"]
