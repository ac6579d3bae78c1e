"""What tests ask of a broker, under the names of `Admin`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

import broker_core
from broker_core.clock import ns_from_s
from broker_core.engine.host import Host
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Change, Target
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.operations.dead_letters import (
    DeadLettersByCause,
    PurgeLetters,
    Redrive,
    RedriveAnswer,
    StoredEdit,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.operations.groups import DeleteGroup, ResetOffsets
from broker_core.operations.queues import CreateSubscription, DeleteQueue, PurgeQueue, UndoPurgeQueue
from broker_core.operations.schemas import (
    CompatibilityMode,
    DeleteSubject,
    DeleteVersion,
    RegisterSchema,
    SchemaText,
    SetCompatibility,
)
from broker_core.operations.topics import (
    AddPartitions,
    ConfigureTopic,
    DeleteRecords,
    DeleteTopic,
    LogSettings,
    RemoveSchemaRule,
    SetSchemaRule,
)
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_record import Edits
from broker_core.queues.dead_letters import PurgeResult, RedrivePreview
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.schemas.compatibility import Compatibility, SchemaProblem
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import SchemaRegistry, SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import LimitPolicy
from broker_core.snapshots import SlowReader


class Admin(broker_core.Admin):
    def delete_topic(self, name: str) -> None:
        """Delete a topic, its messages and the offsets committed for it.

        Raises UNKNOWN_TOPIC_OR_PARTITION, and INVALID_REQUEST while a queue or subscription needs it.
        """
        self._host.ask(DeleteTopic(topic=name))

    def create_partitions(self, name: str, total: int) -> None:
        """Give `name` more partitions, `total` in all; keys may be mapped to other partitions.

        Raises UNKNOWN_TOPIC_OR_PARTITION, INVALID_PARTITIONS, and INVALID_REQUEST as `delete_topic`.
        """
        self._host.ask(AddPartitions(topic=name, total=total))

    def configure_topic(self, name: str, *, log: LogConfig | None = None, flow: FlowConfig | None = None) -> None:
        """None leaves settings. Raises UNKNOWN_TOPIC_OR_PARTITION, and INVALID_CONFIG for another durability."""
        self._host.ask(ConfigureTopic(topic=name, log=LogSettings.of(log), flow=flow))

    def topic_config(self, name: str) -> LogConfig:
        """The settings of the topic's log. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda _now: self._broker.topics.config(name))

    def flow_config(self, name: str) -> FlowConfig | None:
        """The limits of the topic or queue; None if there are none. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda _now: self._broker.backpressure.config(name))

    def partitioner(self, name: str) -> PartitionerKind:
        """How the topic chooses partitions by keys. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda _now: self._broker.topics.partitioner_kind(name))

    def messages(
        self, topic: str, partition: int = 0, offset: int | None = None, *, limit: int = 100
    ) -> tuple[StoredMessage, ...]:
        """At most `limit` messages of a partition from `offset`, or its beginning, on; that counts as no reading.

        Raises UNKNOWN_TOPIC_OR_PARTITION, OFFSET_OUT_OF_RANGE, DAMAGED.
        """

        def read(_now: int) -> tuple[StoredMessage, ...]:
            log = self._broker.logs.partition(topic, partition)
            return tuple(log.read(log.start_offset if offset is None else offset, max_messages=limit))

        return self._host.call(read)

    def delete_records(self, name: str, before: Mapping[int, int]) -> dict[int, int]:
        """Delete the messages below the offset given for each partition; the start offsets now."""
        named = {str(partition): offset for partition, offset in before.items()}
        starts = self._host.ask(DeleteRecords(topic=name, before=named))
        return {int(partition): offset for partition, offset in starts.items()}

    def create_subscription(
        self,
        name: str,
        topic: str,
        config: QueueConfig | None = None,
        *,
        max_messages: int | None = None,
        policy: LimitPolicy = "drop_newest",
    ) -> None:
        """Create a queue that gets every message of `topic` from now on; at most `max_messages` wait in it.

        Raises UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS, INVALID_CONFIG.
        """
        settings = config or QueueConfig()
        self._host.ask(
            CreateSubscription(name=name, topic=topic, settings=settings, max_messages=max_messages, policy=policy)
        )

    def delete_queue(self, name: str) -> None:
        """Delete a queue or subscription, its messages and its dead letters. Raises UNKNOWN_QUEUE."""
        self._host.ask(DeleteQueue(queue=name))

    def queue_config(self, name: str) -> QueueConfig:
        """The settings of the queue. Raises UNKNOWN_QUEUE."""
        return self._host.call(lambda _now: self._broker.queues.queue(name).config)

    def peek_queue(self, name: str, max_messages: int = 10) -> tuple[StoredMessage, ...]:
        """The next messages of a queue, the most urgent first, without taking them. Raises UNKNOWN_QUEUE."""
        return self._host.call(lambda _now: tuple(self._broker.queues.queue(name).peek(max_messages)))

    def purge_queue(self, name: str) -> int:
        """Remove all messages that are not leased; their number. Raises UNKNOWN_QUEUE."""
        return self._host.ask(PurgeQueue(queue=name)).messages

    def undo_purge_queue(self, name: str) -> int:
        """Restore what the last purge removed, within the undo window; the number of messages."""
        return self._host.ask(UndoPurgeQueue(queue=name)).messages

    def dead_letters_by_cause(self, queue: str) -> dict[str, int]:
        """The number of dead letters by cause, the most frequent first."""
        return self._host.ask(DeadLettersByCause(queue=queue))

    def preview_redrive(self, queue: str, offsets: Iterable[int], edits: Edits | None = None) -> RedrivePreview:
        """The outcome that `redrive` would have; nothing is changed."""
        return self._host.call(lambda _now: self._broker.queues.dead_letters(queue).preview(offsets, edits))

    def redrive(
        self, queue: str, offsets: Sequence[int] | None = None, edits: Edits | None = None, *, cause: str = ""
    ) -> RedriveAnswer:
        """Publish these dead letters, or all, or those of a `cause`, to their origin again.

        `edits` holds a message to publish in place of one, or a `DeadLetterEdit` of it, by offset.
        """
        changed = tuple(StoredEdit(offset=offset, edit=edit) for offset, edit in (edits or {}).items())
        chosen = None if offsets is None else list(offsets)
        return self._host.ask(Redrive(queue=queue, cause=cause, offsets=chosen, edits=changed))

    def purge_dead_letters(self, queue: str, offsets: Iterable[int] | None = None) -> PurgeResult:
        """Remove these dead letters, or all."""
        return self._host.ask(PurgeLetters(queue=queue, offsets=None if offsets is None else list(offsets)))

    def redrive_paced(self, queue: str, offsets: Sequence[int], rate_per_s: float) -> PacedRedrive:
        def start(now_ns: int) -> PacedRedrive:
            self._broker.handle(now_ns, Redrive(queue=queue, offsets=list(offsets), rate_per_s=rate_per_s))
            return self._broker.redrives.paced.last(queue)

        return self._host.call(start)

    def undo_redrive(self, queue: str) -> int:
        """Undo the last redrive, within the undo window: messages not taken yet are dead letters again; their number.

        Raises INVALID_REQUEST for a subscription and for a topic with a schema rule, whose readers have the messages.
        """
        return self._host.ask(UndoRedrive(queue=queue)).messages

    def undo_purge_dead_letters(self, queue: str) -> int:
        """Restore the dead letters that the last purge removed, within the undo window; their number."""
        return self._host.ask(UndoPurgeDeadLetters(queue=queue)).messages

    def damage(self) -> tuple[str, ...]:
        """A sentence for each corruption found on the disk, when it was opened and since; the oldest first."""
        return self._host.call(lambda _now: tuple(self._broker.corruption.sentences))

    def slow_readers(self, *, max_lag: int | None = None, max_lag_s: float | None = None) -> list[SlowReader]:
        """Groups and queues whose lag is above a limit, in messages or in time, the largest first."""
        max_lag_ns = None if max_lag_s is None else ns_from_s(max_lag_s)
        return self._host.call(lambda now_ns: self._broker.views.slow_readers(now_ns, max_lag, max_lag_ns))

    def delete_group(self, name: str) -> None:
        """Delete an empty group and its offsets. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        self._host.ask(DeleteGroup(group=name))

    def preview_reset(self, group: str, target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
        """The changes that `reset_offsets` would make; nothing is changed."""
        chosen = tuple(partitions)
        return self._host.call(lambda _now: self._broker.offsets.preview_reset(group, target, chosen))

    def reset_offsets(self, group: str, target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
        """Set the committed offsets of an empty group; the changes. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        return self._host.ask(ResetOffsets.of(group, target, partitions)).changes


class SchemaAdmin:
    """Each change is saved when its call returns. From any thread."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._broker = host.broker

    @property
    def registry(self) -> SchemaRegistry:
        """The registry, for serializers and to read; a change made here directly is no event and not saved at once."""
        return self._broker.schemas.registry

    def register(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> SchemaVersion:
        return self._host.ask(RegisterSchema(subject=subject, text=SchemaText.of(text, kind)))

    def check(self, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON) -> list[SchemaProblem]:
        return self._host.call(lambda _now: self.registry.check(subject, text, kind))

    def set_compatibility(self, mode: Compatibility | None, subject: str = "") -> None:
        name = None if mode is None else cast(CompatibilityMode, mode.name)
        self._host.ask(SetCompatibility(subject=subject, mode=name))

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> None:
        self._host.ask(DeleteVersion(subject=subject, version=version, permanent=permanent))

    def delete_subject(self, subject: str, *, permanent: bool = False) -> tuple[int, ...]:
        versions = self._host.ask(DeleteSubject(subject=subject, permanent=permanent))
        return tuple(versions)

    def diff(self, subject: str, before: int, after: int | Literal["latest"] = "latest") -> list[SchemaChange]:
        return self._host.call(lambda _now: self.registry.diff(subject, before, after))

    def rule(self, topic: str) -> SchemaRule | None:
        """The schema rule of a topic or queue, None for none. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._host.call(lambda _now: self._broker.schemas.rule(topic))

    def set_rule(self, topic: str, rule: SchemaRule | None) -> None:
        """Set the schema rule of a topic or queue, or remove it.

        Raises UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_SUBJECT, and INVALID_CONFIG for a queue that would dead-letter.
        """
        if rule is None:
            self._host.ask(RemoveSchemaRule(topic=topic))
        else:
            self._host.ask(SetSchemaRule(topic=topic, rule=rule))
