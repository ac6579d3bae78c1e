from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from broker_core.broker.recently_deleted import RecentlyDeleted
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.flow.gate import Gate
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.log.reserved_headers import check_lifetimes
from broker_core.log.topic_log import TopicLog, check_partitions
from broker_core.messages import Message, grouped
from broker_core.names import ByName, check_name
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.levels import check_priorities
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import Subscription
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import Totals

_NAMESPACE = bytes.fromhex("6f8d7f2e2c4b4b8e9f3a5d1c7a90e6b4")


def topic_id(name: str, *made: object) -> bytes:
    """The id of `name` (RFC 9562, version 5); `made` tells it from others of that name."""
    text = " ".join(map(str, (name, *made)))
    found = bytearray(hashlib.sha1(_NAMESPACE + text.encode(), usedforsecurity=False).digest()[:16])
    found[6], found[8] = found[6] & 0x0F | 0x50, found[8] & 0x3F | 0x80
    return bytes(found)


class Topic(msgspec.Struct, eq=False):
    """A log with its state. Each part of the broker writes its own fields and reads the others.

    `owner` names the queue, subscription or topic of a dead-letter queue; it is "" for any other log.
    """

    log: TopicLog
    id: bytes
    owner: str = ""
    kafka_settings: dict[str, str] = {}  # that do nothing here, by Kafka's names: kept for those who read them
    # Backpressure
    gate: Gate | None = None
    is_limited: bool = False  # by the gate itself, and not only by subscriptions
    counts_bytes: bool = False
    # Queues
    queue: Queue | None = None  # the queue whose log it is
    subscriptions: dict[str, Subscription] = {}
    # Schemas
    schema: SchemaRule | None = None
    refused: int = 0  # by the schema
    dead_lettered: int = 0  # refused by the schema, and dead-lettered
    dead_letters: DeadLetters | None = None  # of what the schema refuses
    # Publishing
    published: int = 0
    published_bytes: int = 0

    @property
    def name(self) -> str:
        return self.log.name

    @property
    def judges_each(self) -> bool:
        """Whether a limit or a schema applies to each message by itself."""
        return self.gate is not None or self.schema is not None

    @property
    def just_appends(self) -> bool:
        """Whether a message is in a log in memory with the call, and is neither judged nor compacted."""
        config = self.log.config
        return not self.judges_each and config.durability == "memory" and config.cleanup == "delete"

    def make_room(self, now_ns: int) -> None:
        """Admit waiting producers, after messages were finished with or removed."""
        if self.gate is not None:
            self.gate.room(now_ns)

    def partition(self, number: int) -> PartitionLog:
        """Raises UNKNOWN_TOPIC_OR_PARTITION."""
        partitions = self.log.partitions
        if not 0 <= number < len(partitions):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self.log.name}/{number}")
        return partitions[number]

    def partition_for(self, message: Message) -> int:
        """The partition of the message's key, or of its priority in a queue."""
        if self.queue is not None:
            return _level_of(self.queue, message)
        return self.log.partition_for(message.key)

    def check_fields(self, messages: Sequence[Message]) -> None:
        """Raises INVALID_RECORD for a time to live out of range, or a priority that the queue has no level for."""
        check_lifetimes(messages)
        if self.queue is not None:
            check_priorities(self.log.name, self.queue.config.priorities, messages)


class Logs(msgspec.Struct, eq=False):
    """Topics by name, in the order of creation. All names are of one namespace, those of subscriptions too.

    `config` is that of topics which bring none; `epoch_ms` the Unix time of session time 0.
    """

    _files: FileSystem
    _recently_deleted: RecentlyDeleted
    config: LogConfig
    epoch_ms: int
    revision: int = 0  # of topics and their settings: what a client has noted of them holds while it stays
    _topics: ByName[Topic] = msgspec.field(default_factory=ByName)
    _by_id: dict[bytes, Topic] = {}
    _reserved: ByName[None] = msgspec.field(default_factory=ByName)
    _unknown_directories: dict[str, list[str]] = {}
    _on_removed: list[Callable[[Topic], object]] = []

    # -- look-ups

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._topics.values())

    def __contains__(self, name: str) -> bool:
        return name in self._topics

    def get(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def topic(self, name: str) -> Topic:
        """Raises UNKNOWN_TOPIC_OR_PARTITION."""
        topic = self._topics.get(name)
        if topic is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return topic

    def is_plain(self, topic: Topic) -> bool:
        """Whether it is the log of no queue and of no dead letters of one."""
        if not topic.owner:
            return topic.queue is None
        owner = self.get(topic.owner)
        return owner is not None and owner.queue is None

    def plain_names(self) -> tuple[str, ...]:
        return tuple(topic.name for topic in self if self.is_plain(topic))

    def with_id(self, wanted: bytes) -> Topic | None:
        return self._by_id.get(wanted)

    def partition(self, topic: str, partition: int) -> PartitionLog:
        """The log of one partition. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self.topic(topic).partition(partition)

    def partitions(self) -> Iterator[PartitionLog]:
        return (log for topic in self._topics.values() for log in topic.log.partitions)

    def partition_count(self, topic: str) -> int:
        """How many partitions `topic` has. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return len(self.topic(topic).log.partitions)

    def partitions_there(self, topic: str) -> int:
        """0 for a topic that is not there."""
        return self.partition_count(topic) if topic in self._topics else 0

    def partitions_by_key(self, name: str) -> Partitioner | None:
        """The partitioner of a topic; None for a queue, whose partitions are priorities."""
        topic = self.topic(name)
        return None if topic.queue is not None else topic.log.partitioner

    def partition_for(self, name: str, message: Message) -> int:
        """See `Topic.partition_for`. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self.topic(name).partition_for(message)

    def by_partition(self, name: str, messages: Sequence[Message]) -> dict[int, list[Message]]:
        topic = self.topic(name)
        queue = topic.queue
        if queue is None:
            return topic.log.partitioner.divide(messages, len(topic.log.partitions))
        if queue.config.priorities == 1:
            return {0: list(messages)}
        return grouped((_level_of(queue, message), message) for message in messages)

    def start_offset(self, topic: str, partition: int) -> int:
        """The first offset that is still there. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self.partition(topic, partition).start_offset

    def end_offset(self, topic: str, partition: int) -> int:
        """The offset after the last message that can be read. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self.partition(topic, partition).high_watermark

    def markers_between(self, topic: str, partition: int, start: int, end: int) -> int:
        """How many offsets between are markers of transactions. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self.partition(topic, partition).segments.markers_between(start, end)

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """The first offset published at that Unix time or later; None if none was."""
        log = self.partition(topic, partition)
        offset = log.offset_for_time((timestamp_ms - self.epoch_ms) * NS_PER_MS)
        return offset if offset < log.high_watermark else None

    def published_ns(self, topic: str, partition: int, offset: int) -> int | None:
        """The publishing time of the first message at or after `offset`; None without one."""
        return self.partition(topic, partition).published_from_ns(offset)

    def dead_letters(self) -> dict[str, DeadLetters]:
        """The dead letters of topics whose schema dead-letters, by the name of the dead-letter queue."""
        return {found.name: found for topic in self if (found := topic.dead_letters) is not None}

    # -- names

    def check_new(self, name: str, partitions: int = 1) -> None:
        """Raises INVALID_TOPIC, INVALID_PARTITIONS, TOPIC_ALREADY_EXISTS if the name is not free."""
        check_partitions(check_name(name), partitions)
        if not (self._topics.takes(name) and self._reserved.takes(name)):
            raise BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS, name)

    def claim(self, name: str) -> None:
        """`check_new`, and remove the files of a recently deleted log of that name."""
        self.check_new(name)
        self._recently_deleted.make_way(name)
        self.put_aside(name)

    def keep(self, unknown_directories: dict[str, list[str]]) -> None:
        """`unknown_directories`, by the topic that they are called after, are not to be taken over by one."""
        self._unknown_directories = unknown_directories

    def put_aside(self, name: str) -> None:
        """Rename the directories that a topic of this name would take over."""
        for directory in self._unknown_directories.pop(name, ()):
            aside = put_aside_as(directory)
            while self._files.exists(aside):
                aside = put_aside_as(aside)
            self._files.rename(directory, aside)

    def reserve(self, name: str) -> None:
        self._reserved[name] = None

    def free(self, name: str) -> None:
        del self._reserved[name]

    def why_taken(self, names: Sequence[str]) -> str:
        """A sentence about the first of `names` that is not free; "" if all are."""
        taken = [each for each in names if each in self._topics or each in self._reserved]
        return f"another {taken[0]} exists" if taken else ""

    # -- changes

    def add(
        self,
        name: str,
        partitions: int,
        partitioner: Partitioner,
        log: LogConfig | None = None,
        owner: str = "",
        *,
        kept_id: bytes = b"",
        now_ns: int = 0,
    ) -> Topic:
        """A log with an id of its own, or the `kept_id` of one that is restored.

        Raises INVALID_TOPIC, TOPIC_ALREADY_EXISTS, INVALID_PARTITIONS.
        """
        self.claim(name)
        topic = Topic(
            TopicLog(
                self._files,
                name,
                partitions,
                config=log or self.config,
                partitioner=partitioner,
                epoch_ms=self.epoch_ms,
            ),
            kept_id or topic_id(name, self.epoch_ms, now_ns, self.revision),
            owner,
        )
        self._put(topic)
        return topic

    def add_dead_letter_queue(self, name: str, owner: str, log: LogConfig | None) -> TopicLog:
        """A log for the dead letters of `owner`, configured by `log`, but neither compacted nor expired."""
        config = msgspec.structs.replace(log or self.config, cleanup="delete", message_ttl_ms=None)
        of = self._topics.get(owner)
        # The same over restarts, and another if the owner is made again.
        kept_id = topic_id(name) if of is None else topic_id(name, of.id.hex())
        return self.add(name, 1, Partitioner("crc32"), config, owner, kept_id=kept_id).log

    def on_removed(self, action: Callable[[Topic], object]) -> None:
        self._on_removed.append(action)

    def remove(self, now_ns: int, name: str) -> Topic:
        """Remove the log but not its files; producers that wait fail with CLOSED."""
        topic = self._topics[name]
        if topic.gate is not None:
            topic.gate.close(now_ns)
        del self._topics[name], self._by_id[topic.id]
        self.revision += 1
        for action in self._on_removed:
            action(topic)
        return topic

    def discard(self, now_ns: int, name: str) -> None:
        """Remove the log with its files, as far as the disk lets it."""
        with contextlib.suppress(BrokerError):
            self.remove(now_ns, name).log.remove()

    def put_back(self, topics: Sequence[Topic]) -> None:
        for topic in topics:
            self._put(topic)

    def make_room(self, now_ns: int) -> None:
        for topic in self._topics.values():
            topic.make_room(now_ns)

    def make_room_in(self, now_ns: int, name: str) -> None:
        """Call `make_room` of topic `name`; nothing happens for a subscription or a topic that does not exist."""
        topic = self._topics.get(name)
        if topic is not None:
            topic.make_room(now_ns)

    def close(self) -> None:
        for topic in self._topics.values():
            topic.log.close()

    def _put(self, topic: Topic) -> None:
        self._topics[topic.name] = self._by_id[topic.id] = topic
        self.revision += 1


def put_aside_as(directory: str) -> str:
    """The name that an existing directory gets when a topic of its name is created and may not take it over."""
    return f"kept.{directory}"


def _level_of(queue: Queue, message: Message) -> int:
    """The partition of the message's priority, the nearest one for a redriven message without a level."""
    return min(max(message.priority, 0), queue.config.priorities - 1)


def totals_of(topics: Iterable[Topic], queues: Iterable[Queue]) -> Totals:
    """Counted where it happens, not from the event stream, so that the two can be compared. Without groups."""
    topics, queues = tuple(topics), tuple(queues)
    gates = [topic.gate.counts for topic in topics if topic.gate is not None]
    counts = [queue.counts for queue in queues]
    return Totals(
        published=sum(topic.published for topic in topics),
        delivered=sum(each.delivered for each in counts),
        acknowledged=sum(each.acknowledged for each in counts),
        redelivered=sum(each.redelivered for each in counts),
        dead_lettered=sum(each.dead_lettered for each in counts) + sum(topic.dead_lettered for topic in topics),
        redriven=sum(queue.dead_letters.redriven(queue.name) for queue in queues)
        + sum(topic.dead_letters.redriven() for topic in topics if topic.dead_letters is not None),
        rejected=sum(each.rejected for each in gates) + sum(topic.refused for topic in topics),
        dropped=sum(each.dropped for each in gates),
        expired=sum(each.expired for each in counts),
        evicted=sum(each.evicted for each in counts),
        purged=sum(each.purged for each in counts),
    )
