from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from app.cli.output import note, stored
from app.cli.target import Broker
from broker_core import BrokerHost, HttpBroker
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.closable import Closable
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.operations import queues
from broker_core.operations.groups import CommitOffsets, CommitPlace, Join, Leave, Poll

T = TypeVar("T")

Reset = Literal["earliest", "latest"]
PAGE = 500
LOST = frozenset({ErrorCode.CONNECTION_LOST, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CLOSED})
_AGAIN_S = 0.5


class Connection:
    """Notes once when the broker stops answering, and once when it answers again."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.is_lost = False

    def tried(self, action: Callable[[], T]) -> T | None:
        """The result of `action`; None, after a pause, where no broker answers."""
        try:
            found = action()
        except BrokerError as error:
            if error.code not in LOST:
                raise
            if not self.is_lost:
                note("The connection to the broker is lost; retrying, Ctrl+C gives up.", as_json=self._as_json)
            self.is_lost = True
            time.sleep(_AGAIN_S)
            return None
        if self.is_lost:
            note("The broker is back.", as_json=self._as_json)
        self.is_lost = False
        return found


class LocalGroupReader(GroupConsumer):
    """One poll lasts `long_poll_s` at most; no messages if none came in time.

    A commit is of everything polled, or of these offsets.
    """

    long_poll_s = 0.5


class HttpGroupReader(Closable):
    """A member of a group of a remote broker. After a lost connection it joins again, and continues from the committed
    offsets.
    """

    long_poll_s = 20.0

    def __init__(self, broker: HttpBroker, group: str, topic: str, reset: Reset, *, as_json: bool) -> None:
        self._broker, self._group, self._topic, self._reset = broker, group, topic, reset
        self._connection = Connection(as_json=as_json)
        self._member: str | None = None
        self._done: dict[TopicPartition, int] = {}
        self.assignment: Sequence[object] = ()

    def poll(self, wait_s: float, most: int | None) -> Sequence[StoredMessage]:
        try:
            found = self._connection.tried(lambda: self._polled(wait_s, most))
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_MEMBER_ID:
                raise
            found = None
        if found is None:
            # What a lost answer held comes again to the next member.
            self._leave()
            return ()
        return found

    def _polled(self, wait_s: float, most: int | None) -> list[StoredMessage]:
        if self._member is None:
            request = Join(
                group=self._group, topics=(self._topic,), client_id=client_name(), auto_offset_reset=self._reset
            )
            self._member = self._broker.ask(request).member
        polled = self._broker.ask(
            Poll(
                group=self._group,
                member=self._member,
                max_messages=min(PAGE, most or PAGE),
                timeout_ms=round(wait_s * 1_000),
                encoding="base64",
            )
        )
        self.assignment = polled.assignment
        messages = [stored(message, message.topic) for message in polled.messages]
        self._done |= ends(messages)
        return messages

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        done = self._done if offsets is None else offsets
        places = [CommitPlace(topic=topic, partition=number, offset=at) for (topic, number), at in done.items()]
        self._done.clear()
        if places and self._member is not None:
            request = CommitOffsets(group=self._group, member=self._member, offsets=places)
            if self._connection.tried(lambda: self._broker.ask(request)) is None:
                self._leave()  # what was printed last comes again

    def _leave(self) -> None:
        member, self._member = self._member, None
        self._done.clear()
        if member is not None and not self._connection.is_lost:
            with contextlib.suppress(BrokerError):
                self._broker.ask(Leave(group=self._group, member=member))

    def close(self) -> None:
        self._leave()


class LocalQueueReader(Closable):
    """Takes messages, each with its lease; none if none came in time. One wait lasts `long_poll_s` at most."""

    long_poll_s = 0.5

    def __init__(self, host: BrokerHost, queue: str) -> None:
        self._consumer = QueueConsumer(host, queue)

    def take(self, wait_s: float, most: int) -> Sequence[tuple[StoredMessage, Delivery]]:
        return [(delivery.message, delivery) for delivery in self._consumer.take_many(most, wait_s)]

    def ack(self, held: Sequence[Any]) -> None:
        self._consumer.ack_many(held)

    def close(self) -> None:
        self._consumer.close()


class HttpQueueReader(Closable):
    long_poll_s = 20.0

    def __init__(self, broker: HttpBroker, queue: str, *, as_json: bool) -> None:
        self._broker, self._queue = broker, queue
        self._connection = Connection(as_json=as_json)
        self._held: dict[str, None] = {}

    def take(self, wait_s: float, most: int) -> Sequence[tuple[StoredMessage, str]]:
        """What a lost answer held comes again when its leases end."""
        request = queues.Take(
            queue=self._queue,
            max_messages=most,
            timeout_ms=round(wait_s * 1_000),
            holder=client_name(),
            encoding="base64",
        )
        taken = self._connection.tried(lambda: self._broker.ask(request))
        found = [] if taken is None else taken
        self._held |= {delivery.lease: None for delivery in found}
        return [(stored(delivery, self._queue), delivery.lease) for delivery in found]

    def ack(self, held: Sequence[Any]) -> None:
        for lease in held:
            self._held.pop(lease, None)
        request = queues.Ack(queue=self._queue, leases=list(held))
        _check(self._connection.tried(lambda: self._broker.ask(request)))  # if it is lost, they come again later

    def close(self) -> None:
        if self._held and not self._connection.is_lost:
            with contextlib.suppress(BrokerError):
                self._broker.ask(queues.Release(queue=self._queue, leases=list(self._held)))


GroupReader = LocalGroupReader | HttpGroupReader


def group_reader(broker: Broker, group: str, topic: str, reset: Reset, *, as_json: bool) -> GroupReader:
    if isinstance(broker, HttpBroker):
        return HttpGroupReader(broker, group, topic, reset, as_json=as_json)
    return LocalGroupReader(broker, group, [topic], ConsumerConfig(auto_offset_reset=reset))


def queue_reader(broker: Broker, queue: str, *, as_json: bool) -> LocalQueueReader | HttpQueueReader:
    if isinstance(broker, HttpBroker):
        return HttpQueueReader(broker, queue, as_json=as_json)
    return LocalQueueReader(broker, queue)


def ends(messages: Iterable[StoredMessage]) -> dict[TopicPartition, int]:
    return {(message.topic, message.partition): message.offset + 1 for message in messages}


def client_name() -> str:
    return f"brokerscope-{os.getpid()}"


def _check(done: queues.LeasesDone | None) -> None:
    for refused in () if done is None else done.refused:
        code = ErrorCode[refused.error]
        raise BrokerError(code, refused.message.removeprefix(f"{code.sentence}: ").rstrip("."))
