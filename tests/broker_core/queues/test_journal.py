"""The journal of deliveries: a queue that dies between two saved states knows every attempt."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventStream
from broker_core.files import MemoryFiles
from broker_core.log.config import LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message
from broker_core.queues import journal
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.journal import Journal, unknown_to
from broker_core.queues.lease import Held
from broker_core.queues.queue import Queue
from broker_core.queues.queue_state import QueueState
from broker_core.timers import Timers
from tests.long_form import examples

CONFIG = QueueConfig(lease_ms=50, max_attempts=3, priorities=2, retry=RetryPolicy("fixed", 20))


class Life:
    """A queue on files that stay when it dies; every life reads the same log, bin and journal."""

    def __init__(self, files: MemoryFiles, durability: str = "file", **config: Any) -> None:
        self.timers, self.now_ns = Timers(), 0
        self.told: list[str] = []
        log = LogConfig(durability=durability)  # type: ignore[arg-type]
        self.syncs = GroupCommit()
        self.log = TopicLog(files, "jobs", 2, config=log, epoch_ms=0)
        letters = TopicLog(files, "jobs.dlq", 1, config=log, epoch_ms=0)
        self.journal = Journal(files, self.syncs, log, 0, lambda _now, sentence: self.told.append(sentence))
        events = EventStream()
        self.letters = DeadLetters(letters, events)
        settings = QueueConfig(**{**{name: getattr(CONFIG, name) for name in CONFIG.__struct_fields__}, **config})
        self.queue = Queue("jobs", self.log, self.letters, events, self.timers, settings, journal=self.journal)

    def publish(self, level: int, count: int = 1) -> None:
        self.log.partitions[level].append_batch(self.now_ns, [Message(b"x")] * count)
        self.queue.appended(self.now_ns)

    def until(self, now_ms: int) -> None:
        end_ns = now_ms * NS_PER_MS
        while (due_ns := self.timers.next_deadline_ns()) is not None and due_ns <= end_ns:
            self.now_ns = max(self.now_ns, due_ns)
            self.timers.fire_next(due_ns)
        self.now_ns = max(self.now_ns, end_ns)

    def state(self) -> QueueState:
        """As a host saves it."""
        return msgspec.structs.replace(self.queue.state(self.now_ns), journal_offset=self.journal.end_offset)

    def picture(self) -> list[tuple[Any, ...]]:
        """What is open, wherever it stands: what was never handed out has had no attempt."""
        found = []
        for level, table in enumerate(self.queue.levels.tables):
            for first, end, span in table.index.runs():
                told = tuple(attempt.outcome for attempt in span.lease.history)
                lease, state = span.lease, int(span.state)
                found += [(level, at, state, lease.attempts, lease.holder, told) for at in range(first, end)]
            found += [(level, at, 0, 0, "", ()) for at in range(table.next_offset, table.end_offset)]
        return sorted(found)


def reborn(files: MemoryFiles, state: QueueState | None, now_ns: int = 0, durability: str = "file") -> Life:
    life = Life(files, durability)
    life.now_ns = now_ns
    if state is not None:
        life.queue.restore(now_ns, state)
    told = life.journal.entries().get("jobs", [])
    life.queue.replay(now_ns, unknown_to(told, 0 if state is None else state.journal_offset))
    return life


STEP = st.tuples(
    st.sampled_from(["publish", "take", "ack", "nack", "reject", "release", "extend", "wait", "save"]),
    st.integers(0, 5),
)


@pytest.mark.promise("13")
@settings(max_examples=examples(150), deadline=None)
@given(steps=st.lists(STEP, max_size=40), durable=st.booleans())
@example(steps=[("publish", 4), ("take", 2), ("ack", 0), ("ack", 1)], durable=False)  # the one between stays
def test_whenever_it_dies_it_goes_on_where_it_was(steps: list[tuple[str, int]], durable: bool):
    files = MemoryFiles()
    life = Life(files, durable_acks=durable)
    life.queue.begin(0)
    state: QueueState | None = None
    held: list[Any] = []
    for what, number in steps:
        now_ns, queue = life.now_ns, life.queue
        if what == "publish":
            life.publish(number % 2, 1 + number)
        elif what == "take":
            held += queue.take(now_ns, f"w{number % 2}", max_messages=1 + number).result()
        elif what == "wait":
            life.until(now_ns // NS_PER_MS + 15 * number)
        elif what == "save":
            state = life.state()
        elif held:
            lease = held.pop(number % len(held))
            try:
                match what:
                    case "ack":
                        queue.ack(now_ns, lease)
                    case "nack" | "reject":
                        queue.nack(now_ns, lease, "no", requeue=what == "nack")
                    case "release":
                        queue.release(now_ns, lease)
                    case "extend":
                        queue.extend(now_ns, lease, 70)
            except BrokerError as error:
                assert error.code is ErrorCode.INVALID_LEASE
    if not durable:
        life.publish(0)
        life.queue.take(life.now_ns, "last", max_messages=1)  # what was acknowledged is written with the next take
    after = reborn(files, state, life.now_ns)
    assert after.picture() == life.picture()
    assert after.queue.counts == life.queue.counts
    assert after.queue.size_bytes == life.queue.size_bytes


def test_a_poison_message_is_dead_at_its_last_attempt_though_nobody_saves_a_state():
    files = MemoryFiles()
    life = Life(files)
    life.publish(0)
    attempts = []
    for _ in range(5):
        attempts += [lease.attempt for lease in life.queue.take(life.now_ns, "w").result()]
        life = reborn(files, None, life.now_ns)
        life.until(life.now_ns // NS_PER_MS + 50)
    assert attempts == [1, 2, 3]
    assert [len(letter.attempts) for letter in life.letters.list()] == [3]


def test_a_released_attempt_does_not_count_after_a_death_either():
    files = MemoryFiles()
    life = Life(files)
    life.publish(0)
    for _ in range(5):
        [lease] = life.queue.take(0, "w").result()
        assert lease.attempt == 1
        life.queue.release(0, Held(0, 0, "w"))
        life = reborn(files, None)


@pytest.mark.promise("34")
def test_what_is_synced_is_handed_out_after_its_attempt_is_durable():
    files = MemoryFiles()
    life = Life(files, "fsync")
    life.publish(0)
    life.log.partitions[0].sync()
    life.queue.appended(0)
    reply = life.queue.take(0, "w")
    assert not reply.done and life.queue.in_flight == 1
    rounds = life.syncs.begin()
    for _, ticket in rounds:
        ticket.run()
    life.syncs.end(rounds)
    [lease] = reply.result()
    acked = life.queue.ack(0, Held(0, 0, "w", lease.attempt), durable=True)
    assert not acked.done
    rounds = life.syncs.begin()
    for _, ticket in rounds:
        ticket.run()
    life.syncs.end(rounds)
    assert acked.done and reborn(files, None, durability="fsync").picture() == []


def test_another_queue_of_the_same_name_begins_with_nothing():
    files = MemoryFiles()
    life = Life(files)
    life.publish(0, 3)
    life.queue.take(0, "w", max_messages=2).result()
    life.queue.begin(0)
    assert {row[3] for row in reborn(files, None).picture()} == {0}


def test_where_the_journal_cannot_be_written_reading_goes_on_and_it_is_said_once(monkeypatch: Any):
    life = Life(MemoryFiles())
    life.publish(0, 3)
    life.queue.take(0, "w").result()
    assert life.journal.log is not None
    life.journal.log.read_only = "it is full"
    assert [lease.offset for lease in life.queue.take(0, "w", max_messages=2).result()] == [1, 2]
    life.queue.release(0, Held(0, 1, "w"))
    assert len(life.told) == 1 and "it is full" in life.told[0]
    life.queue.ack(0, Held(0, 0, "w"))
    try:
        life.queue.ack(0, Held(0, 2, "w"), durable=True)
    except BrokerError as error:
        assert error.code is ErrorCode.STORAGE_ERROR and life.queue.in_flight == 1
    else:
        raise AssertionError


def test_what_saved_states_know_goes_with_its_segments_and_nothing_else(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journal, "_SEGMENT_BYTES", 4_000)
    life = Life(MemoryFiles())
    life.publish(0, 200)
    for _ in range(100):
        life.queue.take(0, "worker-with-a-rather-long-name").result()
    known = life.state().journal_offset
    for _ in range(100):
        life.queue.take(0, "worker-with-a-rather-long-name").result()
    log = life.journal.log
    assert log is not None and log.size_bytes > 8_000
    assert len(life.journal.entries(known)["jobs"]) == 100
    life.journal.forget_before(known)
    assert 0 < log.start_offset <= known
    assert len(life.journal.entries()["jobs"]) >= 100
    life.journal.forget_before(life.state().journal_offset)
    assert log.start_offset == log.end_offset and log.size_bytes < 4_000


def test_acknowledgements_that_nobody_waits_for_are_written_when_there_are_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journal, "_MOST_UNWRITTEN", 3)
    life = Life(MemoryFiles())
    life.publish(0, 6)
    leases = life.queue.take(0, "w", max_messages=6).result()
    before = life.journal.end_offset
    for lease in leases[::2]:
        assert life.journal.end_offset == before
        life.queue.ack(0, Held(0, lease.offset, "w"))
    assert life.journal.end_offset == before + 1


def test_what_stands_behind_damage_is_read_and_another_error_is_told(monkeypatch: pytest.MonkeyPatch):
    files = MemoryFiles()
    life = Life(files)
    life.publish(0, 3)
    for holder in ("first", "second", "third"):
        life.queue.take(0, holder).result()
    path = f"{journal.DIRECTORY}/{0:020d}.log"
    data = bytearray(files.read(path, 0, files.size(path)))
    data[bytes(data).index(b"second")] ^= 1
    files.write_whole(path, bytes(data), durable=False)
    again = Life(files).journal
    assert [entry.lease.holder for _, entry in again.entries()["jobs"]] == ["first", "third"]

    def refuse(*_arguments: object, **_fields: object) -> None:
        raise BrokerError(ErrorCode.STORAGE_ERROR, "the device reports an error")

    monkeypatch.setattr(again.log, "read", refuse)
    with pytest.raises(BrokerError, match="the device"):
        again.entries()


def test_where_attempts_have_no_limit_nothing_is_written_but_what_is_to_be_durable():
    files = MemoryFiles()
    life = Life(files, max_attempts=None)
    life.publish(0, 3)
    for _ in range(9):
        for lease in life.queue.take(0, "w", max_messages=2).result():
            life.queue.nack(0, Held(0, lease.offset, "w"), "no")
        life.until(life.now_ns // NS_PER_MS + 20)
    assert life.journal.log is None and life.letters.list() == ()
    life.queue.take(life.now_ns, "w", max_messages=3)
    life.queue.ack(life.now_ns, Held(0, 0, "w"))
    life.queue.ack(life.now_ns, Held(0, 1, "w"), durable=True)
    assert [row[1] for row in reborn(files, None).picture()] == [0, 2]
