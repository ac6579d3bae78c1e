"""The half of the broker that changes what there is: topics, queues, subscriptions, their settings, offsets."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import msgspec

from broker_core.broker.recently_deleted import BrokerBygones, Bygone
from broker_core.broker.schemas import bin_of
from broker_core.broker.state import Topic
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.flow.config import FlowConfig
from broker_core.groups import offset_reset
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.protocol import TopicPartition
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner, PartitionerKind
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.jitter import Jitter
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import HOLDS_UP, BacklogPolicy, Subscription, check_backlog, subscribed
from broker_core.schemas.rule import SchemaRule


class BrokerAdmin(BrokerBygones):
    """Each change is an event. `catalog` is what a restart needs to make it all again."""

    # -- topics

    def create_topic(
        self,
        now_ns: int,
        name: str,
        partitions: int,
        *,
        partitioner: PartitionerKind = "crc32",
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
        schema: SchemaRule | None = None,
    ) -> None:
        """`log` None is the broker's own.

        Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC, INVALID_PARTITIONS or UNKNOWN_SUBJECT.
        """
        self._check_subject(schema)
        if schema is not None and schema.mode == "dead_letter":
            self._check_new(bin_of(name))
        self._add_topic(name, partitions, Partitioner(partitioner), flow, log)
        self._set_rule(name, schema)
        # Who audits a recording must know that messages may vanish from the middle of this one.
        detail = {"cleanup": "compact"} if self._topic(name).log.config.cleanup == "compact" else None
        self._events.emit(now_ns, EventKind.TOPIC_CREATED, topic=name, count=partitions, detail=detail)
        self.groups.topic_changed(now_ns, name)

    def delete_topic(self, now_ns: int, name: str, *, undo_window_ms: float = 0) -> None:
        """The topic, its messages and what groups have committed for it are gone.

        For `undo_window_ms`, `restore_deleted` brings them back. Raises UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST
        for what belongs to a queue or has subscriptions.
        """
        self.must_be_plain(name, "deleted")
        before = self.totals()
        bygone = Bygone({}, self._bins.pop(name, None), committed=self._committed_in(name))
        for each in (name, *(() if bygone.letters is None else (bygone.letters.name,))):
            bygone.topics[each] = self._take_out(now_ns, each)
        self._note_former(before, bygone)
        self._keep(now_ns, name, bygone, undo_window_ms)
        self._events.emit(now_ns, EventKind.TOPIC_DELETED, topic=name)
        self.groups.topic_changed(now_ns, name)

    def restore_deleted(self, now_ns: int, name: str) -> None:
        """The topic, queue or subscription `name`, which was deleted within its undo window, is there as it was.

        Raises INVALID_REQUEST where it is not kept any more, or its name is taken.
        """
        found = self._take_back(name)
        if found.queue is None:
            count = len(found.topics[name].log.partitions)
            self._events.emit(now_ns, EventKind.TOPIC_CREATED, topic=name, count=count, cause="restored")
        else:
            topic, group = (name, "") if found.subscription is None else (found.subscription.topic, name)
            count = len(found.queue.levels.tables)
            self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=topic, group=group, count=count, cause="restored")
            found.queue.reopen(now_ns)
        for each in found.topics:
            self.groups.topic_changed(now_ns, each)

    def add_partitions(self, now_ns: int, name: str, total: int) -> None:
        """The topic has `total` partitions from now on; keys may land elsewhere.

        Raises UNKNOWN_TOPIC_OR_PARTITION, INVALID_PARTITIONS where that is not more, INVALID_REQUEST as `delete_topic`.
        """
        self.must_be_plain(name, "given more partitions")
        log = self._topic(name).log
        log.add_partitions(total - len(log.partitions))
        self.revision += 1
        self._events.emit(now_ns, EventKind.PARTITIONS_ADDED, topic=name, count=total)
        self.groups.topic_changed(now_ns, name)

    def configure_topic(
        self, now_ns: int, name: str, *, log: LogConfig | None = None, flow: FlowConfig | None = None, cause: str = ""
    ) -> None:
        """Other settings from now on; None leaves them. `cause` is what the event says of it.

        Raises INVALID_CONFIG where the durability would change.
        """
        topic = self._topic(name)
        self.revision += 1
        if log is not None:
            topic.log.configure(log)
        # Before its effects: a wider gate lets in who waits.
        detail = {"log": msgspec.to_builtins(log), "flow": msgspec.to_builtins(flow)}
        self._events.emit(now_ns, EventKind.USER_ACTION, topic=name, cause=cause or f"configured {name}", detail=detail)
        topic.is_limited = topic.is_limited or flow is not None
        if flow is not None and topic.gate is None:
            self._add_gate(name, topic, flow)
        elif flow is not None and topic.gate is not None:
            topic.counts_bytes = flow.max_bytes is not None
            topic.gate.configure(now_ns, flow)

    def delete_records(self, now_ns: int, name: str, partition: int, before_offset: int) -> int:
        """Messages below `before_offset` are gone; the partition's start offset now.

        Raises UNKNOWN_TOPIC_OR_PARTITION, OFFSET_OUT_OF_RANGE.
        """
        log = self._partition(name, partition)
        old = log.start_offset
        log.delete_before(before_offset)
        self._say_deleted(now_ns, log, old, "delete records")
        return log.start_offset

    def clean(self, now_ns: int) -> None:
        """Apply retention, begin the compactions that are due, and say what was found damaged.

        Raises the first STORAGE_ERROR, after the rest.
        """
        failed: BrokerError | None = None
        for topic in self._topics.values():
            for log in topic.log.partitions:
                old = log.start_offset
                try:
                    log.apply_retention(now_ns)
                except BrokerError as error:
                    failed = failed or error
                self._say_deleted(now_ns, log, old, "retention")
            self._cleaner.look(now_ns, topic.log.partitions)
        self.tell_damage(now_ns)
        if failed is not None:
            raise failed

    def compact(self, now_ns: int) -> float:
        """One slice of the compactions that `clean` has begun, a few milliseconds; which part of the time the next ones
        are to get, 0 where there are none. Raises STORAGE_ERROR.
        """
        return self._cleaner.step(now_ns)

    # -- queues and subscriptions

    def create_queue(
        self,
        now_ns: int,
        name: str,
        config: QueueConfig,
        *,
        flow: FlowConfig | None = None,
        jitter_seed: int = 0,
        log: LogConfig | None = None,
        restored: bool = False,
    ) -> None:
        """A queue, its log with a partition for each priority, and the bin for its dead letters.

        Where it is `restored`, what the journal tells of it holds.
        """
        bin_name = config.dead_letter_topic_of(name)
        self._check_new(name)  # first: who makes a queue twice must not hear of its bin
        self._check_new(bin_name)
        topic = self._add_topic(name, config.priorities, Partitioner("crc32"), flow, log)
        bin_log = self._add_bin(bin_name, log).log
        self._queues[name] = Queue(
            name,
            topic.log,
            DeadLetters(bin_log, self._events),
            self._events,
            self._timers,
            config,
            jitter=self._jitter(name, jitter_seed),
            room=lambda time_ns: self._make_room(time_ns, name),
            journal=self._journal_of(topic.log),
        )
        if not restored:
            self._queues[name].begin(now_ns)
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
        from_end: bool = True,
        restored: bool = False,
    ) -> None:
        """A fan-out subscription `name`: from now on it gets every message of `topic`, with leases as a queue has.

        Where `max_messages` wait in it already, `policy` says what becomes of more, see `BacklogConfig`. Of its
        `priorities` the most urgent message is handed out first, whatever its partition. Take,
        acknowledge and redrive as for a queue. Without `from_end` it gets what is there, too; where it is `restored`,
        what the journal tells of it holds. Raises UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS, INVALID_CONFIG.
        """
        log = self._topic(topic).log
        self._check_new(name)
        check_backlog(max_messages, policy)
        bin_log = self._add_bin(config.dead_letter_topic_of(name), None).log
        queue = self._queues[name] = subscribed(
            log,
            name,
            bin_log,
            self._events,
            self._timers,
            config,
            jitter=self._jitter(name),
            journal=self._journal_of(log),
            room=lambda time_ns: self._make_room(time_ns, topic),
            from_end=from_end,
        )
        if not restored:
            queue.begin(now_ns)
        self._subscriptions[name] = Subscription(topic, queue, max_messages, policy)
        if max_messages is not None and policy in HOLDS_UP and self._topic(topic).gate is None:
            # Whoever publishes has to look whether there is room.
            self._add_gate(topic, self._topic(topic), FlowConfig())
            self.revision += 1
        self._events.emit(now_ns, EventKind.QUEUE_CREATED, topic=topic, group=name, count=len(log.partitions))

    def delete_queue(self, now_ns: int, name: str, *, undo_window_ms: float = 0) -> None:
        """The queue or subscription is gone, with its messages and its dead letters.

        For `undo_window_ms`, `restore_deleted` brings them back. Raises UNKNOWN_QUEUE.
        """
        queue = self.queue(name)
        before = self.totals()
        subscription = self._subscriptions.pop(name, None)
        del self._queues[name]
        queue.close()
        bygone = Bygone({}, queue=queue, subscription=subscription)
        for each in (*(() if subscription is not None else (name,)), queue.dead_letters.name):
            bygone.topics[each] = self._take_out(now_ns, each)
        self._note_former(before, bygone)
        self._keep(now_ns, name, bygone, undo_window_ms)
        topic, group = (name, "") if subscription is None else (subscription.topic, name)
        self._events.emit(now_ns, EventKind.TOPIC_DELETED, topic=topic, group=group)
        if subscription is not None:
            self._make_room(now_ns, topic)

    # -- offsets

    def preview_reset(self, group: str, target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
        """What a reset of committed offsets would change; nothing is done."""
        return offset_reset.preview(group, target, partitions, self, self.groups.committed)

    def reset_offsets(
        self, now_ns: int, group: str, target: Target, partitions: Iterable[TopicPartition]
    ) -> list[Change]:
        """Do what `preview_reset` says. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        changes = self.preview_reset(group, target, partitions)
        cause = f"{group} was reset {offset_reset.sentence(target)}"
        self.groups.reset(now_ns, group, changes, cause)
        for topic in {change.topic for change in changes}:
            self._make_room(now_ns, topic)
        return changes

    def start_offset(self, topic: str, partition: int) -> int:
        """The first offset that is still there. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._partition(topic, partition).start_offset

    def end_offset(self, topic: str, partition: int) -> int:
        """The offset after the last message that can be read. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._partition(topic, partition).high_watermark

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """The first offset published at that Unix time or later; None where none was."""
        log = self._partition(topic, partition)
        offset = log.offset_for_time((timestamp_ms - self._epoch_ms) * NS_PER_MS)
        return offset if offset < log.high_watermark else None

    # -- looking

    def flow_config(self, name: str) -> FlowConfig | None:
        """What the topic or queue takes; None where nothing limits it. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        topic = self._topic(name)
        return topic.gate.config if topic.gate is not None and topic.is_limited else None

    # -- inside

    def _jitter(self, queue: str, seed: int = 0) -> Jitter:
        # With the name, so that queues of one seed do not retry in step.
        return Jitter(self.jitter_seed + seed + zlib.crc32(queue.encode()))

    def must_be_plain(self, name: str, what: str) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION, and INVALID_REQUEST where `name` is no topic that can be `what` alone."""
        self._topic(name)
        owners = [queue for queue, found in self._queues.items() if name in {queue, found.dead_letters.name}] + [
            subscriber for subscriber, each in self._subscriptions.items() if each.topic == name
        ]
        owners += [topic for topic, letters in self._bins.items() if letters.name == name]
        if owners:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"{name} cannot be {what} while {owners[0]} needs it; delete that first"
            )

    def _take_out(self, now_ns: int, name: str) -> Topic:
        topic = self._topics[name]
        gone = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{name} was deleted")
        if topic.gate is not None:
            topic.gate.close(now_ns)
        del self._topics[name]
        self.revision += 1
        for log in topic.log.partitions:
            self.syncs.forget(log, gone)
            self._cleaner.forget(log)
        self.fetches.forget_topic(name)
        return topic

    def _say_deleted(self, now_ns: int, log: PartitionLog, old_start: int, cause: str) -> None:
        count = log.start_offset - old_start
        if count > 0:
            self._events.emit(
                now_ns,
                EventKind.RECORDS_DELETED,
                topic=log.topic,
                partition=log.partition,
                offset=old_start,
                count=count,
                cause=cause,
            )
            self._make_room(now_ns, log.topic)
