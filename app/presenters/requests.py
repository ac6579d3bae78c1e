from __future__ import annotations

from collections.abc import Callable, Sequence

from app.presenters.columns import Column, number_column, text_column, time_column
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from broker_core.listeners.connections import RequestView, quantile
from broker_core.messages import grouped
from broker_core.snapshots import Snapshot
from widgets.formats import Times, byte_size
from widgets.i18n import localized, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.roles import Role

_APIS_TOLD = 4


class RequestsModel(TableModel[RequestView]):
    def __init__(self, times: Times) -> None:
        columns: tuple[Column[RequestView], ...] = (
            time_column("Time", lambda row: row.time_ns, times, (84,)),
            Column("Client", lambda row: row.client or tr("not known yet"), (140, 3)),
            Column("API", lambda row: row.api, (150, 2)),
            number_column("Version", lambda row: row.version, (64, 0, 3)),
            number_column("Correlation id", lambda row: row.correlation_id, (100, 0, 4), shown=str),
            number_column("Request", lambda row: row.size_bytes, (80, 0, 2), shown=byte_size),
            number_column("Reply", lambda row: row.reply_bytes, (80, 0, 1), shown=byte_size),
            number_column(
                "Latency",
                lambda row: row.latency_ns,
                (84,),
                shown=latency,
                about="From the request to its reply, in wall time, including waiting for messages.",
            ),
            text_column(
                "Error", lambda row: row.error, (180, 4), roles={Role.WARN: lambda row: "failure" if row.error else ""}
            ),
        )
        super().__init__(columns, key=lambda row: row.number)


class RequestsPanel(TablePanel):
    info = declared("requests")


class RequestsPresenter(PanelPresenter[RequestsPanel]):
    panel_class = RequestsPanel

    def __init__(self, sources: Sources) -> None:
        self.model = RequestsModel(sources.times)
        super().__init__(sources, self.model)
        self._ask: Callable[[], tuple[RequestView, ...]] = tuple
        self._how: Callable[[], str] = str

    def attach(self, requests: Callable[[], tuple[RequestView, ...]], how: Callable[[], str]) -> None:
        """`how` programs come here, or why they do not; "" where a listener may be opened."""
        self._ask, self._how = requests, how

    def show(self, snapshot: Snapshot) -> None:
        requests, info, how = self._ask(), self.panel.info, self._how()
        self.panel.set_empty_words(tr(info.empty), how or tr(info.how))
        self.model.set_rows(requests[::-1])
        self.panel.set_note(by_api(requests))


def by_api(requests: Sequence[RequestView]) -> str:
    latencies = grouped((request.api, request.latency_ns) for request in requests)
    busiest = sorted(latencies.items(), key=lambda item: -len(item[1]))[:_APIS_TOLD]
    return "   ".join(
        tr(
            "{api}: {count:,}, p50 {p50}, p99 {p99}",
            api=api,
            count=len(found),
            p50=latency(quantile(found, 0.5)),
            p99=latency(quantile(found, 0.99)),
        )
        for api, found in busiest
    )


def latency(latency_ns: int) -> str:
    ms = latency_ns / 1_000_000
    return localized(f"{ms:.2f} ms" if ms < 10 else f"{ms:,.0f} ms")
