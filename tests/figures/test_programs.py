"""Real programs write what they polled and committed; the account of the recording is held to what they wrote."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from broker_core import LogConfig, QueueConfig
from broker_core.groups.config import GroupConfig
from broker_core.groups.offset_reset import Target
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.admin import Admin
from tests.figures.programs.led import Led, Stage, stage
from tests.long_form import some

SESSION_S = 45
CLASSIC = {"session.timeout.ms": SESSION_S * 1_000, "heartbeat.interval.ms": 100}
WAYS: dict[str, dict[str, Any]] = {
    "eager": {**CLASSIC, "partition.assignment.strategy": "range"},
    "cooperative": {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"},
    "KIP-848": {"group.protocol": "consumer"},
    "aiokafka": {},
}
LIBRARIES = os.environ.get("KAFKA_LIB", "")  # the folder of Kafka's jars
OF_EACH_WAY = pytest.mark.parametrize("way", some(WAYS, {"eager"}))
COMMITTED = {"isolation.level": "read_committed"}


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedBroker]:
    """One broker for all: it is emptied between two tests."""
    with EmbeddedBroker(groups=GroupConfig(initial_rebalance_delay_ms=0, consumer_heartbeat_interval_ms=100)) as broker:
        yield broker


@pytest.fixture
def on(shared: EmbeddedBroker, tmp_path: Path) -> Iterator[Stage]:
    """A stage with topic t of two partitions, 10 messages in each."""
    shared.reset()
    shared.create_topic("t", partitions=2)
    for partition in range(2):
        shared.publish("t", *range(10), partition=partition)
    with stage(shared, tmp_path) as found:
        yield found


def member(on: Stage, client: str, way: str = "eager", **told: Any) -> Led:
    """A consumer of the group g."""
    library = "aiokafka" if way == "aiokafka" else "confluent"
    return on.program(library, client, settings=WAYS[way] | told.pop("settings", {}), **told)


def reasons(told: Any) -> set[str]:
    return {each.why for each in told.account.again}


def _run(row: dict[str, Any]) -> range:
    return range(row["offset"], row["offset"] + row["count"])


# -- what reached programs twice


@pytest.mark.promise("44")
@OF_EACH_WAY
def test_what_a_rebalance_gives_to_another_member_is_told(on: Stage, way: str) -> None:
    one = member(on, "one", way)
    one("take", 20)
    other = member(on, "other", way)
    with one.serving():
        other("take", 10)
    told = on.told()
    told.hold()
    assert sum(told.twice().values()) == 10
    assert reasons(told) == {"partition moved"}
    assert "nothing_twice" in told.false
    told.agree()


@pytest.mark.promise("44")
@OF_EACH_WAY
def test_what_a_killed_member_had_is_told(on: Stage, way: str) -> None:
    one = member(on, "one", way)
    one("take", 12)
    one("commit")
    one("take", 6)
    one.kill()
    on.broker.clock.advance(SESSION_S + 1)
    other = member(on, "other", way)
    other("take", 8)
    other("commit")
    told = on.told()
    told.hold()
    assert sum(told.twice().values()) == 6
    assert reasons(told) == {"member fell silent"}
    assert told.false == {"nothing_twice"}
    told.agree()


def test_a_member_that_commits_when_it_has_to_give_up_repeats_nothing(on: Stage) -> None:
    one = member(on, "one", commits_when_revoked=True)
    one("take", 20)
    other = member(on, "other", commits_when_revoked=True)
    on.broker.publish("t", *range(5), partition=0)
    on.broker.publish("t", *range(5), partition=1)
    with one.serving():
        other("take", 5)
    told = on.told()
    told.hold()
    assert not told.twice()
    told.agree()


@pytest.mark.long
@pytest.mark.parametrize("way", ["eager", "cooperative", "KIP-848"])
def test_three_that_nobody_leads_of_which_one_is_slow_and_one_is_killed(tmp_path: Path, way: str) -> None:
    groups = GroupConfig(0, consumer_heartbeat_interval_ms=100, consumer_session_timeout_ms=6_000)
    short = {"session.timeout.ms": 6_000} if way != "KIP-848" else {}
    with EmbeddedBroker(groups=groups) as broker, stage(broker, tmp_path) as on:
        broker.create_topic("t", partitions=6)
        for partition in range(6):
            broker.publish("t", *range(200), partition=partition)
        programs = [member(on, name, way, settings=short) for name in ("quick", "slow", "killed")]
        for program, work_s in zip(programs, (0.002, 0.02, 0.005), strict=True):
            program.begin("take_until", 2_000, work_s, 7)
        on.wait_for("killed", 20)
        programs[2].kill()
        late = member(on, "late", way, settings=short)
        late.begin("take_until", 2_000, 0.002, 7)
        for program in (programs[0], programs[1], late):
            program.end()
        told = on.told()
    told.hold()
    assert told.twice()
    told.agree()


@pytest.mark.long
@pytest.mark.skipif(
    not shutil.which("java") or not LIBRARIES, reason="KAFKA_LIB does not name Kafka's jars, or no java"
)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_so_it_is_with_the_java_client(on: Stage, protocol: str) -> None:
    timeout = {"session_timeout_ms": str(SESSION_S * 1_000)} if protocol == "classic" else {}
    one = on.java("one", LIBRARIES, group_protocol=protocol, **timeout)
    one("take", 20)
    other = on.java("other", LIBRARIES, group_protocol=protocol, **timeout)
    with one.serving():
        other("take", 10)
    moved = on.told()
    moved.hold()
    assert sum(moved.twice().values()) == 10
    assert reasons(moved) == {"partition moved"}
    other("commit")
    other.kill()
    on.broker.clock.advance(SESSION_S + 1, members_stay=True)
    one("seek", "t", 0, 4)
    told = on.told()
    told.hold()
    told.agree()


# -- what reached a program again because it asked for it


def test_a_seek_fetches_again_and_accuses_nobody(on: Stage) -> None:
    one = member(on, "one", by_hand=[("t", 0, 0), ("t", 1, 0)])
    one("take", 20)
    one("seek", "t", 0, 4)
    one("take", 6)
    one("commit")
    told = on.told()
    told.hold()
    assert not told.twice()
    assert reasons(told) == {""}
    assert told.false == set()
    told.agree()


@OF_EACH_WAY
def test_so_it_is_for_a_member_of_a_group(on: Stage, way: str) -> None:
    one = member(on, "one", way)
    one("take", 20)
    one("seek", "t", 0, 4)
    one("take", 6)
    one("commit")
    told = on.told()
    told.hold()
    assert not told.twice()
    assert reasons(told) == {""}
    assert told.false == set()
    told.agree()


@OF_EACH_WAY
def test_who_pauses_loses_nothing_and_repeats_nothing(on: Stage, way: str) -> None:
    one = member(on, "one", way)
    for _ in range(4):
        one("take", 5)
        with one.serving():
            pass
        one("commit")
    told = on.told()
    told.hold()
    assert told.false == set()
    told.agree()


def test_going_back_behind_what_it_has_committed_is_a_delivery_again(on: Stage) -> None:
    one = member(on, "one", by_hand=[("t", 0, 0), ("t", 1, 0)])
    one("take", 20)
    one("commit")
    one("seek", "t", 0, 4)
    one("take", 6)
    told = on.told()
    told.hold()
    assert reasons(told) == {"acknowledged"}
    assert told.false == {"nothing_twice"}
    told.agree()


def test_a_reset_repeats_by_somebodys_will(on: Stage) -> None:
    one = member(on, "one")
    one("take", 20)
    one("commit")
    one("close")
    Admin(on.broker.host).reset_offsets("g", Target("earliest"), [("t", 0), ("t", 1)])
    other = member(on, "other")
    other("take", 20)
    other("commit")
    told = on.told()
    told.hold()
    assert reasons(told) == {"offsets reset"}
    assert told.false == set()
    told.agree()


# -- transactions, deletion, retention, compaction


def test_a_transaction_commits_what_was_read(on: Stage) -> None:
    on.broker.create_topic("out")
    one = member(on, "one", settings=COMMITTED)
    one("take", 8)
    one("transact", "eight", "out")
    one("take", 12)
    one("transact", "twenty", "out")
    reader = on.program("confluent", "reads", "readers", topics=["out"], settings=CLASSIC | COMMITTED)
    reader("take", 2)
    reader("commit")
    told = on.told("g", "readers")
    told.hold("g")
    told.hold("readers")
    assert told.of("g")["acknowledged"] == 20
    assert told.of("readers", "out")["acknowledged"] == told.of("readers", "out")["published"] == 2
    assert told.false == set()
    told.agree()


def test_what_was_aborted_is_nobodys_loss(on: Stage) -> None:
    on.broker.create_topic("out")
    producer = Producer({"bootstrap.servers": on.broker.bootstrap_servers, "transactional.id": "x"})
    producer.init_transactions(20)
    for commits in (False, True):
        producer.begin_transaction()
        producer.produce("out", "one")
        producer.flush(20)
        (producer.commit_transaction if commits else producer.abort_transaction)(20)
    one = on.program("confluent", "one", topics=["out"], settings=CLASSIC | COMMITTED)
    one("take", 1)
    one("commit")
    told = on.told()
    row = told.of("g", "out")
    assert (row["acknowledged"], row["aborted"], row["published"]) == (1, 1, 2)
    assert {"nothing_lost", "nothing_twice", "commits_are_sound"} & told.false == set()
    told.agree()


def test_what_is_deleted_unread_is_lost(on: Stage) -> None:
    one = member(on, "one", by_hand=[("t", 0, 0)])
    one("take", 3)
    one("commit")
    one("close")
    on.broker.publish("t", *range(4), partition=0)  # nobody is there to have them
    Admin(on.broker.host).delete_records("t", {0: 12})
    late = on.program("confluent", "late", "late", by_hand=[("t", 0, 13)])
    late("take", 1)
    late("commit")
    told = on.told("g", "late")
    assert told.of("late")["skipped"]["before it began"] == 13
    assert told.of("late")["deleted"] == 0
    row = told.of("g")
    # With what its client had fetched ahead, and lost with its connection.
    assert (row["acknowledged"], row["deleted"], row["waiting"]) == (3, 9, 2)
    assert "nothing_lost" in told.false
    told.agree()


@pytest.mark.long
def test_what_retention_takes_before_it_is_read_is_lost(on: Stage) -> None:
    on.broker.admin.create_topic("short", log=LogConfig(retention_ms=600_000, segment_ms=300_000))
    on.broker.publish("short", *range(5))
    one = on.program("confluent", "one", topics=["short"], settings=CLASSIC)
    one("take", 5)
    one("commit")
    one("close")
    on.broker.publish("short", *range(5))
    on.broker.clock.advance(400)
    on.broker.publish("short", "new")
    on.broker.clock.advance(400)
    told = on.told()
    row = told.of("g", "short")
    assert row["acknowledged"] == 5
    assert row["deleted"] >= 5
    assert "nothing_lost" in told.false
    told.agree()


def test_a_topic_that_is_set_to_compact_meanwhile_has_no_missing_messages(on: Stage) -> None:
    on.broker.create_topic("keyed")
    for number in range(30):
        on.broker.publish("keyed", str(number), key=str(number % 3))
    one = on.program("confluent", "one", topics=["keyed"], settings=CLASSIC)
    one("take", 30)
    one("commit")
    Admin(on.broker.host).configure_topic("keyed", log=LogConfig(cleanup="compact", segment_bytes=1))
    on.broker.clock.advance(600, members_stay=True)
    on.broker.publish("keyed", "last", key="0")
    on.broker.clock.advance(600, members_stay=True)
    left = len(on.broker.messages("keyed"))
    assert left < 31
    late = on.program("confluent", "late", "late", topics=["keyed"], settings=CLASSIC)
    late("take", left)
    late("commit")
    one("take", 1)
    one("commit")
    told = on.told("g", "late")
    told.hold("g")
    told.hold("late")
    assert told.of("g", "keyed")["acknowledged"] == 31
    assert told.of("late", "keyed")["acknowledged"] == left
    assert told.of("late", "keyed")["lost"] == 0
    assert "nothing_lost" not in told.false
    told.agree()


# -- leases


def test_what_a_share_group_gives_again_has_its_reason(on: Stage) -> None:
    settings = {"group.id": "share"}
    on.broker.create_topic("tasks")
    one, other = (
        on.program("confluent", name, "share", shares=True, topics=["tasks"], settings=settings)
        for name in ("one", "other")
    )
    one("join")  # a share group begins at the end
    on.broker.publish("tasks", "work")
    one("take", 1)
    one("settle", "RELEASE")
    one("take", 1)
    on.broker.clock.advance(31, members_stay=True)
    other("take", 1)
    other("settle", "ACCEPT")
    told = on.told("share")
    told.hold("share", reader="share.tasks")
    assert reasons(told) == {"nacked", "lease ran out"}  # to release is to ask for another attempt
    assert told.of("share.tasks", "tasks")["acknowledged"] == 1
    assert {"nothing_twice"} == told.false & {"nothing_lost", "nothing_twice", "commits_are_sound"}
    told.agree()


@pytest.mark.promise("44")
def test_a_queue_tells_retries_from_duplicates(on: Stage) -> None:
    on.broker.create_queue("mail", QueueConfig(lease_ms=1_000, max_attempts=3))
    on.broker.publish("mail", *range(3))
    one, other = (on.program("http", name, "mail") for name in ("one", "other"))
    one("take", 3)
    one("settle", "nack")
    other("take", 3)
    other("settle", "ack")
    told = on.told("mail")
    told.hold("mail")
    assert reasons(told) == {"nacked"}
    assert "nothing_twice" not in told.false
    told.agree()
    on.broker.publish("mail", *range(2))
    one("take", 2)
    on.broker.clock.advance(2)
    other("take", 2)
    other("settle", "ack")
    told = on.told("mail")
    told.hold("mail")
    assert reasons(told) == {"nacked", "lease ran out"}
    assert "nothing_twice" in told.false
    assert told.of("mail", "mail")["acknowledged"] == 5
    told.agree()


# -- wrong programs, each for its own reason, at once


def test_a_seek_to_the_end_skips_what_was_never_given(on: Stage) -> None:
    first = member(on, "first", settings={"queued.min.messages": 1, "message.max.bytes": 1_000})
    first("take", 4)
    first("commit")
    first("close")
    for partition in range(2):
        on.broker.publish("t", *range(40), partition=partition)
    one = member(on, "one", at_the_end=True)
    one("join")
    for partition in range(2):
        on.broker.publish("t", "new", partition=partition)
    one("take", 2)
    one("commit")
    told = on.told()
    told.hold()
    row = told.of("g")
    given = {(each["partition"], offset) for each in told.rows if each["kind"] == "delivered" for offset in _run(each)}
    skipped = row["skipped"]["by its reader"]
    # Where the first had committed nothing, to begin at the end is to begin.
    assert skipped == 102 - len(given) - row["skipped"]["before it began"] >= 40
    assert "nothing_lost" in told.false
    told.agree()


def test_a_commit_beyond_what_was_given_is_told_at_once(on: Stage) -> None:
    one = member(on, "one", by_hand=[("t", 0, 0)])
    one("take", 1)
    on.broker.publish("t", *range(5), partition=0)
    one("commit", [("t", 0, 15)])
    told = on.told()
    given = max((each["offset"] + each["count"] for each in told.rows if each["kind"] == "delivered"), default=0)
    assert ("commits_are_sound" in told.false) == (given < 15)
    assert told.of("g")["skipped"]["by its reader"] == 15 - given
    told.agree()


def test_a_commit_beyond_the_end_is_told_at_once(on: Stage) -> None:
    one = member(on, "one", by_hand=[("t", 0, 0)])
    one("take", 10)
    one("commit", [("t", 0, 12)])
    told = on.told()
    assert told.false == {"commits_are_sound"}
    told.agree()


def test_who_never_commits_is_not_done(on: Stage) -> None:
    one = member(on, "one")
    one("take", 20)
    one("close")
    told = on.told()
    told.hold()
    assert told.false == {"everything_done"}
    assert told.of("g")["waiting"] == 20
    told.agree()


def test_what_an_administrators_tool_sets_forward_is_a_reset(on: Stage) -> None:
    one = member(on, "one")
    one("take", 20)
    one("commit")
    one("close")
    on.broker.publish("t", *range(5), partition=0)
    tool = AdminClient({"bootstrap.servers": on.broker.bootstrap_servers, "client.id": "tool"})
    asked = ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 15)])
    (done,) = tool.alter_consumer_group_offsets([asked]).values()
    done.result(20)
    told = on.told()
    assert told.of("g")["skipped"]["by a reset"] == 5
    assert told.false == set()
    told.agree()


def test_who_begins_at_the_end_by_hand_and_commits_there_has_begun(on: Stage) -> None:
    one = member(on, "one", by_hand=[("t", 0, 10)])
    one("wait")
    one("commit", [("t", 0, 10)])
    on.broker.publish("t", "new", partition=0)
    one("take", 1)
    one("commit")
    told = on.told()
    told.hold()
    assert told.of("g")["skipped"] == {"by a reset": 0, "by its reader": 0, "before it began": 10}
    assert told.false == set()
    told.agree()


def test_two_that_read_a_partition_by_hand_are_told_as_two(on: Stage) -> None:
    for name in ("one", "other"):
        member(on, name, by_hand=[("t", 0, 0)])("take", 10)
    told = on.told()
    assert reasons(told) == {"read beside"}
    assert "nothing_twice" not in told.false
    told.agree()


# -- a right program that keeps its offsets elsewhere


def test_a_cache_that_is_filled_at_each_start_is_accused_of_nothing(on: Stage) -> None:
    for name in ("one", "other"):
        one = member(on, name, by_hand=[("t", 0, 0), ("t", 1, 0)])
        one("take", 20)
        one("close")
    told = on.told()
    assert told.false == set()
    told.agree()
