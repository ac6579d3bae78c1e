"""A chain of middleware. Outgoing messages pass it in order, incoming messages in reverse order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from broker_core.clients.middleware import Context, Middleware
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message, StoredMessage, TopicPartition
from broker_core.settings import checked_class


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
        """(topic, message) to publish, or None if a middleware dropped it.

        Raises MIDDLEWARE_FAILED if one raises; `publish_failed` of those before it is called.
        """
        context = Context(self._now_ns(), self._client, topic)
        for place, one in enumerate(self._row):
            try:
                changed = one.before_publish(message, context)
            except Exception as error:
                self._forget(self._row[:place], message)
                if isinstance(error, BrokerError):
                    raise
                reason = f"{type(one).__name__} raised {type(error).__name__}: {error}"
                raise BrokerError(ErrorCode.MIDDLEWARE_FAILED, reason) from error
            if changed is None:
                self.dropped[type(one).__name__] += 1
                self._forget(self._row[:place], message)
                return None
            message = changed
        return context.topic, message

    def failed(self, message: Message) -> None:
        """`message`, as returned by `outgoing`, was not stored: call `publish_failed` of all."""
        self._forget(self._row, message)

    def incoming(self, stored: StoredMessage) -> StoredMessage | None:
        """The message for the application, or None if a middleware dropped it; it counts as processed then.

        Raises MIDDLEWARE_FAILED with topic, partition and offset where one raises, or changes these three.
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
                reason = f"{type(error).__name__}: {error}".rstrip(".")
                raise _failed(one, f"raised {reason}, at", place) from error
            if moved:
                raise _failed(one, "moved the message", place)
            stored = changed
        return stored

    def incoming_many(self, messages: Sequence[StoredMessage]) -> Passage:
        """`incoming` for each message, in each partition up to the first that fails."""
        passage = Passage([], [], {})
        for message in messages:
            place = (message.topic, message.partition)
            if place in passage.failures:
                continue
            try:
                changed = self.incoming(message)
            except BrokerError as error:
                passage.failures[place] = (message.offset, error)
                continue
            passage.passed.append(message)
            if changed is not None:
                passage.delivered.append(changed)
        return passage

    @staticmethod
    def _forget(passed: Sequence[Middleware], message: Message) -> None:
        for one in reversed(passed):
            one.publish_failed(message)


def _failed(one: Middleware, what: str, place: tuple[str, int, int]) -> BrokerError:
    topic, partition, offset = place
    return BrokerError(ErrorCode.MIDDLEWARE_FAILED, f"{type(one).__name__} {what} {topic}/{partition}@{offset}")
