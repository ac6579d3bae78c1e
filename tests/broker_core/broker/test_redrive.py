"""Where dead letters go back to, and when that can be undone."""

from __future__ import annotations

import msgspec
import pytest

from broker_core.broker.browsing import message_test
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.log.config import LogConfig
from broker_core.messages import Headers, Message
from broker_core.operations.dead_letters import RedriveProgress, StopRedrive
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_record import REDRIVES_HEADER
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import DeadLetterView
from tests.broker_core.clients.virtual_broker import VirtualBroker

ONCE = QueueConfig(max_attempts=1)


def dead(virtual: VirtualBroker, queue: str, topic: str, *values: bytes) -> None:
    """Messages of `topic` that `queue` has given up."""
    virtual.publish(*values, topic=topic)
    for lease in virtual.broker.queues.take(virtual.now_ns, queue, "w", max_messages=9).result():
        virtual.broker.queues.nack(virtual.now_ns, lease, "boom")


def sync(virtual: VirtualBroker) -> None:
    done = virtual.broker.durability.syncs.begin()
    for _, ticket in done:
        ticket.run()
    virtual.broker.durability.end_sync(0, done)


def of_queue() -> VirtualBroker:
    virtual = VirtualBroker(1)
    virtual.broker.queues.create(0, "jobs", ONCE)
    dead(virtual, "jobs", "jobs", b"a", b"b", b"c")
    return virtual


def of_subscription() -> VirtualBroker:
    virtual = VirtualBroker(1)
    for name in ("jobs", "audit"):
        virtual.broker.queues.subscribe(0, name, "commits", ONCE)
    dead(virtual, "jobs", "commits", b"a", b"b", b"c")
    return virtual


def of_schema(log: LogConfig | None = None) -> VirtualBroker:
    virtual = VirtualBroker(1)
    virtual.broker.schemas.register(0, "number", '{"type": "integer"}')
    virtual.broker.topics.create(0, "jobs", 1, schema=SchemaRule("number", "dead_letter"), log=log)
    for value in (b'"a"', b'"b"', b'"c"'):
        virtual.broker.publishing.publish(0, "jobs", Message(value), client="p")
    sync(virtual)
    virtual.broker.schemas.set_rule(0, "jobs", None)
    return virtual


def test_what_a_schema_gave_up_is_read_as_soon_as_its_redrive_is_durable():
    virtual = of_schema(LogConfig(durability="fsync"))
    end = virtual.broker.logs.end_offset("jobs", 0)
    fetch = virtual.broker.fetches.fetch(0, "g", "c", {("jobs", 0): end}, max_messages=9, deadline_ns=10**12)
    virtual.broker.redrives.redrive(0, "jobs", [0, 2], client="u")
    assert not fetch.done, "a reader sees nothing that a power cut may take back"
    sync(virtual)
    assert [message.value for message in fetch.result()] == [b'"a"', b'"c"']


def test_a_header_without_a_value_is_kept_as_it_is():
    """As Kafka clients may send it, whatever its name."""
    virtual = VirtualBroker(1)
    null: Headers = (("trace", None),)
    virtual.broker.queues.create(0, "jobs", ONCE)
    reply = virtual.broker.publishing.publish(
        0, "jobs", Message(b"a", None, (*null, (REDRIVES_HEADER, None))), client="p"
    )
    assert reply.done
    (stored,) = virtual.broker.logs.partition("jobs", 0).read(0, max_messages=9)
    for text, found in (('header="trace: "', True), ("trace", True), ("null", False)):
        test = message_test(text)
        assert test is not None and test(stored) is found
    (lease,) = virtual.broker.queues.take(0, "jobs", "w").result()
    virtual.broker.queues.nack(0, lease, "boom")
    (letter,) = virtual.broker.queues.dead_letters("jobs").list()
    assert (letter.headers, letter.redrives) == (null, 0)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(letter), type=DeadLetterView) == letter
    virtual.broker.redrives.redrive(0, "jobs", [letter.offset], client="u")
    (lease,) = virtual.broker.queues.take(0, "jobs", "w").result()
    assert lease.message.headers == (*null, (REDRIVES_HEADER, b"1"))


@pytest.mark.parametrize(
    ("made", "origin", "undone"),
    [(of_queue, "jobs", True), (of_subscription, "commits", False), (of_schema, "jobs", False)],
)
def test_dead_letters_go_back_to_where_they_came_from(made, origin: str, undone: bool):
    virtual = made()
    redrives, letters = virtual.broker.redrives, virtual.broker.queues.dead_letters("jobs")
    before = virtual.broker.logs.end_offset(origin, 0)
    result = redrives.redrive(0, "jobs", [0, 2], client="u")
    assert [(each.offset, each.to_topic, each.to_offset) for each in result.redriven] == [
        (0, origin, before),
        (2, origin, before + 1),
    ]
    assert letters.count() == 1 and len(virtual.kinds(EventKind.REDRIVEN)) == 2
    assert redrives.can_be_undone("jobs") is undone
    if undone:
        assert len(redrives.undo(0, "jobs", client="u").result()) == 2 and letters.count() == 3
    else:
        with pytest.raises(BrokerError, match="go back to a topic"):
            redrives.undo(0, "jobs", client="u")


def test_every_subscriber_sees_what_a_subscription_has_redriven():
    virtual = of_subscription()
    ready = virtual.broker.queues.queue("audit").ready
    virtual.broker.redrives.redrive(0, "jobs", [0], client="u")
    assert virtual.broker.queues.queue("audit").ready == ready + 1
    assert virtual.broker.queues.queue("jobs").ready == 1


def test_one_paced_redrive_of_a_queue_runs_at_a_time_whoever_begins_it():
    virtual = of_queue()
    redrives = virtual.broker.redrives
    first = redrives.start_paced(0, "jobs", [0, 1, 2], 1.0, client="u")
    with pytest.raises(BrokerError, match="in progress"):
        redrives.start_paced(0, "jobs", [1], 1.0, client="v")
    virtual.run(1)
    assert (first.handled_count, redrives.paced.running("jobs")) == (2, first)
    virtual.run(1)
    assert redrives.paced.running("jobs") is None and redrives.paced.last("jobs") is first
    assert len(first.reply.result().redriven) == 3


def test_a_deleted_queue_ends_its_paced_redrive_and_one_of_the_same_name_knows_nothing_of_it():
    virtual = of_queue()
    redrives = virtual.broker.redrives
    paced = redrives.start_paced(0, "jobs", [0, 1, 2], 1.0, client="u")
    virtual.broker.queues.delete(0, "jobs")
    assert len(paced.reply.result().redriven) == 1 and redrives.paced.running("jobs") is None
    virtual.broker.queues.create(0, "jobs", ONCE)
    with pytest.raises(BrokerError) as unknown:
        redrives.paced.last("jobs")
    assert unknown.value.code is ErrorCode.UNKNOWN_DEAD_LETTER


def test_what_a_schema_refuses_stays_a_dead_letter():
    virtual = of_queue()
    virtual.broker.schemas.register(0, "number", '{"type": "integer"}')
    virtual.broker.schemas.set_rule(0, "jobs", SchemaRule("number"))
    result = virtual.broker.redrives.redrive(0, "jobs", [0, 1], client="u", edits={1: Message(b"1")})
    assert [each.offset for each in result.redriven] == [1]
    assert [(each.offset, each.error) for each in result.refused] == [(0, "INVALID_RECORD")]


def test_a_redrive_that_the_window_began_is_seen_and_stopped_by_http():
    virtual = of_queue()
    redrives = virtual.broker.redrives
    # As the handler of the action does, whose edits are its own.
    paced = PacedRedrive(
        virtual.loop.timers, [0, 1], 1.0, lambda at, one: redrives.redrive(at, "jobs", [one], client="u")
    )
    redrives.paced.start(0, "jobs", paced)
    progress = virtual.broker.handle(0, RedriveProgress(queue="jobs")).result()
    assert (progress.running, progress.done, progress.total) == (True, 1, 2)
    stopped = virtual.broker.handle(0, StopRedrive(queue="jobs")).result()
    assert not stopped.running and paced.reply.done
