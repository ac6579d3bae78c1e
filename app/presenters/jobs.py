"""The panel Jobs, which follows no snapshot: its jobs say when they change."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.presenters.panel_presenter import PanelPresenter, Sources
from widgets.panels.jobs import JobsPanel


class JobsPresenter(PanelPresenter):
    panel_class = JobsPanel

    def __init__(self, sources: Sources, parent: QObject | None = None) -> None:
        self.panel: JobsPanel = JobsPanel()
        super().__init__(self.panel, parent)
