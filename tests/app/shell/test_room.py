"""At 1280x800 with a panel open: the canvas keeps its scale and its places, and the lesson its next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.environment.paths import find_scenario
from app.shell.workbench import Workbench
from tests.app.one_window import end
from tests.widgets.reading import around
from widgets.canvas import lettering
from widgets.cells import ROW_HEIGHT
from widgets.hint_bar import Notice
from widgets.main_window import MainWindow
from widgets.panels.backpressure import BackpressurePanel
from widgets.panels.messages import MessagesPanel
from widgets.theme import px


@pytest.fixture(scope="module")
def workbench(qapp: QApplication) -> Iterator[Workbench]:
    """First session at its beginning, standing still; every test leaves the window as it found it."""
    made = Workbench(qapp, theme="light", record=False)
    made.settings.hints = False
    made.canvas.set_reduced_motion(True)
    made.controller.open(find_scenario("first-session"))
    made.window.resize(1280, 800)
    made.window.show()
    made.controller.time.run_until(3_000_000_000)
    yield made
    end(made)


@pytest.fixture
def window(workbench: Workbench) -> MainWindow:
    window = workbench.window
    window.put_beside(False)
    window.open_bottom(False)
    window.open_right(True)
    window.parts.lesson.set_folded(False)
    show(workbench)
    workbench.canvas.fit()
    return window


def show(workbench: Workbench) -> None:
    for _ in range(3):
        QApplication.processEvents()
        workbench.draw()


def places(workbench: Workbench) -> dict[str, tuple[int, int]]:
    """Where the top left of every box is, in pixels of the viewport."""
    canvas = workbench.canvas
    rects = canvas._stage.layout.rects
    return {name: canvas.mapFromScene(rect.x, rect.y).toTuple() for name, rect in rects.items()}


def click(workbench: Workbench, widget: QWidget, at: QPoint | None = None) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or widget.rect().center())
    show(workbench)


@pytest.mark.parametrize("beside", [False, True])
def test_a_panel_changes_neither_scale_nor_places(workbench: Workbench, window: MainWindow, beside: bool) -> None:
    canvas, before = workbench.canvas, places(workbench)
    zoom, room = canvas.zoom, canvas.viewport().size()
    window.put_beside(beside)
    show(workbench)
    click(workbench, window.tabs.tab("messages"))
    assert canvas.viewport().width() + canvas.viewport().height() < room.width() + room.height() - 200
    assert (canvas.zoom, places(workbench)) == (zoom, before)
    click(workbench, window.tabs.fold_button)
    assert canvas.viewport().size() == room and (canvas.zoom, places(workbench)) == (zoom, before)


def test_a_notice_changes_neither_scale_nor_places(workbench: Workbench, window: MainWindow) -> None:
    canvas = workbench.canvas
    window.resize(1440, 900)  # with the height of a notice less, another arrangement would show larger
    show(workbench)
    before, zoom = places(workbench), canvas.zoom
    low = max(before, key=lambda name: before[name][1])
    window.hint.show_notice(Notice("Written to report.html"))
    show(workbench)
    assert (canvas.zoom, places(workbench)) == (zoom, before)
    click(workbench, window.hint.dismiss)
    assert (canvas.zoom, places(workbench)) == (zoom, before)
    click(workbench, window.tabs.tab("messages"))
    canvas.set_selected(low)
    assert before[low][1] > canvas.viewport().height(), "what is selected is out of sight"
    window.hint.show_notice(Notice("Written to report.html"))
    show(workbench)
    assert (canvas.zoom, places(workbench)) == (zoom, before)
    click(workbench, window.hint.dismiss)
    assert (canvas.zoom, places(workbench)) == (zoom, before)
    workbench.views.select("")
    window.resize(1280, 800)
    show(workbench)


def test_a_panel_rearranges_nothing(workbench: Workbench, window: MainWindow) -> None:
    """What has grown would now be arranged otherwise: that waits for another size of the window."""
    canvas = workbench.canvas
    now = canvas._stage.arrangement
    kept = replace(now, min_columns=3 - now.min_columns)
    assert canvas._stage.arrange_as(kept)
    canvas._after_layout()
    show(workbench)
    click(workbench, window.tabs.tab("messages"))
    assert canvas._stage.arrangement == kept
    click(workbench, window.tabs.fold_button)
    assert canvas._stage.arrangement == kept
    window.resize(1290, 800)
    show(workbench)
    assert canvas._stage.arrangement == now
    window.resize(1280, 800)
    show(workbench)


def test_a_panel_takes_empty_ground_first(workbench: Workbench, window: MainWindow) -> None:
    canvas = workbench.canvas
    window.resize(1000, 900)  # narrow: much ground above and below
    show(workbench)
    before, zoom = places(workbench), canvas.zoom
    click(workbench, window.tabs.tab("messages"))
    shifts = {(x - before[name][0], y - before[name][1]) for name, (x, y) in places(workbench).items()}
    assert len(shifts) == 1 and canvas.zoom == zoom, "it pans as a whole"
    ((across, down),) = shifts
    assert across == 0 and down < 0
    assert min(y for _x, y in places(workbench).values()) >= 0
    click(workbench, window.tabs.fold_button)
    assert places(workbench) == before
    window.resize(1280, 800)
    show(workbench)


def test_the_selection_stays_in_sight_and_the_canvas_pans(workbench: Workbench, window: MainWindow) -> None:
    canvas, view = workbench.canvas, workbench.canvas.viewport()
    low = max(places(workbench), key=lambda name: places(workbench)[name][1])
    click(workbench, view, QPoint(*places(workbench)[low]) + QPoint(9, 9))
    zoom = canvas.zoom
    click(workbench, window.tabs.tab("messages"))
    at = canvas.place_of(canvas._selected_id)
    assert at is not None and view.rect().contains(at) and canvas.zoom == zoom
    top, highest = places(workbench)[low][1], min(y for _x, y in places(workbench).values())
    assert highest < 0, "it has panned"
    ground = QPoint(4, view.height() - 4)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=ground)
    for step in range(1, 5):
        QTest.mouseMove(view, ground + QPoint(0, 20 * step - 120))
    QTest.mouseMove(view, ground + QPoint(0, 100))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=ground + QPoint(0, 100))
    show(workbench)
    assert places(workbench)[low][1] > top and canvas.follows and canvas.zoom == zoom
    canvas.reveal(low)
    assert places(workbench)[low][1] == top, "and comes back to what is chosen elsewhere"
    workbench.views.select("")


def test_beside_a_panel_titles_are_whole_and_the_bench_is_reached(
    workbench: Workbench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas, view, elided = workbench.canvas, workbench.canvas.viewport(), lettering.elided
    written: dict[str, str] = {}

    def note(text: str, name: str, width: int) -> str:
        return written.setdefault(text, elided(text, name, width))

    monkeypatch.setattr(lettering, "elided", note)
    for panel in ("messages", "dead_letters"):
        click(workbench, window.tabs.tab(panel))
        drawn = canvas._stage.layout.rects
        for bar in (canvas.verticalScrollBar(), canvas.horizontalScrollBar()):
            bar.setValue(bar.minimum())  # the test before has panned
        assert view.height() < canvas.mapFromScene(0, drawn["bench"].bottom).y(), "there is no room for all of it"
        canvas.verticalScrollBar().setValue(canvas.verticalScrollBar().maximum())
        canvas.horizontalScrollBar().setValue(canvas.horizontalScrollBar().maximum())
        bench = canvas.mapFromScene(drawn["bench"].x, drawn["bench"].y)
        foot = canvas.mapFromScene(drawn["bench"].right, drawn["bench"].bottom)
        assert view.rect().contains(bench) and view.rect().contains(foot), "the scroll bars lead to it"
        written.clear()
        for bar in (canvas.verticalScrollBar(), canvas.horizontalScrollBar()):
            for item in canvas.scene().items():
                item.update()  # they keep what they have painted
            view.grab()
            bar.setValue(bar.minimum())
        assert {"commits", "mails", "indexers", "auditors", "indexer-4"} <= written.keys()
        assert [text for text, shown in written.items() if shown != text] == []


def test_the_next_step_is_always_in_sight(workbench: Workbench, window: MainWindow) -> None:
    lesson, strip = window.parts.lesson, window.next_step
    assert not strip.isVisible()
    click(workbench, window.tabs.tab("messages"))
    assert not strip.isVisible() and lesson.height() >= 180
    facts = lesson.facts
    assert facts is not None
    current = next(number for number, step in enumerate(facts.steps) if step.current)
    row = lesson.rows[current]
    assert lesson.rect().contains(row.mapTo(lesson, row.rect().bottomLeft()))
    click(workbench, lesson.fold)
    assert strip.isVisible() and strip.text.text() == facts.steps[current].text
    click(workbench, strip.open)
    assert not strip.isVisible() and not lesson.is_folded
    click(workbench, window.right_dock.button)
    assert strip.isVisible()
    click(workbench, strip.point)
    assert around(window.ring) is not None, "it shows where, too"
    window.focus_canvas(True)
    show(workbench)
    assert strip.isVisible()
    window.focus_canvas(False)
    show(workbench)
    click(workbench, strip.open)
    assert window.right_dock.is_open and not strip.isVisible()
    window.ring.clear()


def test_with_type_twice_as_large_nothing_essential_vanishes(workbench: Workbench, window: MainWindow) -> None:
    toolbar = window.toolbar
    tabs = [name for name in window.tabs.panels if window.tabs.tab(name).isVisible()]
    try:
        workbench.appearance.choose_scale(2.0)
        click(workbench, window.tabs.tab("messages"))
        toolbar.set_badge("replay", "REPLAY 00:42")
        toolbar.set_tint("replay")
        QApplication.processEvents()
        assert window.size().toTuple() == (1280, 800)
        for part in (toolbar.clock, toolbar.badge, toolbar.more, window.timeline, window.status, window.tabs.more):
            assert part.isVisible() and window.rect().contains(part.mapTo(window, part.rect().center()))
            assert part.width() >= part.minimumSizeHint().width() and part.visibleRegion().boundingRect() == part.rect()
        assert toolbar.clock.width() >= toolbar.clock.fontMetrics().horizontalAdvance(toolbar.clock.text())
        hidden = toolbar.more.menu().actions()
        assert hidden and all(action.text() and action.isVisible() for action in hidden), "they are there, in words"
        theme = workbench.registry.action("theme")
        assert theme in hidden and window.place_of_action(theme).center() == window.place_of_action(hidden[0]).center()
    finally:
        workbench.appearance.choose_scale(1.0)
        show(workbench)
    assert not toolbar.more.menu().actions()
    assert [name for name in window.tabs.panels if window.tabs.tab(name).isVisible()] == tabs


def test_with_type_twice_as_large_a_panel_shows_rows(workbench: Workbench, window: MainWindow) -> None:
    panel = window.tab(MessagesPanel)
    try:
        workbench.appearance.choose_scale(2.0)
        assert not window.timeline.is_open, "its lanes wait for room"
        click(workbench, window.tabs.tab("messages"))
        settled(workbench)
        table, row = panel.table, panel.table.rowHeight(0)
        assert panel.model.rowCount() > 5 and row == px(ROW_HEIGHT)
        assert table.viewport().visibleRegion().boundingRect().height() >= row
        title = panel.title_row
        assert title.fold.isVisible() and panel.title_height < 2 * row
        assert not panel.buttons["produce"].visibleRegion().boundingRect().height(), "which comes with the other lines"
        click(workbench, title.fold)
        assert panel.rect().contains(panel.buttons["produce"].geometry()) and panel.title_height > 2 * row
        click(workbench, title.fold)
        panel.focus_filter()
        settled(workbench)
        assert panel.rect().contains(panel.filter_field.geometry()), "whatever has the focus is in sight"
        window.show_tab("backpressure")
        settled(workbench)
        gauge = window.tab(BackpressurePanel).gauges[0]
        seen = gauge.visibleRegion().boundingRect()
        assert seen.width() == gauge.width() and seen.height() > 2 * row, "its name, state and depth"
    finally:
        workbench.appearance.choose_scale(1.0)
        show(workbench)
    assert window.timeline.is_open and not panel.title_row.fold.isVisible()


def settled(workbench: Workbench) -> None:
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    show(workbench)


def test_one_scroll_bar_of_the_canvas_does_not_bring_the_other(workbench: Workbench, window: MainWindow) -> None:
    canvas = workbench.canvas
    across, down = canvas.horizontalScrollBar(), canvas.verticalScrollBar()
    assert not across.maximum() and not down.maximum()
    click(workbench, window.tabs.tab("messages"))
    assert down.maximum() and not across.maximum() and not across.isVisible()


def test_a_title_row_goes_on_below_where_it_does_not_fit(workbench: Workbench, window: MainWindow) -> None:
    panel = window.panel("messages")
    click(workbench, window.tabs.tab("messages"))
    one = panel.title_height
    window.put_beside(True)
    show(workbench)
    row = panel.title_row
    items = [item for at in range(row.count()) if (item := row.itemAt(at)) is not None]
    parts = [part for item in items if (part := item.widget()) is not None and part.isVisible()]
    assert panel.title_height > 1.5 * one
    for number, part in enumerate(parts):
        assert panel.rect().contains(part.geometry()) and part.width() >= part.minimumSizeHint().width()
        assert not any(part.geometry().intersects(other.geometry()) for other in parts[:number])


def test_a_title_that_grows_is_folded_before_it_takes_the_room_of_rows(
    workbench: Workbench, window: MainWindow
) -> None:
    panel = window.panel("messages")
    assert isinstance(panel, MessagesPanel)
    workbench.appearance.choose_scale(1.5)
    try:
        click(workbench, window.tabs.tab("messages"))
        for text, folded in (("0", False), ("200 of 500,000 are shown", True), ("0", False)):
            panel.set_count(text)
            for _ in range(3):
                QApplication.processEvents()
            assert panel.title_row.folded is folded, text
            assert panel.table.viewport().height() >= px(ROW_HEIGHT), text
    finally:
        workbench.appearance.choose_scale(1.0)
        show(workbench)


def test_another_session_unfolds_the_lesson(workbench: Workbench, window: MainWindow) -> None:
    click(workbench, window.parts.lesson.fold)
    assert window.parts.lesson.is_title_alone
    workbench.controller.open(find_scenario("first-session"))
    workbench.controller.time.pause()
    show(workbench)
    assert not window.parts.lesson.is_title_alone and workbench.registry.action("toggle_lesson").isChecked()


def test_a_session_that_opens_over_a_panel_takes_empty_ground_too(workbench: Workbench, window: MainWindow) -> None:
    click(workbench, window.tabs.tab("events"))
    try:
        workbench.controller.open(find_scenario("compaction"))
        show(workbench)
        tops = [y for _x, y in places(workbench).values()]
        foot = workbench.canvas.viewport().height()
        assert 0 <= min(tops) < foot // 4, "what is below is cut while much of this is empty"
    finally:
        workbench.controller.open(find_scenario("first-session"))
        workbench.controller.time.run_until(3_000_000_000)


def test_larger_words_do_not_make_those_of_the_canvas_smaller(workbench: Workbench, window: MainWindow) -> None:
    canvas, plain = workbench.canvas, workbench.canvas.zoom
    workbench.appearance.choose_scale(1.5)
    try:
        show(workbench)
        assert canvas.zoom >= plain * 0.98
        bars = canvas.horizontalScrollBar(), canvas.verticalScrollBar()
        assert any(bar.maximum() > bar.minimum() for bar in bars), "what does not fit is scrolled to"
    finally:
        workbench.appearance.choose_scale(1.0)
        show(workbench)
