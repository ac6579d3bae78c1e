from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar

from broker_core.clients.consumer import Consumer, Listener, ignore
from broker_core.clients.membership import ConsumerConfig, within
from broker_core.clients.message_form import Serializer, deserialized
from broker_core.clients.middleware import Chain, Middleware
from broker_core.closable import Closable
from broker_core.engine.host import Host
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.groups.offset_reset import Change, Target, preview
from broker_core.kinds import kind_of
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.replies import Reply
from broker_core.settings import Count, TimeS, checked_class, validated

T = TypeVar("T")

_numbers = count(1)
_MESSAGE = kind_of(StoredMessage)
DEFAULT_CONFIG = ConsumerConfig(auto_commit_interval_ms=5_000.0, max_poll_interval_ms=300_000)


@checked_class(fast=("value_of", "key_of"))
class GroupConsumer(Closable):
    """Reads topics of `host` as a member of `group`. Close it, or use it in a `with` block.

    One thread at a time may `poll` or iterate; all other methods are thread-safe. Listeners are called in the polling
    thread, without any lock; in `on_revoked` a commit is still possible. `serializer` is used by `value_of`,
    `key_serializer` by `key_of`; a message that they cannot read has been delivered all the same.

    Middleware is called for each message before delivery. If it fails, that message and those behind it in its
    partition are neither delivered nor counted as processed, and each poll raises the error with the offset until a
    `seek` goes past it, as with a record that Kafka's consumer cannot deserialize. Other partitions are not affected.
    """

    def __init__(
        self,
        host: Host,
        group: str,
        topics: Sequence[str] = (),
        config: ConsumerConfig | None = None,
        *,
        pattern: str = "",
        client_id: str = "",
        on_assigned: Listener = ignore,
        on_revoked: Listener = ignore,
        on_lost: Listener = ignore,
        middleware: Sequence[Middleware] = (),
        serializer: Serializer[Any] | None = None,
        key_serializer: Serializer[Any] | None = None,
    ) -> None:
        self._host = host
        self.group = group
        self.client_id = client_id or f"consumer-{next(_numbers)}"
        self._config = config or DEFAULT_CONFIG
        self._on_revoked = on_revoked
        self._serializer, self._key_serializer = serializer, key_serializer
        self._wake = threading.Event()
        self._pending_calls: deque[tuple[Callable[[], object], Reply[None]]] = deque()
        self._polling: Reply[list[StoredMessage]] | None = None
        self._buffer: deque[StoredMessage] = deque()
        self._busy = threading.Lock()
        self._failure: tuple[TopicPartition, int, BrokerError] | None = None  # of middleware; the next poll raises it
        self._chain = Chain(middleware, lambda: host.now_ns, self.client_id) if middleware else None
        self._core = host.call(
            lambda _now: Consumer(
                host.broker,
                host.loop,
                self.client_id,
                group,
                topics,
                self._config,
                on_assigned=self._listener(on_assigned),
                on_revoked=self._listener(on_revoked),
                on_lost=self._listener(on_lost),
            )
        )
        host.register(self)
        if pattern:
            self.subscribe(pattern=pattern)

    # -- subscriptions

    def subscribe(self, topics: Sequence[str] = (), *, pattern: str = "") -> None:
        self._call(lambda: self._core.subscribe(topics, pattern))

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self._buffer.clear()
        self._call(lambda: self._core.assign(partitions))

    @property
    def assignment(self) -> tuple[TopicPartition, ...]:
        """The partitions that it owns now."""
        return self._core.assignment

    def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Stop reading these partitions until `resume`; they stay assigned."""
        self._call(lambda: self._core.pause(partitions))

    def resume(self, partitions: Sequence[TopicPartition]) -> None:
        self._call(lambda: self._core.paused.difference_update(partitions))

    # -- reading

    def poll(self, timeout_s: TimeS = 0.5, max_messages: Count | None = None) -> list[StoredMessage]:
        """The next messages; [] after `timeout_s`, or while the group rebalances.

        Messages of earlier polls count as processed; the automatic commit commits them. Raises DAMAGED or
        OFFSET_OUT_OF_RANGE for a partition that cannot be read, when the others have no messages; MIDDLEWARE_FAILED,
        after the messages of other partitions; CLOSED; and FENCED_INSTANCE_ID from when a newer member has its
        instance id.
        """
        with self._alone():
            if self._failure is not None:
                self._tell_failure(*self._failure)
            if self._buffer:
                found, self._buffer = list(self._buffer), deque()
            else:
                found = self._fetched(timeout_s, max_messages)
            return self._handed(found)

    def __iter__(self) -> Iterator[StoredMessage]:
        """Iterate over messages until the consumer is closed. Asking for the next one counts the last as processed.

        An error ends the iteration; a new iteration continues from there.
        """
        while not self._core.closed:
            try:
                message = self._next()
            except BrokerError as error:
                if error.code is ErrorCode.CLOSED:
                    return
                raise
            if message is not None:
                yield message

    def _next(self) -> StoredMessage | None:
        with self._alone():
            if self._failure is not None:
                self._tell_failure(*self._failure)
            if not self._buffer:
                # With at_most_once, fetched messages are committed: stopping the iteration would lose buffered ones.
                most = 1 if self._config.guarantee == "at_most_once" else None
                found = self._fetched(0.5, most)  # a listener may seek meanwhile, which changes the buffer
                self._buffer.extend(found)
            if not self._buffer:
                return None
            handed = self._handed([self._buffer.popleft()])
            return handed[0] if handed else None

    def value_of(self, message: StoredMessage) -> Any:
        """The deserialized value, None for a tombstone. Raises UNREADABLE."""
        return deserialized(self._serializer, validated("message", _MESSAGE, message).value)

    def key_of(self, message: StoredMessage) -> Any:
        """The deserialized key, None if there is none. Raises UNREADABLE."""
        return deserialized(self._key_serializer, validated("message", _MESSAGE, message).key)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Read from `offset` on with the next poll. Raises INVALID_REQUEST for a partition that it does not own."""
        self._call(lambda: self._core.seek(topic, partition, offset))
        self._buffer = deque(each for each in self._buffer if (each.topic, each.partition) != (topic, partition))

    def preview_seek(self, target: Target, partitions: Sequence[TopicPartition] = ()) -> list[Change]:
        """The changes that `seek_to` would make. Default: all assigned partitions."""
        logs, committed = self._host.broker.logs, self._host.broker.groups.committed
        return self._call(
            lambda: preview(self.group, target, partitions or self.assignment, logs, committed, here=self.position)
        )

    def seek_to(self, target: Target, partitions: Sequence[TopicPartition] = ()) -> list[Change]:
        """Seek `partitions` (default: all assigned) to `target`. Returns the changes.

        The targets are those of an offset reset: earliest, latest, offset, timestamp, shift-by from the position.
        """
        changes = self.preview_seek(target, partitions)
        for change in changes:
            self.seek(change.topic, change.partition, change.to_offset)
        return changes

    def position(self, topic: str, partition: int) -> int:
        """The offset of the next message. Raises INVALID_REQUEST for a partition that it does not own."""
        for message in self._buffer:
            if (message.topic, message.partition) == (topic, partition):
                return message.offset
        about = f"{self.client_id} does not own {topic}/{partition}"
        return must(self._core.positions.get((topic, partition)), ErrorCode.INVALID_REQUEST, about)

    def committed(self, topic: str, partition: int) -> int | None:
        """The committed offset of the group, which is the next one to read; None if there is none."""
        return self._call(lambda: self._host.broker.groups.committed(self.group, topic, partition))

    # -- committing

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Commit `offsets`, or everything delivered so far, and wait until the commit is on the disk.

        Raises REBALANCE_IN_PROGRESS, ILLEGAL_GENERATION or UNKNOWN_MEMBER_ID if the group has a newer generation;
        other members get the messages then.
        """
        if offsets is None:
            self._call(self._core.commit_handed)
        else:
            self._call(lambda: self._core.commit_offsets(dict(offsets)))
        self._host.wait(self._host.durable())

    # -- closing

    def close(self) -> None:
        """Call `on_revoked`, commit as configured, leave the group. A second call does nothing."""
        if self._core.closed:
            return
        owned = self._core.assignment
        try:
            if owned and not self._host.closing:
                # While it is still a member: a commit of the application counts.
                self._on_revoked(owned)
        finally:
            self._host.unregister(self)
            if self._host.closing:
                self._core.abandon()
            else:
                self._host.call(lambda _now: self._core.close(tell=False))
            self._wake.set()

    # -- inside

    def _call(self, action: Callable[[], T]) -> T:
        return self._host.call(lambda _now: action())

    def _alone(self) -> threading.Lock:
        if self._busy.locked():
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"another thread is already polling {self.client_id}")
        return self._busy

    def _listener(self, listener: Listener) -> Callable[[Sequence[TopicPartition]], Reply[None]]:
        """A listener for the coroutine: the polling thread calls `listener`, and the coroutine waits for that."""

        def tell(partitions: Sequence[TopicPartition]) -> Reply[None]:
            reply: Reply[None] = Reply()
            self._pending_calls.append((partial(listener, tuple(partitions)), reply))
            self._wake.set()
            return reply

        return tell

    def _fetched(self, timeout_s: float, max_messages: Count | None) -> list[StoredMessage]:
        """Messages of the coroutine's poll; one that outlasts `timeout_s` is continued by the next call."""
        deadline_s = time.monotonic() + timeout_s
        polling = self._polling
        if polling is not None:
            found = self._polled(polling, deadline_s)
            timeout_s = deadline_s - time.monotonic()
            if found or not polling.done or timeout_s <= 0:
                return found  # else it has ended empty, at the deadline of the call before
        self._polling = self._host.start(self._core.poll(timeout_s * 1_000, max_messages, hand_out=False))
        return self._polled(self._polling, deadline_s)

    def _polled(self, polling: Reply[list[StoredMessage]], deadline_s: float) -> list[StoredMessage]:
        with self._host.waking(polling, self._wake):
            while True:
                self._wake.clear()
                self._run_listeners()
                if polling.done or self._host.closing:
                    break
                left_s = deadline_s - time.monotonic()
                # A fetch that ends at the deadline needs a moment to report it.
                if left_s <= -0.01 or not self._wake.wait(max(left_s, 0.0) + 0.01):
                    return []
        if not polling.done:
            raise BrokerError(ErrorCode.CLOSED, "the broker")
        self._polling = None
        found = polling.result()
        if found and self._config.guarantee == "at_most_once":
            self._host.wait(self._host.durable())
        return found

    def _run_listeners(self) -> None:
        while self._pending_calls:
            call, reply = self._pending_calls.popleft()
            try:
                call()
            finally:
                self._host.call(lambda _now, reply=reply: reply.resolve(None))  # type: ignore[misc]

    def _handed(self, found: list[StoredMessage]) -> list[StoredMessage]:
        if self._chain is None:
            return self._host.call(lambda _now: self._core.hand(found))
        try:
            passed, delivered, failures = self._chain.incoming_many(found)
        except BaseException:
            # KeyboardInterrupt.
            self._take_back({(message.topic, message.partition): message.offset for message in reversed(found)})
            raise
        if failures:
            self._take_back({place: offset for place, (offset, _) in failures.items()})
        owned = {(message.topic, message.partition) for message in self._call(lambda: self._core.hand(passed))}
        handed = within(delivered, owned)
        for place, (offset, error) in failures.items():
            if not handed:
                raise error
            self._failure = (place, offset, error)
        return handed

    def _take_back(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._buffer = deque(each for each in self._buffer if (each.topic, each.partition) not in offsets)
        self._call(lambda: self._core.take_back(offsets))

    def _tell_failure(self, place: TopicPartition, offset: int, error: BrokerError) -> None:
        """Raise the failure of the last poll, unless a seek, a pause or a rebalance has settled it."""
        self._failure = None
        if self._core.positions.get(place) == offset and place not in self._core.paused:
            self._call(lambda: self._core.hand(()))
            raise error
