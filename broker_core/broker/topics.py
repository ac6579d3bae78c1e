from __future__ import annotations

from collections.abc import Collection

import msgspec

from broker_core.broker.backpressure import Backpressure
from broker_core.broker.catalog import TopicEntry
from broker_core.broker.group_offsets import GroupOffsets
from broker_core.broker.logs import Logs, totals_of
from broker_core.broker.recently_deleted import Deleted, RecentlyDeleted
from broker_core.broker.schemas import Schemas, dead_letter_queue_of
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.flow.config import FlowConfig
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import Partitioner, PartitionerKind
from broker_core.schemas.rule import SchemaRule


class Topics(msgspec.Struct, eq=False):
    """Topics in the order of creation, without the logs of queues and their dead-letter queues."""

    _logs: Logs
    _schemas: Schemas
    _backpressure: Backpressure
    _groups: GroupCoordinator
    _offsets: GroupOffsets
    _recently_deleted: RecentlyDeleted
    _events: EventStream

    def names(self) -> tuple[str, ...]:
        return self._logs.plain_names()

    def __contains__(self, name: str) -> bool:
        topic = self._logs.get(name)
        return topic is not None and self._logs.is_plain(topic)

    def config(self, name: str) -> LogConfig:
        """The configuration of the topic's log. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._logs.topic(name).log.config

    def partitioner_kind(self, name: str) -> PartitionerKind:
        """The kind of the topic's partitioner. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._logs.topic(name).log.partitioner.kind

    def check_plain(self, name: str, what: str, but: Collection[str] = ()) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION, and INVALID_REQUEST if a queue or subscription needs the topic.

        `what` is the participle for the sentence, as "deleted"; the subscriptions `but` do not count.
        """
        topic = self._logs.topic(name)
        readers = (each for each in topic.subscriptions if each not in but)
        needed_by = name if topic.queue is not None else topic.owner or next(readers, "")
        if needed_by:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"{name} cannot be {what} while {needed_by} needs it; delete that first"
            )

    def create(
        self,
        now_ns: int,
        name: str,
        partitions: int,
        *,
        partitioner: PartitionerKind = "crc32",
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
        schema: SchemaRule | None = None,
        kept_id: bytes = b"",
    ) -> None:
        """Create a topic; `log` None is the broker's own configuration, `kept_id` the id of one that is restored.

        Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC, INVALID_PARTITIONS or UNKNOWN_SUBJECT.
        """
        self._logs.check_new(name, partitions)
        self._schemas.check_subject(schema)
        if schema is not None and schema.mode == "dead_letter":
            self._logs.claim(dead_letter_queue_of(name))
        topic = self._logs.add(name, partitions, Partitioner(partitioner), log, kept_id=kept_id, now_ns=now_ns)
        if flow is not None:
            self._backpressure.limit(now_ns, topic, flow)
        try:
            self._schemas.apply(topic, schema)
        except BrokerError:
            self._logs.discard(now_ns, name)
            raise
        # An audit of the recording must know that messages may vanish from the middle of this topic.
        detail = {"cleanup": "compact"} if topic.log.config.compacts else None
        self._events.emit(now_ns, EventKind.TOPIC_CREATED, topic=name, count=partitions, detail=detail)
        self._groups.topic_changed(now_ns, name)

    def add_partitions(self, now_ns: int, name: str, total: int) -> None:
        """Grow the topic to `total` partitions; keys may move to others. Subscriptions read the new ones, too.

        Raises UNKNOWN_TOPIC_OR_PARTITION, INVALID_PARTITIONS if that is not more, INVALID_REQUEST for what belongs
        to a queue.
        """
        topic = self._logs.topic(name)
        self.check_plain(name, "given more partitions", but=topic.subscriptions)
        log = topic.log
        self._logs.put_aside(name)
        log.add_partitions(total - len(log.partitions))
        for subscription in topic.subscriptions.values():
            if not subscription.is_shared:  # members of share groups have to be told first
                subscription.queue.levels.grow(log.partitions)
        self._logs.revision += 1
        self._events.emit(now_ns, EventKind.PARTITIONS_ADDED, topic=name, count=total)
        self._groups.topic_changed(now_ns, name)

    def configure(
        self, now_ns: int, name: str, *, log: LogConfig | None = None, flow: FlowConfig | None = None, cause: str = ""
    ) -> None:
        """Change the settings of a topic or queue; None leaves them. `cause` is that of the event.

        Raises INVALID_CONFIG if the durability would change.
        """
        topic = self._logs.topic(name)
        self._logs.revision += 1
        if log is not None:
            topic.log.configure(log)
        # Before its effects: a wider gate admits producers that wait.
        detail = {"log": msgspec.to_builtins(log), "flow": msgspec.to_builtins(flow)}
        self._events.emit_action(now_ns, topic=name, cause=cause or f"configured {name}", detail=detail)
        if flow is not None:
            self._backpressure.limit(now_ns, topic, flow)

    def delete(self, now_ns: int, name: str) -> None:
        """Delete the topic, its messages and what groups have committed for it.

        Raises UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST for what belongs to a queue or has subscriptions.
        """
        self.check_plain(name, "deleted")
        dead_letters = self._logs.topic(name).dead_letters
        names = (name,) if dead_letters is None else (name, dead_letters.name)
        totals = totals_of((self._logs.topic(each) for each in names), ())
        committed = self._offsets.committed_in(name)
        topics = [self._logs.remove(now_ns, each) for each in names]

        def restore(restored_ns: int) -> None:
            self._logs.put_back(topics)
            self._offsets.put_back(name, committed)
            count = len(topics[0].log.partitions)
            self._events.emit(restored_ns, EventKind.TOPIC_CREATED, topic=name, count=count, cause="restored")
            for each in names:
                self._groups.topic_changed(restored_ns, each)

        logs = tuple(each.log for each in topics)
        deleted = Deleted(logs, False, restore, lambda: self._logs.why_taken(names), totals)
        try:
            self._recently_deleted.add(now_ns, name, deleted)
        finally:  # it is deleted even if its files stay
            self._events.emit(now_ns, EventKind.TOPIC_DELETED, topic=name)
            self._groups.topic_changed(now_ns, name)

    # -- over a restart

    def entries(self) -> tuple[TopicEntry, ...]:
        return tuple(
            TopicEntry(
                topic.name,
                len(topic.log.partitions),
                topic.log.partitioner.kind,
                topic.log.config,
                self._backpressure.config(topic.name),
                topic.schema,
                topic.dead_letters is not None,
                topic.id.hex(),
                topic.kafka_settings,
            )
            for topic in self._logs
            if topic.queue is None and not topic.owner
        )

    def restore(self, now_ns: int, entry: TopicEntry) -> None:
        self.create(
            now_ns,
            entry.name,
            entry.partitions,
            partitioner=entry.partitioner,
            flow=entry.flow,
            log=entry.log,
            kept_id=bytes.fromhex(entry.id),
        )
        topic = self._logs.topic(entry.name)
        topic.kafka_settings = entry.kafka_settings
        # The subject may have been deleted since.
        self._schemas.apply(topic, entry.schema)
        if entry.has_bin:
            self._schemas.add_dead_letter_queue(topic)
