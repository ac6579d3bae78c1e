from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QWidget

from widgets.boxes import hbox, one_each, scrolled, vbox
from widgets.canvas.view import Party
from widgets.controls import plain_label, set_plain_tip
from widgets.drawing import draw_badge, draw_text
from widgets.i18n import tr
from widgets.icons import icon, icon_pixmap
from widgets.panels.panel import Panel, declared
from widgets.theme import Theme, current_theme, follow_theme, px, qcolour, state_style, tabular_font

MOVE_HEIGHT = 22
MOVES_SHOWN = 6
ROWS_MAX = 200


@dataclass(frozen=True, slots=True)
class Move:
    """One partition with its old and new owner. The same party twice is one that stayed."""

    place: str
    old: Party
    new: Party


@dataclass(frozen=True, slots=True)
class RebalanceFacts:
    """A rebalance as texts. `state` is a state word.

    `no_reader` is a sentence, growing until a reader is back; `gaps` has it for each partition.
    """

    key: tuple[str, int]
    group: str
    cause: str
    state: str
    generation: str
    started: str
    started_hint: str
    no_reader: str
    gaps: str
    running: bool
    moved: tuple[Move, ...]
    kept: tuple[Move, ...]
    from_outside: bool = False  # what is not known would be, between the programs and the cluster

    @property
    def figures(self) -> str:
        count, kept = len(self.moved), len(self.kept)
        if self.running:
            return tr("{count:,} revoked", count=count)
        if count and not kept and not any(move.old.name for move in self.moved):
            return tr("{count:,} assigned, without an owner before", count=count)
        return tr("{moved:,} moved · {kept:,} kept", moved=count, kept=kept)


MoveRow = Move | str  # a move, or words that stand between moves


class MoveTable(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[MoveRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_moves(self, rows: tuple[MoveRow, ...]) -> None:
        rows = rows[:ROWS_MAX]
        if rows != self._rows:
            self._rows = rows
            self.setAccessibleDescription("; ".join(_said(move) for move in self._moves[:20]))
            self.updateGeometry()
            self.update()

    @property
    def _moves(self) -> list[Move]:
        return [row for row in self._rows if isinstance(row, Move)]

    def _widths(self) -> tuple[float, float, float]:
        """The widths of the widest place, old owner and new owner."""
        metrics, moves = QFontMetricsF(tabular_font(12)), self._moves
        places = (metrics.horizontalAdvance(move.place) + 10 for move in moves)
        moved = [move for move in moves if move.old != move.new]
        old, new = ([_party_width(getattr(move, side), metrics) for move in moved] for side in ("old", "new"))
        return max(places, default=10.0), max(old, default=0.0), max(new, default=0.0)

    def sizeHint(self) -> QSize:
        return QSize(ceil(sum(self._widths())) + 22, px(MOVE_HEIGHT) * len(self._rows))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = current_theme()
        first = max(0, event.rect().top() // px(MOVE_HEIGHT))
        last = min(len(self._rows), event.rect().bottom() // px(MOVE_HEIGHT) + 1)
        place_width, old_w, new_w = self._widths()
        place_width = min(place_width, self.width() * 0.4)
        room = self.width() - place_width - 22
        if old_w + new_w > room:  # each what it needs, and the longer one what is left, or half
            old_w = min(old_w, max(room / 2, room - new_w))
        for row in range(first, last):
            move, top = self._rows[row], row * px(MOVE_HEIGHT)
            if isinstance(move, str):
                _elided(painter, QRectF(0, top, self.width(), px(MOVE_HEIGHT)), move, theme.muted)
                continue
            _elided(painter, QRectF(0, top, place_width - 4, px(MOVE_HEIGHT)), move.place, theme.muted)
            x = place_width
            if move.old == move.new:
                _draw_party(painter, QRectF(x, top, self.width() - x, px(MOVE_HEIGHT)), move.new, theme)
                continue
            _draw_party(painter, QRectF(x, top, old_w, px(MOVE_HEIGHT)), move.old, theme)
            _arrow(painter, x + old_w + 4, top + px(MOVE_HEIGHT) / 2, theme)
            where = QRectF(x + old_w + 22, top, room - old_w, px(MOVE_HEIGHT))
            _draw_party(painter, where, move.new, theme)
        painter.end()


def _said(move: Move) -> str:
    old, new = move.old.name or tr("nobody"), move.new.name or tr("nobody")
    return (
        tr("{place} stays with {new}", place=move.place, new=new)
        if move.old == move.new
        else tr("{place} from {old} to {new}", place=move.place, old=old, new=new)
    )


def _elided(painter: QPainter, where: QRectF, text: str, colour: str) -> None:
    draw_text(painter, where, text, tabular_font(12), colour, elide=Qt.TextElideMode.ElideMiddle)


def _badge_width(party: Party) -> float:
    return 16.0 if len(party.letter) < 2 else 22.0


def _party_width(party: Party, metrics: QFontMetricsF) -> float:
    badge = _badge_width(party) + 5 if party.name else 0.0
    return badge + metrics.horizontalAdvance(party.name or tr("nobody")) + 2


def _draw_party(painter: QPainter, where: QRectF, party: Party, theme: Theme) -> None:
    if not party.name:
        _elided(painter, where, tr("nobody"), theme.muted)
        return
    width = _badge_width(party)
    draw_badge(painter, QRectF(where.x(), where.center().y() - 8, width, 16), party.hue, party.letter, theme)
    _elided(painter, where.adjusted(width + 5, 0, 0, 0), party.name, theme.text)


def _arrow(painter: QPainter, x: float, y: float, theme: Theme) -> None:
    painter.setPen(qcolour(theme.muted))
    painter.drawLine(int(x), int(y), int(x + 10), int(y))
    painter.drawLine(int(x + 7), int(y - 3), int(x + 10), int(y))
    painter.drawLine(int(x + 7), int(y + 3), int(x + 10), int(y))


class RebalanceCard(QFrame):
    """One rebalance. `chosen(key)` on a click, `opened(key)` on a double click or Enter.

    The arrow shows all rows, those that stayed included.
    """

    chosen = Signal(object)
    opened = Signal(object)
    between_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.facts: RebalanceFacts | None = None
        self._icon = QLabel(self)
        self._group = plain_label("", "heading", self)
        self._generation = plain_label("", "muted", self)
        self._cause = plain_label("", "", self, wrap=True)
        self._figures = plain_label("", "muted", self, wrap=True)
        self._no_reader = plain_label("", "", self, wrap=True)
        self._started = plain_label("", "muted", self)
        for label in (self._figures, self._no_reader, self._started):
            label.setFont(tabular_font(12))
        self._moved = MoveTable(self)
        self._kept = MoveTable(self)
        self._stays = plain_label(tr("Stays"), "section", self)
        self.more = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.setCheckable(True)
        self.more.setIconSize(QSize(px(14), px(14)))
        self.more.setStyleSheet("QToolButton, QToolButton:checked { padding: 2px 6px 2px 0; background: transparent; }")
        self.between = QToolButton(self)
        self.between.setText(tr("Go between..."))
        self.between.hide()
        set_plain_tip(self.between, tr("Programs that are passed on tell for how long nobody read, and why."))
        self.between.clicked.connect(self.between_wanted)
        self.more.toggled.connect(lambda _on: self._show_rows())
        head = hbox(self._icon, self._group, 1, self._generation, spacing=6)
        second = hbox((self._cause, 1), (self._started, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        between = self.between, 0, Qt.AlignmentFlag.AlignLeft
        rows = (self._figures, self._no_reader, between, self._moved, self._stays, self._kept)
        more = self.more, 0, Qt.AlignmentFlag.AlignLeft
        vbox(head, second, *rows, more, on=self, margins=(12, 8, 12, 8), spacing=4)
        for label in (self._group, self._cause):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setMinimumWidth(40)
        head.setStretchFactor(self._group, 8)
        follow_theme(self._restyle)

    def set_facts(self, facts: RebalanceFacts) -> None:
        if facts == self.facts:
            return
        self.facts = facts
        self._group.setText(facts.group)
        self._generation.setText(tr("Generation {generation}", generation=facts.generation))
        self._cause.setText(facts.cause)
        self.setAccessibleName(
            tr(
                "{group}, generation {generation}: {cause}",
                group=facts.group,
                generation=facts.generation,
                cause=facts.cause,
            )
        )
        self._figures.setText(facts.figures)
        self._no_reader.setText(facts.no_reader)
        set_plain_tip(self._no_reader, facts.gaps)
        self.between.setVisible(facts.from_outside)
        self._started.setText(facts.started)
        set_plain_tip(self._started, facts.started_hint)
        self._restyle()

    def _restyle(self) -> None:
        if self.facts is None:
            return
        style, theme = state_style(self.facts.state), current_theme()
        self._icon.setPixmap(icon_pixmap(style.icon, theme.colour(style.token), px(16), self.devicePixelRatioF()))
        self._icon.setToolTip(style.word)
        self._show_rows()

    def _show_rows(self) -> None:
        facts = self.facts
        if facts is None:
            return
        opened = self.more.isChecked()
        self._moved.set_moves(facts.moved if opened else facts.moved[:MOVES_SHOWN])
        self._moved.setVisible(bool(facts.moved))
        self._kept.set_moves(facts.kept if opened else ())
        self._kept.setVisible(opened and bool(facts.kept))
        self._stays.setVisible(opened and bool(facts.kept))
        more_moved = max(0, len(facts.moved) - MOVES_SHOWN)
        hidden = len(facts.kept) + more_moved
        self.more.setVisible(hidden > 0)
        self.more.setIcon(icon("chevron-down" if opened else "chevron-right", current_theme(), "muted"))
        if opened:
            words = tr("Show less")
        elif more_moved:
            words = tr("Show {count:,} more", count=hidden)
        else:
            stayed = tr("Show the {count:,} that stayed", count=hidden)
            words = tr("Show the one that stayed") if hidden == 1 else stayed
        self.more.setText(words)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.facts is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.facts.key)
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.facts is not None and event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(self.facts.key)
        super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.facts is not None and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.opened.emit(self.facts.key)
        else:
            super().keyPressEvent(event)


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
        self.cards: list[RebalanceCard] = []
        inner = QWidget(self)
        self._column = vbox(1, on=inner, margins=(8, 0, 8, 8), spacing=8)
        self._area = scrolled(inner, self)
        self.stack.addWidget(self._area)
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
        for card, one in one_each(shown, self.cards, self._add):
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
            self.cards.insert(0, self._add(0))

    def _add(self, place: int) -> RebalanceCard:
        card = RebalanceCard(self)
        card.chosen.connect(self.chosen)
        card.opened.connect(self.opened)
        card.between_wanted.connect(self.between_wanted)
        self._column.insertWidget(place, card)
        return card
