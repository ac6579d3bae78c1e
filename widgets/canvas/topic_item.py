from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import FactsItem, Look, draw_icon, draw_place_header
from widgets.canvas.geometry import Rect
from widgets.canvas.lane_painter import (
    CHIP_PITCH,
    CHIP_W,
    LaneShape,
    chip_rect,
    draw_ghost_chip,
    draw_heat_cells,
    draw_lane,
    heat_cells,
    nice_scale,
)
from widgets.canvas.layout import (
    CELL_COLUMNS,
    CELL_PITCH,
    HEAT_LABEL_H,
    LABEL_X,
    LANE_H,
    TOPIC_HEADER_H,
    TOPIC_W,
    is_heat_map,
    partitions_per_cell,
    shown_groups,
)
from widgets.canvas.lettering import (
    Step,
    count_text,
    plural,
    rate_text,
    short_count,
    width_of,
    write,
    write_centred,
    write_right,
)
from widgets.canvas.topic_words import NO_GROUP, heat_words, short_names, track_words, worst_words
from widgets.canvas.view import GhostMove, Lane, LaneGroup, TopicBox, lane_id
from widgets.formats import at_most, count
from widgets.i18n import mark, tr
from widgets.theme import state_style

GhostKey = tuple[int, str]
LEGEND = mark(
    "Each row is a partition; each bar is a group's view of its newest messages. Filled: committed. "
    "Orange: lag, not committed yet. Letter: the owner."
)


class TopicItem(FactsItem[TopicBox]):
    """One topic; repaints only the lanes that have changed."""

    def __init__(self, item_id: str, topic: TopicBox, look: Look) -> None:
        super().__init__(item_id, topic, look)
        self.ghosts: dict[GhostKey, GhostMove] = {}
        self.owner = ""
        self._chips, self._scale = shown_groups(topic), nice_scale(largest_lag(topic), 0)

    @property
    def measures(self) -> LaneShape:
        return LaneShape(self._chips, self._scale, self.look.step)

    @property
    def is_heat_map(self) -> bool:
        return is_heat_map(len(self.facts.lanes))

    def set_facts(self, topic: TopicBox) -> None:
        old, self.facts = self.facts, topic
        if topic == old:
            return
        chips, scale = shown_groups(topic), nice_scale(largest_lag(topic), self._scale)
        if (chips, scale) != (self._chips, self._scale) or len(old.lanes) != len(topic.lanes) or self.is_heat_map:
            self._chips, self._scale = chips, scale
            self.update()
            return
        if _header(old) != _header(topic):
            self.update(0, 0, TOPIC_W, TOPIC_HEADER_H)
        for at, (before, after) in enumerate(zip(old.lanes, topic.lanes, strict=True)):
            if before != after:
                self.update(0, TOPIC_HEADER_H + at * LANE_H, TOPIC_W, LANE_H)

    def set_owner(self, consumer: str) -> None:
        """Frame the cells of the heat map that this consumer reads; "" for none."""
        if consumer != self.owner:
            self.owner = consumer
            if self.is_heat_map:
                self.update()

    def set_ghosts(self, moves: Mapping[GhostKey, GhostMove]) -> None:
        if dict(moves) != self.ghosts:
            self.ghosts = dict(moves)
            self.update()

    def chip_centre(self, partition: int, group: str) -> QPointF | None:
        for row, lane in enumerate(self.facts.lanes):
            if lane.partition != partition:
                continue
            for at, place in enumerate(lane.groups[: self.measures.chips]):
                if place.group == group:
                    if self.is_heat_map:
                        return self.mapToScene(self._cell(row, at).center())
                    return self.mapToScene(chip_rect(TOPIC_HEADER_H + row * LANE_H, at, self.measures).center())
        return None

    def row_of(self, partition: int) -> Rect | None:
        """The row of a lane in item coordinates; None in a heat map, and for a partition that is not there."""
        if self.is_heat_map:
            return None
        rows = (row for row, lane in enumerate(self.facts.lanes) if lane.partition == partition)
        return next((Rect(0, TOPIC_HEADER_H + row * LANE_H, TOPIC_W, LANE_H) for row in rows), None)

    def _cell(self, row: int, at: int) -> QRectF:
        line, column = divmod(row // partitions_per_cell(len(self.facts.lanes)), CELL_COLUMNS)
        top = self._heat_top(at) + HEAT_LABEL_H
        return QRectF(LABEL_X + column * CELL_PITCH, top + line * CELL_PITCH, CELL_PITCH, CELL_PITCH)

    def _heat_top(self, at: int) -> float:
        cells = -(-len(self.facts.lanes) // partitions_per_cell(len(self.facts.lanes)))
        return TOPIC_HEADER_H + at * (HEAT_LABEL_H + -(-cells // CELL_COLUMNS) * CELL_PITCH)

    def lane_at(self, x: float, y: float) -> Lane | None:
        lanes = self.facts.lanes
        if not self.is_heat_map:
            row = int((y - TOPIC_HEADER_H) // LANE_H)
            return lanes[row] if 0 <= row < len(lanes) else None
        per_cell = partitions_per_cell(len(lanes))
        for at in range(self.measures.chips):
            line = int((y - self._heat_top(at) - HEAT_LABEL_H) // CELL_PITCH)
            column = int((x - LABEL_X) // CELL_PITCH)
            if line >= 0 and 0 <= column < CELL_COLUMNS and y < self._heat_top(at + 1):
                row = (line * CELL_COLUMNS + column) * per_cell
                return lanes[row] if row < len(lanes) else None
        return None

    def id_at(self, x: float, y: float) -> str:
        lane = self.lane_at(x, y)
        return self.item_id if lane is None else lane_id(self.facts.name, lane.partition)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme = self.look.theme
        self.draw_frame(painter, theme.surface, theme.border)
        if exposed.top() < TOPIC_HEADER_H:
            self._draw_header(painter)
        if self.is_heat_map:
            self._draw_heat(painter)
            return
        if not self.facts.lanes:
            face = self.look.face("small")
            write(painter, LABEL_X, TOPIC_HEADER_H + 18, tr("No partitions"), face, theme.muted, TOPIC_W - 28)
        for row, lane in enumerate(self.facts.lanes):
            y = TOPIC_HEADER_H + row * LANE_H
            if y + LANE_H > exposed.top() and y < exposed.bottom():
                draw_lane(painter, y, lane, self.measures, self.look)
                for at, group in enumerate(lane.groups[: self.measures.chips]):
                    if move := self.ghosts.get((lane.partition, group.group)):
                        draw_ghost_chip(painter, chip_rect(y, at, self.measures), move, self.look)

    def _draw_header(self, painter: QPainter) -> None:
        theme, topic, shape, near = self.look.theme, self.facts, self.measures, self.look.step is Step.NEAR
        x, right = draw_place_header(painter, self.look, "topic", topic.name, topic.rate_per_s, topic.gate)
        if topic.schema and near and width_of(topic.schema, self.look.face("small")) + 16 <= right - x:
            draw_icon(painter, "check", theme.stable, x - 2, 10, 14, self.look)
            write(painter, x + 14, 22, topic.schema, self.look.face("small"), theme.muted, right - x - 14)
        if self.is_heat_map or self.look.step is Step.OVERVIEW:
            return
        groups = topic.lanes[0].groups if topic.lanes else ()
        tiny = self.look.face("tiny")
        read = track_words(shape.scale, bool(groups))
        if groups and width_of(read, tiny) > shape.track_w:
            read = tr("last {count}", count=count_text(shape.scale))
        write(painter, shape.track_x, 43, read, tiny, theme.muted, shape.track_w)
        write_right(painter, shape.end_x, 43, tr("end"), tiny, theme.muted, 40)
        titles = short_names([group.group for group in groups[: shape.chips]])
        for at, title in enumerate(titles):
            where = self._group_title(at)
            short = next((part for part in (title, title[:2]) if width_of(part, tiny) <= CHIP_PITCH - 2), title[:1])
            write_centred(painter, where, short, tiny, theme.muted)

    def _group_title(self, at: int) -> QRectF:
        """Where the first letters of the group number `at` stand over its owner chips."""
        return QRectF(self.measures.chips_x + at * CHIP_PITCH - 2, 33, CHIP_W + 4, 12)

    def _draw_heat(self, painter: QPainter) -> None:
        theme, lanes = self.look.theme, self.facts.lanes
        tiny = self.look.face("tiny")
        if self.look.step is not Step.OVERVIEW:
            write(painter, LABEL_X, 43, heat_words(len(lanes)), tiny, theme.muted, TOPIC_W - 28)
        for at in range(self.measures.chips):
            top = self._heat_top(at)
            groups = lanes[0].groups
            name = groups[at].group if at < len(groups) else tr(NO_GROUP)
            cells = heat_cells(lanes, at, partitions_per_cell(len(lanes)))
            right = TOPIC_W - LABEL_X
            if worst := worst_words(cells):
                right -= write_right(painter, right, top + 12, worst, tiny, theme.muted, 160) + 8
            write(painter, LABEL_X, top + 12, name, tiny, theme.text, right - LABEL_X)
            draw_heat_cells(painter, LABEL_X, top + HEAT_LABEL_H, cells, self._scale, self.look, self.owner)
        if self.look.step is not Step.OVERVIEW:
            caption = tr("Colour: lag up to {count}. Hatched: no reader.", count=short_count(self._scale))
            write(painter, LABEL_X, self.rect().height() - 12, caption, tiny, theme.muted, TOPIC_W - 28)

    def sentence(self) -> str:
        parts = [tr("Topic {name}", name=self.facts.name), plural(len(self.facts.lanes), "partition")]
        if self.facts.gate:
            parts.append(state_style(self.facts.gate).word)
        words = [lane.replication for lane in self.facts.lanes if lane.replication]
        parts += [f"{state_style(word).word}: {count(words.count(word))}" for word in dict.fromkeys(words)]
        return ", ".join([*parts, rate_text(self.facts.rate_per_s)])

    def tool_tip(self, x: float, y: float) -> str:
        """The lane under the point, the group whose letters are there, how lanes are read, or the topic."""
        lane = self.lane_at(x, y)
        if lane is None:
            return self._header_tip(x, y)
        lines = [
            tr(
                "{name}/{partition}: offsets {start_offset:,} to {end_offset:,}",
                name=self.facts.name,
                partition=lane.partition,
                start_offset=lane.start_offset,
                end_offset=lane.end_offset,
            )
        ]
        if lane.replication:
            lines.append(state_style(lane.replication).word)
        if lane.placed:
            lines.append(lane.placed)
        return "\n".join(lines + [_place_line(group) for group in lane.groups])

    def _header_tip(self, x: float, y: float) -> str:
        about = f"{self.sentence()}\n{self.facts.detail}".strip()
        if self.is_heat_map or not self.facts.lanes or y < 30:
            return about
        for at, group in enumerate(self.facts.lanes[0].groups[: self.measures.chips]):
            if self._group_title(at).adjusted(0, -3, 0, 3).contains(x, y):
                return tr(
                    "Group {group}\nBelow: the letter of the consumer that reads each partition for it.",
                    group=group.group,
                )
        return f"{about}\n{tr(LEGEND)}"


def _place_line(group: LaneGroup) -> str:
    lag = at_most(count(group.lag), group.is_at_most and group.lag is not None)
    owner = group.owner or tr("nobody")
    revoked = tr(" (revoked)") if group.revoked else ""
    return tr(
        "{group}: {owner}{revoked}, committed {committed}, lag {lag}",
        group=group.group,
        owner=owner,
        revoked=revoked,
        committed=count(group.committed),
        lag=lag,
    )


def largest_lag(topic: TopicBox) -> int:
    """In messages, of all groups and lanes; 0 if none is known."""
    return max((group.lag or 0 for lane in topic.lanes for group in lane.groups), default=0)


def _header(topic: TopicBox) -> tuple[object, ...]:
    groups = [group.group for group in topic.lanes[0].groups] if topic.lanes else []
    return topic.name, rate_text(topic.rate_per_s), topic.gate, topic.schema, groups
