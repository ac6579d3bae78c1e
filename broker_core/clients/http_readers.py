"""Readers of a broker over HTTP, which outlive a lost connection: a member of a group, and a consumer of a queue."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from broker_core.clients.http_broker import HttpBroker
from broker_core.closable import Closable
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.operations.groups import CommitOffsets, CommitPlace, Join, Leave, Place, Poll
from broker_core.operations.queues import Ack, Release, Take
from broker_core.operations.request import Request
from broker_core.settings import Count, TimeS, checked_class

T = TypeVar("T")

MOST_MESSAGES = 2_000  # of one answer; a smaller one costs as much beside its messages
_MOST_LEASES = 1_000  # fewer: a slow reader is done before they end
_LOST = frozenset({ErrorCode.CONNECTION_LOST, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CLOSED})
_AGAIN_S = 0.5


class Reconnecting:
    """Asks a broker that may be away: `on_lost(True)` is called when it is, `on_lost(False)` when it is back."""

    def __init__(self, broker: HttpBroker | BrokerHost, on_lost: Callable[[bool], object]) -> None:
        self._broker, self._on_lost = broker, on_lost
        self.is_lost = False

    def ask(self, request: Request[T]) -> T | None:
        """The answer; None, after a pause, where no broker answers. Raises its other errors."""
        try:
            answer = self._broker.ask(request)
        except BrokerError as error:
            if error.code not in _LOST:
                raise
            self._tell(is_lost=True)
            time.sleep(_AGAIN_S)
            return None
        self._tell(is_lost=False)
        return answer

    def say(self, request: Request[Any]) -> None:
        """Ask for what is of no use where no broker answers, or where it is done already."""
        if not self.is_lost:
            with contextlib.suppress(BrokerError):
                self._broker.ask(request)

    def _tell(self, *, is_lost: bool) -> None:
        if is_lost != self.is_lost:
            self.is_lost = is_lost
            self._on_lost(is_lost)


@checked_class()
class HttpGroupReader(Closable):
    """A member of `group` that reads `topic`. Close it, or use it in a `with` block: closing leaves the group.

    After a lost connection it joins again, and goes on at the committed offsets. `on_lost(is_lost)` is called when the
    broker stops answering, and when it answers again.
    """

    def __init__(
        self,
        broker: HttpBroker,
        group: str,
        topic: str,
        *,
        client_id: str = "",
        auto_offset_reset: Literal["earliest", "latest"] = "earliest",
        on_lost: Callable[..., object] = lambda _is_lost: None,
    ) -> None:
        self._group = group
        self._join = Join(group=group, topics=(topic,), client_id=client_id, auto_offset_reset=auto_offset_reset)
        self._connection = Reconnecting(broker, on_lost)
        self._member: str | None = None
        self.assignment: Sequence[Place] = ()  # as of the last poll

    def poll(self, timeout_s: TimeS = 0.5, max_messages: Count = MOST_MESSAGES) -> list[StoredMessage]:
        """The next messages; [] after `timeout_s`, while the group rebalances, and while no broker answers."""
        polled = None
        with Suppress(ErrorCode.UNKNOWN_MEMBER_ID):
            if self._member is None and (joined := self._connection.ask(self._join)) is not None:
                self._member = joined.member
            if self._member is not None:
                request = Poll(
                    group=self._group,
                    member=self._member,
                    max_messages=min(MOST_MESSAGES, max_messages),
                    timeout_ms=round(timeout_s * 1_000),
                    encoding="base64",
                )
                polled = self._connection.ask(request)
        if polled is None:
            self.close()  # what a lost answer held comes again to the next member
            return []
        self.assignment = polled.assignment
        return [message.stored() for message in polled.messages]

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Commit `offsets`, or everything polled so far. What is not committed, as the broker is away, comes again.

        Raises REBALANCE_IN_PROGRESS, ILLEGAL_GENERATION or UNKNOWN_MEMBER_ID if other members get the messages.
        """
        places = None
        if offsets is not None:
            places = [CommitPlace(topic=topic, partition=number, offset=at) for (topic, number), at in offsets.items()]
        if self._member is not None:
            request = CommitOffsets(group=self._group, member=self._member, offsets=places)
            if self._connection.ask(request) is None:
                self.close()

    def close(self) -> None:
        """Leave the group; the next poll would join it again."""
        member, self._member = self._member, None
        if member is not None:
            self._connection.say(Leave(group=self._group, member=member))


@checked_class()
class HttpQueueReader(Closable):
    """Takes messages of `queue`. Close it, or use it in a `with` block: closing releases what is not acknowledged.

    What an answer held that was lost comes again when its leases end. `on_lost` is as for `HttpGroupReader`.
    """

    def __init__(
        self,
        broker: HttpBroker,
        queue: str,
        *,
        client_id: str = "",
        on_lost: Callable[..., object] = lambda _is_lost: None,
    ) -> None:
        self._queue, self._client_id = queue, client_id
        self._connection = Reconnecting(broker, on_lost)
        self._held: dict[str, None] = {}

    def take(self, timeout_s: TimeS = 0.0, max_messages: Count = _MOST_LEASES) -> list[tuple[StoredMessage, str]]:
        """(message, lease) of each; [] if none comes within `timeout_s`, and while no broker answers."""
        request = Take(
            queue=self._queue,
            max_messages=min(_MOST_LEASES, max_messages),
            timeout_ms=round(timeout_s * 1_000),
            holder=self._client_id,
            encoding="base64",
        )
        taken = self._connection.ask(request) or []
        self._held |= {delivery.lease: None for delivery in taken}
        return [(delivery.stored(), delivery.lease) for delivery in taken]

    def ack(self, leases: Sequence[str]) -> None:
        """Acknowledge messages; while no broker answers, they come again later. Raises INVALID_LEASE."""
        for lease in leases:
            self._held.pop(lease, None)
        done = self._connection.ask(Ack(queue=self._queue, leases=list(leases)))
        if done is not None and done.refused:
            code = ErrorCode[done.refused[0].error]
            raise BrokerError(code, done.refused[0].message.removeprefix(f"{code.sentence}: ").rstrip("."))

    def close(self) -> None:
        """Release what it holds."""
        held, self._held = self._held, {}
        if held:
            self._connection.say(Release(queue=self._queue, leases=list(held)))
