"""A consumer for threads: the face of `Consumer` on a host."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeVar

from broker_core.clients.consumer import Consumer
from broker_core.clients.host import Host
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.middleware import Middleware
from broker_core.clients.partition_runs import within
from broker_core.clients.serializer import Serializer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offset_reset import Change, Target, preview
from broker_core.groups.protocol import TopicPartition
from broker_core.kinds import kind_of
from broker_core.messages import StoredMessage
from broker_core.replies import Reply
from broker_core.settings import Count, TimeS, checked_class, judged

T = TypeVar("T")
Listener = Callable[[Sequence[TopicPartition]], object]

_numbers = count(1)
_MESSAGE = kind_of(StoredMessage)
DEFAULT_CONFIG = ConsumerConfig(auto_commit_interval_ms=5_000.0, max_poll_interval_ms=300_000)


def _ignore(_partitions: Sequence[TopicPartition]) -> None:
    """The listener of who does not listen."""


@checked_class(fast=("value_of", "key_of"))
class GroupConsumer:
    """Reads topics of `host` as a member of `group`. Close it, or use it in a `with` block.

    One thread at a time may `poll` or iterate; everything else may be called from any thread. Listeners are called in
    the thread that polls, without any lock: in `on_revoked` a commit is still possible. `serializer` is what `value_of`
    reads values with, `key_serializer` keys; the message whose value it cannot read is in the application's hands.

    Middleware sees each message before the application does. Where it fails on one, that message and what lies behind
    it in its partition are neither given nor counted as processed: the error names the place, as often as it fails,
    until a `seek` goes past it, as with a record that Kafka's consumer cannot deserialize. The other partitions go on.
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
        on_assigned: Listener = _ignore,
        on_revoked: Listener = _ignore,
        on_lost: Listener = _ignore,
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
        self._told: deque[tuple[Callable[[], object], Reply[None]]] = deque()
        self._polling: Reply[list[StoredMessage]] | None = None
        self._buffer: deque[StoredMessage] = deque()
        self._busy = threading.Lock()
        self._failure: tuple[TopicPartition, int, BrokerError] | None = None  # of a middleware; told by the next poll
        self._chain = None
        if middleware:
            from broker_core.clients.chain import Chain

            self._chain = Chain(middleware, lambda: host.now_ns, self.client_id)
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

    # -- what it reads

    def subscribe(self, topics: Sequence[str] = (), *, pattern: str = "") -> None:
        """See `Consumer.subscribe`."""
        self._call(lambda: self._core.subscribe(topics, pattern))

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """See `Consumer.assign`."""
        self._buffer.clear()
        self._call(lambda: self._core.assign(partitions))

    @property
    def assignment(self) -> tuple[TopicPartition, ...]:
        """What it owns now."""
        return self._core.assignment

    def pause(self, partitions: Sequence[TopicPartition]) -> None:
        """Polls give nothing of these until `resume`; they stay its own."""
        self._call(lambda: self._core.paused.update(partitions))

    def resume(self, partitions: Sequence[TopicPartition]) -> None:
        """Undo `pause`."""
        self._call(lambda: self._core.paused.difference_update(partitions))

    # -- reading

    def poll(self, timeout_s: TimeS = 0.5, max_messages: Count | None = None) -> list[StoredMessage]:
        """The next messages; [] where nothing came in time, or while the group rebalances.

        What an earlier poll gave counts as processed: that is what is committed by itself. Raises DAMAGED or
        OFFSET_OUT_OF_RANGE for a partition that cannot be read, when the others have nothing; MIDDLEWARE_FAILED, with
        the next poll where something can be given first; CLOSED; for ever FENCED_INSTANCE_ID, once a newer member has
        its instance id.
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
        """Messages one by one, for ever, until it is closed. Asking for the next one counts the last as processed.

        An error ends the iteration; a new one goes on where it stopped.
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
                self._host.call(lambda _now: self._core.hand(()))
                # At most once, what is fetched is committed: who stops iterating would lose what lies in the buffer.
                most = 1 if self._config.guarantee == "at_most_once" else None
                found = self._fetched(0.5, most)  # a listener may seek meanwhile, which changes the buffer
                self._buffer.extend(found)
            if not self._buffer:
                return None
            handed = self._handed([self._buffer.popleft()])
            return handed[0] if handed else None

    def value_of(self, message: StoredMessage) -> Any:
        """The value as the serializer reads it; None where there is none. Raises UNREADABLE for this message alone."""
        return read_with(self._serializer, judged("message", _MESSAGE, message).value)

    def key_of(self, message: StoredMessage) -> Any:
        """The key as the serializer of keys reads it; None where there is none. Raises UNREADABLE."""
        return read_with(self._key_serializer, judged("message", _MESSAGE, message).key)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """The next poll reads from `offset` on. Raises INVALID_REQUEST for what it does not own."""
        self._call(lambda: self._core.seek(topic, partition, offset))
        self._buffer = deque(each for each in self._buffer if (each.topic, each.partition) != (topic, partition))

    def seek_to_time(self, topic: str, partition: int, timestamp_ms: int) -> int:
        """The next poll reads from the first message published at that Unix time or later; its offset."""
        broker = self._host.broker

        def found() -> int:
            offset = broker.offset_at(topic, partition, timestamp_ms)
            return broker.end_offset(topic, partition) if offset is None else offset

        offset = self._call(found)
        self.seek(topic, partition, offset)
        return offset

    def preview_seek(self, target: Target, partitions: Sequence[TopicPartition] = ()) -> list[Change]:
        """What `seek_to` would change of these, or of all that it owns; nothing is done."""

        def found() -> list[Change]:
            broker = self._host.broker
            return preview(
                self.group,
                target,
                partitions or self.assignment,
                broker,
                broker.groups.committed,
                here=self.position,
            )

        return self._call(found)

    def seek_to(self, target: Target, partitions: Sequence[TopicPartition] = ()) -> list[Change]:
        """The next poll reads these, or all that it owns, from where `target` says; what that changes.

        The forms are those of a reset: earliest, latest, offset, timestamp, shift-by from here, where a group is.
        """
        changes = self.preview_seek(target, partitions)
        for change in changes:
            self.seek(change.topic, change.partition, change.to_offset)
        return changes

    def position(self, topic: str, partition: int) -> int:
        """The offset that the application gets next. Raises INVALID_REQUEST for what it does not own."""
        for message in self._buffer:
            if (message.topic, message.partition) == (topic, partition):
                return message.offset
        position = self._core.positions.get((topic, partition))
        if position is None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{self.client_id} does not own {topic}/{partition}")
        return position

    def committed(self, topic: str, partition: int) -> int | None:
        """What the group has committed: the next offset to read, None for nothing."""
        return self._call(lambda: self._host.broker.groups.committed(self.group, topic, partition))

    # -- committing

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Commit `offsets`, or everything that the application was given, and wait until that is on the disk.

        Raises REBALANCE_IN_PROGRESS, ILLEGAL_GENERATION or UNKNOWN_MEMBER_ID where the group has moved on: somebody
        else gets these messages then.
        """
        self._commit(offsets)
        self._host.wait(self._host.kept())

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, int] | None = None,
        on_commit: Callable[[BrokerError | None], object] | None = None,
    ) -> None:
        """`commit` without waiting; `on_commit(error or None)` is called in a thread of the host's."""
        failed: BrokerError | None = None
        try:
            self._commit(offsets)
        except BrokerError as error:
            failed = error
        if on_commit is not None:
            self._host.tell(partial(on_commit, failed))

    def _commit(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        if offsets is None:
            self._call(self._core.commit_handed)
        else:
            self._call(lambda: self._core.commit_offsets(dict(offsets)))

    # -- the end

    def close(self) -> None:
        """Tell the listener, commit what was processed where that is automatic, leave the group. Twice is harmless."""
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside

    def _call(self, action: Callable[[], T]) -> T:
        return self._host.call(lambda _now: action())

    def _alone(self) -> threading.Lock:
        if self._busy.locked():
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"another thread polls {self.client_id} already")
        return self._busy

    def _listener(self, told: Listener) -> Callable[[Sequence[TopicPartition]], Reply[None]]:
        """For the core: the application is told by the thread that polls, and the core waits for it."""

        def tell(partitions: Sequence[TopicPartition]) -> Reply[None]:
            reply: Reply[None] = Reply()
            self._told.append((partial(told, tuple(partitions)), reply))
            self._wake.set()
            return reply

        return tell

    def _fetched(self, timeout_s: float, max_messages: Count | None) -> list[StoredMessage]:
        """What the core polls; a poll that outlasts `timeout_s`, as in a rebalance, goes on with the next call."""
        deadline_s = time.monotonic() + timeout_s
        if self._polling is None:
            self._polling = self._host.start(self._core.poll(timeout_s * 1_000, max_messages, hand_out=False))
        polling = self._polling
        with self._host.waking(polling, self._wake):
            while True:
                self._wake.clear()
                self._run_listeners()
                if polling.done or self._host.closing:
                    break
                left_s = deadline_s - time.monotonic()
                # A fetch that ends with the deadline is given the moment that it needs to say so.
                if left_s <= -0.01 or not self._wake.wait(max(left_s, 0.0) + 0.01):
                    return []
        if not polling.done:
            raise BrokerError(ErrorCode.CLOSED, "the broker")
        self._polling = None
        found = polling.result()
        if found and self._config.guarantee == "at_most_once":
            self._host.wait(self._host.kept())
        return found

    def _run_listeners(self) -> None:
        while self._told:
            told, reply = self._told.popleft()
            try:
                told()
            finally:
                self._host.call(lambda _now, reply=reply: reply.resolve(None))  # type: ignore[misc]

    def _handed(self, found: list[StoredMessage]) -> list[StoredMessage]:
        """Give these to the application, as far as they come through the middleware."""
        if self._chain is None:
            return self._host.call(lambda _now: self._core.hand(found))
        try:
            passed, delivered, failures = self._chain.incoming_many(found)
        except BaseException:
            # Somebody presses Ctrl+C.
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
        """Raise what the last poll had no room for, unless a seek, a pause or a rebalance has settled it."""
        self._failure = None
        if self._core.positions.get(place) == offset and place not in self._core.paused:
            self._call(lambda: self._core.hand(()))
            raise error


def read_with(serializer: Serializer[Any] | None, data: bytes | None) -> Any:
    """`data` as `serializer` reads it; as it is without one."""
    return data if serializer is None or data is None else serializer.deserialize(data)
