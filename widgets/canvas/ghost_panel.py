from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.canvas.box_item import HINTS, Look, draw_badge, draw_icon, pen
from widgets.canvas.lettering import lines_of, width_of, write, write_centred
from widgets.canvas.view import NEW_GROUP, Ghost, GhostMove
from widgets.i18n import tr
from widgets.theme import qcolour

WIDTH, MOST_WIDE, ROW_H, SHOWN_ROWS = 344, 520, 22, 12
BADGE_W, ARROW_W = 25, 24
TITLE_H, TITLE_LINE_H, NOTE_H = 30, 18, 20
MARGIN = 4
# Across and down, it is tried at so many places.
PLACES = 9
# What is carried lies around the pointer, and the panel beside it.
CARRIED = QRect(-120, -40, 240, 80)
COVERED_COST = 10  # a square pixel of a target that is covered is as bad as so many pixels further from the pointer

Row = GhostMove | str


class GhostPanel(QWidget):
    """Under the name of each group rows of "commits/3: A -> B"; what stays, and a note. It takes no mouse events."""

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        self._area = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.look = look
        self.ghost = Ghost("")
        self._targets: Sequence[QRect] = ()
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(self._wide(), self._head_h() + len(self.rows()) * ROW_H + len(self.note_lines()) * NOTE_H + 8)

    def _wide(self) -> int:
        names, owners = self._columns()
        title = 28 + ceil(width_of(self.ghost.title, "name"))
        least = WIDTH if self.ghost.moves or self.ghost.note else min(WIDTH, title)
        wanted = max(least, 24 + names + 2 * (BADGE_W + owners) + ARROW_W)
        return min(wanted, MOST_WIDE, self._area.width() - 2 * MARGIN)

    def _columns(self) -> tuple[int, int]:
        moves = self.ghost.moves
        names = max((width_of(_place(move), "small") for move in moves), default=0)
        owners = (owner.name or tr("nobody") for move in moves for owner in (move.before, move.after))
        return ceil(names) + 10, ceil(max((width_of(owner, "small") for owner in owners), default=0)) + 4

    def _head_h(self) -> int:
        return TITLE_H + TITLE_LINE_H * (len(self.title_lines()) - 1)

    def rows(self) -> list[Row]:
        """Names of groups, their moves, and how many more there are: as many as there is room for."""
        groups: dict[str, list[GhostMove]] = {}
        for move in self.ghost.moves:
            groups.setdefault(move.group, []).append(move)
        rest_h = self._head_h() + len(self.note_lines()) * NOTE_H + 8
        room = min(SHOWN_ROWS, (self._area.height() - 2 * MARGIN - rest_h) // ROW_H)
        share = len(self.ghost.moves)
        if groups and share + len(groups) > room:
            share = max(1, room // len(groups) - 2)
        rows: list[Row] = []
        for group, moves in groups.items():
            rows += [tr("New group") if group == NEW_GROUP else tr("In {group}", group=group), *moves[:share]]
            if len(moves) > share:
                rows.append(tr("and {count} more", count=len(moves) - share))
        return rows[: max(0, room)]

    def show_ghost(self, ghost: Ghost, pointer: QPoint, targets: Callable[[], Sequence[QRect]] = tuple) -> None:
        """Show what a drop would do, near the pointer and clear of `targets` (viewport coordinates)."""
        if ghost != self.ghost or not self.isVisible():
            self.ghost = ghost
            self._targets = targets()
            self.setAccessibleName(ghost.title)
            self.resize(self.sizeHint())
            self.update()
            self._settle(pointer)
        self.place_near(pointer)
        self.show()
        self.raise_()

    def place_near(self, pointer: QPoint) -> None:
        """Stay, as long as what is carried does not come below."""
        if self.geometry().intersects(CARRIED.translated(pointer)):
            self._settle(pointer)

    def _settle(self, pointer: QPoint) -> None:
        """Go where the least of what can be dropped on is covered, and of such places to the nearest."""
        right = max(MARGIN, self._area.width() - MARGIN - self.width())
        bottom = max(MARGIN, self._area.height() - MARGIN - self.height())
        carried = CARRIED.translated(pointer)
        beside_y, above_x = pointer.y() - self.height() // 2, pointer.x() - self.width() // 2
        near = (
            (above_x, carried.bottom() + MARGIN),
            (above_x, carried.top() - MARGIN - self.height()),
            (carried.right() + MARGIN, beside_y),
            (carried.left() - MARGIN - self.width(), beside_y),
        )
        steps = range(PLACES)
        spread = ((right * x // (PLACES - 1), bottom * y // (PLACES - 1)) for x in steps for y in steps)
        places = [QPoint(min(max(MARGIN, x), right), min(max(MARGIN, y), bottom)) for x, y in (*near, *spread)]

        def cost(place: QPoint) -> float:
            here = QRect(place, self.size())
            covered = sum(_area(here & target) for target in self._targets)
            away = (here.center() - pointer).manhattanLength()
            return COVERED_COST * (covered + 4 * _area(here & carried)) + away

        self.move(min(places, key=cost))

    def title_lines(self) -> tuple[str, ...]:
        return lines_of(self.ghost.title, "name", self._wide() - 24)

    def note_lines(self) -> tuple[str, ...]:
        moved, kept = len(self.ghost.moves), self.ghost.kept
        counts = (tr("{moved} moved, {kept} kept", moved=moved, kept=kept),) if moved or kept else ()
        return (*counts, *lines_of(self.ghost.note, "small", self._wide() - 24))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self.look.theme
        painter = QPainter(self)
        painter.setRenderHints(HINTS)
        painter.setPen(pen(theme.accent, 1.5))
        painter.setBrush(qcolour(theme.raised))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        room = self.width() - 24
        for at, line in enumerate(self.title_lines()):
            write(painter, 12, 21 + at * TITLE_LINE_H, line, "name", theme.text, room)
        y = self._head_h()
        for row in self.rows():
            if isinstance(row, str):
                write(painter, 12, y + 15, row, "small", theme.muted, room)
            else:
                self._draw_move(painter, y, row)
            y += ROW_H
        for line in self.note_lines():
            write(painter, 12, y + 14, line, "small", theme.muted, room)
            y += NOTE_H
        painter.end()

    def _draw_move(self, painter: QPainter, y: float, move: GhostMove) -> None:
        theme = self.look.theme
        base = y + 15
        names, owners = self._columns()
        short = max(0, 24 + names + 2 * (BADGE_W + owners) + ARROW_W - self.width())
        names, owners = names - short // 3, owners - ceil(short / 3)
        write(painter, 12, base, _place(move), "small", theme.text, names - 6)
        before_x = 12 + names
        after_x = before_x + BADGE_W + owners + ARROW_W
        for x, owner in ((before_x, move.before), (after_x, move.after)):
            where = QRectF(x, y + 3, 20, 16)
            if owner.name:
                draw_badge(painter, where, theme.owner(owner.hue), owner.letter, True)
            else:
                painter.setPen(pen(theme.border_strong, 1, Qt.PenStyle.DashLine))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(where, 4, 4)
                write_centred(painter, where, "–", "small-letter", theme.muted)
            write(painter, x + BADGE_W, base, owner.name or tr("nobody"), "small", theme.muted, owners)
        draw_icon(painter, "move", theme.muted, after_x - ARROW_W + 4, y + 4, 14, self.look)


def _place(move: GhostMove) -> str:
    return f"{move.topic}/{move.partition}"


def _area(rect: QRect) -> int:
    return rect.width() * rect.height() if rect.isValid() else 0
