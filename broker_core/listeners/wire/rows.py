"""How a request is served: what it needs to be allowed, and what runs where."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError
from broker_core.listeners.access.access import Access, Kind, Operation, Principal
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.connections import Connection, Connections
from broker_core.listeners.served import ServedHost
from broker_core.listeners.wire.appends import Appends
from broker_core.listeners.wire.event_tail import EventTail
from broker_core.replies import Reply
from broker_core.wire.body import Body

Need = tuple[Operation, Kind, str]


class How(enum.Enum):
    """Where a request is served, one of them per row.

    AT_ONCE: `serve(caller, request, now_ns)` gives the reply, under the host's lock, which it must not keep for long.
    WAITS: the same, but it gives a `Waiting`.
    SLOW: `serve(caller, request)` gives the reply, in another thread and without the lock; it may wait for the disk.
    """

    AT_ONCE = enum.auto()
    WAITS = enum.auto()
    SLOW = enum.auto()


class Waiting(msgspec.Struct, frozen=True):
    """A reply of the broker that may come later. `answer(result)` makes the reply of it, without the lock.

    `parked` is whether it is a wait that its client asked for: that uses up no place among the requests in flight.
    `cancel` ends such a wait with nothing; `lost` is told, under the lock, of a result that nobody is there to get.
    """

    reply: Reply[Any]
    answer: Callable[[Any], Body]
    parked: bool = False
    cancel: Callable[[], object] | None = None
    lost: Callable[[Any], object] | None = None


class Row(msgspec.Struct, frozen=True):
    """One line of the table. `needs(broker, request)` is what its sender must be allowed.

    `appends`: it puts messages into `Caller.appends`, and may wait there for more; all others find that flushed.
    """

    request: type[Body]
    how: How
    needs: Callable[[Broker, Any], Iterable[Need]]
    serve: Callable[..., Any]
    appends: bool = False


class Caller(msgspec.Struct):
    """Who asks, and of whom."""

    host: ServedHost
    access: Access
    limits: GuardConfig
    connections: Connections
    tail: EventTail
    connection: Connection
    principal: Principal
    producers: set[str]
    appends: Appends

    @property
    def broker(self) -> Broker:
        """The host's; only under its lock."""
        return self.host.broker

    def allowed(self, kind: Kind, names: Iterable[str]) -> tuple[str, ...]:
        """Those of `names` that the caller may at least read."""
        return tuple(name for name in names if self.access.allows(self.principal, Operation.READ, kind, name))


def nothing(_broker: Broker, _request: Any) -> tuple[Need, ...]:
    """For what everybody may do who is let in."""
    return ()


def of_broker(operation: Operation) -> Callable[[Broker, Any], tuple[Need, ...]]:
    """For what concerns the broker as a whole."""
    return lambda _broker, _request: ((operation, "broker", ""),)


def of_log(operation: Operation, field: str = "name") -> Callable[[Broker, Any], tuple[Need, ...]]:
    """For what concerns the topic, or the queue, that `field` of the request names."""

    def needs(broker: Broker, request: Any) -> tuple[Need, ...]:
        name = getattr(request, field)
        return ((operation, kind_of(broker, name), name),)

    return needs


def of_queue(operation: Operation, field: str = "name") -> Callable[[Broker, Any], tuple[Need, ...]]:
    """For what concerns the queue that `field` of the request names."""
    return lambda _broker, request: ((operation, "queue", getattr(request, field)),)


def of_group(operation: Operation, field: str = "group") -> Callable[[Broker, Any], tuple[Need, ...]]:
    """For what concerns the group that `field` of the request names."""
    return lambda _broker, request: ((operation, "group", getattr(request, field)),)


def kind_of(broker: Broker, name: str) -> Kind:
    """Whether access rules speak of `name` as a queue or as a topic."""
    try:
        return "queue" if broker.partitions_by_key(name) is None else "topic"
    except BrokerError:
        return "topic"
