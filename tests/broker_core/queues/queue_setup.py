"""A queue on a setup: logs in memory, virtual time, and the events at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.events import Event, EventKind, EventStream
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.lease import Lease
from broker_core.queues.queue import Queue
from broker_core.queues.queue_state import QueueState
from broker_core.replies import Reply
from broker_core.timers import Timers
from tests.broker_core.queues.logs import MemoryTopic


class QueueSetup:
    """Times are milliseconds here, so that tests read well."""

    def __init__(self, *, jitter: Callable[[], float] = lambda: 0.5, queue: str = "jobs", **config: Any) -> None:
        self.config = QueueConfig(**{"lease_ms": 100.0, "max_attempts": 3, **config})
        self.log: Any = MemoryTopic(queue, self.config.priorities)
        self.dead_letter_log: Any = MemoryTopic(f"{queue}.dlq")
        self.events: list[Event] = []
        self.stream = EventStream()
        self.stream.attach(self.events.append)
        self.timers = Timers()
        self.now_ms = 0
        self.jitter = jitter
        self.dead_letters = DeadLetters(cast(Any, self.dead_letter_log), self.stream)
        self.queue = self.new_queue()

    def new_queue(self) -> Queue:
        return Queue(
            self.log.name, self.log, self.dead_letters, self.stream, self.timers, self.config, jitter=self.jitter
        )

    def restart(self, after_ms: int = 0) -> None:
        """The queue dies and comes back from what it has kept, `after_ms` later."""
        state = msgspec.json.decode(msgspec.json.encode(self.queue.state(self.now_ns)), type=QueueState)
        self.queue.close()
        self.now_ms += after_ms
        self.queue = self.new_queue()
        self.queue.restore(self.now_ns, state)

    @property
    def now_ns(self) -> int:
        return self.now_ms * NS_PER_MS

    def publish(self, *values: str, level: int = 0, **fields: Any) -> int:
        """Append the values as one batch; the first offset."""
        messages = [Message(value.encode(), priority=level, **fields) for value in values]
        base = self.log.partitions[level].append_batch(self.now_ns, messages).base_offset
        self.queue.appended(self.now_ns)
        return base

    def take(self, holder: str = "a", most: int = 1) -> list[Lease]:
        return self.queue.take(self.now_ns, holder, max_messages=most).result()

    def wait(self, holder: str = "a", most: int = 1, for_ms: int = 1_000_000) -> Reply[list[Lease]]:
        deadline_ns = (self.now_ms + for_ms) * NS_PER_MS
        return self.queue.take(self.now_ns, holder, max_messages=most, deadline_ns=deadline_ns)

    def values(self, holder: str = "a", most: int = 100) -> list[str]:
        """What a take gives, as text."""
        return texts(self.take(holder, most))

    def ack(self, lease: Lease) -> None:
        self.queue.ack(self.now_ns, lease)

    def nack(self, lease: Lease, cause: str = "failed", *, requeue: bool = True) -> None:
        self.queue.nack(self.now_ns, lease, cause, requeue=requeue)

    def until(self, time_ms: int) -> None:
        """Time goes on to `time_ms`, and every timer up to then fires."""
        while self.timers.fire_next(time_ms * NS_PER_MS) is not None:
            pass
        self.now_ms = time_ms

    def kinds(self) -> list[str]:
        return [event.kind.value for event in self.events]

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def redrive(self, *offsets: int, **options: Any) -> Any:
        """Redrive to where the messages came from."""

        def append(message: Message) -> tuple[str, int, int]:
            appended = self.log.partitions[message.priority].append_batch(self.now_ns, [message])
            return self.log.name, message.priority, appended.base_offset

        result = self.dead_letters.redrive(self.now_ns, offsets, append=append, **options)
        self.queue.appended(self.now_ns)
        return result


def texts(leases: list[Lease]) -> list[str]:
    return [(lease.message.value or b"").decode() for lease in leases]
