from __future__ import annotations

from broker_core.engine.host import Host
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.operations.queues import CreateQueue
from broker_core.operations.topics import CreateTopic, LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import Count, checked_class
from broker_core.snapshots import DeadLetterView, GroupView, OffsetView, QueueView, TopicView


@checked_class()
class Admin:
    """Each change is saved when its call returns, and is an event of the broker's stream. From any thread.

    Everything else is an operation of the catalogue: `host.ask(DeleteTopic(topic="orders"))`.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._broker = host.broker

    # -- topics

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        partitioner: PartitionerKind = "crc32",
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
        schema: SchemaRule | None = None,
    ) -> None:
        """Create a topic; without `log` it is kept as the host's configuration says.

        Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC, INVALID_PARTITIONS, UNKNOWN_SUBJECT.
        """
        settings = LogSettings.of(log)
        self._host.ask(
            CreateTopic(name=name, partitions=partitions, partitioner=partitioner, log=settings, flow=flow, rule=schema)
        )

    def topics(self) -> tuple[str, ...]:
        """Names, in the order of creation."""
        return self._host.call(lambda _now: self._broker.topics.names())

    def describe_topic(self, name: str) -> TopicView:
        """Partitions, counters and gate. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda now_ns: self._broker.views.topic(now_ns, name))

    # -- queues

    def create_queue(
        self,
        name: str,
        config: QueueConfig | None = None,
        *,
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
    ) -> None:
        """Create a queue. Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC."""
        settings = config or QueueConfig()
        self._host.ask(CreateQueue(name=name, settings=settings, flow=flow, log=LogSettings.of(log)))

    def describe_queue(self, name: str) -> QueueView:
        """Counts, leases and the newest dead letters. Raises UNKNOWN_QUEUE."""
        return self._host.call(lambda now_ns: self._broker.views.queue(now_ns, name))

    def queues(self) -> tuple[str, ...]:
        """Queues and subscriptions, in the order of creation."""
        return self._host.call(lambda _now: self._broker.queues.names())

    # -- dead letters

    def dead_letters(self, queue: str, *, offset: int = 0, limit: Count | None = 100) -> tuple[DeadLetterView, ...]:
        """At most `limit` dead letters from `offset` on, the oldest first. Raises UNKNOWN_QUEUE."""
        return self._host.call(lambda _now: self._broker.queues.dead_letters(queue).list(None, offset, limit))

    # -- groups

    def groups(self) -> list[str]:
        """Names, sorted."""
        return self._host.call(lambda _now: self._broker.groups.groups())

    def describe_group(self, name: str) -> GroupView:
        """State, members, offsets and lag. Raises GROUP_ID_NOT_FOUND."""
        return self._host.call(lambda now_ns: self._broker.groups.view(now_ns, name))

    def lag(self, group: str) -> tuple[OffsetView, ...]:
        """The group's position in each partition; a lag is None if nothing is committed."""
        return self.describe_group(group).offsets
