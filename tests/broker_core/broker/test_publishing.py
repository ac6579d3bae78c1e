"""Publishing, with logs and schemas and nothing else of a broker."""

from __future__ import annotations

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.flow.config import FlowConfig
from broker_core.flow.gate import Gate
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.broker.parts import Parts


def gated(parts: Parts, name: str, config: FlowConfig) -> list[int]:
    """A topic whose depth is what the list holds."""
    topic, depth = parts.topic(name), [0]
    topic.gate = Gate(name, config, lambda: (depth[0], 0, "reader"), parts.stream, parts.timers)
    return depth


def test_a_batch_lands_in_one_partition_and_is_one_event():
    parts = Parts()
    topic = parts.topic("orders", 3)
    published = parts.publish("orders", b"a", b"bc", key=b"k").result()
    assert published is not None
    assert (published.topic, published.offset, published.count, published.missed_by) == ("orders", 0, 2, ())
    (event,) = parts.events
    assert (event.kind, event.partition, event.offset, event.count) == (EventKind.PUBLISHED, published.partition, 0, 2)
    assert (topic.published, topic.published_bytes) == (2, 5)
    assert [log.end_offset for log in topic.log.partitions].count(2) == 1


def test_an_unknown_topic_and_partition_are_refused():
    parts = Parts()
    parts.topic("orders")
    for name, partition in (("nothing", None), ("orders", 1)):
        with pytest.raises(BrokerError) as refused:
            parts.publishing.publish_batch(0, name, partition, (Message(b""),), client="p")
        assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_reply_waits_for_the_disk_and_so_do_readers():
    parts = Parts(LogConfig(durability="fsync"))
    topic = parts.topic("orders")
    grown = parts.growth.wait([("orders", 0)], 10**12)
    reply = parts.publish("orders", b"a")
    assert not (reply.done or grown.done) and len(parts.events) == 1
    done = parts.durability.syncs.begin()
    for _, ticket in done:
        ticket.run()
    parts.durability.end_sync(7, done)
    assert reply.done and grown.done and topic.partition(0).high_watermark == 1


def test_a_reader_that_names_a_partition_twice_does_not_break_a_publish():
    """As a Java client does whose topic was made again."""
    parts = Parts()
    parts.topic("orders")
    grown = parts.growth.wait([("orders", 0), ("orders", 0)], 10**12)
    assert parts.publish("orders", b"a").done and grown.done


def test_what_is_sent_again_is_stored_once_and_counted_once():
    parts = Parts()
    topic = parts.topic("orders")
    stamp = ProducerStamp(1, 0, 0)
    first, again = (
        parts.publishing.publish_batch(0, "orders", 0, (Message(b"a"),), client="p", producer=stamp).result()
        for _ in range(2)
    )
    assert first == again and topic.published == 1 and len(parts.events) == 1
    assert parts.appends == [("orders", 0)] * 2, "the transaction coordinator was asked"


def test_what_waits_for_room_comes_in_when_there_is_some_or_is_withdrawn():
    parts = Parts()
    depth = gated(parts, "orders", FlowConfig(max_messages=1, policy="block"))
    depth[0] = 1
    first, second = parts.publish("orders", b"a"), parts.publish("orders", b"b")
    assert not (first.done or second.done)
    assert parts.publishing.withdraw(0, "orders", first)
    assert isinstance(first.error, BrokerError) and first.error.code is ErrorCode.REQUEST_TIMED_OUT
    assert not parts.publishing.withdraw(0, "orders", first)
    depth[0] = 0
    parts.logs.make_room(0)
    assert second.result() is not None
    assert not parts.publishing.withdraw(0, "orders", second)


@pytest.mark.parametrize(("policy", "code"), [("reject", ErrorCode.THROTTLED), ("drop_newest", None)])
def test_a_full_topic_refuses_or_drops(policy: str, code: ErrorCode | None):
    parts = Parts()
    gated(parts, "orders", FlowConfig(max_messages=1, policy=policy))[0] = 1  # type: ignore[arg-type]
    reply = parts.publish("orders", b"a")
    if code is None:
        assert reply.result() is None
    else:
        assert isinstance(reply.error, BrokerError) and reply.error.code is code


def test_what_a_schema_refuses_meets_no_gate_and_may_be_dead_lettered():
    parts = Parts()
    topic = parts.topic("orders")
    parts.schemas.register(0, "orders-value", '{"type": "integer"}')
    parts.schemas.apply(topic, SchemaRule("orders-value", "dead_letter"))
    published = parts.publish("orders", b'"one"').result()
    assert published is not None and (published.topic, published.offset) == ("orders.dlq", 0)
    assert (topic.published, topic.dead_lettered) == (0, 1)
    parts.schemas.apply(topic, SchemaRule("orders-value"))
    refused = parts.publish("orders", b'"one"').error
    assert isinstance(refused, BrokerError) and refused.code is ErrorCode.INVALID_RECORD
    assert parts.publish("orders", b"1").result() is not None


def test_only_a_topic_that_judges_nothing_is_plain():
    parts = Parts()
    topic = parts.topic("orders")
    assert parts.publishing.plain_logs("orders") is not None and parts.publishing.takes_batches("orders")
    assert parts.publishing.plain_queue("orders") is None
    waiting = parts.fetches.fetch(0, "g", "c", {("orders", 0): 0}, max_messages=1, deadline_ns=10)
    assert parts.publishing.plain_logs("orders") is None, "a fetch waits"
    parts.fetches.cancel(waiting)
    assert parts.publishing.plain_logs("orders") is not None
    topic.schema = SchemaRule("orders-value")
    assert parts.publishing.plain_logs("orders") is None and not parts.publishing.takes_batches("orders")
