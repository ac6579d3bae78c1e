"""The brokers of a cluster: which there are, and requests to several of them at once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.making import Body
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.connection import BrokerConnection

Address = tuple[str, int]
_AWAY = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.UNAUTHORIZED, ErrorCode.UNSUPPORTED_SASL_MECHANISM})


class Call(NamedTuple):
    """A request to broker `node`."""

    node: int
    api: str
    body: Body


class Cluster:
    """Connections to its brokers, made when they are needed. One thread asks.

    `wait(seconds)` waits where a broker throttles; True ends it, and raises CLOSED.
    """

    def __init__(self, config: ConnectionConfig, wait: Callable[[float], bool]) -> None:
        self._config = config
        self._wait = wait
        self._connections: dict[Address, BrokerConnection] = {}
        self._away: dict[int, BrokerError] = {}
        self._closed = False
        self._spent = (0, 0)  # of connections that are closed
        self.nodes: dict[int, Address] = {}
        self.name = ""

    @property
    def cost(self) -> tuple[int, int]:
        """Requests, and bytes of their answers, so far."""
        there = [(each.requests, each.bytes) for each in [*self._connections.values()]]
        requests, received = map(sum, zip(self._spent, *there, strict=True))
        return requests, received

    @property
    def hosts(self) -> list[str]:
        return sorted({host for host, _port in (*self._config.bootstrap, *self.nodes.values())})

    def has(self, node: int, api: str, version: int = 0) -> bool:
        """Whether a broker has an API from `version` on; False if it is away."""
        try:
            newest = self._connection(node).version(api)
        except BrokerError:
            return False
        return newest is not None and newest >= version

    def metadata(self, topics: Iterable[str] | None = None) -> Any:
        """The cluster, with all topics or these, as one of its brokers sees it; all of them may be asked again.

        Raises as a connection does.
        """
        self._away.clear()
        named = None if topics is None else [{"name": name} for name in topics]
        body = {"topics": named, "allow_auto_topic_creation": False}
        places = dict.fromkeys((*self._connections, *self.nodes.values(), *self._config.bootstrap))
        timeout_s = min(self._config.timeout_s, max(1.0, 9.0 / len(places)))
        first: BrokerError | None = None
        for place in places:
            try:
                found = self._ready(self._connected(place, timeout_s)).ask("Metadata", body)
            except BrokerError as error:
                first = first or error
                self._drop(place)
                continue
            self.nodes = {each.node_id: (each.host, each.port) for each in found.brokers}
            self.name = getattr(found, "cluster_id", None) or self.name
            return found
        assert first is not None
        raise first

    def ask(self, calls: Iterable[Call]) -> Iterator[tuple[Call, Any]]:
        """Each call with its response, or the `BrokerError` of it. Brokers work side by side, each on one at a time."""
        queues: dict[int, deque[Call]] = {}
        for call in calls:
            queues.setdefault(call.node, deque()).append(call)
        while queues:
            sent = [(queue[0], self._sent(queue.popleft())) for queue in queues.values()]
            queues = {node: queue for node, queue in queues.items() if queue}
            for call, receive in sent:
                yield call, self._received(call, receive)

    def close(self) -> None:
        """From any thread; what is asked then fails."""
        self._closed = True
        for place in list(self._connections):
            self._drop(place)

    def _sent(self, call: Call) -> Callable[[], Any] | BrokerError:
        try:
            return self._ready(self._connection(call.node)).send(call.api, call.body)
        except BrokerError as error:
            return self._failed(call, error)

    def _received(self, call: Call, receive: Callable[[], Any] | BrokerError) -> Any:
        if isinstance(receive, BrokerError):
            return receive
        try:
            return receive()
        except BrokerError as error:
            return self._failed(call, error)

    def _failed(self, call: Call, error: BrokerError) -> BrokerError:
        """A connection that has failed is made anew for the next call, unless that would take long, too."""
        if error.code is not ErrorCode.UNSUPPORTED_VERSION:
            if call.node in self.nodes:
                self._drop(self.nodes[call.node])
            if error.code in _AWAY:
                self._away[call.node] = error
        return error

    def _connection(self, node: int) -> BrokerConnection:
        if node in self._away:
            raise self._away[node]
        place = self.nodes.get(node)
        if place is None:
            raise BrokerError(ErrorCode.CONNECTION_LOST, f"the cluster no longer has a broker {node}")
        try:
            return self._connected(place, self._config.timeout_s)
        except BrokerError as error:
            self._away[node] = error
            raise

    def _connected(self, place: Address, timeout_s: float) -> BrokerConnection:
        found = self._connections.get(place)
        if self._closed:
            raise BrokerError(ErrorCode.CLOSED, "the observation has ended")
        if found is None:
            found = BrokerConnection(self._config._replace(timeout_s=timeout_s), *place)
            self._connections[place] = found
        return found

    def _ready(self, connection: BrokerConnection) -> BrokerConnection:
        """After the pause that its broker has asked for."""
        pause_s = connection.not_before_s - time.monotonic()
        if pause_s > 0 and self._wait(pause_s):
            raise BrokerError(ErrorCode.CLOSED, "the observation has ended")
        return connection

    def _drop(self, place: Address) -> None:
        gone = self._connections.pop(place, None)
        if gone is not None:
            gone.close()
            self._spent = (self._spent[0] + gone.requests, self._spent[1] + gone.bytes)
