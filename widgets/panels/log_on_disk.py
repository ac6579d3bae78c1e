from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import QWidget

from widgets.boxes import scrolled, vbox
from widgets.facts import Fact, FactsGrid, plain_label
from widgets.i18n import tr
from widgets.panels.panel import PanelInfo, side_by_side
from widgets.panels.table_panel import TablePanel


class LogOnDiskPanel(TablePanel):
    """`currentChanged(key)` is answered with `set_facts`; `linkFollowed(target)` from those."""

    info = PanelInfo(
        "log_on_disk",
        "Log on disk",
        "layers",
        "Segments, sizes, corruption.",
        "The segment files of each partition: first offset, size and age. **Retention** deletes old "
        "segments; **compaction** keeps the latest value of each key. Corruption is shown here, never "
        "hidden.",
        "Ctrl+Shift+K",
        group="Data",
        needs="segments",
        empty="There is no log yet.",
        how="Each partition of a topic or queue keeps its messages in segments, listed here.",
        filter_hint="Filter: words, topic = orders, size > 1 MiB",
    )

    linkFollowed = Signal(str)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self.facts = FactsGrid()
        self._hint = plain_label(tr("Choose a segment to see how its partition is stored."), "hint", wrap=True)
        super().__init__(model, parent)
        self.facts.linkFollowed.connect(self.linkFollowed)
        self.summary = plain_label("", "muted", self)
        self.title_row.insertWidget(2, self.summary)

    def body(self) -> QWidget:
        inner = QWidget()
        vbox(self._hint, self.facts, 1, on=inner, margins=(8, 4, 8, 8))
        area = scrolled(inner)
        area.setMinimumWidth(220)
        self.table.setMinimumWidth(260)
        return side_by_side(self, self.table, area, stretch=(1, 0), widths=(900, 300), collapsible=True)

    def set_facts(self, facts: Sequence[Fact]) -> None:
        self._hint.setVisible(not facts)
        self.facts.set_facts(facts)

    def set_summary(self, size: str, *, in_memory: bool, damaged: int) -> None:
        where = tr("{size} in memory, nothing on disk", size=size) if in_memory else tr("{size} on disk", size=size)
        bad = "" if not damaged else "; " + tr("{count} partitions are corrupt", count=damaged)
        self.summary.setText(where + bad)
