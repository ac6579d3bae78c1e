from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QFrame, QWidget

from widgets.boxes import vbox
from widgets.canvas.view import NEW_GROUP, Ghost, GhostMove
from widgets.cards import MOVE_HEIGHT, Move, MoveRow, MoveTable
from widgets.facts import plain_label
from widgets.i18n import tr
from widgets.theme import px

WIDTH, MOST_WIDE, SHOWN_ROWS = 344, 520, 12
MARGIN, PADDING = 4, (12, 8, 12, 8)
# Across and down, it is tried at so many places.
PLACES = 9
# What is carried lies around the pointer, and the panel beside it.
CARRIED = QRect(-120, -40, 240, 80)
COVERED_COST = 10  # a square pixel of a target that is covered is as bad as so many pixels further from the pointer


class GhostPanel(QFrame):
    """Under the name of each group its moves; how many move and stay, and a note. It takes no mouse events."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._area = parent
        self.setProperty("role", "ghost")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.ghost = Ghost("")
        self._targets: Sequence[QRect] = ()
        self.title = plain_label("", "heading", self, fill=True)
        self.moves = MoveTable(self)
        self.note = plain_label("", "muted", self, fill=True)
        self._column = vbox(self.title, self.moves, self.note, on=self, margins=PADDING, spacing=4)
        self.hide()

    def rows(self) -> list[MoveRow]:
        """Names of groups, their moves, and how many more there are: as many as there is room for."""
        groups: dict[str, list[GhostMove]] = {}
        for move in self.ghost.moves:
            groups.setdefault(move.group, []).append(move)
        rest = px(70) + 2 * MARGIN
        room = max(0, min(SHOWN_ROWS, (self._area.height() - rest) // px(MOVE_HEIGHT)))
        share = len(self.ghost.moves)
        if groups and share + len(groups) > room:
            share = max(1, room // len(groups) - 2)
        rows: list[MoveRow] = []
        for group, moves in groups.items():
            rows.append(tr("New group") if group == NEW_GROUP else tr("In {group}", group=group))
            rows += [Move(f"{move.topic}/{move.partition}", move.before, move.after) for move in moves[:share]]
            if len(moves) > share:
                rows.append(tr("and {count} more", count=len(moves) - share))
        return rows[:room]

    def show_ghost(self, ghost: Ghost, pointer: QPoint, targets: Callable[[], Sequence[QRect]] = tuple) -> None:
        """Show what a drop would do, near the pointer and clear of `targets` (viewport coordinates)."""
        if ghost != self.ghost or not self.isVisible():
            self.ghost = ghost
            self._targets = targets()
            self.setAccessibleName(ghost.title)
            moved, kept = len(ghost.moves), ghost.kept
            counts = tr("{moved} moved, {kept} kept", moved=moved, kept=kept) if moved or kept else ""
            self.title.setText(ghost.title)
            self.moves.set_moves(tuple(self.rows()))
            self.note.setText("\n".join(filter(None, (counts, ghost.note))))
            self.note.setVisible(bool(counts or ghost.note))
            self.show()
            self._fit()
            self._settle(pointer)
        self.place_near(pointer)
        self.raise_()

    def _fit(self) -> None:
        around = PADDING[0] + PADDING[2]
        title = self.title.fontMetrics().horizontalAdvance(self.ghost.title) + 4
        least = px(WIDTH) if self.ghost.moves or self.ghost.note else min(px(WIDTH), title + around)
        wide = min(max(least, self.moves.sizeHint().width() + around), px(MOST_WIDE), self._area.width() - 2 * MARGIN)
        self._column.invalidate()
        self.resize(wide, self._column.totalHeightForWidth(wide))

    def place_near(self, pointer: QPoint) -> None:
        """Stay, as long as what is carried does not come below."""
        if self.geometry().intersects(CARRIED.translated(pointer)):
            self._settle(pointer)

    def _settle(self, pointer: QPoint) -> None:
        """Go where it covers the fewest drop targets; of such places, to the nearest."""
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


def _area(rect: QRect) -> int:
    return rect.width() * rect.height() if rect.isValid() else 0
