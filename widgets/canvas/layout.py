"""The layout, from left to right: producers, topics, groups, bench; a queue in a row with its workers.

Only names and membership decide, never counts, so that the picture stays put while numbers run. Links run in the gaps
between the columns, so they cannot meet a card or a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from widgets.canvas.geometry import UNIT, LinkPath, Rect, united
from widgets.canvas.ports import link_paths
from widgets.canvas.view import BENCH_ID, CanvasView, QueueBox, TopicBox

MARGIN = 24.0
GAP_Y = 16.0
PAD = 12.0
PRODUCER_W, CARD_H = 172.0, 46.0
PUBLISH_GAP, CONSUME_GAP, BENCH_GAP = 88.0, 92.0, 28.0
TOPIC_W = 348.0
TOPIC_HEADER_H, LANE_H, TOPIC_FOOT_H = 48.0, 26.0, 8.0
LANE_LIMIT = 24
CELL_COLUMNS, CELL_PITCH, CELL_LIMIT = 20, 16.0, 200
HEAT_LABEL_H, HEAT_CAPTION_H = 16.0, 20.0
SHOWN_GROUPS = 3
GROUP_HEADER_H, BENCH_HEADER_H = 60.0, 36.0
CARD_W, CARD_GAP = 212.0, 6.0
SMALL_CARD_H = 30.0
SMALL_FROM, CARD_LIMIT = 9, 96
MOST_LEAST_COLUMNS = 4
# An arrangement stays while it shows at least so much of the scale of the best one.
KEPT_FROM = 0.92
QUEUE_H, DEAD_LETTERS_H, DEAD_LETTERS_GAP = 124.0, 36.0, 24.0
REST_H = 52.0

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
        tuple(producer.name for producer in view.producers),
        tuple((topic.name, len(topic.lanes), shown_groups(topic)) for topic in view.topics),
        tuple((group.name, tuple(member.name for member in group.members)) for group in view.groups),
        (view.has_bench, *(card.name for card in view.bench)),
        tuple((queue.name, tuple(worker.name for worker in queue.workers)) for queue in view.queues),
        tuple(link.key for link in view.links),
        tuple(rest.kind for rest in view.rests),
    )


def shown_groups(topic: TopicBox) -> int:
    return min(SHOWN_GROUPS, max(1, len(topic.lanes[0].groups))) if topic.lanes else 1


def partitions_per_cell(lanes: int) -> int:
    return max(1, ceil(lanes / CELL_LIMIT))


def topic_height(topic: TopicBox) -> float:
    """The height of a topic's box: a lane for each partition, or heat-map rows past `LANE_LIMIT`."""
    lanes = len(topic.lanes)
    if lanes <= LANE_LIMIT:
        return TOPIC_HEADER_H + max(1, lanes) * LANE_H + TOPIC_FOOT_H
    rows = ceil(ceil(lanes / partitions_per_cell(lanes)) / CELL_COLUMNS)
    return TOPIC_HEADER_H + shown_groups(topic) * (HEAT_LABEL_H + rows * CELL_PITCH) + HEAT_CAPTION_H + TOPIC_FOOT_H


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

    least_columns: int = 1
    bench_below: bool = False
    letters_beside: bool = False


def best_arrangement(
    view: CanvasView, width: float, height: float, most: float, now: Arrangement | None = None
) -> Arrangement:
    """The arrangement in which a view shows largest in width x height; the smallest of those nearly as large.

    `most` is the largest scale that is of use; `now` stays if another would show little more.
    """
    scales, areas = {}, {}
    for beside in (False, True) if view.queues else (False,):
        for below in (False, True):
            for columns in range(1, MOST_LEAST_COLUMNS + 1):
                arrangement = Arrangement(columns, below, beside)
                bounds = lay_out(view, arrangement).bounds
                scales[arrangement] = min(width / bounds.w, height / bounds.h, most)
                areas[arrangement] = bounds.w * bounds.h
    enough = max(scales.values()) * 0.97
    if now is not None and scales.get(now, 0.0) >= KEPT_FROM * enough:
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
    producer_ids = [producer.id for producer in view.producers]
    left_w = PRODUCER_W + PUBLISH_GAP if producer_ids else 0.0
    middle_x = MARGIN + left_w
    right_x = middle_x + TOPIC_W + CONSUME_GAP if view.topics or view.queues else middle_x
    left = right = MARGIN
    for topic in view.topics:
        layout.rects[topic.id] = Rect(middle_x, left, TOPIC_W, topic_height(topic))
        left += topic_height(topic) + GAP_Y
    counts = [len(group.members) for group in view.groups] + [len(queue.workers) for queue in view.queues]
    widest = max((_cards_width(count) for count in counts), default=CARD_W)
    most = min(arrangement.least_columns, max(counts, default=1))
    width = max(widest, most * CARD_W + (most - 1) * CARD_GAP) + 2 * PAD
    for group in view.groups:
        ids = [member.id for member in group.members]
        right = _place_cards(layout, group.id, ids, Rect(right_x, right, width, 0), GROUP_HEADER_H)
    rests = {rest.kind: rest.id for rest in view.rests}
    if "topics" in rests:
        layout.rects[rests["topics"]] = Rect(middle_x, left, TOPIC_W, REST_H)
        left += REST_H + GAP_Y
    if "groups" in rests:
        layout.rects[rests["groups"]] = Rect(right_x, right, width, REST_H)
        right += REST_H + GAP_Y
    if view.has_bench and (view.groups or view.bench or view.topics):
        ids = [card.id for card in view.bench]
        where = Rect(right_x + width + BENCH_GAP, MARGIN, _cards_width(len(ids)) + 2 * PAD, 0)
        under_topics = view.topics and arrangement.bench_below and left < right and where.w <= TOPIC_W
        if under_topics:
            where = Rect(middle_x, left, TOPIC_W, 0)
        elif arrangement.bench_below:
            where = Rect(right_x, right, width, 0)
        bottom = _place_cards(layout, BENCH_ID, ids, where, BENCH_HEADER_H)
        if under_topics:
            left = bottom
        elif arrangement.bench_below:
            right = bottom
    for queue in view.queues:
        left, right = _place_queue(layout, queue, (middle_x, right_x, width), max(left, right), arrangement)
    if "queues" in rests:
        layout.rects[rests["queues"]] = Rect(middle_x, max(left, right), TOPIC_W, REST_H)
    _place_producers(layout, view, producer_ids)
    if moved:
        _shift(layout, moved)
    layout.links = link_paths([link.key for link in view.links], layout.rects, layout.container)
    layout.bounds = united(list(layout.rects.values())).grown(MARGIN)
    layout.order = _order(layout, view)
    return layout


def _shift(layout: Layout, moved: Mapping[str, Shift]) -> None:
    """A box takes its cards with it, and a queue its dead letters."""
    for item_id, rect in layout.rects.items():
        box = layout.container.get(item_id, item_id)
        if box.startswith("dlq:"):
            box = "queue:" + box.removeprefix("dlq:")
        if box in moved:
            dx, dy = moved[box]
            layout.rects[item_id] = rect._replace(x=rect.x + dx, y=rect.y + dy)


def _place_queue(
    layout: Layout, queue: QueueBox, columns: tuple[float, float, float], y: float, arrangement: Arrangement
) -> tuple[float, float]:
    """In a row with its workers. `columns` are where both stand, and how wide the right one is; where each goes on."""
    x, right_x, width = columns
    layout.rects[queue.id] = Rect(x, y, TOPIC_W, QUEUE_H)
    ids = [worker.id for worker in queue.workers]
    right = _place_cards(layout, queue.workers_id, ids, Rect(right_x, y, width, 0), BENCH_HEADER_H)
    if arrangement.letters_beside:
        letters = layout.rects[queue.dead_letters_id] = Rect(right_x, right, width, DEAD_LETTERS_H)
        return y + QUEUE_H + GAP_Y, letters.bottom + GAP_Y
    letters = layout.rects[queue.dead_letters_id] = Rect(x, y + QUEUE_H + DEAD_LETTERS_GAP, TOPIC_W, DEAD_LETTERS_H)
    return letters.bottom + GAP_Y, right


def _cards_width(count: int) -> float:
    columns = card_columns(count)
    return columns * CARD_W + (columns - 1) * CARD_GAP


def _place_cards(layout: Layout, box: str, ids: Sequence[str], where: Rect, header: float) -> float:
    small = len(ids) >= SMALL_FROM
    card_h = SMALL_CARD_H if small else CARD_H
    gap = CARD_GAP / 2 if small else CARD_GAP
    columns = max(1, int((where.w - 2 * PAD + CARD_GAP) // (CARD_W + CARD_GAP)))
    shown = ids if len(ids) <= CARD_LIMIT else ids[: CARD_LIMIT - 1]
    if small:
        layout.small.update(shown)
    for at, card in enumerate(shown):
        row, column = divmod(at, columns)
        x = where.x + PAD + column * (CARD_W + CARD_GAP)
        layout.rects[card] = Rect(x, where.y + header + row * (card_h + gap), CARD_W, card_h)
        layout.container[card] = box
    if len(shown) < len(ids):
        layout.hidden[box] = len(ids) - len(shown)
    rows = ceil(min(len(ids), CARD_LIMIT) / columns)
    body = rows * (card_h + gap) - gap if rows else SMALL_CARD_H
    height = header + body + PAD
    layout.rects[box] = Rect(where.x, where.y, where.w, height)
    return where.y + height + GAP_Y


def _place_producers(layout: Layout, view: CanvasView, ids: list[str]) -> None:
    """Each beside the middle of what it publishes to, as far as those above leave room."""
    wanted: dict[str, list[float]] = {producer: [] for producer in ids}
    for link in view.links:
        if link.source in wanted and link.target in layout.rects:
            wanted[link.source].append(layout.rects[link.target].centre_y)
    middle = {producer: sum(ys) / len(ys) if ys else MARGIN for producer, ys in wanted.items()}
    cursor = MARGIN
    for producer in sorted(ids, key=lambda name: middle[name]):
        y = max(cursor, round(middle[producer] - CARD_H / 2))
        layout.rects[producer] = Rect(MARGIN, y, PRODUCER_W, CARD_H)
        cursor = y + CARD_H + CARD_GAP
    for rest in view.rests:
        if rest.kind == "producers":
            layout.rects[rest.id] = Rect(MARGIN, cursor, PRODUCER_W, REST_H)


def _order(layout: Layout, view: CanvasView) -> list[str]:
    """Column by column, top to bottom, each box before its cards."""
    order = sorted((producer.id for producer in view.producers), key=lambda name: layout.rects[name].y)
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
