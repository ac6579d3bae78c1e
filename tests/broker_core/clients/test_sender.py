"""A producer's half in the core, in virtual time: linger, order, retries, idempotence, what a caller is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.publishing import Published, Publishing
from broker_core.clients.batches import Batch
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.sender import Sender
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.flow.adaptive import AdaptiveConfig
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.replies import Reply
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.long_form import examples

STORED, LOST, REFUSED = "stored", "acknowledgement lost", "never arrived"


P = TypeVar("P", bound=Publishing)


def published_by(kind: type[P], virtual: VirtualBroker) -> P:
    """What publishes in `virtual` instead of its own."""
    broker = virtual.broker
    made = broker.publishing = kind(
        broker.logs,
        broker.schemas,
        broker.durability,
        broker.transactions.check_append,
        broker.fetches,
        broker.growth,
        virtual.stream,
    )
    return made


class FlakyPublishing(Publishing, eq=False, dict=True):
    """As over a bad line: `fates` says what becomes of each batch that is sent, in order; then all is well."""

    fates: list[str] = []

    def publish_batch(
        self, now_ns: int, name: str, partition: int | None, messages: Sequence[Message], **fields: Any
    ) -> Reply[Published | None]:
        fate = self.fates.pop(0) if self.fates else STORED
        if fate == REFUSED:
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the line")
        if fate == LOST:
            fields.pop("on_appended")
            super().publish_batch(now_ns, name, partition, messages, **fields)
            reply: Reply[Published | None] = Reply()
            reply.fail(BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the line"))
            return reply
        return super().publish_batch(now_ns, name, partition, messages, **fields)


def flaky(*fates: str, partitions: int = 1) -> VirtualBroker:
    virtual = VirtualBroker(partitions)
    published_by(FlakyPublishing, virtual).fates = list(fates)
    return virtual


def sender(virtual: VirtualBroker, **config: Any) -> Sender:
    settings = ProducerConfig(**{"linger_ms": 0, **config})
    identity = virtual.broker.producer_ids.register(settings.name) if settings.idempotent else None
    return Sender(virtual.broker, virtual.loop, "producer", settings, identity=identity)


def send(made: Sender, value: bytes, key: bytes | None = b"k", partition: int | None = None) -> Batch:
    placed = made.send("commits", Message(value, key), partition)
    assert placed is not None
    return placed[0]


@pytest.mark.promise("A23")
def test_messages_wait_for_company_until_the_linger_timer_fires():
    virtual = VirtualBroker(1)
    made = sender(virtual, linger_ms=5)
    first, second = send(made, b"a"), send(made, b"b")
    virtual.run(0.004_999)
    assert first is second and not first.settled.done and virtual.values() == [[]]
    virtual.run(0.000_001)
    assert first.settled.result() == Published("commits", 0, 0, (), 2)
    assert virtual.values() == [[b"a", b"b"]]


def test_a_full_batch_does_not_linger():
    virtual = VirtualBroker(1)
    made = sender(virtual, linger_ms=1_000, batch_messages=2)
    batches = [send(made, b"%d" % number) for number in range(3)]
    assert batches[0].settled.done and batches[1] is batches[0] and not batches[2].settled.done
    by_size = sender(virtual, linger_ms=1_000, batch_bytes=100)
    assert send(by_size, b"x" * 120).settled.done


@pytest.mark.parametrize("fates", [(REFUSED,), (LOST,), (LOST, REFUSED, LOST)])
def test_a_retry_is_stored_once_and_keeps_the_order(fates: tuple[str, ...]):
    virtual = flaky(*fates)
    made = sender(virtual, retry_backoff_ms=100, batch_messages=1)
    batches = [send(made, value) for value in (b"a", b"b", b"c")]
    assert not batches[0].settled.done
    virtual.run(1)
    assert virtual.values() == [[b"a", b"b", b"c"]]
    assert [batch.settled.result().offset for batch in batches] == [0, 1, 2]


def test_a_retry_keeps_its_stamp_although_the_producer_goes_on_under_another():
    virtual = flaky(LOST, LOST, partitions=2)
    made = sender(virtual, retry_backoff_ms=100, batch_messages=1)
    given_up, tried_again = send(made, b"a", partition=0), send(made, b"b", partition=1)
    made.give_up([given_up], 0.0)  # in doubt: what follows has a new producer id
    virtual.run(1)
    assert tried_again.settled.result().offset == 0
    assert virtual.values() == [[b"a"], [b"b"]]
    send(made, b"c", partition=1)
    assert last_sequences(virtual, 1) == [0, 0], "the first of each id"


def last_sequences(virtual: VirtualBroker, partition: int) -> list[int]:
    """Of each producer id that the partition knows, the oldest first."""
    known = sorted(virtual.broker.logs.partition("commits", partition).producers)
    return [last.sequence + last.count - 1 for _, _, last in known if last is not None]


def test_behind_a_batch_in_doubt_there_is_another_producer_id_with_numbers_of_its_own():
    virtual = flaky(STORED, LOST, LOST)
    made = sender(virtual, retries=1, batch_messages=1)
    _, doubted, _ = (send(made, value) for value in (b"a", b"b", b"c"))
    virtual.run(1)
    assert isinstance(doubted.settled.error, BrokerError) and doubted.settled.error.possibly_stored
    assert virtual.values() == [[b"a", b"b", b"c"]]
    assert last_sequences(virtual, 0) == [1, 0]


def test_without_idempotence_a_lost_acknowledgement_makes_a_duplicate():
    virtual = flaky(LOST)
    made = sender(virtual, idempotent=False)
    send(made, b"a")
    virtual.run(1)
    assert virtual.values() == [[b"a", b"a"]]


@pytest.mark.promise("A23")
@settings(max_examples=examples(60))
@given(
    fates=st.lists(st.sampled_from([STORED, LOST, REFUSED]), max_size=60),
    messages=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), min_size=1, max_size=40),
    linger_ms=st.sampled_from([0, 1, 20]),
)
def test_an_idempotent_producer_loses_and_duplicates_nothing_whatever_the_line_does(
    fates: list[str], messages: list[tuple[int, int]], linger_ms: int
):
    virtual = flaky(*fates, partitions=3)
    made = sender(virtual, linger_ms=linger_ms, retry_backoff_ms=7, batch_messages=4)
    expected: list[list[bytes | None]] = [[], [], []]
    batches = []
    for number, (pause_ms, key) in enumerate(messages):
        virtual.run(pause_ms / 1_000)
        message = Message(b"%d" % number, b"%d" % key)
        expected[virtual.broker.logs.partition_for("commits", message)].append(message.value)
        batches.append(send(made, b"%d" % number, b"%d" % key))
    done = made.flush()
    virtual.run(60)
    assert done.done
    assert virtual.values() == expected
    assert all(batch.settled.error is None for batch in batches)
    assert made.buffered_bytes == 0


@pytest.mark.promise("A23")
def test_a_failed_batch_reaches_its_caller_and_the_next_one_goes_on():
    virtual = flaky(*[LOST] * 3)
    made = sender(virtual, retries=2)
    failed, following = send(made, b"a"), send(made, b"b")
    virtual.run(2)
    assert isinstance(failed.settled.error, BrokerError)
    assert failed.settled.error.code is ErrorCode.REQUEST_TIMED_OUT and failed.attempts == 3
    assert following.settled.error is None
    assert [batch for batch, _ in made.failures] == [failed]


def test_a_batch_that_is_not_stored_in_time_fails():
    virtual = flaky(*[REFUSED] * 1_000)
    made = sender(virtual, delivery_timeout_ms=950)
    batch = send(made, b"a")
    virtual.run(0.9)
    assert not batch.settled.done
    virtual.run(0.1)
    assert isinstance(batch.settled.error, BrokerError) and made.buffered_bytes == 0


def test_what_the_broker_refuses_for_good_is_not_tried_again():
    virtual = VirtualBroker(1)
    assert virtual.broker.publishing.takes_batches("commits")
    made = sender(virtual, linger_ms=10)
    batch = send(made, b"a")
    virtual.broker.topics.delete(0, "commits")
    virtual.run(1)
    assert isinstance(batch.settled.error, BrokerError)
    assert batch.settled.error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_message_that_can_never_be_stored_is_refused_before_it_spoils_a_batch():
    virtual = VirtualBroker(1, log=LogConfig(max_message_bytes=10))
    made = sender(virtual, linger_ms=10)
    good = send(made, b"good")
    with pytest.raises(BrokerError, match="at most 10"):
        send(made, b"x" * 11)
    virtual.run(1)
    assert good.settled.error is None and virtual.values() == [[b"good"]]


def test_a_named_producer_fences_the_one_before_it():
    virtual = VirtualBroker(1)
    old = sender(virtual, name="importer")
    send(old, b"old")
    new = sender(virtual, name="importer")
    send(new, b"new")
    late = send(old, b"too late")
    assert isinstance(late.settled.error, BrokerError)
    assert late.settled.error.code is ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(BrokerError):
        old.send("commits", Message(b"x"))
    assert virtual.values() == [[b"old", b"new"]]


def test_the_buffer_is_bounded_and_tells_when_there_is_room():
    virtual = VirtualBroker(1)
    made = sender(virtual, linger_ms=10, buffer_bytes=100)
    send(made, b"x" * 60)
    assert made.send("commits", Message(b"y" * 60, b"k")) is None
    room = made.space()
    assert not room.done
    virtual.run(0.01)
    assert room.done
    send(made, b"y" * 60)


def test_a_flow_policy_that_drops_is_told_and_one_that_rejects_is_tried_again():
    virtual = VirtualBroker(1)
    limit = FlowConfig(rate_per_s=1, policy="drop_newest")
    virtual.broker.topics.configure(0, "commits", flow=limit)
    made = sender(virtual, linger_ms=10)
    kept, lost = send(made, b"a"), send(made, b"b")
    assert kept is not lost and kept.settled.error is None
    assert isinstance(lost.settled.error, BrokerError) and lost.settled.error.code is ErrorCode.THROTTLED
    virtual.broker.topics.configure(virtual.now_ns, "commits", flow=FlowConfig(rate_per_s=1, policy="reject"))
    batches = [send(made, b"c"), send(made, b"d")]
    virtual.run(3)
    assert [batch.settled.error for batch in batches] == [None, None]
    assert virtual.values() == [[b"a", b"c", b"d"]]


@pytest.mark.promise("A23")
def test_acks_0_asks_nothing_and_acks_1_only_for_the_log():
    virtual = VirtualBroker(1, log=LogConfig(durability="fsync"))
    careless = sender(virtual, acks=0, idempotent=False)
    assert send(careless, b"a").settled.result().offset == -1
    quick, careful = send(sender(virtual, acks=1), b"b"), send(sender(virtual), b"c")
    assert quick.settled.done and not careful.settled.done
    done = virtual.broker.durability.syncs.begin()
    for _, ticket in done:
        ticket.run()
    assert not careful.settled.done
    virtual.broker.durability.end_sync(virtual.now_ns, done)
    assert careful.settled.result().offset == 2


def test_a_failed_sync_reaches_who_waited_for_it():
    virtual = VirtualBroker(1, log=LogConfig(durability="fsync"))
    batch = send(sender(virtual), b"a")
    done = virtual.broker.durability.syncs.begin()
    for _, ticket in done:
        ticket.run()
        ticket.error = BrokerError(ErrorCode.STORAGE_ERROR, "the device reports an error")
    virtual.broker.durability.end_sync(virtual.now_ns, done)
    assert isinstance(batch.settled.error, BrokerError) and batch.settled.error.code is ErrorCode.STORAGE_ERROR
    assert batch.settled.error.possibly_stored, "it is in the log"


def test_readers_see_nothing_that_is_not_durable():
    virtual = VirtualBroker(1, log=LogConfig(durability="fsync"))
    send(sender(virtual), b"a")
    reader = virtual.consumer()
    assert virtual.do(reader.poll(10)) == []
    done = virtual.broker.durability.syncs.begin()
    for _, ticket in done:
        ticket.run()
    virtual.broker.durability.end_sync(virtual.now_ns, done)
    assert [message.value for message in virtual.do(reader.poll(10))] == [b"a"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"acks": 2},
        {"acks": 0},
        {"batch_messages": 0},
        {"linger_ms": -1},
        {"buffer_bytes": 0},
        {"delivery_timeout_ms": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]):
    with pytest.raises(ConfigError):
        ProducerConfig(**wrong)


def test_what_a_schema_refuses_or_buries_does_not_hold_up_what_follows():
    virtual = VirtualBroker(1)
    virtual.broker.schemas.register(0, "numbers", '{"type": "number"}')
    made = sender(virtual, linger_ms=10)
    virtual.broker.schemas.set_rule(0, "commits", SchemaRule("numbers"))
    refused, kept = send(made, b'"text"'), send(made, b"1")
    assert isinstance(refused.settled.error, BrokerError) and refused.settled.error.code is ErrorCode.INVALID_RECORD
    assert kept.settled.result().offset == 0
    virtual.broker.schemas.set_rule(0, "commits", SchemaRule("numbers", mode="dead_letter"))
    buried, kept = send(made, b'"text"'), send(made, b"2")
    assert buried.settled.result().topic == "commits.dlq"
    assert kept.settled.result() == Published("commits", 0, 1)


def test_an_error_that_nobody_has_foreseen_fails_its_batch_and_the_next_one_goes_on():
    class BrokenPublishing(Publishing, eq=False, dict=True):
        def publish_batch(self, now_ns: int, name: str, *fields: Any, **more: Any) -> Reply[Published | None]:
            if name == "commits" and fields[1][0].value == b"raises":
                raise RuntimeError("a fault")
            if fields[1][0].value == b"fails":
                reply: Reply[Published | None] = Reply()
                reply.fail(RuntimeError("a late fault"))
                return reply
            return super().publish_batch(now_ns, name, *fields, **more)

    virtual = VirtualBroker(1)
    published_by(BrokenPublishing, virtual)
    made = sender(virtual, linger_ms=5, batch_messages=1)
    batches = [send(made, value) for value in (b"raises", b"fails", b"behind")]
    flushed = made.flush()
    virtual.run(1)
    assert flushed.done and not made.pending
    assert [each.settled.error and each.settled.error.code for each in batches] == [  # type: ignore[attr-defined]
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.INTERNAL_ERROR,
        None,
    ]
    assert virtual.values() == [[b"behind"]]


def test_an_adaptive_producer_gives_way_as_that_of_the_lab_does():
    """The measured figures of checklist C8, "backpressure": every subscriber has room for five, and works for two s."""
    virtual = VirtualBroker(1)
    virtual.broker.queues.subscribe(0, "slow", "commits", QueueConfig(), max_messages=5)
    made = sender(virtual, adaptive=AdaptiveConfig(base_ms=500), delivery_timeout_ms=600_000)
    received: list[int] = []

    async def work() -> None:
        while True:
            [lease] = await virtual.broker.queues.take(virtual.now_ns, "slow", "w", deadline_ns=1 << 60)
            received.append(lease.offset + 1)
            await virtual.loop.sleep(2)
            virtual.broker.queues.ack(virtual.now_ns, lease)

    virtual.loop.spawn(work(), "worker")
    virtual.run()
    batches = [send(made, b"%d" % number) for number in range(100)]
    virtual.run(30)
    outcomes = [batch.settled.result() for batch in batches if batch.settled.done]
    assert [place.offset + 1 for place in outcomes if place.missed_by] == [8, 10, 12, 15, 17, 21, 23, 25, 29]
    assert len(outcomes) == 29 and received == [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 14, 16, 18, 19, 20, 22]
    assert made._pace is not None and made._pace.interval.interval_s == 1.3153871580601926


def test_an_adaptive_producer_slows_down_while_a_policy_refuses_and_keeps_the_order():
    virtual = VirtualBroker(1)
    virtual.broker.queues.create(0, "jobs", QueueConfig(), flow=FlowConfig(max_messages=1, policy="reject"))
    made = sender(virtual, adaptive=AdaptiveConfig(base_ms=100), retry_backoff_ms=1)
    batches = [made.send("jobs", Message(b"%d" % number)) for number in range(4)]
    virtual.run(10)
    assert made._pace is not None and made._pace.interval.interval_s > 5
    for _ in range(4):
        [lease] = virtual.broker.queues.take(virtual.now_ns, "jobs", "w").result()
        virtual.broker.queues.ack(virtual.now_ns, lease)
        virtual.run(30)
    assert [placed[0].settled.result().offset for placed in batches if placed is not None] == [0, 1, 2, 3]
