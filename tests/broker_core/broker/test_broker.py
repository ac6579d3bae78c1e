"""What there is can be changed while it is used, and every change is an event."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Target
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.operations.groups import HoldMember, KickMember, ReleaseMember
from broker_core.queues.config import QueueConfig, RetryPolicy
from tests.broker_core.clients.virtual_broker import VirtualBroker


def test_a_deleted_topic_is_gone_with_its_offsets_and_can_be_made_anew():
    virtual = VirtualBroker(2)
    virtual.publish(b"a", key=b"k")
    reader = virtual.consumer()
    virtual.do(reader.poll())
    reader.commit_handed()
    reader.close()
    virtual.broker.topics.delete(virtual.now_ns, "commits")
    with pytest.raises(BrokerError):
        virtual.publish(b"b")
    assert virtual.kinds(EventKind.TOPIC_DELETED)[0].topic == "commits"
    virtual.broker.topics.create(virtual.now_ns, "commits", 2)
    assert virtual.values() == [[], []]
    assert virtual.broker.groups.committed("readers", "commits", 0) is None


def test_each_queue_has_a_dead_letter_queue_of_its_own():
    virtual = VirtualBroker()
    virtual.broker.queues.create(0, "jobs", QueueConfig(dead_letter_topic="dead"))
    with pytest.raises(BrokerError, match="dead") as refused:
        virtual.broker.queues.create(0, "mails", QueueConfig(dead_letter_topic="dead"))
    assert refused.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert virtual.broker.queues.names() == ("jobs",)


def test_more_partitions_are_shared_out_by_a_rebalance():
    virtual = VirtualBroker(1)
    reader = virtual.consumer()
    virtual.do(reader.poll(0))
    virtual.broker.topics.add_partitions(virtual.now_ns, "commits", 3)
    virtual.run(4)
    virtual.do(reader.poll(0))
    assert len(reader.assignment) == 3
    assert virtual.kinds(EventKind.PARTITIONS_ADDED)[0].count == 3
    with pytest.raises(BrokerError) as refused:
        virtual.broker.topics.add_partitions(virtual.now_ns, "commits", 3)
    assert refused.value.code is ErrorCode.INVALID_PARTITIONS


def test_what_a_queue_or_a_subscription_needs_cannot_be_deleted_under_it():
    virtual = VirtualBroker(1)
    virtual.broker.queues.create(0, "jobs", QueueConfig())
    virtual.broker.queues.subscribe(0, "audit", "commits", QueueConfig())
    for name in ("jobs", "jobs.dlq", "commits", "audit.dlq"):
        with pytest.raises(BrokerError, match="delete that first"):
            virtual.broker.topics.delete(0, name)
    virtual.broker.queues.delete(0, "audit")
    virtual.broker.queues.delete(0, "jobs")
    virtual.broker.topics.delete(0, "commits")
    catalog = virtual.broker.catalog()
    assert not (catalog.topics or catalog.queues or catalog.subscriptions)


def test_a_deleted_queue_fails_what_waits_for_it():
    virtual = VirtualBroker(1)
    virtual.broker.queues.create(0, "jobs", QueueConfig(), flow=FlowConfig(max_messages=1))
    taker = virtual.broker.queues.take(0, "jobs", "worker", deadline_ns=10**12)
    virtual.broker.publishing.publish(0, "jobs", Message(b"a"), client="one")
    virtual.broker.publishing.publish(0, "jobs", Message(b"b"), client="one")
    parked = virtual.broker.publishing.publish(0, "jobs", Message(b"c"), client="one")
    assert taker.done and not parked.done
    virtual.broker.queues.delete(0, "jobs")
    assert isinstance(parked.error, BrokerError) and parked.error.code is ErrorCode.CLOSED
    virtual.broker.queues.create(0, "jobs", QueueConfig())
    assert virtual.broker.queues.queue("jobs").ready == 0


def test_settings_change_while_the_topic_is_used():
    virtual = VirtualBroker(1)
    virtual.broker.topics.configure(0, "commits", log=LogConfig(max_message_bytes=3))
    with pytest.raises(BrokerError, match="at most 3"):
        virtual.broker.publishing.publish(0, "commits", Message(b"long"), client="one")
    with pytest.raises(BrokerError, match="durability"):
        virtual.broker.topics.configure(0, "commits", log=LogConfig(durability="fsync"))
    virtual.broker.topics.configure(0, "commits", flow=FlowConfig(rate_per_s=1))
    virtual.publish(b"a")
    parked = virtual.broker.publishing.publish(0, "commits", Message(b"b"), client="one")
    assert not parked.done
    virtual.broker.topics.configure(0, "commits", flow=FlowConfig())
    assert parked.done and virtual.values() == [[b"a", b"b"]]
    assert len(virtual.kinds(EventKind.USER_ACTION)) == 3


def test_records_are_deleted_by_hand_and_by_retention():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c")
    assert virtual.broker.cleaning.delete_records(0, "commits", 0, 2) == 2
    assert virtual.values() == [[b"c"]]
    virtual.broker.topics.configure(0, "commits", log=LogConfig(retention_ms=1_000))
    virtual.run(2)
    virtual.broker.cleaning.clean(virtual.now_ns)
    assert virtual.values() == [[]]
    deletions = virtual.kinds(EventKind.RECORDS_DELETED)
    assert [(event.offset, event.count, event.cause) for event in deletions] == [
        (0, 2, "delete records"),
        (2, 1, "retention"),
    ]


def test_compaction_goes_on_slice_by_slice_and_keeps_the_latest_of_each_key():
    virtual = VirtualBroker(1, log=LogConfig(cleanup="compact", segment_bytes=400))
    for number in range(60):
        virtual.publish(b"%d" % number, key=b"k%d" % (number % 3))
    virtual.broker.cleaning.clean(virtual.now_ns)
    slices = 1
    while virtual.broker.cleaning.compact(virtual.now_ns):
        slices += 1
    assert slices > 20
    kept = virtual.values()[0]
    assert len(kept) < 30 and kept[-3:] == [b"57", b"58", b"59"]


def test_a_reset_says_before_what_it_would_change():
    virtual = VirtualBroker(2)
    virtual.publish(*[b"x"] * 40)
    reader = virtual.consumer()
    while virtual.do(reader.poll(0)):
        pass
    reader.commit_handed()
    places = [("commits", 0), ("commits", 1)]
    with pytest.raises(BrokerError, match="stop those of"):
        virtual.broker.offsets.reset(virtual.now_ns, "readers", Target("earliest"), places)
    reader.close()
    before = [virtual.broker.groups.committed("readers", *place) for place in places]
    preview = virtual.broker.offsets.preview_reset("readers", Target("shift-by", offset=-3), places)
    assert [virtual.broker.groups.committed("readers", *place) for place in places] == before
    done = virtual.broker.offsets.reset(virtual.now_ns, "readers", Target("shift-by", offset=-3), places)
    assert done == preview and all(change.change == -3 for change in done)
    assert virtual.kinds(EventKind.OFFSETS_RESET)[0].group == "readers"


def test_a_catalog_makes_everything_again():
    virtual = VirtualBroker(2)
    virtual.broker.queues.create(0, "jobs", QueueConfig(priorities=3), flow=FlowConfig(max_messages=9))
    virtual.broker.queues.subscribe(0, "audit", "commits", QueueConfig(), max_messages=5, policy="drop_oldest")
    virtual.broker.producer_ids.register("importer")
    catalog = virtual.broker.catalog()
    again = VirtualBroker(1)
    again.broker.topics.delete(0, "commits")
    again.broker.restore(0, catalog)
    assert again.broker.catalog().topics == catalog.topics
    assert again.broker.catalog().queues == catalog.queues
    assert again.broker.catalog().subscriptions == catalog.subscriptions
    assert again.broker.producer_ids.register("importer") == (0, 1)
    assert again.broker.producer_ids.register()[0] >= 1_000


def test_a12_queues_of_a_broker_jitter_their_retries_each_for_itself():
    def delays(name: str, seed: int = 0) -> list[int]:
        virtual = VirtualBroker(1)
        policy = RetryPolicy("exponential_jitter", base_ms=1_000)
        virtual.broker.queues.jitter_seed = seed
        virtual.broker.queues.create(0, name, QueueConfig(retry=policy))
        virtual.publish(*[b"x"] * 8, topic=name)
        leases = virtual.broker.queues.take(0, name, "worker", max_messages=8).result()
        for lease in leases:
            virtual.broker.queues.nack(0, lease, "boom")
        found = []
        while (due_ns := virtual.loop.timers.next_deadline_ns()) is not None:
            found.append(due_ns)
            virtual.run((due_ns - virtual.now_ns) / 10**9)
        return found

    assert len(set(delays("jobs"))) == 8
    assert delays("jobs") == delays("jobs") != delays("mail")
    assert delays("jobs", 1) != delays("jobs", 2)


def test_the_event_of_a_wider_gate_comes_before_what_it_admits():
    virtual = VirtualBroker()
    virtual.broker.queues.create(0, "jobs", QueueConfig(), flow=FlowConfig(max_messages=1))
    for value in (b"a", b"b"):
        virtual.broker.publishing.publish(0, "jobs", Message(value), client="p")
    virtual.broker.topics.configure(0, "jobs", flow=FlowConfig(max_messages=2))
    kinds = [event.kind for event in virtual.events if event.kind in {EventKind.PUBLISHED, EventKind.USER_ACTION}]
    assert kinds == [EventKind.PUBLISHED, EventKind.USER_ACTION, EventKind.PUBLISHED]


@pytest.mark.parametrize("request_of", [HoldMember, ReleaseMember, KickMember])
def test_who_is_no_member_is_neither_held_nor_released_nor_put_out(request_of: Any) -> None:
    virtual = VirtualBroker(1)
    with pytest.raises(BrokerError):
        virtual.broker.handle(0, request_of(group="readers", client="nobody"))


def test_logs_are_closed_even_if_the_offsets_cannot_be_saved(monkeypatch):
    virtual = VirtualBroker(1)
    monkeypatch.setattr(virtual.broker.offsets.store, "flush", Mock(side_effect=BrokerError(ErrorCode.STORAGE_ERROR)))
    with pytest.raises(BrokerError, match="disk"):
        virtual.broker.close()
    with pytest.raises(BrokerError) as closed:
        virtual.broker.logs.partition("commits", 0).append_batch(0, [Message(b"a")])
    assert closed.value.code is ErrorCode.CLOSED
