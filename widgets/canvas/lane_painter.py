from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import Look, draw_badge, draw_icon, hatch, pen
from widgets.canvas.layout import CELL_COLUMNS, CELL_PITCH, LABEL_X, LANE_H, TOPIC_W
from widgets.canvas.lettering import Step, count_text, metrics, short_count, write, write_centred, write_right
from widgets.canvas.view import GhostMove, Lane, LaneGroup
from widgets.theme import Theme, ink_on, mix, qcolour, state_style

CHIP_W, CHIP_PITCH = 20.0, 24.0
# At each step of the zoom: where the track begins, the room of the end offset behind it, the height of a chip.
TRACK_X = {Step.OVERVIEW: 58.0, Step.NORMAL: 54.0, Step.NEAR: 52.0}
END_W = {Step.OVERVIEW: 0.0, Step.NORMAL: 60.0, Step.NEAR: 66.0}
CHIP_H = {Step.OVERVIEW: 22.0, Step.NORMAL: 20.0, Step.NEAR: 16.0}
TRACK_H = 14.0
SCALE_STEPS = (10, 15, 20, 30, 50, 75)
LEAST_SCALE = 20
MARK = 17  # of a partition whose replicas are not as they should be


@dataclass(frozen=True, slots=True)
class LaneShape:
    """The measures that all lanes of a topic share; `scale` is how many messages the track is wide.

    At each step of the zoom what is written is larger, and there is less of it.
    """

    chips: int
    scale: int
    step: Step = Step.NEAR

    @property
    def chips_x(self) -> float:
        return TOPIC_W - 12 - self.chips * CHIP_PITCH + (CHIP_PITCH - CHIP_W)

    @property
    def end_x(self) -> float:
        return self.chips_x - 8

    @property
    def track_w(self) -> float:
        return self.end_x - END_W[self.step] - self.track_x

    @property
    def track_x(self) -> float:
        return TRACK_X[self.step]


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
    theme = look.theme
    body, small = look.face("body"), look.face("small")
    base = y + (LANE_H + metrics(body).capHeight()) / 2
    name_x = LABEL_X
    if lane.replication:
        style = state_style(lane.replication)
        name_x += 11
        colour, where = theme.colour(style.token), QRectF(LABEL_X - 9, y + (LANE_H - MARK) / 2, MARK, MARK)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolour(colour))
        painter.drawRoundedRect(where, 4, 4)
        draw_icon(painter, style.icon, ink_on(colour), where.x() + 1.5, where.y() + 1.5, MARK - 3, look)
    write(painter, name_x, base, f"P{lane.partition}", body, theme.muted, shape.track_x - name_x - 2)
    track = QRectF(shape.track_x, y + (LANE_H - TRACK_H) / 2, shape.track_w, TRACK_H)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(track, qcolour(theme.lane))
    shown = lane.groups[: shape.chips]
    strip_h = (TRACK_H - (len(shown) - 1)) / len(shown) if shown else TRACK_H
    for at, group in enumerate(shown):
        strip = QRectF(track.x(), track.y() + at * (strip_h + 1), track.width(), strip_h)
        _draw_strip(painter, strip, lane, group, shape.scale, theme)
    painter.fillRect(QRectF(track.right(), track.y() - 2, 2, TRACK_H + 4), qcolour(theme.muted))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    if END_W[look.step]:
        end = count_text(lane.end_offset) if look.step is Step.NEAR else short_count(lane.end_offset)
        write_right(painter, shape.end_x, base, end, small, theme.text, END_W[look.step] - 8)
    for at, group in enumerate(shown):
        draw_chip(painter, chip_rect(y, at, shape), group, look)


def chip_rect(y: float, at: int, shape: LaneShape) -> QRectF:
    height = CHIP_H[shape.step]
    return QRectF(shape.chips_x + at * CHIP_PITCH, y + (LANE_H - height) / 2, CHIP_W, height)


def strip_shares(lane: Lane, group: LaneGroup, scale: int) -> tuple[float, float]:
    """Where in a track, 0..1, the log begins and what is committed ends; nothing committed is 1."""
    start = max(0.0, 1.0 - (lane.end_offset - lane.start_offset) / scale)
    return start, 1.0 if group.committed is None else max(0.0, 1.0 - (group.lag or 0) / scale)


def _draw_strip(painter: QPainter, strip: QRectF, lane: Lane, group: LaneGroup, scale: int, theme: Theme) -> None:
    """Read in the owner's hue, unread as the filled gap up to the end, nothing before the log's start."""
    start, tick = strip_shares(lane, group, scale)
    start_x, tick_x = strip.left() + start * strip.width(), strip.left() + tick * strip.width()
    if group.committed is None:  # what the log has is unread until somebody says otherwise
        unread = QRectF(start_x, strip.y(), strip.right() - start_x, strip.height())
        painter.fillRect(unread, qcolour(theme.lag_fill))
        painter.fillRect(unread, hatch(theme.surface, 170))
        return
    hue = theme.owner(group.hue) if group.owner and not group.revoked else theme.idle
    read = QRectF(start_x, strip.y(), max(0.0, tick_x - start_x), strip.height())
    gap = QRectF(tick_x, strip.y(), strip.right() - tick_x, strip.height())
    painter.fillRect(read, qcolour(mix(theme.lane, hue, 0.5 if group.owner and not group.revoked else 0.22)))
    painter.fillRect(gap, qcolour(theme.lag_fill if not group.revoked else mix(theme.lane, theme.lag_fill, 0.45)))
    if group.revoked:
        painter.fillRect(read.united(gap), hatch(theme.surface, 170))
    painter.fillRect(QRectF(min(tick_x, strip.right() - 2), strip.y(), 2, strip.height()), qcolour(theme.text))


def draw_chip(painter: QPainter, where: QRectF, group: LaneGroup, look: Look) -> None:
    """The owner's hue and letter; dashed without an owner, hatched while revoked."""
    theme = look.theme
    if not group.owner:
        painter.setPen(pen(theme.border_strong, 1, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(where.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        return
    if not group.revoked:
        draw_badge(painter, where, theme.owner(group.hue), group.badge, True, look)
        return
    painter.setPen(pen(theme.rebalancing, 1, Qt.PenStyle.DashLine))
    painter.setBrush(hatch(theme.rebalancing, 90))
    painter.drawRoundedRect(where.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    write_centred(painter, where, group.badge, look.face("small-letter"), theme.muted)


def draw_ghost_chip(painter: QPainter, where: QRectF, move: GhostMove, look: Look) -> None:
    theme = look.theme
    outer = where.adjusted(-2.5, -2.5, 2.5, 2.5)
    painter.setBrush(qcolour(theme.surface))
    painter.setPen(pen(theme.accent, 1.5))
    painter.drawRoundedRect(outer, 6, 6)
    if move.after.name:
        draw_badge(painter, where, theme.owner(move.after.hue), move.after.letter, True, look)
    else:
        write_centred(painter, where, "–", look.face("small-letter"), theme.muted)


def heat_cells(lanes: tuple[Lane, ...], at: int, per_cell: int) -> list[tuple[float, LaneGroup | None]]:
    """For the group number `at`, a (lag, owner) for each cell of the heat map: the worst lag of its lanes, all that
    is in the log if nothing is committed, and the place of its first lane; lag is -1 for "n/a"."""
    cells: list[tuple[float, LaneGroup | None]] = []
    for first in range(0, len(lanes), per_cell):
        of_group = [(lane, lane.groups[at]) for lane in lanes[first : first + per_cell] if at < len(lane.groups)]
        lags = [lane.end_offset - lane.start_offset if one.lag is None else one.lag for lane, one in of_group]
        cells.append((max(lags, default=-1), of_group[0][1] if of_group else None))
    return cells


def heat_share(lag: float, scale: int) -> float:
    """How much of the colour of lag a cell has, 0..1; the square root keeps small lags visible."""
    return 0.15 + 0.85 * min(1.0, (lag / scale) ** 0.5) if lag > 0 else 0.0


def heat_colour(lag: float, scale: int, theme: Theme) -> str:
    return mix(theme.lane, theme.lag_fill, heat_share(lag, scale)) if lag > 0 else theme.lane


def draw_heat_cells(
    painter: QPainter,
    x: float,
    y: float,
    cells: list[tuple[float, LaneGroup | None]],
    scale: int,
    look: Look,
    owner: str,
) -> None:
    """Cells in rows of `CELL_COLUMNS`: the colour is lag, hatched without a reader; those of `owner` are framed."""
    theme = look.theme
    size = CELL_PITCH - 2
    for at, (lag, group) in enumerate(cells):
        row, column = divmod(at, CELL_COLUMNS)
        cell = QRectF(x + column * CELL_PITCH, y + row * CELL_PITCH, size, size)
        painter.fillRect(cell, qcolour(heat_colour(lag, scale, theme)))
        if group is None or not group.owner or group.committed is None:
            painter.fillRect(cell, hatch(theme.muted, 120))
        elif group.revoked:
            painter.fillRect(cell, hatch(theme.rebalancing, 200))
        if owner and group is not None and group.owner == owner:
            painter.setPen(pen(theme.text, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(cell.adjusted(0, 0, -1, -1))
