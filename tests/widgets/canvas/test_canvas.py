"""What the canvas shows, and that it repaints only what has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.widgets.canvas.conftest import Hand, Heard
from tests.widgets.canvas.sample_views import after_rebalance, first_view, indexer_lanes, mid_rebalance, wide_view
from widgets.canvas import queue_item
from widgets.canvas.box_item import BoxItem
from widgets.canvas.canvas import Canvas, tool_tip_html
from widgets.canvas.card_item import CardItem
from widgets.canvas.group_item import BenchItem, GroupItem, WorkersItem
from widgets.canvas.lane_painter import heat_cells
from widgets.canvas.layout import LANE_H, best_arrangement, lay_out
from widgets.canvas.lettering import count_text, elided, plural, rate_text, short_count, width_of
from widgets.canvas.link_item import LinkItem
from widgets.canvas.queue_item import EXPIRING_SHARE, DeadLettersItem, QueueItem
from widgets.canvas.topic_item import TopicItem
from widgets.canvas.view import CanvasView, Lane, LaneGroup, LeaseRing, TopicBox, lane_id
from widgets.theme import DARK, LIGHT, Theme


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, QRectF]]]:
    """What was drawn: (id, the part that was exposed)."""
    log: list[tuple[str, QRectF]] = []
    kinds: tuple[type[BoxItem], ...] = (
        CardItem, TopicItem, GroupItem, BenchItem, WorkersItem, QueueItem, DeadLettersItem, LinkItem,
    )  # fmt: skip
    for kind in kinds:
        usual = kind.draw

        def draw(self: BoxItem, painter: QPainter, exposed: QRectF, usual: object = usual) -> None:
            if not isinstance(self, LinkItem):  # they touch the boxes, so they are drawn with their edges
                log.append((self.item_id, QRectF(exposed)))
            usual(self, painter, exposed)  # type: ignore[operator]

        monkeypatch.setattr(kind, "draw", draw)
    yield log


def settle(drawn: list[tuple[str, QRectF]]) -> None:
    for _ in range(3):
        QApplication.processEvents()
    drawn.clear()


def test_an_equal_view_draws_nothing(drawn: list[tuple[str, QRectF]], canvas: Canvas) -> None:
    settle(drawn)
    canvas.set_view(first_view(), LIGHT)
    QApplication.processEvents()
    assert drawn == []


def test_only_the_lane_that_has_changed_is_drawn_again(drawn: list[tuple[str, QRectF]], canvas: Canvas) -> None:
    settle(drawn)
    view = first_view()
    lanes = list(indexer_lanes())
    lanes[2] = replace(lanes[2], end_offset=lanes[2].end_offset + 1)
    canvas.set_view(replace(view, topics=(replace(view.topics[0], lanes=tuple(lanes)), view.topics[1])))
    QApplication.processEvents()
    assert [item_id for item_id, _ in drawn] == ["topic:commits"]
    assert drawn[0][1].height() < LANE_H + 6


def test_the_head_of_a_topic_is_drawn_again_when_its_first_group_comes(
    drawn: list[tuple[str, QRectF]], canvas: Canvas
) -> None:
    topic = TopicBox("mails", (Lane(0),))
    canvas.set_view(CanvasView(topics=(topic,)))
    settle(drawn)
    canvas.set_view(CanvasView(topics=(replace(topic, lanes=(Lane(0, groups=(LaneGroup("mailers"),)),)),)))
    QApplication.processEvents()
    assert drawn[0][0] == "topic:mails" and drawn[0][1].top() < 2, "no group reads it: no longer"


def test_one_card_is_drawn_again_when_one_consumer_changes(drawn: list[tuple[str, QRectF]], canvas: Canvas) -> None:
    settle(drawn)
    view = first_view()
    members = (replace(view.groups[0].members[0], state="crashed"), *view.groups[0].members[1:])
    canvas.set_view(replace(view, groups=(replace(view.groups[0], members=members), *view.groups[1:])))
    QApplication.processEvents()
    assert Counter(item_id for item_id, _ in drawn) == {"consumer:indexer-1": 1}


def test_a_group_is_drawn_again_whole_when_its_last_member_leaves(
    canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says then that no consumer reads."""
    group = first_view().groups[0]
    updated: list[tuple[float, ...]] = []
    item = next(each for each in canvas.scene().items() if isinstance(each, GroupItem))
    monkeypatch.setattr(item, "update", lambda *part: updated.append(part))
    item.repaint(GroupItem.seen(group), GroupItem.seen(replace(group, members=())))
    assert updated == [()]


def test_a_countdown_moves_only_the_rings_and_only_when_it_can_be_seen(
    drawn: list[tuple[str, QRectF]], canvas: Canvas
) -> None:
    view = first_view()
    canvas.set_view(replace(view, queues=(replace(view.queues[0], leases=(LeaseRing("m", 0.5),)),)))
    settle(drawn)
    for left, times in ((0.5001, 0), (0.45, 1)):
        canvas.set_view(replace(view, queues=(replace(view.queues[0], leases=(LeaseRing("m", left),)),)))
        QApplication.processEvents()
        assert [item_id for item_id, _ in drawn] == ["queue:builds"] * times


def test_a_ring_is_drawn_again_when_it_takes_the_colour_of_an_expiring_lease() -> None:
    expiring, not_yet = (
        QueueItem.seen(replace(first_view().queues[0], leases=(LeaseRing("m", EXPIRING_SHARE + by),)))
        for by in (-0.005, 0.005)
    )
    assert expiring != not_yet


@pytest.mark.parametrize(("in_flight", "told"), [(5, True), (0, False)])
def test_what_a_queue_reads_is_told_where_it_fits_beside_the_words_that_are_there(
    canvas: Canvas, monkeypatch: pytest.MonkeyPatch, in_flight: int, told: bool
) -> None:
    """Five are in flight that nobody has listed: nothing stands there. Of none it says that there are none."""
    written: list[str] = []
    monkeypatch.setattr(queue_item, "write_right", lambda _painter, _x, _y, text, *_rest: written.append(text))
    reads = "a-topic-with-a-name-of-some-length"
    queue = replace(first_view().queues[0], in_flight=in_flight, leases=(), reads=reads)
    canvas.set_view(replace(first_view(), queues=(queue,)))
    canvas.grab()
    assert (f"reads {reads}" in written) == told


def test_items_are_kept_while_views_come_and_go(canvas: Canvas) -> None:
    before = dict(canvas._stage.boxes)
    canvas.set_view(after_rebalance())
    after = canvas._stage.boxes
    assert after["consumer:indexer-4"] is before["consumer:indexer-4"]
    assert after["group:indexers"] is before["group:indexers"]
    canvas.set_view(CanvasView())
    assert canvas._stage.boxes == {} and canvas._stage.links == {}
    canvas.set_view(first_view())
    assert set(canvas._stage.boxes) == set(before)


def test_a_view_that_swaps_everything_leaves_nothing_behind(canvas: Canvas) -> None:
    canvas.set_view(wide_view())
    canvas.set_view(first_view())
    fresh = Canvas(LIGHT)
    fresh.set_view(first_view())
    assert len(canvas._stage.items()) == len(fresh._stage.items())


def picture(canvas: Canvas) -> QImage:
    QApplication.processEvents()
    return canvas.grab().toImage()


def has_colour(image: QImage, colour: str, around: QRectF | None = None) -> bool:
    wanted = QColor(colour)
    area = image.rect() if around is None else around.toAlignedRect().intersected(image.rect())
    return any(
        image.pixelColor(x, y) == wanted
        for x in range(area.left(), area.right())
        for y in range(area.top(), area.bottom())
    )


def area_of(canvas: Canvas, item_id: str) -> QRectF:
    where = canvas._stage.layout.rects[item_id]
    return QRectF(canvas.mapFromScene(QRectF(*where)).boundingRect())


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_rebalance_is_seen(canvas: Canvas, theme: object) -> None:
    colours = LIGHT if theme is LIGHT else DARK
    canvas.set_view(first_view(), colours)
    assert not has_colour(picture(canvas), colours.rebalancing_soft, area_of(canvas, "group:indexers"))
    view = mid_rebalance()
    links = tuple(replace(link, blocked=True) if link.target == "group:indexers" else link for link in view.links)
    canvas.set_view(replace(view, links=links), colours)
    assert has_colour(picture(canvas), colours.rebalancing_soft, area_of(canvas, "group:indexers"))
    stopped = canvas._stage.links["topic:commits", "group:indexers", "consume"]
    running = canvas._stage.links["topic:commits", "group:statistics", "consume"]
    assert stopped.stalled and not stopped.has_dots
    assert not running.stalled and running.has_dots
    words = {key[1]: word.style.word for key, word in canvas._stage._words.items()}
    assert words == {"group:indexers": "Stopped", "topic:audit": "Blocked"}
    canvas.set_view(after_rebalance(), colours)
    assert set(canvas._stage._words) == {("producer:audit-feed", "topic:audit", "publish")}


def test_a_theme_changes_every_colour_at_once(canvas: Canvas) -> None:
    canvas.set_view(first_view(), DARK)
    image = picture(canvas)
    assert image.pixelColor(2, image.height() - 3) == QColor(DARK.window)
    assert not has_colour(image, LIGHT.surface, area_of(canvas, "queue:builds"))


def test_chips_slide_to_the_new_owner(canvas: Canvas, qtbot: QtBot) -> None:
    canvas.set_reduced_motion(False)
    canvas.set_view(after_rebalance())
    assert sorted(chip.partition for chip in canvas._stage.chips) == [3, 4, 5]
    end = canvas._stage.layout.rects["consumer:indexer-4"]
    chip = next(chip for chip in canvas._stage.chips if chip.partition == 3)
    canvas._stage._move_chips(1.0)
    assert end.holds(chip.x() + 10, chip.y() + 10)
    qtbot.waitUntil(lambda: not canvas._stage.chips, timeout=3000)
    card = canvas._stage.boxes["consumer:indexer-4"]
    assert (card.x(), card.y()) == (end.x, end.y)


def test_a_revoked_lane_remembers_who_had_it(canvas: Canvas) -> None:
    canvas.set_reduced_motion(False)
    view = first_view()
    nobody = indexer_lanes(owners=("",))
    canvas.set_view(replace(view, topics=(replace(view.topics[0], lanes=nobody), view.topics[1])))
    assert canvas._stage.chips == []
    canvas.set_view(after_rebalance())
    assert len(canvas._stage.chips) == 3


def test_reduced_motion_moves_nothing(canvas: Canvas) -> None:
    canvas.set_view(after_rebalance())
    assert canvas._stage.chips == []
    assert not canvas._ticker.isActive()


def test_dots_move_only_while_running_visible_and_slow(canvas: Canvas) -> None:
    canvas.set_reduced_motion(False)
    assert canvas._ticker.isActive()
    canvas.set_view(replace(first_view(), running=False))
    assert not canvas._ticker.isActive()
    canvas.set_view(first_view())
    canvas.hide()
    assert not canvas._ticker.isActive()
    canvas.show()
    fast = tuple(replace(link, rate_per_s=5000.0) for link in first_view().links)
    canvas.set_view(replace(first_view(), links=fast))
    assert not canvas._ticker.isActive()


def test_links_thicken_with_their_rate(canvas: Canvas) -> None:
    link = next(iter(canvas._stage.links.values()))
    widths = []
    for rate in (0, 1, 10, 100, 10_000):
        link.set_link(replace(link.link, rate_per_s=float(rate), blocked=False), False)
        widths.append(link.thickness)
    assert widths == sorted(set(widths))


def test_the_empty_canvas_says_so(qtbot: QtBot) -> None:
    canvas = Canvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.resize(600, 400)
    canvas.show()
    assert has_colour(picture(canvas), LIGHT.muted)
    canvas.fit()
    canvas.zoom_in()
    for press in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):
        qtbot.mouseClick(canvas.viewport(), press, pos=QPoint(50, 50))
    qtbot.mouseMove(canvas.viewport(), pos=QPoint(90, 90))
    canvas.set_view(CanvasView(notice="The scenario has ended."))
    assert has_colour(picture(canvas), LIGHT.muted)


def test_clicks_tell_what_was_hit(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    topic = canvas._stage.layout.rects["topic:commits"]
    lane = canvas.mapFromScene(topic.x + 80, topic.y + 48 + 3 * LANE_H + 10)
    for place in (lane, hand.header("topic:commits"), hand.point("dlq:builds"), hand.empty_ground()):
        hand.press(place)
        hand.release(place)
    ids = [word[1] for word in heard.reported]
    assert ids == [lane_id("commits", 3), "topic:commits", "dlq:builds", ""]
    assert not canvas._selection_frame.isVisible()


def test_the_heat_map_answers_for_each_partition(canvas: Canvas) -> None:
    canvas.set_view(wide_view())
    item = canvas._stage.boxes["topic:commits"]
    assert isinstance(item, TopicItem) and item.is_heat_map
    for row in (0, 19, 20, 99):
        centre = item.mapFromScene(item.chip_centre(row, "statistics") or QPoint(-1, -1))
        lane = item.lane_at(centre.x(), centre.y())
        assert lane is not None and lane.partition == row
        assert f"commits/{row}:" in item.tool_tip(centre.x(), centre.y())


def test_a_cell_of_several_partitions_shows_the_worst() -> None:
    lanes = wide_view(partitions=100).topics[0].lanes
    cells = heat_cells(lanes, 0, 5)
    assert len(cells) == 20
    assert cells[1][0] == max(lane.groups[0].lag or 0 for lane in lanes[5:10])


def test_where_nothing_is_committed_all_that_the_log_has_is_shown_as_lag() -> None:
    lane = Lane(0, 100, 1_000, (LaneGroup("billing", owner="biller"),))
    ((lag, _group),) = heat_cells((lane,), 0, 1)
    assert lag == lane.end_offset - lane.start_offset == 900


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_lag_is_seen_though_nothing_is_committed(canvas: Canvas, theme: Theme) -> None:
    """Its hatching lets the colour of lag through: more of it than of any other."""
    lanes = (Lane(0, 0, 1_000, (LaneGroup("billing", owner="biller"),)),)
    canvas.set_view(CanvasView(topics=(TopicBox("mails", lanes),)), theme)
    image, lag = canvas.viewport().grab().toImage(), QColor(theme.lag_fill).rgb()
    box = canvas._stage.layout.rects["topic:mails"]
    top, foot = canvas.mapFromScene(box.x, box.y), canvas.mapFromScene(box.right, box.bottom)
    pixels = [image.pixel(x, y) for x in range(top.x(), foot.x()) for y in range(top.y(), foot.y())]
    assert pixels.count(lag) > 100


def wheel(canvas: Canvas, at: QPoint, clicks: int, control: bool) -> None:
    event = QWheelEvent(
        at.toPointF(), canvas.viewport().mapToGlobal(at).toPointF(), QPoint(), QPoint(0, 120 * clicks),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier if control else Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(canvas.viewport(), event)


def test_ctrl_wheel_zooms_about_the_pointer_and_the_plain_wheel_does_not(canvas: Canvas, hand: Hand) -> None:
    for _ in range(4):
        canvas.zoom_in()
    at = canvas.viewport().rect().center()
    before, zoom = canvas.mapToScene(at), canvas.zoom
    wheel(canvas, at, 3, control=True)
    assert canvas.zoom > zoom * 1.3
    after = canvas.mapToScene(at)
    assert abs(after.x() - before.x()) < 12 and abs(after.y() - before.y()) < 12
    zoom = canvas.zoom
    wheel(canvas, at, 3, control=False)
    assert canvas.zoom == zoom
    canvas.fit()
    assert canvas.zoom < zoom


def test_dragging_empty_ground_pans(canvas: Canvas, hand: Hand, heard: Heard) -> None:
    for _ in range(8):
        canvas.zoom_in()
    ground = next(
        QPoint(x, y)
        for x in range(20, 600, 10)
        for y in range(20, 600, 10)
        if not canvas._stage.id_at(canvas.mapToScene(x, y).x(), canvas.mapToScene(x, y).y())
    )
    before = canvas.mapToScene(0, 0)
    hand.press(ground)
    hand.move(ground - QPoint(30, 40))
    hand.release(ground - QPoint(30, 40))
    assert canvas.mapToScene(0, 0) != before
    assert heard.reported == []


def test_a_fitted_canvas_stays_fitted_and_a_zoomed_one_is_left_alone(canvas: Canvas) -> None:
    canvas.fit()
    canvas.resize(700, 420)
    QApplication.processEvents()
    bounds = canvas._stage.layout.bounds
    assert bounds.w * canvas.zoom <= 701 and bounds.h * canvas.zoom <= 421
    canvas.zoom_in()
    zoom = canvas.zoom
    canvas.resize(900, 700)
    QApplication.processEvents()
    assert canvas.zoom == zoom


def test_a_new_shape_of_the_window_rearranges_the_groups(canvas: Canvas) -> None:
    canvas.resize(1275, 480)
    QApplication.processEvents()
    first, second = (canvas._stage.layout.rects[f"consumer:indexer-{at}"] for at in (1, 2))
    assert first.y == second.y
    assert canvas._stage.boxes["consumer:indexer-2"].x() == second.x
    assert canvas._stage.layout.bounds.h * canvas.zoom <= 481
    canvas.resize(900, 900)
    QApplication.processEvents()
    first, second = (canvas._stage.layout.rects[f"consumer:indexer-{at}"] for at in (1, 2))
    assert first.x == second.x


def test_groups_that_fill_up_later_are_rearranged_when_room_runs_out(canvas: Canvas) -> None:
    canvas.resize(1275, 480)
    view = first_view()
    canvas.set_view(CanvasView())
    canvas.set_view(replace(view, groups=tuple(replace(group, members=()) for group in view.groups), bench=()))
    canvas.set_view(view)
    best = lay_out(view, best_arrangement(view, 1275, 480, canvas.most_fitted)).bounds
    assert canvas.zoom >= 0.8 * min(1275 / best.w, 480 / best.h)


@pytest.mark.promise("25")
def test_names_are_plain_text(canvas: Canvas, hand: Hand) -> None:
    view = first_view()
    card = replace(view.bench[0], name="<b>x</b>", detail="<img src=x>")
    canvas.set_view(replace(view, bench=(card,)))
    tip = canvas.tool_tip_at(hand.point("consumer:<b>x</b>"))
    assert tip.startswith("Consumer <b>x</b>, Idle") and tip.endswith("<img src=x>")
    assert "<b>" not in tool_tip_html(tip) and "&lt;b&gt;" in tool_tip_html(tip)


def test_tool_tips_tell_lanes_leases_and_why_a_link_is_blocked(canvas: Canvas) -> None:
    def tip(item_id: str, dx: float, dy: float) -> str:
        where = canvas._stage.layout.rects[item_id]
        return canvas.tool_tip_at(canvas.mapFromScene(where.x + dx, where.y + dy))

    lane = tip("topic:commits", 100, 48 + 3 * LANE_H + 13)
    assert lane.splitlines()[0] == "commits/3: offsets 0 to 1,611"
    assert "indexers: indexer-1, committed 1,469, lag 142" in lane
    ring = tip("queue:builds", 20, 100).splitlines()
    assert ring[0] == "Message b-0, attempt 1, 100% of the lease left"
    assert "the number is the attempt" in ring[1]
    link = canvas._stage.layout.links["producer:audit-feed", "topic:audit", "publish"]
    middle = canvas.mapFromScene((link.x0 + link.x1) / 2, (link.y0 + link.y1) / 2)
    assert canvas.tool_tip_at(middle) == "audit-feed to audit, Blocked\nTopic audit is full: 400 of 400"


@pytest.mark.parametrize("view", [first_view(), wide_view(), mid_rebalance()], ids=["first", "wide", "rebalance"])
def test_every_item_can_say_what_it_is(canvas: Canvas, view: CanvasView) -> None:
    canvas.set_view(view)
    for item_id, item in canvas._stage.boxes.items():
        assert item.sentence() != item_id and len(item.sentence()) > 8


def test_long_names_are_cut_in_the_middle_and_never_wider_than_their_place(qapp: QApplication) -> None:
    name = "billing-worker-in-a-far-away-region-17"
    shown = elided(name, "name", 90)
    assert width_of(shown, "name") <= 90
    assert shown.startswith("bil") and shown.endswith("17")
    assert elided("No consumer reads. Drop one here.", "small", 60).startswith("No c")


def test_figures() -> None:
    assert [count_text(n) for n in (0, 1204, 9_999_999, 123_456_789, 98_765_432_100)] == [
        "0", "1,204", "9,999,999", "123.5 M", "98.8 G",
    ]  # fmt: skip
    assert [short_count(n) for n in (9999, 12_345, 5_000_000)] == ["9,999", "12k", "5.0M"]
    assert [rate_text(r) for r in (0, 0.4, 12.2, 1234)] == ["0/s", "0.4/s", "12/s", "1,234/s"]
    assert [plural(n, "partition") for n in (0, 1, 2)] == ["no partitions", "1 partition", "2 partitions"]
