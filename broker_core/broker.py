"""The broker: topics, groups, queues and their backpressure behind one face; every public call takes the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.files import FileSystem
from broker_core.flow.config import FlowConfig, Verdict
from broker_core.flow.gate import Gate
from broker_core.groups.config import GroupConfig
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.fetches import Fetches, FetchReply
from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.protocol import TopicPartition
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message
from broker_core.names import check_name
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters, RedriveResult
from broker_core.queues.lease import Lease
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import BacklogPolicy, Subscription, subscribed
from broker_core.replies import Reply
from broker_core.snapshots import (
    GroupView,
    PartitionView,
    QueueView,
    RebalanceView,
    TopicView,
    Totals,
)
from broker_core.timers import Timers


class Published(msgspec.Struct, frozen=True, gc=False):
    """Where a message was appended; `missed_by` names the subscriptions that had no room for it."""

    topic: str
    partition: int
    offset: int
    missed_by: tuple[str, ...] = ()


class _Topic:
    """A topic's log, its gate, and its counters."""

    def __init__(self, log: TopicLog, gate: Gate | None) -> None:
        self.log = log
        self.gate = gate
        self.counts_bytes = False
        self.published = 0
        self.published_bytes = 0


class Broker:
    """A monitor around the pure core: calls come from one thread at a time, and waiting is a parked `Reply`."""

    def __init__(
        self,
        files: FileSystem,
        timers: Timers,
        events: EventStream,
        offsets: OffsetStore,
        *,
        log_config: LogConfig,
        group_config: GroupConfig,
        epoch_ms: int,
    ) -> None:
        """`epoch_ms` is the Unix time of session time 0, for the timestamps on disk."""
        self._files = files
        self._timers = timers
        self._events = events
        self._log_config = log_config
        self._epoch_ms = epoch_ms
        self._topics: dict[str, _Topic] = {}
        self._queues: dict[str, Queue] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._offsets = offsets
        self.fetches = Fetches(events, timers, self._partition)
        self.groups = GroupCoordinator(
            events,
            timers,
            offsets,
            end_offset=lambda topic, partition: self._partition(topic, partition).end_offset,
            partitions_of=self.partition_count,
            config=group_config,
            positions=self.fetches.position,
            published_ns=lambda topic, partition, offset: self._partition(topic, partition).published_ns(offset),
        )

    # -- topics and queues

    def create_topic(
        self,
        now_ns: int,
        name: str,
        partitions: int,
        *,
        partitioner: Literal["crc32", "murmur2"] = "crc32",
        flow: FlowConfig | None = None,
    ) -> None:
        """Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC or INVALID_PARTITIONS."""
        self._add_topic(name, partitions, Partitioner(partitioner), flow)
        self._events.emit(now_ns, EventKind.TOPIC_CREATED, topic=name, count=partitions)

    def create_queue(
        self, now_ns: int, name: str, config: QueueConfig, *, flow: FlowConfig | None = None, jitter_seed: int = 0
    ) -> None:
        """A queue, its log with a partition for each priority, and the bin for its dead letters."""
        topic = self._add_topic(name, config.priorities, Partitioner("crc32"), flow)
        bin_log = self._add_topic(config.dead_letter_topic_of(name), 1, Partitioner("crc32"), None).log
        dead_letters = DeadLetters(bin_log, self._events)
        self._queues[name] = Queue(
            name,
            topic.log,
            dead_letters,
            self._events,
            self._timers,
            config,
            room=lambda time_ns: self._make_room(time_ns, name),
        )
        self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=name, count=config.priorities)

    def subscribe(
        self,
        now_ns: int,
        name: str,
        topic: str,
        config: QueueConfig,
        *,
        max_messages: int | None = None,
        policy: BacklogPolicy = "drop_newest",
    ) -> None:
        """A fan-out subscription `name`: from now on it gets every message of `topic`, with leases as a queue has.

        Where `max_messages` wait in it already, a message is turned away from it, or pushes out the oldest one. Take,
        acknowledge and redrive as for a queue. Raises UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS, INVALID_CONFIG.
        """
        log = self._topic(topic).log
        if name.lower() in {known.lower() for known in (*self._topics, *self._queues)}:
            raise BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS, name)
        bin_log = self._add_topic(config.dead_letter_topic_of(check_name(name)), 1, Partitioner("crc32"), None).log
        queue = self._queues[name] = subscribed(log, name, bin_log, self._events, self._timers, config)
        self._subscriptions[name] = Subscription(topic, queue, max_messages, policy)
        self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=topic, group=name, count=len(log.partitions))

    def _add_topic(self, name: str, partitions: int, partitioner: Partitioner, flow: FlowConfig | None) -> _Topic:
        check_name(name)
        if any(name.lower() == known.lower() for known in self._topics):
            raise BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS, name)
        log = TopicLog(
            self._files,
            name,
            partitions,
            config=self._log_config,
            partitioner=partitioner,
            epoch_ms=self._epoch_ms,
        )
        topic = self._topics[name] = _Topic(log, None)
        if flow is not None:
            topic.counts_bytes = flow.max_bytes is not None
            topic.gate = Gate(
                name,
                flow,
                lambda: self._depth(name),
                self._events,
                self._timers,
                evict=lambda *room: self._evict(name, *room),
            )
        return topic

    def partition_count(self, topic: str) -> int:
        """How many partitions `topic` has. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return len(self._topic(topic).log.partitions)

    # -- publishing

    def publish(self, now_ns: int, name: str, message: Message, *, client: str) -> Reply[Published | None]:
        """Append `message` to a topic or queue; where it landed, or None where the flow policy dropped it.

        The reply may wait for room. It fails with THROTTLED where the message is refused or no room came in time.
        Raises UNKNOWN_TOPIC_OR_PARTITION, and MESSAGE_TOO_LARGE where the topic takes no message of this size.
        """
        topic = self._topic(name)
        reply: Reply[Published | None] = Reply()

        def admit(admitted_ns: int) -> None:
            reply.resolve(self._append(admitted_ns, name, topic, message, client))

        if topic.gate is None:
            admit(now_ns)
        else:
            offer = topic.gate.offer(now_ns, client, 1, _size_bytes(message), admit, priority=message.priority)
            offer.then(lambda verdict: _refused(reply, verdict, name))
        return reply

    def _append(self, now_ns: int, name: str, topic: _Topic, message: Message, client: str) -> Published:
        queue = self._queues.get(name)
        partition = _level(queue, message) if queue else topic.log.partition_for(message.key)
        appended = topic.log.partitions[partition].append_batch(now_ns, (message,))
        topic.published += appended.count
        topic.published_bytes += appended.size_bytes
        self._events.emit(
            now_ns,
            EventKind.PUBLISHED,
            topic=name,
            partition=partition,
            offset=appended.base_offset,
            count=appended.count,
            size_bytes=_size_bytes(message),
            client=client,
            published_ns=now_ns,
            key=message.key,
        )
        missed_by = self._grown(now_ns, name, partition, appended.base_offset, appended.count, client)
        return Published(name, partition, appended.base_offset, missed_by)

    def _grown(
        self, now_ns: int, name: str, partition: int, offset: int, count: int, client: str
    ) -> tuple[str, ...]:
        """Readers are served; the names of the subscriptions that had no room."""
        queue = self._queues.get(name)
        if queue is not None:
            queue.appended(now_ns)
        missed_by = tuple(
            subscriber
            for subscriber, subscription in self._subscriptions.items()
            if subscription.topic == name and subscription.appended(now_ns, partition, offset, count, client)
        )
        self.fetches.appended(now_ns, name, partition)
        return missed_by

    # -- groups

    def join(self, now_ns: int, group: str, **request: Any) -> Reply[JoinResult]:
        """See `GroupCoordinator.join`."""
        return self.groups.join(now_ns, group, **request)

    def sync(
        self, now_ns: int, group: str, member_id: str, generation: int, assignments: Mapping[str, bytes]
    ) -> Reply[SyncResult]:
        """See `GroupCoordinator.sync`."""
        return self.groups.sync(now_ns, group, member_id, generation, assignments)

    def heartbeat(self, now_ns: int, group: str, member_id: str, generation: int) -> None:
        """See `GroupCoordinator.heartbeat`."""
        self.groups.heartbeat(now_ns, group, member_id, generation)

    def leave(self, now_ns: int, group: str, member_id: str, cause: str) -> None:
        """See `GroupCoordinator.leave`."""
        self.groups.leave(now_ns, group, member_id, cause)

    def starting_offset(self, group: str, topic: str, partition: int, reset: Literal["earliest", "latest"]) -> int:
        """Where a member that was assigned the partition begins to read: the committed offset, or as `reset` says."""
        log = self._partition(topic, partition)
        offset = self.groups.committed(group, topic, partition)
        if offset is None:
            offset = log.start_offset if reset == "earliest" else log.end_offset
        self.fetches.begin(group, topic, partition, offset)
        return offset

    def fetch(
        self,
        now_ns: int,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        *,
        max_messages: int,
        deadline_ns: int,
    ) -> FetchReply:
        """See `Fetches.fetch`."""
        return self.fetches.fetch(now_ns, group, client, positions, max_messages=max_messages, deadline_ns=deadline_ns)

    def cancel_fetch(self, reply: FetchReply) -> None:
        """A parked fetch is no longer wanted."""
        self.fetches.cancel(reply)

    def commit(
        self,
        now_ns: int,
        group: str,
        client: str,
        member_id: str,
        generation: int,
        offsets: Mapping[TopicPartition, int],
    ) -> None:
        """Commit for a member and say what that acknowledges; errors as in `GroupCoordinator.commit`."""
        for topic, partition, old, new in self.groups.commit(now_ns, group, member_id, generation, offsets):
            start = (self.fetches.start(group, topic, partition) or 0) if old is None else old
            self.fetches.committed(now_ns, group, client, topic, partition, start, new)
            self._make_room(now_ns, topic)

    # -- queues

    def take(
        self, now_ns: int, queue: str, holder: str, *, max_messages: int = 1, deadline_ns: int | None = None
    ) -> Reply[list[Lease]]:
        """See `Queue.take`."""
        return self._queue(queue).take(now_ns, holder, max_messages=max_messages, deadline_ns=deadline_ns)

    def cancel_take(self, queue: str, reply: Reply[list[Lease]]) -> None:
        """A parked take is no longer wanted."""
        self._queue(queue).cancel_take(reply)

    def disconnect(self, now_ns: int, client: str) -> None:
        """A client is gone without a word: its parked offers fail with CLOSED, its leases expire in their time."""
        for topic in self._topics.values():
            if topic.gate is not None:
                topic.gate.leave(now_ns, client)

    def ack(self, now_ns: int, lease: Lease) -> None:
        """The holder has finished with the message. Raises INVALID_LEASE where it holds it no longer."""
        self._queue(lease.queue).ack(now_ns, lease.partition, lease.offset, lease.holder, attempt=lease.attempt)
        self._make_room(now_ns, lease.queue)

    def nack(self, now_ns: int, lease: Lease, cause: str, *, requeue: bool = True) -> None:
        """The holder has failed: the message is tried again, or dead-lettered. Raises INVALID_LEASE."""
        self._queue(lease.queue).nack(
            now_ns, lease.partition, lease.offset, lease.holder, cause, requeue=requeue, attempt=lease.attempt
        )
        self._make_room(now_ns, lease.queue)

    def redrive(self, now_ns: int, queue: str, offsets: Sequence[int], *, client: str) -> RedriveResult:
        """Append dead letters of `queue` to where they came from, then take them out of the bin.

        A redrive passes the gate by: the messages were admitted once.
        """
        found = self._queue(queue)
        subscription = self._subscriptions.get(queue)

        def append(message: Message) -> tuple[str, int, int]:
            if subscription is not None:
                # Its origin is the topic, where every subscriber sees it again.
                name = subscription.topic
                again = self._append(now_ns, name, self._topic(name), message, client)
                return again.topic, again.partition, again.offset
            partition = _level(found, message)
            log = self._topic(queue).log.partitions[partition]
            return queue, partition, log.append_batch(now_ns, (message,)).base_offset

        result = found.dead_letters.redrive(now_ns, offsets, append=append, client=client)
        found.appended(now_ns)
        return result

    # -- what is seen

    def totals(self) -> Totals:
        """Counted where it happens, not from the event stream, so that the two can be compared."""
        queues = self._queues.values()
        gates = [topic.gate for topic in self._topics.values() if topic.gate is not None]
        fetches = self.fetches
        return Totals(
            published=sum(topic.published for topic in self._topics.values()),
            delivered=fetches.delivered + sum(queue.counts.delivered for queue in queues),
            acknowledged=fetches.acknowledged + sum(queue.counts.acknowledged for queue in queues),
            redelivered=fetches.redelivered + sum(queue.counts.redelivered for queue in queues),
            dead_lettered=sum(queue.counts.dead_lettered for queue in queues),
            redriven=sum(queue.dead_letters.redriven(queue.name) for queue in queues),
            rejected=sum(gate.counts.rejected for gate in gates),
            dropped=sum(gate.counts.dropped for gate in gates),
            expired=sum(queue.counts.expired for queue in queues),
            evicted=sum(queue.counts.evicted for queue in queues),
            purged=sum(queue.counts.purged for queue in queues),
            rebalances=self.groups.rebalances_started,
        )

    def views(
        self, now_ns: int, *, max_leases: int, max_dead_letters: int
    ) -> tuple[tuple[TopicView, ...], tuple[GroupView, ...], tuple[QueueView, ...]]:
        """Topics, groups and queues; bins are not listed as topics, nor are the logs of queues."""
        own_logs = self._queues.keys() - self._subscriptions.keys()
        hidden = own_logs | {queue.dead_letters.name for queue in self._queues.values()}
        topics = tuple(self._topic_view(now_ns, name) for name in self._topics if name not in hidden)
        queues = tuple(self._queue_view(now_ns, name, max_leases, max_dead_letters) for name in self._queues)
        return topics, self.groups.views(now_ns), queues

    def rebalances(self) -> tuple[RebalanceView, ...]:
        """The last rebalances of all groups, oldest first."""
        return tuple(self.groups.rebalances)

    def _topic_view(self, now_ns: int, name: str) -> TopicView:
        topic = self._topics[name]
        partitions = tuple(
            PartitionView(number, log.start_offset, log.end_offset, log.size_bytes)
            for number, log in enumerate(topic.log.partitions)
        )
        gate = None if topic.gate is None else topic.gate.view(now_ns)
        return TopicView(name, partitions, topic.published, topic.published_bytes, gate)

    def _queue_view(self, now_ns: int, name: str, max_leases: int, max_dead_letters: int) -> QueueView:
        view = self._queues[name].view(now_ns, max_leases, max_dead_letters)
        if name in self._subscriptions:
            return msgspec.structs.replace(view, gate=self._subscriptions[name].gate_view())
        gate = self._topics[name].gate
        return view if gate is None else msgspec.structs.replace(view, gate=gate.view(now_ns))

    # -- inside

    def _depth(self, name: str) -> tuple[int, int, str]:
        """Messages and bytes that the slowest reader of `name` has not finished with, and who that is."""
        queue = self._queues.get(name)
        if queue is not None:
            return queue.ready + queue.delayed + queue.in_flight, queue.size_bytes, name
        deepest = (0, 0, "")
        topic = self._topics[name]
        for group in self.fetches.readers(name):
            messages = size_bytes = 0
            for number, log in enumerate(topic.log.partitions):
                committed = self.groups.committed(group, name, number)
                start = self.fetches.start(group, name, number) if committed is None else committed
                if start is not None:
                    messages += log.end_offset - start
                    if topic.counts_bytes:
                        size_bytes += sum(run.size_bytes for run in log.runs(start, log.end_offset))
            deepest = max(deepest, (messages, size_bytes, group))
        return deepest

    def _make_room(self, now_ns: int, name: str) -> None:
        topic = self._topics.get(name)
        if topic is not None and topic.gate is not None:
            topic.gate.room(now_ns)

    def _evict(self, name: str, now_ns: int, messages: int, size_bytes: int, than: int | None) -> bool:
        """Make room in a queue; a topic's log keeps what it has."""
        queue = self._queues.get(name)
        return queue is not None and queue.evict(now_ns, messages, size_bytes, than)

    def _topic(self, name: str) -> _Topic:
        topic = self._topics.get(name)
        if topic is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return topic

    def _partition(self, name: str, partition: int) -> PartitionLog:
        partitions = self._topic(name).log.partitions
        if not 0 <= partition < len(partitions):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{name}/{partition}")
        return partitions[partition]

    def _queue(self, name: str) -> Queue:
        queue = self._queues.get(name)
        if queue is None:
            raise BrokerError(ErrorCode.UNKNOWN_QUEUE, name)
        return queue

    def flush(self) -> None:
        """Make the offsets that were committed so far durable, in one SQLite commit."""
        self._offsets.flush()

    def close(self) -> None:
        """Write what is pending and give back every file."""
        self._offsets.flush()
        self._offsets.close()
        for topic in self._topics.values():
            topic.log.close()


def _refused(reply: Reply[Published | None], verdict: Reply[Verdict], name: str) -> None:
    """What the producer gets where the gate did not admit its message; `admit` has settled the reply where it did."""
    if verdict.error is not None:
        reply.fail(verdict.error)
    elif verdict.result() is Verdict.REFUSED:
        reply.fail(BrokerError(ErrorCode.THROTTLED, name))
    elif verdict.result() is Verdict.DROPPED:
        reply.resolve(None)


def _level(queue: Queue, message: Message) -> int:
    """The partition of the message's priority; what is less urgent than the last level goes there."""
    return min(max(message.priority, 0), queue.config.priorities - 1)


def _size_bytes(message: Message) -> int:
    return len(message.key or b"") + len(message.value or b"")
