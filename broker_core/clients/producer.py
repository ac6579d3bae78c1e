"""A thread-safe producer: `send` returns a receipt, `publish` waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar

from broker_core.broker.publishing import Published
from broker_core.clients.batches import NO_OFFSET, Batch, OutcomeWaiter, Receipt, batches_of, failure_of
from broker_core.clients.message_form import Serializer, serialized
from broker_core.clients.middleware import Chain, Middleware
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.record_accumulator import MOST_ENTRIES, TopicRecords
from broker_core.clients.sender import Sender
from broker_core.clients.throttle import Throttle
from broker_core.clock import NS_PER_S
from broker_core.closable import Closable
from broker_core.engine.host import CLOSE_TIMEOUT_S, Host
from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.kinds import kind_of
from broker_core.messages import Headers, Message
from broker_core.settings import TimeS, checked_class, validated

T = TypeVar("T")

_numbers = count(1)
_PARTITION, _TOPIC = kind_of(int), kind_of(str)
OnDelivery = Callable[[Receipt], object]


@checked_class(fast=("send", "send_message", "publish", "publish_many"))
class Producer(Closable):
    """Publishes to topics and queues of `host`. Close it, or use it in a `with` block; `close` flushes.

    `serializer` turns values into bytes, `key_serializer` keys; without one, both are bytes or text. Middleware is
    called for each message before it is sent, in the caller's thread, one message at a time.
    """

    def __init__(
        self,
        host: Host,
        config: ProducerConfig | None = None,
        *,
        client_id: str = "",
        serializer: Serializer[Any] | None = None,
        key_serializer: Serializer[Any] | None = None,
        middleware: Sequence[Middleware] = (),
    ) -> None:
        self._host = host
        self.config = config or ProducerConfig()
        self.client_id = client_id or f"producer-{next(_numbers)}"
        self._serializer = serializer
        self._key_serializer = key_serializer
        self._chain_lock = threading.Lock()
        self._throttle: Throttle | None = None
        if self.config.rate_per_s is not None:
            self._throttle = Throttle(self.client_id, self.config.rate_per_s, self.config.burst, lambda: host.now_ns)
        paced = self._throttle is not None
        self._chain = Chain(middleware, lambda: host.now_ns, self.client_id) if middleware or paced else None
        name = self.config.name
        identity = host.admin(lambda _now: host.broker.producer_ids.register(name)) if self.config.idempotent else None
        self._sender = Sender(
            host.broker, host.loop, self.client_id, self.config, identity=identity, on_settled=self._settled
        )
        self._records_by_topic = {} if self._chain is not None else self._sender.accumulator.by_topic
        self._broker = host.broker
        self._scheduled = self._sender.accumulator.scheduled
        self._waiter = OutcomeWaiter(host, self._sender.drain)
        self._closed = False
        # Without middleware, rate limit, name or adaptive pace, `publish` needs no batches.
        self._direct = (
            not (middleware or paced or self.config.name or self.config.adaptive) and self.config.acks == "all"
        )
        self._open_batches, self._lock = host.open_batches, host.lock
        host.register(self, self.close)

    # -- sending

    def send(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        *,
        headers: Headers = (),
        ttl_ms: int | None = None,
        priority: int = 0,
        partition: int | None = None,
        on_delivery: OnDelivery | None = None,
        linger: bool = True,
    ) -> Receipt:
        """Send a message. `on_delivery(receipt)` is called in the host's callback thread when its outcome is known.

        Blocks for up to `max_block_ms` while the buffer is full. Raises UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE,
        UNSERIALIZABLE, INVALID_RECORD (also for a field of the wrong type), REQUEST_TIMED_OUT if the buffer stays
        full, THROTTLED if `rate_per_s` would delay it beyond `max_block_ms`, and CLOSED.
        """
        if self._serializer is not None or type(value) is not bytes:
            value = serialized(self._serializer, value)
        if key is not None:
            key = serialized(self._key_serializer, key)
        if linger and partition is None and on_delivery is None and ttl_ms is None and not (headers or priority):
            records = self._records_by_topic.get(topic)
            if records is not None and value is not None and records.revision == self._broker.logs.revision:
                size_bytes = len(value) if key is None else len(value) + len(key)
                if size_bytes <= records.limit_bytes:
                    return self._accumulate(records, Message(value, key))
        message = Message(value, key, headers, ttl_ms, priority)
        return self.send_message(topic, message, partition=partition, on_delivery=on_delivery, linger=linger)

    def _accumulate(self, records: TopicRecords, message: Message) -> Receipt:
        receipt, entries = Receipt(self._waiter, message), records.entries
        entries.append(receipt)
        if not records.drain_scheduled or len(entries) >= MOST_ENTRIES:
            self._host.call(lambda _now: self._sender.schedule_drain(records))
        return receipt

    def send_message(
        self,
        topic: str,
        message: Message,
        *,
        partition: int | None = None,
        on_delivery: OnDelivery | None = None,
        linger: bool = True,
        timeout_s: TimeS | None = None,
    ) -> Receipt:
        """`send` for a `Message`. Without `linger` its batch is sent at once; with `timeout_s` it gets a batch of its
        own, and waits at most that long for space.
        """
        if partition is not None:
            validated("partition", _PARTITION, partition)
        max_block_ms = self._keep_rate(1, timeout_s)
        passed = self._passed(topic, message)
        if passed is None:
            return self._filtered(topic, on_delivery)
        topic, message = passed

        def put(_now: int) -> Receipt | None:
            self._check_open()
            placed = self._sender.send(topic, message, partition, linger=linger, alone=timeout_s is not None)
            if placed is None:
                return None
            receipt = Receipt(self._waiter, *placed)
            if on_delivery is not None:
                self._listen(placed[0], on_delivery, receipt)
            return receipt

        try:
            receipt = self._with_topic(topic, lambda: self._host.call(put))
            return receipt if receipt is not None else self._wait_for_space(put, max_block_ms)
        except BrokerError:
            if self._chain is not None:
                self._chain.failed(message)
            raise

    def publish(
        self, topic: str, value: Any, key: Any = None, *, timeout_s: TimeS | None = None, **fields: Any
    ) -> tuple[int, int]:
        """`send` without lingering, and wait. Returns (partition, offset), both -1 if middleware dropped it.

        Raises the error that kept it from being stored. A message that is not stored within `timeout_s` is withdrawn
        (REQUEST_TIMED_OUT) and is never stored, unless the error has `possibly_stored`: its write had begun.
        """
        if fields or not self._direct:
            return self._publish_in_batch(topic, value, key, timeout_s, **fields)
        if self._serializer is not None or type(value) is not bytes:
            value = serialized(self._serializer, value)
        if key is not None:
            key = serialized(self._key_serializer, key)
        open_batches, sender = self._open_batches, self._sender
        if open_batches is not None and value is not None and not (sender.pending or self._scheduled):
            placed = open_batches.join(self.client_id, topic, value, key)
            if placed is not None:
                return placed
        return self._publish_without_batch(topic, value, key, timeout_s)

    def _publish_without_batch(
        self, topic: str, value: bytes | None, key: bytes | None, timeout_s: TimeS | None
    ) -> tuple[int, int]:
        opened, sender = self._open_batches, self._sender
        if opened is not None and value is not None:
            with self._lock:
                placed = None if sender.pending or self._scheduled else opened.put(self.client_id, topic, value, key)
            if placed is not None:
                return placed
        message = Message(value, key)
        reply = self._host.call(lambda _now: None if self._closed else sender.store(topic, message))
        if reply is None:
            receipt = self.send_message(topic, message, linger=False, timeout_s=timeout_s)
            return self._wait_for_receipt(receipt, timeout_s)
        try:
            published = self._host.wait(reply, timeout_s)
        except BrokerError as error:
            if error.code is not ErrorCode.REQUEST_TIMED_OUT or reply.done:
                raise
            about = (
                f"a message for {topic}, not on the disk after {timeout_s:g} s; it may have been stored all the same"
            )
            raise BrokerError(error.code, about, possibly_stored=True) from None
        assert published is not None  # only a flow policy drops messages
        return published.partition, published.offset

    def _publish_in_batch(
        self,
        topic: str,
        value: Any,
        key: Any,
        timeout_s: float | None,
        *,
        headers: Headers = (),
        ttl_ms: int | None = None,
        priority: int = 0,
        partition: int | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> tuple[int, int]:
        data = serialized(self._serializer, value)
        message = Message(data, serialized(self._key_serializer, key), headers, ttl_ms, priority)
        receipt = self.send_message(
            topic, message, partition=partition, on_delivery=on_delivery, linger=False, timeout_s=timeout_s
        )
        return self._wait_for_receipt(receipt, timeout_s)

    def _wait_for_receipt(self, receipt: Receipt, timeout_s: float | None) -> tuple[int, int]:
        """(partition, offset) of the message; after `timeout_s` it is withdrawn if that is still possible."""
        try:
            sent = receipt.result(timeout_s)
        except BrokerError:
            if receipt.done:
                raise
            self._host.call(lambda _now: self._sender.give_up(batches_of((receipt,)), timeout_s))
            sent = receipt.result(0)
        return sent.partition, sent.offset

    def publish_many(
        self, topic: str, messages: Sequence[Message], *, timeout_s: TimeS | None = None
    ) -> tuple[Published, ...]:
        """Publish `messages` in as few batches as possible, and wait. One `Published` a batch, in order of sending.

        The order within a partition is that of `messages`. Raises the first error, with `possibly_stored` if other
        batches may have been stored. What is not stored within `timeout_s` is withdrawn, as by `publish`.
        """
        validated("topic", _TOPIC, topic)
        ends_s = None if timeout_s is None else time.monotonic() + timeout_s
        self._keep_rate(len(messages), timeout_s)
        if self._chain is not None:
            found = [self._passed(topic, message) for message in messages]
            kept = [each for each in found if each is not None]
            if any(name != topic for name, _ in kept):
                raise BrokerError(
                    ErrorCode.INVALID_REQUEST, "messages routed by a middleware must be sent one at a time"
                )
            messages = [message for _, message in kept]

        def put(_now: int) -> list[Batch]:
            self._check_open()
            batches = self._sender.send_many(topic, messages)
            for batch in batches:
                batch.reported = True
            return batches

        batches = self._with_topic(topic, lambda: self._host.call(put))
        try:
            return tuple(
                self._host.wait(batch.settled, None if ends_s is None else max(0.0, ends_s - time.monotonic()))
                for batch in batches
            )
        except BrokerError as error:
            failed = error
        if failed.code is ErrorCode.REQUEST_TIMED_OUT:
            self._host.call(lambda _now: self._sender.give_up(batches, timeout_s))
        raise failure_of(batches, failed)

    def flush(self, timeout_s: TimeS | None = None) -> None:
        """Send all open batches, and wait until every message sent so far is stored or has failed.

        Raises the first error since the last flush that no receipt and no callback has reported, and REQUEST_TIMED_OUT.
        """
        self._host.wait(self._host.call(lambda _now: self._sender.flush()), timeout_s)
        self._sender.raise_failure()

    def close(self, timeout_s: TimeS | None = CLOSE_TIMEOUT_S) -> None:
        """`flush`, then close; messages not stored within `timeout_s` are given up. A second call does nothing.

        Raises as `flush` does, after closing. REQUEST_TIMED_OUT names the topics and the number of messages given up;
        CLOSED those that another thread has sent while it closed, and that are not stored.
        """
        if self._closed:
            return
        self._closed = True
        self._direct = False
        if self._throttle is not None:
            self._throttle.close()
        given_up, timed_out = None, False
        try:
            if not self._host.closing:
                self._host.call(lambda _now: self._sender.accept_no_more())
                self._host.wait(self._host.call(lambda _now: self._sender.flush()), timeout_s)
        except BrokerError as error:
            timed_out = error.code is ErrorCode.REQUEST_TIMED_OUT
            if not timed_out:
                raise
        finally:
            self._host.unregister(self)
            if not self._host.closing:
                given_up = self._host.call(lambda _now: self._sender.close(timed_out=timed_out))
        if given_up is not None:
            raise given_up
        self._sender.raise_failure()

    # -- inside

    def _keep_rate(self, messages: int, timeout_s: float | None) -> float:
        """Wait as `rate_per_s` requires. Returns how long a message may wait for space, in ms."""
        most_ms = self.config.max_block_ms if timeout_s is None else min(self.config.max_block_ms, timeout_s * 1_000)
        if self._throttle is not None and messages:
            self._throttle.wait(messages, most_ms)
        return most_ms

    def _passed(self, topic: str, message: Message) -> tuple[str, Message] | None:
        if self._chain is None:
            return topic, message
        with self._chain_lock:
            return self._chain.outgoing(topic, message)

    def _filtered(self, topic: str, on_delivery: OnDelivery | None) -> Receipt:
        """The receipt of a message that middleware dropped: its partition and offset are -1."""
        batch = Batch(topic, NO_OFFSET)
        batch.settled.resolve(Published(topic, NO_OFFSET, NO_OFFSET))
        receipt = Receipt(self._waiter, batch, 0)
        if on_delivery is not None:
            self._host.tell(partial(on_delivery, receipt))
        return receipt

    def _with_topic(self, topic: str, action: Callable[[], T]) -> T:
        try:  # of each message: `Suppress` takes ten times as long
            return action()
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
        self._host.ensure_topic(topic)
        return action()

    def _wait_for_space(self, put: Callable[[int], Receipt | None], most_ms: float) -> Receipt:
        deadline_ns = self._host.now_ns + round(most_ms * 1_000_000)
        while True:
            left_s = (deadline_ns - self._host.now_ns) / NS_PER_S
            if left_s <= 0:
                full = f"{self.config.buffer_bytes} bytes wait in {self.client_id}; send less, or wait longer"
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, full)
            space = self._host.call(lambda _now: self._sender.space())
            # Space may have been freed before this thread waited for it.
            receipt = self._host.call(put)
            if receipt is not None:
                return receipt
            with Suppress(ErrorCode.REQUEST_TIMED_OUT):
                self._host.wait(space, left_s)

    def _listen(self, batch: Batch, on_delivery: OnDelivery, receipt: Receipt) -> None:
        batch.reported = True
        if batch.settled.done:
            self._host.tell(partial(on_delivery, receipt))
        else:
            batch.listeners.append((on_delivery, receipt))

    def _settled(self, batch: Batch) -> None:
        for on_delivery, receipt in batch.listeners:
            self._host.tell(partial(on_delivery, receipt))
        batch.listeners.clear()
        if batch.settled.error is not None and self._chain is not None:
            for message in batch.messages:
                self._host.tell(partial(self._chain.failed, message))

    def _check_open(self) -> None:
        if self._closed:
            raise BrokerError(ErrorCode.CLOSED, f"producer {self.client_id}")
