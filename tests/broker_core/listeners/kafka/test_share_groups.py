"""Share groups (KIP-932) with a real client: over a topic, and over a work queue of ours."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Message, Producer, ShareConsumer

from app.cli.main import main
from broker_core import Admin, BrokerError, BrokerHost, ErrorCode, HostConfig, QueueConfig
from broker_core import messages as core_messages
from broker_core.clients.producer import Producer as OurProducer
from broker_core.groups.config import GroupConfig, GroupSettings
from broker_core.listeners.access.access import ANYBODY
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.call import TABLE, Call
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.kafka.share_sessions import CLOSING, OPENING, ShareSessions
from broker_core.log.batch import encode_batch
from broker_core.log.client_batch import client_batches
from tests.broker_core.listeners.kafka.raw import KEYS, Raw, asked

PATIENCE_S = 30.0
ACCEPT, RELEASE, REJECT = 1, 2, 3
INVALID_RECORD_STATE = 121


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    config = GroupConfig(initial_rebalance_delay_ms=50, consumer_heartbeat_interval_ms=100)
    with BrokerHost(config=HostConfig(groups=config)) as made:
        yield made


@pytest.fixture
def configure(host: BrokerHost) -> Callable[..., None]:
    def configure(**settings: Any) -> None:
        config = GroupSettings(**{"auto_offset_reset": "earliest", **settings})
        host.call(lambda _now: host.broker.groups.configs.set("workers", config))

    return configure


@pytest.fixture
def new_member(settings: dict[str, Any]) -> Iterator[Callable[..., ShareConsumer]]:
    made: list[ShareConsumer] = []

    def make(client: str, topic: str = "orders", **more: Any) -> ShareConsumer:
        made.append(ShareConsumer({**settings, "client.id": client, "group.id": "workers", **more}))
        made[-1].subscribe([topic])
        return made[-1]

    yield make
    for each in made:
        each.close()


def taken(
    consumer: ShareConsumer, count: int, then: Callable[[Message], object] = lambda _message: None
) -> list[bytes]:
    """The values of so many messages; `then` is called for each."""
    found: list[bytes] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        for message in consumer.poll(0.2) or ():
            assert message.error() is None, message.error()
            found.append(message.value() or b"")
            then(message)
    return found


def produced(producer: Producer, count: int) -> set[bytes]:
    values = {b"%d" % number for number in range(count)}
    for value in sorted(values):
        producer.produce("orders", value, key=value)
    assert producer.flush(PATIENCE_S) == 0
    return values


def test_two_members_share_the_messages_of_every_partition(
    admin: Admin, producer: Producer, new_member: Callable[..., ShareConsumer], configure: Callable[..., None]
):
    admin.create_topic("orders", 3)
    configure()
    values = produced(producer, 60)
    members = [new_member("one", **{"max.poll.records": 5}), new_member("two", **{"max.poll.records": 5})]
    found: list[bytes] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < 60 and time.monotonic() < deadline_s:
        for member in members:
            found += [message.value() or b"" for message in member.poll(0.05) or ()]
    for member in members:
        member.commit_sync()
    assert sorted(found) == sorted(values)
    view = admin.describe_queue("workers.orders")
    assert (view.acknowledged, view.in_flight, view.ready, view.redelivered) == (60, 0, 0, 0)


def test_what_is_released_comes_again_and_what_is_rejected_is_a_dead_letter(
    admin: Admin, producer: Producer, new_member: Callable[..., ShareConsumer], configure: Callable[..., None]
):
    admin.create_topic("orders", 1)
    configure()
    produced(producer, 3)
    member = new_member("one", **{"share.acknowledgement.mode": "explicit"})
    counts: dict[bytes, int] = {}

    def answer(message: Message) -> None:
        value = message.value() or b""
        counts[value] = counts.get(value, 0) + 1
        kind = {b"0": ACCEPT, b"1": RELEASE if counts[value] < 3 else ACCEPT, b"2": REJECT}[value]
        member.acknowledge(message, kind)
        member.commit_sync()

    taken(member, 5, answer)
    assert counts == {b"0": 1, b"1": 3, b"2": 1}
    view = admin.describe_queue("workers.orders")
    assert (view.acknowledged, view.dead) == (2, 1)
    (letter,) = admin.dead_letters("workers.orders")
    assert (letter.value, letter.cause) == (b"2", "rejected by its share consumer")


def test_a_batch_with_more_records_than_wanted_is_handed_out_and_acknowledged_whole(
    host: BrokerHost, admin: Admin, new_member: Callable[..., ShareConsumer], configure: Callable[..., None]
):
    admin.create_topic("orders", 1)
    configure()
    values = [b"%d" % number for number in range(10_000)]
    data, _ = encode_batch(0, 0, [core_messages.Message(value) for value in values])
    (batch,) = client_batches(bytes(data))
    host.call(partial(host.broker.publishing.publish_encoded, name="orders", partition=0, batch=batch, client="shop"))
    member = new_member("one", **{"max.poll.records": 5, "share.acknowledgement.mode": "explicit"})
    found: list[bytes] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < len(values) and time.monotonic() < deadline_s:
        messages = member.poll(0.2) or ()
        for message in messages:
            member.acknowledge(message, ACCEPT)
        found += [message.value() or b"" for message in messages]
        if messages:
            assert admin.describe_queue("workers.orders").in_flight == len(values) - len(found) + len(messages)
    assert found == values
    assert {error for _place, error in (member.commit_sync() or {}).items()} <= {None}
    view = admin.describe_queue("workers.orders")
    assert (view.acknowledged, view.in_flight, view.redelivered) == (10_000, 0, 0)


@pytest.mark.parametrize("level", ["read_uncommitted", "read_committed"])
def test_open_aborted_and_committed_transactions(
    host: BrokerHost,
    admin: Admin,
    settings: dict[str, Any],
    producer: Producer,
    new_member: Callable[..., ShareConsumer],
    configure: Callable[..., None],
    level: str,
):
    admin.create_topic("orders", 1)
    configure(isolation_level=level)

    def begun(name: str, *values: bytes) -> Producer:
        made = Producer({**settings, "transactional.id": name})
        made.init_transactions(PATIENCE_S)
        made.begin_transaction()
        for value in values:
            made.produce("orders", value)
        assert made.flush(PATIENCE_S) == 0
        return made

    begun("first", b"committed 1", b"committed 2").commit_transaction(PATIENCE_S)
    begun("second", b"aborted 1", b"aborted 2").abort_transaction(PATIENCE_S)
    producer.produce("orders", b"plain 1")
    assert producer.flush(PATIENCE_S) == 0
    still_open = begun("third", b"late")
    aborts = begun("fourth", b"aborted 3")
    producer.produce("orders", b"plain 2")
    assert producer.flush(PATIENCE_S) == 0
    aborts.abort_transaction(PATIENCE_S)
    member = new_member("one")
    before = [b"committed 1", b"committed 2", b"aborted 1", b"aborted 2", b"plain 1"]
    after = [b"late", b"aborted 3", b"plain 2"]
    if level == "read_uncommitted":
        assert taken(member, 8) == [*before, *after]
        still_open.commit_transaction(PATIENCE_S)
    else:
        assert taken(member, 3) == [b"committed 1", b"committed 2", b"plain 1"]
        assert not list(member.poll(0.3))
        view = admin.describe_queue("workers.orders")
        assert (view.ready, view.in_flight + view.acknowledged) == (3, 3), "held back by the open transaction"
        still_open.commit_transaction(PATIENCE_S)
        assert taken(member, 2) == [b"late", b"plain 2"]
    member.commit_sync()
    view = admin.describe_queue("workers.orders")
    assert (view.ready, view.in_flight) == (0, 0)
    assert view.acknowledged == (8 if level == "read_uncommitted" else 5)


def test_too_many_deliveries_make_a_dead_letter(
    admin: Admin, producer: Producer, new_member: Callable[..., ShareConsumer], configure: Callable[..., None]
):
    admin.create_topic("orders", 1)
    configure(delivery_count_limit=2)
    produced(producer, 1)
    member = new_member("one", **{"share.acknowledgement.mode": "explicit"})

    def release(message: Message) -> None:
        member.acknowledge(message, RELEASE)
        member.commit_sync()

    assert taken(member, 2, release) == [b"0", b"0"]
    assert [len(letter.attempts) for letter in admin.dead_letters("workers.orders")] == [2]


def test_what_a_member_holds_when_it_closes_goes_to_another(
    admin: Admin, producer: Producer, new_member: Callable[..., ShareConsumer], configure: Callable[..., None]
):
    admin.create_topic("orders", 1)
    configure()
    values = produced(producer, 4)
    explicit = {"share.acknowledgement.mode": "explicit"}
    first = new_member("one", **explicit)
    assert set(taken(first, 4)) == values
    assert admin.describe_queue("workers.orders").in_flight == 4
    first.close()
    second = new_member("two", **explicit)
    assert set(taken(second, 4, lambda message: second.acknowledge(message, ACCEPT))) == values
    second.commit_sync()
    assert admin.describe_queue("workers.orders").acknowledged == 4


def test_acknowledgements_on_closing_count_and_what_a_lost_connection_held_is_released(
    host: BrokerHost, listener: KafkaListener, admin: Admin, producer: Producer, configure: Callable[..., None]
):
    """A member that closes says goodbye to its group at another connection, mostly before its last acknowledgements."""
    admin.create_topic("orders", 1)
    configure()
    produced(producer, 3)
    join = {"group_id": "workers", "member_id": "m", "member_epoch": 0, "subscribed_topic_names": ["orders"]}
    asked(listener.port, KEYS["ShareGroupHeartbeat"], 1, join)
    topic_id = UUID(bytes=host.broker.logs.topic("orders").id)
    with closing(Raw(listener.port)) as member:

        def fetch(epoch: int, *acknowledged: dict[str, Any]) -> Any:
            place = {"partition_index": 0, "acknowledgement_batches": acknowledged}
            body = {
                "group_id": "workers",
                "member_id": "m",
                "share_session_epoch": epoch,
                "max_wait": 0,
                "min_bytes": 0,
                "max_bytes": 1 << 20,
                "max_records": 500,
                "batch_size": 500,
                "topics": [{"topic_id": topic_id, "partitions": [place]}],
                "forgotten_topics_data": (),
            }
            return member.asked(KEYS["ShareFetch"], 1, body).responses[0].partitions[0]

        (acquired,) = fetch(OPENING).acquired_records
        assert (acquired.first_offset, acquired.last_offset, acquired.delivery_count) == (0, 2, 1)
        first, unknown = ({"first_offset": n, "last_offset": n, "acknowledge_types": [ACCEPT]} for n in (0, 7))
        assert fetch(1, first).acknowledge_error_code == 0
        assert fetch(2, first).acknowledge_error_code == 0, "below the start offset, as in Kafka"
        assert fetch(3, unknown).acknowledge_error_code == INVALID_RECORD_STATE
        asked(listener.port, KEYS["ShareGroupHeartbeat"], 1, {**join, "member_epoch": -1})
        second = {"first_offset": 1, "last_offset": 1, "acknowledge_types": [ACCEPT]}
        assert fetch(CLOSING, second).acknowledge_error_code == 0
    view = admin.describe_queue("workers.orders")
    assert (view.acknowledged, view.ready, view.in_flight) == (2, 1, 0)
    asked(listener.port, KEYS["ShareGroupHeartbeat"], 1, join)
    with closing(Raw(listener.port)) as member:
        fetch(OPENING)
        assert admin.describe_queue("workers.orders").in_flight == 1
    deadline_s = time.monotonic() + PATIENCE_S
    while admin.describe_queue("workers.orders").in_flight and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert admin.describe_queue("workers.orders").ready == 1


def test_a_lock_that_runs_out_lets_another_have_the_message(
    admin: Admin, producer: Producer, new_member: Callable[..., ShareConsumer], configure: Callable[..., None]
):
    admin.create_topic("orders", 1)
    configure(record_lock_duration_ms=1_000)
    produced(producer, 1)
    slow = new_member("slow", **{"share.acknowledgement.mode": "explicit"})
    assert taken(slow, 1) == [b"0"]
    other = new_member("other", **{"share.acknowledgement.mode": "explicit"})
    assert taken(other, 1, lambda message: other.acknowledge(message, ACCEPT)) == [b"0"]
    other.commit_sync()
    assert admin.describe_queue("workers.orders").acknowledged == 1


def test_a_work_queue_of_ours_is_taken_from_by_a_share_group(
    host: BrokerHost, admin: Admin, new_member: Callable[..., ShareConsumer]
):
    admin.create_queue("jobs", QueueConfig(priorities=2))
    with OurProducer(host) as producer:
        for number in range(4):
            producer.publish("jobs", b"job %d" % number, priority=number % 2)
    member = new_member("one", "jobs")
    assert set(taken(member, 4)) == {b"job %d" % number for number in range(4)}
    member.commit_sync()
    assert admin.describe_queue("jobs").acknowledged == 4
    assert "workers.jobs" not in admin.queues()


def test_share_groups_are_listed_and_described(
    host: BrokerHost, listener: KafkaListener, admin: Admin, new_member: Callable[..., ShareConsumer]
):
    """librdkafka's admin client passes over groups that are no consumer groups, so the handlers are asked."""
    admin.create_topic("orders", 2)
    member = new_member("one")
    deadline_s = time.monotonic() + PATIENCE_S
    while "workers.orders" not in admin.queues() and time.monotonic() < deadline_s:
        member.poll(0.1)
    seen = listener.connections.open("kafka", "", lambda: None)
    call = Call(listener.context, seen, ANYBODY, "admin", 5, 0, "127.0.0.1", listener.port)
    asked = SimpleNamespace(states_filter=(), types_filter=("share",))
    listed: Any = host.call(lambda _now: TABLE[KEYS["ListGroups"]].handle(call, asked))
    assert [(group["group_id"], group["group_type"]) for group in listed["groups"]] == [("workers", "share")]
    asked = SimpleNamespace(group_ids=("workers", "nobody"), include_authorized_operations=False)
    described: Any = host.call(lambda _now: TABLE[KEYS["ShareGroupDescribe"]].handle(call, asked))
    known, unknown = described["groups"]
    assert [each["client_id"] for each in known["members"]] == ["one"]
    assert known["members"][0]["assignment"]["topic_partitions"][0]["partitions"] == [0, 1]
    assert unknown["error_code"] == ErrorCode.GROUP_ID_NOT_FOUND.code


def test_the_command_line_describes_a_share_group(
    host: BrokerHost,
    admin: Admin,
    producer: Producer,
    configure: Callable[..., None],
    new_member: Callable[..., ShareConsumer],
    capsys: pytest.CaptureFixture[str],
):
    """In Kafka's words: start offset, lag, member epoch; what is leased is in flight."""

    def shell(*words: str) -> str:
        assert main([*words, "--broker", http.url]) == 0
        return capsys.readouterr().out

    admin.create_topic("orders", 2)
    configure()
    for number in range(5):
        producer.produce("orders", str(number), partition=0)
    producer.flush(10)
    with HttpListener(host) as http:
        assert "There is no group" in shell("groups", "list")
        member = new_member("one", **{"share.acknowledgement.mode": "explicit", "max.poll.records": 5})
        leased: list[Message] = []
        assert len(taken(member, 5, leased.append)) == 5
        described = json.loads(shell("groups", "describe", "workers", "--json"))
        assert (described["share_group"], described["state"], described["members"]) == ("workers", "Stable", 1)
        assert described["offsets"] == [
            {"topic": "orders", "partition": 0, "start_offset": 0, "end_offset": 5, "in_flight": 5, "lag": 5},
            {"topic": "orders", "partition": 1, "start_offset": 0, "end_offset": 0, "in_flight": 0, "lag": 0},
        ]
        (row,) = shell("groups", "members", "workers", "--json").splitlines()
        assert json.loads(row)["client"] == "one" and json.loads(row)["topics"] == "orders"
        told = shell("groups", "describe", "workers")
        assert re.search(r"Topic +Partition +Start offset +End offset +In flight +Lag\norders +0 +0 +5 +5 +5\n", told)
        assert re.search(r"Client +Member id +Member epoch +Topics\none +\S+ +1 +orders\n", told)
        assert re.search(
            r"Share group +State +Group epoch +Members +Lag\nworkers +Stable +1 +1 +5\n", shell("groups", "list")
        )
        for message in leased[:3]:
            member.acknowledge(message, ACCEPT)
        member.commit_sync()
        described = json.loads(shell("groups", "describe", "workers", "--json"))
        assert (described["offsets"][0]["start_offset"], described["offsets"][0]["in_flight"]) == (3, 2)


def test_two_members_that_come_at_once_make_one_subscription(host: BrokerHost, admin: Admin):
    """The heartbeats of both find it missing, and make it one after the other."""
    admin.create_topic("orders")
    for _ in range(2):
        host.admin(lambda now_ns: host.broker.share_groups.subscribe(now_ns, "workers", "orders"))
    assert "workers.orders" in admin.queues()


def test_a_session_goes_on_by_its_epoch():
    sessions = ShareSessions()
    sessions.advance("g", "m", OPENING)
    sessions.advance("g", "m", 1)
    with pytest.raises(BrokerError) as wrong:
        sessions.advance("g", "m", 1)
    assert wrong.value.code is ErrorCode.INVALID_SHARE_SESSION_EPOCH
    sessions.advance("g", "m", CLOSING)
    with pytest.raises(BrokerError) as gone:
        sessions.advance("g", "m", 2)
    assert gone.value.code is ErrorCode.SHARE_SESSION_NOT_FOUND
