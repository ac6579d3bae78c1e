from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.facts import plain_label, set_why_not
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.panel import declared, side_by_side
from widgets.panels.table_panel import TablePanel
from widgets.theme import current_theme, px

_LEVELS = {
    "bad": ("failure", "crashed"),
    "warn": ("rebalancing", "warning"),
    "info": ("active", "info"),
    "good": ("stable", "stable"),
}


@dataclass(frozen=True, slots=True)
class FindingFacts:
    """One sentence of a report; `level` is bad, warn, info or good."""

    level: str
    headline: str
    detail: str
    advice: str = ""


class ReportPanel(TablePanel):
    """`openRequested(key)` to read a report, `folderRequested(key)` for its folder."""

    info = declared("report")

    openRequested = Signal(object)
    folderRequested = Signal(object)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self._shown: tuple[tuple[FindingFacts, ...] | None, bool] | None = None
        super().__init__(model, parent)
        self.open_button = QPushButton(tr("Open"), self)
        self.folder_button = QPushButton(tr("Show folder"), self)
        self.open_button.clicked.connect(lambda: self.openRequested.emit(self.current_key()))
        self.folder_button.clicked.connect(lambda: self.folderRequested.emit(self.current_key()))
        for button in (self.open_button, self.folder_button):
            self.title_row.insertWidget(self.title_row.count() - 1, button)
        self.opened.connect(self.openRequested)
        self.currentChanged.connect(lambda _key: self._show_buttons())
        self._show_buttons()

    def body(self) -> QWidget:
        self._inner = QWidget(self)
        self._column = vbox(1, on=self._inner, margins=(12, 6, 12, 12), spacing=8)
        self.set_findings(None)
        return side_by_side(self, self.table, scrolled(self._inner), stretch=(2, 3), widths=(520, 760))

    def _show_buttons(self) -> None:
        chosen = self.current_key() is not None
        for button in (self.open_button, self.folder_button):
            set_why_not(button, "" if chosen else tr("Select a report first."))

    def set_findings(self, findings: Sequence[FindingFacts] | None, *, chosen: bool = False) -> None:
        """Shows the findings of the chosen report; None if none is chosen, or if the `chosen` one has none."""
        wanted = None if findings is None else tuple(findings)
        if (wanted, chosen) == self._shown:
            return
        self._shown = (wanted, chosen)
        while self._column.count():
            item = self._column.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        sentence = ""
        if wanted is None and chosen:
            sentence = tr("This report was made without tables; open it to read it.")
        elif wanted is None:
            sentence = tr("Select a report to read its findings here.")
        elif not wanted:
            sentence = tr("Nothing in this report stands out.")
        if sentence:
            self._column.addWidget(plain_label(sentence, "hint", self._inner, fill=True))
        for finding in wanted or ():
            self._column.addWidget(self._card(finding))
        self._column.addStretch(1)

    def _card(self, finding: FindingFacts) -> QWidget:
        token, name = _LEVELS.get(finding.level, ("idle", "info"))
        card = QFrame(self._inner)
        sign = QLabel(card, pixmap=icon_pixmap(name, current_theme().colour(token), px(16), self.devicePixelRatioF()))
        sign.setAlignment(Qt.AlignmentFlag.AlignTop)
        advice = tr("What to do: {advice}", advice=finding.advice) if finding.advice else ""
        words = vbox(spacing=1)
        for text, role in ((finding.headline, "heading"), (finding.detail, "muted"), (advice, "")):
            if text:
                words.addWidget(plain_label(text, role, card, fill=True, selectable=True))
        hbox(sign, (words, 1), on=card, margins=(0, 0, 0, 0))
        return card
