"""The other panels, each alone, with made-up facts."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.presenters.in_flight import InFlightPanel
from app.presenters.offsets import OffsetsPanel
from tests.widgets.panels.table_of import columns_of, table_of
from widgets.canvas.view import Party
from widgets.cards import CARDS_MAX, Move, RebalanceFacts, RebalancesPanel
from widgets.icons import icon
from widgets.line_label import LineLabel
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.backpressure import GAUGES_MAX, BackpressurePanel, GaugeFacts, Limits
from widgets.panels.chart import Chart
from widgets.panels.charts import ChartsPanel
from widgets.panels.curves import ChartFacts, Curve
from widgets.panels.inspector import InspectorFacts, InspectorPanel
from widgets.panels.jobs import JobFacts, JobsPanel
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import FILTERING_SHOWN_AFTER_MS, TablePanel
from widgets.panels.two_tables import TwoTablesPanel
from widgets.roles import ColumnLook, Role
from widgets.row_table import RowTable
from widgets.theme import DARK, LIGHT, apply_theme, px

MARKUP = "<b>bold</b> &amp; <script>"
A, B = Party("indexer-1", 0, "A"), Party("indexer-2", 1, "B")


def show(qtbot, panel, width=1000, height=300):
    qtbot.addWidget(panel)
    panel.resize(width, height)
    panel.show()
    return panel


def rebalance(number, running=False, group="indexers"):
    moved = tuple(Move(f"commits/{place}", A, B) for place in range(9))
    kept = (Move("commits/9", A, A),)
    return RebalanceFacts(
        (group, number), group, f"{MARKUP} joined {number}", "Rebalancing" if running else "Stable",
        f"{number} → {number + 1}",
        "00:03.000", "Session time", f"no reader 120 ms: {MARKUP}", f"{MARKUP}: 120 ms", running, moved, kept,
    )  # fmt: skip


class Drawn(QObject):
    """The texts of the widgets that are painted, "" for what has none."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.texts.append(watched.whole if isinstance(watched, LineLabel) else "")
        return False


def gauge(target, state="Open", blocked=()):
    return GaugeFacts(
        target, "topic", state, "50 of 50", 1.0, "blocks producers", "No rate limit", "Slowest reader: mail",
        blocked, "Blocked 0 ms in all"
    )  # fmt: skip


def assignments(model):
    return AssignmentsPanel(model, columns_of(3))


class PastPanel(TwoTablesPanel):
    info = OffsetsPanel.info


TABLES = [(assignments, 6), (OffsetsPanel, 12), (InFlightPanel, 8)]


@pytest.mark.parametrize(("kind", "columns"), TABLES)
def test_an_empty_table_says_what_would_be_here_and_how(qtbot, kind, columns):
    panel = show(qtbot, kind(columns_of(columns)))
    assert panel.stack.currentIndex() == 0
    assert panel.empty_state.isVisible()
    assert len(panel.empty_state.text()) > 60
    assert panel.count_label.text() == "0"


def test_columns_that_have_no_room_are_counted_and_named(qtbot):
    model = table_of(["Topic", "Size", "Age"], [(1, ["a", "b", "c"])])
    for at, spare in enumerate((0, 1, 2)):
        model.setHeaderData(at, Qt.Orientation.Horizontal, ColumnLook("text", 100, 1, spare), Role.LOOK)
    panel = show(qtbot, OffsetsPanel(model))
    spared = panel.table.spared
    assert not spared.isVisible()
    panel.resize(px(250), 300)
    QApplication.processEvents()
    assert spared.isVisible() and spared.text() == "+1" and "Age" in spared.toolTip()
    header = panel.table.horizontalHeader()
    ends = [header.sectionViewportPosition(at) + header.sectionSize(at) for at in (0, 1)]
    assert max(ends) <= spared.x() and spared.geometry().right() < panel.width() and spared.height() == header.height()
    panel.resize(px(150), 300)
    QApplication.processEvents()
    assert spared.text() == "+2" and "Size, Age" in spared.toolTip()
    model.setHeaderData(0, Qt.Orientation.Horizontal, ColumnLook("text", 120, 1, 0), Role.LOOK)
    narrow = show(qtbot, OffsetsPanel(model))
    narrow.resize(px(120), 300)  # the sign has no place of its own: the column keeps the whole width
    QApplication.processEvents()
    table = narrow.table
    assert table.spared.text() == "+2" and table.columnWidth(0) == table.viewport().width()


def test_a_button_shows_another_table_with_its_own_count_and_words(qtbot):
    other = columns_of(3, 1)
    words = "Past", "What was", ("Nothing was.", "Wait.")
    panel = show(qtbot, PastPanel(columns_of(12, 2), RowTable(other), *words))
    with qtbot.waitSignal(panel.secondShown) as told:
        qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    assert told.args == [True]
    assert panel.second.isVisible() and not panel.table.isVisible() and panel.count_label.text() == "1"
    other.removeRows(0, 1)
    assert panel.empty_state.isVisible() and panel.empty_state.text() == "Nothing was. Wait."
    qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    assert panel.table.isVisible() and not panel.second.isVisible() and panel.count_label.text() == "2"


@pytest.mark.parametrize(("kind", "columns"), TABLES)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_tables_draw_any_text_as_text(qtbot, qapp, kind, columns, theme):
    apply_theme(qapp, theme)
    more = {"HUE": 3, "BADGE": "AB", "STATE": MARKUP, "COUNTDOWN": 0.05, "WARN": "failure"}
    panel = show(qtbot, kind(columns_of(columns, 40, MARKUP, **more)))
    assert panel.stack.currentIndex() == 1
    assert not panel.grab().isNull()
    assert panel.count_label.text() == "40"
    panel.set_total(500)
    assert panel.count_label.text() == "40 of 500 are shown"


def test_a_row_is_reported_once_and_by_the_next_click_again(qtbot):
    panel = show(qtbot, OffsetsPanel(table_of([str(at) for at in range(12)], [(key, ["a"] * 12) for key in "abc"])))
    told: list[str] = []
    panel.currentChanged.connect(told.append)

    def click(place):
        middle = panel.table.visualRect(panel.model.index(place, 0)).center()
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=middle)

    click(0)
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert told == ["a", "b"]
    click(1)
    assert told == ["a", "b", "b"], "the inspector may show something else by now"
    click(1)
    panel.select(2)
    assert told == ["a", "b", "b", "b", "c"]
    panel.model.beginResetModel()
    panel.model.endResetModel()
    panel.select(2)
    assert told[5:] == ["c"], "that is another row now"


def test_a_header_click_sorts(qtbot):
    rows = [(number, [name] * 6) for number, name in enumerate(("b", "c", "a"))]
    panel = show(qtbot, assignments(table_of([str(at) for at in range(6)], rows)))
    header = panel.table.horizontalHeader()
    where = header.sectionViewportPosition(0) + 20
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(where, 10))
    assert [panel.model.index(place, 0).data() for place in range(3)] == ["a", "b", "c"]


def test_rebalances_are_cards_with_cause_generation_and_how_long_nobody_read(qtbot):
    panel = show(qtbot, RebalancesPanel(), 320, 500)
    panel.set_rebalances([rebalance(2), rebalance(1)])
    texts = [label.text() for label in panel.cards[0].findChildren(QLabel)]
    assert f"{MARKUP} joined 2" in texts
    assert "Generation 2 → 3" in texts
    assert "9 moved · 1 kept" in texts and f"no reader 120 ms: {MARKUP}" in texts
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in panel.findChildren(QLabel) if label.text())
    assert not panel.grab().isNull()


def test_a_running_rebalance_does_not_say_what_moved_before_it_is_known(qtbot):
    panel = show(qtbot, RebalancesPanel(), 320, 500)
    panel.set_rebalances([rebalance(2, running=True)])
    texts = [label.text() for label in panel.cards[0].findChildren(QLabel)]
    assert "9 revoked" in texts


def test_a_card_opens_to_what_stayed_and_stays_open_when_another_comes(qtbot):
    panel = show(qtbot, RebalancesPanel(), 320, 500)
    panel.set_rebalances([rebalance(1)])
    card = panel.cards[0]
    assert card.more.text() == "Show 4 more"
    qtbot.mouseClick(card.more, Qt.MouseButton.LeftButton)
    assert card.more.text() == "Show less"
    panel.set_rebalances([rebalance(2), rebalance(1)])
    assert [one.more.isChecked() for one in panel.cards] == [False, True]
    assert panel.cards[1] is card


def test_a_click_on_a_card_chooses_it(qtbot):
    panel = show(qtbot, RebalancesPanel(), 320, 500)
    panel.set_rebalances([rebalance(7)])
    with qtbot.waitSignal(panel.chosen) as told:
        qtbot.mouseClick(panel.cards[0], Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    assert told.args == [("indexers", 7)]


def test_too_many_rebalances_are_cut_and_it_is_said(qtbot):
    panel = show(qtbot, RebalancesPanel(), 320, 500)
    panel.set_rebalances([rebalance(number) for number in range(100, 0, -1)])
    assert len(panel.cards) == CARDS_MAX
    assert panel.note.text() == f"The newest {CARDS_MAX} of 100 are shown."
    panel.set_rebalances([])
    assert panel.stack.currentIndex() == 0
    assert panel.note.isHidden()


def test_gauges_say_state_and_who_waits(qtbot):
    panel = show(qtbot, BackpressurePanel())
    panel.set_gauges([gauge("alerts", "Full", ("feed for 1.2 s",)), gauge("mails")])
    first = panel.gauges[0]
    assert first.toolTip() == "alerts\nfeed for 1.2 s\nBlocked 0 ms in all"
    assert first.accessibleName() == "alerts: Full, depth 50 of 50"
    with qtbot.waitSignal(panel.chosen) as told:
        qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert told.args == ["alerts"]
    assert not panel.grab().isNull()


def test_gauges_fill_the_width_and_wrap(qtbot):
    panel = show(qtbot, BackpressurePanel(), 1000)
    panel.set_gauges([gauge(f"t{number}") for number in range(4)])
    qtbot.waitUntil(lambda: panel.gauges[1].x() > panel.gauges[0].x())
    assert [one.y() == panel.gauges[0].y() for one in panel.gauges] == [True, True, True, False]
    panel.resize(400, 600)
    qtbot.waitUntil(lambda: panel.gauges[1].y() > panel.gauges[0].y())


def test_gauges_can_be_filtered_and_too_many_are_said(qtbot):
    panel = show(qtbot, BackpressurePanel())
    panel.set_gauges([gauge(f"topic-{number}") for number in range(GAUGES_MAX + 5)])
    assert len(panel.gauges) == GAUGES_MAX
    assert "filter" in panel.note.text()
    panel.filter_field.setText("topic-64")
    qtbot.waitUntil(lambda: len(panel.gauges) == 1)
    assert panel.count_label.text() == f"1 of {GAUGES_MAX + 5}"
    panel.filter_field.setText("no such")
    qtbot.waitUntil(lambda: panel.stack.currentIndex() == 0)


def test_of_a_gauge_only_what_has_changed_is_drawn_again(qtbot, qapp):
    panel = show(qtbot, BackpressurePanel())
    panel.set_gauges([gauge("alerts")])
    qtbot.waitExposed(panel)
    drawn = Drawn()
    for part in (panel.gauges[0], *panel.gauges[0].findChildren(QWidget)):
        part.installEventFilter(drawn)
    qapp.processEvents()
    drawn.texts.clear()
    panel.set_gauges([gauge("alerts")])
    qapp.processEvents()
    assert drawn.texts == []
    panel.set_gauges([replace(gauge("alerts"), turned_away="Blocked 9 ms in all")])
    qapp.processEvents()
    assert "Blocked 9 ms in all" in drawn.texts and "50 of 50" not in drawn.texts


def test_cards_of_gauges_have_one_height_and_nothing_is_cut_off(qtbot, qapp):
    panel = show(qtbot, BackpressurePanel(), 700, 600)
    limited = replace(gauge("limited"), limits=Limits(9, 5.0, "drop_oldest"))
    for size in (1.0, 1.5):
        apply_theme(qapp, LIGHT, size)
        panel.set_gauges(
            [gauge("alerts", "Full", ("feed for 1.2 s",) * 9), limited, replace(gauge("none"), share=None)]
        )
        qapp.processEvents()
        assert len({one.height() for one in panel.gauges}) == 1
        for one in panel.gauges:
            parts = [part for part in one.findChildren(QWidget) if part.isVisible() and part.parent() is one]
            assert all(one.rect().contains(part.geometry()) for part in parts)
            assert all(part.height() >= part.minimumSizeHint().height() for part in parts)
            lines = [part for part in parts if isinstance(part, LineLabel)]
            assert all(part.height() == part.sizeHint().height() for part in lines)
    apply_theme(qapp, LIGHT, 1.0)


def test_jobs_are_cancelled_and_opened_by_a_click(qtbot):
    panel = show(qtbot, JobsPanel())
    panel.set_jobs(
        [
            JobFacts("1", "Report", "Running", MARKUP, 0.42, "", True),
            JobFacts("2", "Report", "Done", "Written", 1.0, "/somewhere/report.html"),
            JobFacts("3", "Report", "Failed", "There is no Java."),
            JobFacts("4", "Report", "Running", "Stopping", None, "", False),
        ]
    )
    running, done, failed, stopping = panel.rows
    assert running.bar.value() == 420
    assert running.cancel_button.isVisible()
    assert not running.open_button.isVisible()
    assert not done.cancel_button.isVisible()
    assert not failed.open_button.isVisible()
    assert stopping.bar.maximum() == 0
    assert not stopping.cancel_button.isEnabled()
    assert stopping.cancel_button.toolTip() == "It is ending."
    assert panel.count_label.text() == "4, 2 running"
    with qtbot.waitSignal(panel.cancelRequested) as told:
        qtbot.mouseClick(running.cancel_button, Qt.MouseButton.LeftButton)
    assert told.args == ["1"]
    with qtbot.waitSignal(panel.openRequested) as told:
        qtbot.mouseClick(done.open_button, Qt.MouseButton.LeftButton)
    assert told.args == ["2"]
    panel.set_jobs([])
    assert "Export report..." in panel.empty_state.text()


def test_the_inspector_shows_facts_and_forgets_them(qtbot):
    panel = show(qtbot, InspectorPanel(), 320, 400)
    panel.set_facts(
        InspectorFacts("Queue", MARKUP, "Full", (("Now", (("Ready", "3"),)), ("Rules", (("Lease", MARKUP),))))
    )
    texts = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert {MARKUP, "Full", "Now", "Ready", "3", "Rules", "Lease"} <= set(texts)
    panel.set_facts(InspectorFacts("Lane", "commits/1", "", (("", (("Offsets", "0 to 3"),)),)))
    texts = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert "Rules" not in texts
    assert "Full" not in texts
    panel.set_facts(None)
    assert panel.stack.currentIndex() == 0


def test_panels_take_on_another_theme(qtbot, qapp):
    apply_theme(qapp, LIGHT)
    inspector, jobs, cards = InspectorPanel(), JobsPanel(), RebalancesPanel()
    for panel in (inspector, jobs, cards):
        show(qtbot, panel, 320, 400)
    inspector.set_facts(InspectorFacts("Group", "indexers", "Stable"))
    jobs.set_jobs([JobFacts("1", "Report", "Failed")])
    cards.set_rebalances([rebalance(1)])
    assert inspector._state.styleSheet() == f"color: {LIGHT.stable};"
    apply_theme(qapp, DARK)
    assert inspector._state.styleSheet() == f"color: {DARK.stable};"
    assert jobs.rows[0]._state.styleSheet() == f"color: {DARK.failure};"
    apply_theme(qapp, LIGHT)


class NamesPanel(TablePanel):
    info = PanelInfo("names", "Names", "topic", filter_hint="Filter")


def test_a_place_that_is_cut_keeps_its_offset(qtbot):
    model = table_of(["Origin", "Cause"], [])
    model.setHeaderData(0, Qt.Orientation.Horizontal, ColumnLook("place", 90), Role.LOOK)
    panel = show(qtbot, NamesPanel(model))
    text = "a-topic-with-a-long-name/12 at 123,456"
    drawn = [panel.table.itemDelegateForColumn(place).cut(text, 90) for place in range(2)]
    assert drawn[0].endswith("at 123,456") and drawn[0].startswith("…")
    assert drawn[1].startswith("a-topic") and drawn[1].endswith("…")


def test_a_panel_says_while_many_rows_are_filtered_and_then_counts_again(qtbot):
    panel = show(qtbot, NamesPanel(table_of(["name"], [(1, ["one"])])))
    panel.set_filtering(True)
    assert panel.count_label.text() == "1", "what takes a moment only is not told"
    qtbot.waitUntil(lambda: panel.count_label.text() == "Filtering and sorting...")
    panel.set_filtering(False)
    assert panel.count_label.text() == "1"
    panel.set_filtering(True)
    panel.set_filtering(False)
    qtbot.wait(FILTERING_SHOWN_AFTER_MS * 2)
    assert panel.count_label.text() == "1"


def test_a_chart_takes_on_another_theme_though_nothing_new_is_drawn(qtbot, qapp):
    apply_theme(qapp, DARK)
    chart = show(qtbot, Chart(), 400, 200)
    curve = Curve("orders", 0, np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0]))
    chart.set_facts(ChartFacts("published", "Published", "messages/s", (curve,)), 2.0)
    apply_theme(qapp, LIGHT)
    picture = chart.grab().toImage()
    corner = picture.pixelColor(picture.width() - 8, picture.height() // 2)
    assert corner.name() == QColor(LIGHT.window).name()
    assert LIGHT.owner(0) in chart._legend.text()
    assert chart._lines[0].opts["pen"].color().name() == QColor(LIGHT.owner(0)).name()


def test_a_chart_takes_all_of_the_room_and_gives_it_back(qtbot, qapp):
    panel = show(qtbot, ChartsPanel(columns_of(6)), 1400, 420)
    curve = Curve("orders", 0, np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0]))
    facts = [ChartFacts(key, key, "messages/s", (curve,)) for key in ("published", "delivered", "lag", "depth")]
    panel.set_charts(facts, 2.0)
    QApplication.processEvents()
    charts = panel.charts()
    for chart in charts.values():
        shown = chart._legend
        assert shown.sizeHint().width() <= shown.width(), "a legend fits"
    before = charts["lag"].size()
    qtbot.mouseClick(charts["lag"].alone_button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert [key for key, chart in charts.items() if chart.isVisible()] == ["lag"]
    assert charts["lag"].height() > 1.5 * before.height() or charts["lag"].width() > 1.5 * before.width()
    panel.resize(700, 420)
    panel.set_charts(facts, 3.0)
    QApplication.processEvents()
    assert [key for key, chart in charts.items() if chart.isVisible()] == ["lag"], "whatever the width"
    qtbot.mouseClick(charts["lag"].alone_button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert all(chart.isVisible() for chart in charts.values())


@pytest.mark.parametrize("kind", ["Consumer", "Partition of a topic"])
def test_the_arrows_of_the_inspector_stay_in_the_line_of_its_title(qtbot, kind):
    panel = InspectorPanel()
    commands = ("inspect_back", "inspect_forward")
    panel.put_commands({command: QAction(icon("undo", LIGHT), command, panel) for command in commands})
    show(qtbot, panel, width=px(236))
    panel.set_facts(InspectorFacts(kind, "commits/0"))
    QApplication.processEvents()
    back, forward = (turn.geometry() for turn in panel.tools.values())
    assert back.center().y() == forward.center().y() < px(40) and forward.right() < panel.width()
    assert panel.title_row.heightForWidth(panel.width()) == panel.title_row.heightForWidth(1_000)
