"""The consumer in the core, in virtual time: commits, seeks, pauses, patterns, deleted topics, damage."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.replies import Reply
from tests.broker_core.clients.world import EPOCH_MS, World


def values(messages: list[StoredMessage]) -> list[bytes | None]:
    return [message.value for message in messages]


def test_at_least_once_an_abandoned_consumers_messages_come_again():
    world = World(1)
    world.publish(b"a", b"b")
    first = world.consumer("one")
    assert values(world.do(first.poll())) == [b"a", b"b"]
    first.abandon()
    world.run(20)
    assert values(world.do(world.consumer("two").poll())) == [b"a", b"b"]


def test_at_most_once_commits_before_it_hands_out():
    world = World(1)
    world.publish(b"a", b"b")
    first = world.consumer("one", guarantee="at_most_once")
    assert values(world.do(first.poll())) == [b"a", b"b"]
    assert world.broker.groups.committed("readers", "commits", 0) == 2
    first.abandon()
    world.run(20)
    assert world.do(world.consumer("two").poll()) == []


def test_at_most_once_hands_out_nothing_that_it_could_not_commit():
    world = World(1)
    world.publish(b"a")
    first = world.consumer("one", guarantee="at_most_once", session_timeout_ms=1_000, heartbeat_interval_ms=300)
    world.do(first.poll())
    first.muted = True
    world.run(2)  # expelled, and it does not know
    world.publish(b"b")
    assert world.do(first.poll()) == []
    assert values(world.do(first.poll())) == [b"b"]


def test_auto_commit_takes_what_earlier_polls_gave_and_only_when_it_is_time():
    world = World(1)
    reader = world.consumer(auto_commit_interval_ms=1_000)
    world.publish(b"a")
    world.do(reader.poll())
    world.run(0.5)
    world.do(reader.poll(0))
    assert world.broker.groups.committed("readers", "commits", 0) is None
    world.run(0.6)
    world.publish(b"b")
    assert values(world.do(reader.poll(0))) == [b"b"]
    assert world.broker.groups.committed("readers", "commits", 0) == 1


def test_an_explicit_commit_takes_what_is_in_the_applications_hands_too():
    world = World(1)
    world.publish(b"a", b"b", b"c")
    reader = world.consumer()
    found = world.do(reader.poll(hand_out=False))
    reader.hand(found[:2])
    reader.commit()
    assert world.broker.groups.committed("readers", "commits", 0) is None
    reader.commit_handed()
    assert world.broker.groups.committed("readers", "commits", 0) == 2


def test_seek_moves_the_position_and_what_is_committed_next():
    world = World(1)
    world.publish(b"a", b"b", b"c", b"d")
    reader = world.consumer()
    world.do(reader.poll())
    reader.seek("commits", 0, 1)
    assert values(world.do(reader.poll(max_messages=1))) == [b"b"]
    reader.commit_handed()
    assert world.broker.groups.committed("readers", "commits", 0) == 2
    with pytest.raises(BrokerError, match="does not own"):
        reader.seek("commits", 9, 0)


def test_a_seek_ends_a_poll_that_waits():
    world = World(1)
    world.publish(b"a")
    reader = world.consumer()
    world.do(reader.poll())
    waiting = world.loop.spawn(reader.poll(10_000), "poll")
    world.run(1)
    reader.seek("commits", 0, 0)
    world.run()
    assert waiting.finished.result() == []
    assert values(world.do(reader.poll(0))) == [b"a"]


def test_a_paused_partition_gives_nothing_until_it_is_resumed():
    world = World(2)
    reader = world.consumer()
    world.do(reader.poll(0))
    for partition, value in ((0, b"a"), (1, b"b")):
        world.broker.publish_batch(world.now_ns, "commits", partition, [Message(value)], client="test")
    reader.paused.add(("commits", 0))
    assert values(world.do(reader.poll(0))) == [b"b"]
    reader.paused.clear()
    assert values(world.do(reader.poll(0))) == [b"a"]


def test_a_pattern_follows_topics_as_they_come_and_go():
    world = World(1)
    reader = world.consumer()
    reader.subscribe(pattern="(commits|issues).*")
    world.do(reader.poll(0))
    world.broker.create_topic(world.now_ns, "issues-closed", 1)
    world.broker.create_topic(world.now_ns, "other", 1)
    world.publish(b"i", topic="issues-closed")
    world.publish(b"o", topic="other")
    assert values(world.do(reader.poll())) == [b"i"]
    assert reader.topics == ("commits", "issues-closed")
    world.broker.delete_topic(world.now_ns, "issues-closed")
    world.publish(b"c")
    assert values(world.do(reader.poll())) == [b"c"]
    assert reader.assignment == (("commits", 0),)
    for pattern in ("(", "(?=commits).*", "(a)\\1"):
        with pytest.raises(BrokerError, match="pattern") as caught:
            reader.subscribe(pattern=pattern)
        assert caught.value.code is ErrorCode.INVALID_REQUEST and "look-around" in str(caught.value)


def test_a_pattern_takes_time_that_is_linear_in_the_names():
    world = World(1)
    world.broker.create_topic(0, "a" * 200 + "_", 1)
    reader = world.consumer()
    reader.subscribe(pattern="(a+)+$")  # Python's own expressions would need longer than the universe has
    assert world.do(reader.poll(0)) == [] and reader.topics == ()


def test_a_topic_that_is_deleted_under_a_reader_leaves_it_the_others():
    world = World(1)
    world.broker.create_topic(0, "issues", 1)
    reader = world.consumer("reader", "readers", "commits", "issues")
    world.do(reader.poll(0))
    world.broker.delete_topic(world.now_ns, "issues")
    world.publish(b"c")
    found: list[bytes | None] = []
    for _ in range(3):
        found += values(world.do(reader.poll(100)))
    assert found == [b"c"] and reader.assignment == (("commits", 0),)


def test_assign_reads_without_a_group_and_commits_where_nobody_else_does():
    world = World(2)
    world.publish(b"a", b"b", key=b"k")
    partition = world.broker.partition_for("commits", Message(b"", b"k"))
    reader = world.consumer()
    reader.assign([("commits", partition)])
    assert values(world.do(reader.poll())) == [b"a", b"b"]
    reader.commit_handed()
    assert world.broker.groups.committed("readers", "commits", partition) == 2
    assert world.kinds(EventKind.MEMBER_JOINED) == []
    with pytest.raises(BrokerError):
        reader.assign([("nowhere", 0)])


def test_a_position_behind_the_end_of_the_log_goes_where_the_configuration_says():
    world = World(1)
    world.publish(b"a", b"b")
    for reset, expected in (("earliest", [b"a", b"b"]), ("latest", [])):
        reader = world.consumer(f"reader-{reset}", f"group-{reset}", auto_offset_reset=reset)
        world.do(reader.poll(0))
        reader.seek("commits", 0, 99)
        world.do(reader.poll(0))
        assert values(world.do(reader.poll(0))) == expected
    strict = world.consumer("strict", "readers", auto_offset_reset="none")
    with pytest.raises(BrokerError) as refused:
        world.do(strict.poll(0))
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_partition_that_cannot_be_read_holds_up_no_other():
    world = World(2)
    reader = world.consumer()
    world.do(reader.poll(0))
    for partition in (0, 1):
        world.broker.publish_batch(world.now_ns, "commits", partition, [Message(b"%d" % partition)], client="test")
    broken = world.broker.partition("commits", 0)
    intact_read = broken.read

    def damaged(offset: int, **limits: int) -> list[StoredMessage]:
        raise BrokerError(ErrorCode.DAMAGED, "commits-0")

    broken.read = damaged  # type: ignore[method-assign]
    assert values(world.do(reader.poll(0))) == [b"1"]
    with pytest.raises(BrokerError, match="commits-0"):
        world.do(reader.poll(0))
    # A publisher does not suffer from what a reader that waits cannot read.
    waiting = world.loop.spawn(reader.poll(1_000), "poll")
    broken.read = intact_read  # type: ignore[method-assign]
    world.run()
    assert values(waiting.finished.result()) == [b"0"]


def test_a_consumer_that_does_not_poll_loses_its_place_and_is_told_with_the_next_poll():
    world = World(1)
    lost: list[object] = []
    reader = world.consumer(max_poll_interval_ms=5_000)
    reader._on_lost = lost.extend
    world.do(reader.poll(0))
    world.run(4)
    world.do(reader.poll(0))
    world.run(4)
    assert len(reader.assignment) == 1
    world.run(8)
    assert not reader.assignment and not lost
    world.do(reader.poll(0))
    assert lost == [("commits", 0)] and reader.assignment == (("commits", 0),)


def test_a_listener_that_needs_time_is_waited_for_before_the_partitions_go():
    world = World(2)
    asked: list[object] = []
    first = world.consumer("one")
    world.do(first.poll(0))
    answer = world.loop.wait_ns(10**9)

    def needs_time(partitions: Sequence[tuple[str, int]]) -> Reply[None]:
        asked.append(partitions)
        return answer

    first._on_revoked = needs_time
    second = world.loop.spawn(world.consumer("two").poll(0), "two")
    world.run(3.5)  # the heartbeat says that the group rebalances
    poll = world.loop.spawn(first.poll(0), "poll")
    world.run()
    assert len(asked) == 1 and answer.done and poll.finished.done and second.finished.done


def test_seek_by_time_finds_the_first_message_that_is_not_older():
    world = World(1)
    world.publish(b"a")
    world.run(10)
    world.publish(b"b")
    assert world.broker.offset_at("commits", 0, EPOCH_MS + 1) == 1
    assert world.broker.offset_at("commits", 0, EPOCH_MS + 10_001) is None


def test_a24_a_message_whose_time_to_live_is_over_is_not_handed_out():
    world = World(1)
    world.broker.publish(0, "commits", Message(b"short", ttl_ms=1_000), client="test")
    world.broker.publish(0, "commits", Message(b"long", ttl_ms=60_000), client="test")
    world.publish(b"for ever")
    world.run(1)
    reader = world.consumer()
    assert values(world.do(reader.poll())) == [b"long", b"for ever"]
    reader.commit_handed()
    assert world.broker.groups.committed("readers", "commits", 0) == 3


def test_a17_readers_that_are_behind_are_named_by_lag_and_by_time():
    world = World(1)
    world.broker.create_queue(0, "jobs", QueueConfig())
    reader = world.consumer()
    world.publish(b"a")
    world.publish(b"j", topic="jobs")
    world.do(reader.poll())
    reader.commit_handed()
    world.run(2)
    world.publish(b"b", b"c", b"d")
    slow = world.broker.slow_readers(world.now_ns, 2, None)
    assert [(each.reader, each.client, each.lag) for each in slow] == [("readers", "reader", 3)]
    old = world.broker.slow_readers(world.now_ns, None, 10**9)
    assert [(each.reader, each.lag_ns >= 2 * 10**9) for each in old] == [("jobs", True)]
    assert world.broker.slow_readers(world.now_ns, 3, None) == ()


def test_who_was_thrown_out_cannot_commit_what_it_was_given_and_is_told():
    world = World(1)
    world.publish(b"a", b"b")
    reader = world.consumer(max_poll_interval_ms=5_000)
    assert values(world.do(reader.poll())) == [b"a", b"b"]
    world.run(12)
    for _ in range(2):
        with pytest.raises(BrokerError) as caught:
            reader.commit_handed()
        assert caught.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(BrokerError) as caught:
        reader.commit_offsets({("commits", 0): 2})
    assert caught.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.broker.groups.committed("readers", "commits", 0) is None
    assert values(world.do(reader.poll())) == [b"a", b"b"]
    reader.commit_handed()
    assert world.broker.groups.committed("readers", "commits", 0) == 2


def test_what_is_no_offset_is_refused_at_once():
    world = World(1)
    reader = world.consumer()
    world.do(reader.poll(0))
    for wrong in ({("commits", 0): 1.5}, {("commits", 0): "a"}, {("commits", 0): None}, {"commits": 1}):
        with pytest.raises(BrokerError) as caught:
            reader.commit_offsets(wrong)  # type: ignore[arg-type]
        assert caught.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(BrokerError) as caught:
        reader.seek("commits", 0, 1.5)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.INVALID_REQUEST and reader.positions == {("commits", 0): 0}
    reader.commit_handed()


def test_a_seek_that_came_after_the_fetch_outlives_what_is_taken_back():
    world = World(1)
    world.publish(b"a", b"b", b"c", b"d")
    reader = world.consumer()
    world.do(reader.poll(hand_out=False))
    reader.seek("commits", 0, 3)
    reader.take_back({("commits", 0): 1})
    assert reader.positions == {("commits", 0): 3}
