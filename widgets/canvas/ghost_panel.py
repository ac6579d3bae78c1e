"""The panel beside the pointer that says what a drop would do."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.canvas.box_item import HINTS, Look, draw_badge, draw_icon, pen
from widgets.canvas.lettering import write, write_centred
from widgets.canvas.view import Ghost, GhostMove
from widgets.theme import qcolour

WIDTH, ROW_H, SHOWN_MOVES = 344, 22, 8
TITLE_H, NOTE_H = 30, 20
CLEARANCE = 40


class GhostPanel(QWidget):
    """Rows of "commits P3: A -> B", what stays, and a note. It takes no mouse events."""

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        self._area = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.look = look
        self.ghost = Ghost("")
        self.hide()

    def sizeHint(self) -> QSize:
        """As wide as always, as high as the rows need."""
        rows = min(len(self.ghost.moves), SHOWN_MOVES + 1)
        notes = bool(self._summary()) + bool(self.ghost.note)
        return QSize(WIDTH, TITLE_H + rows * ROW_H + notes * NOTE_H + 8)

    def show_ghost(self, ghost: Ghost, pointer: QPoint) -> None:
        """Show what a drop would do, near the pointer (viewport coordinates)."""
        if ghost != self.ghost:
            self.ghost = ghost
            self.setAccessibleName(ghost.title)
            self.resize(self.sizeHint())
            self.update()
        self.follow(pointer)
        self.show()
        self.raise_()

    def follow(self, pointer: QPoint) -> None:
        """Stay below the carried card, above it where there is no room, and inside the viewport."""
        area = self._area.rect()
        y = pointer.y() + CLEARANCE
        if y + self.height() > area.height() - 4:
            y = pointer.y() - 2 * CLEARANCE - self.height()
        x = min(pointer.x() - 40, area.width() - 4 - self.width())
        self.move(max(4, x), max(4, y))

    def _summary(self) -> str:
        moved, kept = len(self.ghost.moves), self.ghost.kept
        return f"{moved} moved, {kept} kept" if moved or kept else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows."""
        theme = self.look.theme
        painter = QPainter(self)
        painter.setRenderHints(HINTS)
        painter.setPen(pen(theme.accent, 1.5))
        painter.setBrush(qcolour(theme.raised))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        write(painter, 12, 21, self.ghost.title, "name", theme.text, WIDTH - 24)
        y = TITLE_H
        for move in self.ghost.moves[:SHOWN_MOVES]:
            self._draw_move(painter, y, move)
            y += ROW_H
        if len(self.ghost.moves) > SHOWN_MOVES:
            more = f"and {len(self.ghost.moves) - SHOWN_MOVES} more"
            write(painter, 12, y + 15, more, "small", theme.muted, WIDTH - 24)
            y += ROW_H
        for line in (self._summary(), self.ghost.note):
            if line:
                write(painter, 12, y + 14, line, "small", theme.muted, WIDTH - 24)
                y += NOTE_H
        painter.end()

    def _draw_move(self, painter: QPainter, y: float, move: GhostMove) -> None:
        theme = self.look.theme
        base = y + 15
        name = f"{move.topic} P{move.partition}"
        write(painter, 12, base, name, "small", theme.text, 104)
        for x, owner, hue, badge in (
            (120, move.before, move.before_hue, move.before_badge),
            (234, move.after, move.after_hue, move.after_badge),
        ):
            where = QRectF(x, y + 3, 20, 16)
            if owner:
                draw_badge(painter, where, theme.owner(hue), badge, True)
            else:
                painter.setPen(pen(theme.border_strong, 1, Qt.PenStyle.DashLine))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(where, 4, 4)
                write_centred(painter, where, "–", "small-letter", theme.muted)
            room = 64 if x == 120 else WIDTH - x - 34
            write(painter, x + 25, base, owner or "nobody", "small", theme.muted, room)
        draw_icon(painter, "move", theme.muted, 212, y + 4, 14, self.look)
