from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from broker_core.broker.durability import Durability
from broker_core.broker.logs import Logs
from broker_core.broker.publishing import Published, Publishing
from broker_core.broker.queues import Queues
from broker_core.broker.schemas import Schemas
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message
from broker_core.queues.dead_letter_record import Edits
from broker_core.queues.dead_letters import Redriven, RedriveResult
from broker_core.queues.paced_redrive import PacedRedrive, PacedRedrives
from broker_core.replies import Reply
from broker_core.timers import Timers


class Redrives(msgspec.Struct, eq=False):
    """Redrives of queues, subscriptions, and topics whose schema dead-letters. `paced` are those at a rate."""

    _logs: Logs
    _queues: Queues
    _schemas: Schemas
    _publishing: Publishing
    _durability: Durability
    _timers: Timers
    paced: PacedRedrives = msgspec.field(default_factory=PacedRedrives)

    def __post_init__(self) -> None:
        self._logs.on_removed(lambda topic: self.paced.forget(topic.owner))

    def redrive(
        self, now_ns: int, name: str, offsets: Sequence[int], *, client: str, edits: Edits | None = None
    ) -> RedriveResult:
        """Append dead letters of `name` to their origin, then remove them from the dead-letter queue.

        No gate applies: they were admitted once. What a schema refuses stays a dead letter. Raises UNKNOWN_QUEUE.
        """
        dead_letters = self._queues.dead_letters(name)
        topic = self._queues.topic_of(name)

        def append(message: Message) -> tuple[str, int, int]:
            self._schemas.check(topic, message)
            if edits:
                topic.check_fields((message,))
            if self._queues.subscription(name) is not None:
                return self._publishing.append_again(now_ns, topic, message, client)
            log = topic.partition(topic.partition_for(message))
            offset = log.append_batch(now_ns, (message,)).base_offset
            self._durability.syncs.note((log,))
            return topic.name, log.partition, offset

        result = dead_letters.redrive(now_ns, offsets, append=append, edits=edits, client=client)
        if name in self._queues:
            self._queues.queue(name).appended(now_ns)
        else:
            for each in result.redriven:
                published = Published(name, each.to_partition, each.to_offset)
                serve = partial(self._publishing.serve_readers, topic=topic, published=published, client=client)
                log = topic.partition(each.to_partition)
                self._durability.settle(now_ns, log, each.to_offset + 1, Reply(), serve)
        return result

    def start_paced(
        self, now_ns: int, name: str, offsets: Sequence[int], rate_per_s: float, *, client: str
    ) -> PacedRedrive:
        """`redrive` one by one, at most so many a second. Raises INVALID_REQUEST while another of `name` runs."""
        paced = PacedRedrive(
            self._timers, offsets, rate_per_s, lambda at_ns, offset: self.redrive(at_ns, name, [offset], client=client)
        )
        self.paced.start(now_ns, name, paced)
        return paced

    def undo(self, now_ns: int, name: str, *, client: str) -> Reply[tuple[Redriven, ...]]:
        """Undo the last redrive of queue `name` within its undo window: messages not taken yet are dead letters again.

        The reply waits until the redrive is durable. Raises INVALID_REQUEST for a subscription and for a topic whose
        schema dead-letters: their dead letters went back to a topic.
        """
        if not self.can_be_undone(name):
            why = f"the dead letters of {name} go back to a topic, whose log keeps them for all readers"
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{why}; their redrive cannot be undone")
        queue = self._queues.queue(name)
        ends = {each.to_partition: each.to_offset + 1 for each in queue.dead_letters.last_redriven(now_ns)}

        def take_back(at_ns: int) -> tuple[Redriven, ...]:
            def withdraw(topic: str, partition: int, offset: int) -> bool:
                return topic == name and queue.withdraw(at_ns, partition, offset, client)

            return queue.dead_letters.undo_redrive(at_ns, withdraw=withdraw, client=client)

        reply: Reply[tuple[Redriven, ...]] = Reply()
        logs = [(self._logs.partition(name, partition), end) for partition, end in ends.items()]
        self._durability.settle_all(now_ns, logs, reply, take_back)
        return reply

    def can_be_undone(self, name: str) -> bool:
        """True if the dead letters of `name` go back to a queue."""
        topic = self._logs.get(name)
        return self._queues.subscription(name) is None and (topic is None or topic.dead_letters is None)
