from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from itertools import count
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from broker_core.clients.message_form import Serializer, deserialized
from broker_core.clients.middleware import Chain, Middleware
from broker_core.clock import ns_from_s
from broker_core.closable import Closable
from broker_core.engine.host import Host
from broker_core.engine.open_batches import OpenQueueBatch
from broker_core.errors import BrokerError, ErrorCode
from broker_core.kinds import kind_of
from broker_core.limits import MAX_WAIT_MS
from broker_core.messages import StoredMessage
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.settings import TIME, Count, NotNegative, TimeS, checked, checked_class, validated

_log = logging.getLogger(__name__)
_numbers = count(1)
# How often `run` checks its stop event.
_LOOK_S = 0.25
_LONGEST_LEASE_S = MAX_WAIT_MS // 1_000
_NUMBER = (int, float)


class Delivery(msgspec.Struct, eq=False):
    """A message leased to a consumer. As a context manager it acknowledges at the end, and nacks on an exception.

    `ack`, `nack`, `release` and `extend` raise INVALID_LEASE if the lease has expired: the message goes to another
    consumer; and `nack` and `release` if it was acknowledged, for then it is too late.
    """

    _host: Host
    _lease: Lease | None  # of a message from an open batch: made on demand
    message: StoredMessage
    finished: bool = False  # acknowledged, nacked or released
    _batch: OpenQueueBatch | None = None  # that delivered it to `_holder`
    _holder: str = ""
    _acknowledged: bool = False

    @property
    def attempt(self) -> int:
        """The number of this delivery, from 1."""
        return self.lease.attempt

    @property
    def lease(self) -> Lease:
        """The lease, with holder, deadline and attempt."""
        if self._lease is None:
            assert self._batch is not None
            self._lease = self._batch.lease(self.message, self._holder)
        return self._lease

    def ack(self, *, durable: bool | None = None) -> None:
        """Acknowledge: the message is processed. A second call does nothing.

        With `durable`, wait until the acknowledgement is as durable as the queue; None is the queue's `durable_acks`.
        Also raises STORAGE_ERROR.
        """
        batch = self._batch
        if batch is not None and batch.held.pop(self.message.offset, False):
            self.finished = self._acknowledged = True
        elif not self.finished:
            self._end(lambda now_ns, lease: self._host.broker.queues.ack(now_ns, lease, durable=durable))
            self._acknowledged = True

    @checked
    def nack(self, cause: str = "nack", *, requeue: bool = True) -> None:
        """Processing failed: the message is retried by the queue's retry policy, or dead-lettered."""
        self._must_be_held("nacked")
        self._end(lambda now_ns, lease: self._host.broker.queues.nack(now_ns, lease, cause, requeue=requeue))

    def release(self) -> None:
        """Give the message back at once, as if it had never been delivered."""
        self._must_be_held("released")
        self._end(self._host.broker.queues.release)

    def extend(self, lease_s: float | None = None) -> None:
        """The lease ends `lease_s` from now (default: the queue's lease). Raises INVALID_REQUEST above a week."""
        if lease_s is not None and not (isinstance(lease_s, _NUMBER) and 0 < lease_s <= _LONGEST_LEASE_S):
            about = f"a lease of {lease_s!r:.40} s; it must be more than 0 and at most {_LONGEST_LEASE_S}, a week"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)
        lease_ms = None if lease_s is None else lease_s * 1_000
        self._lease = self._host.call(lambda now_ns: self._host.broker.queues.extend(now_ns, self.lease, lease_ms))

    def _must_be_held(self, what: str) -> None:
        if self.finished and self._acknowledged:
            place = f"{self.message.topic}/{self.message.partition} @{self.message.offset}"
            raise BrokerError(ErrorCode.INVALID_LEASE, f"{place} is acknowledged and cannot be {what} any more")

    def _end(self, action: Callable[[int, Lease], Reply[None] | None]) -> None:
        if not self.finished:
            written = self._host.call(lambda now_ns: action(now_ns, self.lease))
            self.finished = True
            if written is not None and not (written.done and written.error is None):
                self._host.wait(written)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.ack()
        elif isinstance(error, Exception):
            try:
                self.nack(cause_of(error))
            except BrokerError as late:
                if late.code is not ErrorCode.INVALID_LEASE:
                    raise
        elif not self.finished:
            self.release()


_DELIVERY = kind_of(Delivery)


@checked_class(fast=("take", "value_of"))
class QueueConsumer(Closable):
    """Takes messages of `queue`. Close it, or use it in a `with` block; closing releases what it holds.

    With at_most_once a message is acknowledged before delivery, and never delivered again. A message on which
    middleware fails is nacked with that error as the cause: the retry policy applies, and after the last attempt it is
    dead-lettered.
    """

    def __init__(
        self,
        host: Host,
        queue: str,
        *,
        client_id: str = "",
        guarantee: Literal["at_least_once", "at_most_once"] = "at_least_once",
        weight: NotNegative = 1,
        middleware: Sequence[Middleware] = (),
        serializer: Serializer[Any] | None = None,
    ) -> None:
        """`weight` is its share if the queue's `balancing` is weighted. Raises UNKNOWN_QUEUE."""
        host.call(lambda _now: host.broker.queues.queue(queue))
        self._host = host
        self.queue = queue
        self.client_id = client_id or f"worker-{next(_numbers)}"
        self._at_most_once = guarantee == "at_most_once"
        self._weight = weight
        self._serializer = serializer
        self._chain = Chain(middleware, lambda: host.now_ns, self.client_id) if middleware else None
        self._closed = False
        # The fast path, without middleware.
        self._open_batches = None if middleware or self._at_most_once else host.open_batches
        self._lock = host.lock
        host.register(self)

    def take(self, timeout_s: TimeS = 0.0) -> Delivery | None:
        """The next message; None after `timeout_s`, by default at once. Raises MIDDLEWARE_FAILED."""
        open_batches = self._open_batches
        if open_batches is not None and (batch := open_batches.serving.get(self.queue)) is not None:
            holder = self.client_id
            with self._lock:
                message = batch.take(holder)
            if message is not None:
                return Delivery(self._host, None, message, False, batch, holder)
        found = self._taken(1, validated("timeout_s", TIME, timeout_s))
        return found[0] if found else None

    def take_many(self, max_messages: Count, timeout_s: TimeS = 0.0) -> list[Delivery]:
        """Up to `max_messages` ready messages; if none is ready, the first that comes within `timeout_s`.

        Raises MIDDLEWARE_FAILED if no message passes; otherwise the failure is logged.
        """
        return self._taken(max_messages, timeout_s)

    def _taken(self, max_messages: int, timeout_s: float) -> list[Delivery]:
        broker = self._host.broker

        def take(now_ns: int) -> Any:
            if self._closed:
                raise BrokerError(ErrorCode.CLOSED, f"queue consumer {self.client_id}")
            deadline_ns = now_ns + ns_from_s(timeout_s) if timeout_s > 0 else None
            return broker.queues.take(
                now_ns,
                self.queue,
                self.client_id,
                max_messages=max_messages,
                deadline_ns=deadline_ns,
                weight=self._weight,
            )

        reply = self._host.call(take)
        try:
            leases: list[Lease] = self._host.wait(reply)
        except KeyboardInterrupt:
            self._host.call(lambda now_ns: broker.queues.abandon_take(self.queue, reply, lambda: now_ns))
            raise
        deliveries = [Delivery(self._host, lease, lease.message) for lease in leases]
        if self._at_most_once:
            self.ack_many(deliveries, durable=True)
        return deliveries if self._chain is None else self._passed(self._chain, deliveries)

    def ack_many(self, deliveries: Sequence[Delivery], *, durable: bool | None = None) -> None:
        """Acknowledge all of `deliveries` in one call; `durable` as in `Delivery.ack`.

        Raises INVALID_LEASE if some leases have expired; the others are acknowledged.
        """
        leases = [delivery.lease for delivery in deliveries if not delivery.finished]
        broker = self._host.broker
        try:
            self._host.wait(self._host.call(lambda now_ns: broker.queues.ack_many(now_ns, leases, durable=durable)))
        except BrokerError as error:
            if error.code is ErrorCode.INVALID_LEASE:
                _finish(deliveries)
            raise
        _finish(deliveries)

    def value_of(self, delivery: Delivery) -> Any:
        """The deserialized value. Raises UNREADABLE."""
        return deserialized(self._serializer, validated("delivery", _DELIVERY, delivery).message.value)

    def run(self, handler: Callable[[Delivery], object], stop: threading.Event | None = None) -> None:
        """Call `handler` for one message after the other, until `stop` is set or the consumer is closed.

        When it returns, the message is acknowledged, unless the handler has finished it. When it or the middleware
        raises, the message is nacked with the error.
        """
        while not self._closed and not (stop is not None and stop.is_set()):
            try:
                delivery = self.take(_LOOK_S)
                if delivery is not None:
                    self._handle(handler, delivery)
            except BrokerError as error:
                if error.code is ErrorCode.CLOSED:
                    return
                if error.code not in {ErrorCode.INVALID_LEASE, ErrorCode.MIDDLEWARE_FAILED}:
                    raise
                # The lease has expired, and the message goes to another consumer; or the middleware failed.
                _log.warning("%s: %s", self.client_id, error)

    def _handle(self, handler: Callable[[Delivery], object], delivery: Delivery) -> None:
        try:
            with delivery:
                handler(delivery)
        except BrokerError as error:
            if error.code in {ErrorCode.CLOSED, ErrorCode.INVALID_LEASE}:
                raise
            _log.warning("%s: %s", self.client_id, error)
        except Exception as error:
            _log.warning("%s: %s", self.client_id, cause_of(error))

    def _passed(self, chain: Chain, deliveries: list[Delivery]) -> list[Delivery]:
        """The deliveries that pass the middleware. Dropped ones are acknowledged, failed ones nacked."""
        found: list[Delivery] = []
        failures: list[BrokerError] = []
        try:
            for delivery in deliveries:
                try:
                    passed = chain.incoming(delivery.message)
                except BrokerError as error:
                    failures.append(error)
                    # If the lease has expired, the message is delivered again anyway.
                    with contextlib.suppress(BrokerError):
                        # Without the offset, so that dead letters can be counted by cause.
                        delivery.nack(cause_of(error.__cause__ if isinstance(error.__cause__, Exception) else error))
                    continue
                if passed is None:
                    delivery.ack()
                else:
                    delivery.message = passed
                    found.append(delivery)
        except BaseException:
            for delivery in deliveries:
                with contextlib.suppress(BrokerError):
                    delivery.release()
            raise
        if failures and not found:
            raise failures[0]
        for failure in failures:
            _log.warning("%s: %s", self.client_id, failure)
        return found

    def close(self) -> None:
        """Release what it holds, and cancel its takes. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._open_batches = None
        self._host.unregister(self)

        def release(now_ns: int) -> None:
            if self.queue in self._host.broker.queues:
                self._host.broker.queues.queue(self.queue).release_holder(now_ns, self.client_id, "closed")

        if not self._host.closing:
            self._host.call(release)


def _finish(deliveries: Sequence[Delivery]) -> None:
    for delivery in deliveries:
        delivery.finished = True


def cause_of(error: Exception) -> str:
    """An error of an application in one line."""
    return f"{type(error).__name__}: {error}"[:500]
