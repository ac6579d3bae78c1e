"""However much a request asks for, an answer reads a bounded part of a log."""

from __future__ import annotations

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.operations.browse import CountKeys, ListDeadOffsets, ReadDeadLetters
from broker_core.queues.config import QueueConfig


def test_keys_are_counted_in_some_batches_at_a_time() -> None:
    with BrokerHost() as host, Producer(host) as producer:
        Admin(host).create_topic("t", 1)
        for number in range(12_000):
            producer.publish("t", b"v", key=str(number % 3).encode())
        batches = [(first, 1_000) for first in range(0, 12_000, 1_000)]
        answered = host.ask(CountKeys(topic="t", partition=0, batches=batches))
        assert [one.first for one in answered] == [first for first, _ in batches[:5]]
        assert all(sum(count for _, count in one.keys or []) == 1_000 for one in answered)
        (whole,) = host.ask(CountKeys(topic="t", partition=0, batches=[(0, 12_000), (0, 1)]))
        assert dict(whole.keys or []) == {b"0": 4_000, b"1": 4_000, b"2": 4_000}


def test_of_large_dead_letters_a_few_are_read_and_the_rest_can_be_asked_for() -> None:
    with BrokerHost() as host, Producer(host) as producer:
        Admin(host).create_queue("q", QueueConfig(max_attempts=1))
        with QueueConsumer(host, "q") as worker:
            for _ in range(20):
                producer.publish("q", bytes(1_000_000))
                delivery = worker.take()
                assert delivery is not None
                delivery.nack("bad")
        offsets = host.ask(ListDeadOffsets(queue="q"))
        page = host.ask(ReadDeadLetters(queue="q", offsets=offsets, most_bytes=10))
        assert page.looked == len(page.letters) == 9
        rest = host.ask(ReadDeadLetters(queue="q", offsets=offsets[page.looked :], most_bytes=10))
        assert [letter.offset for letter in (*page.letters, *rest.letters)] == offsets[: page.looked + rest.looked]
