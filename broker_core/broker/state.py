"""What the broker holds, and how its parts find each other: the ground on which its halves stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from broker_core.broker.corruption_report import CorruptionReport
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventStream
from broker_core.faults.client_faults import ClientFaults
from broker_core.files import FileSystem
from broker_core.flow.config import Answer, FlowConfig, Verdict
from broker_core.flow.gate import Gate, Obstacle
from broker_core.groups.config import GroupConfig
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.fetches import Fetches
from broker_core.groups.offsets import OffsetStore
from broker_core.log.cleaner import Cleaner
from broker_core.log.config import LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.growth import Growth
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.log.producer_ids import ProducerIds
from broker_core.log.reserved_headers import check_lifetimes
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message
from broker_core.names import ByName, check_name
from broker_core.queues.config import FIRST_COME
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.journal import Journal
from broker_core.queues.levels import check_priorities
from broker_core.queues.paced_redrive import PacedRedrives
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import Subscription
from broker_core.replies import Reply
from broker_core.schemas.registry import SchemaRegistry
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import Totals
from broker_core.timers import Timers

_LONG_LEASE_MS = 1_000.0  # nobody can tell five milliseconds of it


class Topic:
    """A topic's log, its gate, and its counters."""

    def __init__(self, log: TopicLog) -> None:
        self.log = log
        self.gate: Gate | None = None
        self.is_limited = False  # by the gate itself, and not only by subscriptions
        self.counts_bytes = False
        self.published = 0
        self.published_bytes = 0
        self.schema: SchemaRule | None = None
        self.refused = 0  # by the schema
        self.buried = 0  # refused by the schema, and put into the topic's own bin


class PlainQueue(NamedTuple):
    """A queue of one priority. With `nothing_ready`, what is put in next is what is taken next."""

    log: PartitionLog
    lease_ns: int
    nothing_ready: bool


class BrokerState:
    """Topics, queues and subscriptions by name. A queue is also a topic, and so is the bin of its dead letters."""

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
        self._topics: ByName[Topic] = ByName()
        self._queues: ByName[Queue] = ByName()
        self._subscriptions: dict[str, Subscription] = {}
        self._parked: dict[Reply[Any], Reply[Verdict]] = {}  # of what is being published: where it waits at a gate
        self._bins: dict[str, DeadLetters] = {}  # of topics, by topic, for what a schema refuses
        self.schemas = SchemaRegistry()
        self._former = Totals()  # of what was deleted
        self._offsets = offsets
        self.damage = CorruptionReport(events)
        self.revision = 0  # of topics and their settings: what a client has noted of them holds while it stays
        self.read_only = ""  # why nothing is handed out: it could not be remembered
        self.jitter_seed = 0  # for the queues that are made from now on
        self._cleaner = Cleaner()
        self.syncs = GroupCommit()
        self._synced_ns = 0
        self.journal = Journal(files, self.syncs, log_config, epoch_ms, self.damage.say)
        self.producer_ids = ProducerIds()
        self.client_faults = ClientFaults(events, timers)
        self.paced_redrives = PacedRedrives()
        self.fetches = Fetches(events, timers, self._partition)
        self.growth = Growth(timers)
        self.groups = GroupCoordinator(
            events,
            timers,
            offsets,
            end_offset=lambda topic, partition: self._partition(topic, partition).end_offset,
            partitions_of=self.partition_count,
            config=group_config,
            positions=self.fetches.position,
            held=self.fetches.held,
            published_ns=self._published_ns,
            reads_anew=self._make_room_everywhere,
        )

    @property
    def log_config(self) -> LogConfig:
        """How logs are kept that are given no settings of their own."""
        return self._log_config

    def partition_count(self, topic: str) -> int:
        """How many partitions `topic` has. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return len(self._topic(topic).log.partitions)

    def queue(self, name: str) -> Queue:
        """The queue or subscription, for what is done with it alone. Raises UNKNOWN_QUEUE."""
        queue = self._queues.get(name)
        if queue is None:
            raise BrokerError(ErrorCode.UNKNOWN_QUEUE, name)
        return queue

    def partition(self, topic: str, partition: int) -> PartitionLog:
        """The log of one partition, to be read. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._partition(topic, partition)

    def partitions_by_key(self, name: str) -> Partitioner | None:
        """How a topic chooses partitions; None for a queue, which goes by priority."""
        topic = self._topic(name)
        return None if name in self._queues else topic.log.partitioner

    def partition_for(self, name: str, message: Message) -> int:
        """Where `message` goes: its key's partition, or its priority's where `name` is a queue."""
        queue = self._queues.get(name)
        if queue is not None and name not in self._subscriptions:
            return level_of(queue, message)
        return self._topic(name).log.partition_for(message.key)

    def tell_damage(self, now_ns: int) -> None:
        """Say aloud what was found damaged since the last time, on opening too."""
        logs = (*(log for topic in self._topics.values() for log in topic.log.partitions), *self.journal.logs)
        self.damage.look(now_ns, logs, self._offsets.damage)

    def by_partition(self, name: str, messages: Sequence[Message]) -> dict[int, list[Message]]:
        """`messages` by the partition that each goes to, in their order; as `partition_for`, for many."""
        queue = self._queues.get(name)
        if queue is None or name in self._subscriptions:
            log = self._topic(name).log
            return log.partitioner.divide(messages, len(log.partitions))
        parts: dict[int, list[Message]] = {}
        if queue.config.priorities == 1:
            parts[0] = list(messages)
            return parts
        for message in messages:
            parts.setdefault(level_of(queue, message), []).append(message)
        return parts

    def plain_logs(self, name: str) -> tuple[list[PartitionLog], Partitioner] | None:
        """The logs of a topic in memory where appending is all there is to publishing, for now; else None.

        That is so where nothing judges the messages, and nobody waits for them.
        """
        topic = self._topics.get(name)
        if topic is None or topic.gate is not None or topic.schema is not None or name in self._queues:
            return None
        logs, config = topic.log.partitions, topic.log.config
        if config.durability != "memory" or config.cleanup != "delete" or self.fetches.awaited(name, len(logs)):
            return None
        if any(each.topic == name for each in self._subscriptions.values()):
            return None
        return logs, topic.log.partitioner

    def plain_queue(self, name: str) -> PlainQueue | None:
        """A queue in memory where a message can be put in and taken out without a look at anything else; else None."""
        topic, queue = self._topics.get(name), self._queues.get(name)
        if topic is None or queue is None or topic.gate is not None or topic.schema is not None:
            return None
        (log, *levels), config, kept = topic.log.partitions, queue.config, topic.log.config
        if levels or queue.waiting_takers or config.lease_ms < _LONG_LEASE_MS:
            return None
        if kept.durability != "memory" or kept.cleanup != "delete" or kept.message_ttl_ms is not None:
            return None
        return PlainQueue(log, ns_from_ms(config.lease_ms), queue.ready == 0 and config.balancing == FIRST_COME)

    @property
    def epoch_ms(self) -> int:
        """The Unix time of session time 0."""
        return self._epoch_ms

    # -- inside

    def _journal_of(self, log: TopicLog) -> Journal | None:
        """Where a queue writes that reads `log`; None where nothing of it outlives the process."""
        return None if "memory" in {self._log_config.durability, log.config.durability} else self.journal

    def _check_fields(self, name: str, messages: Sequence[Message]) -> None:
        """Raises INVALID_RECORD for a time to live out of range, or a priority that queue `name` has no level for."""
        check_lifetimes(messages)
        queue = self._queues.get(name)
        if queue is not None:
            check_priorities(name, queue.config.priorities, messages)

    def _published_ns(self, topic: str, partition: int, offset: int) -> int | None:
        """When the message at `offset` was published, or the first behind it that is there; None where none is."""
        return self._partition(topic, partition).published_from_ns(offset)

    def _add_topic(
        self,
        name: str,
        partitions: int,
        partitioner: Partitioner,
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
    ) -> Topic:
        self._check_new(name)
        topic = Topic(
            TopicLog(
                self._files,
                name,
                partitions,
                config=log or self._log_config,
                partitioner=partitioner,
                epoch_ms=self._epoch_ms,
            )
        )
        self._topics[name] = topic
        self.revision += 1
        if flow is not None:
            topic.is_limited = True
            self._add_gate(name, topic, flow)
        return topic

    def check_new(self, name: str) -> None:
        """Raises INVALID_TOPIC or TOPIC_ALREADY_EXISTS where no topic or queue can get that name."""
        check_name(name)
        if not (self._topics.takes(name) and self._queues.takes(name)):
            raise BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS, name)

    def _add_bin(self, name: str, log: LogConfig | None) -> Topic:
        """A topic for dead letters: kept as `log` says, but neither compacted, for they have no keys, nor expired."""
        config = msgspec.structs.replace(log or self._log_config, cleanup="delete", message_ttl_ms=None)
        return self._add_topic(name, 1, Partitioner("crc32"), None, config)

    def _check_new(self, name: str) -> None:
        self.check_new(name)

    def _add_gate(self, name: str, topic: Topic, flow: FlowConfig) -> None:
        topic.counts_bytes = flow.max_bytes is not None
        topic.gate = Gate(
            name,
            flow,
            lambda: self._depth(name),
            self._events,
            self._timers,
            evict=lambda *room: self._evict(name, *room),
            readers=lambda count: self._obstacle(name, count),
        )

    def _obstacle(self, name: str, count: int) -> Obstacle | None:
        """The subscription to topic `name` that has no room; one that refuses before one that waits."""
        found: Obstacle | None = None
        for subscriber, each in self._subscriptions.items():
            if each.topic == name and (cause := each.obstacle(count)):
                refuses = each.policy == "reject" or each.never_fits(count)
                if refuses or found is None:
                    found = Obstacle(Answer.REFUSE if refuses else Answer.PARK, cause, subscriber)
                if refuses:
                    break
        return found

    def _depth(self, name: str) -> tuple[int, int, str]:
        """Messages and bytes that the slowest reader of `name` has not finished with, and who that is."""
        queue = self._queues.get(name)
        if queue is not None:
            return queue.ready + queue.delayed + queue.in_flight, queue.size_bytes, name
        topic = self._topics[name]
        # After a restart a group is known by what it has committed before anybody reads for it.
        groups = dict.fromkeys((*self.fetches.readers(name), *self.groups.readers(name)))
        readers = [group for group in groups if not self.groups.has_left(group, name)]
        if readers:
            return max((*self._unfinished(topic, (group,), begun=True), group) for group in readers)
        if any(each.topic == name for each in self._subscriptions.values()):
            return 0, 0, ""  # each of them has a limit of its own
        # Whoever comes next finds what nobody has finished with yet.
        return (*self._unfinished(topic, groups, begun=False), "")

    def _unfinished(self, topic: Topic, groups: Iterable[str], *, begun: bool) -> tuple[int, int]:
        """Messages and bytes that none of `groups` has finished with.

        Where they have not begun with a partition, all of it counts, or nothing where only what was `begun` does.
        """
        messages = size_bytes = 0
        name = topic.log.name
        for number, log in enumerate(topic.log.partitions):
            starts = []
            for group in groups:
                committed = self.groups.committed(group, name, number)
                start = self.fetches.start(group, name, number) if committed is None else committed
                starts += [] if start is None else [start]
            if starts or not begun:
                start = max((log.start_offset, *starts))
                messages += log.messages_count if start == log.start_offset else log.end_offset - start
                if topic.counts_bytes:
                    size_bytes += sum(run.size_bytes for run in log.runs(start, log.end_offset))
        return messages, size_bytes

    def _make_room(self, now_ns: int, name: str) -> None:
        topic = self._topics.get(name)
        if topic is not None and topic.gate is not None:
            topic.gate.room(now_ns)

    def _make_room_everywhere(self, now_ns: int) -> None:
        """What a group no longer reads does not wait for it any more."""
        for topic in self._topics.values():
            if topic.gate is not None:
                topic.gate.room(now_ns)

    def _evict(self, name: str, now_ns: int, messages: int, size_bytes: int, than: int | None) -> bool:
        """Make room in a queue; a topic's log keeps what it has."""
        queue = self._queues.get(name)
        return queue is not None and queue.evict(now_ns, messages, size_bytes, than)

    def _topic(self, name: str) -> Topic:
        topic = self._topics.get(name)
        if topic is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return topic

    def _partition(self, name: str, partition: int) -> PartitionLog:
        partitions = self._topic(name).log.partitions
        if not 0 <= partition < len(partitions):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{name}/{partition}")
        return partitions[partition]


def level_of(queue: Queue, message: Message) -> int:
    """The partition of the message's priority; a redriven one that has no level goes to the nearest."""
    return min(max(message.priority, 0), queue.config.priorities - 1)


def payload_bytes(message: Message) -> int:
    """Bytes of key and value."""
    return len(message.key or b"") + len(message.value or b"")
