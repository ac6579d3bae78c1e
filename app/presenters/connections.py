from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.presenters.columns import Column, Sizing, number_column, text_column
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.requests import latency
from app.presenters.table import TableModel
from broker_core.listeners.connections import ApiView
from broker_core.snapshots import ConnectionView, Snapshot
from widgets.formats import Times, byte_size, duration, per_second, session_time
from widgets.i18n import tr
from widgets.panels.connections import ConnectionsPanel, ListenerFacts
from widgets.roles import Role


class ConnectionsModel(TableModel[ConnectionView]):
    def __init__(self, times: Times) -> None:
        def flow(messages_per_s: float, bytes_per_s: float) -> str:
            return f"{per_second(messages_per_s)}, {byte_size(bytes_per_s)}"

        def state(row: ConnectionView) -> str:
            if row.ended_ns is None:
                return tr("open")
            return tr("ended {time}", time=session_time(row.ended_ns))

        def only_open(text: Callable[[ConnectionView], str]) -> Callable[[ConnectionView], str]:
            return lambda row: text(row) if row.ended_ns is None else ""

        columns: tuple[Column[ConnectionView], ...] = (
            number_column("Id", lambda row: row.id, (44, 0, 3), shown=str),
            Column(
                "State",
                state,
                (132, 0, 5),
                sort=lambda row: -1 if row.ended_ns is None else row.ended_ns,
                about="Connections that ended with an error or were cut stay listed for a while.",
            ),
            Column("Listener", lambda row: row.listener, (68, 0, 2)),
            Column(
                "Client",
                lambda row: row.client or tr("not known yet"),
                (110, 3),
                hint=lambda row: tr("Principal {name}", name=row.principal) if row.principal else "",
            ),
            Column("Group", lambda row: row.group, (90, 2, 2)),
            text_column("Software", lambda row: row.software, (120, 2, 3)),
            Column(
                "Peer",
                lambda row: row.peer,
                (130, 1, 4),
                "mono",
                hint=lambda row: tr("Open since {time}", time=times.hint(row.opened_ns) or session_time(row.opened_ns)),
            ),
            number_column(
                "Idle",
                self._idle_ns,
                (64, 0, 3),
                text=only_open(lambda row: duration(self._idle_ns(row))),
                about="Time since the client last sent something, including waiting for messages.",
            ),
            number_column(
                "Requests/s",
                lambda row: row.requests_per_s,
                (96, 1),
                text=only_open(lambda row: per_second(row.requests_per_s)),
            ),
            number_column(
                "In (per s)",
                lambda row: row.bytes_in_per_s,
                (110, 1),
                text=only_open(lambda row: flow(row.messages_in_per_s, row.bytes_in_per_s)),
                about="Messages and bytes that the client sends per second.",
            ),
            number_column(
                "Out (per s)",
                lambda row: row.bytes_out_per_s,
                (110, 1),
                text=only_open(lambda row: flow(row.messages_out_per_s, row.bytes_out_per_s)),
                about="Messages and bytes that the client gets per second.",
            ),
            *_errors((80, 0, 2), (160, 4, 1)),
        )
        self.now_ns = 0
        super().__init__(columns, key=lambda row: row.id)

    def _idle_ns(self, row: ConnectionView) -> int:
        return max(0, self.now_ns - row.heard_ns)


class ApisModel(TableModel[ApiView]):
    def __init__(self) -> None:
        columns: tuple[Column[ApiView], ...] = (
            Column("API", lambda row: row.api, (110, 2)),
            number_column("Count", lambda row: row.requests, (60,)),
            number_column(
                "p50",
                lambda row: row.p50_ns,
                (70,),
                shown=latency,
                about="Median latency of the last 100 requests, including waiting for messages.",
            ),
            number_column(
                "p99",
                lambda row: row.p99_ns,
                (70,),
                shown=latency,
                about="99th percentile of the latency of the last 100 requests.",
            ),
            number_column("Bytes in", lambda row: row.request_bytes, (78, 0, 2), shown=byte_size),
            number_column("Bytes out", lambda row: row.reply_bytes, (78, 0, 2), shown=byte_size),
            *_errors((60, 0, 1), (90, 3, 3)),
        )
        super().__init__(columns, key=lambda row: row.api)


def _errors(of_count: Sizing, of_last: Sizing) -> tuple[Column[Any], Column[Any]]:
    warn = {Role.WARN: lambda row: "failure" if row.errors else ""}
    return (
        number_column("Errors", lambda row: row.errors, of_count, roles=warn),
        text_column("Last error", lambda row: row.last_error, of_last),
    )


class ConnectionsPresenter(PanelPresenter[ConnectionsPanel]):
    panel_class = ConnectionsPanel

    def __init__(self, sources: Sources) -> None:
        self.model = ConnectionsModel(sources.times)
        self.apis = ApisModel()
        super().__init__(sources, self.model, self.apis)
        self._ask_listeners: Callable[[], tuple[ListenerFacts, ...]] = tuple
        self._ask_connections: Callable[[], tuple[ConnectionView, ...]] = tuple
        self._ask_apis: Callable[[int], tuple[ApiView, ...]] = lambda _number: ()
        self._why_not: Callable[[], str] = str
        self.panel.currentChanged.connect(lambda _key: self._show_apis())

    def attach(
        self,
        listeners: Callable[[], tuple[ListenerFacts, ...]],
        connections: Callable[[], tuple[ConnectionView, ...]],
        apis: Callable[[int], tuple[ApiView, ...]],
        why_not: Callable[[], str],
    ) -> None:
        self._ask_listeners, self._ask_connections, self._why_not = listeners, connections, why_not
        self._ask_apis = apis
        self.panel.set_listeners(listeners())

    def show(self, snapshot: Snapshot) -> None:
        self.panel.forbid(self._why_not())
        self.panel.set_listeners(self._ask_listeners())
        self.model.now_ns = snapshot.time_ns
        self.model.set_rows(self._ask_connections())
        self._show_apis()

    def tab_count(self, _snapshot: Snapshot) -> int:
        return len(self._ask_connections())

    def _show_apis(self) -> None:
        number = self.panel.current_key()
        self.apis.set_rows(self._ask_apis(number) if isinstance(number, int) else ())
        self.panel.set_selected(number is not None)
