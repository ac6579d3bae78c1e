"""Queue consumers and dead letters on both faces (A8 to A13, A20)."""

from __future__ import annotations

import threading
import time

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.retry import RetryPolicy
from tests.broker_core.clients.remote.conftest import Face


def put(face: Face, *values: bytes, queue: str = "jobs", priority: int = 0) -> None:
    with Producer(face.clients) as producer:
        for value in values:
            producer.publish(queue, value, priority=priority)


def taken(worker: QueueConsumer) -> Delivery:
    delivery = worker.take(5)
    assert delivery is not None
    return delivery


def test_taken_once_acknowledged_and_gone(face: Face):
    Admin(face.clients).create_queue("jobs")
    put(face, b"a", b"b")
    with QueueConsumer(face.clients, "jobs") as worker:
        with taken(worker) as first:
            assert (first.message.value, first.attempt) == (b"a", 1)
        second = worker.take()
        assert second is not None and second.message.value == b"b"
        second.ack()
        second.ack()
        assert worker.take() is None
    view = Admin(face.clients).describe_queue("jobs")
    assert (view.ready, view.in_flight, view.acknowledged) == (0, 0, 2)


def test_many_are_taken_at_once(face: Face):
    Admin(face.clients).create_queue("jobs")
    put(face, *[b"%d" % number for number in range(50)])
    with QueueConsumer(face.clients, "jobs") as worker:
        taken = worker.take_many(40)
        assert [delivery.message.value for delivery in taken] == [b"%d" % number for number in range(40)]
        assert len(worker.take_many(40)) == 10
        with pytest.raises(BrokerError) as caught:
            worker.take_many(0)
        assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_a_take_waits_for_what_comes_and_no_longer_than_it_was_told(face: Face):
    Admin(face.clients).create_queue("jobs")
    with QueueConsumer(face.clients, "jobs") as worker:
        started_s = time.monotonic()
        assert worker.take(0.3) is None
        assert 0.25 < time.monotonic() - started_s < 5
        timer = threading.Timer(0.2, put, (face, b"late"))
        timer.start()
        found = worker.take(20)
        assert found is not None and found.message.value == b"late"
        timer.join()


def test_the_most_urgent_comes_first(face: Face):
    Admin(face.clients).create_queue("jobs", QueueConfig(priorities=3))
    put(face, b"later", priority=2)
    put(face, b"now", priority=0)
    with QueueConsumer(face.clients, "jobs") as worker:
        assert [each.message.value for each in worker.take_many(2)] == [b"now", b"later"]


@pytest.mark.parametrize("levels", [1, 3])
def test_a_priority_without_a_level_is_refused_and_costs_no_other_message(face: Face, levels: int):
    Admin(face.clients).create_queue("jobs", QueueConfig(priorities=levels))
    with Producer(face.clients) as producer:
        good = producer.send("jobs", b"least urgent", priority=levels - 1)
        for wrong in (levels, 255, -1):
            with pytest.raises(BrokerError, match=f"none of {wrong}") as caught:
                producer.send("jobs", b"mistyped", priority=wrong)
            assert caught.value.code is ErrorCode.INVALID_RECORD
        with pytest.raises(BrokerError, match=f"none of {levels}"):
            producer.publish_many("jobs", [Message(b"one"), Message(b"mistyped", priority=levels)])
        producer.flush()
        assert good.result(5).partition == levels - 1
    assert Admin(face.clients).describe_queue("jobs").ready == 1


def test_a_failure_is_tried_again_and_then_is_a_dead_letter_with_its_history(face: Face):
    Admin(face.clients).create_queue("jobs", QueueConfig(max_attempts=2, retry=RetryPolicy("none")))
    put(face, b"poison")
    with QueueConsumer(face.clients, "jobs", client_id="desk") as worker:
        for attempt in (1, 2):
            delivery = worker.take(5)
            assert delivery is not None and delivery.attempt == attempt
            delivery.nack("no ink" + " at all" * 300)
        assert worker.take() is None
    admin = Admin(face.clients)
    [letter] = admin.dead_letters("jobs")
    assert letter.cause.startswith("no ink at all") and letter.value == b"poison"
    assert [each.holder for each in letter.attempts] == ["desk", "desk"]
    assert admin.dead_letters_by_cause("jobs") == {letter.cause: 1}


def test_an_error_in_the_block_gives_the_message_back_with_its_cause(face: Face):
    Admin(face.clients).create_queue("jobs", QueueConfig(max_attempts=1))
    put(face, b"x")
    with QueueConsumer(face.clients, "jobs") as worker:
        with pytest.raises(ZeroDivisionError), taken(worker):
            1 / 0
    [letter] = Admin(face.clients).dead_letters("jobs")
    assert letter.cause == "ZeroDivisionError: division by zero"


def test_released_is_as_if_it_had_never_been_taken(face: Face):
    Admin(face.clients).create_queue("jobs")
    put(face, b"x")
    with QueueConsumer(face.clients, "jobs") as worker:
        first = worker.take()
        assert first is not None
        first.release()
        again = worker.take()
        assert again is not None and again.attempt == 1


def test_a_lease_is_extended_by_a_time_and_by_nothing_else(face: Face):
    Admin(face.clients).create_queue("jobs")
    put(face, b"a")
    with QueueConsumer(face.clients, "jobs") as worker:
        delivery = taken(worker)
        for wrong in (0, -1, float("nan"), float("inf"), 10**40, 10**400, "1"):
            with pytest.raises(BrokerError) as caught:
                delivery.extend(wrong)  # type: ignore[arg-type]
            assert caught.value.code is ErrorCode.INVALID_REQUEST
        delivery.extend(30)
        delivery.ack()


def test_a_late_acknowledgement_is_refused_and_an_extended_lease_is_not_late(face: Face):
    Admin(face.clients).create_queue("jobs", QueueConfig(lease_ms=150, retry=RetryPolicy("none")))
    put(face, b"x")
    with QueueConsumer(face.clients, "jobs") as worker:
        late = worker.take()
        assert late is not None
        again = worker.take(10)
        assert again is not None and again.attempt == 2
        with pytest.raises(BrokerError) as caught:
            late.ack()
        assert caught.value.code is ErrorCode.INVALID_LEASE
        before_ns = again.lease.deadline_ns
        again.extend(30)
        assert again.lease.deadline_ns > before_ns + 20_000_000_000
        time.sleep(0.3)
        again.ack()


def test_closing_gives_back_what_is_held(face: Face):
    Admin(face.clients).create_queue("jobs")
    put(face, b"x")
    worker = QueueConsumer(face.clients, "jobs")
    assert worker.take() is not None
    worker.close()
    with QueueConsumer(face.clients, "jobs") as other:
        assert other.take(5) is not None
    with pytest.raises(BrokerError) as caught:
        worker.take()
    assert caught.value.code is ErrorCode.CLOSED


def test_at_most_once_is_acknowledged_before_it_is_handed_out(face: Face):
    Admin(face.clients).create_queue("jobs")
    put(face, b"x")
    with QueueConsumer(face.clients, "jobs", guarantee="at_most_once") as worker:
        taken = worker.take()
        assert taken is not None and taken.finished
    assert Admin(face.clients).describe_queue("jobs").acknowledged == 1


def test_a_handler_runs_until_it_is_stopped(face: Face):
    Admin(face.clients).create_queue("jobs", QueueConfig(max_attempts=1))
    put(face, b"good", b"bad", b"good")
    stop = threading.Event()
    handled: list[bytes | None] = []

    def handle(delivery: Delivery) -> None:
        handled.append(delivery.message.value)
        if len(handled) == 3:
            stop.set()
        if delivery.message.value == b"bad":
            raise ValueError("bad")

    with QueueConsumer(face.clients, "jobs") as worker:
        worker.run(handle, stop)
    view = Admin(face.clients).describe_queue("jobs")
    assert (view.acknowledged, view.dead, handled) == (2, 1, [b"good", b"bad", b"good"])


def test_an_unknown_queue_is_said_at_once(face: Face):
    with pytest.raises(BrokerError) as caught:
        QueueConsumer(face.clients, "nowhere")
    assert caught.value.code is ErrorCode.UNKNOWN_QUEUE


def test_subscriptions_get_every_message_of_their_topic(face: Face):
    admin = Admin(face.clients)
    admin.create_topic("news", 2)
    admin.create_subscription("mail", "news")
    admin.create_subscription("search", "news")
    put(face, b"a", b"b", queue="news")
    for name in ("mail", "search"):
        with QueueConsumer(face.clients, name) as worker:
            assert sorted(each.message.value or b"" for each in worker.take_many(9)) == [b"a", b"b"]


def dead(face: Face, *values: bytes) -> None:
    put(face, *values)
    with QueueConsumer(face.clients, "jobs") as worker:
        for delivery in worker.take_many(len(values)):
            delivery.nack(f"cause {len(delivery.message.value or b'') % 2}", requeue=False)


def test_dead_letters_are_listed_filtered_and_found_page_by_page(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs")
    dead(face, *[b"x" * number for number in range(1, 31)])
    assert admin.dead_letters_by_cause("jobs") == {"cause 0": 15, "cause 1": 15}
    assert [each.offset for each in admin.dead_letters("jobs", offset=5, limit=4)] == [5, 6, 7, 8]
    assert len(admin.dead_letters("jobs", limit=None)) == 30
    assert len(admin.dead_letters("jobs", DeadLetterFilter(cause="cause 1"))) == 15
    assert len(admin.dead_letters("jobs", DeadLetterFilter(text="x" * 30))) == 1


def test_redrive_previewed_done_edited_and_taken_back(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs")
    dead(face, b"a", b"b", b"c")
    preview = admin.preview_redrive("jobs", [0, 9])
    assert [each.message.value for each in preview.redrivable] == [b"a"]
    assert [(each.offset, each.error.code) for each in preview.refused] == [(9, ErrorCode.UNKNOWN_DEAD_LETTER)]
    result = admin.redrive("jobs", [0], {0: Message(b"mended", b"k")})
    assert [each.offset for each in result.redriven] == [0]
    assert admin.undo_redrive("jobs") == 1
    assert len(admin.redrive("jobs").redriven) == 3
    with QueueConsumer(face.clients, "jobs") as worker:
        assert sorted(each.message.value or b"" for each in worker.take_many(9, 5)) == [b"a", b"b", b"c"]
    assert admin.describe_queue("jobs").redriven == 4


def test_a_paced_redrive_takes_its_time_and_tells_what_became_of_each(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs")
    dead(face, b"a", b"b", b"c")
    running = admin.redrive_paced("jobs", [0, 1, 77], rate_per_s=50)
    result = running.wait(10)
    assert (len(result.redriven), len(result.refused), running.done, running.total) == (2, 1, 3, 3)


def test_purges_of_letters_and_of_queues_can_be_undone(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs")
    dead(face, b"a", b"b")
    assert admin.purge_dead_letters("jobs", [0]).purged == 1
    assert admin.undo_purge_dead_letters("jobs") == 1
    assert admin.purge_dead_letters("jobs").purged == 2
    put(face, b"c", b"d")
    assert admin.purge_queue("jobs") == 2 and admin.describe_queue("jobs").ready == 0
    assert admin.undo_purge_queue("jobs") == 2 and admin.describe_queue("jobs").ready == 2
