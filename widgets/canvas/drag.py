"""Dragging a consumer with plain mouse events. QDrag would block in its own loop.

| state | event | becomes | does |
|---|---|---|---|
| idle | press on a consumer | pressed | remembers the card |
| pressed | moved further than `START_PIXELS` | carried | lifts a proxy, lights the targets |
| pressed | released | idle | nothing: it was a click |
| carried | moved | carried | asks for a ghost when the target changes |
| carried | released on a target | idle | announces the drop |
| carried | released elsewhere, Escape, right button, window left, card gone | idle | puts everything back |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from widgets.boxes import vbox
from widgets.canvas.box_item import Highlight
from widgets.canvas.card_item import CardItem
from widgets.canvas.overlay_items import SpotItem
from widgets.canvas.stage import Stage
from widgets.canvas.view import BENCH_ID, NEW_GROUP, CanvasView, ConsumerCard, Ghost, GhostMove
from widgets.cards import MOVE_HEIGHT, Move, MoveRow, MoveTable
from widgets.controls import plain_label
from widgets.i18n import tr
from widgets.theme import px

GHOST_WIDTH, GHOST_MOST, SHOWN_ROWS = 344, 520, 12
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
        least = px(GHOST_WIDTH) if self.ghost.moves or self.ghost.note else min(px(GHOST_WIDTH), title + around)
        wide = min(max(least, self.moves.sizeHint().width() + around), px(GHOST_MOST), self._area.width() - 2 * MARGIN)
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


START_PIXELS = 6


class TopicDrag(QObject):
    dropped = Signal(str, str)
    """topic, the group that is to read it."""

    def __init__(self, stage: Stage, viewport: QWidget) -> None:
        super().__init__(stage)
        self._stage = stage
        self.panel = GhostPanel(viewport)
        self._topic = self._group = ""
        self.is_carrying = False
        self._reads: frozenset[str] = frozenset()
        self._pressed_at = QPoint()

    @property
    def is_pressed(self) -> bool:
        return bool(self._topic)

    @property
    def target(self) -> str | None:
        """The group under the pointer that a drop would subscribe."""
        return None if self._group in self._reads else self._group or None

    def press(self, item_id: str, at: QPoint, view: CanvasView) -> bool:
        """The button went down on an id; False if that is neither a topic nor a lane of one."""
        kind, _, name = item_id.partition(":")
        if kind == "lane":
            name = name.rpartition("/")[0]
        if kind not in {"topic", "lane"}:
            return False
        self._topic, self._pressed_at, self.is_carrying = name, at, False
        self._reads = frozenset(
            link.target.removeprefix("group:") for link in view.links if link.source == f"topic:{name}"
        )
        return True

    def move(self, at: QPoint, scene_at: QPointF) -> None:
        if not self.is_carrying and (at - self._pressed_at).manhattanLength() <= START_PIXELS:
            return
        self.is_carrying = True
        self._group = self._group_at(scene_at)
        self._stage.set_highlights(f"group:{self.target}" if self.target else None, True)
        self.panel.show_ghost(Ghost(self._title()), at, self._stage.targets_in_view)

    def _title(self) -> str:
        if not self._group:
            return tr("Drop {topic} on a group to subscribe it", topic=self._topic)
        if not self.target:
            return tr("{group} already reads {topic}", group=self._group, topic=self._topic)
        return tr("Subscribe {group} to {topic}", group=self._group, topic=self._topic)

    def _group_at(self, scene_at: QPointF) -> str:
        for item_id, where in self._stage.layout.rects.items():
            if item_id.startswith("group:") and where.holds(scene_at.x(), scene_at.y()):
                return item_id.removeprefix("group:")
        return ""

    def release(self) -> bool:
        topic, group, carried = self._topic, self.target, self.is_carrying
        self.cancel()
        if carried and group:
            self.dropped.emit(topic, group)
        return carried

    def cancel(self) -> None:
        if self.is_carrying:
            self._stage.set_highlights(None, False)
        self._topic = self._group = ""
        self.is_carrying = False
        self.panel.hide()


PROXY_OPACITY, LIFTED_OPACITY = 0.9, 0.35


class Drag(QObject):
    """One pointer, at most one consumer in the air. Targets are group names, "" (bench) or `NEW_GROUP`."""

    ghost_requested = Signal(str, str)
    dropped = Signal(str, str)

    def __init__(self, stage: Stage, viewport: QWidget) -> None:
        super().__init__(stage)
        self._stage = stage
        self._viewport = viewport
        self.panel = GhostPanel(viewport)
        self._spot = SpotItem(stage.look)
        stage.addItem(self._spot)
        self._proxy: CardItem | None = None
        self._card: ConsumerCard | None = None
        self._pressed_at = QPoint()
        self._grip = QPointF()
        #: What the pointer is over: a group's name, "", `NEW_GROUP`, or None if nothing takes a drop.
        self.target: str | None = None
        self._pointer = QPoint()

    @property
    def is_pressed(self) -> bool:
        return self._card is not None

    @property
    def is_carrying(self) -> bool:
        return self._proxy is not None

    def press(self, card: ConsumerCard, at: QPoint, scene_at: QPointF) -> None:
        self._card, self._pressed_at = card, at
        self._grip = scene_at - self._stage.boxes[card.id].pos()

    def move(self, at: QPoint, scene_at: QPointF) -> None:
        if self._card is None:
            return
        if self._proxy is None:
            if (at - self._pressed_at).manhattanLength() <= START_PIXELS:
                return
            self._lift(self._card)
        self._carry(at, scene_at)

    def refuse(self, at: QPoint, ghost: Ghost) -> None:
        """Show near the pointer why the thing under it cannot be dragged, until `release` or `cancel`."""
        self.panel.show_ghost(ghost, at)

    def _lift(self, card: ConsumerCard) -> None:
        where = self._stage.layout.rects[card.id]
        proxy = CardItem(card.id, card, self._stage.look)
        proxy.set_small(card.id in self._stage.layout.small)
        proxy.place(where)
        proxy.setZValue(20)
        proxy.setOpacity(PROXY_OPACITY)
        proxy.set_highlight(Highlight.TARGET)
        self._stage.addItem(proxy)
        self._proxy = proxy
        self._stage.boxes[card.id].setOpacity(LIFTED_OPACITY)
        self._stage.set_highlights(None, True)

    def _carry(self, at: QPoint, scene_at: QPointF) -> None:
        assert self._proxy is not None and self._card is not None
        self._pointer = at
        self._proxy.setPos(scene_at - self._grip)
        target = self._target_at(at, scene_at)
        on_empty = target == NEW_GROUP
        if on_empty:
            self._spot.setPos(scene_at - self._grip - QPointF(12, 44))
        if target != self.target or not self.panel.isVisible():
            self.target = target
            self._spot.setVisible(on_empty)
            self._show_target()
            self._stage.set_ghost(None)
            self.panel.show_ghost(Ghost(self._title(target)), at, self._stage.targets_in_view)
            if target is not None and not self._is_home(target):
                self.ghost_requested.emit(self._card.name, target)
        else:
            self.panel.place_near(at)

    def _is_home(self, target: str) -> bool:
        return self._card is not None and target == self._stage.home_of(self._card.id)

    def _title(self, target: str | None) -> str:
        assert self._card is not None
        name = self._card.name
        if target is None:
            return tr("Not here: drop on a group, the bench or empty ground")
        if self._is_home(target):
            return tr("Drop here to leave it where it is")
        if target == NEW_GROUP:
            return tr("New group with {name}", name=name)
        return (
            tr("Move {name} into {target}", name=name, target=target)
            if target
            else tr("Move {name} to the bench", name=name)
        )

    def _target_at(self, at: QPoint, scene_at: QPointF) -> str | None:
        if not self._viewport.rect().contains(at):
            return None
        x, y = scene_at.x(), scene_at.y()
        for item_id, where in self._stage.layout.rects.items():
            if item_id not in self._stage.layout.container and where.holds(x, y):
                if item_id == BENCH_ID:
                    return ""
                return item_id.removeprefix("group:") if item_id.startswith("group:") else None
        return NEW_GROUP

    def show_ghost(self, ghost: Ghost, *, refused: bool = False) -> None:
        """The answer to `ghost_requested`; ignored when nothing is carried any more. `refused` hides the new group."""
        if self._proxy is None:
            return
        self._spot.setVisible(self.target == NEW_GROUP and not refused)
        self._stage.set_ghost(ghost)
        self.panel.show_ghost(ghost, self._pointer, self._stage.targets_in_view)

    def release(self) -> bool:
        card, target, carried = self._card, self.target, self.is_carrying
        at_home = target is not None and self._is_home(target)
        self.cancel()
        if not carried or card is None:
            return False
        if target is not None and not at_home:
            self.dropped.emit(card.name, target)
        return True

    def check(self) -> None:
        """Cancel the drag if its consumer is gone after the view has changed."""
        if self._card is None:
            return
        card = self._stage.consumer(self._card.id)
        if card is None:
            self.cancel()
            return
        self._card = card
        if self._proxy is not None:
            self._proxy.set_facts(card)
            self._proxy.set_small(card.id in self._stage.layout.small)
            self._stage.boxes[card.id].setOpacity(LIFTED_OPACITY)
            self._show_target()

    def _show_target(self) -> None:
        self._stage.set_highlights(BENCH_ID if self.target == "" else f"group:{self.target}", True)

    def cancel(self) -> None:
        """Put everything back."""
        if self._proxy is not None:
            self._stage.removeItem(self._proxy)
            self._stage.set_highlights(None, False)
            self._stage.set_ghost(None)
        if self._card is not None and self._card.id in self._stage.boxes:
            self._stage.boxes[self._card.id].setOpacity(1.0)
        self._proxy = self._card = self.target = None
        self._spot.hide()
        self.panel.hide()
