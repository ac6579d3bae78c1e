"""The face of a broker that is elsewhere: what clients use of `Broker`, with the same names, arguments and errors.

Methods that say "waits" send a request and wait for its answer; the host's lock is free meanwhile. The others never do.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from broker_core.broker import OnAppended, Published
from broker_core.broker_views import SlowReader
from broker_core.clients.remote.groups import RemoteGroups
from broker_core.clients.remote.known_topics import KnownTopics
from broker_core.clients.remote.link import Link
from broker_core.clients.remote.publishing import Publishing
from broker_core.clients.remote.queues import Leases, RemoteDeadLetters, RemoteQueue
from broker_core.clients.remote.reading import Reading, RemotePartition
from broker_core.clients.remote.registry import RemoteRegistry
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.protocol import TopicPartition
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import Partitioner, PartitionerKind
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import RedriveResult
from broker_core.queues.lease import Lease
from broker_core.queues.subscription import BacklogPolicy
from broker_core.replies import Reply
from broker_core.schemas.compatibility import SchemaKind
from broker_core.schemas.registry import SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import QueueView, TopicView
from broker_core.wire import fetch as reading_api
from broker_core.wire import groups as groups_api
from broker_core.wire import queues as queues_api
from broker_core.wire import topics as topics_api
from broker_core.wire import watch as watch_api
from broker_core.wire.body import Done
from broker_core.wire.produce import InitProducer, LeaveProducer, ProducerIdentity
from broker_core.wire.schemas import SetSchemaRule


class RemoteProducerIds:
    """Ids for idempotent producers."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._may_wait = threading.local()

    def waiting(self, action: Callable[[int], Any], now_ns: int) -> Any:
        """Run `action`, in which `register` may wait for the broker."""
        self._may_wait.now = True
        try:
            return action(now_ns)
        finally:
            self._may_wait.now = False

    def register(self, name: str = "") -> tuple[int, int]:
        """See `ProducerIds.register`.

        Where it may not wait, because a producer that is in doubt needs a new one at once, the id is a random one,
        which no log has seen: of 2^61, far from those that brokers count up.
        """
        if getattr(self._may_wait, "now", False):
            found = self._link.ask(InitProducer(name), ProducerIdentity, repeat=True)
            return found.producer_id, found.epoch
        return (1 << 61) | secrets.randbits(61), 0


class RemoteFetches:
    """What clients use of `Broker.fetches`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def begin(self, group: str, topic: str, partition: int, offset: int) -> None:
        """See `Fetches.begin`."""
        self._link.post(reading_api.BeginReading(group, topic, partition, offset), _ignore, repeat=True)


class Damage:
    """What clients use of `Broker.damage`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    @property
    def sentences(self) -> tuple[str, ...]:
        """Waits."""
        return self._link.ask(watch_api.ListDamage(), topics_api.Names, repeat=True).names


class RemoteFace:
    """Topics, publishing, reading, groups, queues, schemas."""

    def __init__(self, link: Link, loop: Loop, shift_ns: Callable[[], int]) -> None:
        self._link = link
        self._known = KnownTopics(
            lambda names: link.ask(topics_api.Metadata(names), topics_api.MetadataReply, repeat=True)
        )
        self.publishing = Publishing(link, loop, self._known)
        self._reading = Reading(link, loop, shift_ns)
        self._shift_ns = shift_ns
        self._leases = Leases(link, shift_ns)
        self._registry: RemoteRegistry | None = None
        self.groups = RemoteGroups(link, self._renew)
        self.fetches = RemoteFetches(link)
        self.producer_ids = RemoteProducerIds(link)
        self.damage = Damage(link)

    # -- what is known

    @property
    def revision(self) -> int:
        """Another one where what is known of topics has changed."""
        return self._known.revision

    def learn(self, name: str, create: bool) -> None:
        """Note what the broker knows of `name`, and with `create` let it make a missing one. Waits."""
        reply = self._link.ask(topics_api.Metadata((name,), create), topics_api.MetadataReply, repeat=True)
        self._known.note((name,), reply)

    def _renew(self, names: tuple[str, ...], then: Callable[[], object]) -> None:
        def done(answer: Any, error: BrokerError | None) -> None:
            if error is None:
                self._known.note(names, answer)
            then()

        self._link.post(topics_api.Metadata(names), done, repeat=True)

    def takes_batches(self, name: str) -> bool:
        """See `Broker.takes_batches`."""
        return self._known.get(name).info.batches

    def check(self, name: str, messages: Sequence[Message], largest_bytes: int | None = None) -> None:
        """See `Broker.check`."""
        self._known.get(name).check(messages, largest_bytes)

    def partition_count(self, topic: str) -> int:
        """See `Broker.partition_count`. Waits where the topic is not known yet."""
        return self._known.get_or_ask(topic).info.partitions

    def partition(self, topic: str, partition: int) -> RemotePartition:
        """Waits where the topic is not known yet. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        if not 0 <= partition < self._known.get_or_ask(topic).info.partitions:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic}/{partition}")
        return RemotePartition(self._link, topic, partition, self._shift_ns)

    def partitions_by_key(self, name: str) -> Partitioner | None:
        """See `Broker.partitions_by_key`."""
        known = self._known.get(name)
        return None if known.info.priorities else known.partitioner

    def partition_for(self, name: str, message: Message) -> int:
        """See `Broker.partition_for`."""
        return self._known.get(name).partition_for(message)

    def by_partition(self, name: str, messages: Sequence[Message]) -> dict[int, list[Message]]:
        """See `Broker.by_partition`."""
        known = self._known.get(name)
        if not known.info.priorities:
            return known.partitioner.divide(messages, known.info.partitions)
        parts: dict[int, list[Message]] = {}
        for message in messages:
            parts.setdefault(known.partition_for(message), []).append(message)
        return parts

    # -- publishing and reading

    def publish_batch(
        self,
        now_ns: int,
        name: str,
        partition: int,
        messages: Sequence[Message],
        *,
        client: str,
        producer: ProducerStamp | None = None,
        on_appended: OnAppended = lambda published: None,
    ) -> Reply[Published | None]:
        """See `Broker.publish_batch`."""
        return self.publishing.publish_batch(
            name, partition, messages, client=client, producer=producer, on_appended=on_appended
        )

    def disconnect(self, now_ns: int, client: str) -> None:
        """See `Broker.disconnect`."""
        self._link.post(LeaveProducer(client), _ignore, repeat=False, at_once=True)

    def starting_offset(self, group: str, topic: str, partition: int, reset: Literal["earliest", "latest"]) -> int:
        """See `Broker.starting_offset`. Waits."""
        body = reading_api.StartingOffset(group, topic, partition, reset)
        return self._link.ask(body, reading_api.Offset, repeat=True).offset or 0

    def fetch(
        self,
        now_ns: int,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        *,
        max_messages: int,
        deadline_ns: int,
    ) -> Reply[list[StoredMessage]]:
        """See `Broker.fetch`."""
        return self._reading.fetch(group, client, positions, max_messages=max_messages, deadline_ns=deadline_ns)

    def cancel_fetch(self, reply: Reply[list[StoredMessage]]) -> None:
        """See `Broker.cancel_fetch`."""
        self._reading.cancel(reply)

    def start_offset(self, topic: str, partition: int) -> int:
        """See `Broker.start_offset`. Waits."""
        return self._offset(topics_api.ListOffsets(((topic, partition),), "start")) or 0

    def end_offset(self, topic: str, partition: int) -> int:
        """See `Broker.end_offset`. Waits."""
        return self._offset(topics_api.ListOffsets(((topic, partition),), "end")) or 0

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """See `Broker.offset_at`. Waits."""
        return self._offset(topics_api.ListOffsets(((topic, partition),), "time", max(0, timestamp_ms)))

    def _offset(self, body: topics_api.ListOffsets) -> int | None:
        return self._link.ask(body, topics_api.Offsets, repeat=True).offsets[0]

    # -- groups

    def join(self, now_ns: int, group: str, **request: Any) -> Reply[JoinResult]:
        """See `Broker.join`."""
        return self.groups.join(group, **request)

    def sync(
        self, now_ns: int, group: str, member_id: str, generation: int, assignments: Mapping[str, bytes]
    ) -> Reply[SyncResult]:
        """See `Broker.sync`."""
        return self.groups.sync(group, member_id, generation, assignments)

    def beat(self, now_ns: int, group: str, member_id: str, generation: int) -> Reply[None]:
        """See `Broker.beat`."""
        return self.groups.beat(group, member_id, generation)

    def leave(self, now_ns: int, group: str, member_id: str, cause: str) -> None:
        """See `Broker.leave`."""
        self.groups.leave(group, member_id, cause)

    def commit(
        self,
        now_ns: int,
        group: str,
        client: str,
        member_id: str,
        generation: int,
        offsets: Mapping[TopicPartition, int],
    ) -> None:
        """See `Broker.commit`. Waits."""
        self.groups.commit(group, client, member_id, generation, offsets)

    def preview_reset(self, group: str, target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
        """See `Broker.preview_reset`. Waits."""
        return self.groups.reset(group, target, tuple(partitions), apply=False)

    def reset_offsets(
        self, now_ns: int, group: str, target: Target, partitions: Iterable[TopicPartition]
    ) -> list[Change]:
        """See `Broker.reset_offsets`. Waits."""
        return self.groups.reset(group, target, tuple(partitions), apply=True)

    def kept(self) -> Reply[None]:
        """See `BrokerHost.kept`."""
        reply: Reply[None] = Reply()

        def done(_answer: Any, error: BrokerError | None) -> None:
            if error is None:
                reply.resolve(None)
            else:
                reply.fail(error)

        self._link.post(groups_api.Keep(), done, repeat=True)
        return reply

    # -- queues

    def queue(self, name: str) -> RemoteQueue:
        """Waits, where it was not asked for yet. Raises UNKNOWN_QUEUE."""
        if name not in self.queue_names():
            raise BrokerError(ErrorCode.UNKNOWN_QUEUE, name)
        return RemoteQueue(self._link, name, self._shift_ns)

    def queue_names(self) -> tuple[str, ...]:
        """Waits."""
        return self._link.ask(queues_api.ListQueues(), topics_api.Names, repeat=True).names

    def queue_view(self, now_ns: int, name: str, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """Times are those of the broker's session. Waits."""
        return RemoteQueue(self._link, name, self._shift_ns).view(now_ns, max_leases, max_dead_letters)

    def take(
        self,
        now_ns: int,
        queue: str,
        holder: str,
        *,
        max_messages: int = 1,
        deadline_ns: int | None = None,
        weight: int = 1,
    ) -> Reply[list[Lease]]:
        """See `Broker.take`."""
        return self._reading.take(queue, holder, max_messages=max_messages, deadline_ns=deadline_ns, weight=weight)

    def cancel_take(self, queue: str, reply: Reply[list[Lease]]) -> None:
        """See `Broker.cancel_take`."""
        self._reading.cancel(reply)

    def ack(self, now_ns: int, lease: Lease) -> None:
        """See `Broker.ack`. Waits."""
        self._leases.settle(lease, "ack")

    def ack_many(self, now_ns: int, leases: Sequence[Lease]) -> None:
        """See `Broker.ack_many`. Waits."""
        self._leases.ack_many(leases)

    def nack(self, now_ns: int, lease: Lease, cause: str, *, requeue: bool = True) -> None:
        """See `Broker.nack`. Waits."""
        self._leases.settle(lease, "nack", cause, requeue)

    def release(self, now_ns: int, lease: Lease) -> None:
        """See `Broker.release`. Waits."""
        self._leases.settle(lease, "release")

    def extend(self, now_ns: int, lease: Lease, lease_ms: float | None = None) -> Lease:
        """See `Broker.extend`. Waits."""
        return self._leases.extend(lease, lease_ms)

    def dead_letters(self, name: str) -> RemoteDeadLetters:
        """See `Broker.dead_letters`."""
        return RemoteDeadLetters(self._link, name)

    def redrive(
        self,
        now_ns: int,
        queue: str,
        offsets: Sequence[int],
        *,
        client: str,
        edits: Mapping[int, Message] | None = None,
    ) -> RedriveResult:
        """See `Broker.redrive`. Waits."""
        return RemoteDeadLetters(self._link, queue).redrive(offsets, edits)

    # -- administration; all of it waits

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
        """See `Broker.create_topic`."""
        self._change(name, topics_api.CreateTopic(name, partitions, partitioner, flow, log, schema))

    def delete_topic(self, now_ns: int, name: str) -> None:
        """See `Broker.delete_topic`."""
        self._change(name, topics_api.DeleteTopic(name))

    def add_partitions(self, now_ns: int, name: str, total: int) -> None:
        """See `Broker.add_partitions`."""
        self._change(name, topics_api.AddPartitions(name, total))

    def configure_topic(
        self, now_ns: int, name: str, *, log: LogConfig | None = None, flow: FlowConfig | None = None
    ) -> None:
        """See `Broker.configure_topic`."""
        self._change(name, topics_api.ConfigureTopic(name, log, flow))

    def set_schema(self, now_ns: int, name: str, rule: SchemaRule | None, *, client: str = "") -> None:
        """See `Broker.set_schema`."""
        self._change(name, SetSchemaRule(name, rule))

    def create_queue(
        self,
        now_ns: int,
        name: str,
        config: QueueConfig,
        *,
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
    ) -> None:
        """See `Broker.create_queue`."""
        self._change(name, queues_api.CreateQueue(name, config, flow, log))

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
        """See `Broker.subscribe`."""
        self._change(name, queues_api.CreateSubscription(name, topic, config, max_messages, policy))

    def delete_queue(self, now_ns: int, name: str) -> None:
        """See `Broker.delete_queue`."""
        self._change(name, queues_api.DeleteQueue(name))

    def _change(self, name: str, body: Any) -> None:
        try:
            self._link.ask(body, Done, repeat=False)
        finally:
            self._known.forget(name)

    def delete_records(self, now_ns: int, name: str, partition: int, before_offset: int) -> int:
        """See `Broker.delete_records`."""
        body = topics_api.DeleteRecords(name, {partition: before_offset})
        return self._link.ask(body, topics_api.StartOffsets, repeat=True).offsets[partition]

    def topic_names(self) -> tuple[str, ...]:
        """See `Broker.topic_names`."""
        return self._link.ask(topics_api.ListTopics(), topics_api.Names, repeat=True).names

    def topic_view(self, now_ns: int, name: str) -> TopicView:
        """See `Broker.topic_view`."""
        return self._description(name).view

    def topic_config(self, name: str) -> LogConfig:
        """See `Broker.topic_config`; as it is noted, where it is."""
        try:
            return self._known.get(name).info.log
        except BrokerError:
            return self._description(name).log

    def _description(self, name: str) -> topics_api.TopicDescription:
        return self._link.ask(topics_api.DescribeTopic(name), topics_api.TopicDescription, repeat=True)

    def slow_readers(self, now_ns: int, max_lag: int | None, max_lag_ns: int | None) -> tuple[SlowReader, ...]:
        """See `Broker.slow_readers`."""
        body = watch_api.SlowReaders(max_lag, max_lag_ns)
        return self._link.ask(body, watch_api.SlowReadersReply, repeat=True).readers

    # -- schemas

    @property
    def schemas(self) -> RemoteRegistry:
        """The broker's registry as it is now. Waits."""
        known = self._registry
        self._registry = RemoteRegistry.of(self._link) if known is None else known.renewed()
        return self._registry

    def register_schema(
        self, now_ns: int, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON, *, client: str = ""
    ) -> SchemaVersion:
        """See `Broker.register_schema`. Waits."""
        return self.schemas.register(subject, text, kind)


def _ignore(_reply: Any, _error: BrokerError | None) -> None:
    """For who does not care."""
