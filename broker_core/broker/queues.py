from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Sequence

import msgspec

from broker_core.broker.backpressure import Backpressure
from broker_core.broker.catalog import QueueEntry, SubscriptionEntry
from broker_core.broker.durability import Durability
from broker_core.broker.logs import Logs, Topic, totals_of
from broker_core.broker.recently_deleted import Deleted, RecentlyDeleted
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.flow.config import FlowConfig
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.jitter import Jitter
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import Partitioner
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.lease import Lease, lease_runs
from broker_core.queues.levels import Levels, TopicLevels
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import HOLDS_UP, BacklogConfig, Subscription
from broker_core.replies import Reply
from broker_core.settings import LimitPolicy
from broker_core.timers import Timers


class Queues(msgspec.Struct, eq=False, dict=True):
    """Queues and subscriptions by name, in the order of creation.

    `read_only` is why nothing can be taken, "" if it can; `jitter_seed` applies to queues created later.
    """

    _logs: Logs
    _durability: Durability
    _backpressure: Backpressure
    _groups: GroupCoordinator
    _recently_deleted: RecentlyDeleted
    _events: EventStream
    _timers: Timers
    read_only: str = ""
    jitter_seed: int = 0
    _queues: dict[str, Queue] = {}
    _subscriptions: dict[str, Topic] = {}  # the topic that each reads

    # -- look-ups

    def names(self) -> tuple[str, ...]:
        return tuple(self._queues)

    def subscription_names(self) -> tuple[str, ...]:
        return tuple(self._subscriptions)

    def __contains__(self, name: str) -> bool:
        return name in self._queues

    def queue(self, name: str) -> Queue:
        """The queue or subscription. Raises UNKNOWN_QUEUE."""
        queue = self._queues.get(name)
        if queue is None:
            raise BrokerError(ErrorCode.UNKNOWN_QUEUE, name)
        return queue

    def subscription(self, name: str) -> Subscription | None:
        topic = self._subscriptions.get(name)
        return None if topic is None else topic.subscriptions[name]

    def topic_of(self, name: str) -> Topic:
        """The topic that a subscription reads, or the queue's own. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._subscriptions.get(name) or self._logs.topic(name)

    def dead_letters(self, name: str) -> DeadLetters:
        """The dead letters of a queue, a subscription, or a topic whose schema dead-letters.

        Raises UNKNOWN_QUEUE, or NO_DEAD_LETTERS for another topic.
        """
        topic = self._logs.get(name)
        if topic is not None and topic.dead_letters is not None:
            return topic.dead_letters
        if topic is not None and name not in self:
            raise BrokerError(ErrorCode.NO_DEAD_LETTERS, f"{name} has no schema rule of the mode dead_letter")
        return self.queue(name).dead_letters

    # -- changes

    def create(
        self,
        now_ns: int,
        name: str,
        config: QueueConfig,
        *,
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
        restored: bool = False,
        kept_id: bytes = b"",
    ) -> None:
        """Create a queue, its log with a partition for each priority, and its dead-letter queue.

        The leases of one that is `restored` come from the journal, its id is `kept_id`. Raises INVALID_TOPIC,
        TOPIC_ALREADY_EXISTS.
        """
        self._logs.claim(name)  # first: making a queue twice must not fail because of its dead-letter queue
        self._logs.claim(config.dead_letter_topic_of(name))
        topic = self._logs.add(name, config.priorities, Partitioner("crc32"), log, kept_id=kept_id, now_ns=now_ns)
        if flow is not None:
            self._backpressure.limit(now_ns, topic, flow)
        try:
            queue = topic.queue = self._add(name, topic, Levels(topic.log.partitions, config), config, log)
        except BrokerError:
            (self._logs.remove if restored else self._logs.discard)(now_ns, name)
            raise
        if not restored:  # its beginning was told before the restart
            queue.begin(now_ns)
            self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=name, count=config.priorities)

    def subscribe(
        self,
        now_ns: int,
        name: str,
        topic: str,
        config: QueueConfig,
        *,
        max_messages: int | None = None,
        policy: LimitPolicy = "drop_newest",
        from_end: bool = True,
        restored: bool = False,
    ) -> None:
        """Create a fan-out subscription, which gets every message of `topic` from now on and is used as a queue is.

        `policy` applies to more than `max_messages` that wait in it, see `BacklogConfig`. The most urgent message is
        taken first, whatever its partition. Without `from_end` it gets what is in the log already, too; the leases of
        one that is `restored` come from the journal. Raises UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS,
        INVALID_CONFIG.
        """
        read = self._logs.topic(topic)
        self._logs.claim(name)
        BacklogConfig(max_messages, policy)
        levels = TopicLevels(read.log.partitions, config)
        for table in levels.tables if from_end else ():
            table.skip_to(table.end_offset)
        queue = self._add(name, read, levels, config)
        self._logs.reserve(name)
        if not restored:
            queue.begin(now_ns)
        read.subscriptions[name] = Subscription(topic, queue, max_messages, policy)
        self._subscriptions[name] = read
        if max_messages is not None and policy in HOLDS_UP:
            self._backpressure.watch_subscriptions(read)
        if not restored:
            count = len(read.log.partitions)
            detail = None if from_end else {"from_start": True}
            self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=topic, group=name, count=count, detail=detail)

    def delete(self, now_ns: int, name: str) -> None:
        """Delete the queue or subscription, with its messages and its dead letters. Raises UNKNOWN_QUEUE."""
        queue = self.queue(name)
        read = self._subscriptions.pop(name, None)
        names = (name, queue.dead_letters.name) if read is None else (queue.dead_letters.name,)
        totals = totals_of((self._logs.topic(each) for each in names), (queue,))
        del self._queues[name]
        subscription = None
        if read is not None:
            self._logs.free(name)
            subscription = read.subscriptions.pop(name)
        queue.close()
        topics = [self._logs.remove(now_ns, each) for each in names]

        def restore(restored_ns: int) -> None:
            self._logs.put_back(topics)
            self._queues[name] = queue
            if read is not None and subscription is not None:
                self._logs.reserve(name)
                self._subscriptions[name] = read
                read.subscriptions[name] = subscription
            count = len(queue.levels.tables)
            self._events.emit(
                restored_ns, EventKind.QUEUE_CREATED, topic=topic, group=group, count=count, cause="restored"
            )
            queue.reopen(restored_ns)
            for each in names:
                self._groups.topic_changed(restored_ns, each)

        def why_not() -> str:
            if read is not None and (there := self._logs.get(read.name)) is not read:
                if there is None:
                    return f"{name} reads {read.name}, which is deleted; restore that first"
                return f"{name} read another {read.name}, which no longer exists"
            return self._logs.why_taken((name, *names))

        topic, group = (name, "") if read is None else (read.name, name)
        deleted = Deleted(tuple(each.log for each in topics), True, restore, why_not, totals)
        try:
            self._recently_deleted.add(now_ns, name, deleted)
        finally:  # it is deleted even if its files stay
            self._events.emit(now_ns, EventKind.TOPIC_DELETED, topic=topic, group=group)
            if read is not None:
                read.make_room(now_ns)

    # -- over a restart

    def entries(self) -> tuple[QueueEntry, ...]:
        topics = (self._logs.topic(name) for name in self._queues if name not in self._subscriptions)
        return tuple(
            QueueEntry(
                topic.name,
                self._queues[topic.name].config,
                topic.log.config,
                self._backpressure.config(topic.name),
                topic.schema,
                topic.id.hex(),
            )
            for topic in topics
        )

    def subscription_entries(self) -> tuple[SubscriptionEntry, ...]:
        subscriptions = ((name, topic.subscriptions[name]) for name, topic in self._subscriptions.items())
        return tuple(
            SubscriptionEntry(name, each.topic, each.queue.config, each.max_messages, each.policy)
            for name, each in subscriptions
        )

    def restore(self, now_ns: int, entry: QueueEntry) -> None:
        kept_id = bytes.fromhex(entry.id)
        self.create(now_ns, entry.name, entry.config, flow=entry.flow, log=entry.log, restored=True, kept_id=kept_id)

    def restore_subscription(self, now_ns: int, entry: SubscriptionEntry) -> None:
        self.subscribe(now_ns, **msgspec.structs.asdict(entry), from_end=False, restored=True)

    # -- leases

    def take(
        self,
        now_ns: int,
        queue: str,
        holder: str,
        *,
        max_messages: int = 1,
        deadline_ns: int | None = None,
        weight: int = 1,
        whole_batches: bool = False,
    ) -> Reply[list[Lease]]:
        """See `Queue.take`. Raises READ_ONLY if leases cannot be recorded."""
        found = self.queue(queue)
        if self.read_only:
            raise BrokerError(ErrorCode.READ_ONLY, self.read_only)
        return found.take(
            now_ns,
            holder,
            max_messages=max_messages,
            deadline_ns=deadline_ns,
            weight=weight,
            whole_batches=whole_batches,
        )

    def cancel_take(self, queue: str, reply: Reply[list[Lease]]) -> None:
        self.queue(queue).cancel_take(reply)

    def abandon_take(self, queue: str, reply: Reply[list[Lease]], now_ns: Callable[[], int]) -> None:
        """`cancel_take`, and release what the take gets all the same, unless a lease has expired by then."""

        def release_all(taken: Reply[list[Lease]]) -> None:
            for lease in taken.result() if taken.error is None else ():
                with contextlib.suppress(BrokerError):
                    self.release(now_ns(), lease)

        if not reply.done:
            self.cancel_take(queue, reply)
        reply.then(release_all)

    def ack(self, now_ns: int, lease: Lease, *, durable: bool | None = None) -> Reply[None]:
        """Acknowledge the message; see `Queue.ack`. Raises INVALID_LEASE."""
        return self.queue(lease.queue).ack(now_ns, lease, durable=durable)

    def ack_many(self, now_ns: int, leases: Sequence[Lease], *, durable: bool | None = None) -> Reply[None]:
        """`ack` all of these, neighbours in one step. Raises INVALID_LEASE for some after the others."""
        late: BrokerError | None = None
        written: Reply[None] = Reply.of(None)
        for lease, count in lease_runs(leases):
            # What is written later is durable later.
            try:
                written = self.queue(lease.queue).ack(now_ns, lease, count, durable=durable)
            except BrokerError as error:
                late = late or error
                for offset in range(lease.offset, lease.offset + count if count > 1 else lease.offset):
                    with contextlib.suppress(BrokerError):
                        written = self.ack(now_ns, msgspec.structs.replace(lease, offset=offset), durable=durable)
        if late is None:
            return written
        failed, first = Reply[None](), late
        written.then(lambda done: failed.fail(done.error or first))
        if failed.done:
            raise first
        return failed

    def nack(self, now_ns: int, lease: Lease, cause: str, *, requeue: bool = True) -> None:
        """The delivery has failed: the message is retried or dead-lettered. Raises INVALID_LEASE."""
        self.queue(lease.queue).nack(now_ns, lease, cause, requeue=requeue)

    def release(self, now_ns: int, lease: Lease) -> None:
        """Undo the delivery: the attempt does not count. Raises INVALID_LEASE."""
        self.queue(lease.queue).release(now_ns, lease)

    def extend(self, now_ns: int, lease: Lease, lease_ms: float | None = None) -> Lease:
        """The lease with its new end, `lease_ms` from now, a week at most. Raises INVALID_LEASE, INVALID_REQUEST."""
        return msgspec.structs.replace(lease, deadline_ns=self.queue(lease.queue).extend(now_ns, lease, lease_ms))

    # -- inside

    def _add(self, name: str, read: Topic, levels: Levels, config: QueueConfig, log: LogConfig | None = None) -> Queue:
        dead_letters = self._logs.add_dead_letter_queue(config.dead_letter_topic_of(name), name, log)
        queue = self._queues[name] = Queue(
            name,
            read.log,
            DeadLetters(dead_letters, self._events),
            self._events,
            self._timers,
            config,
            # With the name, so that queues of one seed do not retry in step.
            jitter=Jitter(self.jitter_seed + zlib.crc32(name.encode())),
            room=read.make_room,
            journal=self._durability.journal_of(read.log),
            levels=levels,
        )
        return queue
