"""The canvas as words, rectangles and paths: what the window's items paint of a view, for a page that only draws it."""

from __future__ import annotations

from typing import Any

from resources.colours import HUES
from widgets.canvas.card_item import Card, card_note
from widgets.canvas.geometry import LinkPath, Rect
from widgets.canvas.group_item import idle_text, lag_texts
from widgets.canvas.lane_painter import heat_cells, heat_share, nice_scale, strip_shares
from widgets.canvas.layout import (
    CELL_COLUMNS,
    Arrangement,
    Layout,
    LayoutKey,
    best_arrangement,
    is_heat_map,
    lay_out,
    layout_key,
    partitions_per_cell,
    shown_groups,
)
from widgets.canvas.lettering import count_text, rate_text, short_count
from widgets.canvas.link_item import thickness_of
from widgets.canvas.ports import word_places
from widgets.canvas.queue_item import EXPIRING_SHARE, MAX_RINGS, queue_figures, reads_text, rings_words
from widgets.canvas.topic_item import largest_lag
from widgets.canvas.topic_words import NO_GROUP, heat_words, short_names, track_words, worst_words
from widgets.canvas.view import (
    BENCH_ID,
    CanvasView,
    GroupBox,
    Lane,
    LaneGroup,
    LeaseRing,
    Link,
    ProducerCard,
    QueueBox,
    TopicBox,
    lane_id,
)
from widgets.formats import at_most
from widgets.i18n import tr
from widgets.theme_states import state_style

Tree = dict[str, Any]
ROOM = (880.0, 560.0)  # units of the canvas that a page has at first
PARTS = 1000  # of a track and of a ring


def state_of(word: str) -> list[str]:
    return list(state_style(word)) if word else []


class Scene:
    """Views in, trees out, one a moment: "boxes" by id, each with its rectangle "at", "links" by their ends, "bounds".

    The scale of a track stays while it fits, as in the window, so the moments come in order.
    """

    def __init__(self) -> None:
        self._key: LayoutKey | None = None
        self._layout = Layout()
        self._arrangement: Arrangement | None = None
        self._scales: dict[str, int] = {}

    def tree(self, view: CanvasView) -> Tree:
        key = layout_key(view)
        if key != self._key:
            self._key = key
            self._arrangement = best_arrangement(view, *ROOM, 1.0, self._arrangement)
            self._layout = lay_out(view, self._arrangement)
        boxes: dict[str, Tree] = {}
        for card in (*view.nodes, *view.producers):
            boxes[card.id] = _card(card.kind, card)
        for topic in view.topics:
            boxes[topic.id] = self._topic(topic)
        for group in view.groups:
            boxes[group.id] = _group(group)
            boxes |= {member.id: _card("consumer", member) for member in group.members}
        if view.has_bench:
            boxes[BENCH_ID] = {"kind": "bench", "name": tr("Bench"), "note": idle_text(len(view.bench))}
        boxes |= {idle.id: _card("consumer", idle) for idle in view.bench}
        for queue in view.queues:
            boxes[queue.id] = _queue(queue)
            boxes[queue.workers_id] = {
                "kind": "workers",
                "name": tr("Workers"),
                "note": tr("of {queue_name}", queue_name=queue.name),
            }
            boxes |= {worker.id: _card("worker", worker) for worker in queue.workers}
            boxes[queue.dead_letters_id] = {
                "kind": "dlq",
                "name": tr("Dead letters of {queue_name}", queue_name=queue.name),
                "note": count_text(queue.dead),
                "any": queue.dead > 0,
            }
        boxes |= {rest.id: {"kind": "rest", "name": rest.text, "note": ""} for rest in view.rests}
        layout = self._layout
        drawn = {name: self._placed(name, box) for name, box in boxes.items() if name in layout.rects}
        return {
            "boxes": drawn,
            "order": {name: at for at, name in enumerate(layout.order)},
            "links": _links(view, layout),
            "bounds": _numbers(layout.bounds),
            "notice": view.notice if view.is_empty else "",
        }

    def _placed(self, name: str, box: Tree) -> Tree:
        layout = self._layout
        more = layout.hidden.get(name, 0)
        return {
            **box,
            "at": _numbers(layout.rects[name]),
            "small": name in layout.small,
            "more": tr("+{count} more", count=count_text(more)) if more else "",
        }

    def _topic(self, topic: TopicBox) -> Tree:
        scale = self._scales[topic.name] = nice_scale(largest_lag(topic), self._scales.get(topic.name, 0))
        shown = shown_groups(topic)
        groups = [group.group for group in topic.lanes[0].groups[:shown]] if topic.lanes else []
        is_heat = is_heat_map(len(topic.lanes))
        lanes: list[Tree] = [] if is_heat else [_lane(topic.name, lane, shown, scale) for lane in topic.lanes]
        return {
            "kind": "topic",
            "name": topic.name,
            "note": rate_text(topic.rate_per_s),
            "state": state_of(topic.gate),
            "schema": topic.schema,
            "read": heat_words(len(topic.lanes)) if is_heat else track_words(scale, bool(groups)),
            "groups": list(groups),
            "titles": list(short_names(groups)),
            "lanes": lanes,
            "heat": [_heat(topic, at, name, scale) for at, name in enumerate(groups or [""])] if is_heat else [],
        }


def _lane(topic: str, lane: Lane, shown: int, scale: int) -> Tree:
    return {
        "id": lane_id(topic, lane.partition),
        "name": f"P{lane.partition}",
        "end": count_text(lane.end_offset),
        "mark": state_of(lane.replication),
        "placed": lane.placed,
        "groups": [_standing(lane, group, scale) for group in lane.groups[:shown]],
    }


def _standing(lane: Lane, group: LaneGroup, scale: int) -> Tree:
    start, tick = strip_shares(lane, group, scale)
    return {
        "start": round(start * PARTS),
        "tick": round(tick * PARTS),
        "known": group.committed is not None,
        "hue": group.hue % HUES,
        "badge": group.badge,
        "revoked": group.revoked,
        "lag": "n/a" if group.lag is None else at_most(count_text(group.lag), group.is_at_most),
    }


def _heat(topic: TopicBox, at: int, name: str, scale: int) -> Tree:
    per_cell = partitions_per_cell(len(topic.lanes))
    cells = heat_cells(topic.lanes, at, per_cell)
    return {
        "name": name or tr(NO_GROUP),
        "worst": worst_words(cells),
        "columns": CELL_COLUMNS,
        "cells": [
            {
                "id": lane_id(topic.name, topic.lanes[place * per_cell].partition),
                "share": round(heat_share(lag, scale) * 100),
                "read": group is not None and bool(group.owner) and lag >= 0,
            }
            for place, (lag, group) in enumerate(cells)
        ],
    }


def _card(kind: str, card: Card) -> Tree:
    found = {
        "kind": kind,
        "name": card.title,
        "state": state_of(card.state),
        "note": card_note(card),
        "rate": rate_text(card.rate_per_s),
    }
    return found if isinstance(card, ProducerCard) else {**found, "hue": card.hue % HUES, "badge": card.badge}


def _group(group: GroupBox) -> Tree:
    return {
        "kind": "group",
        "name": group.name,
        "state": state_of(group.state),
        "note": tr("generation {generation:,}", generation=group.generation) if group.generation >= 0 else "",
        "lags": list(lag_texts(group, near=True)),
        "trend": state_of(group.trend if group.lag else ""),
        "empty": "" if group.members else tr("No consumer reads."),
    }


def _queue(queue: QueueBox) -> Tree:
    return {
        "kind": "queue",
        "name": queue.name,
        "note": rate_text(queue.rate_per_s),
        "state": state_of(queue.gate),
        "figures": [{"name": word, "count": count_text(count)} for word, count in queue_figures(queue)],
        "rings": [_ring(ring) for ring in queue.leases[:MAX_RINGS]],
        "rest": rings_words(queue),
        "reads": reads_text(queue.reads) if queue.reads else "",
    }


def _ring(ring: LeaseRing) -> Tree:
    left = min(1.0, max(0.0, ring.left))
    return {
        "left": round(left * 100),
        "hue": ring.hue % HUES,
        "attempt": short_count(ring.attempt) if ring.attempt > 1 else "",
        "expiring": left < EXPIRING_SHARE,
    }


def _links(view: CanvasView, layout: Layout) -> Tree:
    drawn = [(link, layout.links[link.key]) for link in view.links if link.key in layout.links]
    blocked = [(link, path) for link, path in drawn if link.blocked]
    words = dict(zip((link.key for link, _ in blocked), word_places([path for _, path in blocked]), strict=True))
    return {" ".join(link.key): _link(link, path, words.get(link.key)) for link, path in drawn}


def _link(link: Link, path: LinkPath, word: tuple[float, float] | None) -> Tree:
    look = "idle" if not link.rate_per_s > 0 else "dead" if link.kind == "dead-letter" else "flow"
    state: list[str] = []
    if link.blocked:
        stopped = link.kind == "consume"
        look = "stopped" if stopped else "blocked"
        state = ["rebalancing", "pause", tr("Stopped")] if stopped else state_of("Blocked")
    x0, y0, dx0, dy0, x1, y1, dx1, dy1 = (round(value, 1) for value in path)
    return {
        "path": f"M{x0} {y0}C{x0 + dx0} {y0 + dy0} {x1 + dx1} {y1 + dy1} {x1} {y1}",
        "width": round(thickness_of(link.rate_per_s), 1),
        "look": look,
        "state": state,
        "word": [round(value) for value in word] if word else [],
        "rate": rate_text(link.rate_per_s),
        "why": link.reason,
    }


def _numbers(rect: Rect) -> list[float]:
    return [round(value, 1) for value in rect]
