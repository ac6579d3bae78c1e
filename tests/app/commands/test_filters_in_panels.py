"""One filter language in every table of the window: fields have one meaning, errors are said, filters are kept."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.environment.paths import find_scenario
from app.presenters.assignments import AssignmentsPresenter
from app.presenters.charts import ChartsPresenter
from app.presenters.connections import ConnectionsPresenter
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.events_presenter import EventsPresenter
from app.presenters.in_flight import InFlightPresenter
from app.presenters.messages_presenter import MessagesPresenter
from app.presenters.offsets import OffsetsPanel, OffsetsPresenter
from app.presenters.schemas import SchemasPresenter
from app.presenters.segments import LogOnDiskPresenter
from app.presenters.views import Views
from app.sessions.history.past import History
from app.sessions.session_controller import SessionController
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.messages import MessagesPanel

MODELS = [
    (MessagesPresenter, "model"),
    (AssignmentsPresenter, "model"),
    (OffsetsPresenter, "model"),
    (InFlightPresenter, "model"),
    (DeadLettersPresenter, "model"),
    (DeadLettersPresenter, "redriven"),
    (ChartsPresenter, "model"),
    (EventsPresenter, "model"),
    (SchemasPresenter, "model"),
    (SchemasPresenter, "refusals"),
    (LogOnDiskPresenter, "model"),
    (ConnectionsPresenter, "model"),
]


@pytest.fixture(scope="module")
def views(qapp):
    return Views(SessionController(record=False), History())


@pytest.mark.parametrize(("presenter", "name"), MODELS)
def test_every_column_of_a_table_has_a_field_of_its_own(views, presenter, name):
    model = getattr(views.presenter(presenter), name)
    names = [column.asked()[0].name for column in model.columns]
    assert len(set(names)) == len(names)
    assert len(list(model.fields)) >= len(names)
    assert all(field.name == field.name.casefold() and " " not in field.name for field in model.fields)


def test_lag_is_asked_in_messages_and_in_time(hand):
    hand.workbench.window.show_tab("offsets")
    hand.show()
    panel, model = hand.workbench.window.tab(OffsetsPanel), hand.workbench.views.presenter(OffsetsPresenter).model
    rows = list(model.rows)
    panel.set_filter_text("lag > 3 and group = mailers")
    shown = [model.row_at(place) for place in range(model.rowCount())]
    assert shown == [row for row in rows if row.group == "mailers" and (row.lag or 0) > 3]
    assert shown
    panel.set_filter_text("lag_time > 1 s")
    shown = [model.row_at(place) for place in range(model.rowCount())]
    assert shown == [row for row in rows if (row.lag_ms or 0) > 1_000]
    panel.set_filter_text("lag > 1 s")
    assert "like 100" in panel.problem.text()
    assert model.rowCount() == len(rows)


def test_a_filter_that_cannot_be_read_shows_all_messages(hand):
    window = hand.workbench.window
    window.show_tab("messages")
    panel, model = window.tab(MessagesPanel), hand.workbench.views.presenter(MessagesPresenter).model
    hand.wait_until(model.rowCount)
    whole = model.rowCount()
    panel.set_filter_text("pay")
    hand.wait_until(lambda: not model.rowCount())
    for wrong in ("payload.files > 10", "lag > 3"):
        panel.set_filter_text(wrong)
        hand.wait_until(lambda: model.rowCount() == whole)
        assert panel.problem.isVisible() and panel.problem.text().endswith(" Nothing is filtered.")
        assert panel.stack.currentIndex() == 1 and panel.note.isHidden()


def test_a_filter_that_is_kept_in_one_panel_can_be_picked_in_another(hand, tmp_path):
    window = hand.workbench.window
    window.show_tab("offsets")
    hand.show()
    panel = window.tab(OffsetsPanel)
    panel.set_filter_text("group = indexers")
    popup = panel.filter_field.show_help()
    hand.qtbot.keyClicks(popup.name, "mine")
    hand.qtbot.mouseClick(popup.keep, Qt.MouseButton.LeftButton)
    popup.hide()
    window.show_tab("assignments")
    hand.show()
    assert hand.workbench.registry.trigger("filter_help")
    other = window.tab(AssignmentsPanel)
    popup = other.filter_field.show_help()
    pick = next(one for one in popup.findChildren(QPushButton) if one.text() == "mine")
    hand.qtbot.mouseClick(pick, Qt.MouseButton.LeftButton)
    hand.show()
    assert other.filter_text == "group = indexers"
    assert {other.model.index(row, 2).data() for row in range(other.model.rowCount())} == {"indexers"}


def test_a_filter_belongs_to_its_session(hand):
    panel = hand.workbench.window.tab(OffsetsPanel)
    panel.set_filter_text("group = indexers")
    hand.workbench.controller.open(find_scenario("hot-key"))
    hand.show()
    assert (panel.filter_text, panel.filter_field.text()) == ("", "")


def test_saved_filters_belong_to_the_user(qapp, hand, tmp_path):
    panel, settings = hand.workbench.window.tab(OffsetsPanel), hand.workbench.settings
    panel.filter_field.saved.emit("a", "b")
    assert settings.saved_filters == {"a": "b"}
    panel.filter_field.deleted.emit("a")
    assert settings.saved_filters == {}
