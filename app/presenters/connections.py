"""Connections of other programs, as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject

from app.presenters.columns import Column
from app.presenters.panel_presenter import PanelPresenter, Sources, connect_filter
from app.presenters.requests import latency
from app.presenters.table import TableModel
from broker_core.listeners.connections import ApiView
from broker_core.snapshots import ConnectionView, Snapshot
from resources.units import byte_size, per_second
from widgets.formats import Times, count, duration, session_time
from widgets.i18n import tr
from widgets.panels.connections import ConnectionsPanel, ListenerFacts
from widgets.roles import Role


class ConnectionsModel(TableModel[ConnectionView]):
    def __init__(self, times: Times, parent: QObject | None = None) -> None:
        def flow(messages_per_s: float, bytes_per_s: float) -> str:
            return f"{per_second(messages_per_s)}, {byte_size(bytes_per_s)}"

        def state(row: ConnectionView) -> str:
            if row.ended_ns is None:
                return tr("open")
            return tr("ended {time}", time=session_time(row.ended_ns))

        def only_open(text: Callable[[ConnectionView], str]) -> Callable[[ConnectionView], str]:
            return lambda row: text(row) if row.ended_ns is None else ""

        columns = (
            Column[ConnectionView](
                tr("Id"),
                lambda row: str(row.id),
                lambda row: row.id,
                numeric=True,
                roles={
                    Role.WHY_DISABLED: lambda row: (
                        "" if row.ended_ns is None else tr("The connection has ended already.")
                    ),
                },
            ),
            Column[ConnectionView](
                tr("State"),
                state,
                lambda row: -1 if row.ended_ns is None else row.ended_ns,
                about=tr("Connections that ended after an error, or were cut, stay listed for a while."),
            ),
            Column[ConnectionView](tr("Listener"), lambda row: row.listener),
            Column[ConnectionView](
                tr("Client"),
                lambda row: row.client or tr("not known yet"),
                hint=lambda row: tr("Principal {name}", name=row.principal) if row.principal else "",
            ),
            Column[ConnectionView](tr("Group"), lambda row: row.group),
            Column[ConnectionView](tr("Software"), lambda row: row.software, hint=lambda row: row.software),
            Column[ConnectionView](
                tr("Peer"),
                lambda row: row.peer,
                hint=lambda row: tr("Open since {time}", time=times.hint(row.opened_ns) or session_time(row.opened_ns)),
            ),
            Column[ConnectionView](
                tr("Idle"),
                only_open(lambda row: duration(self._idle_ns(row))),
                self._idle_ns,
                numeric=True,
                about=tr("Since the client last sent something. Waiting for messages counts."),
            ),
            Column[ConnectionView](
                tr("Requests/s"),
                only_open(lambda row: per_second(row.requests_per_s)),
                lambda row: row.requests_per_s,
                numeric=True,
            ),
            Column[ConnectionView](
                tr("In (per s)"),
                only_open(lambda row: flow(row.messages_in_per_s, row.bytes_in_per_s)),
                lambda row: row.bytes_in_per_s,
                numeric=True,
                about=tr("Messages and bytes that the client sends, a second."),
            ),
            Column[ConnectionView](
                tr("Out (per s)"),
                only_open(lambda row: flow(row.messages_out_per_s, row.bytes_out_per_s)),
                lambda row: row.bytes_out_per_s,
                numeric=True,
                about=tr("Messages and bytes that the client gets, a second."),
            ),
            *_errors(),
        )
        self._now_ns = 0
        super().__init__(columns, key=lambda row: row.id, parent=parent)

    def set_connections(self, rows: Sequence[ConnectionView], now_ns: int) -> None:
        self._now_ns = now_ns
        self.set_rows(rows)

    def _idle_ns(self, row: ConnectionView) -> int:
        return max(0, self._now_ns - row.heard_ns)


class ApisModel(TableModel[ApiView]):
    """One row an API of the selected connection, the busiest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        columns = (
            Column[ApiView](tr("API"), lambda row: row.api),
            Column[ApiView](tr("Count"), lambda row: count(row.requests), lambda row: row.requests, numeric=True),
            Column[ApiView](
                tr("p50"),
                lambda row: latency(row.p50_ns),
                lambda row: row.p50_ns,
                numeric=True,
                about=tr("Median latency of the last 100 requests; waiting for messages counts."),
            ),
            Column[ApiView](
                tr("p99"),
                lambda row: latency(row.p99_ns),
                lambda row: row.p99_ns,
                numeric=True,
                about=tr("99th percentile of the latency of the last 100 requests."),
            ),
            Column[ApiView](
                tr("Bytes in"), lambda row: byte_size(row.request_bytes), lambda row: row.request_bytes, numeric=True
            ),
            Column[ApiView](
                tr("Bytes out"), lambda row: byte_size(row.reply_bytes), lambda row: row.reply_bytes, numeric=True
            ),
            *_errors(),
        )
        super().__init__(columns, key=lambda row: row.api, parent=parent)


def _errors() -> tuple[Column[Any], Column[Any]]:
    """Of a connection, or of an API."""
    return (
        Column(
            tr("Errors"),
            lambda row: count(row.errors),
            lambda row: row.errors,
            numeric=True,
            roles={Role.WARN: lambda row: "failure" if row.errors else ""},
        ),
        Column(tr("Last error"), lambda row: row.last_error, hint=lambda row: row.last_error),
    )


class ConnectionsPresenter(PanelPresenter):
    panel_class = ConnectionsPanel

    def __init__(self, sources: Sources, parent: QObject | None = None) -> None:
        self.model = ConnectionsModel(sources.times)
        self.apis = ApisModel()
        self.panel: ConnectionsPanel = ConnectionsPanel(self.model, self.apis)
        super().__init__(self.panel, parent)
        self.model.setParent(self)
        self.apis.setParent(self)
        self._ask_listeners: Callable[[], tuple[ListenerFacts, ...]] = tuple
        self._ask_connections: Callable[[], tuple[ConnectionView, ...]] = tuple
        self._ask_apis: Callable[[int], tuple[ApiView, ...]] = lambda _number: ()
        self._why_not: Callable[[], str] = str
        connect_filter(self.panel, self.model)
        self.panel.currentChanged.connect(lambda _key: self._show_apis())

    def attach(
        self,
        listeners: Callable[[], tuple[ListenerFacts, ...]],
        connections: Callable[[], tuple[ConnectionView, ...]],
        apis: Callable[[int], tuple[ApiView, ...]],
        why_not: Callable[[], str],
    ) -> None:
        """Where the facts come from; `why_not` says why no listener can be opened now."""
        self._ask_listeners, self._ask_connections, self._why_not = listeners, connections, why_not
        self._ask_apis = apis
        self.panel.set_listeners(listeners())

    def show(self, snapshot: Snapshot) -> None:
        """Listeners and connections as they are now: they have no past."""
        self.panel.forbid(self._why_not())
        self.panel.set_listeners(self._ask_listeners())
        self.model.set_connections(self._ask_connections(), snapshot.time_ns)
        self._show_apis()

    def tab_count(self, _snapshot: Snapshot) -> int:
        return len(self._ask_connections())

    def _show_apis(self) -> None:
        number = self.panel.current_key()
        self.apis.set_rows(self._ask_apis(number) if isinstance(number, int) else ())
        self.panel.set_selected(number is not None)
