from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.controls import plain_label
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.side_by_side import side_by_side
from widgets.theme import current_theme, follow_theme, px

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
    info = declared("report")

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self._shown: tuple[tuple[FindingFacts, ...] | None, bool] = None, False
        super().__init__(model, parent)

    def body(self) -> QWidget:
        self._area = scrolled(QWidget(self))
        follow_theme(self._show_findings)
        return side_by_side(self, self.table, self._area, stretch=(2, 3), widths=(520, 760))

    def set_findings(self, findings: Sequence[FindingFacts] | None, *, chosen: bool = False) -> None:
        """Shows the findings of the chosen report; None if none is chosen, or if the `chosen` one has none."""
        wanted = None if findings is None else tuple(findings)
        if (wanted, chosen) != self._shown:
            self._shown = wanted, chosen
            self._show_findings()

    def _show_findings(self) -> None:
        wanted, chosen = self._shown
        inner = QWidget()
        column = vbox(on=inner, margins=(12, 6, 12, 12), spacing=8)
        sentence = ""
        if wanted is None and chosen:
            sentence = tr("This report was made without tables; open it to read it.")
        elif wanted is None:
            sentence = tr("Select a report to read its findings here.")
        elif not wanted:
            sentence = tr("Nothing in this report stands out.")
        if sentence:
            column.addWidget(plain_label(sentence, "hint", inner, fill=True))
        for finding in wanted or ():
            column.addWidget(self._card(finding, inner))
        column.addStretch(1)
        self._area.setWidget(inner)  # which deletes the one before

    def _card(self, finding: FindingFacts, parent: QWidget) -> QWidget:
        token, name = _LEVELS.get(finding.level, ("idle", "info"))
        card = QFrame(parent)
        sign = QLabel(card, pixmap=icon_pixmap(name, current_theme().colour(token), px(16), self.devicePixelRatioF()))
        sign.setAlignment(Qt.AlignmentFlag.AlignTop)
        advice = tr("What to do: {advice}", advice=finding.advice) if finding.advice else ""
        words = vbox(spacing=1)
        for text, role in ((finding.headline, "heading"), (finding.detail, "muted"), (advice, "")):
            if text:
                words.addWidget(plain_label(text, role, card, fill=True, selectable=True))
        hbox(sign, (words, 1), on=card, margins=(0, 0, 0, 0))
        return card
