"""The connection of a remote client: a thread that reads, writes, and connects again.

Everything here is guarded by the host's lock, which is an RLock: whoever waits for an answer gives it up meanwhile.
Answers are settled under the lock by the link's thread, or by one that reads in its place (see `watch`). Settling runs
no tasks and no timers, and never waits for an answer.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from broker_core.clients.remote.calls import Call, Done, ignore
from broker_core.clients.remote.config import RemoteConfig
from broker_core.clients.remote.greeting import MAX_ANSWER_BYTES, Greeted, connect
from broker_core.clients.remote.outgoing import Outgoing
from broker_core.clients.remote.watch import NOBODY, READ, WRITE, Watch
from broker_core.errors import BrokerError, ErrorCode
from broker_core.replies import Reply
from broker_core.wire.body import Body
from broker_core.wire.codec import ClientCodec
from broker_core.wire.errors import RemoteProtocolError
from broker_core.wire.session import Cancel, Hello, HelloReply, Ping

B = TypeVar("B", bound=Body)

_log = logging.getLogger(__name__)
_READ_BYTES = 1 << 18
_LOOK_S = 0.1  # how often deadlines are looked at
_IDLE_S = 1.0  # ... where there are none


class Link:
    """`settled()` is called under the lock after answers were settled; `greeted(hello)` after each connecting."""

    def __init__(
        self,
        lock: Any,
        address: str,
        port: int,
        hello: Hello,
        config: RemoteConfig,
        *,
        settled: Callable[[], object],
        greeted: Callable[[HelloReply], object],
    ) -> None:
        """`lock` is an RLock."""
        self._lock = lock
        self.place = f"{address}:{port}"
        self._address, self._port = address, port
        self._hello = hello
        self._config = config
        self._settled, self._greeted = settled, greeted
        self._codec = ClientCodec(MAX_ANSWER_BYTES)
        self._watch: Watch | None = None  # of the connection, while there is one
        self._buffer = memoryview(bytearray(_READ_BYTES))
        self._pending: dict[int, Call] = {}
        self._queued: deque[Call] = deque()  # for when there is a connection
        self._out = Outgoing()
        self._first = threading.Condition(lock)
        self._tries = 0
        self._backoff = threading.Event()
        self.leaving = False  # no connection is waited for any more
        self._closing = False
        self._settling = NOBODY  # the thread that deals with answers just now
        self._ping_s = config.ping_ms / 1_000
        self._failure: BrokerError | None = None
        self._sent_s = self._heard_s = 0.0
        self.connects = 0
        self._thread = threading.Thread(target=self._work, name="remote-link", daemon=True)

    # -- for any thread

    def open(self) -> None:
        """Connect. Raises CONNECTION_LOST where there is no broker, and what it says where it lets nobody in."""
        self._thread.start()
        with self._first:
            self._first.wait_for(lambda: self.connects or self._failure is not None or self._closing)
            failure = None if self.connects else self._failure
        if failure is not None:
            self.close()
            raise failure

    @property
    def connected(self) -> bool:
        """True while there is a connection."""
        return self._watch is not None

    def post(
        self,
        body: Body,
        done: Done,
        *,
        repeat: bool,
        wait_s: float | None = None,
        at_once: bool = False,
        timeout_s: float | None = None,
    ) -> Call:
        """Send a request, at the latest with the next `flush`; `done` is told what became of it.

        `at_once`: where there is no connection now, it fails with CONNECTION_LOST instead of waiting for one. `wait_s`
        is how long it may wait at the broker, which is not counted as silence.
        """
        now_s = time.monotonic()
        timeout = self._config.request_timeout_ms / 1_000 if timeout_s is None else timeout_s
        call = Call(body, done, now_s + timeout + (wait_s or 0.0), repeat, None if wait_s is None else now_s + wait_s)
        with self._lock:
            if self._closing:
                call.finish(None, BrokerError(ErrorCode.CLOSED, "the connection to the broker"))
            elif self._watch is not None:
                self._send(call)
            elif at_once or self.leaving:
                call.finish(None, self._lost())
            else:
                self._queued.append(call)
        return call

    def ask(self, body: Body, reply: type[B], timeout_s: float | None = None, *, repeat: bool) -> B:
        """Send a request and wait for its reply; the lock is free meanwhile. Raises what the broker says."""
        if threading.get_ident() in (self._settling, self._thread.ident):
            raise RuntimeError(f"{type(body).__name__} asked for in the thread that brings the answers")
        found: list[Any] = []
        with self._lock:
            came = threading.Condition(self._lock)

            def done(answer: Any, error: BrokerError | None) -> None:
                found.append((answer, error))
                came.notify()

            call = self.post(body, done, repeat=repeat, timeout_s=timeout_s)
            self._settled()  # nothing that was begun in this call waits for its end
            if not came.wait_for(lambda: found, call.deadline_s - time.monotonic() + 2 * _LOOK_S):
                self.abandon(call)
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{self.place} did not answer {type(body).__name__}")
        answer, error = found[0]
        if error is not None:
            raise error
        if not isinstance(answer, reply):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{type(answer).__name__} in the place of {reply.__name__}")
        return answer

    def abandon(self, call: Call) -> None:
        """Nobody waits for it any more; what waits at the broker is cancelled."""
        with self._lock:
            call.finished = True
            if self._pending.pop(call.correlation, None) is not None:
                self._codec.forget(call.correlation)
                if call.wait_until_s is not None:
                    self.post(Cancel(call.correlation), ignore, repeat=False, at_once=True)

    def leave(self) -> None:
        """The end is near: what would have to wait for a connection fails with CONNECTION_LOST."""
        with self._lock:
            self.leaving = True
            queued, self._queued = self._queued, deque()
            for call in queued:
                call.finish(None, self._lost())
            self._settled()

    def flush(self) -> None:
        """Hand what was posted to the socket, as far as that takes it; the link's thread does the rest."""
        if self._watch is not None and not self._out.stuck:
            self._write(self._watch)

    def read_until(self, reply: Reply[Any], timeout_s: float | None) -> float | None:
        """Read and settle in the calling thread until `reply` is there; how much of the time is left.

        Where somebody else reads already, or there is no connection any more, it returns at once.
        """
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        watch: Watch | None = None
        try:
            with self._lock:
                watch = self._watch
                if watch is None or reply.done or not watch.take():
                    watch = None
                    return timeout_s
                reply.then(watch.ring_reader)
            left_s = timeout_s
            while not (reply.done or watch.ended or left_s == 0) and self._read_in_turn(watch, left_s):
                left_s = None if end_s is None else max(0.0, end_s - time.monotonic())
            return left_s
        finally:
            if watch is not None:
                watch.leave(self._lock)

    def close(self) -> None:
        """Everything that waits fails with CLOSED. The second call does nothing."""
        with self._lock:
            if not self._closing:
                self.flush()
                self._closing = True
                self._fail_all(BrokerError(ErrorCode.CLOSED, "the connection to the broker"))
                self._first.notify_all()
            watch = self._watch
            if watch is not None:
                watch.ring()
        self._backoff.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    # -- under the lock

    def _send(self, call: Call) -> None:
        if self._out.size_bytes > self._config.buffer_bytes:
            about = f"{self._out.size_bytes} bytes wait to be sent to {self.place}"
            call.finish(None, BrokerError(ErrorCode.THROTTLED, about))
            return
        try:
            correlation, data = self._codec.request(call.due_body())
        except BrokerError as error:
            call.finish(None, error)
            return
        call.correlation = correlation
        self._pending[correlation] = call
        self._out.add(data)

    def _write(self, watch: Watch) -> None:
        try:
            if self._out.write(watch.socket):
                self._sent_s = time.monotonic()
            watch.want_write(self._out.stuck)
        except BaseException:
            # Somebody presses Ctrl+C, and nobody knows how much was sent: a new connection begins with the whole.
            watch.fail(ConnectionError("writing was interrupted"))
            raise

    def _lost(self) -> BrokerError:
        return self._failure or BrokerError(ErrorCode.CONNECTION_LOST, self.place)

    def _fail_all(self, error: BrokerError) -> None:
        calls = [*self._pending.values(), *self._queued]
        self._pending.clear()
        self._queued.clear()
        for call in calls:
            call.finish(None, error)
        self._settled()

    def _expire(self) -> None:
        """End what has waited for too long."""
        now_s = time.monotonic()
        late = [call for call in (*self._pending.values(), *self._queued) if call.deadline_s <= now_s]
        for call in late:
            if self._pending.pop(call.correlation, None) is not None:
                self._codec.forget(call.correlation)
            else:
                with contextlib.suppress(ValueError):
                    self._queued.remove(call)
            about = f"{self.place} did not answer {type(call.body).__name__}"
            call.finish(None, self._lost() if not call.correlation else BrokerError(ErrorCode.REQUEST_TIMED_OUT, about))
        if late:
            self._settled()

    # -- the link's thread

    def _work(self) -> None:
        while not self._closing:
            try:
                timeout_s = self._config.connect_timeout_ms / 1_000
                greeted = connect(self._address, self._port, self._hello, timeout_s)
            except Exception as error:
                self._failed(error)
                continue
            watch = Watch(greeted.socket)
            with self._lock:
                self._begin(greeted, watch)
            try:
                self._serve(watch)
                reason = "the broker has closed it"
            except (OSError, RemoteProtocolError) as error:
                reason = str(error)
            except Exception as error:
                _log.exception("the connection to %s is given up", self.place)
                reason = str(error)
            with self._lock:
                self._end(reason, watch)

    def _failed(self, error: Exception) -> None:
        """There is no connection: say so to the first who waits, and try again a little later each time."""
        known = error if isinstance(error, BrokerError) else None
        with self._lock:
            reason = getattr(error, "strerror", None) or str(error)
            about = f"{self.place} cannot be reached ({reason}); brokerscope serve starts a broker"
            self._failure = known or BrokerError(ErrorCode.CONNECTION_LOST, about)
            if known is not None:
                self._fail_all(known)  # it is there, but does not let us in
            self._expire()
            self._first.notify_all()
        most_ms = self._config.reconnect_backoff_max_ms
        backoff_ms = min(most_ms, self._config.reconnect_backoff_ms * (1 << min(self._tries, 16)))
        self._tries += 1
        self._backoff.wait(backoff_ms / 1_000 * random.uniform(0.8, 1.2))

    def _begin(self, greeted: Greeted, watch: Watch) -> None:
        hello = greeted.hello
        self._watch, self._codec = watch, greeted.codec
        self._failure, self._tries = None, 0
        self._sent_s = self._heard_s = time.monotonic()
        self.connects += 1
        # Often enough for the broker not to cut a connection that is merely quiet.
        self._ping_s = min(self._config.ping_ms, hello.idle_timeout_ms / 3) / 1_000
        self._greeted(hello)
        queued, self._queued = self._queued, deque()
        for call in queued:
            self._send(call)
        self.flush()
        self._first.notify_all()
        self._settled()

    def _end(self, reason: str, watch: Watch) -> None:
        self._watch = None
        watch.end()
        self._out = Outgoing()
        if self._closing:
            return
        self._failure = BrokerError(ErrorCode.CONNECTION_LOST, f"{self.place} ({reason})")
        _log.info("%s Connecting again.", self._failure)
        calls, self._pending = list(self._pending.values()), {}
        again = [] if self.leaving else [call for call in calls if call.repeat]
        for call in again:
            call.correlation = 0
        self._queued.extendleft(reversed(again))
        for call in calls:
            if self.leaving or not call.repeat:
                call.finish(None, self._failure)
        self._settled()

    def _serve(self, watch: Watch) -> None:
        """Read and write until the connection ends. Raises what ended it."""
        looked_s = time.monotonic()
        while not self._closing:
            ready = watch.wait(min(self._ping_s, _LOOK_S if self._pending else _IDLE_S))
            if ready & WRITE:
                with self._lock:
                    self._write(watch)
                    self.flush()
            if ready & READ and not self._read(watch):
                return
            if watch.failure is not None:
                raise watch.failure
            now_s = time.monotonic()
            if now_s - looked_s >= _LOOK_S:
                looked_s = now_s
                with self._lock:
                    self._look(now_s)

    # -- in the thread that reads

    def _read_in_turn(self, watch: Watch, timeout_s: float | None) -> bool:
        """Wait and read once, in another thread than the link's; False where that one must go on."""
        if not watch.wait_to_read(timeout_s):
            return True
        try:
            return self._read(watch)
        except Exception as error:
            watch.failure = error
            return False
        except BaseException:
            # Somebody presses Ctrl+C, and what was read may be lost.
            watch.failure = ConnectionError("reading was interrupted")
            raise

    def _read(self, watch: Watch) -> bool:
        """Settle what has come; False where nothing will come any more."""
        with self._lock:
            if watch.ended:
                return False
            try:
                size_bytes = watch.socket.recv_into(self._buffer)
            except (BlockingIOError, InterruptedError):
                return True
            if not size_bytes:
                return False
            self._heard_s = time.monotonic()
            self._settling = threading.get_ident()
            try:
                for answer in self._codec.receive(bytes(self._buffer[:size_bytes])):
                    call = self._pending.pop(answer.correlation, None)
                    if call is not None:
                        call.finish(answer.body, answer.error)
                self._settled()
            finally:
                self._settling = NOBODY
        return True

    def _look(self, now_s: float) -> None:
        """Deadlines, and signs of life. Raises ConnectionError where the broker gives none."""
        self._expire()
        if now_s - self._sent_s >= self._ping_s:
            self._sent_s = now_s
            self.post(Ping(), ignore, repeat=False)
            self.flush()
        if now_s - self._heard_s >= self._ping_s + self._config.request_timeout_ms / 1_000:
            raise ConnectionError(f"it said nothing for {now_s - self._heard_s:.0f} s")
