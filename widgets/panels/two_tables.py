from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, Qt, Signal

from widgets.controls import toggle_button
from widgets.i18n import localized
from widgets.panels.table_panel import TablePanel
from widgets.row_table import RowTable


class TwoTablesPanel(TablePanel):
    """A panel in which a button shows another table in place of the body.

    `secondShown(on)` when the second table comes or goes, with no filter in force.
    """

    secondShown = Signal(bool)

    def __init__(
        self, model: QAbstractItemModel, second: RowTable, words: str, tip: str, none: Sequence[str] = ()
    ) -> None:
        """`words` and `tip` are those of the button; `none` stands for a second table without rows, if not the words of
        the panel."""
        super().__init__(model)
        self.second, self._none_in_second = second, none
        self.stack.addWidget(second)
        self.second_button = toggle_button(words, self, tip)
        self.second_button.toggled.connect(self._on_second)
        self.title_row.insertWidget(self.title_row.count() - 1, self.second_button)  # before the filter
        self._count_rows_of(second.model())

    @property
    def shows_second(self) -> bool:
        return self.body_place == 2

    def _on_second(self, on: bool) -> None:
        self.body_place = 2 if on else 1
        self.clear_filter()
        self.set_empty_words()
        self.secondShown.emit(on)
        self._on_rows()

    def focus_body(self) -> None:
        if self.second.isVisible():
            self.second.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_body()

    def _on_rows(self, *what: object) -> None:
        if self.shows_second:
            shown = self.second.model().rowCount()
            self.set_count(localized(f"{shown:,}"))
            self.set_empty_words(*self._none_in_second)
            self.show_body(shown > 0)
        else:
            super()._on_rows(*what)
