"""Requests that came together: one call of the host, one append a partition, and an answer for each, in their order."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.clients.admin import Admin
from broker_core.clock import NS_PER_S
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.flow.config import FlowConfig
from broker_core.listeners.wire import connection
from broker_core.listeners.wire.appends import Appends
from broker_core.listeners.wire.listener import WireListener
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.wire import fetch, groups, produce, queues, session
from tests.broker_core.listeners.wire.talk import Talk, batch, producing


@pytest.fixture
def calls(host: BrokerHost, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """When the host was called."""
    times: list[int] = []
    call = host.call

    def counting(action):
        times.append(host.now_ns)
        return call(action)

    monkeypatch.setattr(host, "call", counting)
    return times


@contextlib.contextmanager
def busy(listener: WireListener) -> Iterator[None]:
    """While inside, the listener reads nothing."""
    stands, go_on = threading.Event(), threading.Event()

    def stand() -> None:
        stands.set()
        go_on.wait(60)

    listener._loop.call_soon_threadsafe(stand)
    assert stands.wait(60)
    try:
        yield
    finally:
        go_on.set()


def order_of_answers(talk: Talk, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        data = talk.socket.recv(1 << 18)
        assert data
        found += [answer.correlation for answer in talk.codec.receive(data)]
    return found


def offsets(talk: Talk, numbers: list[int]) -> list[int]:
    return [talk.heard(number).results[0].offset for number in numbers]


def test_what_comes_together_is_one_call_and_one_append(
    host: BrokerHost, listener: WireListener, calls: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "MOST_AT_ONCE_NS", 60 * NS_PER_S)  # a slow machine makes a call of its own of less
    Admin(host).create_topic("t", 2)
    appended: list[tuple[int, int]] = []  # how many messages, and in which call

    def note(event: Event) -> None:
        if event.kind is EventKind.PUBLISHED:
            appended.append((event.count, len(calls)))

    host.events.attach(note)
    with Talk(listener.port) as talk:
        with busy(listener):  # until all of them lie in its socket: how fast they are sent is no matter
            numbers = talk.say(*[producing(batch(b"%d" % each, partition=each % 2)) for each in range(40)])
        assert offsets(talk, numbers) == [each // 2 for each in range(40)]
        assert [count for count, _call in appended] == [20, 20]
        assert len({call for _count, call in appended}) == 1
        for partition in (0, 1):
            read = talk.get(fetch.ReadRecords("t", partition, 0, 100)).stored(0)
            assert [int(message.value) for message in read] == list(range(partition, 40, 2))


def test_answers_come_in_the_order_of_the_requests(host: BrokerHost, listener: WireListener):
    Admin(host).create_topic("t", 2)
    Admin(host).create_queue("jobs", QueueConfig())
    stamp = ProducerStamp(7, 0, 0)
    bodies = [
        producing(batch(b"a")),
        producing(batch(b"b", partition=1), batch(b"c")),
        producing(batch(b"d", partition=9)),
        producing(batch(b"e"), acks=1),
        fetch.ReadRecords("t", 0, 0, 10),
        producing(batch(b"f")),
        session.Ping(),
        producing(batch(b"g", partition=1), acks=0),
        producing(batch(b"h", stamp=stamp)),
        producing(batch(b"i", topic="jobs")),
        queues.Take("jobs", "me", 1, 0),
        producing(produce.ProducedBatch("t", 0, memoryview(b"no batch"))),
        groups.ListGroups(),
        producing(batch(b"j", topic="nowhere")),
        producing(),
        producing(batch(b"k")),
    ]
    with Talk(listener.port) as talk:
        sent = talk.say(*bodies)
        assert order_of_answers(talk, len(bodies)) == sent


def test_a_request_sees_what_was_published_before_it(host: BrokerHost, listener: WireListener):
    Admin(host).create_topic("t", 1)
    with Talk(listener.port) as talk:
        numbers = talk.say(producing(batch(b"a")), fetch.ReadRecords("t", 0, 0, 10), producing(batch(b"b")))
        assert [message.value for message in talk.heard(numbers[1]).stored(0)] == [b"a"]


def test_one_that_is_refused_costs_its_neighbours_nothing(host: BrokerHost, listener: WireListener):
    Admin(host).create_topic("t", 1, log=LogConfig(durability="memory", max_message_bytes=100))
    with Talk(listener.port) as talk:
        numbers = talk.say(*[producing(batch(bytes(size))) for size in (1, 200, 2, 300, 3)])
        answers = [talk.heard(number).results[0] for number in numbers]
        assert [each.offset for each in answers] == [0, -1, 1, -1, 2]
        assert [each.error for each in answers] == [0, *[ErrorCode.MESSAGE_TOO_LARGE.code, 0] * 2]


def test_numbered_batches_stay_by_themselves_and_in_their_order(host: BrokerHost, listener: WireListener):
    Admin(host).create_topic("t", 1)
    with Talk(listener.port) as talk:
        bodies = [producing(batch(b"x", stamp=ProducerStamp(7, 0, number))) for number in (0, 1, 1, 2)]
        bodies.insert(2, producing(batch(b"y")))
        assert offsets(talk, talk.say(*bodies)) == [0, 1, 2, 1, 3]


def test_each_message_of_a_bounded_topic_is_judged_by_itself(host: BrokerHost, listener: WireListener):
    Admin(host).create_topic("t", 1, flow=FlowConfig(rate_per_s=1, burst=3, policy="reject"))
    with Talk(listener.port) as talk:
        answers = [talk.heard(number).results[0] for number in talk.say(*[producing(batch(b"x"))] * 5)]
        assert [each.offset for each in answers] == [0, 1, 2, -1, -1]
        assert answers[3].throttle_ms > 0


def test_a_subscription_that_misses_one_is_named_for_that_one(host: BrokerHost, listener: WireListener):
    Admin(host).create_topic("t", 1)
    Admin(host).create_subscription("s", "t", max_messages=2)
    with Talk(listener.port) as talk:
        answers = [talk.heard(number).results[0] for number in talk.say(*[producing(batch(b"x"))] * 4)]
        assert [each.missed_by for each in answers] == [(), (), ("s",), ("s",)]


def test_what_the_disk_refuses_is_refused_to_all(host: BrokerHost, monkeypatch: pytest.MonkeyPatch):
    Admin(host).create_topic("t", 1)
    appends = Appends(host.broker)
    appends.more_follow = True
    given: dict[str, Any] = {
        "size_bytes": 100,
        "client": "p",
        "producer": None,
        "on_appended": lambda _: None,
        "deadline_ns": 0,
    }
    replies = [host.call(lambda now: appends.publish_batch(now, "t", 0, [Message(b"x")], **given)) for _ in range(3)]
    full = BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")

    def refuse(*_: object, **__: object):
        raise full

    monkeypatch.setattr(host.broker, "publish_batch", refuse)
    host.call(appends.flush)
    assert [reply.error for reply in replies] == [full] * 3
