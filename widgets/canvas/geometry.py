from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Scene units: what overlaps sideways comes after anything that lies wholly in the direction of the arrow.
NOT_BEYOND_COST = 10_000.0


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


def neighbour(rects: Mapping[str, Rect], order: Sequence[str], current: str, dx: int, dy: int) -> str:
    """The nearest id to the right (`dx` 1), the left (-1), below (`dy` 1) or above, `current` if there is none.

    Sideways distance counts twice, so that an arrow prefers what lies straight ahead. What lies wholly that way, or in
    the current box, comes before what is only a bit further there. A box that the current one stands on is no
    neighbour: its cards are reached with Tab or the arrow that points into it.
    """
    if current not in rects:
        return order[0] if order else ""
    here = rects[current]
    best, best_cost = current, float("inf")
    for item_id in order:
        there = rects[item_id]
        if item_id == current or there.holds(here.x, here.y):
            continue
        ahead = (there.centre_x - here.centre_x) * dx + (there.centre_y - here.centre_y) * dy
        aside = abs((there.centre_x - here.centre_x) * dy) + abs((there.centre_y - here.centre_y) * dx)
        inside = here.holds(there.x, there.y)
        cost = ahead + 2 * aside + (0 if inside or _is_beyond(there, here, dx, dy) else NOT_BEYOND_COST)
        if ahead > 1 and cost < best_cost:
            best, best_cost = item_id, cost
    return best


def _is_beyond(there: Rect, here: Rect, dx: int, dy: int) -> bool:
    if dx:
        return there.x >= here.right if dx > 0 else there.right <= here.x
    return there.y >= here.bottom if dy > 0 else there.bottom <= here.y
