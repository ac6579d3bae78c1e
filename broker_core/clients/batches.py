"""Batches of a producer, and the receipt of each message in them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from broker_core.broker.publishing import Published
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.plurals import counted
from broker_core.replies import Reply
from broker_core.timers import Timer

if TYPE_CHECKING:
    from broker_core.engine.host import Host

NO_OFFSET = -1
FORMAT_BYTES = 16  # overhead of a message in the batch format, roughly


class Batch(msgspec.Struct, eq=False):
    """Messages for one partition that are sent together. `settled` is the reply with their outcome."""

    topic: str
    partition: int
    messages: list[Message] = []
    size_bytes: int = 0
    settled: Reply[Published] = msgspec.field(default_factory=Reply)
    stamp: ProducerStamp | None = None
    attempts: int = 0
    withdrawn: bool = False  # its answer is ignored
    attempt: Reply[Published | None] | None = None  # sent and not answered
    closed: bool = False  # no message may be added
    doubtful: bool = False  # an attempt that failed may have been stored
    reported: bool = False  # a receipt or a callback gets its outcome
    timer: Timer | None = None
    listeners: list[tuple[Callable[[Receipt], object], Receipt]] = []

    def add(self, message: Message, size_bytes: int) -> int:
        self.messages.append(message)
        self.size_bytes += size_bytes
        return len(self.messages) - 1


class OutcomeWaiter:
    """Waits for the outcome of messages of one producer. `drain` puts those that are in no batch into batches."""

    def __init__(self, host: Host, drain: Callable[[], object]) -> None:
        self._host = host
        self._drain = drain

    def wait(self, reply: Reply[Published], timeout_s: float | None = None) -> Published:
        return self._host.wait(reply, timeout_s)

    def drain(self) -> None:
        self._host.call(lambda _now: self._drain())


class Receipt(msgspec.Struct, eq=False, gc=False):
    """The outcome of one message. Usable from any thread, but not from a callback that runs under the host's lock."""

    _waiter: OutcomeWaiter
    _batch: Batch | Message  # the message itself while it is in no batch
    _place: int = 0

    @property
    def done(self) -> bool:
        return isinstance(self._batch, Batch) and self._batch.settled.done

    def result(self, timeout_s: float | None = None) -> Published:
        """Wait until the message is stored, at offset -1 with acks 0. Raises the error that kept it from being stored.

        Raises REQUEST_TIMED_OUT (`possibly_stored`) while the outcome is unknown; `result` can be called again then.
        """
        if not isinstance(self._batch, Batch):
            self._waiter.drain()
        batch = self._batch
        assert isinstance(batch, Batch)
        batch.reported = True
        try:
            published = self._waiter.wait(batch.settled, timeout_s)
        except BrokerError as error:
            if error.code is not ErrorCode.REQUEST_TIMED_OUT or batch.settled.done:
                raise
            about = f"a message for {batch.topic}, after {timeout_s:g} s; it may still be stored; call result again"
            raise BrokerError(error.code, about, possibly_stored=True) from None
        offset = published.offset + self._place if published.offset >= 0 else NO_OFFSET
        return Published(published.topic, published.partition, offset)

    def error(self, timeout_s: float | None = None) -> BrokerError | None:
        """The error that kept the message from being stored, or None. Raises REQUEST_TIMED_OUT while unknown."""
        try:
            self.result(timeout_s)
        except BrokerError as error:
            if not self.done:
                raise
            return error
        return None


def batches_of(receipts: Sequence[Receipt]) -> list[Batch]:
    return [receipt._batch for receipt in receipts if isinstance(receipt._batch, Batch)]


def put_all(receipts: Sequence[Receipt], batch: Batch, place: int) -> None:
    for receipt in receipts:
        # In this order: a thread that sees the batch must see the index.
        receipt._place = place
        receipt._batch = batch
        place += 1


def messages_of(receipts: Sequence[Receipt]) -> list[Message]:
    return [receipt._batch for receipt in receipts]  # type: ignore[misc]


def size_of(message: Message) -> int:
    """Key, value, headers and the format's overhead."""
    size = len(message.key or b"") + len(message.value or b"") + FORMAT_BYTES
    for name, value in message.headers:
        size += len(name) + len(value or b"") + 2
    return size


def largest_of(messages: Sequence[Message]) -> int:
    lengths = _value_lengths(messages)
    return max(map(size_of, messages)) if lengths is None else max(lengths) + FORMAT_BYTES


def sum_of(messages: Sequence[Message]) -> int:
    lengths = _value_lengths(messages)
    return sum(map(size_of, messages)) if lengths is None else sum(lengths) + FORMAT_BYTES * len(lengths)


def _value_lengths(messages: Sequence[Message]) -> list[int] | None:
    with contextlib.suppress(TypeError):
        if not [True for each in messages if each.key is not None or each.headers]:
            return list(map(len, [each.value for each in messages]))  # type: ignore[arg-type]
    return None


def halved(messages: list[Message], largest_bytes: int, most_bytes: int) -> Iterator[tuple[list[Message], int]]:
    """`messages` split into parts of at most `most_bytes`, each with an upper bound of its size."""
    size_bytes = largest_bytes * len(messages)
    if size_bytes > most_bytes:
        size_bytes = sum_of(messages)
    if size_bytes <= most_bytes or len(messages) == 1:
        yield messages, size_bytes
    else:
        half = len(messages) // 2
        yield from halved(messages[:half], largest_bytes, most_bytes)
        yield from halved(messages[half:], largest_bytes, most_bytes)


def failure_of(batches: Sequence[Batch], first: BrokerError) -> BrokerError:
    """The error of a `publish_many` whose first error is `first`; it says how many messages may be stored."""
    errors = [each.settled.error for each in batches if isinstance(each.settled.error, BrokerError)]
    failed = next(iter(errors), first)
    stored = sum(len(each.messages) for each in batches if each.settled.error is None)
    if not stored or failed.possibly_stored:
        return failed
    count = counted(sum(len(each.messages) for each in batches), "message")
    return BrokerError(failed.code, f"{failed.about}; {stored} of {count} may be stored", possibly_stored=True)
