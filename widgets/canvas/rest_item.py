"""The box at the foot of a column that says how many more there are than it draws."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import BoxItem, Look
from widgets.canvas.lettering import write
from widgets.canvas.view import Rest


class RestItem(BoxItem):
    """A dashed box with a count and where the others are."""

    def __init__(self, rest: Rest, look: Look) -> None:
        super().__init__(rest.id, look)
        self.rest = rest

    def set_rest(self, rest: Rest) -> None:
        """Show another count."""
        if rest != self.rest:
            self.rest = rest
            self.update()

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """The count in large letters from afar, with the way to the others when near."""
        theme, width = self.look.theme, self.rect().width() - 24
        self.draw_frame(painter, theme.sunken, theme.border_strong, dashed=True)
        if self.look.is_far:
            self.draw_far_name(painter, self.rest.text, theme.text)
            return
        write(painter, 12, 22, self.rest.text, "name", theme.text, width)
        write(painter, 12, 38, self.rest.hint, "small", theme.muted, width)

    def tool_tip(self, x: float, y: float) -> str:
        """All of it."""
        return self.sentence()

    def sentence(self) -> str:
        """As in "9,968 more topics. The filter of the navigator finds them."."""
        return f"{self.rest.text}. {self.rest.hint}"
