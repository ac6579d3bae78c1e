"""Batches on their way, and the receipt that a sender gets for each message in them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from broker_core.broker.broker import Published
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.plurals import counted
from broker_core.replies import Reply
from broker_core.timers import Timer

T = TypeVar("T")

NO_OFFSET = -1
FORMAT_BYTES = 16  # what the format adds to a message, about


class Sent(msgspec.Struct, frozen=True, gc=False):
    """Where a message was stored; `offset` is -1 with acks 0, which waits for nothing."""

    topic: str
    partition: int
    offset: int


class Batch:
    """Messages for one partition that are sent together. `settled` is there when their fate is known."""

    __slots__ = (
        "attempt",
        "attempts",
        "closed",
        "doubtful",
        "listeners",
        "messages",
        "partition",
        "settled",
        "size_bytes",
        "stamp",
        "timer",
        "told",
        "topic",
        "withdrawn",
    )

    def __init__(self, topic: str, partition: int) -> None:
        self.topic = topic
        self.partition = partition
        self.messages: list[Message] = []
        self.size_bytes = 0
        self.settled: Reply[Published] = Reply()
        self.stamp: ProducerStamp | None = None
        self.attempts = 0
        self.withdrawn = False  # its answer is no longer asked for
        self.attempt: Reply[Published | None] | None = None  # under way, and not answered
        self.closed = False  # nothing more is put in
        self.doubtful = False  # an attempt may have been stored although it seemed to fail
        self.told = False  # somebody has asked for, or listens to, what becomes of it
        self.timer: Timer | None = None
        self.listeners: list[tuple[Callable[[Receipt], object], Receipt]] = []

    def fill(self, messages: list[Message], size_bytes: int) -> None:
        """Put all of these in, of so many bytes together; nothing else is in it."""
        self.messages = messages
        self.size_bytes = size_bytes

    def add(self, message: Message, size_bytes: int) -> int:
        """Put one more in; its place."""
        self.messages.append(message)
        self.size_bytes += size_bytes
        return len(self.messages) - 1


class Waiting(Protocol):
    """Who can wait for a reply."""

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        """Its result. Raises its error, or REQUEST_TIMED_OUT."""

    def gather(self) -> None:
        """Put what was sent so far into batches."""


class Receipt(msgspec.Struct, eq=False, gc=False):
    """What becomes of one message. It may be asked from any thread, but from none that the broker waits for."""

    _host: Waiting
    _home: Batch | Message  # the message itself, while it is in no batch yet
    _place: int = 0

    @property
    def done(self) -> bool:
        """True when `result` would return or raise at once."""
        return isinstance(self._home, Batch) and self._home.settled.done

    def result(self, timeout_s: float | None = None) -> Sent:
        """Where the message was stored. Raises why it was not.

        REQUEST_TIMED_OUT says that nothing is known yet: it may still be stored, and can be asked again.
        """
        if not isinstance(self._home, Batch):
            self._host.gather()
        batch = self._home
        assert isinstance(batch, Batch)
        batch.told = True
        try:
            published = self._host.wait(batch.settled, timeout_s)
        except BrokerError as error:
            if error.code is not ErrorCode.REQUEST_TIMED_OUT or batch.settled.done:
                raise
            about = f"a message for {batch.topic}, after {timeout_s:g} s; it may still be stored, ask again"
            raise BrokerError(error.code, about, possibly_stored=True) from None
        offset = published.offset + self._place if published.offset >= 0 else NO_OFFSET
        return Sent(published.topic, published.partition, offset)

    def error(self, timeout_s: float | None = None) -> BrokerError | None:
        """Why the message was not stored, None where it was. Raises REQUEST_TIMED_OUT where that is not known."""
        try:
            self.result(timeout_s)
        except BrokerError as error:
            if not self.done:
                raise
            return error
        return None


def batches_of(receipts: Sequence[Receipt]) -> list[Batch]:
    """The batches that they are in, as far as they are in one."""
    return [receipt._home for receipt in receipts if isinstance(receipt._home, Batch)]


def put_all(receipts: Sequence[Receipt], batch: Batch, place: int) -> None:
    """Their messages are in `batch` now, the first at `place`."""
    for receipt in receipts:
        # In this order: whoever sees the batch must see the place.
        receipt._place = place
        receipt._home = batch
        place += 1


def messages_of(receipts: Sequence[Receipt]) -> list[Message]:
    """What they stand for, as long as it is in no batch."""
    return [receipt._home for receipt in receipts]  # type: ignore[misc]


def size_of(message: Message) -> int:
    """What a message counts in a batch and in the buffer: key, value, headers, and what the format adds."""
    size = len(message.key or b"") + len(message.value or b"") + FORMAT_BYTES
    for name, value in message.headers:
        size += len(name) + len(value) + 2
    return size


def largest_of(messages: Sequence[Message]) -> int:
    """`size_of` the largest."""
    lengths = _value_lengths(messages)
    return max(map(size_of, messages)) if lengths is None else max(lengths) + FORMAT_BYTES


def sum_of(messages: Sequence[Message]) -> int:
    """`size_of` all together."""
    lengths = _value_lengths(messages)
    return sum(map(size_of, messages)) if lengths is None else sum(lengths) + FORMAT_BYTES * len(lengths)


def _value_lengths(messages: Sequence[Message]) -> list[int] | None:
    """Where there is nothing but values."""
    with contextlib.suppress(TypeError):
        if not [True for each in messages if each.key is not None or each.headers]:
            return list(map(len, [each.value for each in messages]))  # type: ignore[arg-type]
    return None


def dropped(batch: Batch) -> BrokerError:
    """The error of a batch that a flow policy dropped."""
    return BrokerError(ErrorCode.THROTTLED, f"{batch.topic} has dropped the message, as its flow policy says")


def halved(messages: list[Message], largest_bytes: int, most_bytes: int) -> Iterator[tuple[list[Message], int]]:
    """`messages` with at least their size, in halves where they are more than `most_bytes` for one batch."""
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
    """What is to be said of messages that were to be stored together, where `first` is the first error."""
    errors = [each.settled.error for each in batches if isinstance(each.settled.error, BrokerError)]
    failed = next(iter(errors), first)
    stored = sum(len(each.messages) for each in batches if each.settled.error is None)
    if not stored or failed.possibly_stored:
        return failed
    count = counted(sum(len(each.messages) for each in batches), "message")
    return BrokerError(failed.code, f"{failed.about}; {stored} of {count} may be stored", possibly_stored=True)
