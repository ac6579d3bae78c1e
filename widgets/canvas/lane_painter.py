"""How a partition is drawn: a lane with its end, a committed tick per group and lag as the filled gap."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import Look, draw_badge, hatch, pen
from widgets.canvas.layout import CELL_COLUMNS, CELL_PITCH, LANE_H, TOPIC_W
from widgets.canvas.lettering import count_text, write, write_centred, write_right
from widgets.canvas.view import GhostMove, Lane, LaneGroup
from widgets.theme import Theme, mix, qcolour

LABEL_X, TRACK_X = 14.0, 52.0
END_W, CHIP_W, CHIP_H, CHIP_PITCH = 66.0, 20.0, 16.0, 24.0
TRACK_H = 14.0
SCALE_STEPS = (10, 15, 20, 30, 50, 75)
LEAST_SCALE = 20


@dataclass(frozen=True, slots=True)
class LaneShape:
    """The measures that all lanes of a topic share; `scale` is how many messages the track is wide."""

    chips: int
    scale: int

    @property
    def chips_x(self) -> float:
        return TOPIC_W - 12 - self.chips * CHIP_PITCH + (CHIP_PITCH - CHIP_W)

    @property
    def end_x(self) -> float:
        """Where the end offset ends."""
        return self.chips_x - 8

    @property
    def track_w(self) -> float:
        return self.end_x - END_W - TRACK_X


def nice_scale(largest: int, current: int) -> int:
    """A round number of messages that holds the largest lag; it shrinks only when most of it stays unused."""
    wanted = max(LEAST_SCALE, largest * 1.15)
    if wanted <= current and wanted >= current * 0.3:
        return current
    size = 1
    while True:
        for step in SCALE_STEPS:
            if step * size >= wanted:
                return step * size
        size *= 10


def draw_lane(painter: QPainter, y: float, lane: Lane, shape: LaneShape, look: Look) -> None:
    """One lane in a row that begins at `y`."""
    theme = look.theme
    base = y + LANE_H / 2 + 4
    write(painter, LABEL_X, base, f"P{lane.partition}", "body", theme.muted, TRACK_X - LABEL_X - 4)
    track = QRectF(TRACK_X, y + (LANE_H - TRACK_H) / 2, shape.track_w, TRACK_H)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(track, qcolour(theme.lane))
    shown = lane.groups[: shape.chips]
    strip_h = (TRACK_H - (len(shown) - 1)) / len(shown) if shown else TRACK_H
    for at, group in enumerate(shown):
        strip = QRectF(track.x(), track.y() + at * (strip_h + 1), track.width(), strip_h)
        _draw_strip(painter, strip, lane, group, shape.scale, theme)
    painter.fillRect(QRectF(track.right(), track.y() - 2, 2, TRACK_H + 4), qcolour(theme.muted))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    write_right(painter, shape.end_x, base, count_text(lane.end_offset), "small", theme.text, END_W - 8)
    for at, group in enumerate(shown):
        draw_chip(painter, chip_rect(y, at, shape), group, theme)


def chip_rect(y: float, at: int, shape: LaneShape) -> QRectF:
    """Where the owner chip of the group number `at` stands in the row that begins at `y`."""
    return QRectF(shape.chips_x + at * CHIP_PITCH, y + (LANE_H - CHIP_H) / 2, CHIP_W, CHIP_H)


def _draw_strip(painter: QPainter, strip: QRectF, lane: Lane, group: LaneGroup, scale: int, theme: Theme) -> None:
    """Read in the owner's hue, unread as the filled gap up to the end, nothing before the log's start."""
    per_message = strip.width() / scale
    start_x = max(strip.left(), strip.right() - (lane.end_offset - lane.start_offset) * per_message)
    if group.committed is None:
        painter.fillRect(QRectF(start_x, strip.y(), strip.right() - start_x, strip.height()), hatch(theme.muted, 110))
        return
    lag = group.lag or 0
    tick_x = max(strip.left(), strip.right() - lag * per_message)
    hue = theme.owner(group.hue) if group.owner and not group.revoked else theme.idle
    read = QRectF(start_x, strip.y(), max(0.0, tick_x - start_x), strip.height())
    gap = QRectF(tick_x, strip.y(), strip.right() - tick_x, strip.height())
    painter.fillRect(read, qcolour(mix(theme.lane, hue, 0.5 if group.owner and not group.revoked else 0.22)))
    painter.fillRect(gap, qcolour(theme.lag_fill if not group.revoked else mix(theme.lane, theme.lag_fill, 0.45)))
    if group.revoked:
        painter.fillRect(read.united(gap), hatch(theme.surface, 170))
    painter.fillRect(QRectF(min(tick_x, strip.right() - 2), strip.y(), 2, strip.height()), qcolour(theme.text))


def draw_chip(painter: QPainter, where: QRectF, group: LaneGroup, theme: Theme) -> None:
    """The owner's hue and letter; dashed without an owner, hatched while revoked."""
    if not group.owner:
        painter.setPen(pen(theme.border_strong, 1, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(where.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        return
    if not group.revoked:
        draw_badge(painter, where, theme.owner(group.hue), group.badge, True)
        return
    painter.setPen(pen(theme.rebalancing, 1, Qt.PenStyle.DashLine))
    painter.setBrush(hatch(theme.rebalancing, 90))
    painter.drawRoundedRect(where.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    write_centred(painter, where, group.badge, "small-letter", theme.muted)


def draw_ghost_chip(painter: QPainter, where: QRectF, move: GhostMove, theme: Theme) -> None:
    """The owner that a drop would give, in the ring of the accent colour."""
    outer = where.adjusted(-2.5, -2.5, 2.5, 2.5)
    painter.setBrush(qcolour(theme.surface))
    painter.setPen(pen(theme.accent, 1.5))
    painter.drawRoundedRect(outer, 6, 6)
    if move.after:
        draw_badge(painter, where, theme.owner(move.after_hue), move.after_badge, True)
    else:
        write_centred(painter, where, "–", "small-letter", theme.muted)


def heat_cells(lanes: tuple[Lane, ...], at: int, per_cell: int) -> list[tuple[float, LaneGroup | None]]:
    """For the group number `at`, a (lag, owner) for each cell of the heat map: the worst lag of its lanes, and the
    place of its first lane; lag is -1 for "n/a"."""
    cells: list[tuple[float, LaneGroup | None]] = []
    for first in range(0, len(lanes), per_cell):
        groups = [lane.groups[at] for lane in lanes[first : first + per_cell] if at < len(lane.groups)]
        lags = [group.lag for group in groups if group.lag is not None]
        cells.append((max(lags) if lags else -1, groups[0] if groups else None))
    return cells


def heat_colour(lag: float, scale: int, theme: Theme) -> str:
    """Nothing to read is the lane's own colour; the square root keeps small lags visible."""
    if lag <= 0:
        return theme.lane
    return mix(theme.lane, theme.lag_fill, 0.15 + 0.85 * min(1.0, (lag / scale) ** 0.5))


def draw_heat_cells(
    painter: QPainter, x: float, y: float, cells: list[tuple[float, LaneGroup | None]], scale: int, look: Look
) -> None:
    """Cells in rows of `CELL_COLUMNS`: the colour is lag, the foot is the owner's hue."""
    theme = look.theme
    size = CELL_PITCH - 2
    for at, (lag, group) in enumerate(cells):
        row, column = divmod(at, CELL_COLUMNS)
        cell = QRectF(x + column * CELL_PITCH, y + row * CELL_PITCH, size, size)
        painter.fillRect(cell, qcolour(heat_colour(lag, scale, theme)))
        if group is None or not group.owner or lag < 0:
            painter.fillRect(cell, hatch(theme.muted, 120))
        elif group.revoked:
            painter.fillRect(cell, hatch(theme.rebalancing, 200))
        else:
            painter.fillRect(QRectF(cell.x(), cell.bottom() - 4, size, 4), qcolour(theme.owner(group.hue)))


def draw_far_lane(painter: QPainter, where: QRectF, lane: Lane, groups: int, scale: int, theme: Theme) -> None:
    """A lane seen from afar: a heat bar for each group and its owner's hue, no words."""
    shown = lane.groups[:groups]
    height = where.height() / max(1, len(shown))
    for at, group in enumerate(shown):
        bar = QRectF(where.x(), where.y() + at * height, where.width() - 34, height - 1)
        lag = -1 if group.lag is None else group.lag
        painter.fillRect(bar, qcolour(heat_colour(lag, scale, theme)))
        block = QRectF(bar.right() + 4, bar.y(), 30, bar.height())
        painter.fillRect(block, qcolour(theme.owner(group.hue) if group.owner else theme.lane))
        if group.revoked or not group.owner:
            painter.fillRect(block, hatch(theme.rebalancing if group.revoked else theme.muted))
