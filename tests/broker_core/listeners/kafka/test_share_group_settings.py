"""Settings of share groups that a Kafka client changes take effect, and dead letters go where they say (KIP-1191)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import asdict

from broker_core import Admin, BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.config import GroupConfig, GroupSettings
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.operations.groups import ConfigureGroup, GroupChanges
from tests.broker_core.listeners.kafka.raw import KEYS, Raw
from tests.broker_core.listeners.kafka.test_settings_of_kafka import SET, altered
from tests.reference.settings import GROUP

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4


class Member:
    """The one member of the share group "workers", over its own connection."""

    def __init__(self, raw: Raw, topic: str, topic_id: Any) -> None:
        self._raw, self.topic_id, self._epoch = raw, topic_id, 0
        join = {"group_id": "workers", "member_id": "m-1", "member_epoch": 0, "subscribed_topic_names": [topic]}
        self.joined = raw.asked(KEYS["ShareGroupHeartbeat"], 1, join)

    def _asked(self, api: str, **body: Any) -> Any:
        who = {"group_id": "workers", "member_id": "m-1", "share_session_epoch": self._epoch}
        self._epoch += 1
        return self._raw.asked(KEYS[api], 2, {**who, **body})

    def acquired(self, most: int = 100) -> tuple[list[int], Any]:
        """(offsets, the whole answer) of what is there in partition 0."""
        place = {"topic_id": self.topic_id, "partitions": [{"partition_index": 0, "acknowledgement_batches": []}]}
        limits = {"max_records": most, "batch_size": most, "max_bytes": 1_000_000, "min_bytes": 1, "max_wait": 0}
        answer = self._asked("ShareFetch", topics=[place], **limits, share_acquire_mode=1)
        rows = [row for topic in answer.responses for at in topic.partitions for row in at.acquired_records]
        return [offset for row in rows for offset in range(row.first_offset, row.last_offset + 1)], answer

    def answers(self, first: int, last: int, kind: int) -> Any:
        batch = {"first_offset": first, "last_offset": last, "acknowledge_types": [kind]}
        place = {"topic_id": self.topic_id, "partitions": [{"partition_index": 0, "acknowledgement_batches": [batch]}]}
        answer = self._asked("ShareAcknowledge", topics=[place], is_renew_ack=kind == RENEW)
        return answer.responses[0].partitions[0]


@pytest.fixture
def raw(listener: KafkaListener) -> Iterator[Raw]:
    made = Raw(listener.port)
    yield made
    made.close()


@pytest.fixture
def member(host: BrokerHost, admin: Admin, raw: Raw) -> Member:
    admin.create_topic("orders", 3)
    for number in range(4):
        published(host, Message(b"value%d" % number, key=b"key%d" % number, headers=(("h", b"x"),)))
    configured(raw, **{"share.auto.offset.reset": "earliest"})
    return Member(raw, "orders", raw.asked(3, 12, {"topics": [{"name": "orders"}]}).topics[0].topic_id)


def configured(raw: Raw, **settings: str) -> None:
    answer = altered(raw, GROUP, "workers", *((name, SET, value) for name, value in settings.items()))
    assert answer.error_code == 0, answer.error_message


def published(host: BrokerHost, *messages: Message) -> None:
    host.call(lambda now_ns: host.broker.publishing.publish_batch(now_ns, "orders", 0, messages, client="shop"))


def letters(host: BrokerHost, topic: str) -> list[tuple[int, bytes | None, bytes | None, dict[str, bytes | None]]]:
    logs = host.broker.logs.topic(topic).log.partitions
    found = [log.message(offset) for log in logs for offset in range(log.end_offset)]
    return [(each.partition, each.key, each.value, dict(each.headers)) for each in found]


NAME, COPY = "errors.deadletterqueue.topic.name", "errors.deadletterqueue.copy.record.enable"


@pytest.mark.parametrize("copies", [False, True])
def test_dead_letters_are_written_as_kafka_writes_them(
    host: BrokerHost, admin: Admin, raw: Raw, member: Member, copies: bool
):
    """What Kafka 4.4.0 wrote of such records: no headers of theirs, and value and key only where it copies."""
    admin.create_topic("dlq.orders", 2, log=LogConfig(takes_dead_letters=True))
    configured(raw, **{NAME: "dlq.orders", COPY: str(copies).lower(), "share.delivery.count.limit": "2"})
    assert member.acquired()[0] == [0, 1, 2, 3]
    assert member.answers(0, 0, REJECT).error_code == 0
    assert member.answers(1, 1, RELEASE).error_code == 0
    assert member.answers(2, 3, ACCEPT).error_code == 0
    assert member.acquired()[0] == [1]
    assert member.answers(1, 1, RELEASE).error_code == 0

    def headers(offset: int, count: int, message: str) -> dict[str, bytes]:
        told = {"topic": "orders", "partition": "0", "offset": str(offset), "group": "workers"}
        told |= {"delivery.count": str(count), "message": message}
        return {f"__dlq.errors.{name}": value.encode() for name, value in told.items()}

    rejected, tried = (
        headers(0, 1, "Offset rejected by client."),
        headers(1, 2, "Offset delivery count exceeded the threshold."),
    )
    assert letters(host, "dlq.orders") == [
        (0, b"key0" if copies else None, b"value0" if copies else None, rejected),
        (0, b"key1" if copies else None, b"value1" if copies else None, tried),
    ]
    assert admin.describe_queue("workers.orders").dead == 2, "they can be redriven, too"


@pytest.mark.parametrize(
    ("name", "made", "why"),
    [
        ("failed", LogConfig(takes_dead_letters=True), "does not begin with dlq."),
        ("dlq.plain", LogConfig(), "errors.deadletterqueue.group.enable"),
        ("dlq.gone", None, "no such topic"),
    ],
)
def test_where_dead_letters_cannot_be_written_it_is_said_once(
    host: BrokerHost, admin: Admin, raw: Raw, member: Member, name: str, made: LogConfig | None, why: str
):
    """As in Kafka, such a setting is taken, and the record is archived all the same."""
    if made is not None:
        admin.create_topic(name, log=made)
    told: list[str] = []
    host.call(lambda _now: host.broker._events.attach(lambda event: told.append(event.cause)))
    configured(raw, **{NAME: name})
    member.acquired()
    member.answers(0, 3, REJECT)
    assert [cause for cause in told if cause.startswith(f"dead letters of workers are not in {name}")] != []
    assert len([cause for cause in told if why in cause]) == 1
    assert made is None or letters(host, name) == []
    assert admin.describe_queue("workers.orders").dead == 4


def test_locks_counts_and_limits_hold_at_once(admin: Admin, raw: Raw, member: Member):
    assert len(member.acquired(1)[0]) == 1
    configured(raw, **{"share.record.lock.duration.ms": "15000", "share.renew.acknowledge.enable": "false"})
    assert member.answers(0, 0, RENEW).error_code == 121
    offsets, answer = member.acquired(2)
    assert (offsets, answer.acquisition_lock_timeout.total_seconds()) == ([1, 2], 15)
    lease = admin.describe_queue("workers.orders").leases[-1]
    assert lease.deadline_ns - lease.acquired_ns == 15_000_000_000


def test_a_partition_has_at_most_so_many_locks(host: BrokerHost, admin: Admin, raw: Raw, member: Member):
    published(host, *[Message(b"more")] * 200)
    configured(raw, **{"share.partition.max.record.locks": "100"})
    assert len(member.acquired(400)[0]) == 100
    assert member.acquired(400)[0] == []
    member.answers(0, 9, ACCEPT)
    assert len(member.acquired(400)[0]) == 10


def test_heartbeats_and_sessions_are_those_of_the_group(host: BrokerHost, raw: Raw, member: Member):
    assert member.joined.heartbeat_interval.total_seconds() == 5
    configured(raw, **{"share.heartbeat.interval.ms": "7000", "share.session.timeout.ms": "50000"})
    beat = {"group_id": "workers", "member_id": "m-1", "member_epoch": member.joined.member_epoch}
    assert raw.asked(KEYS["ShareGroupHeartbeat"], 1, beat).heartbeat_interval.total_seconds() == 7
    (known,) = host.broker.share_groups.members("workers")
    assert known.session.timeout_ns == 50_000_000_000


@pytest.mark.parametrize(("text", "age_ms"), [("by_duration:PT1H30M", 5_400_000), ("by_duration:P1DT0.5S", 86_400_500)])
def test_a_share_group_begins_at_an_age(text: str, age_ms: int):
    assert GroupSettings(auto_offset_reset=text).from_age_ms == age_ms


@pytest.mark.parametrize("days", ["9999999999", "9" * 300])
def test_a_directory_opens_whose_share_groups_begin_at_any_age(tmp_path: Path, days: str):
    config = HostConfig(log=LogConfig(durability="file"))
    with BrokerHost(tmp_path, config) as host:
        host.ask(ConfigureGroup(group="workers", settings=GroupChanges(auto_offset_reset=f"by_duration:P{days}D")))
        Admin(host).create_topic("orders")
        published(host, Message(b"old"))
    with (
        BrokerHost(tmp_path, config) as host,
        KafkaListener(host, port=0) as listener,
        contextlib.closing(Raw(listener.port)) as raw,
    ):
        member = Member(raw, "orders", raw.asked(3, 12, {"topics": [{"name": "orders"}]}).topics[0].topic_id)
        assert member.acquired()[0] == [0]


def test_an_age_beyond_all_times_is_refused():
    with pytest.raises(BrokerError, match="auto_offset_reset"):
        GroupSettings(auto_offset_reset=f"by_duration:P{'9' * 400}D")


@pytest.mark.parametrize("kind", ["consumer", "share"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_heartbeat_interval_is_below_the_session_timeout(host: Any, raw: Any, kind: str, dry_run: bool):
    answer = altered(raw, GROUP, "workers", (f"{kind}.session.timeout.ms", SET, "5000"), validate=dry_run)
    assert answer.error_code == ErrorCode.INVALID_CONFIG.code
    assert f"{kind}_heartbeat_interval_ms must be less than" in answer.error_message
    with pytest.raises(BrokerError) as refused:
        host.ask(ConfigureGroup(group="workers", settings=GroupChanges(**{f"{kind}_session_timeout_ms": 100})))
    assert refused.value.code is ErrorCode.INVALID_CONFIG
    assert host.broker.groups.configs.names() == ()


@pytest.mark.parametrize("kind", ["consumer", "share"])
def test_a_heartbeat_interval_that_a_group_has_already_is_no_reason_to_refuse_other_settings(kind: str):
    usual = {f"{kind}_session_timeout_ms": 5_000, f"{kind}_heartbeat_interval_ms": 5_000}
    config = HostConfig(groups=GroupConfig(consumer_session_timeout_ms=5_000))
    with (
        BrokerHost(config=config) as host,
        KafkaListener(host, port=0) as listener,
        contextlib.closing(Raw(listener.port)) as raw,
    ):
        configured = host.ask(ConfigureGroup(group="workers", settings=GroupChanges(max_record_locks=500)))
        assert configured.max_record_locks == 500 and usual.items() <= asdict(configured).items()
        assert altered(raw, GROUP, "workers", ("share.record.lock.duration.ms", SET, "20000")).error_code == 0
        host.ask(ConfigureGroup(group="workers", settings=GroupChanges(**{f"{kind}_session_timeout_ms": 5_001})))
        assert host.ask(ConfigureGroup(group="workers", settings=GroupChanges.of(configured))) == configured, "undone"
        with pytest.raises(BrokerError, match=f"{kind}_heartbeat_interval_ms must be less than"):
            host.ask(ConfigureGroup(group="workers", settings=GroupChanges(**{f"{kind}_session_timeout_ms": 4_000})))


def test_settings_stay_over_a_restart(tmp_path: Any):
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        raw = Raw(listener.port)
        configured(raw, **{"streams.num.standby.replicas": "1", "consumer.session.timeout.ms": "50000"})
        raw.close()
        host.crash()
    with BrokerHost(tmp_path) as host:
        configs = host.broker.groups.configs
        assert configs.of("workers").consumer_session_timeout_ms == 50_000
        assert configs.kafka_settings["workers"] == {
            "streams.num.standby.replicas": "1",
            "consumer.session.timeout.ms": "50000",
        }


@pytest.mark.parametrize("durability", ["file", "fsync"])
@pytest.mark.parametrize("last", [ACCEPT, REJECT])
def test_what_was_answered_outlives_a_kill_and_what_was_held_is_free_at_once(
    tmp_path: Path, durability: Any, last: int
):
    """As a client of Java was told over `kill -9` of Kafka 4.4.0's broker, with the counts of deliveries."""
    config = HostConfig(log=LogConfig(durability=durability), tick_ms=3_600_000)  # nothing is saved meanwhile
    for life in ("before", "after"):
        with (
            BrokerHost(tmp_path, config) as host,
            KafkaListener(host, port=0) as listener,
            contextlib.closing(Raw(listener.port)) as raw,
        ):
            if life == "before":
                Admin(host).create_topic("orders", 1)
                published(host, *(Message(b"%d" % number) for number in range(4)))
                configured(raw, **{"share.auto.offset.reset": "earliest"})
            member = Member(raw, "orders", raw.asked(3, 12, {"topics": [{"name": "orders"}]}).topics[0].topic_id)
            offsets, answer = member.acquired()
            if life == "before":
                assert offsets == [0, 1, 2, 3]
                for offset, kind in sorted({0: ACCEPT, 1: RELEASE, 2: REJECT}.items(), key=lambda row: row[1] == last):
                    assert member.answers(offset, offset, kind).error_code == 0
                host.crash()
            else:
                rows = answer.responses[0].partitions[0].acquired_records
                assert [(row.first_offset, row.delivery_count) for row in rows] == [(1, 2), (3, 1)]
                assert len(letters(host, "workers.orders.dlq")) == 1


def test_what_is_not_there_is_said_at_each_fetch(raw: Raw, member: Member):
    """By it the Java client learns the id of a topic that was made anew, and does not ask at once for ever."""
    gone, missing = UUID(int=7), {"partition_index": 9, "acknowledgement_batches": []}
    places = [{"topic_id": each, "partitions": [missing]} for each in (gone, member.topic_id)]
    limits = {"max_records": 9, "batch_size": 9, "max_bytes": 1_000_000, "min_bytes": 1, "max_wait": 0}
    who = {"group_id": "workers", "member_id": "m-1"}
    for epoch, topics in enumerate((places, [])):
        answer = raw.asked(KEYS["ShareFetch"], 2, {**who, **limits, "share_session_epoch": epoch, "topics": topics})
        rows = [(topic.topic_id, each) for topic in answer.responses for each in topic.partitions]
        found = {(topic_id, each.partition_index): each.error_code for topic_id, each in rows if each.error_code.value}
        assert found == {(gone, 9): 100, (member.topic_id, 9): 3}
    forgotten = [{"topic_id": gone, "partitions": [9]}]
    body = {**who, **limits, "share_session_epoch": 2, "topics": [], "forgotten_topics_data": forgotten}
    (left,) = raw.asked(KEYS["ShareFetch"], 2, body).responses
    assert left.topic_id == member.topic_id


def test_a_member_of_a_broker_that_started_anew_is_told_to_begin_again(raw: Raw):
    """In memory, nothing of the group is left: the session first, or Java's client goes on counting its epochs."""
    who = {"group_id": "gone", "member_id": "m-1"}
    limits = {"max_records": 9, "batch_size": 9, "max_bytes": 1_000_000, "min_bytes": 1, "max_wait": 0, "topics": []}
    for epoch, error in ((5, 122), (0, 25)):
        assert raw.asked(KEYS["ShareFetch"], 2, {**who, **limits, "share_session_epoch": epoch}).error_code == error
    assert raw.asked(KEYS["ShareGroupHeartbeat"], 1, {**who, "member_epoch": 5}).error_code == 25
    assert raw.asked(KEYS["ShareGroupHeartbeat"], 1, {**who, "member_epoch": -1}).error_code == 69
