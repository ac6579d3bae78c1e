from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from app.sessions.event_text import error_text
from app.sessions.queries import Replies
from app.sessions.session_controller import SessionController
from broker_core.engine.engine_host import EngineHost
from broker_core.errors import BrokerError, ConfigError
from broker_core.listeners.connections import ApiView, Connections, RequestView
from broker_core.operations.http_form import DEFAULT_PORT
from broker_core.snapshots import ConnectionView
from widgets.i18n import tr
from widgets.panels.connections import ListenerFacts

Kind = Literal["kafka", "http"]
KAFKA_PORT = 9_092
LOOPBACK = "127.0.0.1"
NEW_TOPIC_PARTITIONS = 3
ENDED_SHOWN = 20
PORTS: dict[Kind, int] = {"kafka": KAFKA_PORT, "http": DEFAULT_PORT}


class Listeners(QObject):
    """At most one listener of each kind, on the loopback address only. `changed` when one has opened or closed.

    A listener is opened in a thread of its own: its library takes a while to load.
    """

    changed = Signal()
    reported = Signal(str)

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._host: EngineHost | None = None
        self._connections: Connections | None = None
        self._last_requests: tuple[RequestView, ...] = ()
        self._close: dict[Kind, Callable[[], None]] = {}
        self._facts = {kind: ListenerFacts(kind, "", False, port) for kind, port in PORTS.items()}
        self._replies = Replies(self)
        controller.ending.connect(self.close_all)

    def facts(self) -> tuple[ListenerFacts, ...]:
        return tuple(self._facts.values())

    def _note(self, kind: Kind, **changes: Any) -> None:
        self._facts[kind] = replace(self._facts[kind], **changes)
        self.changed.emit()

    def connections(self) -> tuple[ConnectionView, ...]:
        return () if self._connections is None else self._connections.views()

    def apis(self, number: int) -> tuple[ApiView, ...]:
        return () if self._connections is None else self._connections.apis(number)

    def requests(self) -> tuple[RequestView, ...]:
        return self._last_requests if self._connections is None else self._connections.requests()

    def ended(self) -> tuple[ConnectionView, ...]:
        """The last connections with an error, a dropped one among them; a normal end is none."""
        if self._connections is None:
            return ()
        return tuple(view for view in self._connections.gone() if view.last_error)[-ENDED_SHOWN:]

    def open(self, kind: Kind, port: int) -> None:
        """Open a listener on the session that is shown; `reported` tells where it is, or why it cannot be opened."""
        if kind in self._close or self._facts[kind].opening:
            return
        host = self._host or self._controller.host(NEW_TOPIC_PARTITIONS)
        if host is None:
            self.reported.emit(tr("There is no running session to open a listener on."))
            return
        if self._host is None:
            self._host, self._connections = host, Connections(lambda: host.now_ns)
        self._note(kind, opening=True, problem="")
        worker = ThreadPoolExecutor(1, thread_name_prefix=f"open-{kind}")
        opened = worker.submit(_open, kind, port, host, self._connections)
        self._replies.follow(opened, partial(self._opened, kind), partial(self._failed, kind))
        worker.shutdown(wait=False)

    def _opened(self, kind: Kind, opened: tuple[str, Callable[[], None]]) -> None:
        where, close = opened
        if self._host is None:
            close()  # the session has ended since
            where = ""
        else:
            self._close[kind] = close
            self.reported.emit(tr("Open: {where}. Only programs on this machine can connect.", where=where))
        self._note(kind, opening=False, where=where)

    def _failed(self, kind: Kind, error: BrokerError) -> None:
        self.reported.emit(error_text(error))
        self._note(kind, opening=False, problem=error_text(error))

    def shut(self, kind: Kind) -> None:
        if (close := self._close.pop(kind, None)) is not None:
            close()
            self._note(kind, where="")

    def close_all(self) -> None:
        for close in list(self._close.values()):
            close()
        self._close.clear()
        self._last_requests = self.requests()  # to be read after the end
        if self._host is not None:
            self._host.close()
        self._host = self._connections = None
        for kind in PORTS:
            self._note(kind, where="", problem="")

    def cut(self, number: int) -> None:
        if self._connections is not None and self._connections.cut(number, "cut in the window"):
            self.reported.emit(tr("Connection {number} is cut.", number=number))


def _open(kind: str, port: int, host: EngineHost, connections: Connections | None) -> tuple[str, Callable[[], None]]:
    """Where the listener is, and what closes it. Kafka's usual port, if it is taken, gives way to a free one."""
    if kind == "kafka":
        from broker_core.listeners.kafka.listener import KafkaListener

        def listen(at: int) -> KafkaListener:
            return KafkaListener(
                host, address=LOOPBACK, port=at, connections=connections, create_topics=NEW_TOPIC_PARTITIONS
            ).start()

        try:
            kafka = listen(port)
        except ConfigError:
            if port != KAFKA_PORT:
                raise
            kafka = listen(0)
        return f"bootstrap.servers={kafka.bootstrap_servers}", kafka.close
    from broker_core.listeners.http.listener import HttpListener

    http = HttpListener(host, address=LOOPBACK, port=port, connections=connections).start()
    return http.url, http.close
