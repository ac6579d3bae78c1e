"""The broker: topics, groups, queues and their backpressure behind one face; every public call takes the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from broker_core.broker.groups import BrokerGroups
from broker_core.broker.handling import handle
from broker_core.broker.queues import BrokerQueues
from broker_core.broker.restoring import BrokerCatalog
from broker_core.broker.state import Topic, level_of, payload_bytes
from broker_core.broker.views import BrokerViews
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.flow.config import Verdict
from broker_core.log.batch import ProducerStamp
from broker_core.log.client_batch import ClientBatch
from broker_core.log.group_commit import Round
from broker_core.log.partition_log import Appended, PartitionLog
from broker_core.messages import Message
from broker_core.operations.request import Request
from broker_core.queues.dead_letter_edit import Edits
from broker_core.queues.dead_letters import RedriveResult
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.replies import Reply

T = TypeVar("T")


class Published(msgspec.Struct, frozen=True, gc=False):
    """Where `count` messages were appended; `missed_by` names the subscriptions that had no room for one of them."""

    topic: str
    partition: int
    offset: int
    missed_by: tuple[str, ...] = ()
    count: int = 1


OnAppended = Callable[[Published], object]


def _ignore(_published: Published) -> None:
    """For who waits for the reply alone."""


class Broker(BrokerCatalog, BrokerGroups, BrokerQueues, BrokerViews):
    """A monitor around the pure core: calls come from one thread at a time, and waiting is a parked `Reply`."""

    def handle(self, now_ns: int, request: Request[T]) -> Reply[T]:
        """The reply to an operation of the catalogue. Raises as the call behind it."""
        return handle(self, now_ns, request)

    # -- publishing

    def takes_batches(self, name: str) -> bool:
        """False where every message is judged by itself, because of a flow policy or a schema."""
        topic = self._topic(name)
        return topic.gate is None and topic.schema is None

    def check(self, name: str, messages: Sequence[Message], largest_bytes: int | None = None) -> None:
        """Raises what would be wrong with one of these messages alone, whatever it is sent with.

        `largest_bytes`, where it is known, says that none is larger. UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE,
        INVALID_RECORD, STORAGE_ERROR.
        """
        self._partition(name, 0).check(messages, largest_bytes)
        self._check_fields(name, messages)

    def publish(self, now_ns: int, name: str, message: Message, *, client: str) -> Reply[Published | None]:
        """Append `message` to a topic or queue; where it landed, or None where the flow policy dropped it.

        The reply comes when the message is as durable as the topic promises; it may wait for room. It fails with
        THROTTLED where the message is refused or no room came in time, with INVALID_RECORD where the topic's schema
        refuses it; a topic may instead put such a message into its bin, which is then where it landed. Raises
        UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE where the topic takes no message of this size, and INVALID_RECORD
        where the queue has no level for its priority.
        """
        return self.publish_batch(now_ns, name, None, (message,), client=client)

    def publish_batch(
        self,
        now_ns: int,
        name: str,
        partition: int | None,
        messages: Sequence[Message],
        *,
        client: str,
        producer: ProducerStamp | None = None,
        on_appended: OnAppended = _ignore,
        deadline_ns: int | None = None,
    ) -> Reply[Published | None]:
        """Append all `messages` to one partition, or none; as `publish`. A `partition` of None is that of the first.

        Where they wait for room, they do so until `deadline_ns` at most, and fail with THROTTLED then.
        `on_appended` is called as soon as they are in the log. A batch that `producer` has sent before is not stored
        again. Raises or fails with what `PartitionLog.append_batch` raises, too.
        """
        topic = self._topic(name)
        self._check_fields(name, messages)
        reply: Reply[Published | None] = Reply()

        def admit(admitted_ns: int) -> None:
            number = self.partition_for(name, messages[0]) if partition is None else partition
            log = self._partition(name, number)
            self._append(admitted_ns, topic, log, messages, client, producer, on_appended, reply)

        if topic.schema is not None and not self._fits(now_ns, name, topic, messages, client, reply):
            return reply
        if topic.gate is None:
            admit(now_ns)
        else:
            size_bytes = sum(map(payload_bytes, messages))
            offer = topic.gate.offer(
                now_ns,
                client,
                len(messages),
                size_bytes,
                admit,
                priority=messages[0].priority,
                deadline_ns=deadline_ns,
            )
            if not offer.done:
                self._parked[reply] = offer
            offer.then(lambda verdict: self._judged(reply, verdict, name))
        return reply

    def withdraw(self, now_ns: int, name: str, reply: Reply[Published | None]) -> bool:
        """Take back what waits for room, as `publish_batch` was asked for; `reply` fails.

        False where it does not wait: it is in the log, or was refused.
        """
        offer = self._parked.get(reply)
        if offer is None:
            return False
        gate = self._topic(name).gate
        return gate is not None and gate.withdraw(now_ns, offer)

    def _judged(self, reply: Reply[Published | None], verdict: Reply[Verdict], name: str) -> None:
        """What the producer gets where the gate did not admit its message; `admit` has settled it where it did."""
        self._parked.pop(reply, None)
        if verdict.error is not None:
            reply.fail(verdict.error)
        elif verdict.result() is Verdict.REFUSED:
            reply.fail(BrokerError(ErrorCode.THROTTLED, name))
        elif verdict.result() is Verdict.DROPPED:
            reply.resolve(None)

    def publish_encoded(
        self, now_ns: int, name: str, partition: int, batch: ClientBatch, *, client: str, deadline_ns: int | None = None
    ) -> Reply[Published | None]:
        """Append a Kafka client's batch as it came; as `publish_batch`.

        It is decoded only for a topic that judges messages: by a schema, a limit, compaction or a time to live. What
        such a topic stores has the time at which it was appended. Raises CORRUPT_MESSAGE, too.
        """
        topic = self._topic(name)
        log = self._partition(name, partition)
        if topic.gate is not None or topic.schema is not None or log.judges_messages or name in self._queues:
            messages = batch.messages()
            return self.publish_batch(
                now_ns, name, partition, messages, client=client, producer=batch.stamp, deadline_ns=deadline_ns
            )
        reply: Reply[Published | None] = Reply()
        self._appended(now_ns, topic, log, log.append_encoded(now_ns, batch), None, client, _ignore, reply)
        return reply

    def _fits(
        self,
        now_ns: int,
        name: str,
        topic: Topic,
        messages: Sequence[Message],
        client: str,
        reply: Reply[Published | None],
    ) -> bool:
        """Whether the schema accepts `messages`; `reply` is told where it does not."""
        try:
            place = self._turn_away(now_ns, name, topic, messages, client)
        except BrokerError as error:
            reply.fail(error)
            return False
        if place is None:
            return True
        letter = Published(self.dead_letters(name).name, 0, place)
        self._when_durable(now_ns, self._partition(letter.topic, 0), place + 1, reply, lambda _at: letter)
        return False

    def _append(
        self,
        now_ns: int,
        topic: Topic,
        log: PartitionLog,
        messages: Sequence[Message],
        client: str,
        producer: ProducerStamp | None,
        on_appended: OnAppended,
        reply: Reply[Published | None],
    ) -> None:
        appended = log.append_batch(now_ns, messages, producer=producer)
        key = messages[0].key if appended.count == 1 else None
        self._appended(now_ns, topic, log, appended, key, client, on_appended, reply)

    def _appended(
        self,
        now_ns: int,
        topic: Topic,
        log: PartitionLog,
        appended: Appended,
        key: bytes | None,
        client: str,
        on_appended: OnAppended,
        reply: Reply[Published | None],
    ) -> None:
        end_offset = appended.base_offset + appended.count
        published = Published(log.topic, log.partition, appended.base_offset, (), appended.count)
        if appended.duplicate:
            self._when_durable(now_ns, log, end_offset, reply, lambda _at: published)
        else:
            topic.published += appended.count
            topic.published_bytes += appended.size_bytes
            self._events.emit(
                now_ns,
                EventKind.PUBLISHED,
                topic=log.topic,
                partition=log.partition,
                offset=appended.base_offset,
                count=appended.count,
                size_bytes=appended.size_bytes,
                client=client,
                published_ns=now_ns,
                key=key,
            )
            self._when_durable(now_ns, log, end_offset, reply, lambda at_ns: self._grown(at_ns, published, client))
        on_appended(published)

    def _when_durable(
        self,
        now_ns: int,
        log: PartitionLog,
        end_offset: int,
        reply: Reply[Published | None],
        then: Callable[[int], Published],
    ) -> None:
        """Settle `reply` with what `then(time)` gives, as soon as the log keeps its promise."""
        durable = self.syncs.durable(log, end_offset)
        if durable.done:
            reply.resolve(then(now_ns))
            return

        def settle(_done: Reply[None]) -> None:
            if durable.error is not None:
                reply.fail(durable.error)
            else:
                reply.resolve(then(max(now_ns, self._synced_ns)))

        durable.then(settle)

    def _grown(self, now_ns: int, published: Published, client: str) -> Published:
        """Readers are served; with the names of the subscriptions that had no room."""
        name, partition = published.topic, published.partition
        queue = self._queues.get(name)
        if queue is not None:
            queue.appended(now_ns)
        missed_by = tuple(
            subscriber
            for subscriber, subscription in self._subscriptions.items()
            if subscription.topic == name
            and subscription.appended(now_ns, partition, published.offset, published.count, client)
        )
        self.fetches.appended(now_ns, name, partition)
        self.growth.appended(name, partition)
        return msgspec.structs.replace(published, missed_by=missed_by) if missed_by else published

    # -- the disk

    def begin_sync(self) -> Round:
        """The next round of group commit: run its tickets without the broker's lock, then give it to `end_sync`."""
        return self.syncs.begin()

    def end_sync(self, now_ns: int, done: Round) -> None:
        """Answer those whose messages are durable now, and serve the readers."""
        self._synced_ns = now_ns
        for log in self.syncs.end(done):
            # What nobody waited for, as dead letters and redrives, has become readable too.
            queue = self._queues.get(log.topic)
            if queue is not None:
                queue.appended(now_ns)

    def note_unsynced(self) -> None:
        """Let the next round cover what nobody waits for, as once in every tick."""
        self.syncs.note(log for topic in self._topics.values() for log in topic.log.partitions)
        self.syncs.note(self.journal.logs)

    # -- queues

    def disconnect(self, now_ns: int, client: str) -> None:
        """A client is gone without a word: its parked offers fail with CLOSED, its leases expire in their time."""
        for topic in self._topics.values():
            if topic.gate is not None:
                topic.gate.leave(now_ns, client)

    def redrive(
        self,
        now_ns: int,
        queue: str,
        offsets: Sequence[int],
        *,
        client: str,
        edits: Edits | None = None,
    ) -> RedriveResult:
        """Append dead letters of `queue` to where they came from, then take them out of the bin.

        A redrive passes the gate by: the messages were admitted once. What a schema refuses stays in the bin. `queue`
        may be a topic whose schema dead-letters, too.
        """
        if queue in self._bins:
            return self._redrive_topic(now_ns, queue, offsets, client, edits)
        found = self.queue(queue)
        subscription = self._subscriptions.get(queue)

        def append(message: Message) -> tuple[str, int, int]:
            origin = queue if subscription is None else subscription.topic
            self._must_fit(origin, message)
            if edits:
                self._check_fields(origin, (message,))
            if subscription is None:
                log = self._partition(queue, level_of(found, message))
                offset = log.append_batch(now_ns, (message,)).base_offset
                self.syncs.note((log,))
                return queue, log.partition, offset
            # Its origin is the topic, where every subscriber sees it again.
            topic = self._topic(subscription.topic)
            log = topic.log.partitions[self.partition_for(subscription.topic, message)]
            places: list[int] = []
            self._append(
                now_ns, topic, log, (message,), client, None, lambda again: places.append(again.offset), Reply()
            )
            return log.topic, log.partition, places[0]

        result = found.dead_letters.redrive(now_ns, offsets, append=append, edits=edits, client=client)
        found.appended(now_ns)
        return result

    def redrive_paced(
        self, now_ns: int, queue: str, offsets: Sequence[int], rate_per_s: float, *, client: str
    ) -> PacedRedrive:
        """`redrive` one by one, at most so many a second. Raises INVALID_REQUEST where one of `queue` is under way."""
        paced = PacedRedrive(
            self._timers, offsets, rate_per_s, lambda at_ns, offset: self.redrive(at_ns, queue, [offset], client=client)
        )
        self.paced_redrives.start(now_ns, queue, paced)
        return paced

    def _redrive_topic(
        self, now_ns: int, name: str, offsets: Sequence[int], client: str, edits: Edits | None
    ) -> RedriveResult:
        def append(message: Message) -> tuple[str, int, int]:
            self._must_fit(name, message)
            if edits:
                self._check_fields(name, (message,))
            log = self._partition(name, self.partition_for(name, message))
            offset = log.append_batch(now_ns, (message,)).base_offset
            self.syncs.note((log,))
            return name, log.partition, offset

        result = self._bins[name].redrive(now_ns, offsets, append=append, edits=edits, client=client)
        for place in result.redriven:
            self._grown(now_ns, Published(name, place.to_partition, place.to_offset), client)
        return result

    # -- the end

    def flush(self) -> None:
        """Make the offsets that were committed so far durable, in one SQLite commit."""
        self._offsets.flush()

    def close(self) -> None:
        """Write what is pending and give back every file."""
        self._offsets.flush()
        self._offsets.close()
        self._forget_all()
        for topic in self._topics.values():
            topic.log.close()
        self.journal.close()
