from __future__ import annotations

from collections.abc import Callable, Hashable

from app.presenters.columns import Column, text_column
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from app.reports.recent import Report
from broker_core.snapshots import Snapshot
from widgets.panels.jobs import JobsPanel
from widgets.panels.report import ReportPanel


class JobsPresenter(PanelPresenter[JobsPanel]):
    panel_class = JobsPanel


class ReportsModel(TableModel[Report]):
    def __init__(self) -> None:
        columns: tuple[Column[Report], ...] = (
            Column("Of", lambda row: row.title, (180, 3)),
            Column("Created", lambda row: row.made, (130,)),
            text_column("Folder", lambda row: str(row.folder), (160, 4, 1)),
        )
        super().__init__(columns, key=lambda row: str(row.folder))


class ReportsPresenter(PanelPresenter[ReportPanel]):
    panel_class = ReportPanel

    def __init__(self, sources: Sources) -> None:
        self.model = ReportsModel()
        super().__init__(sources, self.model)
        self.reports: Callable[[], tuple[Report, ...]] = tuple
        self.panel.currentChanged.connect(self._show_findings)

    def show(self, snapshot: Snapshot) -> None:
        self.model.set_rows(self.reports())
        self._show_findings(self.panel.current_key())

    def _show_findings(self, key: Hashable) -> None:
        report = self.model.row_of(key)
        if report is None or report.findings is None:
            self.panel.set_findings(None, chosen=report is not None)
        else:
            self.panel.set_findings(report.findings)
