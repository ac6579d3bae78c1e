"""The window of its parts: menus, tabs, filter, layout kept, nothing clipped, and the bars alone."""

from itertools import chain

import pytest
from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget

from app.presenters.in_flight import InFlightPanel
from app.presenters.offsets import OffsetsPanel
from app.presenters.panels import PANELS
from app.presenters.segments import LogOnDiskPanel
from tests.widgets.panels.table_of import columns_of
from widgets.cards import RebalancesPanel
from widgets.main_window import MainWindow, Parts
from widgets.navigator import Navigator
from widgets.panel_tabs import DIGIT, PAD, brief
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.backpressure import BackpressurePanel
from widgets.panels.charts import ChartsPanel
from widgets.panels.connections import ConnectionsPanel
from widgets.panels.dead_letters import MORE, DeadLettersPanel
from widgets.panels.events import EventsPanel
from widgets.panels.inspector import InspectorPanel
from widgets.panels.jobs import JobsPanel
from widgets.panels.lesson import LessonPanel
from widgets.panels.messages import MessagesPanel
from widgets.panels.report import ReportPanel
from widgets.panels.schemas import SchemasPanel
from widgets.status_bar import StatusBar, StatusFacts
from widgets.theme import LIGHT, apply_theme, current_theme, styled_at_end, tabular_font
from widgets.toolbar import Toolbar
from widgets.window_layout import WindowLayout

S = 1_000_000_000
TABS = (
    "messages",
    "dead_letters",
    "schemas",
    "log_on_disk",
    "assignments",
    "offsets",
    "in_flight",
    "backpressure",
    "charts",
    "events",
    "connections",
    "jobs",
    "report",
)


def parts():
    def model(columns):
        return columns_of(columns, 30)

    panels = (
        MessagesPanel(model(7)),
        DeadLettersPanel(model(8), model(8)),
        SchemasPanel(model(6), model(6)),
        LogOnDiskPanel(model(11)),
        AssignmentsPanel(model(6), model(6)),
        OffsetsPanel(model(12)),
        InFlightPanel(model(8)),
        BackpressurePanel(),
        ChartsPanel(model(6)),
        EventsPanel(model(10)),
        ConnectionsPanel(model(13), model(8)),
        JobsPanel(),
        ReportPanel(model(3)),
    )
    return Parts(QWidget(), Navigator(), LessonPanel(), InspectorPanel(), RebalancesPanel(), panels)


def actions():
    names = (
        "restart",
        "pause",
        "step",
        "run",
        "fast",
        "express",
        "stop",
        "run_until",
        "export_report",
        "palette",
        "theme",
        *(each if isinstance(each, str) else each[0] for panel in PANELS for each in panel.commands),
        *(each for panel in (*PANELS, InspectorPanel.info) for each in panel.tools),
        *chain.from_iterable(MORE),
    )
    made = {name: QAction(name) for name in names}
    for action in made.values():
        action.setCheckable(True)
    return made


@pytest.fixture(scope="module")
def one_window(qapp):
    apply_theme(qapp, LIGHT)
    with styled_at_end(qapp):
        made = MainWindow(parts(), actions())
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def window(one_window, qtbot):
    one_window.resize(1280, 800)
    one_window.show()
    one_window.set_layout(WindowLayout(left=False))
    one_window.activateWindow()
    qtbot.waitUntil(one_window.isActiveWindow)
    yield one_window
    one_window.hide()


def test_tabs_are_shown_by_name_and_by_click(window, qtbot):
    told: list[object] = []
    window.tabShown.connect(told.append)
    for name in TABS:
        window.show_tab(name)
        assert window.shown_tab() == name
        assert window.panel(name).isVisible()
    qtbot.mouseClick(window.tabs.tab("offsets"), Qt.MouseButton.LeftButton)
    assert window.shown_tab() == "offsets"
    assert told == [*TABS, "offsets"]
    with pytest.raises(KeyError):
        window.show_tab("no such")


def test_the_filter_of_the_tab_in_front_gets_the_cursor(window):
    window.show_tab("in_flight")
    assert window.focus_filter()
    assert QApplication.focusWidget() is window.tab(InFlightPanel).filter_field
    window.show_tab("jobs")
    assert not window.focus_filter()


def test_folded_panels_come_back_with_a_tab(window, qtbot):
    window.show_tab("offsets")
    window.open_bottom(False)
    assert not window.panel("offsets").isVisible()
    assert window.focus_filter(), "whoever filters wants to see what is filtered"
    assert window.panel("offsets").isVisible()
    window.open_bottom(False)
    qtbot.mouseClick(window.tabs.tab("offsets"), Qt.MouseButton.LeftButton)
    assert window.panel("offsets").isVisible()


def test_a_count_says_itself_and_moves_nothing(window):
    places = {name: window.tabs.tab(name).geometry() for name in window.tabs.panels}
    for count in (7, 999, 999_999, 2_000_000_000):
        window.set_tab_count("dead_letters", count)
        QApplication.processEvents()
        tab = window.tabs.tab("dead_letters")
        assert f"{count:,}" in tab.accessibleName()
        assert f"{count:,}" in tab.toolTip()
        room = DIGIT * tab.info.counted + PAD
        assert QFontMetrics(tabular_font(12)).horizontalAdvance(brief(count)) + 4 <= room
        assert {name: window.tabs.tab(name).geometry() for name in window.tabs.panels} == places
    window.set_tab_count("dead_letters", 0)
    assert window.tabs.tab("dead_letters").accessibleName() == "Dead letters"


def test_menus_are_built_from_actions_and_lines_do_not_double(window):
    one, two = QAction("One", window), QAction("Two", window)
    window.set_menus([("File", [None, one, None, None, two])])
    window.set_menus([("File", [None, one, None, None, two])])
    menus = window.menuBar().actions()
    assert [action.text() for action in menus] == ["&File"]
    window.set_menus([(title, [one]) for title in ("Session", "Scenarios", "Size", "File")])
    assert [action.text() for action in window.menuBar().actions()] == ["&Session", "S&cenarios", "S&ize", "&File"]
    window.set_menus([("File", [None, one, None, None, two])])
    menus = window.menuBar().actions()
    assert [action.text() for action in menus[0].menu().actions()] == ["One", "", "Two"]
    assert menus[0].menu().toolTipsVisible()


def test_closing_is_told(window, qtbot):
    with qtbot.waitSignal(window.closing):
        window.close()


def test_size_tab_and_splits_are_kept(qtbot, qapp, tmp_path):
    store = QSettings(str(tmp_path / "layout.ini"), QSettings.Format.IniFormat)
    first = MainWindow(parts(), actions(), (), store)
    qtbot.addWidget(first)
    assert not first.restore()
    # As large as fits the offscreen screen: Qt keeps a restored window on it.
    first.resize(960, 700)
    first.show()
    first.show_tab("backpressure")
    height = first.centre.height()
    first.centre.handle(1).moveSplitter(height - 200)
    sizes = first.centre.sizes()
    assert sizes[0] == height - 200
    first.close()
    second = MainWindow(parts(), actions(), (), QSettings(store.fileName(), QSettings.Format.IniFormat))
    qtbot.addWidget(second)
    second.show()
    assert second.shown_tab() == "backpressure"
    assert (second.width(), second.height()) == (960, 700)
    assert second.centre.sizes() == sizes


def test_a_layout_of_another_version_is_not_taken(qtbot, qapp, tmp_path):
    store = QSettings(str(tmp_path / "layout.ini"), QSettings.Format.IniFormat)
    store.setValue("window/version", 999)
    store.setValue("window/tab", "jobs")
    window = MainWindow(parts(), actions(), (), store)
    qtbot.addWidget(window)
    assert window.shown_tab() == WindowLayout().tab


@pytest.mark.parametrize("size", [(1000, 700), (1280, 800), (1600, 1000), (1920, 1080)])
def test_nothing_of_the_frame_is_clipped(window, qtbot, size):
    window.toolbar.set_scenario("A scenario with a name that is much longer than the toolbar has room for")
    window.toolbar.set_recording(True)
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0])
    QApplication.processEvents()
    bar = window.toolbar
    widgets = [at for action in bar.actions() if action.isVisible() and (at := bar.widgetForAction(action))]
    spared = bar.more.menu().actions()
    assert bar.more.isVisible() == bool(spared), "what has no room stands in a menu"
    assert not spared or size[0] < 1600
    assert [at for at in widgets if not bar.rect().contains(at.geometry())] == []
    assert bar.scenario.width() > 100, "the name can be told from others"
    assert bar.clock.width() >= bar.clock.fontMetrics().horizontalAdvance(bar.clock.text())
    tabs = [window.tabs.tab(name) for name in window.tabs.panels]
    ends = [tab.geometry().right() for tab in tabs if tab.isVisible()]
    assert ends == sorted(ends)
    assert window.tabs.more.isVisible() == (len(ends) < len(tabs)) == (size[0] < 1280)
    assert ends[-1] < window.tabs.beside_button.geometry().left()
    for name in TABS:
        window.show_tab(name)
        row = window.panel(name).title_row
        ends = [row.itemAt(at).geometry().right() for at in range(row.count())]
        assert max(ends) <= window.panel(name).width()


def test_a_canvas_has_the_focus_at_first(qtbot, qapp):
    made = parts()
    made.canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    window = MainWindow(made, actions())
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert QApplication.focusWidget() is made.canvas


def test_the_toolbar_tells_the_speed_that_is_picked_only(window, qtbot):
    bar = window.toolbar
    told: list[object] = []
    bar.speedChosen.connect(told.append)
    bar.speed.setCurrentText("2×")
    assert told == []
    bar.speed.setFocus()
    qtbot.keyClick(bar.speed, Qt.Key.Key_Down)
    assert told == [5.0]


def test_the_toolbar_shows_clock_badge_and_recording(qtbot, qapp):
    bar = Toolbar(actions())
    qtbot.addWidget(bar)
    bar.set_clock("00:12.345", "2026-11-21 10:00:00.000 UTC")
    bar.set_badge("replay", "REPLAY 00:42")
    bar.set_recording(True)
    texts = {label.text() for label in bar.findChildren(QLabel)}
    assert {"00:12.345", "REPLAY 00:42"} <= texts
    assert (bar.record.text(), bar.record.accessibleName()) == ("Recording", "Recording")
    assert "10:00:00" in bar.clock.toolTip()
    assert bar.badge.property("mode") == "replay"


def test_scenario_recording_and_run_until_are_pressed_in_the_toolbar(qtbot, qapp):
    made = {name: QAction(name) for name in ("pick_scenario", "record", "run_until")}
    told: list[str] = []
    for name, action in made.items():
        action.triggered.connect(lambda _on, name=name: told.append(name))
    bar = Toolbar(made)
    qtbot.addWidget(bar)
    bar.set_scenario("Orders & invoices")
    bar.resize(1200, 40)
    bar.show()
    for button in (bar.scenario, bar.record):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
        button.setFocus()
        qtbot.keyClick(button, Qt.Key.Key_Space)
    qtbot.mouseClick(bar.button(made["run_until"]), Qt.MouseButton.LeftButton)
    assert told == ["pick_scenario", "pick_scenario", "record", "record", "run_until"]
    assert bar.scenario.accessibleName() == "Scenario: Orders & invoices"
    assert "&&" in bar.scenario.text(), "an ampersand of the name is no mnemonic"


def test_a_button_that_had_no_room_is_as_disabled_as_its_action(qtbot, qapp):
    made = {name: QAction(name) for name in ("pick_scenario", "record", "restart", "step", "run_until")}
    bar = Toolbar(made)
    qtbot.addWidget(bar)
    for width, enabled in ((1200, False), (320, True), (1200, True), (320, False), (1200, False)):
        some = [made[name] for name in ("restart", "step", "run_until")]
        for action in some:
            action.setEnabled(enabled)
        bar.resize(width, 40)
        bar.show()
        QApplication.processEvents()
        buttons = [button for button in bar.findChildren(QToolButton) if button.defaultAction() in some]
        assert [button.isEnabled() for button in buttons] == [enabled and width == 1200] * 3


def test_a_long_name_of_a_scenario_is_cut_and_shown_whole_on_hover(window):
    name = "<b>scenario</b> " * 20
    window.toolbar.set_scenario(name)
    QApplication.processEvents()
    assert window.toolbar.scenario.text().endswith("…")
    assert window.toolbar.scenario.whole == name
    assert "&lt;b&gt;" in window.toolbar.scenario.toolTip()


def _noted() -> OffsetsPanel:
    return OffsetsPanel(columns_of(12, 30))


@pytest.mark.parametrize(
    ("kind", "show"),
    [
        (lambda: Toolbar({}), lambda bar, digit: bar.set_clock(f"00:12.34{digit}")),
        (StatusBar, lambda bar, digit: bar.set_facts(StatusFacts(seed="Seed 7", rate=f"1,23{digit} messages/s"))),
        (_noted, lambda panel, digit: panel.set_note(f"Lag 1,23{digit} in all")),
    ],
)
def test_digits_that_run_lay_nothing_out_anew(qtbot, kind, show):
    asked: list[QEvent] = []

    class Watch(QObject):
        def eventFilter(self, _watched, event):
            if event.type() is QEvent.Type.LayoutRequest:
                asked.append(event)
            return False

    bar = kind()
    qtbot.addWidget(bar)
    bar.show()
    for digit in range(10):  # the widest is among them
        show(bar, digit)
        QApplication.processEvents()
    watch = Watch()
    bar.installEventFilter(watch)
    show(bar, 1)
    QApplication.processEvents()
    assert asked == []


def test_the_status_bar_hides_what_is_empty_and_does_not_jump(qtbot, qapp):
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.resize(900, 26)
    bar.show()
    bar.set_facts(StatusFacts(seed="Seed 7", rate="1,234 messages/s"))
    assert bar.labels["seed"].isVisible()
    assert not bar.labels["frame"].isVisible()
    width = bar.labels["rate"].minimumWidth()
    bar.set_facts(StatusFacts(seed="Seed 7", rate="1 messages/s"))
    assert bar.labels["rate"].minimumWidth() == width
    bar.show_message("Moved indexer-4 to indexers.")
    assert bar.last_action.whole == "Moved indexer-4 to indexers."
    shown = []
    for name in ("session", "another"):
        path = f"/home/someone/{'folder/' * 40}{name}.html"
        bar.show_message(f"Written to {path}")
        assert path in bar.last_action.toolTip()
        shown.append(bar.last_action.grab().toImage())
    assert shown[0] != shown[1], "what is cut is the middle: the end of a path is seen"


def test_the_status_bar_has_its_room_back_after_larger_type(qtbot, qapp):
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.resize(1200, 26)
    bar.show()
    facts = StatusFacts(seed="Seed 7", rate="1,234 messages/s")
    widths: list[list[int]] = []
    try:
        for factor in (1.0, 1.5, 1.0):
            apply_theme(qapp, current_theme(), factor)
            bar.set_facts(facts)
            widths.append([bar.labels[name].minimumWidth() for name in ("seed", "rate")])
    finally:
        apply_theme(qapp, current_theme(), 1.0)
    designed, larger, after = widths
    assert larger > designed
    assert after == designed
