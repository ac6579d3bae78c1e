"""Publishing: messages are checked, wait for room, are appended, and served to readers once they are durable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from broker_core.broker.durability import Durability
from broker_core.broker.fetches import Fetches
from broker_core.broker.logs import Logs, Topic
from broker_core.broker.schemas import Schemas
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.flow.gate import OfferResult
from broker_core.log.batch import ProducerStamp, encode_copies
from broker_core.log.client_batch import ClientBatch
from broker_core.log.compression import UNCOMPRESSED
from broker_core.log.growth import Growth
from broker_core.log.partition_log import Appended, PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import FIRST_COME
from broker_core.replies import Reply

_LONG_LEASE_MS = 1_000.0  # five milliseconds make no difference to it


class Published(msgspec.Struct, frozen=True, gc=False):
    """Where `count` messages were appended; `missed_by` names subscriptions that were too full for one of them."""

    topic: str
    partition: int
    offset: int
    missed_by: tuple[str, ...] = ()
    count: int = 1


CheckAppend = Callable[[ProducerStamp, str, int], object]  # topic, partition; raises if it may not append


class PlainQueue(NamedTuple):
    """A queue of one priority. With `nothing_ready`, what is put in next is what is taken next."""

    log: PartitionLog
    lease_ns: int
    nothing_ready: bool


def _ignore(_published: Published) -> None:
    """For callers that need the reply alone."""


class Publishing(msgspec.Struct, eq=False, dict=True):
    """`fetches` are those of groups, `growth` wakes other readers; `check_append` is the transaction coordinator's."""

    _logs: Logs
    _schemas: Schemas
    _durability: Durability
    _check_append: CheckAppend
    _fetches: Fetches
    _growth: Growth
    _events: EventStream
    _parked: dict[Reply[Published | None], Reply[OfferResult]] = {}  # offers that wait at a gate

    # -- what can be published

    def takes_batches(self, name: str) -> bool:
        """False if a limit or a schema applies to each message by itself."""
        return not self._logs.topic(name).judges_each

    def check(self, name: str, messages: Sequence[Message], largest_bytes: int | None = None) -> None:
        """Check each message by itself. `largest_bytes` is the size of the largest, if it is known.

        Raises UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE, INVALID_RECORD, STORAGE_ERROR.
        """
        topic = self._logs.topic(name)
        topic.partition(0).check(messages, largest_bytes)
        topic.check_fields(messages)

    def plain_logs(self, name: str) -> tuple[list[PartitionLog], Partitioner] | None:
        """The logs and partitioner of a topic in memory to which messages can just be appended for now; else None.

        No limit, schema, subscription, compaction or waiting fetch applies to such a topic.
        """
        topic = self._logs.get(name)
        if topic is None or topic.queue is not None or topic.subscriptions or not topic.just_appends:
            return None
        logs = topic.log.partitions
        return None if self._fetches.awaited(name, len(logs)) else (logs, topic.log.partitioner)

    def plain_queue(self, name: str) -> PlainQueue | None:
        """A queue in memory from which a message can be taken as soon as it is appended; else None."""
        topic = self._logs.get(name)
        if (
            topic is None
            or topic.queue is None
            or topic.log.config.message_ttl_ms is not None
            or not topic.just_appends
        ):
            return None
        queue = topic.queue
        (log, *levels), config = topic.log.partitions, queue.config
        if levels or queue.waiting_takers or config.lease_ms < _LONG_LEASE_MS:
            return None
        return PlainQueue(log, ns_from_ms(config.lease_ms), queue.ready == 0 and config.balancing == FIRST_COME)

    # -- publishing

    def publish(self, now_ns: int, name: str, message: Message, *, client: str) -> Reply[Published | None]:
        """Append `message` to a topic or queue. The reply is None if the flow policy dropped it.

        The reply comes when the message is as durable as the topic promises; the message may wait for room first. It
        fails with THROTTLED if the message is refused or no room came in time, with INVALID_RECORD if the topic's
        schema refuses it; a topic may dead-letter such a message instead, and the reply is its place then. Raises
        UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE, and INVALID_RECORD if the queue has no level for its priority.
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
        on_appended: Callable[[Published], object] = _ignore,
        deadline_ns: int | None = None,
    ) -> Reply[Published | None]:
        """Append all `messages` to one partition, or none; see `publish`. None is the partition of the first message.

        They wait for room until `deadline_ns` at most, and fail with THROTTLED then. `on_appended` is called as soon as
        they are in the log. A batch that `producer` has sent before is not stored again. Raises, or fails with, the
        errors of `PartitionLog.append_batch` and of the transaction coordinator, too.
        """
        topic = self._logs.topic(name)
        topic.check_fields(messages)
        reply: Reply[Published | None] = Reply()

        def admit(admitted_ns: int) -> None:
            number = topic.partition_for(messages[0]) if partition is None else partition
            log = topic.partition(number)
            on_appended(self._append(admitted_ns, topic, log, messages, client, producer, reply))

        if topic.schema is not None and not self._accepted(now_ns, topic, messages, client, reply):
            return reply
        if topic.gate is None:
            admit(now_ns)
        else:
            size_bytes = sum(message.size_bytes for message in messages)
            offer = topic.gate.offer(
                now_ns, client, len(messages), size_bytes, admit, priority=messages[0].priority, deadline_ns=deadline_ns
            )
            if not offer.done:
                self._parked[reply] = offer
            offer.then(lambda verdict: self._judged(reply, verdict, name))
        return reply

    def publish_encoded(
        self, now_ns: int, name: str, partition: int, batch: ClientBatch, *, client: str, deadline_ns: int | None = None
    ) -> Reply[Published | None]:
        """Append a Kafka client's batch as it came; as `publish_batch`.

        It is decoded only for a topic that judges messages: by a schema, a limit, compaction or a time to live; and a
        batch of one message, for its key. What such a topic stores has the time at which it was appended. Raises
        CORRUPT_MESSAGE, too.
        """
        topic = self._logs.topic(name)
        log = topic.partition(partition)
        if topic.judges_each or log.judges_messages or topic.queue is not None:
            messages = batch.messages()
            return self.publish_batch(
                now_ns, name, partition, messages, client=client, producer=batch.stamp, deadline_ns=deadline_ns
            )
        reply: Reply[Published | None] = Reply()
        if batch.stamp is not None:
            self._check_append(batch.stamp, name, partition)
        self._announce(now_ns, topic, log, log.append_encoded(now_ns, batch), batch.only_key(), client, reply)
        return reply

    def append_again(self, now_ns: int, topic: Topic, message: Message, client: str) -> tuple[str, int, int]:
        """Append a dead letter of a subscription to its topic, where every subscriber gets it again. No gate applies.

        Returns topic, partition and offset.
        """
        log = topic.partition(topic.partition_for(message))
        again = self._append(now_ns, topic, log, (message,), client, None, Reply())
        return again.topic, again.partition, again.offset

    def append_copy(self, now_ns: int, name: str, partition: int, copy: StoredMessage, client: str) -> None:
        """Append a copy with its time and headers. No gate applies. Raises INVALID_RECORD, MESSAGE_TOO_LARGE."""
        topic = self._logs.topic(name)
        log, message = topic.partition(partition), Message(copy.value, copy.key, copy.headers)
        self._schemas.check(topic, message)
        if topic.queue is not None or log.judges_messages:
            log.check((message,))
            self._append(now_ns, topic, log, (message,), client, None, Reply())
            return
        at_ms = copy.timestamp_ms
        batch = ClientBatch(bytes(encode_copies((copy,))), 1, at_ms, at_ms, None, UNCOMPRESSED)
        appended = log.append_encoded(now_ns, batch)
        self._announce(now_ns, topic, log, appended, copy.key, client, Reply())

    def withdraw(self, now_ns: int, name: str, reply: Reply[Published | None]) -> bool:
        """Cancel a `publish_batch` that waits for room; its `reply` fails.

        False if it does not wait: it is in the log, or was refused.
        """
        offer = self._parked.get(reply)
        if offer is None:
            return False
        gate = self._logs.topic(name).gate
        return gate is not None and gate.withdraw(now_ns, offer)

    def serve_readers(self, now_ns: int, topic: Topic, published: Published, client: str) -> Published:
        """Serve the readers of what was appended; `published` with `missed_by`."""
        name, partition = published.topic, published.partition
        if topic.queue is not None:
            topic.queue.appended(now_ns)
        missed_by = tuple(
            subscriber
            for subscriber, subscription in topic.subscriptions.items()
            if subscription.appended(now_ns, partition, published.offset, published.count, client)
        )
        self._fetches.appended(now_ns, name, partition)
        self._growth.appended(name, partition)
        return msgspec.structs.replace(published, missed_by=missed_by) if missed_by else published

    # -- inside

    def _judged(self, reply: Reply[Published | None], verdict: Reply[OfferResult], name: str) -> None:
        """Settle `reply` where the gate did not admit the messages; `admit` does if it did."""
        self._parked.pop(reply, None)
        if verdict.error is not None:
            reply.fail(verdict.error)
        elif verdict.result() is OfferResult.REFUSED:
            reply.fail(BrokerError(ErrorCode.THROTTLED, name))
        elif verdict.result() is OfferResult.DROPPED:
            reply.resolve(None)

    def _accepted(
        self, now_ns: int, topic: Topic, messages: Sequence[Message], client: str, reply: Reply[Published | None]
    ) -> bool:
        """Whether the schema accepts `messages`; `reply` is settled if it does not."""
        try:
            offset = self._schemas.judge(now_ns, topic, messages, client)
        except BrokerError as error:
            reply.fail(error)
            return False
        if offset is None:
            return True
        assert topic.dead_letters is not None
        letter = Published(topic.dead_letters.name, 0, offset)
        log = self._logs.partition(letter.topic, 0)
        self._durability.settle(now_ns, log, offset + 1, reply, lambda _at: letter)
        return False

    def _append(
        self,
        now_ns: int,
        topic: Topic,
        log: PartitionLog,
        messages: Sequence[Message],
        client: str,
        producer: ProducerStamp | None,
        reply: Reply[Published | None],
    ) -> Published:
        if producer is not None:
            self._check_append(producer, log.topic, log.partition)
        appended = log.append_batch(now_ns, messages, producer=producer)
        key = messages[0].key if appended.count == 1 else None
        return self._announce(now_ns, topic, log, appended, key, client, reply)

    def _announce(
        self,
        now_ns: int,
        topic: Topic,
        log: PartitionLog,
        appended: Appended,
        key: bytes | None,
        client: str,
        reply: Reply[Published | None],
    ) -> Published:
        """Count and tell of what is in the log; `reply` is settled, and readers are served, when it is durable."""
        end_offset = appended.base_offset + appended.count
        published = Published(log.topic, log.partition, appended.base_offset, (), appended.count)
        if appended.duplicate:
            self._durability.settle(now_ns, log, end_offset, reply, lambda _at: published)
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
            self._durability.settle(
                now_ns, log, end_offset, reply, lambda at_ns: self.serve_readers(at_ns, topic, published, client)
            )
        return published
