from __future__ import annotations

from typing import NamedTuple


class Rect(NamedTuple):
    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def centre_x(self) -> float:
        return self.x + self.w / 2

    @property
    def centre_y(self) -> float:
        return self.y + self.h / 2

    def holds(self, x: float, y: float) -> bool:
        return self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    def grown(self, by: float) -> Rect:
        return Rect(self.x - by, self.y - by, self.w + 2 * by, self.h + 2 * by)


UNIT = Rect(0, 0, 1, 1)


class LinkPath(NamedTuple):
    """A smooth line from (x0, y0) to (x1, y1) that leaves and arrives along (dx0, dy0) and (dx1, dy1)."""

    x0: float
    y0: float
    dx0: float
    dy0: float
    x1: float
    y1: float
    dx1: float
    dy1: float


def united(rects: list[Rect]) -> Rect:
    """The smallest rectangle around all; a unit square at the origin for none."""
    if not rects:
        return UNIT
    left, top = min(rect.x for rect in rects), min(rect.y for rect in rects)
    right, bottom = max(rect.right for rect in rects), max(rect.bottom for rect in rects)
    return Rect(left, top, right - left, bottom - top)
