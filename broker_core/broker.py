"""The broker: topics, groups, queues and their backpressure behind one face. Every public call is here, and takes the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.files import FileSystem
from broker_core.flow.gate import FlowConfig, Gate
from broker_core.groups.config import GroupConfig
from broker_core.groups.coordinator import GroupCoordinator, JoinResult, SyncResult
from broker_core.groups.fetches import Fetches, FetchReply
from broker_core.groups.offsets import OffsetStore
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import Partitioner
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message
from broker_core.names import check_name
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.queue import Lease, Queue, QueueConfig
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
    """Where a message was appended."""

    topic: str
    partition: int
    offset: int


class _Topic:
    """A topic's log, its gate, and its counters."""

    def __init__(self, log: TopicLog, gate: Gate | None) -> None:
        self.log = log
        self.gate = gate
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
        )
        self._published = 0
        self._rejected = 0

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
        bin_name = config.dead_letter_topic or f"{name}.dlq"
        bin_log = self._add_topic(bin_name, 1, Partitioner("crc32"), None).log
        dead_letters = DeadLetters(bin_log, self._events)
        self._queues[name] = Queue(name, topic.log, dead_letters, self._events, self._timers, config)
        self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=name, count=config.priorities)

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
            topic.gate = Gate(name, flow, lambda: self._depth(name), self._events, self._timers)
        return topic

    def partition_count(self, topic: str) -> int:
        """How many partitions `topic` has. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return len(self._topic(topic).log.partitions)
