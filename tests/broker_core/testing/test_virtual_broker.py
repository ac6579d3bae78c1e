"""A consumer's function in virtual time: what it sees of its group, of a crash, of its own errors."""

import contextlib
import threading

import pytest

from broker_core.clients.membership import ConsumerConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.testing import Disturbance, Schedule, VirtualBroker, VirtualConsumer, given_schedule
from broker_core.testing.schedule import Kind
from broker_core.testing.virtual_message import TopicPartition


def reader(read: list[str]):
    def read_all(consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        while True:
            for message in consumer.consume(10, 1.0):
                read.append((message.value() or b"").decode())
            consumer.commit()

    return read_all


def with_disturbance(kind: Kind, call: int = 2, for_s: float = 3.0) -> VirtualBroker:
    return VirtualBroker(Schedule(0, (Disturbance("billing-1", call, "before", kind, for_s),)))


def test_time_passes_up_to_what_is_published_later():
    read: list[str] = []
    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "late", at_s=600)
        broker.add_consumers(reader(read), "billing")
        assert broker.run(until_s=1000) > 600
    assert read == ["late"]


def test_the_same_schedule_is_the_same_run():
    def run() -> tuple[list[str], float]:
        read: list[str] = []
        with VirtualBroker(Schedule(7)) as broker:
            broker.create_topic("orders", partitions=4)
            for number in range(50):
                broker.publish("orders", str(number), key=str(number), at_s=number / 10)
            broker.add_consumers(reader(read), "billing", count=3)
            return read, broker.run()

    assert run() == run()


@pytest.mark.parametrize("kind", ["crash", "leave", "pause", "drop_heartbeats"])
def test_after_each_kind_of_disturbance_all_is_read(kind):
    read: list[str] = []
    with with_disturbance(kind, for_s=15.0) as broker:
        broker.create_topic("orders", partitions=2)
        broker.add_consumers(reader(read), "billing", count=2)
        for number in range(20):
            broker.publish("orders", str(number), at_s=1 + number)
        broker.run()
        assert [each.kind for each in broker.disturbed] == [kind]
        assert broker.unread("billing") == 0
    assert {*read} == {str(number) for number in range(20)}


def test_a_crash_begins_the_function_anew_and_its_finally_runs():
    lives: list[str] = []

    def worker(consumer: VirtualConsumer) -> None:
        lives.append("begins")
        consumer.subscribe(["orders"])
        try:
            while True:
                consumer.poll(1.0)
        finally:
            lives.append("ends")

    with with_disturbance("crash", call=3) as broker:
        broker.create_topic("orders")
        broker.publish("orders", "late", at_s=20)
        broker.add_consumers(worker, "billing")
        broker.run(until_s=20)
        assert lives == ["begins", "ends", "begins"]
    assert lives == ["begins", "ends", "begins", "ends"]


def test_the_thread_of_a_function_is_gone_with_its_broker():
    before = threading.active_count()
    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.add_consumers(reader([]), "billing", count=3)
        broker.run(until_s=5)
        assert threading.active_count() == before + 3
    assert threading.active_count() == before


def test_a_function_that_goes_on_after_its_end_is_told():
    def stubborn(consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        while True:
            with contextlib.suppress(BaseException):
                consumer.poll(1.0)

    with pytest.raises(RuntimeError, match="billing-1 does not end"), with_disturbance("crash") as broker:
        broker.create_topic("orders")
        broker.publish("orders", "late", at_s=20)
        broker.add_consumers(stubborn, "billing")
        broker.run(until_s=20)


def test_an_error_of_the_function_ends_the_run():
    def bad(consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        message = consumer.poll()
        assert message is not None
        raise ZeroDivisionError(message.value())

    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "17")
        broker.add_consumers(bad, "billing")
        with pytest.raises(ZeroDivisionError, match="17"):
            broker.run()


def test_a_commit_after_the_group_has_moved_on_is_refused():
    refused: list[ErrorCode] = []
    handed: list[int] = []

    def slow(consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        message = consumer.poll()
        assert message is not None
        handed.append(message.offset())
        if len(handed) == 1:
            consumer.sleep(30)
        try:
            consumer.commit(message, asynchronous=False)
        except BrokerError as error:
            refused.append(error.code)
            raise

    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "slow")
        config = ConsumerConfig(max_poll_interval_ms=10_000, commit_on_revoke=False)
        broker.add_consumers(slow, "billing", count=2, config=config)
        broker.run()
        assert broker.unread("billing") == 0
    assert (refused, handed) == ([ErrorCode.UNKNOWN_MEMBER_ID], [0, 0])


def test_listeners_learn_of_partitions_that_come_and_go():
    told: list[tuple[str, int]] = []

    def worker(consumer: VirtualConsumer) -> None:
        consumer.subscribe(
            ["orders"],
            on_assign=lambda _consumer, places: told.append(("assigned", len(places))),
            on_revoke=lambda _consumer, places: told.append(("revoked", len(places))),
        )
        while True:
            consumer.poll(1.0)

    with VirtualBroker() as broker:
        broker.create_topic("orders", partitions=2)
        broker.add_consumers(worker, "billing")
        broker.run(until_s=5)
        broker.add_consumers(reader([]), "billing")
        broker.run(until_s=10)
        assert told == [("assigned", 2), ("revoked", 2), ("assigned", 1)]


def test_what_is_published_is_there_with_key_and_headers():
    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "1", b"2", key="customer", headers=(("kind", b"new"),))
        assert [(each.value, each.key, each.headers) for each in broker.messages("orders")] == [
            (b"1", b"customer", (("kind", b"new"),)),
            (b"2", b"customer", (("kind", b"new"),)),
        ]
        with pytest.raises(BrokerError, match="no such topic"):
            broker.publish("payments", "1")


def test_a_consumer_that_commits_what_it_has_not_written_when_it_is_revoked_is_found():
    """The commit in on_revoke counts, so the next member goes on behind what was lost."""

    def collect(consumer: VirtualConsumer, written: list[int]) -> None:
        held: list[int] = []

        def forget(*_: object) -> None:
            if held:
                consumer.commit(asynchronous=False)
                held.clear()

        consumer.subscribe(["orders"], on_revoke=forget)
        while True:
            message = consumer.poll(0.5)
            if message is not None:
                held.append(int(message.value() or b""))
            elif held:
                written += held
                consumer.commit(asynchronous=False)
                held.clear()

    @given_schedule(schedules=20, kinds=["leave"])
    def test(broker: VirtualBroker) -> None:
        written: list[int] = []
        broker.create_topic("orders", partitions=2)
        for number in range(12):
            broker.publish("orders", str(number), key=str(number), at_s=number / 4)
        broker.add_consumers(lambda consumer: collect(consumer, written), "billing", count=2)
        broker.run()
        assert {*written} == {*range(12)}, "lost"

    with pytest.raises(AssertionError, match="lost"):
        test()


def test_a_listener_calls_the_broker_and_is_interrupted_as_the_function_is():
    """Its calls take time, and a crash in one of them ends the function."""
    times: list[float] = []
    broker: VirtualBroker

    def program(consumer: VirtualConsumer) -> None:
        def assigned(consumer: VirtualConsumer, partitions: list[TopicPartition]) -> None:
            times.append(broker.now_s)
            consumer.committed(partitions)
            times.append(broker.now_s)

        consumer.subscribe(["orders"], on_assign=assigned)
        while True:
            message = consumer.poll(1)
            if message is not None:
                consumer.commit(message, asynchronous=False)

    crash = Disturbance(client="billing-1", call=2, when="before", kind="crash", for_s=1.0)
    with VirtualBroker(Schedule(0, (crash,))) as broker:
        broker.create_topic("orders")
        broker.publish("orders", "one")
        broker.add_consumers(program, "billing")
        broker.run()
        assert broker.unread("billing") == 0
    # It crashed in the first listener's call.
    assert len(times) == 3
    assert times[2] > times[1] > 1


def test_what_a_listener_raises_comes_out_of_the_poll_and_reads_nothing():
    seen: list[object] = []

    def program(consumer: VirtualConsumer) -> None:
        def fail(*_: object) -> None:
            raise ValueError("no")

        consumer.subscribe(["orders"], on_assign=fail)
        with pytest.raises(ValueError, match="no"):
            consumer.poll(1)
        message = consumer.poll(1)
        seen.append(message and message.offset())
        consumer.commit(asynchronous=False)

    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "one")
        broker.add_consumers(program, "billing")
        broker.run()
    assert seen == [0]
