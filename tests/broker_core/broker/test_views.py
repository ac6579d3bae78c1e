"""What is shown of a topic and a queue, and totals that no deletion changes."""

from __future__ import annotations

import contextlib

from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.errors import BrokerError
from broker_core.events import EventKind
from broker_core.flow.config import FlowConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.long_form import examples


def test_a_topic_is_shown_with_its_partitions_counts_and_schema():
    broker = VirtualBroker(1).broker
    broker.topics.create(0, "orders", 2)
    broker.publishing.publish_batch(0, "orders", 0, [Message(b"a", b"k"), Message(b"bc", b"k")], client="p")
    broker.logs.topic("orders").schema = SchemaRule("orders-value")
    view = broker.views.topic(0, "orders")
    assert (view.name, view.published, view.published_bytes, view.gate, view.schema) == (
        "orders",
        2,
        5,
        None,
        "orders-value",
    )
    assert sorted(each.end_offset for each in view.partitions) == [0, 2]


def test_a_gate_for_the_sake_of_subscriptions_is_shown_with_them_and_not_with_the_topic():
    broker = (virtual := VirtualBroker(1)).broker
    broker.queues.subscribe(0, "audit", "commits", QueueConfig(), max_messages=1, policy="block")
    virtual.publish(b"a")
    assert not broker.publishing.publish(0, "commits", Message(b"b"), client="p").done
    assert broker.views.topic(0, "commits").gate is None
    shown = broker.views.queue(0, "audit").gate
    assert shown is not None and (shown.depth, shown.limit, shown.blocked) == (1, 1, (("p", 0),))
    broker.topics.configure(0, "commits", flow=FlowConfig(max_messages=9))
    assert broker.views.topic(0, "commits").gate is not None


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["publish", "take", "ack", "nack", "redrive", "delete", "restore"]),
        st.sampled_from(["commits", "orders", "jobs", "audit"]),
    ),
    max_size=25,
)


@settings(max_examples=examples(60), deadline=None)
@given(STEPS)
@example([("publish", "orders"), ("delete", "orders"), ("restore", "orders")])
def test_deleting_and_restoring_change_no_total(steps: list[tuple[str, str]]):
    broker = (virtual := VirtualBroker(1)).broker
    broker.topics.create(0, "orders", 1)
    broker.queues.create(0, "jobs", QueueConfig(max_attempts=1))
    broker.queues.subscribe(0, "audit", "commits", QueueConfig(max_attempts=1))
    leases = []
    for step, name in steps:
        with contextlib.suppress(BrokerError):
            before = broker.views.totals()
            match step:
                case "publish":
                    virtual.publish(b"a", topic=name)
                case "take":
                    leases += broker.queues.take(0, name, "w").result()
                case "ack" if leases:
                    broker.queues.ack(0, leases.pop())
                case "nack" if leases:
                    broker.queues.nack(0, leases.pop(), "boom")
                case "redrive":
                    broker.redrives.redrive(0, name, broker.queues.dead_letters(name).offsets(name)[:1], client="u")
                case "delete":
                    delete = broker.topics.delete if name in broker.topics else broker.queues.delete
                    delete(0, name)
                    assert broker.views.totals() == before
                case "restore":
                    broker.recently_deleted.restore(0, name)
                    assert broker.views.totals() == before
    totals = broker.views.totals()
    assert totals.published == sum(event.count for event in virtual.kinds(EventKind.PUBLISHED))
    assert totals.acknowledged == sum(event.count for event in virtual.kinds(EventKind.ACKNOWLEDGED))
    assert totals.dead_lettered == len(virtual.kinds(EventKind.DEAD_LETTERED))
    assert totals.redriven == len(virtual.kinds(EventKind.REDRIVEN))
