"""The face of a broker that is elsewhere: what clients use of `Broker`, with the same names, arguments and errors.

Methods that say "waits" send a request and wait for its answer; the host's lock is free meanwhile. The others never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from broker_core.broker.broker import OnAppended, Published
from broker_core.clients.remote.administration import RemoteAdministration
from broker_core.clients.remote.calls import ignore
from broker_core.clients.remote.groups import RemoteGroups
from broker_core.clients.remote.link import Link
from broker_core.clients.remote.producer_ids import RemoteProducerIds
from broker_core.clients.remote.publishing import Publishing
from broker_core.clients.remote.queues import Leases, RemoteDeadLetters, RemoteQueue
from broker_core.clients.remote.reading import Reading, RemotePartition
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.protocol import TopicPartition
from broker_core.log.batch import ProducerStamp
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message, StoredMessage
from broker_core.queues.dead_letter_edit import Edits
from broker_core.queues.dead_letters import RedriveResult
from broker_core.queues.lease import Lease
from broker_core.queues.paced_redrive import PacedRedrives
from broker_core.replies import Reply
from broker_core.snapshots import QueueView
from broker_core.wire import fetch as reading_api
from broker_core.wire import groups as groups_api
from broker_core.wire import queues as queues_api
from broker_core.wire import topics as topics_api
from broker_core.wire import watch as watch_api
from broker_core.wire.produce import LeaveProducer


class RemoteFetches:
    """What clients use of `Broker.fetches`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def begin(self, group: str, topic: str, partition: int, offset: int) -> None:
        """See `Fetches.begin`."""
        self._link.post(reading_api.BeginReading(group, topic, partition, offset), ignore, repeat=True)


class Corruption:
    """What clients use of `Broker.damage`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    @property
    def sentences(self) -> tuple[str, ...]:
        """Waits."""
        return self._link.ask(watch_api.ListDamage(), topics_api.Names, repeat=True).names


class RemoteFace(RemoteAdministration):
    """Topics, publishing, reading, groups, queues, schemas."""

    def __init__(self, link: Link, loop: Loop, shift_ns: Callable[[], int]) -> None:
        super().__init__(link)
        self.publishing = Publishing(link, loop, self._known)
        self.reading = Reading(link, loop, shift_ns)
        self._shift_ns = shift_ns
        self._leases = Leases(link, shift_ns)
        self.groups = RemoteGroups(link, self._renew)
        self.fetches = RemoteFetches(link)
        self.producer_ids = RemoteProducerIds(link)
        self.damage = Corruption(link)
        self.paced_redrives = PacedRedrives()  # of this client: it is what paces them

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

    def withdraw(self, now_ns: int, name: str, reply: Reply[Published | None]) -> bool:
        """See `Broker.withdraw`: what was sent already cannot be called back."""
        return self.publishing.withdraw(reply)

    def disconnect(self, now_ns: int, client: str) -> None:
        """See `Broker.disconnect`."""
        self._link.post(LeaveProducer(client), ignore, repeat=False, at_once=True)

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
        return self.reading.fetch(group, client, positions, max_messages=max_messages, deadline_ns=deadline_ns)

    def cancel_fetch(self, reply: Reply[list[StoredMessage]]) -> None:
        """See `Broker.cancel_fetch`."""
        self.reading.cancel(reply)

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
        return self.reading.take(queue, holder, max_messages=max_messages, deadline_ns=deadline_ns, weight=weight)

    def cancel_take(self, queue: str, reply: Reply[list[Lease]]) -> None:
        """See `Broker.cancel_take`."""
        self.reading.cancel(reply)

    def ack(self, now_ns: int, lease: Lease, *, durable: bool | None = None) -> Reply[None]:
        """See `Broker.ack`. Waits."""
        return self.ack_many(now_ns, (lease,), durable=durable)

    def ack_many(self, now_ns: int, leases: Sequence[Lease], *, durable: bool | None = None) -> Reply[None]:
        """See `Broker.ack_many`. Waits."""
        self._leases.ack_many(leases, durable)
        return Reply.of(None)

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
        edits: Edits | None = None,
    ) -> RedriveResult:
        """See `Broker.redrive`. Waits."""
        return RemoteDeadLetters(self._link, queue).redrive(offsets, edits)

    def undo_redrive(self, now_ns: int, queue: str, *, client: str) -> Reply[range]:
        """See `Broker.undo_redrive`; as many as were taken back. Waits."""
        return Reply.of(RemoteDeadLetters(self._link, queue).undo_redrive())
