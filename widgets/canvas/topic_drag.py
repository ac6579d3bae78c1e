"""A topic that is dragged onto a group subscribes it: plain mouse events, as for consumers. The topic stays there."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QPointF, Signal
from PySide6.QtWidgets import QWidget

from widgets.canvas.ghost_panel import GhostPanel
from widgets.canvas.stage import Stage
from widgets.canvas.view import CanvasView, Ghost
from widgets.i18n import tr


class TopicDrag(QObject):
    """At most one topic in the air. `dropped(topic, group)`."""

    dropped = Signal(str, str)

    def __init__(self, stage: Stage, viewport: QWidget, start_pixels: int) -> None:
        super().__init__(stage)
        self._stage = stage
        self._start_pixels = start_pixels
        self.panel = GhostPanel(viewport, stage.look)
        self._topic = self._group = ""
        self._carrying = False
        self._reads: frozenset[str] = frozenset()
        self._pressed_at = QPoint()

    @property
    def is_pressed(self) -> bool:
        return bool(self._topic)

    @property
    def is_carrying(self) -> bool:
        return self._carrying

    @property
    def group(self) -> str:
        """The group under the pointer that a drop would subscribe; "" for none."""
        return "" if self._group in self._reads else self._group

    def press(self, item_id: str, at: QPoint, view: CanvasView) -> bool:
        """The button went down on an id; False where that is neither a topic nor a lane of one."""
        kind, _, name = item_id.partition(":")
        if kind == "lane":
            name = name.rpartition("/")[0]
        if kind not in {"topic", "lane"}:
            return False
        self._topic, self._pressed_at, self._carrying = name, at, False
        self._reads = frozenset(
            link.target.removeprefix("group:") for link in view.links if link.source == f"topic:{name}"
        )
        return True

    def move(self, at: QPoint, scene_at: QPointF) -> None:
        if not self._carrying and (at - self._pressed_at).manhattanLength() <= self._start_pixels:
            return
        self._carrying = True
        self._group = self._group_at(scene_at)
        self._stage.set_highlights(f"group:{self.group}" if self.group else None, True)
        self.panel.show_ghost(Ghost(self._title()), at, self._stage.targets_in_view)

    def _title(self) -> str:
        if not self._group:
            return tr("Drop {topic} on a group to subscribe it", topic=self._topic)
        if not self.group:
            return tr("{group} reads {topic} already", group=self._group, topic=self._topic)
        return tr("Subscribe {group} to {topic}", group=self._group, topic=self._topic)

    def _group_at(self, scene_at: QPointF) -> str:
        for item_id, where in self._stage.layout.rects.items():
            if item_id.startswith("group:") and where.holds(scene_at.x(), scene_at.y()):
                return item_id.removeprefix("group:")
        return ""

    def release(self) -> bool:
        topic, group, carried = self._topic, self.group, self._carrying
        self.cancel()
        if carried and group:
            self.dropped.emit(topic, group)
        return carried

    def cancel(self) -> None:
        if self._carrying:
            self._stage.set_highlights(None, False)
        self._topic = self._group = ""
        self._carrying = False
        self.panel.hide()
