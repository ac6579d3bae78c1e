"""Which parts of a report are ticked: by mouse, by key, all and none."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from widgets.dialogs.export_report import ExportReportDialog, PartsField, ReportHabits, SessionChoice

PARTS = {"throughput": "Throughput", "latency": "Latency", "lag": "Consumer lag", "audit": "Delivery audit"}
SESSIONS = (SessionChoice("/sessions/one", "One"), SessionChoice("/sessions/two", "Two"))


def made_dialog(qtbot, tmp_path, habits=None):
    dialog = ExportReportDialog(str(tmp_path / "out"), SESSIONS, PARTS, "/sessions/one", habits)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


@pytest.fixture
def dialog(qtbot, tmp_path):
    return made_dialog(qtbot, tmp_path)


def test_all_parts_are_ticked_at_first_and_what_is_ticked_is_asked_for(dialog, qtbot):
    assert dialog.parts.chosen() == {"throughput", "latency", "lag", "audit"}
    dialog.parts.boxes["lag"].click()
    with qtbot.waitSignal(dialog.exportRequested) as told:
        dialog.accept_button.click()
    assert told.args[0].parts == {"throughput", "latency", "audit"}


def test_none_and_all_by_the_keyboard(dialog, qtbot):
    """From the time on, Tab leads through All and None and then from box to box; Space ticks."""
    dialog.to_time.setFocus()
    seen = []
    for _ in range(2 + len(PARTS)):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert seen == [dialog.parts.all_button, dialog.parts.none_button, *dialog.parts.boxes.values()]
    qtbot.keyClick(dialog.parts.none_button, Qt.Key.Key_Space)
    assert dialog.parts.chosen() == set()
    assert not dialog.accept_button.isEnabled()
    assert dialog.problem.text() == dialog.accept_button.toolTip() == "Choose at least one part."
    qtbot.keyClick(dialog.parts.boxes["latency"], Qt.Key.Key_Space)
    assert dialog.parts.chosen() == {"latency"} and dialog.accept_button.isEnabled()
    qtbot.keyClick(dialog.parts.all_button, Qt.Key.Key_Space)
    assert dialog.parts.left_out() == set()


def test_everything_has_a_name_that_is_read_aloud(dialog):
    parts = dialog.parts
    assert parts.accessibleName() == "Parts of the report"
    assert [box.text() for box in parts.boxes.values()] == list(PARTS.values())
    assert (parts.all_button.accessibleName(), parts.none_button.accessibleName()) == (
        "All parts of the report", "No part of the report",
    )  # fmt: skip


def test_what_was_chosen_last_is_chosen_again(qtbot, tmp_path):
    habits = ReportHabits(frozenset({"csv"}), frozenset({"lag", "gone with an old version"}), open_when_finished=False)
    dialog = made_dialog(qtbot, tmp_path, habits)
    assert dialog.parts.chosen() == {"throughput", "latency", "audit"}
    assert [name for name, box in dialog.formats.items() if box.isChecked()] == ["csv"]
    assert not dialog.open_when_finished.isChecked()
    dialog.parts.boxes["audit"].click()
    assert dialog.habits() == ReportHabits(frozenset({"csv"}), frozenset({"lag", "audit"}), open_when_finished=False)


def test_habits_that_leave_nothing_to_choose_are_passed_over(qtbot, tmp_path):
    left_out = frozenset(PARTS)
    dialog = made_dialog(qtbot, tmp_path, ReportHabits(frozenset({"docx"}), left_out))
    assert dialog.parts.left_out() == set()
    assert [name for name, box in dialog.formats.items() if box.isChecked()] == ["html", "csv", "parquet"]


def test_the_field_alone_says_when_it_changes(qtbot):
    field = PartsField(PARTS, {"lag"})
    qtbot.addWidget(field)
    assert field.left_out() == {"lag"}
    with qtbot.waitSignal(field.changed):
        field.boxes["lag"].click()
    assert field.left_out() == set()
