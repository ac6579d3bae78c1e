"""A small JSON interface to a queue: publish, receive, pull, acknowledge, replay."""

from __future__ import annotations

import contextlib
import datetime
import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal
from weakref import WeakKeyDictionary

import msgspec

from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.closable import Closable
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode, Suppress, must
from broker_core.messages import Message, StoredMessage
from broker_core.operations.queues import CreateQueue
from broker_core.queues.config import QueueConfig
from broker_core.queues.queue import Queue
from broker_core.queues.states import LeaseState
from broker_core.schemas.json_text import check_plain, read_json
from broker_core.settings import TimeS, checked_class

Status = Literal["pending", "in_flight", "acknowledged", "dead"]
_log = logging.getLogger(__name__)
DEFAULT_CONFIG = QueueConfig(priorities=10)
_PAGE = 500  # messages that are read at a time
_STATUS: dict[LeaseState, Status] = {
    LeaseState.AVAILABLE: "pending",
    LeaseState.DELAYED: "pending",
    LeaseState.ACQUIRED: "in_flight",
}

Place = tuple[int, int]  # partition, offset


class Transmission(msgspec.Struct, frozen=True, kw_only=True):
    """An incoming message. `timestamp` is ISO 8601 in UTC, with a Z; `payload` is any JSON."""

    id: str
    timestamp: str
    payload: Any


class Persisted(Transmission, frozen=True, kw_only=True):
    """A stored message."""

    status: Status


class Consumption(Transmission, frozen=True, kw_only=True):
    """A delivered message. Priority 0 is the most urgent."""

    message_type: str = ""
    priority: int = 0


@checked_class()
class SimpleQueue(Closable):
    """The queue `name` of `host`, created if it is missing. Thread-safe; several may pull from one queue.

    A pulled message that is not acknowledged before its lease expires is delivered again; after the last attempt it is
    dead-lettered. A message of another form, published by another client, is dead-lettered when it is pulled.
    """

    def __init__(self, host: BrokerHost, name: str, config: QueueConfig = DEFAULT_CONFIG) -> None:
        self._host = host
        self.name = name
        if name not in host.call(lambda _now: host.broker.queues.names()):
            host.ask(CreateQueue(name=name, settings=config))
        self._consumer = QueueConsumer(host, name)
        self._lock = threading.Lock()
        self._pulled: dict[str, Delivery] = {}

    # -- in

    def publish_msg(self, payload: Any, *, message_type: str = "", priority: int = 0) -> str:
        """Store a message; its id. Raises UNSERIALIZABLE for what is not JSON, INVALID_RECORD for a wrong priority."""
        timestamp = iso_utc(datetime.datetime.now(datetime.UTC))
        message = Consumption(
            id=uuid.uuid4().hex, timestamp=timestamp, payload=payload, message_type=message_type, priority=priority
        )
        self._store(message)
        return message.id

    def on_msg_received(self, transmission: bytes | str | dict[str, Any]) -> Persisted:
        """Store a message from elsewhere before it can be pulled. Returns the stored message.

        A message whose id is in the queue is not stored again, whichever `SimpleQueue` received it. Raises
        INVALID_REQUEST for an invalid transmission, and as `publish_msg`.
        """
        try:
            plain: Any = read_json(transmission) if isinstance(transmission, bytes | str) else transmission
            check_plain(plain)
            message = msgspec.convert(plain, Consumption)
            moment = parse_utc(message.timestamp)
        except ValueError as error:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the transmission is invalid ({error})") from error
        message = msgspec.structs.replace(message, timestamp=iso_utc(moment))
        ids = self._host.call(lambda _now: _stored_ids(self._host.broker.queues.queue(self.name)))
        with ids.lock:
            for stored in self._stored(ids.read_to):
                ids.read_to[stored.partition] = stored.offset + 1
                with contextlib.suppress(ValueError):
                    ids.places.setdefault(_read(stored)[0].id, (stored.partition, stored.offset))
            place = ids.places.get(message.id)
            found = None if place is None else self._still_at(place)
            if found is None:
                place = ids.places[message.id] = self._store(message)
                found = self._at(place)
        return self._persisted(found, _read(found)[0], self._dead())

    def _store(self, message: Consumption) -> Place:
        try:
            check_plain(message.payload)
            value = msgspec.json.encode(message)
        except (TypeError, ValueError, OverflowError) as error:
            raise BrokerError(ErrorCode.UNSERIALIZABLE, f"the payload is not JSON ({error})") from error
        publish, content = self._host.broker.publishing.publish, Message(value, priority=message.priority)
        reply = self._host.call(lambda now_ns: publish(now_ns, self.name, content, client=self.name))
        dropped = f"the flow policy of {self.name} dropped the message"
        published = must(self._host.wait(reply), ErrorCode.THROTTLED, dropped)
        return published.partition, published.offset

    # -- out

    def pull_msg(self, timeout_s: TimeS = 0.0) -> Consumption | None:
        """The next message, the most urgent first; None after `timeout_s`."""
        end_s = time.monotonic() + timeout_s
        while (delivery := self._consumer.take(timeout_s)) is not None:
            try:
                message, _moment = _read(delivery.message)
            except ValueError as error:
                self._give_up(delivery, f"this is not a message of a simple queue ({error})")
                timeout_s = max(0.0, end_s - time.monotonic())
                continue
            with self._lock:
                self._pulled[message.id] = delivery
            return message
        return None

    def _give_up(self, delivery: Delivery, cause: str) -> None:
        _log.warning("%s, message %d: %s", self.name, delivery.message.offset, cause)
        with Suppress(ErrorCode.INVALID_LEASE):
            delivery.nack(cause, requeue=False)

    def acknowledge(self, message: Consumption | str) -> bool:
        """Acknowledge a pulled message, or its id. False if its lease has expired, or it was not pulled."""
        with self._lock:
            delivery = self._pulled.pop(message if isinstance(message, str) else message.id, None)
        if delivery is None:
            return False
        with Suppress(ErrorCode.INVALID_LEASE):
            delivery.ack()
            return True
        return False

    def replay_from(self, since: datetime.datetime | str) -> list[Persisted]:
        """All messages stored since a time (a datetime, or ISO 8601) or a message id, oldest first, in any status.

        Reading changes nothing. Messages of another form are skipped. Raises INVALID_REQUEST if `since` is neither
        a time nor the id of a message in the queue.
        """
        found = []
        for stored in sorted(self._stored(), key=lambda each: (each.published_ns, each.partition, each.offset)):
            with contextlib.suppress(ValueError):
                found.append((stored, *_read(stored)))
        first = next((at for at, (_stored, message, _moment) in enumerate(found) if message.id == since), None)
        if first is not None:
            found = found[first:]
        else:
            since_moment = self._moment(since)
            found = [each for each in found if each[2] >= since_moment]
        dead = self._dead()
        return [self._persisted(stored, message, dead) for stored, message, _moment in found]

    def _moment(self, since: datetime.datetime | str) -> datetime.datetime:
        try:
            return parse_utc(since) if isinstance(since, str) else since.astimezone(datetime.UTC)
        except (ValueError, OverflowError, AttributeError) as error:
            about = f"{since!r} is neither a time nor the id of a message in {self.name}"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about) from error

    def close(self) -> None:
        """Release what was pulled and is not acknowledged."""
        self._consumer.close()

    # -- inside

    def _at(self, place: Place) -> StoredMessage:
        return self._host.call(lambda _now: self._host.broker.logs.partition(self.name, place[0]).message(place[1]))

    def _still_at(self, place: Place) -> StoredMessage | None:
        with Suppress(ErrorCode.OFFSET_OUT_OF_RANGE):
            return self._at(place)
        return None

    def _stored(self, starts: Mapping[int, int] = MappingProxyType({})) -> Iterator[StoredMessage]:
        """Every message in the log, or from `starts` on, read page by page, so that the lock is never held for long."""
        for partition in range(self._host.call(lambda _now: self._host.broker.logs.partition_count(self.name))):
            offset = starts.get(partition, 0)
            while page := self._page(partition, offset):
                yield from page
                offset = page[-1].offset + 1

    def _page(self, partition: int, offset: int) -> list[StoredMessage]:
        def read(_now: int) -> list[StoredMessage]:
            log = self._host.broker.logs.partition(self.name, partition)
            return log.read(max(offset, log.start_offset), max_messages=_PAGE)

        return self._host.call(read)

    def _dead(self) -> set[Place]:
        queues = self._host.broker.queues
        letters = self._host.call(lambda _now: queues.queue(self.name).dead_letters.list(limit=None))
        return {(each.origin_partition, each.origin_offset) for each in letters if each.queue == self.name}

    def _persisted(self, stored: StoredMessage, message: Consumption, dead: set[Place]) -> Persisted:
        place = (stored.partition, stored.offset)

        def status(_now: int) -> Status:
            table = self._host.broker.queues.queue(self.name).levels.table(stored.partition)
            span = table.index.get(stored.offset)
            if span is not None:
                return _STATUS[span.state]
            if stored.offset >= table.next_offset:
                return "pending"
            return "dead" if place in dead else "acknowledged"

        return Persisted(
            id=message.id, timestamp=message.timestamp, payload=message.payload, status=self._host.call(status)
        )


def iso_utc(moment: datetime.datetime) -> str:
    """ISO 8601 in UTC, with microseconds and a Z."""
    return moment.astimezone(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_utc(text: str) -> datetime.datetime:
    """Parse ISO 8601; a text without a zone is UTC. Raises ValueError."""
    moment = datetime.datetime.fromisoformat(text)
    try:
        return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment.astimezone(datetime.UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is before the year 1 or after the year 9999 in UTC") from None


def _read(stored: StoredMessage) -> tuple[Consumption, datetime.datetime]:
    """The message and its timestamp. Raises ValueError if it is not a message of a simple queue."""
    try:
        message = msgspec.json.decode(stored.value or b"", type=Consumption)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return message, parse_utc(message.timestamp)


class _StoredIds:
    """The ids of one queue. Hold `lock` from the lookup of an id to the end of storing under it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.places: dict[str, Place] = {}
        self.read_to: dict[int, int] = {}  # the next offset, by partition


_of_queues: WeakKeyDictionary[Queue, _StoredIds] = WeakKeyDictionary()
_lock = threading.Lock()


def _stored_ids(queue: Queue) -> _StoredIds:
    """Shared by all clients of `queue`; a recreated queue has new ones."""
    with _lock:
        return _of_queues.setdefault(queue, _StoredIds())
