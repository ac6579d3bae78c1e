"""How the window looks, chosen and kept: layouts, size of type, presentation, settings, boxes moved by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QApplication

from app.environment.appearance import PRESENTATION_SCALE
from app.environment.settings import Settings
from app.shell.workbench import Workbench
from tests.app.conftest import Hand
from tests.app.dialogs import choose, tick
from tests.app.one_window import end
from widgets.canvas.arranging import from_text, to_text
from widgets.canvas.zoom_view import FIT_MOST
from widgets.dialogs.form import SettingsDialog
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.backpressure import BackpressurePanel, Gauge
from widgets.theme import LIGHT, SCALES, apply_theme, current_theme, scale
from widgets.window_layout import WindowLayout


@pytest.fixture(autouse=True)
def as_designed(qapp: QApplication) -> Iterator[None]:
    yield
    apply_theme(qapp, LIGHT, 1.0)


def shown_sides(hand: Hand) -> tuple[bool, bool, bool]:
    window = hand.workbench.window
    return window.parts.navigator.isVisible(), window.right.isVisible(), window.shows_panels


def test_a_layout_gives_each_side_its_share_of_the_room_that_there_is(hand: Hand) -> None:
    window = hand.workbench.window
    window.set_layout(WindowLayout(left=False, bottom=True, top=(0.2, 0.5, 0.3), whole=(0.6, 0.4)))
    hand.show()
    left, canvas, right = window.top.sizes()
    assert left == window.left_dock.strip.width()
    assert right / (left + canvas + right) == pytest.approx(0.3, rel=0.05)
    above, below = window.centre.sizes()
    assert above / below == pytest.approx(0.6 / 0.4, rel=0.05)


@pytest.mark.parametrize("text", ["", "nonsense", '{"left": 1}', '{"top": [1]}', '{"right": [2.0, -1.0]}'])
def test_a_layout_that_cannot_be_read_is_none(text: str) -> None:
    assert WindowLayout.from_text(text) is None
    kept = WindowLayout(left=False, tab="offsets", whole=(0.25, 0.75), beside=True)
    assert WindowLayout.from_text(kept.to_text()) == kept


def test_type_grows_in_steps_up_to_the_last(hand: Hand) -> None:
    registry, table = hand.workbench.registry, hand.workbench.window.tab(AssignmentsPanel).table
    row = table.verticalHeader().defaultSectionSize()
    registry.trigger("type_larger")
    assert scale() == SCALES[SCALES.index(1.0) + 1]
    hand.workbench.appearance.choose_scale(SCALES[-2])
    registry.trigger("type_larger")
    registry.trigger("type_larger")
    QApplication.processEvents()
    assert scale() == SCALES[-1]
    assert not registry.action("type_larger").isEnabled()
    assert table.verticalHeader().defaultSectionSize() == round(row * SCALES[-1])
    assert hand.workbench.settings.scale == SCALES[-1]


@pytest.fixture
def presenting(open_workbench: Callable[..., Hand], monkeypatch: pytest.MonkeyPatch) -> Hand:
    """The layout comes a second time at once, and not in the next test."""
    monkeypatch.setattr("app.environment.appearance.LAYOUT_AGAIN_MS", 0)
    hand = open_workbench()
    hand.pass_time(10)
    return hand


def test_a_presentation_is_large_and_ends_as_it_began(presenting: Hand) -> None:
    registry = presenting.workbench.registry
    before = shown_sides(presenting)
    registry.trigger("present")
    assert (scale(), shown_sides(presenting)) == (PRESENTATION_SCALE, (False, True, False))
    assert registry.action("present").isChecked()
    registry.trigger("type_larger")
    assert scale() > PRESENTATION_SCALE
    registry.trigger("present")
    assert (scale(), shown_sides(presenting)) == (1.0, before)
    assert presenting.workbench.settings.scale == 1.0, "a presentation is no choice for the next start"


def test_a_presentation_enlarges_the_canvas_and_gives_back_what_was_shown(presenting: Hand, monkeypatch: Any) -> None:
    registry, canvas, window = presenting.workbench.registry, presenting.canvas, presenting.workbench.window
    # The screen of the tests is smaller than the window.
    monkeypatch.setattr(window, "showFullScreen", window.showNormal)
    fitted = canvas.zoom
    for _ in range(3):
        canvas.zoom_out()
    zoom, centre = canvas.zoom, canvas.sight.centre
    registry.trigger("present")
    presenting.show()
    assert canvas.zoom > fitted, "fitted anew, though the user had zoomed"
    assert canvas.follows
    assert window.top.sizes()[1] >= 0.75 * window.top.width()
    registry.trigger("present")
    presenting.show()
    assert canvas.zoom == pytest.approx(zoom)
    assert not canvas.follows
    assert (canvas.sight.centre - centre).manhattanLength() < 20


def test_a_canvas_that_follows_goes_on_following_after_a_presentation(presenting: Hand) -> None:
    registry, canvas = presenting.workbench.registry, presenting.canvas
    fitted = canvas.zoom
    registry.trigger("present")
    canvas.zoom_in()
    registry.trigger("present")
    presenting.show()
    assert canvas.follows
    assert canvas.zoom == pytest.approx(fitted, rel=0.05)


def test_larger_type_lets_a_small_scenario_be_fitted_larger(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("schema-evolution")
    hand.pass_time(2)
    window, appearance = hand.workbench.window, hand.workbench.appearance
    window.resize(3000, 1600)
    hand.show()
    assert hand.canvas.zoom == pytest.approx(FIT_MOST, rel=0.03)
    appearance.choose_scale(1.5)
    hand.show()
    assert hand.canvas.zoom > 1.1 * FIT_MOST
    appearance.choose_scale(1.0)
    hand.show()
    assert hand.canvas.zoom == pytest.approx(FIT_MOST, rel=0.03)


def test_the_settings_dialog_changes_at_once(hand: Hand) -> None:
    hand.workbench.registry.trigger("settings")
    dialog = hand.workbench.window.findChild(SettingsDialog)
    assert dialog is not None
    choose(dialog, "theme", "dark")
    assert current_theme().name == "dark"
    choose(dialog, "scale", 1.3)
    assert scale() == 1.3
    tick(dialog, "reduced_motion", True)
    assert hand.canvas._stage.reduced_motion
    tick(dialog, "record", False)
    assert not hand.workbench.controller.record
    choose(dialog, "language", "en")
    assert hand.workbench.settings.language == "en"
    assert "next time Brokerscope starts" in dialog.note.text()


def test_settings_that_fit_no_more_count_as_not_kept(tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    for name, value in (("window/theme", "pink"), ("window/scale", "9")):
        store.setValue(name, value)
    settings = Settings(store)
    assert (settings.theme, settings.scale) == ("system", 1.0)


def test_a_box_moved_by_hand_takes_its_cards_and_comes_back_with_the_scenario(hand: Hand) -> None:
    registry, canvas = hand.workbench.registry, hand.canvas
    registry.trigger("arrange")
    rects = canvas._stage.layout.rects
    group, card = rects["group:mailers"], rects["consumer:mailer-1"]
    start = hand.place("group:mailers") + QPoint(0, -round(group.h * canvas.zoom / 2) + 6)
    hand.qtbot.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 5):
        hand.qtbot.mouseMove(canvas.viewport(), start + QPoint(10 * step, 5 * step))
    hand.qtbot.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, pos=start + QPoint(40, 20))
    dx, dy = canvas.arrangement["group:mailers"]
    assert dx > 0
    assert dy > 0
    moved = canvas._stage.layout.rects
    assert (moved["group:mailers"].x, moved["group:mailers"].y) == (group.x + dx, group.y + dy)
    assert (moved["consumer:mailer-1"].x, moved["consumer:mailer-1"].y) == (card.x + dx, card.y + dy)
    assert hand.members("mailers") == {"mailer-1": 2}, "nobody has left the group"
    hand.workbench.controller.restart()
    assert canvas.arrangement == {"group:mailers": (dx, dy)}
    hand.pass_time(10)
    registry.trigger("arrange_reset")
    assert canvas._stage.layout.rects["group:mailers"] == group
    registry.trigger("undo")
    assert canvas.arrangement == {"group:mailers": (dx, dy)}


def test_a_box_is_moved_with_the_keyboard(hand: Hand) -> None:
    canvas = hand.canvas
    hand.workbench.registry.trigger("arrange")
    canvas.setFocus()
    canvas._focus_on("topic:mails")
    hand.qtbot.keyClick(canvas, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    hand.qtbot.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.arrangement == {"topic:mails": (8.0, 8.0)}
    hand.workbench.registry.trigger("undo")
    assert canvas.arrangement == {"topic:mails": (0.0, 8.0)}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": [1, "x"]}'])
def test_an_arrangement_that_cannot_be_read_is_none(text: str) -> None:
    assert from_text(text) == {}
    assert from_text(to_text({"topic:a": (8.0, 16.0)})) == {"topic:a": (8.0, 16.0)}


def test_the_language_of_the_settings_is_that_of_the_next_start(qapp: QApplication, tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    first = Workbench(qapp, record=False, settings=store)
    first.settings.language = "de"
    assert Settings(store).language == "de"
    end(first)


def test_lanes_gauges_and_the_toolbar_grow_with_the_size_of_type(hand: Hand) -> None:
    window, appearance = hand.workbench.window, hand.workbench.appearance
    hand.pass_time(1)

    def lengths() -> list[int]:
        gauge = window.tab(BackpressurePanel).findChildren(Gauge)[0]
        bar = window.toolbar
        return [window.timeline.height(), gauge.minimumHeight(), bar.iconSize().width(), bar.speed.width()]

    window.show_tab("backpressure")
    hand.show()
    before = lengths()
    try:
        appearance.choose_scale(1.5)
        hand.show()
        assert all(now >= round(1.45 * then) for now, then in zip(lengths(), before, strict=True))
    finally:
        appearance.choose_scale(1.0)
    hand.show()
    assert lengths() == before
