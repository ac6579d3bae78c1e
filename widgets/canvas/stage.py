from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QRect, QVariantAnimation
from PySide6.QtWidgets import QGraphicsScene

from widgets.canvas.box_item import BoxItem, FactsItem, Highlight, Look
from widgets.canvas.card_item import Card, CardItem
from widgets.canvas.geometry import Rect
from widgets.canvas.group_item import BenchItem, CardBox, GroupItem, WorkersItem
from widgets.canvas.layout import Arrangement, Layout, LayoutKey, Shift, best_arrangement, lay_out, layout_key
from widgets.canvas.link_item import LinkItem, LinkWordItem
from widgets.canvas.overlay_items import ChipItem, RestItem
from widgets.canvas.ports import word_places
from widgets.canvas.queue_item import DeadLettersItem, QueueItem
from widgets.canvas.topic_item import TopicItem
from widgets.canvas.view import BENCH_ID, CanvasView, ConsumerCard, Ghost, GhostMove

Item = TypeVar("Item", bound=FactsItem[Any])
LinkKey = tuple[str, str, str]
OwnerKey = tuple[str, int, str]
CHIPS_AT_ONCE = 32
DIMMED = 0.22
CHIP_SLIDE_MS = 520


class Stage(QGraphicsScene):
    """Items by id, where `layout` says. `apply` takes a view; other setters change emphasis, or where things stand."""

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.look = look
        self.view = CanvasView()
        self.layout = Layout()
        self.boxes: dict[str, BoxItem] = {}
        self.links: dict[LinkKey, LinkItem] = {}
        self.reduced_motion = False
        self.arrangement = Arrangement()
        self.moved: dict[str, Shift] = {}
        self.dimmed: frozenset[str] = frozenset()
        self._words: dict[LinkKey, LinkWordItem] = {}
        self._word_keys: tuple[tuple[LinkKey, bool], ...] = ()
        self._key: LayoutKey = layout_key(self.view)
        self._owners: dict[OwnerKey, str] = {}
        self._owner = ""
        self.chips: list[ChipItem] = []
        self._slide = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=CHIP_SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._slide.valueChanged.connect(self._move_chips)
        self._slide.finished.connect(self.finish_motion)

    def apply(self, view: CanvasView) -> bool:
        if view is self.view or view == self.view:
            return False
        self.view = view
        key = layout_key(view)
        changed = key != self._key
        if changed:
            self._key = key
            self.layout = lay_out(view, self.arrangement, self.moved)
        self._set_boxes()
        if changed:
            self._place_boxes()
        self._set_links(changed)
        self._slide_chips()
        return changed

    def arrange(self, width: float, height: float, max_scale: float, *, keep: bool = False) -> bool:
        """Choose the arrangement for a viewport of so many pixels; True if the layout has changed.

        With `keep`, that of now stays if another would show little more.
        """
        now = self.arrangement if keep else None
        return self.arrange_as(best_arrangement(self.view, width, height, max_scale, now))

    def arrange_as(self, arrangement: Arrangement) -> bool:
        """Take an arrangement; True if the layout has changed."""
        if arrangement == self.arrangement:
            return False
        self.arrangement = arrangement
        self._place_anew()
        return True

    def set_owner(self, consumer: str) -> None:
        """Frame what this consumer reads where owners are not drawn; "" for none."""
        self._owner = consumer
        for item in self.boxes.values():
            if isinstance(item, TopicItem):
                item.set_owner(consumer)

    def set_dimmed(self, dimmed: frozenset[str]) -> None:
        for item_id in self.dimmed ^ dimmed:
            item = self.boxes.get(item_id)
            if item is not None:
                item.setOpacity(DIMMED if item_id in dimmed else 1.0)
        self.dimmed = dimmed

    def set_moved(self, moved: dict[str, Shift]) -> None:
        if moved != self.moved:
            self.moved = moved
            self._place_anew()

    def _place_anew(self) -> None:
        self.layout = lay_out(self.view, self.arrangement, self.moved)
        self._place_boxes()
        self._set_links(True)

    def _box(self, item_id: str, kind: type[Item], facts: object) -> Item:
        item = self.boxes.get(item_id)
        if item is None:
            item = self.boxes[item_id] = kind(item_id, facts, self.look)
            item.place(self.layout.rects[item_id])
            item.setOpacity(DIMMED if item_id in self.dimmed else 1.0)
            self.addItem(item)
        assert isinstance(item, kind)
        item.set_facts(facts)
        return item

    def _set_boxes(self) -> None:
        for topic in self.view.topics:
            self._box(topic.id, TopicItem, topic).set_owner(self._owner)
        for group in self.view.groups:
            self._box(group.id, GroupItem, group)
            self._set_cards(group.id, group.members)
        if BENCH_ID in self.layout.rects:
            self._box(BENCH_ID, BenchItem, self.view.bench)
            self._set_cards(BENCH_ID, self.view.bench)
        for queue in self.view.queues:
            self._box(queue.id, QueueItem, queue)
            self._box(queue.dead_letters_id, DeadLettersItem, queue)
            self._box(queue.workers_id, WorkersItem, queue)
            self._set_cards(queue.workers_id, queue.workers)
        self._set_cards("", self.view.producers)
        self._set_cards("", self.view.nodes)
        for rest in self.view.rests:
            self._box(rest.id, RestItem, rest)

    def _set_cards(self, box: str, cards: tuple[Card, ...]) -> None:
        for card in cards:
            if card.id in self.layout.rects:
                self._box(card.id, CardItem, card).set_small(card.id in self.layout.small)
        container = self.boxes.get(box)
        if isinstance(container, CardBox):
            container.set_hidden(self.layout.hidden.get(box, 0))

    def _place_boxes(self) -> None:
        for gone in self.boxes.keys() - self.layout.rects.keys():
            self.removeItem(self.boxes.pop(gone))
        for item_id, item in self.boxes.items():
            item.place(self.layout.rects[item_id])

    def _set_links(self, changed: bool) -> None:
        boxes = [(group.id, self.boxes.get(group.id)) for group in self.view.groups]
        stopped = {name for name, box in boxes if isinstance(box, GroupItem) and box.is_rebalancing}
        if changed:
            wanted = {link.key for link in self.view.links if link.key in self.layout.links}
            for gone in self.links.keys() - wanted:
                self.removeItem(self.links.pop(gone))
        words: list[tuple[LinkKey, bool]] = []
        for link in self.view.links:
            route = self.layout.links.get(link.key)
            if route is None:
                continue
            rebalances = link.target in stopped or self.layout.container.get(link.target, "") in stopped
            item = self.links.get(link.key)
            if item is None:
                item = self.links[link.key] = LinkItem(link, self.look)
                self.addItem(item)
            item.set_route(route)
            item.set_link(link, stalled=link.blocked and rebalances)
            if link.blocked:
                words.append((link.key, not rebalances))
        if changed or tuple(words) != self._word_keys:
            self._word_keys = tuple(words)
            self._place_words()

    def _place_words(self) -> None:
        keys = [key for key, _ in self._word_keys]
        for gone in self._words.keys() - set(keys):
            self.removeItem(self._words.pop(gone))
        places = word_places([self.layout.links[key] for key in keys])
        for (key, blocked), (x, y) in zip(self._word_keys, places, strict=True):
            word = self._words.get(key)
            if word is None:
                word = self._words[key] = LinkWordItem("word:" + "->".join(key), self.look)
                self.addItem(word)
            word.show_word(x, y, blocked)

    def _slide_chips(self) -> None:
        moved: list[tuple[OwnerKey, str, str, int]] = []
        owners: dict[OwnerKey, str] = {}
        for topic in self.view.topics:
            for lane in topic.lanes:
                for place in lane.groups:
                    key = (topic.name, lane.partition, place.group)
                    before = self._owners.get(key, "")
                    owners[key] = place.owner or before
                    if place.owner and before and place.owner != before:
                        moved.append((key, before, place.owner, place.hue))
        self._owners = owners
        if moved and not self.reduced_motion and len(moved) <= CHIPS_AT_ONCE:
            self._start_chips(moved)

    def _start_chips(self, moved: list[tuple[OwnerKey, str, str, int]]) -> None:
        self.finish_motion()
        for (topic, partition, group), before, after, hue in moved:
            end = self.layout.rects.get(f"consumer:{after}")
            topic_item = self.boxes.get(f"topic:{topic}")
            if end is None or not isinstance(topic_item, TopicItem):
                continue
            start = _badge_corner(self.layout.rects.get(f"consumer:{before}"))
            if start is None:
                centre = topic_item.chip_centre(partition, group) or QPointF(end.x, end.y)
                start = centre - QPointF(ChipItem.WIDTH / 2, ChipItem.HEIGHT / 2)
            chip = ChipItem(partition, hue, self.look, start, _badge_corner(end) or start)
            self.addItem(chip)
            self.chips.append(chip)
        self._move_chips(0.0)
        self._slide.start()

    def _move_chips(self, share: float) -> None:
        for chip in self.chips:
            chip.setPos(chip.start + (chip.end - chip.start) * share)

    def finish_motion(self) -> None:
        self._slide.stop()
        for chip in self.chips:
            self.removeItem(chip)
        self.chips.clear()

    def set_ghost(self, ghost: Ghost | None) -> None:
        by_topic: dict[str, dict[tuple[int, str], GhostMove]] = {}
        for move in ghost.moves if ghost is not None else ():
            by_topic.setdefault(move.topic, {})[move.partition, move.group] = move
        for topic in self.view.topics:
            item = self.boxes.get(topic.id)
            if isinstance(item, TopicItem):
                item.set_ghosts(by_topic.get(topic.name, {}))

    def set_highlights(self, target: str | None, candidates: bool) -> None:
        """Show which boxes can take what is dragged; `target` is the id of the one under the pointer."""
        for item_id, item in self.boxes.items():
            if isinstance(item, GroupItem | BenchItem):
                level = Highlight.CANDIDATE if candidates else Highlight.NONE
                item.set_highlight(Highlight.TARGET if candidates and item_id == target else level)

    def targets_in_view(self) -> list[QRect]:
        """Where the boxes that take what is carried are in the viewport, and the topics whose owners a drop changes."""
        (view, *_others) = self.views()
        boxes = [item for item in self.boxes.values() if isinstance(item, GroupItem | BenchItem | TopicItem)]
        return [view.mapFromScene(item.sceneBoundingRect()).boundingRect() for item in boxes]

    def repaint_all(self) -> None:
        for item in self.items():
            item.update()

    def id_at(self, x: float, y: float) -> str:
        """The id under a scene point, cards before boxes, "" on empty ground."""
        rects, found = self.layout.rects, ""
        for item_id, where in rects.items():
            if where.holds(x, y):
                if item_id in self.layout.container:
                    return item_id
                found = found or item_id
        item = self.boxes.get(found)
        if isinstance(item, TopicItem):
            return item.id_at(x - item.x(), y - item.y())
        if isinstance(item, RestItem) and (cell := item.cell_at(x - item.x(), y - item.y())) is not None:
            return cell.id
        return found

    def rect_of(self, item_id: str) -> Rect | None:
        """Where an id stands; a lane that has no row of its own (in a heat map) stands for its topic."""
        if not item_id.startswith("lane:"):
            return self.layout.rects.get(item_id)
        name, _, number = item_id.removeprefix("lane:").rpartition("/")
        where, topic = self.layout.rects.get(f"topic:{name}"), self.boxes.get(f"topic:{name}")
        row = topic.row_of(int(number)) if isinstance(topic, TopicItem) else None
        return where if where is None or row is None else Rect(where.x, where.y + row.y, where.w, row.h)

    def consumer(self, item_id: str) -> ConsumerCard | None:
        item = self.boxes.get(item_id)
        card = item.facts if isinstance(item, CardItem) else None
        return card if isinstance(card, ConsumerCard) else None

    def home_of(self, item_id: str) -> str:
        return self.layout.container.get(item_id, BENCH_ID).partition(":")[2]

    def link_at(self, x: float, y: float) -> LinkItem | None:
        return next((item for item in self.links.values() if item.is_near(x - item.x(), y - item.y())), None)


def _badge_corner(card: Rect | None) -> QPointF | None:
    return None if card is None else QPointF(card.x + 5, card.y + 14)
