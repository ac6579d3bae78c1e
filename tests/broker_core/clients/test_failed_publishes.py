"""Promise 32: a publish that failed is not stored later, or its error says that it may be. And closing is bounded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.batches import Batch
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.clients.sender import Sender
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Held
from broker_core.settings import LimitPolicy
from tests.broker_core.clients.test_sender import LOST, REFUSED, flaky
from tests.broker_core.clients.virtual_broker import VirtualBroker

POLICIES: list[LimitPolicy] = ["block", "reject", "drop_newest", "drop_oldest", "priority_evict"]


def full_queue(policy: LimitPolicy) -> VirtualBroker:
    """A queue `jobs` that is full of a message that somebody holds: no policy can push it out."""
    virtual = VirtualBroker(1)
    virtual.broker.queues.create(0, "jobs", QueueConfig(), flow=FlowConfig(max_messages=1, policy=policy))
    assert virtual.broker.publishing.publish(0, "jobs", Message(b"held"), client="other").done
    assert len(virtual.broker.queues.take(0, "jobs", "worker").result()) == 1
    return virtual


def sender(virtual: VirtualBroker, **config: Any) -> Sender:
    settings = ProducerConfig(**{"linger_ms": 0, "delivery_timeout_ms": 500, **config})
    return Sender(virtual.broker, virtual.loop, "producer", settings, identity=virtual.broker.producer_ids.register(""))


def send(made: Sender, value: bytes, topic: str = "jobs") -> Batch:
    placed = made.send(topic, Message(value))
    assert placed is not None
    return placed[0]


def failure(batch: Batch) -> BrokerError:
    assert isinstance(batch.settled.error, BrokerError)
    return batch.settled.error


@pytest.mark.promise("32")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("end", ["delivery timeout", "withdrawn", "closed", "no retries"])
def test_what_no_policy_let_in_in_time_is_never_stored(policy: LimitPolicy, end: str):
    virtual = full_queue(policy)
    made = sender(virtual, retries=0 if end == "no retries" else 1_000)
    batches = [send(made, b"first"), send(made, b"second")]
    virtual.run(0.2)
    if end == "closed":
        made.abandon(BrokerError(ErrorCode.CLOSED, "producer"))
    elif end == "withdrawn":
        for batch in batches:
            made.withdraw(batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "a test"))
    virtual.run(1)
    assert [failure(batch).possibly_stored for batch in batches] == [False, False]
    virtual.broker.queues.queue("jobs").release_holder(virtual.now_ns, "worker", "closed")
    for lease in virtual.broker.queues.take(virtual.now_ns, "jobs", "worker").result():
        virtual.broker.queues.ack(virtual.now_ns, lease)
    virtual.run(600)
    assert virtual.broker.logs.end_offset("jobs", 0) == 1
    gate = virtual.broker.views.queue(virtual.now_ns, "jobs").gate
    assert gate is not None and gate.blocked == ()
    if end != "closed":
        assert send(made, b"third").settled.result().offset == 1


def test_what_lingers_or_stands_behind_another_is_withdrawn_and_the_rest_goes_on():
    virtual = full_queue("block")
    made = sender(virtual)
    first, second, third = (send(made, value) for value in (b"1", b"2", b"3"))
    made.withdraw(second, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "a test"))
    lingering = sender(virtual, linger_ms=100)
    waits = send(lingering, b"x", "commits")
    lingering.withdraw(waits, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "a test"))
    virtual.broker.queues.queue("jobs").purge(virtual.now_ns)
    for offset in range(3):
        held = virtual.broker.queues.queue("jobs").view().leases
        for lease in held:
            virtual.broker.queues.queue("jobs").ack(virtual.now_ns, Held(0, lease.offset, lease.holder))
        virtual.broker.queues.take(virtual.now_ns, "jobs", f"worker-{offset}")
        virtual.run(0.1)
    assert (first.settled.result().offset, third.settled.result().offset) == (1, 2)
    assert (failure(second).possibly_stored, failure(waits).possibly_stored) == (False, False)
    assert virtual.values() == [[]]


@pytest.mark.promise("32")
@pytest.mark.parametrize("fates", [(LOST,) * 9, (REFUSED,) * 9])
@pytest.mark.parametrize("retries", [0, 1_000])
def test_what_a_bad_line_may_have_stored_is_said_to_be_in_doubt(fates: tuple[str, ...], retries: int):
    virtual = flaky(*fates)
    made = sender(virtual, retries=retries, retry_backoff_ms=100)
    batch = send(made, b"a", "commits")
    virtual.run(2)
    assert failure(batch).possibly_stored and "may have been stored" in str(failure(batch))


@pytest.mark.promise("32")
def test_what_waits_for_the_disk_is_in_doubt_when_its_producer_gives_up():
    virtual = VirtualBroker(1, log=LogConfig(durability="fsync"))
    made = sender(virtual)
    late, closed = send(made, b"late", "commits"), send(made, b"closed", "commits")
    virtual.run(0.4)
    made.withdraw(late, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "a test"))
    made.abandon(BrokerError(ErrorCode.CLOSED, "producer"))
    assert failure(late).possibly_stored and failure(closed).possibly_stored
    assert failure(closed).code is ErrorCode.CLOSED


# -- from threads


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_topic("commits", 1)
        yield host


def ways(producer: Producer, way: str) -> None:
    message = Message(b"failed")
    match way:
        case "publish":
            producer.publish("jobs", b"failed", timeout_s=0.05)
        case "publish with a key":
            producer.publish("jobs", b"failed", b"key", headers=(("a", b"b"),), timeout_s=0.05)
        case "publish_many":
            producer.publish_many("jobs", [message, message], timeout_s=0.05)


@pytest.mark.promise("32")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("way", ["publish", "publish with a key", "publish_many"])
def test_a_publish_that_timed_out_is_not_stored_when_there_is_room(host: BrokerHost, policy: LimitPolicy, way: str):
    admin = Admin(host)
    admin.create_queue("jobs", flow=FlowConfig(max_messages=1, policy=policy))
    producer, worker = Producer(host), QueueConsumer(host, "jobs")
    producer.publish("jobs", b"held")
    held = worker.take(1)
    assert held is not None
    with pytest.raises(BrokerError) as failed:
        ways(producer, way)
    assert failed.value.code in {ErrorCode.REQUEST_TIMED_OUT, ErrorCode.THROTTLED} and not failed.value.possibly_stored
    held.ack()
    producer.flush()  # what is still to be sent would be, now that there is room
    assert host.call(lambda _now: host.broker.logs.end_offset("jobs", 0)) == 1
    assert producer.publish("jobs", b"next") == (0, 1)


def test_publish_many_says_that_a_part_of_it_may_be_stored(host: BrokerHost):
    Admin(host).create_queue("jobs", flow=FlowConfig(max_messages=2, policy="block"))
    producer = Producer(host)
    with pytest.raises(BrokerError, match="2 of 3 messages may be stored") as failed:
        producer.publish_many("jobs", [Message(b"%d" % number) for number in range(3)], timeout_s=0.05)
    assert failed.value.possibly_stored
    QueueConsumer(host, "jobs").take_many(2)
    assert host.call(lambda _now: host.broker.logs.end_offset("jobs", 0)) == 2


def test_a_message_that_waits_for_the_disk_may_be_stored_although_its_publish_timed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with BrokerHost(tmp_path, HostConfig(log=LogConfig(durability="fsync"))) as host:
        Admin(host).create_topic("commits", 1)
        producer = Producer(host)
        with monkeypatch.context() as patched:
            patched.setattr(host._writer, "wake", lambda: None)
            patched.setattr(host._writer, "_sync", lambda: None)
            with pytest.raises(BrokerError) as failed:
                producer.publish("commits", b"a", timeout_s=0.01)
            receipt = producer.send("commits", b"b", linger=False)
            with pytest.raises(BrokerError) as unknown:
                receipt.result(0.01)
        assert failed.value.possibly_stored and unknown.value.possibly_stored
        assert host._writer is not None
        host._writer.wake()
        assert receipt.result(10).offset == 1


def test_closing_gives_up_what_has_no_room_and_says_so():
    host = BrokerHost()
    Admin(host).create_queue("jobs", flow=FlowConfig(max_messages=1, policy="reject"))
    producer = Producer(host, client_id="shop")
    receipts = [producer.send("jobs", b"x") for _ in range(4)]
    receipts[0].result(5)
    with pytest.raises(BrokerError, match=r"shop was closed and abandoned 3 messages for jobs") as given_up:
        host.close(timeout_s=0.05)
    assert given_up.value.code is ErrorCode.REQUEST_TIMED_OUT and not given_up.value.possibly_stored
    assert [receipt.done for receipt in receipts] == [True] * 4
    assert host.closing and producer.client_id not in {thread.name for thread in threading.enumerate()}


def test_leaving_the_block_of_a_host_gives_producers_five_seconds_together(monkeypatch: pytest.MonkeyPatch):
    waited: list[float] = []
    with pytest.raises(BrokerError, match="abandoned"), BrokerHost() as host:
        Admin(host).create_queue("jobs", flow=FlowConfig(max_messages=1, policy="block"))
        made = [Producer(host) for _ in range(3)]
        for producer in made:
            producer.send("jobs", b"x", linger=False)
        wait = host.wait

        def noted(reply: Any, timeout_s: float | None = None) -> Any:
            assert timeout_s is not None
            waited.append(timeout_s)
            return wait(reply, 0)

        monkeypatch.setattr(host, "wait", noted)
    assert len(waited) == 3 and all(4 < each <= 5 for each in waited)


def test_what_waited_for_room_one_after_the_other_is_each_stored_once():
    virtual = full_queue("block")
    made = sender(virtual)
    batches = [send(made, b"%d" % number) for number in range(4)]
    for worker in ("worker", "a", "b", "c"):
        for lease in virtual.broker.queues.queue("jobs").view().leases:
            virtual.broker.queues.queue("jobs").ack(virtual.now_ns, Held(0, lease.offset, lease.holder))
        virtual.broker.queues.take(virtual.now_ns, "jobs", worker)
    assert [batch.settled.result().offset for batch in batches] == [1, 2, 3, 4]
