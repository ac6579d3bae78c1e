"""The room of the window: sides, panels and timeline fold and come back, and the canvas gets what they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QApplication

from tests.widgets.test_main_window import TABS, actions, parts
from widgets.main_window import MainWindow
from widgets.overlays import FRAME_WIDTH
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.sides import STRIP_WIDTH
from widgets.theme import LIGHT, apply_theme, styled_at_end
from widgets.timeline_facts import Tick, TimelineFacts
from widgets.timeline_painter import AXIS, LEAST_AREA, TOP
from widgets.window_layout import WindowLayout

S = 1_000_000_000


@pytest.fixture
def window(qtbot, qapp):
    apply_theme(qapp, LIGHT)
    with styled_at_end(qapp):
        made = MainWindow(parts(), actions())
    made.parts.canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def settled(window):
    for _ in range(3):
        QApplication.processEvents()
    return window


def test_at_first_the_canvas_has_the_room(window):
    assert not window.shows_panels
    assert not window.left_dock.is_open, "at this width the canvas needs it more"
    assert window.parts.canvas.height() >= 0.65 * window.height()
    assert window.parts.canvas.width() >= 0.7 * window.width()


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_side_folds_to_a_strip_and_comes_back_as_wide_as_it_was(window, qtbot, side):
    dock = getattr(window, f"{side}_dock")
    toggle: Callable[[bool], None] = getattr(window, f"open_{side}")
    toggle(True)
    handle = window.top.handle(1 if side == "left" else 2)
    handle.moveSplitter(280 if side == "left" else window.top.width() - 350)
    width = settled(window).left_dock.width() if side == "left" else window.right_dock.width()
    canvas = window.parts.canvas.width()
    qtbot.mouseClick(dock.button, Qt.MouseButton.LeftButton)
    assert not dock.is_open
    assert not dock.body.isVisible()
    assert dock.width() == STRIP_WIDTH
    assert settled(window).parts.canvas.width() == canvas + width - STRIP_WIDTH
    qtbot.mouseClick(dock.strip, Qt.MouseButton.LeftButton)
    assert dock.is_open
    assert settled(window).parts.canvas.width() == pytest.approx(canvas, abs=1)
    assert dock.width() == pytest.approx(width, abs=1)


def test_the_panels_open_so_high_that_ten_rows_are_seen(window):
    window.resize(1280, 960)
    for name in ("messages", "assignments", "offsets", "in_flight", "events"):
        window.show_tab(name)
        table = settled(window).panel(name).table
        assert table.viewport().height() >= 10 * table.verticalHeader().defaultSectionSize(), name


def test_panels_fold_to_their_tabs_and_come_back_as_high_as_they_were(window, qtbot):
    window.show_tab("offsets")
    window.centre.handle(1).moveSplitter(window.centre.height() - 200)
    area, canvas = window.tabs.area, window.parts.canvas
    height = settled(window) and area.height()
    assert height == pytest.approx(200, abs=8)
    qtbot.mouseClick(window.tabs.fold_button, Qt.MouseButton.LeftButton)
    assert settled(window) and not area.isVisible() and canvas.height() == window.centre.height()
    qtbot.mouseClick(window.tabs.fold_button, Qt.MouseButton.LeftButton)
    assert settled(window) and area.isVisible() and area.height() == height
    assert window.shown_tab() == "offsets"


def test_a_panel_takes_all_of_the_height_and_gives_it_back(window, qtbot):
    window.show_tab("charts")
    height = settled(window).tabs.area.height()
    qtbot.mouseClick(window.tabs.maximise_button, Qt.MouseButton.LeftButton)
    assert not window.parts.canvas.isVisible()
    assert settled(window).tabs.area.height() > 1.5 * height
    assert window.toggle_states()["maximise"]
    qtbot.mouseClick(window.tabs.maximise_button, Qt.MouseButton.LeftButton)
    assert settled(window).parts.canvas.isVisible()
    assert window.tabs.area.height() == height
    window.maximise(True)
    window.open_bottom(False)
    assert window.parts.canvas.isVisible(), "what is folded cannot be maximised"
    assert not window.toggle_states()["maximise"]


def test_focus_shows_canvas_and_timeline_alone_and_gives_back_what_was_there(window):
    window.open_left(True)
    window.show_tab("offsets")
    before = window.present_layout()
    window.focus_canvas(True)
    shown = settled(window)
    assert not any(part.isVisible() for part in (shown.left_dock, shown.right_dock, shown.tabs, shown.status))
    assert window.timeline.isVisible()
    assert window.parts.canvas.width() == window.width()
    assert QApplication.focusWidget() is window.parts.canvas
    window.focus_canvas(False)
    assert settled(window).present_layout() == before
    window.focus_canvas(True)
    window.show_tab("messages")
    assert window.panel("messages").isVisible(), "what is asked for is shown"
    assert not window.toggle_states()["focus"]


def test_what_is_folded_stays_folded_at_the_next_start(qtbot, qapp, tmp_path):
    store = QSettings(str(tmp_path / "layout.ini"), QSettings.Format.IniFormat)
    layouts: list[WindowLayout] = []
    for _start in range(2):
        window = MainWindow(parts(), actions(), (), QSettings(store.fileName(), QSettings.Format.IniFormat))
        qtbot.addWidget(window)
        # As large as fits the offscreen screen: Qt keeps a restored window on it.
        window.resize(960, 700)
        window.show()
        if not layouts:
            window.open_left(True)
            window.open_right(False)
            window.open_timeline(False)
            window.show_tab("events")
            window.maximise(True)
        layouts.append(settled(window).present_layout())
        window.close()
    kept, now = layouts
    assert replace(now, right=kept.right) == kept
    assert now.right == pytest.approx(kept.right, abs=0.02)
    assert (layouts[1].left, layouts[1].right_side, layouts[1].timeline) == (True, False, False)


def test_a_folded_timeline_is_one_line_that_still_finds_its_marks(window, qtbot):
    ticks = (Tick(20 * S, "fault", "crashed"), Tick(50 * S, "bookmark", "here"))
    window.timeline.set_facts(TimelineFacts(0, 100 * S, (), (), ticks))
    high = window.timeline.height()
    asked: list[object] = []
    window.timeline.seekRequested.connect(asked.append)
    qtbot.mouseClick(window.timeline.button, Qt.MouseButton.LeftButton)
    assert window.timeline.height() == TOP + LEAST_AREA + AXIS + FRAME_WIDTH < high
    assert not window.toggle_states()["toggle_timeline"]
    at = window.timeline.rect().topLeft()
    at.setX(round(window.timeline.shape.x_of(20 * S)) + 2)
    at.setY(TOP + LEAST_AREA // 2)
    qtbot.mouseClick(window.timeline, Qt.MouseButton.LeftButton, pos=at)
    assert asked == [20 * S]
    qtbot.mouseClick(window.timeline.button, Qt.MouseButton.LeftButton)
    assert window.timeline.height() == high


def test_tabs_stand_in_five_groups_and_those_that_do_not_fit_are_in_a_menu_with_words(window, qtbot):
    panels = [window.panel(name).info for name in window.tabs.panels]
    groups = [info.group for info in panels]
    assert list(dict.fromkeys(groups)) == ["Data", "Groups", "Flow", "System", "Report"]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index), "those of a group stand together"

    def places():
        return {name: window.tabs.tab(name).geometry() for name in TABS if window.tabs.tab(name).isVisible()}

    assert settled(window) and set(places()) == set(TABS) and not window.tabs.more.isVisible()
    wide = places()
    window.resize(1040, 700)
    narrow = settled(window) and places()
    assert narrow == {name: wide[name] for name in narrow}, "none has moved"
    assert "messages" in narrow and "report" not in narrow
    window.tabs.more.menu().aboutToShow.emit()
    entries = {action.text(): action for action in window.tabs.more.menu().actions() if not action.isSeparator()}
    assert list(entries) == [window.panel(name).title for name in TABS if name not in narrow]
    window.set_tab_count("jobs", 2)
    entries["Report"].trigger()
    assert settled(window).shown_tab() == "report" and window.shows_panels
    assert window.tabs.more.text() == "Report", "the menu says which of its own is in front"
    assert window.place_of_tab("report").center() == window.place_of_tab("jobs").center() != QPoint()
    window.open_bottom(False)
    assert window.tabs.more.text() == "More panels", "none of them is in front"
    window.open_bottom(True)
    assert places() == narrow
    window.tabs.more.menu().aboutToShow.emit()
    assert "Jobs, 2" in [action.text() for action in window.tabs.more.menu().actions()]


def test_no_tab_moves_when_a_panel_is_opened_enlarged_or_put_elsewhere(window, qtbot):
    def at():
        return settled(window) and [window.place_of_tab(name) for name in TABS]

    before = at()
    qtbot.mouseClick(window.tabs.tab("report"), Qt.MouseButton.LeftButton)
    assert window.shows_panels and at() == before
    for change in (window.maximise, window.put_beside):
        for on in (True, False):
            change(on)
            assert at() == before
    qtbot.mouseClick(window.tabs.tab("messages"), Qt.MouseButton.LeftButton)
    assert at() == before and window.shown_tab() == "messages"


def test_a_panel_takes_at_most_half_the_height_or_stands_beside_the_canvas(window, qtbot):
    window.show_tab("messages")
    canvas, area, centre = window.parts.canvas, window.tabs.area, window.centre
    assert settled(window) and canvas.height() >= area.height() > 200
    centre.handle(1).moveSplitter(170)
    assert settled(window) and canvas.height() >= area.height(), "the hand cannot give it more either"
    lesson = window.right.height()

    def at():
        return area.mapTo(centre, QPoint())

    qtbot.mouseClick(window.tabs.beside_button, Qt.MouseButton.LeftButton)
    assert settled(window).toggle_states()["beside"] and at().x() > canvas.x()
    assert area.height() == canvas.height() == centre.height() and area.width() == pytest.approx(canvas.width(), abs=8)
    assert window.present_layout().beside
    qtbot.mouseClick(window.tabs.beside_button, Qt.MouseButton.LeftButton)
    assert not settled(window).toggle_states()["beside"] and at().y() > canvas.y()
    assert window.right.height() == lesson, "what is at the sides keeps its room"


def test_arrow_keys_go_along_the_tabs(window, qtbot):
    window.show_tab("messages")
    window.tabs.tab("messages").setFocus()
    qtbot.keyClick(window.tabs.tab("messages"), Qt.Key.Key_Right)
    assert window.shown_tab() == DeadLettersPanel.info.name
    assert QApplication.focusWidget() is window.tabs.tab("dead_letters")
    qtbot.keyClick(window.tabs.tab("dead_letters"), Qt.Key.Key_Left)
    qtbot.keyClick(window.tabs.tab("messages"), Qt.Key.Key_Left)
    assert window.shown_tab() == TABS[-1]


def test_a_layout_from_before_the_timeline_could_fold_is_still_read():
    text = WindowLayout(bottom=True).to_text().replace('"timeline":true,', "")
    assert "timeline" not in text
    assert WindowLayout.from_text(text) == WindowLayout(bottom=True)
