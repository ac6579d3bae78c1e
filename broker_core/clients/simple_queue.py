"""A small face on a queue for who wants JSON in and JSON out: publish, receive, pull, acknowledge, replay."""

from __future__ import annotations

import datetime
import threading
import uuid
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.queues.states import LeaseState

Status = Literal["pending", "in_flight", "acknowledged", "dead"]
DEFAULT_CONFIG = QueueConfig(priorities=10)
_PAGE = 500  # messages that are read at a time
_STATUS: dict[LeaseState, Status] = {
    LeaseState.AVAILABLE: "pending",
    LeaseState.DELAYED: "pending",
    LeaseState.ACQUIRED: "in_flight",
}


class Transmission(msgspec.Struct, frozen=True, kw_only=True):
    """A message on its way in. `timestamp` is ISO 8601 in UTC, with a Z; `payload` is any JSON."""

    id: str
    timestamp: str
    payload: Any


class Persisted(Transmission, frozen=True, kw_only=True):
    """A message as it is stored."""

    status: Status


class Consumption(Transmission, frozen=True, kw_only=True):
    """A message as it is handed out; priority 0 is the most urgent."""

    message_type: str = ""
    priority: int = 0


_Place = tuple[int, int]


class SimpleQueue:
    """The queue `name` of `host`, made where it is missing. From any thread; several may pull from one queue.

    What was pulled and is not acknowledged before its lease ends comes back; after the last attempt it is dead.
    """

    def __init__(self, host: BrokerHost, name: str, config: QueueConfig = DEFAULT_CONFIG) -> None:
        self._host = host
        self.name = name
        if name not in host.call(lambda _now: host.broker.queue_names()):
            host.admin(lambda now_ns: host.broker.create_queue(now_ns, name, config))
        self._consumer = QueueConsumer(host, name)
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._pulled: dict[str, Delivery] = {}
        for stored in self._stored():
            self._places.setdefault(_read(stored).id, (stored.partition, stored.offset))

    # -- in

    def publish_msg(self, payload: Any, *, message_type: str = "", priority: int = 0) -> str:
        """Store a message; its id, when it is stored.

        Raises UNSERIALIZABLE where `payload` is no JSON, INVALID_RECORD where the queue has no such priority.
        """
        timestamp = iso_utc(datetime.datetime.now(datetime.UTC))
        message = Consumption(
            id=uuid.uuid4().hex, timestamp=timestamp, payload=payload, message_type=message_type, priority=priority
        )
        with self._lock:
            self._store(message)
        return message.id

    def on_msg_received(self, transmission: bytes | str | dict[str, Any]) -> Persisted:
        """Store a message that came from elsewhere, before anybody can pull it; as it is stored.

        One whose id is known is not stored again. Raises INVALID_REQUEST where it has not the form of a transmission,
        and as `publish_msg`.
        """
        try:
            if isinstance(transmission, dict):
                message = msgspec.convert(transmission, Consumption)
            else:
                message = msgspec.json.decode(transmission, type=Consumption)
            moment = parse_utc(message.timestamp)
        except (msgspec.MsgspecError, ValueError) as error:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"the transmission does not have the form ({error})"
            ) from error
        message = msgspec.structs.replace(message, timestamp=iso_utc(moment))
        with self._lock:
            place = self._places.get(message.id) or self._store(message)
        return self._persisted(self._at(place), self._dead())

    def _store(self, message: Consumption) -> _Place:
        try:
            value = msgspec.json.encode(message)
        except (TypeError, ValueError) as error:
            raise BrokerError(ErrorCode.UNSERIALIZABLE, f"the payload is no JSON ({error})") from error
        broker = self._host.broker
        reply = self._host.call(
            lambda now_ns: broker.publish(
                now_ns, self.name, Message(value, priority=message.priority), client=self.name
            )
        )
        published = self._host.wait(reply)
        if published is None:
            raise BrokerError(ErrorCode.THROTTLED, f"{self.name} has dropped the message, as its flow policy says")
        place = self._places[message.id] = (published.partition, published.offset)
        return place

    # -- out

    def pull_msg(self, timeout_s: float = 0.0) -> Consumption | None:
        """The next message, the most urgent first; None where none is there in time."""
        delivery = self._consumer.take(timeout_s)
        if delivery is None:
            return None
        message = _read(delivery.message)
        with self._lock:
            self._pulled[message.id] = delivery
        return message

    def acknowledge(self, message: Consumption | str) -> bool:
        """Done with a message that was pulled, or its id: it is gone.

        False where its lease has ended, or nobody pulled it.
        """
        with self._lock:
            delivery = self._pulled.pop(message if isinstance(message, str) else message.id, None)
        if delivery is None:
            return False
        try:
            delivery.ack()
        except BrokerError as error:
            if error.code is not ErrorCode.INVALID_LEASE:
                raise
            return False
        return True

    def replay_from(self, since: datetime.datetime | str) -> list[Persisted]:
        """Everything stored from a time (a datetime, or ISO 8601) or from a message id on, oldest first, done or not.

        Nothing changes by it. Raises INVALID_REQUEST for an id that is not known.
        """
        messages = sorted(self._stored(), key=lambda stored: (stored.published_ns, stored.partition, stored.offset))
        dead = self._dead()
        place = self._places.get(since) if isinstance(since, str) else None
        if place is not None:
            first = next(at for at, stored in enumerate(messages) if (stored.partition, stored.offset) == place)
            return [self._persisted(stored, dead) for stored in messages[first:]]
        try:
            moment = parse_utc(since) if isinstance(since, str) else since.astimezone(datetime.UTC)
        except ValueError as error:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"{since!r} is neither a time nor the id of a message in {self.name}"
            ) from error
        found = (self._persisted(stored, dead) for stored in messages)
        return [message for message in found if parse_utc(message.timestamp) >= moment]

    def close(self) -> None:
        """Give back what was pulled and is not acknowledged."""
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside

    def _at(self, place: _Place) -> StoredMessage:
        return self._host.call(lambda _now: self._host.broker.partition(self.name, place[0]).message(place[1]))

    def _stored(self) -> list[StoredMessage]:
        """Every message that the log still has, a page at a time, so that nobody waits long for the lock."""
        broker, found = self._host.broker, []
        for partition in range(self._host.call(lambda _now: broker.partition_count(self.name))):
            offset = 0
            while page := self._page(partition, offset):
                found += page
                offset = page[-1].offset + 1
        return found

    def _page(self, partition: int, offset: int) -> list[StoredMessage]:
        def read(_now: int) -> list[StoredMessage]:
            log = self._host.broker.partition(self.name, partition)
            return log.read(max(offset, log.start_offset), max_messages=_PAGE)

        return self._host.call(read)

    def _dead(self) -> set[_Place]:
        letters = self._host.call(lambda _now: self._host.broker.queue(self.name).dead_letters.list(limit=None))
        return {(letter.origin_partition, letter.origin_offset) for letter in letters if letter.queue == self.name}

    def _persisted(self, stored: StoredMessage, dead: set[_Place]) -> Persisted:
        message = _read(stored)
        place = (stored.partition, stored.offset)

        def status(_now: int) -> Status:
            table = self._host.broker.queue(self.name).levels.table(stored.partition)
            span = table.index.get(stored.offset)
            if span is not None:
                return _STATUS[span.state]
            if stored.offset >= table.next_offset:
                return "pending"
            return "dead" if place in dead else "acknowledged"

        return Persisted(
            id=message.id, timestamp=message.timestamp, payload=message.payload, status=self._host.call(status)
        )


def to_json(message: Transmission) -> bytes:
    """Any of the three forms as JSON."""
    return msgspec.json.encode(message)


def iso_utc(moment: datetime.datetime) -> str:
    """ISO 8601 in UTC, with microseconds and a Z."""
    return moment.astimezone(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_utc(text: str) -> datetime.datetime:
    """The moment that an ISO 8601 text names; one without a zone is taken for UTC. Raises ValueError."""
    moment = datetime.datetime.fromisoformat(text)
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment.astimezone(datetime.UTC)


def _read(stored: StoredMessage) -> Consumption:
    try:
        return msgspec.json.decode(stored.value or b"", type=Consumption)
    except msgspec.MsgspecError as error:
        raise BrokerError(
            ErrorCode.DAMAGED, f"{stored.topic} {stored.offset} is no message of a simple queue ({error})"
        ) from error
