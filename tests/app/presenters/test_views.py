"""All models with a real window: only what is visible is brought up to date, and a frame stays cheap."""

import statistics
import time

import msgspec
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from app.commands.menus import COMMANDS
from app.commands.registry import ActionRegistry
from app.presenters.assignments import AssignmentsPresenter
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.offsets import OffsetsPresenter
from app.presenters.views import Views
from app.sessions.history.past import History
from app.sessions.session_controller import SessionController
from broker_core.snapshots import Totals
from tests.app.presenters import made_up
from widgets.canvas.canvas import Canvas
from widgets.main_window import MainWindow
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.roles import Role
from widgets.theme import DARK, LIGHT, apply_theme, current_theme, styled_at_end

S, MS = made_up.S, made_up.MS


class Bench:
    """A window, its models and its registry."""

    def __init__(self, qtbot, qapp):
        with styled_at_end(qapp):
            self.views = Views(SessionController(record=False), History())
            self.registry = ActionRegistry(COMMANDS)
            self.window = MainWindow(self.views.make_parts(Canvas(current_theme())), self.registry.actions)
            self.views.attach(self.window)
        self.parts = self.window.parts
        qtbot.addWidget(self.window)
        self.window.resize(1600, 1000)
        self.window.show()
        QApplication.processEvents()


@pytest.fixture
def bench(one_window, qtbot, qapp):
    one_window.end()  # a change of theme pays for every window that is open
    apply_theme(qapp, LIGHT)
    made = Bench(qtbot, qapp)
    yield made
    made.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_only_the_tab_in_front_is_brought_up_to_date(bench):
    bench.window.show_tab("assignments")
    bench.views.refresh(made_up.living())
    assert bench.views.presenter(AssignmentsPresenter).model.rowCount() == 7
    assert bench.views.presenter(OffsetsPresenter).model.rowCount() == 0
    bench.window.show_tab("offsets")
    assert bench.views.presenter(OffsetsPresenter).model.rowCount() == 7
    assert bench.views.presenter(DeadLettersPresenter).model.rowCount() == 0
    assert bench.window.tabs.tab("dead_letters").count == 23


def test_a_hidden_bottom_costs_nothing(bench):
    bench.window.show_tab("assignments")
    bench.window.open_bottom(False)
    bench.views.refresh(made_up.living())
    assert bench.views.presenter(AssignmentsPresenter).model.rowCount() == 0


def test_the_clock_and_the_canvas_follow_every_frame_the_rest_when_asked(bench):
    bench.views.refresh(made_up.living(12 * S), panels=False)
    assert bench.window.toolbar.clock.text() == "00:12.000"
    assert [box.name for box in bench.parts.canvas.view.groups] == ["indexers", "mail"]
    assert bench.views.presenter(AssignmentsPresenter).model.rowCount() == 0
    assert bench.window.timeline.facts.now_ns == 0


def test_typing_a_filter_filters_and_counts(bench, qtbot):
    bench.window.show_tab("dead_letters")
    bench.views.refresh(made_up.living())
    panel = bench.window.tab(DeadLettersPanel)
    panel.focus_filter()
    qtbot.keyClicks(panel.filter_field, "onerror")
    qtbot.waitUntil(lambda: 0 < bench.views.presenter(DeadLettersPresenter).model.rowCount() < 23)
    assert panel.count_label.text() == f"{bench.views.presenter(DeadLettersPresenter).model.rowCount()} of 23 are shown"
    assert (
        panel.buttons["redrive_all"].text()
        == f"Redrive listed ({bench.views.presenter(DeadLettersPresenter).model.rowCount()})"
    )


def test_what_was_redriven_has_words_of_its_own_for_nothing_beside_the_topics_of_a_cluster(bench, qtbot, monkeypatch):
    bench.window.show_tab("dead_letters")
    monkeypatch.setattr(bench.views.sources.controller.source, "knows", lambda what: what != "leases")
    bench.views.refresh(made_up.living(dead=0))
    panel = bench.window.tab(DeadLettersPanel)
    assert "No dead-letter topic has a message." in panel.empty_state.text()
    qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    bench.views.refresh(made_up.living(2 * S, dead=0))
    assert "No dead-letter topic" not in panel.empty_state.text()


def test_selected_letters_stay_selected_while_others_come_and_are_redriven_by_a_click(bench, qtbot):
    bench.window.show_tab("dead_letters")
    bench.views.refresh(made_up.living(12 * S, dead=10))
    panel = bench.window.tab(DeadLettersPanel)
    for place, modifier in ((2, Qt.KeyboardModifier.NoModifier), (4, Qt.KeyboardModifier.ControlModifier)):
        where = panel.table.visualRect(panel.model.index(place, 1)).center()
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, modifier, where)
    wanted = panel.selected_keys()
    snapshot = made_up.living(12 * S, dead=10)
    fresh = msgspec.structs.replace(made_up.dead_letter(77, 12 * S), dead_ns=13 * S)
    queue = msgspec.structs.replace(snapshot.queues[0], dead_letters=(*snapshot.queues[0].dead_letters[1:], fresh))
    bench.views.refresh(msgspec.structs.replace(snapshot, time_ns=13 * S, queues=(queue,)))
    assert panel.model.index(0, 0).data(Role.KEY) == ("builds", 77)
    told = []
    bench.registry.bind("redrive_selected", lambda: told.append(panel.selected_keys()))
    qtbot.mouseClick(panel.buttons["redrive_selected"], Qt.MouseButton.LeftButton)
    assert told == [wanted]
    assert len(wanted) == 2


def test_a_click_on_a_letter_shows_its_details(bench, qtbot):
    bench.window.show_tab("dead_letters")
    bench.views.refresh(made_up.living())
    panel = bench.window.tab(DeadLettersPanel)
    where = panel.table.visualRect(panel.model.index(1, 1)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert panel.details.payload.data.startswith(b"<img src=x")


def test_a_chosen_cause_filters_and_is_let_go_when_it_is_empty(bench):
    bench.window.show_tab("dead_letters")
    bench.views.refresh(made_up.living())
    panel = bench.window.tab(DeadLettersPanel)
    panel.causes.setCurrentRow(1)
    assert panel.chosen_cause == bench.views.presenter(DeadLettersPresenter).model.causes[0][0]
    assert (
        bench.views.presenter(DeadLettersPresenter).model.rowCount()
        == bench.views.presenter(DeadLettersPresenter).model.causes[0][1]
    )
    other = [row for row in bench.views.presenter(DeadLettersPresenter).model.rows if row.cause != panel.chosen_cause]
    snapshot = made_up.living(13 * S)
    queue = msgspec.structs.replace(snapshot.queues[0], dead_letters=tuple(other))
    bench.views.refresh(msgspec.structs.replace(snapshot, queues=(queue,)))
    assert panel.chosen_cause is None
    assert bench.views.presenter(DeadLettersPresenter).model.rowCount() == len(other)


def test_more_than_is_listed_is_said(bench):
    bench.window.show_tab("dead_letters")
    snapshot = made_up.living()
    queue = made_up.queue(snapshot.time_ns, dead=100_000, listed=50)
    bench.views.refresh(msgspec.structs.replace(snapshot, queues=(queue,)))
    assert (
        bench.window.tab(DeadLettersPanel).note.text()
        == "50 of 100,000 dead letters are listed; the counts include all of them."
    )


def test_the_selected_thing_is_inspected_and_followed(bench):
    bench.views.refresh(made_up.living())
    bench.views.select("producer:alerts-feed")
    assert bench.parts.inspector.facts.state == "running"
    bench.views.refresh(made_up.blocked())
    assert bench.parts.inspector.facts.state == "blocked"
    bench.views.refresh(made_up.empty(19 * S))
    assert bench.parts.inspector.facts is None


def test_another_session_forgets_the_timeline(bench):
    bench.views.refresh(made_up.living())
    bench.views.status_model.seed = 7
    bench.views.restart()
    bench.views.refresh(made_up.living(1 * S))
    assert bench.window.timeline.facts.now_ns == S
    assert bench.views.status_model.seed == 7


@pytest.mark.parametrize(
    ("theme", "make"),
    [(LIGHT, made_up.living), (DARK, made_up.rebalancing), (LIGHT, made_up.blocked), (DARK, made_up.empty)],
)
def test_every_tab_of_every_snapshot_can_be_drawn(bench, qapp, theme, make):
    apply_theme(qapp, theme)
    bench.views.refresh(make())
    for name in ("assignments", "offsets", "in_flight", "dead_letters", "backpressure", "jobs"):
        bench.window.show_tab(name)
        assert not bench.window.grab().isNull()


def read_on(at, tick):
    return msgspec.structs.replace(at, end_offset=at.end_offset + tick, lag=(at.lag or 0) + tick % 5)


def moved_on(base, tick):
    """The next snapshot, 33 ms later, as a living scenario changes."""
    replace = msgspec.structs.replace
    topics = tuple(
        replace(topic, published=topic.published + 8 * tick,
                partitions=tuple(replace(part, end_offset=part.end_offset + tick) for part in topic.partitions))
        for topic in base.topics
    )  # fmt: skip
    groups = tuple(replace(one, offsets=tuple(read_on(at, tick) for at in one.offsets)) for one in base.groups)
    actors = tuple(replace(actor, processed=actor.processed + 3 * tick) for actor in base.actors)
    return replace(base, time_ns=base.time_ns + tick * 33 * MS, topics=topics, groups=groups, actors=actors)


@pytest.mark.parametrize("tab", ["assignments", "offsets", "in_flight", "dead_letters"])
def test_a_frame_of_the_living_scenario_tells_cells_and_moves_no_row(bench, tab):
    bench.window.show_tab(tab)
    base = made_up.living()
    bench.views.refresh(moved_on(base, 1))
    model = bench.window.panel(tab).model
    cells, moves = [], []
    model.dataChanged.connect(lambda a, b: cells.append((b.row() - a.row() + 1) * (b.column() - a.column() + 1)))
    for signal in (model.rowsInserted, model.rowsRemoved, model.layoutChanged, model.modelReset):
        signal.connect(lambda *told: moves.append(told))
    frames = 24
    for tick in range(2, 2 + frames):
        bench.views.refresh(moved_on(base, tick))
    assert moves == []
    # Never a whole row at once where a few of its cells have changed.
    assert sum(cells) < frames * model.rowCount() * model.columnCount() * 0.75


def cost_ms(bench, snapshots):
    """The median of what the frames cost, in CPU time of the window's thread."""
    costs_ms = []
    for snapshot in snapshots:
        began = time.thread_time()
        bench.views.refresh(snapshot)
        QApplication.processEvents()
        costs_ms.append((time.thread_time() - began) * 1000)
    return statistics.median(costs_ms)


@pytest.mark.bench
@pytest.mark.parametrize("tab", ["assignments", "offsets", "in_flight", "dead_letters", "backpressure"])
def test_what_a_frame_of_the_living_scenario_costs(bench, tab):
    """Printed: the aim is 8 ms."""
    bench.window.show_tab(tab)
    base = made_up.living()
    print(f"\n  a frame with {tab:14} {cost_ms(bench, [moved_on(base, tick) for tick in range(1, 25)]):6.2f} ms CPU")


@pytest.mark.bench
@pytest.mark.parametrize("tab", ["in_flight", "dead_letters"])
def test_what_a_frame_of_a_crowded_panel_costs(bench, tab):
    """Printed: 10,000 leases, 100,000 letters."""
    excerpt = made_up.crowded()
    bench.window.show_tab(tab)
    bench.views.refresh(excerpt)
    QApplication.processEvents()
    frames = [msgspec.structs.replace(excerpt, time_ns=excerpt.time_ns + tick * 33 * MS) for tick in range(1, 8)]
    print(f"\n  a frame with a crowded {tab:14} {cost_ms(bench, frames):6.2f} ms CPU")


def test_a_hundred_thousand_letters_are_selected_at_once_and_stay_where_they_are(bench):
    excerpt = made_up.crowded()
    bench.window.show_tab("dead_letters")
    bench.views.refresh(excerpt)
    panel = bench.window.tab(DeadLettersPanel)
    panel.table.selectAll()
    assert panel.selected_count() == 100_000
    moves = []
    for signal in (panel.model.rowsInserted, panel.model.rowsRemoved, panel.model.layoutChanged):
        signal.connect(lambda *told: moves.append(told))
    bench.views.refresh(msgspec.structs.replace(excerpt, time_ns=excerpt.time_ns + 33 * MS))
    assert moves == []
    assert panel.selected_count() == 100_000


def test_an_empty_bin_says_that_its_letters_were_redriven(bench):
    bench.window.show_tab("dead_letters")
    base = made_up.living(dead=0)
    bench.views.refresh(msgspec.structs.replace(base, totals=Totals()))
    assert bench.window.tab(DeadLettersPanel).empty_state.text().startswith("No message was given up on.")
    bench.views.refresh(msgspec.structs.replace(base, totals=Totals(dead_lettered=9, redriven=8)))
    assert bench.window.tab(DeadLettersPanel).empty_state.text().startswith("No dead letters left: 8 were redriven.")
    bench.views.refresh(msgspec.structs.replace(base, totals=Totals(dead_lettered=9)))
    assert bench.window.tab(DeadLettersPanel).empty_state.text().startswith("No dead letters left. ")
