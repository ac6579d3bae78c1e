"""Group commit as a law: nobody is answered too early, nobody is forgotten, a failure reaches all it concerns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.config import LogConfig
from broker_core.log.group_commit import GroupCommit, Round
from broker_core.log.partition_log import PartitionLog
from broker_core.log.producers import MAX_EPOCH, ProducerIds, ProducerIdsState
from broker_core.messages import Message
from broker_core.replies import Reply


def logs(count: int, durability: str = "fsync") -> list[PartitionLog]:
    config = LogConfig(durability=durability)  # type: ignore[arg-type]
    return [
        PartitionLog(MemoryFiles(), f"t-{number}", "t", number, config=config, epoch_ms=0) for number in range(count)
    ]


def run(done: Round) -> None:
    for _, ticket in done:
        ticket.run()


@given(st.lists(st.sampled_from(["append 0", "append 1", "begin", "end"]), max_size=40))
def test_nobody_is_answered_before_the_disk_has_it_and_everybody_in_the_end(steps: list[str]):
    two, commits = logs(2), GroupCommit()
    waiting: list[tuple[PartitionLog, int, Reply[None]]] = []
    rounds: list[Round] = []
    for step in steps:
        if step.startswith("append"):
            log = two[int(step[-1])]
            log.append_batch(0, [Message(b"x")])
            waiting.append((log, log.end_offset, commits.durable(log, log.end_offset)))
        elif step == "begin":
            rounds.append(commits.begin())
            run(rounds[-1])
        elif rounds:
            commits.end(rounds.pop(0))
        for log, end, reply in waiting:
            assert reply.done == (log.high_watermark >= end)
    for done in (*rounds, commits.begin()):
        run(done)
        commits.end(done)
    assert all(reply.done and reply.error is None for _, _, reply in waiting) and not commits.wanted


def test_who_waits_is_answered_also_where_somebody_else_has_synced_the_log():
    (log,), commits = logs(1), GroupCommit()
    log.append_batch(0, [Message(b"x")])
    reply = commits.durable(log, 1)
    log.sync()
    assert not reply.done
    assert commits.begin() == []
    assert reply.done and reply.error is None and not commits.wanted


def test_where_nothing_is_promised_nobody_waits():
    for durability in ("memory", "file"):
        (log,) = logs(1, durability)
        log.append_batch(0, [Message(b"x")])
        commits = GroupCommit()
        assert commits.durable(log, 1).done and not commits.wanted
        commits.note([log])
        assert not commits.wanted


def test_a_failed_sync_reaches_all_who_wait_now_and_later():
    (log,), commits = logs(1), GroupCommit()
    log.append_batch(0, [Message(b"x")])
    first = commits.durable(log, 1)
    done = commits.begin()
    done[0][1].error = BrokerError(ErrorCode.STORAGE_ERROR, "EIO")
    assert commits.end(done) == []
    later = commits.durable(log, 1)
    assert commits.begin() == []
    for reply in (first, later):
        assert isinstance(reply.error, BrokerError) and reply.error.code is ErrorCode.STORAGE_ERROR


def test_a_log_that_goes_away_takes_its_waiters_along():
    (log,), commits = logs(1), GroupCommit()
    log.append_batch(0, [Message(b"x")])
    reply = commits.durable(log, 1)
    commits.forget(log, BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "t was deleted"))
    assert reply.error is not None and not commits.wanted


def test_producer_ids_never_come_twice_and_a_name_counts_up_its_epoch():
    ids = ProducerIds()
    assert [ids.register(), ids.register("a"), ids.register(), ids.register("a")] == [(0, 0), (1, 0), (2, 0), (1, 1)]
    again = ProducerIds()
    again.restore(ids.state())
    assert again.register("a") == (1, 2)
    assert again.register()[0] >= 1_000  # those that were handed out after the state was kept are skipped
    worn = ProducerIds()
    worn.restore(ProducerIdsState(5, {"a": (1, MAX_EPOCH)}))
    assert worn.register("a") == (5, 0)


@pytest.mark.parametrize("name", ["", "a"])
def test_a_state_is_a_plain_value(name: str):
    ids = ProducerIds()
    state = ids.state()
    ids.register(name)
    assert state == ProducerIds().state()
