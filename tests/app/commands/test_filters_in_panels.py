"""One filter language in every table of the window: fields have one meaning, errors are said, filters are kept."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.commands.filters import FilterHandlers
from app.presenters.views import Views

MODELS = (
    "assignments",
    "offsets",
    "in_flight",
    "dead_letters",
    "redriven",
    "rate_table",
    "versions",
    "refusals",
    "messages",
    "events",
    "segments",
)


@pytest.mark.parametrize("name", MODELS)
def test_every_column_of_a_table_has_a_field_of_its_own(qapp, name):
    model = getattr(Views(), name)
    names = [column.asked()[0].name for column in model.columns]
    assert len(set(names)) == len(names)
    assert len(list(model.fields)) >= len(names)
    assert all(field.name == field.name.casefold() and " " not in field.name for field in model.fields)


def test_lag_is_asked_in_messages_and_in_time(hand):
    hand.workbench.window.show_tab("offsets")
    hand.show()
    panel, model = hand.workbench.window.parts.offsets, hand.workbench.views.offsets
    rows = list(model.rows)
    panel.set_filter_text("lag > 3 and group = mailers")
    shown = [model.row_at(place) for place in range(model.rowCount())]
    assert shown == [row for row in rows if row.group == "mailers" and (row.lag or 0) > 3]
    assert shown
    panel.set_filter_text("lag_time > 1 s")
    shown = [model.row_at(place) for place in range(model.rowCount())]
    assert shown == [row for row in rows if (row.lag_ms or 0) > 1_000]
    panel.set_filter_text("lag > 1 s")
    assert "as in 100" in panel.problem.text()
    assert model.rowCount() == len(shown)


def test_a_filter_that_is_kept_in_one_panel_can_be_picked_in_another(hand, tmp_path):
    window = hand.workbench.window
    window.show_tab("offsets")
    hand.show()
    panel = window.parts.offsets
    panel.set_filter_text("group = indexers")
    popup = panel.show_filter_help()
    hand.qtbot.keyClicks(popup.name, "mine")
    hand.qtbot.mouseClick(popup.keep, Qt.MouseButton.LeftButton)
    popup.hide()
    window.show_tab("assignments")
    hand.show()
    assert hand.workbench.registry.trigger("filter_help")
    other = window.parts.assignments
    popup = other.show_filter_help()
    pick = next(one for one in popup.findChildren(QPushButton) if one.text() == "mine")
    hand.qtbot.mouseClick(pick, Qt.MouseButton.LeftButton)
    hand.show()
    assert other.filter_text == "group = indexers"
    assert {other.model.index(row, 2).data() for row in range(other.model.rowCount())} == {"indexers"}


def test_kept_filters_belong_to_the_person(qapp, hand, tmp_path):
    kept = hand.workbench.family(FilterHandlers).kept
    kept.keep("a", "b")
    assert list(kept) == [("a", "b")]
    assert hand.workbench.settings.kept_filters == {"a": "b"}
    kept.drop("a")
    assert list(kept) == []
