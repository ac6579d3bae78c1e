"""A queue on the log that it is made for: batches on disk, recovery, dead letters in a bin that is read again."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventStream
from broker_core.files import MemoryFiles
from broker_core.log.config import LogConfig
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.lease import Held
from broker_core.queues.queue import Queue
from broker_core.timers import Timers


class Rooms:
    """A queue, its logs and its bin over one file system, which outlives them."""

    def __init__(self, files: MemoryFiles) -> None:
        self.timers = Timers()
        events = EventStream()
        self.log = TopicLog(files, "jobs", 2, config=LogConfig(), epoch_ms=0)
        self.dead_letter_log = TopicLog(files, "jobs.dlq", 1, config=LogConfig(), epoch_ms=0)
        self.dead_letters = DeadLetters(self.dead_letter_log, events)
        config = QueueConfig(lease_ms=100, max_attempts=2, priorities=2)
        self.queue = Queue("jobs", self.log, self.dead_letters, events, self.timers, config)

    def publish(self, now_ms: int, level: int, *messages: Message) -> None:
        self.log.partitions[level].append_batch(now_ms * NS_PER_MS, messages)
        self.queue.appended(now_ms * NS_PER_MS)


def test_bytes_add_up_however_a_batch_is_taken_apart():
    rooms = Rooms(MemoryFiles())
    sizes = [1, 100, 3, 0, 57, 2, 999]
    rooms.publish(0, 1, *(Message(b"x" * size) for size in sizes))
    queue = rooms.queue
    assert queue.size_bytes == sum(sizes)
    leases = queue.take(0, "a", max_messages=3).result() + queue.take(0, "b").result()
    queue.ack(0, Held(1, leases[1].offset, "a"))
    queue.release(0, Held(1, leases[0].offset, "a"))
    queue.purge(0)
    assert queue.in_flight == 2
    queue.ack(0, Held(1, leases[2].offset, "a"))
    queue.ack(0, Held(1, leases[3].offset, "b"))
    assert (queue.size_bytes, queue.ready, queue.in_flight) == (0, 0, 0)


def test_messages_attempts_and_dead_letters_survive_the_process():
    files = MemoryFiles()
    rooms = Rooms(files)
    rooms.publish(5, 0, Message(b"poison", key=b"k", headers=(("h", b"v"),)))
    rooms.publish(6, 1, Message(b"patient"))
    queue = rooms.queue
    [lease] = queue.take(10 * NS_PER_MS, "a").result()
    queue.nack(10 * NS_PER_MS, Held(0, lease.offset, "a"), "first")
    state, letters = queue.state(10 * NS_PER_MS), rooms.dead_letters.state()
    rooms.log.close()
    rooms.dead_letter_log.close()

    rooms = Rooms(files)
    queue = rooms.queue
    queue.restore(20 * NS_PER_MS, state)
    rooms.dead_letters.restore(letters)
    poison, patient = queue.take(20 * NS_PER_MS, "b", max_messages=2).result()
    assert (poison.attempt, poison.message.value, patient.message.value) == (2, b"poison", b"patient")
    while rooms.timers.fire_next(120 * NS_PER_MS) is not None:
        pass
    assert rooms.dead_letters.count("jobs") == 1
    rooms.log.close()
    rooms.dead_letter_log.close()

    letter = Rooms(files).dead_letters.get(0)
    assert (letter.key, letter.value, letter.headers) == (b"k", b"poison", (("h", b"v"),))
    assert [(attempt.holder, attempt.outcome) for attempt in letter.attempts] == [
        ("a", "first"),
        ("b", "lease expired"),
    ]
    assert letter.dead_ns - letter.published_ns == 115 * NS_PER_MS


def test_a_trimmed_log_hides_nothing_that_is_open():
    rooms = Rooms(MemoryFiles())
    rooms.publish(0, 0, *(Message(b"x") for _ in range(10)))
    leases = rooms.queue.take(0, "a", max_messages=5).result()
    for lease in leases[:4]:
        rooms.queue.ack(0, Held(0, lease.offset, "a"))
    assert rooms.queue.levels.table(0).first_open_offset == 4
    rooms.log.partitions[0].delete_before(4)
    assert len(rooms.queue.take(0, "b", max_messages=10).result()) == 5
    rooms.log.partitions[0].delete_before(8)
    rooms.queue.levels.table(0).trim()
    assert rooms.queue.take(0, "c").result() == []
    assert (rooms.queue.in_flight, rooms.queue.size_bytes) == (2, 2)
    with pytest.raises(BrokerError) as caught:
        rooms.queue.ack(0, Held(0, 4, "a"))
    assert caught.value.code is ErrorCode.INVALID_LEASE
