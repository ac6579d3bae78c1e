"""The timeline: what it draws and says, and what a mouse does on it."""

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication

from widgets.overlays import FRAME_WIDTH
from widgets.theme import current_theme
from widgets.timeline import Timeline
from widgets.timeline_facts import LANES, TICKS, Band, Tick, TimelineFacts, united
from widgets.timeline_painter import AXIS, LEFT, RIGHT, TOP

S = 1_000_000_000


@pytest.fixture
def timeline(qtbot, qapp):
    strip = Timeline()
    qtbot.addWidget(strip)
    strip.resize(LEFT + 1000 + RIGHT, strip.height())
    strip.show()
    strip.set_facts(
        TimelineFacts(
            0,
            100 * S,
            tuple((second * S, float(second)) for second in range(101)),
            (Band(20 * S, 21 * S, "indexers rebalanced"), Band(95 * S, None, "auditors rebalance")),
            (Tick(50 * S, "action", "<b>moved</b>"), Tick(50 * S, "dead letter", "3 dead-lettered")),
        )
    )
    return strip


def test_the_timeline_says_what_happened_where_the_mouse_is(timeline):
    assert timeline.tip_at(LEFT + 500) == "00:50.000   50 messages/s\n<b>moved</b>\n3 dead-lettered"
    assert "indexers rebalanced" in timeline.tip_at(LEFT + 205)
    assert "auditors rebalance" in timeline.tip_at(LEFT + 990)
    assert "rebalance" not in timeline.tip_at(LEFT + 700)


def test_the_moment_under_the_mouse_is_told_as_everywhere_else(timeline):
    timeline.set_facts(replace(timeline.facts, now_ns=60 * S - 400_000, samples=()))
    assert timeline.tip_at(LEFT + 1000).splitlines()[0] == "00:59.999"
    timeline.set_facts(replace(timeline.facts, now_ns=4500 * S))
    assert timeline.tip_at(LEFT + 1000).splitlines()[0] == "1:15:00.000"


def test_the_timeline_draws_bands_ticks_and_area(timeline):
    picture = timeline.grab().toImage()
    lane = {name: top + timeline.shape.lane_height // 2 for name, top in timeline.shape.lane_tops.items()}
    assert list(lane) == ["rebalances", "dead letters", "actions"], "a lane that holds nothing is folded"
    assert picture.pixelColor(LEFT + 500, lane["actions"]).name().upper() == current_theme().accent
    assert picture.pixelColor(LEFT + 500, lane["dead letters"]).name().upper() == current_theme().failure
    assert picture.pixelColor(LEFT + 205, lane["rebalances"]).name().upper() == current_theme().rebalancing
    assert picture.pixelColor(LEFT + 900, TOP + timeline.shape.area_height - 2) != picture.pixelColor(LEFT + 900, TOP)


def test_rebalances_of_many_groups_at_once_shade_the_throughput_once(timeline):
    one = (Band(20 * S, 40 * S, "a rebalanced"),)
    several = (*one, Band(22 * S, 38 * S, "b rebalanced"), Band(25 * S, 30 * S, "c"), Band(60 * S, None, "d"))
    assert united(several, 100 * S) == [(20 * S, 40 * S), (60 * S, 100 * S)]
    pixels = []
    for bands in (one, several):
        timeline.set_facts(replace(timeline.facts, bands=bands))
        pixels.append(timeline.grab().toImage().pixelColor(LEFT + 270, TOP + 3))
    assert pixels[0] == pixels[1]


# Brokers are those of a Kafka cluster, which blocks nobody: no session has both lanes.
@pytest.mark.parametrize("without", ["brokers", "backpressure"])
def test_a_lane_that_appears_takes_its_height_from_the_throughput_and_each_can_be_read(timeline, without):
    height = timeline.height()
    kinds = [kind for kind, (lane, _colour) in TICKS.items() if lane != without]
    lanes = [lane for lane in ("rebalances", "backpressure") if lane != without]
    for most in range(len(kinds) + 1):
        ticks = tuple(Tick(50 * S, kind, "") for kind in kinds[:most])
        bands = tuple(Band(20 * S, 21 * S, "", lane) for lane in lanes)
        timeline.set_facts(replace(timeline.facts, ticks=ticks, bands=bands))
        tops = list(timeline.shape.lane_tops.values())
        assert timeline.height() == height
        assert timeline.shape.lane_height >= 9 and timeline.shape.area_height >= 18
        assert tops[-1] + timeline.shape.lane_height <= timeline.shape.floor == height - AXIS - FRAME_WIDTH
    assert set(timeline.shape.lane_tops) == LANES.keys() - {without}


def test_a_click_seeks_a_drag_scrubs_and_a_click_near_a_mark_finds_it(timeline, qtbot):
    asked: list[object] = []
    timeline.seekRequested.connect(asked.append)
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 300, 30))
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 503, 30))
    assert asked == [30 * S, 50 * S]
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 100, 30))
    qtbot.mouseMove(timeline, QPoint(LEFT + 150, 30))
    qtbot.mouseMove(timeline, QPoint(LEFT + 5_000, 30))
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 150, 30))
    qtbot.mouseMove(timeline, QPoint(LEFT + 200, 30))
    assert asked[2:] == [10 * S, 15 * S, 100 * S]


def test_a_drag_whose_release_went_to_another_window_is_over(timeline, qtbot):
    asked: list[object] = []
    timeline.seekRequested.connect(asked.append)
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 100, 30))
    qtbot.mouseMove(timeline, QPoint(LEFT + 150, 30))
    none = Qt.MouseButton.NoButton
    for x in (LEFT + 200.0, LEFT + 300.0):
        where = QPointF(x, 30)
        move = QMouseEvent(
            QEvent.Type.MouseMove, where, timeline.mapToGlobal(where), none, none, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(timeline, move)
    assert asked == [10 * S, 15 * S]
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 150, 30))


def test_a_click_on_a_bookmark_lands_on_it_with_another_mark_beside_it_and_a_hand_that_trembles(timeline, qtbot):
    at_ns = 50 * S - S // 10  # a pixel beside the others
    timeline.set_facts(replace(timeline.facts, ticks=(*timeline.facts.ticks, Tick(at_ns, "bookmark", "here"))))
    asked: list[object] = []
    timeline.seekRequested.connect(asked.append)
    lane = {name: top + timeline.shape.lane_height // 2 for name, top in timeline.shape.lane_tops.items()}
    for name in ("bookmarks", "actions"):
        where = QPoint(LEFT + 501, lane[name])
        qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=where)
        qtbot.mouseMove(timeline, where + QPoint(1, 1))
        qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=where + QPoint(1, 1))
    assert asked == [at_ns, 50 * S]


def test_the_past_is_veiled_behind_its_moment(timeline):
    live = timeline.grab().toImage()
    timeline.set_facts(replace(timeline.facts, head_ns=40 * S, branch_ns=10 * S))
    past = timeline.grab().toImage()
    assert past.pixelColor(LEFT + 400, 20).name().upper() == current_theme().replay
    assert past.pixelColor(LEFT + 800, 20) != live.pixelColor(LEFT + 800, 20)
    assert past.pixelColor(LEFT + 300, 20) == live.pixelColor(LEFT + 300, 20)


@pytest.mark.parametrize("days", [1, 7, 60])
def test_the_times_below_the_strip_do_not_overlap(timeline, monkeypatch, days):
    drawn: list[tuple[float, float]] = []

    class Recording(QPainter):
        def drawText(self, *given, **_named):
            where, text = given[0], given[-1]
            if where.top() > timeline.shape.floor:
                assert self.fontMetrics().horizontalAdvance(text) <= where.width()
                drawn.append((where.left(), where.right()))
            super().drawText(*given)

    monkeypatch.setattr("widgets.timeline.QPainter", Recording)
    timeline.set_facts(replace(timeline.facts, now_ns=days * 86_400 * S, samples=(), bands=(), ticks=()))
    timeline.grab()
    assert len(drawn) > 1
    assert all(right <= left for (_left, right), (left, _right) in pairwise(sorted(drawn)))


def test_an_empty_timeline_says_what_will_be_there(qtbot, qapp):
    strip = Timeline()
    qtbot.addWidget(strip)
    assert strip.tip_at(10) == ""
    assert not strip.grab().isNull()
