from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import QWidget

from widgets.facts import push_button, set_why_not
from widgets.i18n import tr
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel


class OffsetsPanel(TablePanel):
    """Columns: group, topic, partition, owner, start, end, position, committed, lags, trend, when it is drained.

    `resetWanted()` and `seekWanted()` on the buttons.
    """

    info = PanelInfo(
        "offsets",
        "Offsets",
        "offsets",
        "How far each group has read.",
        "How far each group has read in each partition.\n\n"
        "- **Committed** is where the group continues after a restart; **position** is what its owner reads next.\n"
        "- **Consumer lag** = end offset - committed offset; before the first commit it counts from where the "
        'group began, and is "n/a" if that is not known.\n'
        "- **Drained in** is the time until the lag is gone, at the pace of the last five seconds.\n"
        "- **Seek** moves a live position. **Reset offsets** changes committed offsets; you review the changes before "
        "they are applied.",
        "Ctrl+2",
        group="Groups",
        empty="No group reads anything yet.",
        how="Offsets and lag appear here once a group has partitions. Drag a consumer into a group, or use "
        "Move to group... (Ctrl+M).",
        filter_hint="Filter by group, topic or owner",
    )

    resetWanted = Signal()
    seekWanted = Signal()

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.reset_button = push_button(tr("Reset offsets..."), self, pressed=self.resetWanted, by_tab=True)
        self.seek_button = push_button(tr("Seek..."), self, pressed=self.seekWanted, by_tab=True)
        for button in (self.reset_button, self.seek_button):
            self.title_row.addWidget(button)

    def forbid(self, no_reset: str, no_seek: str) -> None:
        set_why_not(self.reset_button, no_reset)
        set_why_not(self.seek_button, no_seek)
