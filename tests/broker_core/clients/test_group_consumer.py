"""The consumer for threads: poll, iterate, commit, listeners, rebalances, restarts. Short, on the wall clock."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.middleware import Context, Middleware
from broker_core.clients.producer import Producer
from broker_core.clients.serializers import JsonSerializer
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offset_reset import Change, Target
from broker_core.log.config import LogConfig
from broker_core.messages import StoredMessage
from broker_core.replies import Reply

QUICK = ConsumerConfig(heartbeat_interval_ms=20, session_timeout_ms=2_000, rebalance_timeout_ms=2_000)


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_topic("commits", 4)
        yield host


def publish(host: BrokerHost, *values: bytes, partition: int | None = None) -> None:
    with Producer(host) as producer:
        for value in values:
            producer.send("commits", value, partition=partition)


def drain(consumer: GroupConsumer, count: int, within_s: float = 5) -> list[bytes | None]:
    found: list[bytes | None] = []
    end_s = time.monotonic() + within_s
    while len(found) < count and time.monotonic() < end_s:
        found += [message.value for message in consumer.poll(0.1)]
    return found


@pytest.mark.promise("A5")
def test_poll_gives_everything_once_and_a_restart_goes_on_behind_the_commit(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        Admin(host).create_topic("commits", 4)
        publish(host, *[b"%d" % number for number in range(100)])
        with GroupConsumer(host, "readers", ["commits"]) as consumer:
            found = drain(consumer, 100)
            assert len(found) == 100 and set(found) == {b"%d" % number for number in range(100)}
            consumer.commit()
        publish(host, b"later")
    with BrokerHost(tmp_path) as host, GroupConsumer(host, "readers", ["commits"]) as consumer:
        assert drain(consumer, 1) == [b"later"]


@pytest.mark.promise("A5")
def test_iteration_commits_nothing_that_is_still_being_worked_on(host: BrokerHost):
    publish(host, b"a", b"b", b"c", partition=0)
    consumer = GroupConsumer(host, "readers", ["commits"], ConsumerConfig(auto_commit_interval_ms=0))
    values = iter(consumer)
    assert next(values).value == b"a"
    assert next(values).value == b"b"
    assert consumer.position("commits", 0) == 2
    consumer.close()  # commits what is processed: a, not b
    assert consumer.committed("commits", 0) == 1
    with GroupConsumer(host, "readers", ["commits"]) as again:
        assert drain(again, 2) == [b"b", b"c"]
        again.commit()
        assert again.committed("commits", 0) == 3


def test_the_last_message_is_committed_while_the_iteration_waits_for_the_next(host: BrokerHost):
    publish(host, b"a", partition=0)
    config = ConsumerConfig(auto_commit_interval_ms=20, heartbeat_interval_ms=20)
    with GroupConsumer(host, "readers", ["commits"], config) as consumer:
        values = iter(consumer)
        assert next(values).value == b"a"
        waiting = threading.Thread(target=lambda: next(values))
        waiting.start()
        end_s = time.monotonic() + 10
        while not consumer.committed("commits", 0) and time.monotonic() < end_s:
            time.sleep(0.01)
        assert consumer.committed("commits", 0) == 1
        publish(host, b"b", partition=0)
        waiting.join()


def test_iteration_commits_nothing_of_what_was_fetched_beside_the_first_message(host: BrokerHost):
    publish(host, b"a", b"b", b"c", partition=0)
    consumer = GroupConsumer(host, "readers", ["commits"], ConsumerConfig(auto_commit_interval_ms=0))
    assert next(iter(consumer)).value == b"a"
    consumer.close()
    assert not consumer.committed("commits", 0)


def test_manual_commits_only_where_automatic_ones_are_off(host: BrokerHost):
    publish(host, b"a", b"b", partition=0)
    manual = ConsumerConfig(commit_on_revoke=False)
    with GroupConsumer(host, "readers", ["commits"], manual) as consumer:
        drain(consumer, 2)
        consumer.poll(0)
    assert host.broker.groups.committed("readers", "commits", 0) is None
    with GroupConsumer(host, "readers", ["commits"], manual) as consumer:
        drain(consumer, 2)
        consumer.commit({("commits", 0): 1})
        assert consumer.committed("commits", 0) == 1


def test_listeners_are_called_by_the_thread_that_polls_and_may_commit(host: BrokerHost):
    calls: list[tuple[str, int]] = []
    committed: list[int | None] = []
    threads: set[str] = set()

    def listener(what: str):
        def told(partitions: Sequence[tuple[str, int]]) -> None:
            calls.append((what, len(partitions)))
            threads.add(threading.current_thread().name)
            if what == "revoked":
                first.commit()
                committed.append(first.committed("commits", 0))

        return told

    publish(host, b"a", partition=0)
    first = GroupConsumer(
        host,
        "readers",
        ["commits"],
        msgspec.structs.replace(QUICK, commit_on_revoke=False),
        on_assigned=listener("assigned"),
        on_revoked=listener("revoked"),
    )
    drain(first, 1)
    second = GroupConsumer(host, "readers", ["commits"], QUICK)
    other = threading.Thread(target=lambda: drain(second, 1, within_s=1))
    other.start()
    end_s = time.monotonic() + 5
    while len(calls) < 3 and time.monotonic() < end_s:
        first.poll(0.05)
    other.join()
    second.close()
    first.close()
    assert calls[:3] == [("assigned", 4), ("revoked", 4), ("assigned", 2)]
    assert threads == {"MainThread"}
    assert committed[0] == 1


def test_a_poll_keeps_its_timeout_while_the_group_rebalances(host: BrokerHost):
    slow = ConsumerConfig(rebalance_timeout_ms=30_000, heartbeat_interval_ms=20)
    with GroupConsumer(host, "readers", ["commits"], slow) as first:
        drain(first, 1, within_s=0.2)
        second = GroupConsumer(host, "readers", ["commits"], slow)
        started_s = time.monotonic()
        assert second.poll(0.1) == []  # the first one does not poll, so nobody gets on
        assert time.monotonic() - started_s < 10
        publish(host, *[b"x"] * 64)
        polling = threading.Thread(target=drain, args=(first, 1, 3), daemon=True)
        polling.start()
        assert drain(second, 1)
        second.close()
        polling.join()


def test_a_static_member_comes_back_without_a_rebalance(host: BrokerHost):
    config = ConsumerConfig(instance_id="one", session_timeout_ms=10_000)
    first = GroupConsumer(host, "readers", ["commits"], config)
    drain(first, 1, within_s=0.3)
    before = Admin(host).describe_group("readers").generation
    host.call(lambda _now: first._core.abandon())
    with GroupConsumer(host, "readers", ["commits"], config) as again:
        drain(again, 1, within_s=0.3)
        assert len(again.assignment) == 4
        assert Admin(host).describe_group("readers").generation == before


@pytest.mark.promise("A6")
def test_pause_seek_and_reset(host: BrokerHost):
    publish(host, b"a", b"b", b"c", partition=1)
    with GroupConsumer(host, "readers", ["commits"]) as consumer:
        assert drain(consumer, 3) == [b"a", b"b", b"c"]
        consumer.pause([("commits", 1)])
        consumer.seek("commits", 1, 0)
        assert consumer.poll(0.05) == []
        consumer.resume([("commits", 1)])
        assert drain(consumer, 3) == [b"a", b"b", b"c"]
        far_ms = int(time.time() * 1_000) + 10**6
        one = [("commits", 1)]
        assert consumer.seek_to(Target("earliest"), one) == [Change("commits", 1, 3, 0, -3)]
        ahead = consumer.preview_seek(Target("latest"))
        assert [(each.partition, each.change) for each in ahead] == [(0, 0), (1, 3), (2, 0), (3, 0)]
        consumer.commit({("commits", 1): 2})
        for target, offset in (
            (Target("offset", offset=1), 1),
            (Target("shift-by", offset=1), 2),
            (Target("shift-by", offset=-9), 0),
            (Target("timestamp", timestamp_ms=far_ms), 3),
            (Target("group", group="readers"), 2),
        ):
            consumer.seek_to(target, one)
            assert consumer.position("commits", 1) == offset
        assert drain(consumer, 1) == [b"c"]
        with pytest.raises(BrokerError, match="does not own"):
            consumer.seek_to(Target("earliest"), [("commits", 9)])


def test_who_seeks_or_assigns_while_iterating_gets_nothing_that_was_fetched_before(host: BrokerHost):
    publish(host, b"a", b"b", b"c", partition=1)
    with GroupConsumer(host, "readers") as consumer:
        consumer.assign([("commits", 1)])
        messages = iter(consumer)
        assert next(messages).value == b"a"
        consumer.seek("commits", 1, 2)
        assert next(messages).value == b"c"
        consumer.seek("commits", 1, 0)
        assert next(messages).value == b"a"
        consumer.assign([("commits", 1)])
        assert next(messages).value == b"a"


def test_assign_needs_no_group_and_two_threads_may_not_poll_at_once(host: BrokerHost):
    publish(host, b"a", partition=2)
    consumer = GroupConsumer(host, "readers")
    with pytest.raises(BrokerError, match="subscribe or assign"):
        consumer.poll(0)
    consumer.assign([("commits", 2)])
    assert drain(consumer, 1) == [b"a"]
    polling = threading.Thread(target=consumer.poll, args=(30,))
    polling.start()
    while not consumer._busy.locked():
        time.sleep(0.001)
    with pytest.raises(BrokerError, match="another thread"):
        consumer.poll(0)
    publish(host, b"b", partition=2)
    polling.join()
    consumer.close()
    consumer.close()
    with pytest.raises(BrokerError) as refused:
        consumer.poll(0)
    assert refused.value.code is ErrorCode.CLOSED


def test_a_poll_waits_its_own_time_where_one_of_an_earlier_call_has_ended(host: BrokerHost):
    consumer = GroupConsumer(host, "readers")
    consumer.assign([("commits", 2)])
    consumer._polling = Reply()
    consumer._polling.resolve([])
    publishing = threading.Timer(0.01, publish, (host, b"a"), {"partition": 2})
    publishing.start()
    assert [message.value for message in consumer.poll(30)] == [b"a"]
    publishing.join()
    consumer.close()


def test_closing_from_another_thread_ends_an_iteration(host: BrokerHost):
    consumer = GroupConsumer(host, "readers", ["commits"])
    seen: list[StoredMessage] = []
    thread = threading.Thread(target=lambda: seen.extend(consumer))
    thread.start()
    publish(host, b"a")
    while not seen and thread.is_alive():
        time.sleep(0.001)
    consumer.close()
    thread.join(30)
    assert not thread.is_alive() and len(seen) == 1


def test_a_value_that_cannot_be_read_costs_only_itself(host: BrokerHost):
    class Upper(Middleware):
        def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage | None:
            return None if message.value == b'"hidden"' else message

    publish(host, b'{"n": 1}', b"{broken", b'"hidden"', b'{"n": 2}', partition=0)
    with GroupConsumer(host, "readers", ["commits"], serializer=JsonSerializer(), middleware=[Upper()]) as consumer:
        messages: list[StoredMessage] = []
        while len(messages) < 3:
            messages += consumer.poll(0.1)
        assert [consumer.value_of(messages[place]) for place in (0, 2)] == [{"n": 1}, {"n": 2}]
        with pytest.raises(BrokerError) as refused:
            consumer.value_of(messages[1])
        assert refused.value.code is ErrorCode.UNREADABLE
        assert consumer.key_of(messages[0]) is None


def test_at_most_once_who_stops_iterating_loses_only_what_was_in_hand(host: BrokerHost):
    publish(host, b"a", b"b", b"c", partition=0)
    config = ConsumerConfig(guarantee="at_most_once")
    with GroupConsumer(host, "readers", ["commits"], config) as consumer:
        assert next(iter(consumer)).value == b"a"
        assert consumer.committed("commits", 0) == 1
    with GroupConsumer(host, "readers", ["commits"], config) as consumer:
        assert drain(consumer, 2) == [b"b", b"c"]


@pytest.mark.promise("9")
def test_promise_9_at_most_once_a_commit_is_on_the_disk_before_the_message_is_out(tmp_path: Path):
    directory, killed = tmp_path / "broker", tmp_path / "killed"
    config = HostConfig(log=LogConfig(durability="file"), tick_ms=60_000)
    with BrokerHost(directory, config) as host:
        Admin(host).create_topic("commits")
        publish(host, b"a", b"b")
        with GroupConsumer(host, "readers", ["commits"], ConsumerConfig(guarantee="at_most_once")) as consumer:
            assert drain(consumer, 2) == [b"a", b"b"]
            shutil.copytree(directory, killed)  # the disk of a broker that is killed now
    with BrokerHost(killed, config) as host:
        assert [offset.committed for offset in Admin(host).lag("readers")] == [2]
