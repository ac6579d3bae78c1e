"""The simple queue of checklist D: three JSON forms, stored before seen, acknowledged messages are gone, replay."""

from __future__ import annotations

import datetime
import json
import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker_core.clients.producer import Producer
from broker_core.clients.simple_queue import SimpleQueue
from broker_core.clock import NS_PER_MS
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.queues.config import QueueConfig
from tests.broker_core.admin import Admin

LATEST = datetime.datetime.max.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-14)))
GIVEN = {"id": "m-1", "timestamp": "2026-11-21T04:00:00+01:00", "payload": {"order": 7}}


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        yield host


@pytest.mark.promise("D1")
def test_d1_the_three_json_forms(host: BrokerHost):
    queue = SimpleQueue(host, "mail")
    stored = queue.on_msg_received(json.dumps(GIVEN))
    assert json.loads(msgspec.json.encode(stored)) == {
        "id": "m-1",
        "timestamp": "2026-11-21T03:00:00.000000Z",
        "payload": {"order": 7},
        "status": "pending",
    }
    queue.publish_msg(["any", "json", None], message_type="list", priority=2)
    urgent = queue.pull_msg()
    assert urgent is not None and urgent.id == "m-1"
    pulled = queue.pull_msg()
    assert pulled is not None
    form = json.loads(msgspec.json.encode(pulled))
    assert form.keys() == {"id", "timestamp", "payload", "message_type", "priority"}
    assert (form["payload"], form["message_type"], form["priority"]) == (["any", "json", None], "list", 2)
    assert form["timestamp"].endswith("Z")


@pytest.mark.promise("D2")
@pytest.mark.parametrize("config_of", ["file", "fsync"])
def test_d2_what_was_published_or_received_is_stored_when_the_call_returns(tmp_path: Path, config_of: str):
    from broker_core.engine.host import HostConfig
    from broker_core.log.config import LogConfig

    config = HostConfig(log=LogConfig(durability=config_of))  # type: ignore[arg-type]
    with BrokerHost(tmp_path, config) as host:
        queue = SimpleQueue(host, "mail")
        message_id = queue.publish_msg("a")
        log = host.broker.logs.partition("mail", 0)
        assert log.high_watermark == 1
        assert queue.on_msg_received(GIVEN).status == "pending"
        assert log.high_watermark == 2
    with BrokerHost(tmp_path, config) as host:
        queue = SimpleQueue(host, "mail")
        assert [message.id for message in queue.replay_from(message_id)] == [message_id, "m-1"]
        assert queue.on_msg_received(GIVEN).id == "m-1"  # a copy is not stored again
        assert host.broker.logs.partition("mail", 0).end_offset == 2


@pytest.mark.promise("D3")
def test_d3_what_is_acknowledged_is_gone_and_the_rest_comes_back(host: BrokerHost):
    host.clock.stop(host.clock.now_ns())
    queue = SimpleQueue(host, "mail", QueueConfig(lease_ms=50, max_attempts=3))
    first, second = queue.publish_msg("a"), queue.publish_msg("b")
    pulled = [queue.pull_msg(), queue.pull_msg()]
    assert [message.id for message in pulled if message] == [first, second]
    assert queue.acknowledge(first) and not queue.acknowledge(first) and not queue.acknowledge("unknown")
    host.call(lambda _now: host.clock.advance(51 * NS_PER_MS))
    again = queue.pull_msg()
    assert again is not None and again.id == second
    host.call(lambda _now: host.clock.advance(51 * NS_PER_MS))
    assert not queue.acknowledge(second)  # too late: somebody else will get it
    last = queue.pull_msg()
    assert last is not None and queue.acknowledge(last.id)
    assert queue.pull_msg() is None


def test_d3_a_message_that_is_never_acknowledged_dies_and_says_so(host: BrokerHost):
    host.clock.stop(host.clock.now_ns())
    queue = SimpleQueue(host, "mail", QueueConfig(lease_ms=10, max_attempts=2))
    message_id = queue.publish_msg("poison")
    for _attempt in range(2):
        assert queue.pull_msg() is not None
        host.call(lambda _now: host.clock.advance(11 * NS_PER_MS))
    assert queue.pull_msg() is None
    assert [message.status for message in queue.replay_from(message_id)] == ["dead"]


@pytest.mark.promise("D4")
def test_d4_replay_from_an_id_or_a_time_changes_nothing(host: BrokerHost):
    queue = SimpleQueue(host, "mail")
    first = queue.publish_msg(1)
    middle = datetime.datetime.now(datetime.UTC)
    time.sleep(0.002)
    later = [queue.publish_msg(2, priority=5), queue.publish_msg(3)]
    pulled = queue.pull_msg()
    assert pulled is not None and queue.acknowledge(pulled)
    held = queue.pull_msg()
    assert held is not None
    for _ in range(2):
        everything = queue.replay_from(first)
        assert [(one.payload, one.status) for one in everything] == [
            (1, "acknowledged"),
            (2, "pending"),
            (3, "in_flight"),
        ]
    assert [one.id for one in queue.replay_from(middle)] == later
    assert [one.id for one in queue.replay_from(middle.isoformat())] == later
    assert queue.replay_from("2999-01-01T00:00:00Z") == []
    with pytest.raises(BrokerError, match="neither a time nor the id"):
        queue.replay_from("no such id")


@pytest.mark.promise("D5")
def test_d5_priorities_and_several_consumers(host: BrokerHost):
    queue = SimpleQueue(host, "mail")
    for priority in (5, 0, 9, 0):
        queue.publish_msg(priority, priority=priority)
    others = [SimpleQueue(host, "mail") for _ in range(3)]
    with pytest.raises(BrokerError, match="mail has priorities from 0, the most urgent, to 9, and none of 10"):
        queue.publish_msg("mistyped", priority=10)
    pulled = [one.pull_msg() for one in (queue, *others)]
    assert [message.payload for message in pulled if message] == [0, 0, 5, 9]
    assert not queue.acknowledge(pulled[1].id if pulled[1] else "")  # it is another consumer's
    others[0].close()
    back = queue.pull_msg(1)
    assert back is not None and back.payload == 0
    waiting: list[object] = []
    thread = threading.Thread(target=lambda: waiting.append(queue.pull_msg(5)))
    thread.start()
    queue.publish_msg("late")
    thread.join(5)
    assert len(waiting) == 1 and waiting[0] is not None


@pytest.mark.parametrize(
    "wrong",
    [
        b"no json",
        {"id": "x", "payload": 1},
        {"id": 7, "timestamp": "2026-11-21T04:00:00Z", "payload": 1},
        {"id": "x", "timestamp": "yesterday", "payload": 1},
        {"id": "x", "timestamp": "0001-01-01T00:00:00+14:00", "payload": 1},
        {"id": "x", "timestamp": "2026-11-21T04:00:00Z", "payload": math.nan},
        {"id": "x", "timestamp": "2026-11-21T04:00:00Z", "payload": {1, 2}},
        b'{"id": "x", "timestamp": "2026-11-21T04:00:00Z", "payload": NaN}',
        b'{"id": "x", "timestamp": "2026-11-21T04:00:00Z", "payload": 1e999}',
        None,
        5,
    ],
)
def test_what_is_no_transmission_is_refused_and_not_stored(host: BrokerHost, wrong: Any):
    queue = SimpleQueue(host, "mail")
    with pytest.raises(BrokerError) as refused:
        queue.on_msg_received(wrong)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert queue.pull_msg() is None


@pytest.mark.parametrize(
    "wrong", [object(), math.nan, {1, 2}, b"x", {1: 2}, "\ud800"], ids=lambda wrong: type(wrong).__name__
)
def test_a_payload_that_is_no_json_is_refused_and_not_stored(host: BrokerHost, wrong: object):
    queue = SimpleQueue(host, "mail")
    with pytest.raises(BrokerError) as refused:
        queue.publish_msg(wrong)
    assert refused.value.code is ErrorCode.UNSERIALIZABLE
    assert queue.pull_msg() is None


@pytest.mark.parametrize("wrong", ["0001-01-01T00:00:00+14:00", 5, None, LATEST], ids=str)
def test_a_replay_from_what_is_no_moment_is_refused_in_a_sentence(host: BrokerHost, wrong: Any):
    with pytest.raises(BrokerError, match=r"neither a time nor the id|must be a datetime, or text") as refused:
        SimpleQueue(host, "mail").replay_from(wrong)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_an_id_is_known_to_all_who_use_the_queue(host: BrokerHost):
    one, other = SimpleQueue(host, "mail"), SimpleQueue(host, "mail")
    published = one.publish_msg("a")
    assert [message.id for message in other.replay_from(published)] == [published]
    one.on_msg_received(GIVEN)
    copy = {**GIVEN, "payload": "another"}
    assert other.on_msg_received(copy).payload == GIVEN["payload"]
    assert other.on_msg_received({**copy, "id": published}).payload == "a"
    assert [message.id for message in SimpleQueue(host, "mail").replay_from(published)] == [published, "m-1"]


def test_of_copies_that_come_at_once_one_is_stored(host: BrokerHost):
    queues = [SimpleQueue(host, "mail") for _ in range(8)]
    start = threading.Barrier(len(queues))

    def receive(queue: SimpleQueue) -> None:
        start.wait(5)
        queue.on_msg_received(GIVEN)

    threads = [threading.Thread(target=receive, args=(queue,)) for queue in queues]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert [message.id for message in queues[0].replay_from("2000-01-01")] == ["m-1"]


def test_an_id_whose_message_was_deleted_is_not_known_any_more(host: BrokerHost):
    queue = SimpleQueue(host, "mail")
    gone = queue.on_msg_received(GIVEN).id
    kept = queue.publish_msg("kept")
    pulled = queue.pull_msg()
    assert pulled is not None and queue.acknowledge(pulled)
    Admin(host).delete_records("mail", {0: 1})
    with pytest.raises(BrokerError) as refused:
        queue.replay_from(gone)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert queue.on_msg_received(GIVEN).status == "pending"
    assert [message.id for message in queue.replay_from(kept)] == [kept, gone]


def test_a_queue_that_is_made_again_knows_nothing_of_the_old_one(host: BrokerHost):
    SimpleQueue(host, "mail").on_msg_received(GIVEN)
    Admin(host).delete_queue("mail")
    again = SimpleQueue(host, "mail")
    again.on_msg_received(GIVEN)
    assert [message.id for message in again.replay_from("2000-01-01")] == ["m-1"]


@pytest.mark.parametrize(
    "foreign", [b"\xffno json", b"[1]", b'{"id": "f", "timestamp": "yesterday", "payload": 1}', None, b"[" * 9_999]
)
def test_what_is_no_message_of_a_simple_queue_dies_and_the_rest_goes_on(host: BrokerHost, foreign: bytes | None):
    queue = SimpleQueue(host, "mail")
    with Producer(host) as producer:
        producer.publish("mail", foreign)
    message_id = queue.publish_msg("fine")
    assert [message.id for message in SimpleQueue(host, "mail").replay_from("2000-01-01")] == [message_id]
    assert queue.on_msg_received(GIVEN).status == "pending"
    assert [message.id for message in (queue.pull_msg(), queue.pull_msg()) if message] == [message_id, "m-1"]
    assert queue.pull_msg() is None
    [letter] = Admin(host).dead_letters("mail")
    assert letter.value == foreign and letter.cause.startswith("this is not a message of a simple queue (")
