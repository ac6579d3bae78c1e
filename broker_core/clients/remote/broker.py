"""A broker in another process, as a host for clients: the same producers, consumers and admins work on it."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar, cast

from broker_core.broker.broker import Broker
from broker_core.clients.remote.config import RemoteConfig
from broker_core.clients.remote.face import RemoteFace
from broker_core.clients.remote.link import Link
from broker_core.engine.host_loop import CLOSE_TIMEOUT_S, HostLoop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage
from broker_core.replies import Reply
from broker_core.settings import TIMEOUT, Count, Port, TimeS, checked_class, judged
from broker_core.wire import fetch as reading_api
from broker_core.wire import watch as watch_api
from broker_core.wire.session import Hello, HelloReply, Ping, Pong

T = TypeVar("T")

DEFAULT_PORT = 9_330
SOFTWARE = "brokerscope-python"
_numbers = itertools.count(1)
_SPARE_S = 0.25  # in which clients that have given up say so


@checked_class(fast=("call", "admin", "wait", "start", "run"))
class RemoteBroker(HostLoop):
    """Connects to the wire listener of a broker, and connects again whenever the connection is lost.

    Give it to `Producer`, `GroupConsumer`, `QueueConsumer`, `Admin` and `SchemaAdmin` in the place of a host; close it,
    or use it in a `with` block: it closes its clients first. Usable from any thread. `client` is what the connection is
    called where it is shown, and the first part of the names of clients that are given none.

    Session times of messages and leases are those of `now_ns`; times in views are those of the broker's own session.
    Raises CONNECTION_LOST where there is no broker, UNAUTHORIZED where it does not know the token.
    """

    def __init__(
        self,
        address: str = "127.0.0.1",
        port: Port = DEFAULT_PORT,
        *,
        token: str | None = None,
        client: str = "",
        config: RemoteConfig | None = None,
    ) -> None:
        super().__init__(threading.RLock(), "remote")
        self.client = client or f"{socket.gethostname()}-{os.getpid()}-{next(_numbers)}{secrets.token_hex(2)}"
        self.prefix = f"{self.client}/"
        self.open_batches = None
        self._shift_ns = 0
        self._session: int | None = None
        self._close_lock = threading.Lock()
        self._closed = False
        self._link = Link(
            self.lock,
            address,
            port,
            Hello(self.client, SOFTWARE, token),
            config or RemoteConfig(),
            settled=self._settled,
            greeted=self._greeted,
        )
        self._face = RemoteFace(self._link, self.loop, lambda: self._shift_ns)
        # Clients use some of the broker's face, and the remote one has just that; the tests run on both.
        self.broker: Broker = cast(Broker, self._face)
        self._link.open()
        self._timer_thread.start()

    # -- what a host has besides its loop

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        """See `HostLoop.wait`; where nobody else reads, the calling thread reads what it waits for."""
        judged("timeout_s", TIMEOUT, timeout_s)
        left_s = self._link.read_until(reply, timeout_s)
        if left_s == 0 and not (reply.done or self.closing):
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"nothing came in {timeout_s} s")
        return super().wait(reply, left_s)

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` that changes what there is; it returns when that is saved."""
        ids = self._face.producer_ids
        return self.call(lambda now_ns: cast(T, ids.waiting(action, now_ns)))

    def kept(self) -> Reply[None]:
        """There when all commits so far are on the disk, as durable as the broker is."""
        return self.call(lambda _now: self._face.kept())

    def ensure_topic(self, name: str) -> None:
        """Ask what the broker knows of the topic; it creates a missing one where it is set to."""
        self._face.learn(name, create=True)

    # -- looking

    @property
    def connected(self) -> bool:
        """True while there is a connection."""
        return self._link.connected

    @property
    def connects(self) -> int:
        """How often it has connected."""
        return self._link.connects

    def ping(self, timeout_s: TimeS | None = None) -> int:
        """The broker's session time, in ns. Raises CONNECTION_LOST, REQUEST_TIMED_OUT."""
        return self._link.ask(Ping(), Pong, timeout_s, repeat=True).now_ns

    def metrics(self) -> watch_api.MetricsReply:
        """Totals and counts of the broker."""
        return self._link.ask(watch_api.Metrics(), watch_api.MetricsReply, repeat=True)

    def events(self, from_seq: int = -1, *, max_events: Count = 500, wait_s: TimeS = 0.0) -> watch_api.Events:
        """Events from number `from_seq` on (-1: those to come), waiting for the first; go on at its `next_seq`."""
        wait_ms = round(wait_s * 1_000)
        body = watch_api.TailEvents(from_seq, max_events, wait_ms)
        return self._link.ask(body, watch_api.Events, wait_s + 10.0, repeat=True)

    def read(self, topic: str, partition: int, offset: int, max_messages: Count = 500) -> list[StoredMessage]:
        """Messages of a partition, for no group: nothing counts as delivered. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        body = reading_api.ReadRecords(topic, partition, offset, max_messages)
        return self._link.ask(body, reading_api.Messages, repeat=True).stored(self._shift_ns)

    # -- the end

    def close(self, timeout_s: TimeS | None = CLOSE_TIMEOUT_S) -> None:
        """Close the clients, then the connection. The second call waits for the first.

        Clients have `timeout_s` together for what they have begun. Raises what a client gave up then.
        """
        in_callback = threading.current_thread() is self._callback_thread
        if not self._close_lock.acquire(blocking=not in_callback):
            return
        try:
            if self._closed:
                return
            self._closed = True
            self._link.leave()
            with contextlib.ExitStack() as steps:
                steps.callback(self._stop)
                steps.callback(self._link.close)
                if timeout_s is not None:
                    # What the broker does not answer by then, it does not answer: who waits gets CLOSED.
                    late = threading.Timer(timeout_s + _SPARE_S, self._link.close)
                    late.daemon = True
                    late.start()
                    steps.callback(late.cancel)
                self._close_clients(steps, timeout_s)
        finally:
            self._close_lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside

    def _after(self) -> None:
        self._face.publishing.send()
        self._link.flush()

    def _settled(self) -> None:
        """Answers have come: what waits for them is run by the thread of the timers."""
        self._after()
        next_ns = self.loop.next_ns()
        if next_ns is not None and next_ns < self._sleeps_until_ns:
            self._wake.notify()

    def _greeted(self, hello: HelloReply) -> None:
        if self._session is None:
            # From now on the time here is that of the broker's session, as nearly as one can tell.
            self._start_ns -= hello.now_ns - self.now_ns
        elif self._session != hello.session:
            self._shift_ns = self.now_ns - hello.now_ns  # the broker has begun anew
        self._session = hello.session
        self._face.publishing.most_requests = max(1, hello.max_in_flight // 2)
        self._face.reading.most_wait_s = hello.max_wait_ms / 1_000
