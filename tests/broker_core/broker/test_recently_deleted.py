"""What was deleted is kept for a while, brought back as it was, and its files go in the end."""

from __future__ import annotations

from typing import cast

import pytest

from broker_core.broker.broker import Broker
from broker_core.broker.handlers import HANDLERS
from broker_core.broker.recently_deleted import Deleted, RecentlyDeleted
from broker_core.clock import NS_PER_S, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind, EventStream
from broker_core.files import MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.limits import MAX_PARTITIONS, UNDO_WINDOW_MS
from broker_core.log.config import LogConfig
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import Totals
from broker_core.timers import Timers

WINDOW_S = UNDO_WINDOW_MS / 1_000


class StubbornFiles(MemoryFiles):
    """Files of which `refused` are not removed."""

    refused = 0

    def remove(self, path: str) -> None:
        if self.refused:
            self.refused -= 1
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{path}: Input/output error")
        super().remove(path)


class BrokerSetup:
    """A broker in memory whose time the test moves."""

    def __init__(self, undo_window_ms: float = UNDO_WINDOW_MS) -> None:
        self.files, self.timers = StubbornFiles(), Timers()
        self.now_ns = 0
        self.events: list[Event] = []
        self.stream = EventStream()
        self.stream.attach(self.events.append)
        self.broker = Broker(
            self.files,
            self.timers,
            self.stream,
            OffsetStore(),
            handlers=HANDLERS,
            log_config=LogConfig(),
            group_config=GroupConfig(),
            epoch_ms=0,
            undo_window_ms=undo_window_ms,
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


class Log:
    """In place of a `TopicLog`."""

    def __init__(self, name: str, done: list[str]) -> None:
        self.name, self._done = name, done

    def remove(self) -> None:
        self._done.append(f"removed {self.name}")


class Kept:
    """The part alone: what is deleted are names, and the test moves the time."""

    def __init__(self, undo_window_ms: float = 10) -> None:
        self.timers = Timers()
        self.part = RecentlyDeleted(self.timers, undo_window_ms=undo_window_ms)
        self.done: list[str] = []
        self.why = ""

    def delete(self, name: str, *more: str, published: int = 0) -> None:
        deleted = Deleted(
            cast(tuple[TopicLog, ...], tuple(Log(each, self.done) for each in (name, *more))),
            is_queue=bool(more),
            restore=lambda _now_ns: self.done.append(f"restored {name}"),
            why_not=lambda: self.why,
            totals=Totals(published=published),
        )
        self.part.add(0, name, deleted)

    def pass_time(self, to_ms: float) -> None:
        while self.timers.fire_next(ns_from_ms(to_ms)) is not None:
            pass


def test_the_files_go_when_the_window_ends_and_not_before() -> None:
    kept = Kept()
    kept.delete("orders")
    kept.pass_time(9.9)
    assert kept.done == [] and not kept.part.why_not_restored("orders")
    kept.pass_time(10)
    assert kept.done == ["removed orders"]
    with pytest.raises(BrokerError, match="orders was deleted too long ago, or not at all"):
        kept.part.restore(0, "orders")


def test_the_files_go_at_once_where_nothing_is_to_be_restored_and_when_the_broker_closes() -> None:
    kept = Kept(undo_window_ms=0)
    kept.delete("orders")
    assert kept.done == ["removed orders"]
    kept = Kept()
    kept.delete("jobs", "jobs.dlq")
    kept.part.close()
    assert kept.done == ["removed jobs", "removed jobs.dlq"]


def test_what_was_restored_stays_when_its_window_ends() -> None:
    kept = Kept()
    kept.delete("jobs", "jobs.dlq", published=3)
    assert kept.part.is_queue("jobs") and kept.part.counted.published == 3
    kept.part.restore(0, "jobs")
    kept.pass_time(99)
    assert kept.done == ["restored jobs"] and kept.part.counted == Totals()


def test_what_cannot_be_restored_is_kept_until_it_can() -> None:
    kept = Kept()
    kept.delete("audit")
    kept.why = "another audit exists"
    with pytest.raises(BrokerError, match="another audit exists"):
        kept.part.restore(0, "audit")
    kept.why = ""
    kept.part.restore(0, "audit")
    assert kept.done == ["restored audit"]


@pytest.mark.parametrize("name", ["jobs", "JOBS", "jobs.dlq"])
def test_a_new_name_ends_the_window_of_what_has_files_of_that_name(name: str) -> None:
    kept = Kept()
    kept.delete("jobs", "jobs.dlq")
    kept.delete("orders")
    kept.part.make_way(name)
    assert kept.done == ["removed jobs", "removed jobs.dlq"]


def test_a_topic_comes_back_with_what_was_committed_and_counted() -> None:
    setup = BrokerSetup()
    broker = setup.broker
    broker.groups.commit(0, "readers", "", -1, {("orders", 0): 1, ("orders", 1): 2})
    before, totals = broker.views.topic(0, "orders"), broker.views.totals()
    broker.topics.delete(0, "orders")
    assert broker.groups.committed("readers", "orders", 0) is None
    assert broker.views.totals() == totals
    setup.pass_time(WINDOW_S - 1)
    broker.recently_deleted.restore(setup.now_ns, "orders")
    assert broker.views.topic(0, "orders") == before
    assert broker.groups.committed("readers", "orders", 1) == 2
    assert broker.views.totals() == totals
    setup.pass_time(WINDOW_S + 1)
    assert broker.views.topic(0, "orders") == before, "the end of the window is no business of what came back"


def test_a_queue_comes_back_with_its_leases_and_those_that_ended_meanwhile_have_ended() -> None:
    setup = BrokerSetup()
    broker = setup.broker
    (short, *_) = broker.queues.take(0, "jobs", "w", max_messages=2).result()
    broker.queues.delete(0, "jobs")
    setup.pass_time(1)
    broker.recently_deleted.restore(setup.now_ns, "jobs")
    assert (broker.queues.queue("jobs").ready, broker.queues.queue("jobs").in_flight) == (3, 2)
    broker.queues.ack(setup.now_ns, short)
    broker.queues.delete(setup.now_ns, "jobs")
    setup.pass_time(5)
    broker.recently_deleted.restore(setup.now_ns, "jobs")
    assert (broker.queues.queue("jobs").ready, broker.queues.queue("jobs").in_flight) == (4, 0)
    again = broker.queues.take(setup.now_ns, "jobs", "w", max_messages=9).result()
    assert [lease.attempt for lease in again] == [2, 1, 1, 1]


def test_a_topic_that_is_refused_for_its_partitions_leaves_the_deleted_one_of_its_name() -> None:
    setup = BrokerSetup()
    setup.broker.topics.delete(0, "orders")
    for partitions in (0, MAX_PARTITIONS + 1):
        with pytest.raises(BrokerError, match="for topic 'orders'; 1 to"):
            setup.broker.topics.create(0, "orders", partitions)
    setup.broker.recently_deleted.restore(0, "orders")
    assert setup.broker.logs.partition_count("orders") == 2


def test_a_name_that_is_wanted_again_ends_the_window() -> None:
    setup = BrokerSetup()
    setup.broker.topics.delete(0, "orders")
    setup.broker.topics.create(0, "Orders", 1)
    assert setup.broker.recently_deleted.why_not_restored("orders")
    assert setup.broker.views.topic(0, "Orders").partitions[0].end_offset == 0


def test_a_subscription_comes_back_after_its_topic() -> None:
    setup = BrokerSetup()
    broker = setup.broker
    broker.queues.subscribe(0, "audit", "orders", QueueConfig(), from_end=False)
    broker.queues.delete(0, "audit")
    broker.topics.delete(0, "orders")
    with pytest.raises(BrokerError, match="reads orders, which is deleted; restore that first"):
        broker.recently_deleted.restore(0, "audit")
    broker.recently_deleted.restore(0, "orders")
    assert broker.recently_deleted.is_queue("audit")
    broker.recently_deleted.restore(0, "audit")
    assert broker.queues.queue("audit").ready == 5


def test_a_subscription_to_a_topic_that_was_made_anew_stays_gone() -> None:
    setup = BrokerSetup()
    broker = setup.broker
    broker.queues.subscribe(0, "audit", "orders", QueueConfig(), from_end=False)
    broker.queues.delete(0, "audit")
    broker.topics.delete(0, "orders")
    broker.topics.create(0, "orders", 1)
    with pytest.raises(BrokerError, match="read another orders, which no longer exists"):
        broker.recently_deleted.restore(0, "audit")


@pytest.mark.parametrize("name", ["orders", "jobs", "audit"])
@pytest.mark.parametrize("undo_window_ms", [0, UNDO_WINDOW_MS])
def test_a_disk_that_refuses_to_remove_files_does_not_give_them_to_what_is_new(
    name: str, undo_window_ms: float
) -> None:
    setup = BrokerSetup(undo_window_ms)
    broker, files = setup.broker, setup.files
    broker.queues.subscribe(0, "audit", "orders", QueueConfig())
    delete = broker.topics.delete if name == "orders" else broker.queues.delete
    if name == "orders":
        broker.queues.delete(0, "audit")
    if undo_window_ms:
        delete(0, name)
    files.refused = 2
    if not undo_window_ms:
        with pytest.raises(BrokerError, match="Input/output error"):
            delete(0, name)
    assert setup.events[-1].kind is EventKind.TOPIC_DELETED
    while files.refused:
        with pytest.raises(BrokerError, match="Input/output error"):
            broker.topics.create(0, name, 2)
    with pytest.raises(BrokerError, match=f"{name} was deleted too long ago"):
        broker.recently_deleted.restore(0, name)
    broker.topics.create(0, name, 2)
    assert [each.end_offset for each in broker.views.topic(0, name).partitions] == [0, 0]


def test_a_disk_that_refuses_to_remove_files_does_not_stop_the_broker_from_closing() -> None:
    setup = BrokerSetup()
    setup.broker.topics.delete(0, "orders")
    setup.broker.queues.delete(0, "jobs")
    setup.files.refused = 1
    setup.broker.close()
    assert setup.stored("orders") and not setup.stored("jobs")


@pytest.mark.parametrize("name", ["orders", "jobs", "audit"])
def test_what_is_deleted_can_be_restored_where_a_listener_raises(name: str) -> None:
    setup = BrokerSetup()
    broker = setup.broker
    broker.queues.subscribe(0, "audit", "orders", QueueConfig())

    def check(event: Event) -> None:
        assert event.kind is not EventKind.TOPIC_DELETED

    if name == "orders":
        broker.queues.delete(0, "audit")
    setup.stream.attach(check)
    with pytest.raises(AssertionError):
        (broker.topics.delete if name == "orders" else broker.queues.delete)(0, name)
    assert not broker.recently_deleted.why_not_restored(name)


@pytest.mark.parametrize("is_queue", [False, True])
def test_what_is_refused_with_its_dead_letter_queue_leaves_no_files(
    is_queue: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = BrokerSetup()
    broker, makedirs = setup.broker, setup.files.makedirs
    broker.schemas.register(0, "work", "{}")

    def refuse_dead_letters(path: str) -> None:
        if "dlq" in path:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        makedirs(path)

    monkeypatch.setattr(setup.files, "makedirs", refuse_dead_letters)
    with pytest.raises(BrokerError, match="full"):
        if is_queue:
            broker.queues.create(0, "work", QueueConfig())
        else:
            broker.topics.create(0, "work", 1, schema=SchemaRule(subject="work", mode="dead_letter"))
    assert not setup.stored("work")
