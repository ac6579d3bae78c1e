"""A network that fails on demand, between a client and a listener."""

from __future__ import annotations

import contextlib
import socket
import threading


class WobblyNetwork:
    """Listens on `port` and passes bytes on to `target`, until told otherwise."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self.deaf = False  # answers are thrown away
        self.closed_for_now = False  # who connects is hung up on
        self.passed = 0  # connections
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def _start(self, work, *args) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self.closed_for_now:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._pairs.append((near, far))
                    self.passed += 1
                self._start(self._pass_on, near, far, False)
                self._start(self._pass_on, far, near, True)

    def _pass_on(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not (answers and self.deaf):
                    sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """End every connection, as a cable that is pulled out."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for each in pair:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)

    def __enter__(self) -> WobblyNetwork:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
