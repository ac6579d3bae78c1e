from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from widgets.boxes import vbox
from widgets.cards import RebalanceCard, RebalanceFacts
from widgets.i18n import tr
from widgets.panels.panel import Panel, declared
from widgets.panels.soft_area import SoftArea

CARDS_MAX = 30


class RebalancesPanel(Panel):
    """Cards. `chosen(key)` on a click on one, `opened(key)` on a double click or Enter; `filled()` with the first."""

    info = declared("rebalances")

    chosen = Signal(object)
    opened = Signal(object)
    filled = Signal()
    between_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts: tuple[RebalanceFacts, ...] = ()
        self._cards: list[RebalanceCard] = []
        self._area = area = SoftArea(self)
        inner = QWidget(area)
        self._column = vbox(1, on=inner, margins=(8, 0, 8, 8), spacing=8)
        area.setWidget(inner)
        self.stack.addWidget(area)
        self.set_count("0")

    def set_rebalances(self, facts: Sequence[RebalanceFacts]) -> None:
        """Show rebalances, the newest first; cards past `CARDS_MAX` are left out, with a note."""
        facts, new = tuple(facts), 0
        if self._area.underMouse():  # cards stand still under the pointer: new ones wait
            known = {one.key for one in self._facts}
            new, facts = len(facts), tuple(one for one in facts if one.key in known)
            new -= len(facts)
        self.set_count(tr("{count:,}, {new:,} new", count=len(facts), new=new) if new else f"{len(facts):,}")
        if facts == self._facts:
            return
        if facts and self._facts and facts[0].key != self._facts[0].key:
            self._make_room_for(facts)
        first, self._facts = bool(facts) != bool(self._facts), facts
        shown = facts[:CARDS_MAX]
        while len(self._cards) < len(shown):
            self._insert(len(self._cards))
        while len(self._cards) > len(shown):
            self._cards.pop().deleteLater()
        for card, one in zip(self._cards, shown, strict=True):
            card.set_facts(one)
        more = len(facts) - len(shown)
        self.set_note(
            tr("The newest {most:,} of {count:,} are shown.", most=CARDS_MAX, count=len(facts)) if more > 0 else ""
        )
        self.show_body(bool(facts))
        if first:
            self.filled.emit()

    def _make_room_for(self, facts: tuple[RebalanceFacts, ...]) -> None:
        """New cards go on top, so that those below keep their state of being open."""
        known = {one.key for one in self._facts}
        fresh = sum(1 for one in facts[:CARDS_MAX] if one.key not in known)
        for _ in range(min(fresh, CARDS_MAX)):
            self._insert(0)

    def _insert(self, place: int) -> None:
        card = RebalanceCard(self)
        card.chosen.connect(self.chosen)
        card.opened.connect(self.opened)
        card.between_wanted.connect(self.between_wanted)
        self._cards.insert(place, card)
        self._column.insertWidget(place, card)

    def cards(self) -> list[RebalanceCard]:
        return list(self._cards)
