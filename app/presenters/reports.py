"""Reports as a table, and the findings of one."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from PySide6.QtCore import QObject

from app.filters.help import help_rows
from app.presenters.columns import Column
from app.presenters.panel_presenter import PanelPresenter
from app.presenters.table import TableModel
from app.reports.recent import Report
from broker_core.snapshots import Snapshot
from widgets.i18n import tr
from widgets.panels.report import FindingFacts, ReportPanel


class ReportsModel(TableModel[Report]):
    """One row a report, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        columns = (
            Column[Report](tr("Of"), lambda row: row.title),
            Column[Report](tr("Made"), lambda row: row.made),
            Column[Report](tr("Folder"), lambda row: str(row.folder), hint=lambda row: str(row.folder)),
        )
        super().__init__(columns, key=lambda row: str(row.folder), parent=parent)


class ReportsPresenter(PanelPresenter):
    """Fills the panel from `all_reports()`."""

    def __init__(self, tab: str, panel: ReportPanel, model: ReportsModel, parent: QObject | None = None) -> None:
        super().__init__(tab, panel, parent)
        self._reports, self._model = panel, model
        self._all: Callable[[], tuple[Report, ...]] = tuple
        self._why_not: Callable[[], str] = str
        panel.currentChanged.connect(self._show_findings)
        panel.filterChanged.connect(model.set_filter)
        model.filter_judged.connect(panel.set_filter_problem)
        panel.set_filter_help(help_rows(model.fields))
        model.counted.connect(lambda _shown, total: panel.set_total(total))

    def follow(self, all_reports: Callable[[], tuple[Report, ...]], why_not: Callable[[], str]) -> None:
        """Where reports are asked for; `why_not` says why none can be made now."""
        self._all, self._why_not = all_reports, why_not

    def show(self, snapshot: Snapshot) -> None:
        """The reports that there are, which have nothing to do with the moment that is shown."""
        self._model.set_rows(self._all())
        self._reports.forbid_export(self._why_not())
        self._show_findings(self._reports.current_key())

    def _show_findings(self, key: Hashable) -> None:
        report = next((row for row in self._model.rows if str(row.folder) == key), None)
        if report is None or report.findings is None:
            self._reports.set_findings(None, chosen=report is not None)
        else:
            self._reports.set_findings(
                [FindingFacts(one.level, one.headline, one.detail, one.advice) for one in report.findings]
            )
