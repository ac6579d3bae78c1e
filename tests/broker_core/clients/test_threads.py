"""Eight threads at once on one host: nothing is lost or doubled, and closing under them is an end for all."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from broker_core import (
    BrokerError,
    BrokerHost,
    ConsumerConfig,
    ErrorCode,
    Event,
    GroupConsumer,
    Message,
    Producer,
    QueueConfig,
    QueueConsumer,
    SimpleQueue,
)
from broker_core.recording.checker import Checker
from broker_core.recording.violation import Violation
from tests.broker_core.admin import Admin

QUICK = ConsumerConfig(heartbeat_interval_ms=20)


def run_all(*jobs: Callable[[], object]) -> list[BaseException]:
    """Run each job in a thread of its own to its end; the errors."""
    errors: list[BaseException] = []

    def run(job: Callable[[], object]) -> None:
        try:
            job()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not [thread for thread in threads if thread.is_alive()]
    return errors


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
def test_eight_threads_on_one_host_lose_and_double_nothing(tmp_path: Path, kept: bool):
    before = threading.active_count()
    with BrokerHost(tmp_path if kept else None) as host:
        admin = Admin(host)
        checker, broken = Checker(), []

        def watch(event: Event) -> None:
            try:
                checker(event)
            except Violation as violation:
                broken.append(violation)

        host.call(lambda _now: host.events.attach(watch))
        admin.create_topic("orders", 3)
        admin.create_queue("jobs", QueueConfig())
        read: set[tuple[int, int]] = set()
        acknowledged: list[int] = []
        sent = threading.Barrier(3, timeout=60)
        done = threading.Event()

        def produce(most: int = 1_500) -> None:
            with Producer(host) as producer:
                for number in range(most):
                    producer.send("orders", b"%d" % number)
                    if number % 10 == 0:
                        producer.publish("jobs", b"x")
            if sent.wait() == 0:
                done.set()

        def consume() -> None:
            with GroupConsumer(host, "readers", ["orders"], QUICK) as consumer:
                while not done.is_set() or len(read) < 4_500:
                    read.update([(message.partition, message.offset) for message in consumer.poll(0.05)])

        def work() -> None:
            with QueueConsumer(host, "jobs") as consumer:
                while len(acknowledged) < 450:
                    for delivery in consumer.take_many(5, 0.05):
                        delivery.ack()
                        acknowledged.append(delivery.message.offset)

        def administer() -> None:
            while not done.is_set():
                admin.create_topic("passing")
                assert admin.describe_topic("orders").name == "orders"
                if "readers" in admin.groups():
                    admin.lag("readers")
                admin.delete_topic("passing")

        assert run_all(produce, produce, produce, consume, consume, work, work, administer) == []
        assert sum(view.end_offset for view in admin.describe_topic("orders").partitions) == len(read) == 4_500
        assert sorted(acknowledged) == list(range(450))
        assert broken == []
    assert threading.active_count() == before


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
def test_closing_the_host_under_everybody_is_a_clean_end_for_each(tmp_path: Path, kept: bool):
    before = threading.active_count()
    host = BrokerHost(tmp_path if kept else None)
    Admin(host).create_topic("orders", 3)
    Admin(host).create_queue("jobs")
    producer, queue, simple = Producer(host), QueueConsumer(host, "jobs"), SimpleQueue(host, "mail")
    first, second = (GroupConsumer(host, "readers", ["orders"], QUICK) for _ in range(2))
    told: Counter[ErrorCode] = Counter()

    def until_closed(call: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                while True:
                    call()
            except BrokerError as error:
                told[error.code] += 1

        return run

    def iterate() -> None:
        for _ in second:
            pass
        raise BrokerError(ErrorCode.CLOSED)

    def close() -> None:
        time.sleep(0.3)
        try:
            host.close(timeout_s=60)  # on a busy machine, the usual time may not do for all that was sent
        except BrokerError as error:
            # What was sent while it closed, and could not be stored, is told.
            assert error.code is ErrorCode.CLOSED

    calls: list[Callable[[], object]] = [
        lambda: producer.send("orders", b"x"),
        lambda: producer.publish("jobs", b"x"),
        lambda: producer.publish_many("orders", [Message(b"x")] * 10),
        lambda: first.poll(1),
        iterate,
        lambda: queue.take(1),
        lambda: Admin(host).describe_topic("orders"),
        lambda: (simple.publish_msg("x"), simple.pull_msg()),
    ]
    assert run_all(close, *map(until_closed, calls)) == []
    assert told == {ErrorCode.CLOSED: 8}
    assert threading.active_count() == before
