"""The dialogs of actions alone: fields, what is said of them, review before apply, assignors side by side."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QLabel
from pytestqt.qtbot import QtBot

from tests.widgets.reading import column, shown_rows
from widgets.dialogs.assignors import AssignorPlan, AssignorsDialog
from widgets.dialogs.field_widgets import Field
from widgets.dialogs.form import FormDialog, Values
from widgets.dialogs.review import Review, ReviewDialog
from widgets.filter_field import FilterHelp, FilterPopup

FIELDS = (
    Field("name", "Name", hint="as orders"),
    Field("form", "To", "choice", "earliest", choices=(("earliest", "the earliest"), ("offset", "an offset"))),
    Field("offset", "Offset", "whole", 3, shown_for=("form", ("offset",))),
    Field("limit", "Limit", "whole", None, none="no limit"),
    Field("rate", "Rate", "decimal", 2.5, none="any"),
    Field("restart", "Restart them", "check", True),
)


def why_not(values: Values) -> str:
    return "" if values["name"] else "Enter a name."


@pytest.fixture
def form(qtbot: QtBot) -> FormDialog:
    dialog = FormDialog("Create", "About it.", FIELDS, "Create", why_not=why_not, tell=lambda v: f"Makes {v['name']}.")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_a_form_gives_the_values_of_the_fields_that_are_shown(form: FormDialog, qtbot: QtBot) -> None:
    told: list[Any] = []
    form.chosen.connect(told.append)
    qtbot.keyClicks(form.widgets["name"], "orders")
    qtbot.keyClick(form.widgets["name"], Qt.Key.Key_Return)
    assert told == [{"name": "orders", "form": "earliest", "limit": None, "rate": 2.5, "restart": True}]
    assert not form.isVisible()


def test_a_field_appears_with_the_choice_that_needs_it(form: FormDialog) -> None:
    assert not form.widgets["offset"].isVisible()
    form.set_values({"form": "offset", "offset": 7, "limit": 5})
    assert form.widgets["offset"].isVisible()
    assert form.values()["offset"] == 7
    assert form.values()["limit"] == 5


def test_a_number_keeps_decimals_that_its_field_does_not_ask_for(form: FormDialog, qtbot: QtBot) -> None:
    for rate in (0.04, 33.333333, 2.5):
        form.set_values({"rate": rate})
        assert form.values()["rate"] == rate
    box = form.widgets["rate"]
    assert isinstance(box, QDoubleSpinBox) and box.decimals() == 1
    told: list[float] = []
    box.valueChanged.connect(told.append)
    for rate in (0.123456, 2.0, 0.1):
        form.set_values({"rate": rate})
    assert told == [0.123456, 2.0, 0.1], "and no rounded one between"
    made = FormDialog("Change", "", [Field("rate", "Rate", "decimal", 0.04, none="any")], "Change")
    qtbot.addWidget(made)
    assert made.values() == {"rate": 0.04}


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        ("", "lag > 100"),
        ("orders", "orders and lag > 100"),
        ("a or b", "(a or b) and lag > 100"),
        ("a OR b", "(a OR b) and lag > 100"),
    ],
)
def test_an_example_that_is_picked_holds_beside_the_whole_filter(qtbot: QtBot, typed: str, whole: str) -> None:
    help_of_fields = (FilterHelp("lag", "Messages behind.", "lag > 100"),)
    dialog = FormDialog("Alert", "", (Field("when", "When", "filter", typed, fields=help_of_fields),), "Set")
    qtbot.addWidget(dialog)
    (popup,) = dialog.findChildren(FilterPopup)
    popup.picked.emit("lag > 100")
    assert dialog.values()["when"] == whole


def test_what_nobody_has_typed_yet_is_not_blamed_but_cannot_be_accepted(form: FormDialog, qtbot: QtBot) -> None:
    assert form.problem.text() == ""
    assert not form.accept_button.isEnabled()
    assert "Enter a name." in form.accept_button.toolTip()
    qtbot.keyClicks(form.widgets["name"], "o")
    assert form.note.text() == "Makes o."
    qtbot.keyClick(form.widgets["name"], Qt.Key.Key_Backspace)
    assert form.problem.text() == "Enter a name."
    qtbot.keyClick(form.widgets["name"], Qt.Key.Key_Return)
    assert form.isVisible()


def test_every_field_can_be_reached_by_tab_and_has_a_name_for_a_screen_reader(form: FormDialog, qtbot: QtBot) -> None:
    form.activateWindow()
    qtbot.waitUntil(form.isActiveWindow, timeout=3_000)
    form.set_values({"name": "x", "form": "offset"})
    reached = set()
    for _ in range(12):
        focused = form.focusWidget()
        reached |= {name for name, widget in form.widgets.items() if widget is focused or widget.isAncestorOf(focused)}
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert reached == set(form.widgets)
    assert all(widget.accessibleName() for widget in form.widgets.values())


@pytest.mark.promise("25")
def test_data_is_never_markup(qtbot: QtBot) -> None:
    dialog = FormDialog("Delete", "<b>orders</b> holds 3.", (), "Delete <i>it</i>")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in dialog.findChildren(QLabel))


def test_what_takes_something_away_has_cancel_in_front(qtbot: QtBot) -> None:
    dialog = FormDialog("Delete", "orders holds 3.", (), "Delete")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    told: list[Any] = []
    dialog.chosen.connect(told.append)
    dialog.warn()
    dialog.show()
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert told == []
    assert not dialog.isVisible()
    dialog.show()
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert told == [{}]


def test_a_review_comes_before_apply_and_leads_back(qtbot: QtBot) -> None:
    dialog = ReviewDialog("Reset", "About it.", (Field("name", "Name", value="g"),))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    asked: list[Any] = []
    told: list[Any] = []
    dialog.reviewWanted.connect(asked.append)
    dialog.chosen.connect(told.append)
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert (asked, told) == ([{"name": "g"}], [])
    dialog.set_review(Review((), (), "", "There is nothing to reset."))
    assert not dialog.reviewing
    assert dialog.problem.text() == "There is nothing to reset."
    dialog.set_review(Review(("Partition", "From", "To"), (("orders/0", "9", "0"),), "9 read again."))
    assert dialog.reviewing
    assert dialog.accept_button.text() == "Apply"
    assert shown_rows(dialog.review_table) == [["orders/0", "9", "0"]]
    qtbot.mouseClick(dialog.back_button, Qt.MouseButton.LeftButton)
    assert dialog.accept_button.text() == "Review"
    dialog.set_review(Review(("Partition",), (("orders/0",),), ""))
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert told == [{"name": "g"}]


def test_assignors_show_who_would_own_what_and_only_another_can_be_chosen(qtbot: QtBot) -> None:
    plans = (
        AssignorPlan("range", ("a", "a"), 0, 2, "", current=True),
        AssignorPlan("roundrobin", ("a", "b"), 1, 1, ""),
    )
    dialog = AssignorsDialog("readers", ("t/0", "t/1"), ("a", "a"), plans)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    told: list[str] = []
    dialog.chosen.connect(told.append)
    assert column(dialog, "roundrobin") == ["a", "\u2192 b"]
    dialog.radios["range"].setChecked(True)
    assert not dialog.accept_button.isEnabled()
    assert dialog.problem.text() == "The group already uses range."
    dialog.radios["roundrobin"].setChecked(True)
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert told == ["roundrobin"]


def test_in_the_past_assignors_are_compared_and_not_switched(qtbot: QtBot) -> None:
    plans = (AssignorPlan("sticky", ("a",), 0, 1, ""),)
    dialog = AssignorsDialog("readers", ("t/0",), ("a",), plans, why_not="This is the past.")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    assert not dialog.accept_button.isEnabled()
    assert dialog.problem.text() == "This is the past."


@pytest.mark.parametrize(
    ("kind", "unit", "value", "shown"),
    [
        ("whole", 1_000, 1_500, 1),
        ("whole", 1_000, 400, 1),
        ("whole", 1_024, 1_000_000, 976),
        ("decimal", 1_000, 2_500, 2.5),
    ],
)
def test_a_number_that_is_shown_in_another_unit_stays_exact_until_it_is_changed(
    qtbot: QtBot, kind: Any, unit: int, value: int, shown: float
) -> None:
    form = FormDialog("Set", "", [Field("age", "Age", kind, value, unit=unit, none="no limit")], "Set")
    qtbot.addWidget(form)
    box: Any = form.widgets["age"]
    assert (box.value(), form.values()) == (shown, {"age": value})
    box.setValue(3)
    assert form.values() == {"age": 3 * unit}
    form.set_values({"age": value})
    assert (box.value(), form.values()) == (shown, {"age": value})
    form.set_values({"age": None})
    assert form.values() == {"age": None}
