"""The consumer in the core, in virtual time: commits, seeks, pauses, patterns, deleted topics, damage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.replies import Reply
from tests.broker_core.clients.virtual_broker import EPOCH_MS, VirtualBroker


def values(messages: list[StoredMessage]) -> list[bytes | None]:
    return [message.value for message in messages]


@pytest.mark.promise("8")
def test_at_least_once_an_abandoned_consumers_messages_come_again():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b")
    first = virtual.consumer("one")
    assert values(virtual.do(first.poll())) == [b"a", b"b"]
    first.abandon()
    virtual.run(20)
    assert values(virtual.do(virtual.consumer("two").poll())) == [b"a", b"b"]


@pytest.mark.promise("9")
def test_at_most_once_commits_before_it_hands_out():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b")
    first = virtual.consumer("one", guarantee="at_most_once")
    assert values(virtual.do(first.poll())) == [b"a", b"b"]
    assert virtual.broker.groups.committed("readers", "commits", 0) == 2
    first.abandon()
    virtual.run(20)
    assert virtual.do(virtual.consumer("two").poll()) == []


def test_at_most_once_hands_out_nothing_that_it_could_not_commit():
    virtual = VirtualBroker(1)
    virtual.publish(b"a")
    first = virtual.consumer("one", guarantee="at_most_once", session_timeout_ms=1_000, heartbeat_interval_ms=300)
    virtual.do(first.poll())
    first.member.muted = True
    virtual.run(2)  # expelled, and it does not know
    virtual.publish(b"b")
    assert virtual.do(first.poll()) == []
    assert values(virtual.do(first.poll())) == [b"b"]


@pytest.mark.promise("A5")
def test_auto_commit_takes_what_earlier_polls_gave_and_only_when_it_is_time():
    virtual = VirtualBroker(1)
    reader = virtual.consumer(auto_commit_interval_ms=1_000)
    virtual.publish(b"a")
    virtual.do(reader.poll())
    virtual.run(0.5)
    virtual.do(reader.poll(0))
    assert virtual.broker.groups.committed("readers", "commits", 0) is None
    virtual.run(0.6)
    virtual.publish(b"b")
    assert values(virtual.do(reader.poll(0))) == [b"b"]
    assert virtual.broker.groups.committed("readers", "commits", 0) == 1
    for later_s, committed in ((0.5, 1), (0.6, 3)):
        virtual.run(later_s)
        virtual.publish(b"c")
        assert values(virtual.do(reader.poll(0))) == [b"c"]
        assert virtual.broker.groups.committed("readers", "commits", 0) == committed


def test_who_seeks_back_and_closes_commits_where_it_would_have_gone_on():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c")
    reader = virtual.consumer()
    for _ in range(2):
        virtual.do(reader.poll(0))
    reader.seek("commits", 0, 1)
    reader.close()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 1


def test_what_is_not_owned_any_more_is_not_handed_out_nor_committed():
    virtual = VirtualBroker(1)
    virtual.publish(b"a")
    reader = virtual.consumer()
    (found,) = virtual.do(reader.poll(hand_out=False))
    other = msgspec.structs.replace(found, partition=1, offset=7)
    assert reader.hand([other, found]) == [found]
    reader.commit_handed()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 1


def test_an_explicit_commit_takes_what_is_in_the_applications_hands_too():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c")
    reader = virtual.consumer()
    found = virtual.do(reader.poll(hand_out=False))
    reader.hand(found[:2])
    reader.commit()
    assert virtual.broker.groups.committed("readers", "commits", 0) is None
    reader.commit_handed()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 2


def test_seek_moves_the_position_and_what_is_committed_next():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c", b"d")
    reader = virtual.consumer()
    virtual.do(reader.poll())
    reader.seek("commits", 0, 1)
    assert values(virtual.do(reader.poll(max_messages=1))) == [b"b"]
    reader.commit_handed()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 2
    with pytest.raises(BrokerError, match="does not own"):
        reader.seek("commits", 9, 0)


def test_a_seek_ends_a_poll_that_waits():
    virtual = VirtualBroker(1)
    virtual.publish(b"a")
    reader = virtual.consumer()
    virtual.do(reader.poll())
    waiting = virtual.loop.spawn(reader.poll(10_000), "poll")
    virtual.run(1)
    reader.seek("commits", 0, 0)
    virtual.run()
    assert waiting.finished.result() == []
    assert values(virtual.do(reader.poll(0))) == [b"a"]


def test_a_paused_partition_gives_nothing_until_it_is_resumed():
    virtual = VirtualBroker(2)
    reader = virtual.consumer()
    virtual.do(reader.poll(0))
    for partition, value in ((0, b"a"), (1, b"b")):
        virtual.broker.publishing.publish_batch(virtual.now_ns, "commits", partition, [Message(value)], client="test")
    reader.paused.add(("commits", 0))
    assert values(virtual.do(reader.poll(0))) == [b"b"]
    reader.paused.clear()
    assert values(virtual.do(reader.poll(0))) == [b"a"]


def test_a_pattern_follows_topics_as_they_come_and_go():
    virtual = VirtualBroker(1)
    reader = virtual.consumer()
    reader.subscribe(pattern="(commits|issues).*")
    virtual.do(reader.poll(0))
    virtual.broker.topics.create(virtual.now_ns, "issues-closed", 1)
    virtual.broker.topics.create(virtual.now_ns, "other", 1)
    virtual.publish(b"i", topic="issues-closed")
    virtual.publish(b"o", topic="other")
    assert values(virtual.do(reader.poll())) == [b"i"]
    assert reader.topics == ("commits", "issues-closed")
    virtual.broker.topics.delete(virtual.now_ns, "issues-closed")
    virtual.publish(b"c")
    assert values(virtual.do(reader.poll())) == [b"c"]
    assert reader.assignment == (("commits", 0),)
    for pattern in ("(", "(?=commits).*", "(a)\\1"):
        with pytest.raises(BrokerError, match="pattern") as caught:
            reader.subscribe(pattern=pattern)
        assert caught.value.code is ErrorCode.INVALID_REQUEST and "look-around" in str(caught.value)


def test_a_pattern_takes_time_that_is_linear_in_the_names():
    virtual = VirtualBroker(1)
    virtual.broker.topics.create(0, "a" * 200 + "_", 1)
    reader = virtual.consumer()
    reader.subscribe(pattern="(a+)+$")  # Python's own expressions would need longer than the universe has
    assert virtual.do(reader.poll(0)) == [] and reader.topics == ()


def test_a_topic_that_is_deleted_under_a_reader_leaves_it_the_others():
    virtual = VirtualBroker(1)
    virtual.broker.topics.create(0, "issues", 1)
    reader = virtual.consumer("reader", "readers", "commits", "issues")
    virtual.do(reader.poll(0))
    virtual.broker.topics.delete(virtual.now_ns, "issues")
    virtual.publish(b"c")
    found: list[bytes | None] = []
    for _ in range(3):
        found += values(virtual.do(reader.poll(100)))
    assert found == [b"c"] and reader.assignment == (("commits", 0),)


def test_assign_reads_without_a_group_and_commits_where_nobody_else_does():
    virtual = VirtualBroker(2)
    virtual.publish(b"a", b"b", key=b"k")
    partition = virtual.broker.logs.partition_for("commits", Message(b"", b"k"))
    reader = virtual.consumer()
    reader.assign([("commits", partition)])
    assert values(virtual.do(reader.poll())) == [b"a", b"b"]
    reader.commit_handed()
    assert virtual.broker.groups.committed("readers", "commits", partition) == 2
    assert virtual.kinds(EventKind.MEMBER_JOINED) == []
    with pytest.raises(BrokerError):
        reader.assign([("nowhere", 0)])


def test_a_position_behind_the_end_of_the_log_goes_where_the_configuration_says():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b")
    for reset, expected in (("earliest", [b"a", b"b"]), ("latest", [])):
        reader = virtual.consumer(f"reader-{reset}", f"group-{reset}", auto_offset_reset=reset)
        virtual.do(reader.poll(0))
        reader.seek("commits", 0, 99)
        virtual.do(reader.poll(0))
        assert values(virtual.do(reader.poll(0))) == expected
    strict = virtual.consumer("strict", "readers", auto_offset_reset="none")
    with pytest.raises(BrokerError) as refused:
        virtual.do(strict.poll(0))
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_partition_that_cannot_be_read_holds_up_no_other():
    virtual = VirtualBroker(2)
    reader = virtual.consumer()
    virtual.do(reader.poll(0))
    for partition in (0, 1):
        virtual.broker.publishing.publish_batch(
            virtual.now_ns, "commits", partition, [Message(b"%d" % partition)], client="test"
        )
    broken = virtual.broker.logs.partition("commits", 0)
    intact_read = broken.read

    def damaged(offset: int, **limits: Any) -> list[StoredMessage]:
        raise BrokerError(ErrorCode.DAMAGED, "commits-0")

    broken.read = damaged  # type: ignore[method-assign]
    assert values(virtual.do(reader.poll(0))) == [b"1"]
    with pytest.raises(BrokerError, match="commits-0"):
        virtual.do(reader.poll(0))
    # A publisher does not suffer from what a reader that waits cannot read.
    waiting = virtual.loop.spawn(reader.poll(1_000), "poll")
    broken.read = intact_read  # type: ignore[method-assign]
    virtual.run()
    assert values(waiting.finished.result()) == [b"0"]


def test_a_consumer_that_does_not_poll_loses_its_place_and_is_told_with_the_next_poll():
    virtual = VirtualBroker(1)
    lost: list[object] = []
    reader = virtual.consumer(max_poll_interval_ms=5_000)
    reader._on_lost = lost.extend
    virtual.do(reader.poll(0))
    virtual.run(4)
    virtual.do(reader.poll(0))
    virtual.run(4)
    assert len(reader.assignment) == 1
    virtual.run(8)
    assert not reader.assignment and not lost
    virtual.do(reader.poll(0))
    assert lost == [("commits", 0)] and reader.assignment == (("commits", 0),)


@pytest.mark.promise("A3")
def test_a_listener_that_needs_time_is_waited_for_before_the_partitions_go():
    virtual = VirtualBroker(2)
    asked: list[object] = []
    first = virtual.consumer("one")
    virtual.do(first.poll(0))
    answer = virtual.loop.wait_ns(10**9)

    def needs_time(partitions: Sequence[tuple[str, int]]) -> Reply[None]:
        asked.append(partitions)
        return answer

    first._on_revoked = needs_time
    second = virtual.loop.spawn(virtual.consumer("two").poll(0), "two")
    virtual.run(3.5)  # the heartbeat says that the group rebalances
    poll = virtual.loop.spawn(first.poll(0), "poll")
    virtual.run()
    assert len(asked) == 1 and answer.done and poll.finished.done and second.finished.done


def test_seek_by_time_finds_the_first_message_that_is_not_older():
    virtual = VirtualBroker(1)
    virtual.publish(b"a")
    virtual.run(10)
    virtual.publish(b"b")
    assert virtual.broker.logs.offset_at("commits", 0, EPOCH_MS + 1) == 1
    assert virtual.broker.logs.offset_at("commits", 0, EPOCH_MS + 10_001) is None


@pytest.mark.promise("A24")
def test_a24_a_message_whose_time_to_live_is_over_is_not_handed_out():
    virtual = VirtualBroker(1)
    virtual.broker.publishing.publish(0, "commits", Message(b"short", ttl_ms=1_000), client="test")
    virtual.broker.publishing.publish(0, "commits", Message(b"long", ttl_ms=60_000), client="test")
    virtual.publish(b"for ever")
    virtual.run(1)
    reader = virtual.consumer()
    assert values(virtual.do(reader.poll())) == [b"long", b"for ever"]
    reader.commit_handed()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 3


@pytest.mark.promise("A17")
def test_a17_readers_that_are_behind_are_named_by_lag_and_by_time():
    virtual = VirtualBroker(1)
    virtual.broker.queues.create(0, "jobs", QueueConfig())
    reader = virtual.consumer()
    virtual.publish(b"a")
    virtual.publish(b"j", topic="jobs")
    virtual.do(reader.poll())
    reader.commit_handed()
    virtual.run(2)
    virtual.publish(b"b", b"c", b"d")
    slow = virtual.broker.views.slow_readers(virtual.now_ns, 2, None)
    assert [(each.reader, each.client, each.lag) for each in slow] == [("readers", "reader", 3)]
    old = virtual.broker.views.slow_readers(virtual.now_ns, None, 10**9)
    assert [(each.reader, each.lag_ns >= 2 * 10**9) for each in old] == [("jobs", True)]
    assert virtual.broker.views.slow_readers(virtual.now_ns, 3, None) == []


def test_who_was_thrown_out_cannot_commit_what_it_was_given_and_is_told():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b")
    reader = virtual.consumer(max_poll_interval_ms=5_000)
    assert values(virtual.do(reader.poll())) == [b"a", b"b"]
    virtual.run(12)
    for _ in range(2):
        with pytest.raises(BrokerError) as caught:
            reader.commit_handed()
        assert caught.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(BrokerError) as caught:
        reader.commit_offsets({("commits", 0): 2})
    assert caught.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    assert virtual.broker.groups.committed("readers", "commits", 0) is None
    assert values(virtual.do(reader.poll())) == [b"a", b"b"]
    reader.commit_handed()
    assert virtual.broker.groups.committed("readers", "commits", 0) == 2


def test_a_member_on_the_bench_joins_again_once_it_is_released():
    virtual = VirtualBroker(1)
    reader = virtual.consumer("one", heartbeat_interval_ms=300)
    virtual.do(reader.poll(0))
    virtual.broker.held.hold(virtual.loop.now_ns, "one", "readers")
    virtual.run(1)  # its heartbeat is told
    virtual.publish(b"a")
    polled = virtual.loop.spawn(reader.poll(timeout_ms=60_000), "test").finished
    virtual.run(30)
    assert not polled.done and not virtual.broker.groups.clients("readers")
    virtual.broker.held.release(virtual.loop.now_ns, "one", "readers")
    virtual.run(5)
    assert values(polled.result()) == [b"a"] and virtual.broker.groups.clients("readers")


def test_what_is_no_offset_is_refused_at_once():
    virtual = VirtualBroker(1)
    reader = virtual.consumer()
    virtual.do(reader.poll(0))
    for wrong in ({("commits", 0): 1.5}, {("commits", 0): "a"}, {("commits", 0): None}, {"commits": 1}):
        with pytest.raises(BrokerError) as caught:
            reader.commit_offsets(wrong)  # type: ignore[arg-type]
        assert caught.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(BrokerError) as caught:
        reader.seek("commits", 0, 1.5)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.INVALID_REQUEST and reader.positions == {("commits", 0): 0}
    reader.commit_handed()


def test_a_seek_that_came_after_the_fetch_outlives_what_is_taken_back():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c", b"d")
    reader = virtual.consumer()
    virtual.do(reader.poll(hand_out=False))
    reader.seek("commits", 0, 3)
    reader.take_back({("commits", 0): 1})
    assert reader.positions == {("commits", 0): 3}
