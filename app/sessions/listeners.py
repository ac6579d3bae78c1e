from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from app.sessions.core_sentences import error_text
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
_NONE = Connections(lambda: 0)


class Listeners(QObject):
    """The open listeners, at most one of each kind, on the loopback address only. `changed` when one opens or closes.

    A listener is opened in a thread of its own: its library takes a while to load.
    """

    changed = Signal()
    reported = Signal(str)

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._host: EngineHost | None = None
        self._connections = _NONE
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

    def views(self) -> tuple[ConnectionView, ...]:
        return self._connections.views()

    def apis(self, number: int) -> tuple[ApiView, ...]:
        return self._connections.apis(number)

    def requests(self) -> tuple[RequestView, ...]:
        return self._last_requests if self._host is None else self._connections.requests()

    def ended(self) -> tuple[ConnectionView, ...]:
        """The last connections with an error, a dropped one among them; a normal end is none."""
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
        do = partial(_open, kind, port, host, self._connections)
        self._replies.work(f"open-{kind}", do, partial(self._opened, kind, host), partial(self._failed, kind))

    def _opened(self, kind: Kind, host: EngineHost, opened: tuple[str, Callable[[], None]]) -> None:
        where, close = opened
        if self._host is not host:
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
        for kind in PORTS:
            self.shut(kind)
        self._last_requests = self.requests()  # to be read after the end
        if self._host is not None:
            self._host.close()
        self._host, self._connections = None, _NONE
        for kind in PORTS:
            self._note(kind, where="", problem="")

    def cut(self, number: int) -> None:
        if self._connections.cut(number, "cut in the window"):
            self.reported.emit(tr("Connection {number} is cut.", number=number))


def _open(kind: str, port: int, host: EngineHost, connections: Connections) -> tuple[str, Callable[[], None]]:
    """Where the listener is, and what closes it. Kafka's usual port, if it is taken, gives way to a free one."""
    if kind == "kafka":
        from broker_core.listeners.kafka.listener import KafkaListener

        settings: dict[str, Any] = {"connections": connections, "create_topics": NEW_TOPIC_PARTITIONS}
        try:
            kafka = KafkaListener(host, address=LOOPBACK, port=port, **settings).start()
        except ConfigError:
            if port != KAFKA_PORT:
                raise
            kafka = KafkaListener(host, address=LOOPBACK, port=0, **settings).start()
        return f"bootstrap.servers={kafka.bootstrap_servers}", kafka.close
    from broker_core.listeners.http.listener import HttpListener

    http = HttpListener(host, address=LOOPBACK, port=port, connections=connections).start()
    return http.url, http.close
