from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from widgets.facts import set_plain_tip
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
        "How far each group has come.",
        "How far each group has come in each partition.\n\n"
        "- **Committed** is where the group continues after a restart, **position** is what its owner "
        "reads next.\n"
        "- **Consumer lag** = end offset - committed offset; before the first commit it counts from where the "
        'group began, and is "n/a" if that is not known.\n'
        "- **Drained in** is the time until nothing is left, at the pace of the last five seconds.\n"
        "- **Seek** moves a live position. **Reset offsets** changes committed ones; the changes are "
        "reviewed before they are applied.",
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
        self.reset_button = QPushButton(tr("Reset offsets..."), self)
        self.seek_button = QPushButton(tr("Seek..."), self)
        for button, wanted in ((self.reset_button, self.resetWanted), (self.seek_button, self.seekWanted)):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(wanted)
            self.title_row.addWidget(button)

    def forbid(self, no_reset: str, no_seek: str) -> None:
        for button, why in ((self.reset_button, no_reset), (self.seek_button, no_seek)):
            button.setEnabled(not why)
            set_plain_tip(button, why)
