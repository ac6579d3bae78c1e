"""Where the keyboard's focus goes on the canvas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt

from widgets.canvas.geometry import Rect

DIRECTIONS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}

# Scene units: what overlaps sideways comes after anything that lies wholly in the direction of the arrow.
NOT_BEYOND_COST = 10_000.0


def step(order: Sequence[str], current: str, forward: bool) -> str:
    """The next or previous id in the round; "" past either end, which leaves the canvas."""
    if not order:
        return ""
    if current not in order:
        return order[0] if forward else order[-1]
    at = order.index(current) + (1 if forward else -1)
    return order[at] if 0 <= at < len(order) else ""


def neighbour(rects: Mapping[str, Rect], order: Sequence[str], current: str, key: int) -> str:
    """The nearest id in the direction of an arrow key, `current` where there is none.

    Sideways distance counts twice, so that an arrow prefers what lies straight ahead. What lies wholly that way, or in
    the current box, comes before what is only a bit further there. A box that the current one stands on is no
    neighbour: its cards are reached with Tab or the arrow that points into it.
    """
    if current not in rects:
        return order[0] if order else ""
    dx, dy = DIRECTIONS[key]
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
