"""Middleware, and chains of it. Outgoing messages pass a chain in order, incoming messages in reverse order."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message, StoredMessage, TopicPartition
from broker_core.names import check_name
from broker_core.settings import checked_class

SENT_NS_HEADER = "sent_ns"
Way = Literal["publish", "deliver", "both"]
_HOOKS = ("before_publish", "before_deliver", "publish_failed")  # called with every message
_log = logging.getLogger(__name__)


class Context(msgspec.Struct):
    """The context of one message: session time in ns, the client id, and the target topic, which may be changed."""

    now_ns: int
    client: str
    topic: str


class Middleware:
    """The base class. It passes every message on unchanged."""

    def before_publish(self, message: Message, context: Context) -> Message | None:
        """The message to publish instead of `message`, None to drop it."""
        return message

    def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage | None:
        """The message to deliver instead of `message`, at the same offset, None to drop it."""
        return message

    def publish_failed(self, message: Message) -> None:
        """`message`, which passed this middleware, was not stored. The application may send it again."""


@checked_class(fast=_HOOKS)
class Logging(Middleware):
    """Logs a line for each message: client, size, key and topic; never the payload."""

    def __init__(self, write: Callable[[str], object] = _log.info) -> None:
        """`write(line)` is called without a line end. The default logs at INFO."""
        self._write = write

    def before_publish(self, message: Message, context: Context) -> Message:
        self._write(f"{context.now_ns} {context.client!r} publishes {_sizes(message)} to {context.topic}")
        return message

    def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage:
        place = f"{message.topic}/{message.partition}@{message.offset}"
        self._write(f"{context.now_ns} {context.client!r} gets {_sizes(message)} from {place}")
        return message


@checked_class(fast=_HOOKS)
class Filter(Middleware):
    """Passes messages for which `accepts` returns True, and drops the others."""

    def __init__(self, accepts: Callable[[Message | StoredMessage], bool], on: Way = "both") -> None:
        self._accepts = accepts
        self._on = on

    def before_publish(self, message: Message, context: Context) -> Message | None:
        return message if self._on == "deliver" or self._accepts(message) else None

    def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage | None:
        return message if self._on == "publish" or self._accepts(message) else None


@checked_class(fast=_HOOKS)
class Transform(Middleware):
    """Changes messages by a function for each direction, for example to compress and to decompress."""

    def __init__(
        self,
        publish: Callable[[Message], Message] | None = None,
        deliver: Callable[[StoredMessage], StoredMessage] | None = None,
    ) -> None:
        self._publish = publish
        self._deliver = deliver

    def before_publish(self, message: Message, context: Context) -> Message:
        return message if self._publish is None else self._publish(message)

    def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage:
        return message if self._deliver is None else self._deliver(message)


@checked_class(fast=_HOOKS)
class Dedupe(Middleware):
    """Drops copies of the last `window` messages, across topics. A message without an identity passes.

    A message that is delivered again from its own offset is a redelivery and passes: it may not have been processed.
    """

    def __init__(
        self,
        identity: Callable[[Message | StoredMessage], bytes | None] | None = None,
        *,
        window: Annotated[int, Meta(ge=1, le=1 << 31)] = 10_000,
        on: Way = "both",
    ) -> None:
        """`identity(message)` is equal for copies (the header `id`), and not changed by middleware behind this one."""
        self._identity = identity or (lambda message: header(message, "id"))
        self._window = window
        self._on = on
        self._published: OrderedDict[bytes, None] = OrderedDict()
        self._delivered: OrderedDict[bytes, tuple[str, int, int]] = OrderedDict()

    @property
    def remembered(self) -> int:
        """The number of identities kept, at most twice the window."""
        return len(self._published) + len(self._delivered)

    def before_publish(self, message: Message, context: Context) -> Message | None:
        identity = None if self._on == "deliver" else self._identity(message)
        if identity is None:
            return message
        if identity in self._published:
            return None
        self._published[identity] = None
        if len(self._published) > self._window:
            self._published.popitem(last=False)
        return message

    def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage | None:
        identity = None if self._on == "publish" else self._identity(message)
        if identity is None:
            return message
        place = (message.topic, message.partition, message.offset)
        if self._delivered.setdefault(identity, place) != place:
            return None
        if len(self._delivered) > self._window:
            self._delivered.popitem(last=False)
        return message

    def publish_failed(self, message: Message) -> None:
        """Forget the message, so that its retry is not dropped."""
        identity = self._identity(message)
        if identity is not None:
            self._published.pop(identity, None)


@checked_class(fast=_HOOKS)
class Routing(Middleware):
    """Sends each message to the topic that `route(message)` returns; None keeps its topic."""

    def __init__(self, route: Callable[[Message], str | None]) -> None:
        self._route = route

    def before_publish(self, message: Message, context: Context) -> Message:
        topic = self._route(message)
        if topic is not None:
            context.topic = check_name(topic)
        return message


class Timestamp(Middleware):
    """Adds the header `sent_ns`: session time in nanoseconds, as decimal digits. An existing one is kept."""

    def before_publish(self, message: Message, context: Context) -> Message:
        if any(name == SENT_NS_HEADER for name, _ in message.headers):
            return message
        stamp = (SENT_NS_HEADER, b"%d" % context.now_ns)
        return msgspec.structs.replace(message, headers=(*message.headers, stamp))


def header(message: Message | StoredMessage, name: str) -> bytes | None:
    """The value of the message's last header `name`; an identity for `Dedupe`."""
    return next((value for known, value in reversed(message.headers) if known == name), None)


def _sizes(message: Message | StoredMessage) -> str:
    value = "no value" if message.value is None else f"{len(message.value)} bytes"
    return value if message.key is None else f"{value} with key {message.key[:40]!r}"


class Passage(NamedTuple):
    """The result of `Chain.incoming_many`.

    `passed` are the fetched messages that were processed, dropped ones included; `delivered` are those for the
    application. `failures` maps (topic, partition) to the (offset, error) of the first message that failed; the
    messages behind it were not processed.
    """

    passed: list[StoredMessage]
    delivered: list[StoredMessage]
    failures: dict[TopicPartition, tuple[int, BrokerError]]


@checked_class(fast=("outgoing", "failed", "incoming", "incoming_many"))
class Chain:
    """Middleware in order. `dropped` counts dropped messages by the middleware's class name."""

    def __init__(self, middleware: Sequence[Middleware], now_ns: Callable[[], int], client: str = "") -> None:
        """`now_ns()` is the session time; `client` is the id of the producer or consumer."""
        self._row = tuple(middleware)
        self._now_ns = now_ns
        self._client = client
        self.dropped: Counter[str] = Counter()

    def outgoing(self, topic: str, message: Message) -> tuple[str, Message] | None:
        """None if a middleware dropped it. Raises MIDDLEWARE_FAILED if one raises; a `BrokerError` passes as it is."""
        context = Context(self._now_ns(), self._client, topic)
        for index, one in enumerate(self._row):
            try:
                changed = one.before_publish(message, context)
            except Exception as error:
                self._forget(self._row[:index], message)
                if isinstance(error, BrokerError):
                    raise
                raise BrokerError(ErrorCode.MIDDLEWARE_FAILED, f"{type(one).__name__} {_raised(error)}") from error
            if changed is None:
                self.dropped[type(one).__name__] += 1
                self._forget(self._row[:index], message)
                return None
            message = changed
        return context.topic, message

    def failed(self, message: Message) -> None:
        """`message`, as returned by `outgoing`, was not stored: call `publish_failed` of all."""
        self._forget(self._row, message)

    def incoming(self, stored: StoredMessage) -> StoredMessage | None:
        """The message for the application, or None if a middleware dropped it; it counts as processed then.

        Raises MIDDLEWARE_FAILED with topic, partition and offset where one raises anything, or changes these three.
        """
        context = Context(self._now_ns(), self._client, stored.topic)
        place = (stored.topic, stored.partition, stored.offset)
        for one in reversed(self._row):
            try:
                changed = one.before_deliver(stored, context)
                if changed is None:
                    self.dropped[type(one).__name__] += 1
                    return None
                moved = (changed.topic, changed.partition, changed.offset) != place
            except Exception as error:
                raise _failed(one, f"{_raised(error)}, at", place) from error
            if moved:
                raise _failed(one, "moved the message", place)
            stored = changed
        return stored

    def incoming_many(self, messages: Sequence[StoredMessage]) -> Passage:
        """`incoming` for each message, in each partition up to the first that fails."""
        passage = Passage([], [], {})
        for message in messages:
            partition = (message.topic, message.partition)
            if partition in passage.failures:
                continue
            try:
                changed = self.incoming(message)
            except BrokerError as error:
                passage.failures[partition] = (message.offset, error)
                continue
            passage.passed.append(message)
            if changed is not None:
                passage.delivered.append(changed)
        return passage

    @staticmethod
    def _forget(passed: Sequence[Middleware], message: Message) -> None:
        for one in reversed(passed):
            one.publish_failed(message)


def _raised(error: Exception) -> str:
    return f"raised {type(error).__name__}: {error}".rstrip(".")


def _failed(one: Middleware, what: str, place: tuple[str, int, int]) -> BrokerError:
    topic, partition, offset = place
    return BrokerError(ErrorCode.MIDDLEWARE_FAILED, f"{type(one).__name__} {what} {topic}/{partition}@{offset}")
