"""Queues served from their open batches: what any queue does, and without a call of the broker."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core import (
    Admin,
    BrokerError,
    BrokerHost,
    ErrorCode,
    LogConfig,
    Message,
    Producer,
    QueueConfig,
    QueueConsumer,
)
from broker_core.clients.queue_consumer import Delivery
from broker_core.engine import open_batches
from broker_core.engine.host import HostConfig
from broker_core.events import Event, EventKind
from tests.long_form import examples


class Shop:
    """A queue with a producer and two workers, with the short way in and out or without it."""

    def __init__(self, *, short: bool) -> None:
        self.host = BrokerHost(config=HostConfig(tick_ms=3_600_000))  # whatever ticks closes what is open
        if not short:
            self.host.open_batches = None
        self.events: list[Event] = []
        self.host.events.attach(self.events.append)
        Admin(self.host).create_queue("jobs", QueueConfig(max_attempts=3))
        self.producer = Producer(self.host, client_id="boss")
        self.workers = [QueueConsumer(self.host, "jobs", client_id=f"worker-{number}") for number in range(2)]
        self.held: list[Delivery] = []
        self.told: list[Any] = []
        self.quick = 0

    def do(self, number: int, what: str, which: int) -> None:
        if what in {"ack", "nack", "release", "again"} and not self.held:
            return
        match what:
            case "put":
                self.told.append(self.producer.publish("jobs", b"%d" % number, b"key" if which % 2 else None))
            case "many":
                self.producer.publish_many("jobs", [Message(b"%d" % number)] * 3)
            case "take":
                taken = self.workers[which % 2].take()
                self.quick += self.host.open_batches is not None and bool(self.host.open_batches.open)
                if taken is not None:
                    self.held.append(taken)
                    stored = taken.message
                    self.told.append((stored.offset, stored.value, stored.key, stored.headers, taken.attempt))
            case "ack" | "nack" | "release":
                self.try_to(getattr(self.held.pop(which % len(self.held)), what))
            case "again":
                one = self.held[which % len(self.held)]
                one.ack()
                one.ack()
            case "late":
                found = [one for one in self.held if one.finished]
                if found:
                    self.try_to(Delivery(self.host, found[0].lease, found[0].message).ack)
            case "look":
                self.told.append(self.host.call(lambda _now: self.host.broker.queues.queue("jobs").ready))

    def try_to(self, end: Callable[[], object]) -> None:
        try:
            end()
        except BrokerError as error:
            self.told.append(error.code)

    def end(self) -> dict[str, object]:
        self.workers[0].close()
        queue = self.host.call(lambda _now: self.host.broker.queues.queue("jobs"))
        events: Counter[object] = Counter()
        attempts: Counter[object] = Counter()
        for event in self.events:
            events[event.kind, event.client, event.group] += event.count
            for offset in range(event.offset or 0, (event.offset or 0) + event.count):
                attempts[event.kind, offset, event.attempt] += 1
        found = {
            "told": self.told,
            "counts": queue.counts,
            # The bytes of a part of a batch are its share of the batch's.
            "left": (queue.ready, queue.in_flight, queue.size_bytes if not queue.ready + queue.in_flight else None),
            "log": [one.value for one in self.host.broker.logs.partition("jobs", 0).read(0, max_messages=1_000)],
            "events": events,
            "attempts": attempts,
        }
        assert [event.time_ns for event in self.events] == sorted(event.time_ns for event in self.events)
        self.host.close()
        return found


@settings(max_examples=examples(80), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["put"] * 5 + ["take"] * 5 + ["ack"] * 4 + ["nack", "release", "again", "late", "look", "many"]
            ),
            st.integers(0, 5),
        ),
        max_size=50,
    )
)
def test_a_queue_that_is_served_from_its_tail_does_what_any_queue_does(steps):
    found = []
    with pytest.MonkeyPatch.context() as patch:
        stay_open(patch)
        for short in (True, False):
            shop = Shop(short=short)
            for number, step in enumerate(steps):
                shop.do(number, *step)
            found.append(shop.end())
    assert found[0] == found[1]


def stay_open(patch: pytest.MonkeyPatch) -> None:
    """OpenBatches are closed by whoever touches the broker, and by no clock."""
    patch.setattr(open_batches, "OPEN_NS", 10**12)
    patch.setattr(open_batches, "IDLE_NS", 10**12)


def test_messages_pass_through_a_queue_without_a_call_of_the_broker(monkeypatch):
    stay_open(monkeypatch)
    shop = Shop(short=True)
    for number in range(5):
        shop.do(number, "put", 0)
        shop.do(number, "take", 0)
        shop.do(number, "ack", 0)
    shop.do(5, "put", 0)
    shop.do(5, "take", 0)
    assert shop.quick == 6
    shop.held.pop().nack("no")
    shop.do(6, "take", 0)
    assert shop.held[0].attempt == 2
    shop.do(6, "ack", 0)
    assert shop.end()["left"] == (0, 0, 0)


def test_what_lay_in_the_queue_before_comes_first_and_a_lease_from_a_tail_ends_as_any_other(monkeypatch):
    stay_open(monkeypatch)
    shop = Shop(short=True)
    shop.do(0, "many", 0)
    for number in range(1, 4):
        shop.do(number, "put", 0)
    for number in range(6):
        shop.do(number, "take", number)
    assert [told[1] for told in shop.told if len(told) == 5] == [b"0", b"0", b"0", b"1", b"2", b"3"]
    shop.do(9, "put", 0)
    shop.do(9, "take", 0)
    lease = shop.held[-1].lease
    queue = shop.host.call(lambda _now: shop.host.broker.queues.queue("jobs"))
    table = queue.levels.table(0)
    span = table.index.get(lease.offset)
    assert span is not None and (span.lease.deadline_ns, span.lease.holder, span.lease.attempts) == (
        lease.deadline_ns,
        lease.holder,
        1,
    )
    shop.end()


@pytest.mark.parametrize(
    ("config", "log"),
    [
        (QueueConfig(priorities=2), LogConfig()),
        (QueueConfig(lease_ms=5), LogConfig()),
        (QueueConfig(), LogConfig(message_ttl_ms=0)),
        (QueueConfig(), LogConfig(cleanup="compact")),
    ],
    ids=["priorities", "short leases", "ttl", "compacted"],
)
def test_queues_with_more_to_them_have_no_tail(config, log):
    with BrokerHost() as host, Producer(host) as producer:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", config, log=log))
        assert producer.publish("jobs", b"one", b"key") == (0, 0)
        assert host.open_batches is not None and not host.open_batches.open


def test_whoever_waits_for_a_job_gets_it_at_once(host):
    Admin(host).create_queue("jobs", QueueConfig())
    with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
        found: list[Delivery | None] = []
        waiting = threading.Thread(target=lambda: found.append(consumer.take(20)))
        waiting.start()
        while not host.call(lambda _now: host.broker.queues.queue("jobs").waiting_takers):
            pass
        producer.publish("jobs", b"now")
        assert not host.open_batches.open
        waiting.join(10)
        assert found[0] is not None and found[0].message.value == b"now"


def test_only_its_holder_acknowledges_a_message_of_a_tail(host, monkeypatch):
    stay_open(monkeypatch)
    Admin(host).create_queue("jobs", QueueConfig())
    with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
        producer.publish("jobs", b"one")
        taken = consumer.take()
        assert taken is not None and "jobs" in host.open_batches.open
        with pytest.raises(BrokerError) as caught:
            Delivery(host, msgspec.structs.replace(taken.lease, holder="thief"), taken.message).ack()
        assert caught.value.code is ErrorCode.INVALID_LEASE
        taken.ack()


def test_what_is_known_of_a_message_from_a_tail_is_what_the_queue_says_later(host, monkeypatch):
    stay_open(monkeypatch)
    Admin(host).create_queue("jobs", QueueConfig())
    host.clock.stop(host.clock.now_ns())  # so that no timer closes the tail
    with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
        producer.publish("jobs", b"one", b"key")
        taken = consumer.take()
        assert taken is not None and "jobs" in host.open_batches.open
        stored, lease = taken.message, taken.lease
        assert lease.message is stored
        view = host.call(lambda now_ns: host.broker.queues.queue("jobs").view()).leases[0]
        assert (view.offset, view.holder, view.attempt) == (lease.offset, lease.holder, taken.attempt)
        assert host.call(lambda _now: host.broker.logs.partition("jobs", 0).message(0)) == stored


def test_a_tail_that_is_closed_hands_nothing_out_and_acknowledges_nothing(host, monkeypatch):
    """Whoever has looked it up just before takes the long way."""
    stay_open(monkeypatch)
    Admin(host).create_queue("jobs", QueueConfig())
    with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
        producer.publish("jobs", b"one")
        tail = host.open_batches.serving["jobs"]
        host.call(lambda _now: None)
        assert tail.take("late") is None and not host.open_batches.serving
        producer.publish("jobs", b"two")
        taken = [consumer.take() for _ in range(2)]
        assert [one.message.value for one in taken if one is not None] == [b"one", b"two"]


def test_a_message_is_acknowledged_once_while_others_close_the_tail():
    """An acknowledgement takes no lock: either it counts, or the queue has the lease when it comes."""
    with BrokerHost() as host:
        Admin(host).create_queue("jobs", QueueConfig())
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                host.call(lambda _now: None)

        looking = threading.Thread(target=look)
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            looking.start()
            with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
                for number in range(1_500):
                    producer.publish("jobs", b"%d" % number)
                    taken = consumer.take()
                    assert taken is not None and taken.message.value == b"%d" % number
                    taken.ack()
        finally:
            sys.setswitchinterval(before)
            done.set()
            looking.join()
        queue = host.call(lambda _now: host.broker.queues.queue("jobs"))
        assert (queue.counts.delivered, queue.counts.acknowledged) == (1_500, 1_500)
        assert (queue.ready, queue.in_flight) == (0, 0)


def test_each_client_is_told_of_by_its_own_name(host, monkeypatch):
    stay_open(monkeypatch)
    events: list[Event] = []
    host.events.attach(events.append)
    with Producer(host, client_id="one") as one, Producer(host, client_id="two") as two:
        for producer in (one, one, two, one):
            producer.publish("bills", b"x")
    told = [(event.client, event.count) for event in events if event.kind is EventKind.PUBLISHED]
    assert told == [("one", 2), ("two", 1), ("one", 1)]


def test_no_batch_is_opened_while_something_is_due(host: BrokerHost, monkeypatch: pytest.MonkeyPatch):
    """Its events would stand before those of an earlier moment."""
    stay_open(monkeypatch)
    due = True
    with host.lock:
        ends = open_batches.OpenBatches(host.broker, time.monotonic_ns, lambda _delay: None, lambda _at: due)
        assert ends.put("one", "bills", b"too early", None) is None
        due = False
        assert ends.put("one", "bills", b"now", None) is not None
        ends.close()
