"""What was deleted is kept for a while, brought back as it was, and its files go in the end."""

from __future__ import annotations

import pytest

from broker_core.broker.broker import Broker
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import EventStream
from broker_core.files import MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.timers import Timers

WINDOW_MS = 10_000.0


class Bench:
    """A broker in memory whose time the test moves."""

    def __init__(self) -> None:
        self.files, self.timers = MemoryFiles(), Timers()
        self.now_ns = 0
        self.broker = Broker(
            self.files,
            self.timers,
            EventStream(),
            OffsetStore(),
            log_config=LogConfig(),
            group_config=GroupConfig(),
            epoch_ms=0,
        )
        self.broker.topics.create(0, "orders", 2)
        self.broker.queues.create(0, "jobs", QueueConfig(lease_ms=2_000, max_attempts=2))
        for number in range(5):
            for name in ("orders", "jobs"):
                self.broker.publishing.publish(0, name, Message(b"%d" % number, b"k%d" % number), client="p").result()

    def pass_time(self, seconds: float) -> None:
        self.now_ns += round(seconds * NS_PER_S)
        while self.timers.fire_next(self.now_ns) is not None:
            pass

    def stored(self, name: str) -> list[str]:
        return [each for each in self.files.listdir("") if each.startswith(f"{name}-")]


def test_a_topic_comes_back_with_what_was_committed_and_counted() -> None:
    bench = Bench()
    broker = bench.broker
    broker.groups.commit(0, "readers", "", -1, {("orders", 0): 1, ("orders", 1): 2})
    before, totals = broker.views.topic(0, "orders"), broker.views.totals()
    broker.topics.delete(0, "orders", undo_window_ms=WINDOW_MS)
    assert broker.groups.committed("readers", "orders", 0) is None
    assert broker.views.totals() == totals
    bench.pass_time(9)
    broker.recently_deleted.restore(bench.now_ns, "orders")
    assert broker.views.topic(0, "orders") == before
    assert broker.groups.committed("readers", "orders", 1) == 2
    assert broker.views.totals() == totals
    bench.pass_time(60)
    assert broker.views.topic(0, "orders") == before, "the end of the window is no business of what came back"


def test_files_go_when_the_window_ends_or_the_broker_closes_and_not_before() -> None:
    bench = Bench()
    bench.broker.topics.delete(0, "orders", undo_window_ms=WINDOW_MS)
    assert bench.stored("orders")
    bench.pass_time(11)
    assert bench.stored("orders") == []
    with pytest.raises(BrokerError, match="too long ago, or not at all"):
        bench.broker.recently_deleted.restore(bench.now_ns, "orders")
    bench.broker.queues.delete(bench.now_ns, "jobs", undo_window_ms=WINDOW_MS)
    bench.broker.close()
    assert bench.stored("jobs") == []


def test_without_a_window_the_files_go_at_once() -> None:
    bench = Bench()
    bench.broker.topics.delete(0, "orders")
    assert bench.stored("orders") == []


def test_a_queue_comes_back_with_its_leases_and_those_that_ended_meanwhile_have_ended() -> None:
    bench = Bench()
    broker = bench.broker
    (short, *_) = broker.queues.take(0, "jobs", "w", max_messages=2).result()
    broker.queues.delete(0, "jobs", undo_window_ms=WINDOW_MS)
    bench.pass_time(1)
    broker.recently_deleted.restore(bench.now_ns, "jobs")
    assert (broker.queues.queue("jobs").ready, broker.queues.queue("jobs").in_flight) == (3, 2)
    broker.queues.ack(bench.now_ns, short)
    broker.queues.delete(bench.now_ns, "jobs", undo_window_ms=WINDOW_MS)
    bench.pass_time(5)
    broker.recently_deleted.restore(bench.now_ns, "jobs")
    assert (broker.queues.queue("jobs").ready, broker.queues.queue("jobs").in_flight) == (4, 0)
    again = broker.queues.take(bench.now_ns, "jobs", "w", max_messages=9).result()
    assert [lease.attempt for lease in again] == [2, 1, 1, 1]


def test_a_name_that_is_wanted_again_ends_the_window() -> None:
    bench = Bench()
    bench.broker.topics.delete(0, "orders", undo_window_ms=WINDOW_MS)
    bench.broker.topics.create(0, "Orders", 1)
    assert bench.broker.recently_deleted.why_not_restored("orders")
    assert bench.broker.views.topic(0, "Orders").partitions[0].end_offset == 0


def test_a_subscription_comes_back_after_its_topic() -> None:
    bench = Bench()
    broker = bench.broker
    broker.queues.subscribe(0, "audit", "orders", QueueConfig(), from_end=False)
    broker.queues.delete(0, "audit", undo_window_ms=WINDOW_MS)
    broker.topics.delete(0, "orders", undo_window_ms=WINDOW_MS)
    with pytest.raises(BrokerError, match="reads orders, which is deleted; bring that back first"):
        broker.recently_deleted.restore(0, "audit")
    broker.recently_deleted.restore(0, "orders")
    assert broker.recently_deleted.is_queue("audit")
    broker.recently_deleted.restore(0, "audit")
    assert broker.queues.queue("audit").ready == 5


def test_a_subscription_to_a_topic_that_was_made_anew_stays_gone() -> None:
    bench = Bench()
    broker = bench.broker
    broker.queues.subscribe(0, "audit", "orders", QueueConfig(), from_end=False)
    broker.queues.delete(0, "audit", undo_window_ms=WINDOW_MS)
    broker.topics.delete(0, "orders", undo_window_ms=WINDOW_MS)
    broker.topics.create(0, "orders", 1)
    with pytest.raises(BrokerError, match="read another orders, which is gone"):
        broker.recently_deleted.restore(0, "audit")
