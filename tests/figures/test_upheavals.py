"""What happens to a log or to offsets while real programs read, each library in turn: a reset, deletions, retention,
compaction that is switched on midway, a commit beyond the end. The programs write what they polled and committed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core import LogConfig, QueueConfig
from broker_core.groups.config import GroupConfig
from broker_core.groups.offset_reset import Target
from broker_core.operations.groups import ResetShareOffsets
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.admin import Admin
from tests.figures.programs.led import Led, Stage, Told, stage

LIBRARIES = os.environ.get("KAFKA_LIB", "")  # the folder of Kafka's jars
CLASSIC = {"session.timeout.ms": 45_000, "heartbeat.interval.ms": 100}
CONFLUENT: dict[str, dict[str, Any]] = {
    "eager": {**CLASSIC, "partition.assignment.strategy": "range"},
    "cooperative": {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"},
    "KIP-848": {"group.protocol": "consumer"},
}
JAVA = {
    "Java": {"group_protocol": "classic", "session_timeout_ms": "45000"},
    "Java KIP-848": {"group_protocol": "consumer"},
}
NO_JAVA = pytest.mark.skipif(not shutil.which("java") or not LIBRARIES, reason="KAFKA_LIB names no jars, or no java")
WAYS = [*CONFLUENT, "aiokafka", "kafka_python", *(pytest.param(way, marks=NO_JAVA) for way in JAVA)]
UNREAD = LogConfig(retention_ms=600_000, segment_ms=300_000)
COMPACT = LogConfig(cleanup="compact", segment_bytes=1)

pytestmark = [pytest.mark.long, pytest.mark.promise("44")]
Starts = Callable[..., Led]


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedBroker]:
    """One broker for all: it is emptied between two tests."""
    with EmbeddedBroker(groups=GroupConfig(initial_rebalance_delay_ms=0, consumer_heartbeat_interval_ms=100)) as broker:
        yield broker


@pytest.fixture
def on(shared: EmbeddedBroker, tmp_path: Path) -> Iterator[Stage]:
    """A stage with topic t, 10 messages in each of two partitions."""
    shared.reset()
    shared.create_topic("t", partitions=2)
    for partition in range(2):
        shared.publish("t", *range(10), partition=partition)
    with stage(shared, tmp_path) as found:
        yield found


@pytest.fixture(params=WAYS)
def member(request: pytest.FixtureRequest, on: Stage) -> Starts:
    """Starts a consumer of a library: `member(client, topic="t", group="g")`."""

    def start(client: str, topic: str = "t", group: str = "g") -> Led:
        if request.param in JAVA:
            return on.java(client, LIBRARIES, group, topic, **JAVA[request.param])
        library = "confluent" if request.param in CONFLUENT else request.param
        return on.program(library, client, group, topics=[topic], settings=CONFLUENT.get(request.param, {}))

    return start


def _reasons(told: Told) -> set[str]:
    return {each.why for each in told.account.again}


def _read(program: Led, count: int) -> None:
    assert len(program("take", count)) == count
    program("commit")
    program("close")


def test_a_reset_repeats_by_somebodys_will(on: Stage, member: Starts) -> None:
    _read(member("one"), 20)
    Admin(on.broker.host).reset_offsets("g", Target("earliest"), [("t", 0), ("t", 1)])
    _read(member("other"), 20)
    told = on.told()
    told.hold()
    assert _reasons(told) == {"offsets reset"}
    assert told.false == set()
    told.agree()


def test_what_is_deleted_unread_is_lost(on: Stage, member: Starts) -> None:
    _read(member("one"), 20)
    on.broker.publish("t", *range(4), partition=0)
    Admin(on.broker.host).delete_records("t", {0: 12})
    _read(member("late"), 2)
    told = on.told()
    told.hold()
    row = told.of("g")
    assert (row["acknowledged"], row["deleted"], row["lost"]) == (22, 2, 2)
    assert told.false == {"nothing_lost"}
    told.agree()


def test_what_retention_takes_before_it_is_read_is_lost(on: Stage, member: Starts) -> None:
    Admin(on.broker.host).create_topic("short", log=UNREAD)
    on.broker.publish("short", *range(5))
    _read(member("one", "short"), 5)
    _outlive(on, "short")
    left = len(on.broker.messages("short"))
    _read(member("late", "short"), left)
    told = on.told()
    told.hold()
    row = told.of("g", "short")
    assert (row["acknowledged"], row["deleted"]) == (5 + left, 11 - 5 - left)
    assert row["deleted"] == row["lost"] == 5
    assert told.false - {"everything_done"} == {"nothing_lost"}  # nobody reads t
    told.agree()


def _outlive(on: Stage, topic: str) -> None:
    """Five messages that retention deletes, and one behind them."""
    on.broker.publish(topic, *range(5))
    on.broker.clock.advance(400)
    on.broker.publish(topic, "new")
    on.broker.clock.advance(400)


def test_a_topic_that_is_set_to_compact_midway_lacks_nothing(on: Stage, member: Starts) -> None:
    on.broker.create_topic("keyed")
    left = _keyed(on, lambda: _read(member("one", "keyed"), 30))
    _read(member("late", "keyed", "late"), left)
    _read(member("one again", "keyed"), 1)
    told = on.told("g", "late")
    told.hold("g")
    told.hold("late")
    assert told.of("g", "keyed")["acknowledged"] == 31
    assert told.of("late", "keyed")["acknowledged"] == left
    assert told.of("late", "keyed")["lost"] == 0
    assert told.false == {"everything_done"}  # nobody reads t
    told.agree()


def _keyed(on: Stage, reads: Callable[[], object]) -> int:
    """How many messages compaction leaves of 30 that were read, and one."""
    for number in range(30):
        on.broker.publish("keyed", str(number), key=str(number % 3))
    reads()
    Admin(on.broker.host).configure_topic("keyed", log=COMPACT)
    on.broker.clock.advance(600, members_stay=True)
    on.broker.publish("keyed", "last", key="0")
    on.broker.clock.advance(600, members_stay=True)
    left = len(on.broker.messages("keyed"))
    assert left < 31
    return left


def test_a_commit_beyond_the_end_is_told_at_once(on: Stage, member: Starts) -> None:
    one = member("one")
    one("take", 20)
    one("commit")
    one("commit", [("t", 0, 12)])
    told = on.told()
    told.hold()
    assert told.false == {"commits_are_sound"}
    told.agree()


# -- share groups, and queues by HTTP


@pytest.fixture(params=["share group", "subscription"])
def worker(request: pytest.FixtureRequest, on: Stage) -> Callable[[str], Starts]:
    """`worker(topic)` begins to read a topic, and starts workers on it by their names."""
    shares = request.param == "share group"

    def begin(topic: str) -> Starts:
        if not shares:
            Admin(on.broker.host).create_subscription("sub", topic, QueueConfig(lease_ms=30_000))
            return lambda client: on.program("http", client, "sub", source=topic)

        def start(client: str) -> Led:
            told = {"shares": True, "topics": [topic]}
            return on.program("confluent", client, "share", **told)

        first = start("first")
        first("join")  # a share group begins at the end
        first("close")  # or it has a part of what is published meanwhile
        return start

    return begin


def _reader(on: Stage, topic: str) -> tuple[str, str]:
    """The name of the log of the programs, and that of the reader."""
    return ("sub", "sub") if on.log("sub").exists() else ("share", f"share.{topic}")


def _told(on: Stage, topic: str) -> tuple[Told, tuple[str, str]]:
    names = _reader(on, topic)
    return on.told(names[0]), names


def test_who_holds_a_message_that_is_deleted_may_still_finish_it(on: Stage, worker: Callable[[str], Starts]) -> None:
    Admin(on.broker.host).create_topic("tasks")
    start = worker("tasks")
    on.broker.publish("tasks", *range(5))
    one = start("one")
    one("take", 5)
    Admin(on.broker.host).delete_records("tasks", {0: 3})
    one("settle", "ACCEPT" if _reader(on, "")[0] == "share" else "ack")
    told, (log, reader) = _told(on, "tasks")
    told.hold(log, reader=reader)
    row = told.of(reader, "tasks")
    assert row["acknowledged"] + row["deleted"] == 5
    assert ("nothing_lost" in told.false) == bool(row["deleted"])
    told.agree()


def test_what_is_deleted_before_a_worker_has_it_is_lost(on: Stage, worker: Callable[[str], Starts]) -> None:
    Admin(on.broker.host).create_topic("tasks")
    start = worker("tasks")
    on.broker.publish("tasks", *range(5))
    Admin(on.broker.host).delete_records("tasks", {0: 3})
    one = start("one")
    one("take", 2)
    one("settle", "ACCEPT" if _reader(on, "")[0] == "share" else "ack")
    told, (log, reader) = _told(on, "tasks")
    told.hold(log, reader=reader)
    row = told.of(reader, "tasks")
    assert (row["acknowledged"], row["deleted"], row["lost"]) == (2, 3, 3)
    assert "nothing_lost" in told.false and "nothing_twice" not in told.false
    told.agree()


def test_so_it_is_with_retention(on: Stage, worker: Callable[[str], Starts]) -> None:
    Admin(on.broker.host).create_topic("short", log=UNREAD)
    start = worker("short")
    _outlive(on, "short")
    one = start("one")
    one("take", 1)
    one("settle", "ACCEPT" if _reader(on, "")[0] == "share" else "ack")
    told, (log, reader) = _told(on, "short")
    told.hold(log, reader=reader)
    row = told.of(reader, "short")
    assert (row["acknowledged"], row["deleted"], row["lost"]) == (1, 5, 5)
    told.agree()


def test_what_compaction_removes_a_worker_does_not_lack(on: Stage, worker: Callable[[str], Starts]) -> None:
    Admin(on.broker.host).create_topic("keyed")
    start = worker("keyed")
    left = _keyed(on, lambda: None)
    one = start("one")
    one("take", left)
    one("settle", "ACCEPT" if _reader(on, "")[0] == "share" else "ack")
    told, (log, reader) = _told(on, "keyed")
    told.hold(log, reader=reader)
    row = told.of(reader, "keyed")
    assert (row["acknowledged"], row["lost"]) == (left, 0)
    assert "nothing_lost" not in told.false
    told.agree()


def test_a_share_group_that_is_reset_repeats_by_somebodys_will(on: Stage) -> None:
    Admin(on.broker.host).create_topic("tasks")
    first = on.program("confluent", "first", "share", shares=True, topics=["tasks"])
    first("join")
    first("close")
    on.broker.publish("tasks", *range(5))
    one = on.program("confluent", "one", "share", shares=True, topics=["tasks"])
    one("take", 5)
    one("settle", "ACCEPT")
    one("close")
    on.broker.host.ask(ResetShareOffsets(group="share", topic="tasks", offset=0))
    other = on.program("confluent", "other", "share", shares=True, topics=["tasks"])
    other("take", 5)
    other("settle", "ACCEPT")
    told = on.told("share")
    told.hold("share", reader="share.tasks")
    assert _reasons(told) == {"offsets reset"}
    assert {"nothing_lost", "nothing_twice", "commits_are_sound"} & told.false == set()
    told.agree()


def test_a_queue_that_is_purged_has_lost_what_nobody_had(on: Stage) -> None:
    on.broker.create_queue("mail", QueueConfig(lease_ms=30_000))
    on.broker.publish("mail", *range(5))
    one = on.program("http", "one", "mail")
    one("take", 2)
    Admin(on.broker.host).purge_queue("mail")
    one("settle", "ack")
    on.broker.publish("mail", *range(4), ttl_ms=1_000)
    on.broker.clock.advance(2)
    on.broker.publish("mail", "last")
    one("take", 1)
    one("settle", "ack")
    told = on.told("mail")
    told.hold("mail")
    row = told.of("mail", "mail")
    assert (row["acknowledged"], row["purged"], row["expired"], row["lost"]) == (3, 3, 4, 7)
    assert told.false >= {"nothing_lost"} and "nothing_twice" not in told.false
    told.agree()
