"""Schedules in virtual time find the bugs of consumers, each with the smallest schedule that shows it."""

import re
from collections import Counter

import pytest

from broker_core.testing import Disturbance, Schedule, VirtualBroker, VirtualConsumer, given_schedule

ORDERS = [str(number) for number in range(30)]


class Billing:
    """Bills each order; `early` commits before the work is done."""

    def __init__(self, early: bool) -> None:
        self.early = early
        self.billed: Counter[str] = Counter()

    def __call__(self, consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        while True:
            message = consumer.poll(1.0)
            if message is None:
                continue
            if self.early:
                consumer.commit(message, asynchronous=False)
            consumer.sleep(0.02)
            self.billed[(message.value() or b"").decode()] += 1
            if not self.early:
                consumer.commit(message, asynchronous=False)


def bill_all(broker: VirtualBroker, early: bool) -> None:
    broker.create_topic("orders", partitions=3)
    for order in ORDERS:
        broker.publish("orders", order, key=f"customer-{int(order) % 7}")
    billing = Billing(early)
    broker.add_consumers(billing, "billing", count=2)
    broker.run()
    assert set(billing.billed) == set(ORDERS)


def schedule_of(error: BaseException) -> Schedule:
    """The schedule that the note of a failure holds."""
    note, *_ = error.__notes__
    found = re.search(r"schedule=(.*)\)$", note)
    assert found is not None
    schedule = eval(found[1], {"Schedule": Schedule, "Disturbance": Disturbance})
    assert isinstance(schedule, Schedule)
    return schedule


@given_schedule(schedules=60)
def test_who_commits_after_the_work_bills_every_order(broker):
    bill_all(broker, early=False)


def test_who_commits_before_the_work_is_found_with_the_smallest_schedule():
    with pytest.raises(AssertionError) as caught:
        given_schedule(schedules=200)(lambda broker: bill_all(broker, early=True))()
    schedule = schedule_of(caught.value)
    assert [(each.kind, each.for_s) for each in schedule.disturbances or ()] == [("crash", 0.5)]
    with pytest.raises(AssertionError) as alone:
        given_schedule(schedule=schedule)(lambda broker: bill_all(broker, early=True))()
    assert str(alone.value) == str(caught.value)
    # The same schedule does no harm to the mended one.
    given_schedule(schedule=schedule)(lambda broker: bill_all(broker, early=False))()


def test_a_bug_that_needs_no_disturbance_is_told_without_one():
    def careless(broker: VirtualBroker) -> None:
        broker.create_topic("orders")
        broker.publish("orders", "1")
        broker.add_consumers(lambda consumer: None, "billing")  # reads nothing
        broker.run(until_s=20)
        assert broker.unread("billing") == 0

    with pytest.raises(AssertionError) as caught:
        given_schedule()(careless)()
    assert schedule_of(caught.value) == Schedule(seed=0, disturbances=())


def test_only_the_kinds_that_are_asked_for_go_wrong():
    kinds: Counter[str] = Counter()

    def watch(broker: VirtualBroker) -> None:
        bill_all(broker, early=False)
        kinds.update(each.kind for each in broker.disturbed)

    given_schedule(schedules=30, kinds=["pause", "leave"])(watch)()
    assert set(kinds) == {"pause", "leave"}


def test_the_smallest_schedule_is_of_the_kinds_that_are_asked_for():
    with pytest.raises(AssertionError) as caught:
        given_schedule(kinds=["leave", "drop_heartbeats"])(lambda broker: bill_all(broker, early=True))()
    kinds = {each.kind for each in schedule_of(caught.value).disturbances or ()}
    assert kinds <= {"leave", "drop_heartbeats"}
    assert len(kinds) == 1


def test_fixtures_and_parameters_reach_the_test(pytester, run_pytest):
    pytester.makepyfile(
        """
        import pytest
        from broker_core.testing import given_schedule

        @pytest.fixture
        def topic():
            return "orders"

        class TestOrders:
            @pytest.mark.parametrize("count", [1, 2])
            @given_schedule(schedules=3)
            def test_published(self, broker, topic, count):
                broker.create_topic(topic)
                broker.publish(topic, *"ab"[:count])
                assert len(broker.messages(topic)) == count
        """
    )
    run_pytest().assert_outcomes(passed=2)


@pytest.mark.parametrize("schedules", [0, -1])
def test_no_schedule_is_no_test(schedules):
    with pytest.raises(ValueError, match="1 or more"):
        given_schedule(schedules=schedules)


def test_another_word_than_a_kind_is_refused():
    with pytest.raises(
        ValueError, match="'leav' is not a kind of disturbance; there are crash, pause, drop_heartbeats, leave"
    ):
        given_schedule(kinds=["leav"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="'leav' is not a kind"):
        VirtualBroker(kinds=["leav"])  # type: ignore[list-item]


runs: list[int] = []


@given_schedule
def test_it_is_used_without_brackets(broker):
    runs.append(1)
    broker.create_topic("orders")


def test_without_brackets_it_has_its_defaults():
    runs.clear()
    test_it_is_used_without_brackets()
    assert len(runs) == 200


@pytest.mark.parametrize("what", [50, "crash", Billing])
def test_what_is_no_test_is_refused(what):
    with pytest.raises(TypeError, match=r"given_schedule decorates a test function, not .*; as in @given_schedule\("):
        given_schedule(what)


def test_a_test_without_an_argument_for_the_broker_is_refused():
    with pytest.raises(TypeError, match="needs an argument for the broker"):
        given_schedule()(lambda: None)


def test_it_is_said_what_a_program_that_failed_may_hold():
    """A batch that is not full when the run ends is no loss."""

    def pairs(consumer: VirtualConsumer, written: list[bytes | None]) -> None:
        held: list[bytes | None] = []
        consumer.subscribe(["orders"])
        while True:
            message = consumer.poll(1)
            if message is not None:
                held.append(message.value())
            if len(held) == 2:
                written += held
                consumer.commit(asynchronous=False)
                held.clear()

    @given_schedule(schedules=1, kinds=[])
    def test(broker: VirtualBroker) -> None:
        written: list[bytes | None] = []
        broker.create_topic("orders")
        broker.publish("orders", "1", "2", "3")
        broker.add_consumers(lambda consumer: pairs(consumer, written), "billing")
        broker.run(60)
        assert len(written) == 3

    with pytest.raises(AssertionError) as failed:
        test()
    assert failed.value.__notes__[-1] == (
        "When the test failed, billing has not committed 1 message: it may be held, not lost."
    )
