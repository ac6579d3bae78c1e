"""The open connections of all listeners, with their counts, rates and last errors; each can be cut."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from broker_core.clock import NS_PER_S
from broker_core.snapshots import ConnectionView

# Rates are taken over at least this long, and at most twice as long.
RATE_WINDOW_NS = NS_PER_S
KEPT_GONE = 50
KEPT_REQUESTS = 2_000
KEPT_LATENCIES = 100  # of each API of a connection


class ApiView(msgspec.Struct, frozen=True):
    """The requests of one API on one connection; p50 and p99 are those of the last 100, on the wall clock."""

    api: str
    requests: int
    p50_ns: int
    p99_ns: int
    request_bytes: int
    reply_bytes: int
    errors: int
    last_error: str


class RequestView(msgspec.Struct, frozen=True, gc=False):
    """A request that was answered at `time_ns` of session time, `latency_ns` of the wall clock after it came.

    `number` counts the requests of all connections. `reply_bytes` is 0 if there was no reply.
    """

    number: int
    time_ns: int
    connection: int
    client: str
    api: str
    version: int
    correlation_id: int
    size_bytes: int
    reply_bytes: int
    latency_ns: int
    error: str


class Served(msgspec.Struct, frozen=True, gc=False):
    """A request that is served since `began_ns`; its connection had so many `errors` before."""

    api: str
    version: int
    correlation_id: int
    size_bytes: int
    began_ns: int
    errors: int


class _ApiCounts(msgspec.Struct):
    requests: int = 0
    request_bytes: int = 0
    reply_bytes: int = 0
    errors: int = 0
    last_error: str = ""
    latencies_ns: deque[int] = msgspec.field(default_factory=lambda: deque(maxlen=KEPT_LATENCIES))

    def view(self, api: str) -> ApiView:
        counts = msgspec.structs.asdict(self)
        latencies = counts.pop("latencies_ns").copy()
        return ApiView(api, p50_ns=quantile(latencies, 0.5), p99_ns=quantile(latencies, 0.99), **counts)


def quantile(values: Iterable[int], part: float) -> int:
    """The value that `part` of `values` do not exceed; 0 if there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else 0


_COUNTED = ("requests", "messages_in", "messages_out", "bytes_in", "bytes_out")
_NOTHING = tuple(0 for _ in _COUNTED)


class Connection(msgspec.Struct, eq=False):
    """One open connection. Its listener counts here, from one thread; any thread may read, or `cut` it."""

    id: int
    listener: str
    peer: str
    client: str
    opened_ns: int
    heard_ns: int
    cut: Callable[[], object]
    principal: str = ""
    software: str = ""
    group: str = ""
    node: str = ""  # of the cluster that it is passed on to
    requests: int = 0
    messages_in: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    errors: int = 0
    last_error: str = ""
    _apis: dict[str, _ApiCounts] = {}
    _then: tuple[int, tuple[int, ...]] = (0, _NOTHING)  # counts at two earlier moments, for the rates
    _now: tuple[int, tuple[int, ...]] = (0, _NOTHING)

    def __post_init__(self) -> None:
        self._then = self._now = (self.opened_ns, _NOTHING)

    def failed(self, sentence: str) -> None:
        self.errors += 1
        self.last_error = sentence

    def answered(self, served: Served, reply_bytes: int, latency_ns: int, error: str) -> None:
        """Count a request, with its error, "" for none."""
        counts = self._apis.get(served.api)
        if counts is None:
            counts = self._apis[served.api] = _ApiCounts()
        counts.requests += 1
        counts.request_bytes += served.size_bytes
        counts.reply_bytes += reply_bytes
        counts.latencies_ns.append(latency_ns)
        if error:
            counts.errors += 1
            counts.last_error = error

    def view(self, now_ns: int) -> ConnectionView:
        """The connection's current state. Called under the lock of `Connections`: it moves the start of the rates."""
        told = {name: getattr(self, name) for name in _TOLD}
        counts = tuple(told[name] for name in _COUNTED)
        if now_ns - self._now[0] >= RATE_WINDOW_NS:
            self._then, self._now = self._now, (now_ns, counts)
        since_ns, before = self._then
        elapsed_s = max(now_ns - since_ns, RATE_WINDOW_NS) / NS_PER_S
        for name, count, old in zip(_COUNTED, counts, before, strict=True):
            told[f"{name}_per_s"] = (count - old) / elapsed_s
        return ConnectionView(**told)

    def api_views(self) -> tuple[ApiView, ...]:
        """The APIs that the connection has called, the most frequent first."""
        counted = sorted(self._apis.copy().items(), key=lambda each: -each[1].requests)
        return tuple(counts.view(api) for api, counts in counted)


#: What a connection and its view have under the same names.
_TOLD = frozenset(ConnectionView.__struct_fields__).intersection(Connection.__struct_fields__)


class Connections:
    """The open connections of all listeners. From any thread; its lock is never held across a callback."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        """`now_ns` gives session time, as `BrokerHost.now_ns` does."""
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._open: dict[int, Connection] = {}
        self._gone: deque[tuple[ConnectionView, Connection]] = deque(maxlen=KEPT_GONE)
        self._requests: deque[RequestView] = deque(maxlen=KEPT_REQUESTS)
        self._request_numbers = itertools.count(1)
        self._next_id = 1

    def open(self, listener: str, peer: str, cut: Callable[[], object], *, client: str = "") -> Connection:
        """A client has connected to `listener` ("http", "kafka"); `cut()` ends the connection, from any thread."""
        now_ns = self._now_ns()
        with self._lock:
            connection = Connection(self._next_id, listener, peer, client, now_ns, now_ns, cut)
            self._open[connection.id] = connection
            self._next_id += 1
            return connection

    def closed(self, connection: Connection) -> None:
        """The connection has ended. The second call does nothing."""
        now_ns = self._now_ns()
        with self._lock:
            if self._open.pop(connection.id, None) is not None:
                view = msgspec.structs.replace(connection.view(now_ns), ended_ns=now_ns)
                self._gone.append((view, connection))

    def answered(self, connection: Connection, served: Served, reply_bytes: int) -> None:
        """A request of `connection` was answered, by `reply_bytes`."""
        error = connection.last_error if connection.errors > served.errors else ""
        latency_ns = time.perf_counter_ns() - served.began_ns
        connection.answered(served, reply_bytes, latency_ns, error)
        view = RequestView(
            next(self._request_numbers),
            self._now_ns(),
            connection.id,
            connection.client,
            served.api,
            served.version,
            served.correlation_id,
            served.size_bytes,
            reply_bytes,
            latency_ns,
            error,
        )
        self._requests.append(view)

    def requests(self) -> tuple[RequestView, ...]:
        """The last requests, the oldest first."""
        with self._lock:
            return tuple(self._requests.copy())

    def cut(self, number: int, reason: str = "cut by the user") -> bool:
        with self._lock:
            connection = self._open.get(number)
        if connection is None:
            return False
        connection.failed(reason)
        connection.cut()
        return True

    def count(self, listener: str = "") -> int:
        with self._lock:
            return sum(not listener or each.listener == listener for each in self._open.values())

    def publishes(self, client: str) -> bool:
        """Whether an open connection of that client has published."""
        with self._lock:
            return any(each.messages_in and each.client == client for each in self._open.values())

    def views(self) -> tuple[ConnectionView, ...]:
        now_ns = self._now_ns()
        with self._lock:
            return tuple(each.view(now_ns) for each in self._open.values())

    def gone(self) -> tuple[ConnectionView, ...]:
        """The last connections that ended, as they were then, the oldest first."""
        with self._lock:
            return tuple(view for view, _connection in self._gone)

    def apis(self, number: int) -> tuple[ApiView, ...]:
        """The requests of connection `number` by API, the busiest first; none if it is no longer known."""
        with self._lock:
            found = self._open.get(number) or next(
                (connection for _view, connection in self._gone if connection.id == number), None
            )
        return () if found is None else found.api_views()
