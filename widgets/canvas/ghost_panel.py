"""The panel beside the pointer that says what a drop would do."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.canvas.box_item import HINTS, Look, draw_badge, draw_icon, pen
from widgets.canvas.lettering import lines_of, write, write_centred
from widgets.canvas.view import Ghost, GhostMove
from widgets.theme import qcolour
from widgets.words import tr

WIDTH, ROW_H, SHOWN_MOVES = 344, 22, 8
TITLE_H, TITLE_LINE_H, NOTE_H = 30, 18, 20
CLEARANCE = 40


class GhostPanel(QWidget):
    """Rows of "commits/3: A -> B", what stays, and a note. It takes no mouse events."""

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
        title_h = TITLE_H + TITLE_LINE_H * (len(self.title_lines()) - 1)
        return QSize(WIDTH, title_h + rows * ROW_H + len(self.note_lines()) * NOTE_H + 8)

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

    def title_lines(self) -> tuple[str, ...]:
        """The title, in as many lines as it needs."""
        return lines_of(self.ghost.title, "name", WIDTH - 24)

    def note_lines(self) -> tuple[str, ...]:
        """Counts and note, in as many lines as they need."""
        moved, kept = len(self.ghost.moves), self.ghost.kept
        counts = (tr("{moved} moved, {kept} kept", moved=moved, kept=kept),) if moved or kept else ()
        return (*counts, *lines_of(self.ghost.note, "small", WIDTH - 24))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows."""
        theme = self.look.theme
        painter = QPainter(self)
        painter.setRenderHints(HINTS)
        painter.setPen(pen(theme.accent, 1.5))
        painter.setBrush(qcolour(theme.raised))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        titles = self.title_lines()
        for at, line in enumerate(titles):
            write(painter, 12, 21 + at * TITLE_LINE_H, line, "name", theme.text, WIDTH - 24)
        y = TITLE_H + TITLE_LINE_H * (len(titles) - 1)
        for move in self.ghost.moves[:SHOWN_MOVES]:
            self._draw_move(painter, y, move)
            y += ROW_H
        if len(self.ghost.moves) > SHOWN_MOVES:
            more = tr("and {count} more", count=len(self.ghost.moves) - SHOWN_MOVES)
            write(painter, 12, y + 15, more, "small", theme.muted, WIDTH - 24)
            y += ROW_H
        for line in self.note_lines():
            write(painter, 12, y + 14, line, "small", theme.muted, WIDTH - 24)
            y += NOTE_H
        painter.end()

    def _draw_move(self, painter: QPainter, y: float, move: GhostMove) -> None:
        theme = self.look.theme
        base = y + 15
        name = f"{move.topic}/{move.partition}"
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
