from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from widgets.canvas.geometry import LinkPath, Rect

PORT_PITCH = 18.0
WORD_W, WORD_H, WORD_LIFT = 80.0, 23.0, 16.0
LinkKey = tuple[str, str, str]
End = tuple[str, str]
"""A box and its side: left, right, top or bottom."""


def link_paths(
    keys: Iterable[LinkKey], rects: Mapping[str, Rect], container: Mapping[str, str]
) -> dict[LinkKey, LinkPath]:
    """The path of each link that can be drawn. A link to a card meets its box's edge at the card's height."""
    ends: dict[LinkKey, tuple[End, End]] = {}
    for key in keys:
        pair = _sides(key, rects, container)
        if pair is not None:
            ends[key] = pair
    heights = _port_heights(ends, rects, container)
    return {
        key: _path(rects, source, target, heights[key, 0], heights[key, 1]) for key, (source, target) in ends.items()
    }


def _sides(key: LinkKey, rects: Mapping[str, Rect], container: Mapping[str, str]) -> tuple[End, End] | None:
    source, target = (container.get(end, end) for end in key[:2])
    if source not in rects or target not in rects or source == target:
        return None
    one, other = rects[source], rects[target]
    if one.x == other.x:
        if 0 <= other.y - one.bottom <= 32 and key[2] == "dead-letter":
            return (source, "bottom"), (target, "top")
        side = "right" if key[2] == "dead-letter" else "left"
        return (source, side), (target, side)
    columns = sorted({rect.x for name, rect in rects.items() if name not in container})
    if abs(columns.index(one.x) - columns.index(other.x)) != 1:
        return None
    return ((source, "right"), (target, "left")) if one.x < other.x else ((source, "left"), (target, "right"))


def _port_heights(
    ends: Mapping[LinkKey, tuple[End, End]], rects: Mapping[str, Rect], container: Mapping[str, str]
) -> dict[tuple[LinkKey, int], float]:
    """Ports of a side stand evenly about its middle, in the order of what is at their other end."""
    at_side: dict[End, list[tuple[float, LinkKey, int]]] = {}
    heights: dict[tuple[LinkKey, int], float] = {}
    for key, pair in ends.items():
        for at, (end, far) in enumerate((pair, pair[::-1])):
            if key[at] in container:
                heights[key, at] = rects[key[at]].centre_y
            else:
                far_y = rects[key[1 - at]].centre_y if key[1 - at] in container else rects[far[0]].centre_y
                at_side.setdefault(end, []).append((far_y, key, at))
    for (box, _), ports in at_side.items():
        rect = rects[box]
        pitch = min(PORT_PITCH, (rect.h - 16) / len(ports))
        for place, (_, key, at) in enumerate(sorted(ports)):
            heights[key, at] = rect.centre_y + (place - (len(ports) - 1) / 2) * pitch
    return heights


def _path(rects: Mapping[str, Rect], source: End, target: End, y0: float, y1: float) -> LinkPath:
    one, other = rects[source[0]], rects[target[0]]
    if source[1] == "bottom":
        bend = (other.y - one.bottom) / 3
        return LinkPath(one.centre_x, one.bottom, 0, bend, other.centre_x, other.y, 0, -bend)
    if source[1] == target[1]:
        if source[1] == "right":
            return LinkPath(one.right, y0, 40, 0, other.right, y1, 40, 0)
        bend = -min(100.0, 20 + abs(y1 - y0) / 16)  # lines of one topic to several queues stand side by side
        return LinkPath(one.x, y0, bend, 0, other.x, y1, bend, 0)
    x0, x1 = (one.right, other.x) if source[1] == "right" else (one.x, other.right)
    bend = (x1 - x0) / 2
    return LinkPath(x0, y0, bend, 0, x1, y1, -bend, 0)


def point_at(path: LinkPath, share: float) -> tuple[float, float]:
    """The point at `share` (0..1) of a path's parameter."""
    rest = 1 - share
    a, b, c, d = rest**3, 3 * rest * rest * share, 3 * rest * share * share, share**3
    x = a * path.x0 + b * (path.x0 + path.dx0) + c * (path.x1 + path.dx1) + d * path.x1
    y = a * path.y0 + b * (path.y0 + path.dy0) + c * (path.y1 + path.dy1) + d * path.y1
    return x, y


def word_places(paths: Sequence[LinkPath]) -> list[tuple[float, float]]:
    """Where the word of each path stands: in its gap, just above its middle so that the line shows, off other words."""
    places: list[tuple[float, float]] = []
    for path in paths:
        x, middle = point_at(path, 0.5)
        middle -= WORD_LIFT
        tries = (middle + step * WORD_H for step in (0, 1, -1, 2, -2, 3, -3))
        free = (y for y in tries if not any(abs(x - a) < WORD_W and abs(y - b) < WORD_H for a, b in places))
        places.append((x, next(free, middle)))
    return places
