"""The layout, from left to right: producers, topics, groups, bench; a queue in a row with its workers.

Only names and membership decide, never counts, so that the picture stays put while numbers run. Links run in the gaps
between the columns, so they cannot meet a card or a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from widgets.canvas.geometry import UNIT, LinkPath, Rect, united
from widgets.canvas.ports import link_paths
from widgets.canvas.view import BENCH_ID, CanvasView, QueueBox, TopicBox

MARGIN = 24.0
GAP_Y = 16.0
PAD = 12.0
PRODUCER_W, CARD_H = 172.0, 46.0
PUBLISH_GAP, CONSUME_GAP, BENCH_GAP = 88.0, 92.0, 28.0
TOPIC_W = 348.0
LABEL_X = 14.0  # from the edge of a topic or queue to the first word in it
TOPIC_HEADER_H, LANE_H, TOPIC_FOOT_H = 48.0, 26.0, 8.0
LANE_LIMIT = 24
CELL_COLUMNS, CELL_PITCH, CELL_LIMIT = 20, 16.0, 200
HEAT_LABEL_H, HEAT_CAPTION_H = 16.0, 20.0
SHOWN_GROUPS = 3
GROUP_HEADER_H, BENCH_HEADER_H = 60.0, 36.0
CARD_W, CARD_GAP = 212.0, 6.0
SMALL_CARD_H = 30.0
SMALL_FROM, CARD_LIMIT = 9, 96
MAX_MIN_COLUMNS = 4
NODE_W, SMALL_NODE_W, NODE_ROWS = 212.0, 140.0, 15
# An arrangement stays while it shows at least so much of the scale of the best one.
KEEP_RATIO = 0.92
QUEUE_H, DEAD_LETTERS_H, DEAD_LETTERS_GAP = 124.0, 36.0, 24.0
REST_H = 52.0
MAP_HEAD_H, MAP_H, LEAST_PITCH, MOST_PITCH = 64.0, 600.0, 5.0, 32.0
MAP_W, WIDE_MAP_W, WIDE_FROM = TOPIC_W - 2 * PAD, 588.0, 600

LayoutKey = tuple[object, ...]
Shift = tuple[float, float]


@dataclass(slots=True)
class Layout:
    """Rectangles by id, the box of each card, the paths of links, and the order in which Tab goes round."""

    rects: dict[str, Rect] = field(default_factory=dict)
    container: dict[str, str] = field(default_factory=dict)
    small: set[str] = field(default_factory=set)
    hidden: dict[str, int] = field(default_factory=dict)
    links: dict[tuple[str, str, str], LinkPath] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    bounds: Rect = UNIT


def layout_key(view: CanvasView) -> LayoutKey:
    """The inputs of the layout: the same key gives the same layout."""
    return (
        tuple(card.id for card in (*view.nodes, *view.producers)),
        tuple((topic.name, len(topic.lanes), shown_groups(topic)) for topic in view.topics),
        tuple((group.name, tuple(member.name for member in group.members)) for group in view.groups),
        (view.has_bench, *(card.name for card in view.bench)),
        tuple((queue.name, tuple(worker.name for worker in queue.workers)) for queue in view.queues),
        tuple(link.key for link in view.links),
        tuple((rest.kind, len(rest.cells)) for rest in view.rests),
    )


def shown_groups(topic: TopicBox) -> int:
    return min(SHOWN_GROUPS, max(1, len(topic.lanes[0].groups))) if topic.lanes else 1


def is_heat_map(lanes: int) -> bool:
    return lanes > LANE_LIMIT


def partitions_per_cell(lanes: int) -> int:
    return max(1, ceil(lanes / CELL_LIMIT))


def topic_height(topic: TopicBox) -> float:
    """The height of a topic's box: a lane for each partition, or the rows of its heat maps."""
    lanes = len(topic.lanes)
    if not is_heat_map(lanes):
        return TOPIC_HEADER_H + max(1, lanes) * LANE_H + TOPIC_FOOT_H
    rows = ceil(ceil(lanes / partitions_per_cell(lanes)) / CELL_COLUMNS)
    return TOPIC_HEADER_H + shown_groups(topic) * (HEAT_LABEL_H + rows * CELL_PITCH) + HEAT_CAPTION_H + TOPIC_FOOT_H


def map_cells(count: int) -> tuple[int, float]:
    """How many columns a map of so many cells has, and how far they are apart."""
    width = MAP_W if count < WIDE_FROM else WIDE_MAP_W
    pitch = min(MOST_PITCH, max(LEAST_PITCH, int((width * MAP_H / max(1, count)) ** 0.5)))
    return int(width // pitch), float(pitch)


def card_columns(count: int) -> int:
    if count < SMALL_FROM:
        return 1 if count <= 6 else 2
    return min(5, max(2, ceil(min(count, CARD_LIMIT) / 14)))


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The arrangement for the available room: the minimum number of card columns of groups, and the places of bench and
    dead letters.

    Below, the bench stands under the topics or under the groups, whichever end higher up. Dead letters stand under
    their queue, or beside it under its workers, if many queues need less height.
    """

    min_columns: int = 1
    bench_below: bool = False
    letters_beside: bool = False


def best_arrangement(
    view: CanvasView, width: float, height: float, max_scale: float, now: Arrangement | None = None
) -> Arrangement:
    """The arrangement in which a view shows largest in width x height; the smallest of those nearly as large.

    `max_scale` is the largest scale that is of use; `now` stays if another would show little more.
    """
    scales, areas = {}, {}
    for beside in (False, True) if view.queues else (False,):
        for below in (False, True):
            for columns in range(1, MAX_MIN_COLUMNS + 1):
                arrangement = Arrangement(columns, below, beside)
                bounds = lay_out(view, arrangement).bounds
                scales[arrangement] = min(width / bounds.w, height / bounds.h, max_scale)
                areas[arrangement] = bounds.w * bounds.h
    enough = max(scales.values()) * 0.97
    if now is not None and scales.get(now, 0.0) >= KEEP_RATIO * enough:
        return now
    large = (arrangement for arrangement, scale in scales.items() if scale >= enough)
    return min(large, key=lambda arrangement: (arrangement.letters_beside, areas[arrangement]))


def lay_out(
    view: CanvasView, arrangement: Arrangement = Arrangement(), moved: Mapping[str, Shift] | None = None
) -> Layout:
    """The whole layout of a view; on wide ground groups take more columns of cards, to be less high.

    `moved` holds the offsets of boxes that were moved by hand.
    """
    layout = Layout()
    edge_x = _place_nodes(layout, view)
    columns = _columns(view, arrangement, edge_x)
    for topic in view.topics:
        layout.rects[topic.id] = columns.left.take(topic_height(topic))
    for group in view.groups:
        _place_cards(layout, group.id, [member.id for member in group.members], columns.right, GROUP_HEADER_H)
    rests = {rest.kind: rest.id for rest in view.rests if not rest.cells}
    if "topics" in rests:
        layout.rects[rests["topics"]] = columns.left.take(REST_H)
    if "groups" in rests:
        layout.rects[rests["groups"]] = columns.right.take(REST_H)
    if view.has_bench and (view.groups or view.bench or view.topics):
        _place_bench(layout, view, columns, arrangement)
    for queue in view.queues:
        _place_queue(layout, queue, columns, arrangement)
    if "queues" in rests:
        columns.level()
        layout.rects[rests["queues"]] = columns.left.take(REST_H)
    _place_map(layout, view)
    _place_producers(layout, view, edge_x)
    if moved:
        for item_id, rect in layout.rects.items():
            dx, dy = moved.get(box_id_of(layout, item_id), (0.0, 0.0))
            layout.rects[item_id] = rect._replace(x=rect.x + dx, y=rect.y + dy)
    layout.links = link_paths([link.key for link in view.links], layout.rects, layout.container)
    layout.bounds = united(list(layout.rects.values())).grown(MARGIN)
    layout.order = _order(layout, view)
    return layout


@dataclass(slots=True)
class _Column:
    """Boxes one below the other; the next one stands at `y`."""

    x: float
    width: float
    y: float = MARGIN

    def take(self, height: float) -> Rect:
        where = Rect(self.x, self.y, self.width, height)
        self.y += height + GAP_Y
        return where


class _Columns(NamedTuple):
    """Topics and queues on the left, groups and workers on the right."""

    left: _Column
    right: _Column

    def level(self) -> None:
        """Both go on where the longer one has ended."""
        self.left.y = self.right.y = max(self.left.y, self.right.y)


def _columns(view: CanvasView, arrangement: Arrangement, edge_x: float) -> _Columns:
    left_x = edge_x + (PRODUCER_W + PUBLISH_GAP if view.producers else 0.0)
    right_x = left_x + TOPIC_W + CONSUME_GAP if view.topics or view.queues else left_x
    counts = [len(group.members) for group in view.groups] + [len(queue.workers) for queue in view.queues]
    widest = max((_cards_width(count) for count in counts), default=CARD_W)
    across = min(arrangement.min_columns, max(counts, default=1))
    width = max(widest, across * CARD_W + (across - 1) * CARD_GAP) + 2 * PAD
    return _Columns(_Column(left_x, TOPIC_W), _Column(right_x, width))


def box_id_of(layout: Layout, item_id: str) -> str:
    """The box that moves when an id is dragged: a card's group, a lane's topic, a queue for its dead letters."""
    if item_id.startswith("lane:"):
        item_id = "topic:" + item_id.removeprefix("lane:").rpartition("/")[0]
    if item_id.startswith("dlq:"):
        item_id = "queue:" + item_id.removeprefix("dlq:")
    found = layout.container.get(item_id, item_id)
    return found if found in layout.rects else ""


def _place_bench(layout: Layout, view: CanvasView, columns: _Columns, arrangement: Arrangement) -> None:
    """To the right of the groups; or below, under the topics or the groups, whichever end higher up."""
    ids = [card.id for card in view.bench]
    wide = _cards_width(len(ids)) + 2 * PAD
    if not arrangement.bench_below:
        beside = _Column(columns.right.x + columns.right.width + BENCH_GAP, wide)
        _place_cards(layout, BENCH_ID, ids, beside, BENCH_HEADER_H)
    elif view.topics and columns.left.y < columns.right.y and wide <= TOPIC_W:
        _place_cards(layout, BENCH_ID, ids, columns.left, BENCH_HEADER_H)
    else:
        _place_cards(layout, BENCH_ID, ids, columns.right, BENCH_HEADER_H)


def _place_queue(layout: Layout, queue: QueueBox, columns: _Columns, arrangement: Arrangement) -> None:
    """Place a queue in a row with its workers; its dead letters go below it, or beside it below the workers."""
    columns.level()
    layout.rects[queue.id] = columns.left.take(QUEUE_H)
    ids = [worker.id for worker in queue.workers]
    _place_cards(layout, queue.workers_id, ids, columns.right, BENCH_HEADER_H)
    if arrangement.letters_beside:
        layout.rects[queue.dead_letters_id] = columns.right.take(DEAD_LETTERS_H)
    else:
        columns.left.y += DEAD_LETTERS_GAP - GAP_Y
        layout.rects[queue.dead_letters_id] = columns.left.take(DEAD_LETTERS_H)


def _cards_width(count: int) -> float:
    columns = card_columns(count)
    return columns * CARD_W + (columns - 1) * CARD_GAP


def _place_cards(layout: Layout, box: str, ids: Sequence[str], column: _Column, header: float) -> None:
    """A box with its cards, at the end of the column."""
    small = len(ids) >= SMALL_FROM
    card_h = SMALL_CARD_H if small else CARD_H
    gap = CARD_GAP / 2 if small else CARD_GAP
    across = max(1, int((column.width - 2 * PAD + CARD_GAP) // (CARD_W + CARD_GAP)))
    rows = ceil(min(len(ids), CARD_LIMIT) / across)
    body = rows * (card_h + gap) - gap if rows else SMALL_CARD_H
    where = column.take(header + body + PAD)
    shown = ids if len(ids) <= CARD_LIMIT else ids[: CARD_LIMIT - 1]
    if small:
        layout.small.update(shown)
    for at, card in enumerate(shown):
        row, place = divmod(at, across)
        x = where.x + PAD + place * (CARD_W + CARD_GAP)
        layout.rects[card] = Rect(x, where.y + header + row * (card_h + gap), CARD_W, card_h)
        layout.container[card] = box
    if len(shown) < len(ids):
        layout.hidden[box] = len(ids) - len(shown)
    layout.rects[box] = where


def _place_map(layout: Layout, view: CanvasView) -> None:
    """To the right of all cards."""
    for rest in view.rests:
        if rest.cells:
            columns, pitch = map_cells(len(rest.cells))
            x = max((where.x + where.w for where in layout.rects.values()), default=0.0) + BENCH_GAP
            height = MAP_HEAD_H + ceil(len(rest.cells) / columns) * pitch + PAD
            layout.rects[rest.id] = Rect(x, MARGIN, max(TOPIC_W, columns * pitch + 2 * PAD), height)


def _place_nodes(layout: Layout, view: CanvasView) -> float:
    """Along the edge, small if there are many; where the rest begins."""
    small = len(view.nodes) >= SMALL_FROM
    width, height, gap = (SMALL_NODE_W, SMALL_CARD_H, CARD_GAP / 2) if small else (NODE_W, CARD_H, CARD_GAP)
    columns = ceil(len(view.nodes) / NODE_ROWS)
    rows = ceil(len(view.nodes) / max(1, columns))
    for at, card in enumerate(view.nodes):
        column, row = divmod(at, rows)
        place = MARGIN + column * (width + CARD_GAP), MARGIN + row * (height + gap)
        layout.rects[card.id] = Rect(*place, width, height)
    layout.small.update(card.id for card in view.nodes if small)
    return MARGIN + columns * (width + CARD_GAP) + (BENCH_GAP if columns else 0.0)


def _place_producers(layout: Layout, view: CanvasView, x: float) -> None:
    """Each beside the middle of what it publishes to, as far as those above leave room."""
    wanted: dict[str, list[float]] = {producer.id: [] for producer in view.producers}
    for link in view.links:
        if link.source in wanted and link.target in layout.rects:
            wanted[link.source].append(layout.rects[link.target].centre_y)
    middle = {producer: sum(ys) / len(ys) if ys else MARGIN for producer, ys in wanted.items()}
    cursor = MARGIN
    for producer in sorted(middle, key=lambda name: middle[name]):
        y = max(cursor, round(middle[producer] - CARD_H / 2))
        layout.rects[producer] = Rect(x, y, PRODUCER_W, CARD_H)
        cursor = y + CARD_H + CARD_GAP
    for rest in view.rests:
        if rest.kind == "producers":
            layout.rects[rest.id] = Rect(x, cursor, PRODUCER_W, REST_H)


def _order(layout: Layout, view: CanvasView) -> list[str]:
    order = [card.id for card in view.nodes]
    order += sorted((producer.id for producer in view.producers), key=lambda name: layout.rects[name].y)
    order += [topic.id for topic in view.topics]
    for queue in view.queues:
        order += [queue.id, queue.dead_letters_id]
    cards: dict[str, list[str]] = {}
    for card, box in layout.container.items():
        cards.setdefault(box, []).append(card)
    boxes = [group.id for group in view.groups] + [BENCH_ID] + [queue.workers_id for queue in view.queues]
    for box in boxes:
        if box in layout.rects:
            order += [box, *cards.get(box, [])]
    return order + [rest.id for rest in view.rests]
