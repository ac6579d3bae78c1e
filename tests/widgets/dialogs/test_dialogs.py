"""Move to group... and Export report..., from the keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from widgets.canvas.view import NEW_GROUP, Ghost, GhostMove, Party
from widgets.dialogs.export_report import ExportReportDialog, ReportWish, SessionChoice, folder_problem
from widgets.dialogs.move_to_group import BENCH, MoveChoice, MoveToGroupDialog
from widgets.theme import DARK, LIGHT, apply_theme, style_sheet, ui_font

CHOICES = [
    MoveChoice("indexers", "indexers", "Stable, 3 members", "indexer-1 is in this group already."),
    MoveChoice("auditors", "auditors", "Stable, 2 members"),
    MoveChoice(BENCH, "The bench", "Reads nothing"),
    MoveChoice(NEW_GROUP, "New group...", "All partitions"),
]


@pytest.fixture
def dialog(qtbot):
    made = MoveToGroupDialog("indexer-1", CHOICES, lambda name: "That name is taken." if name == "taken" else "")
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_the_first_target_that_can_be_chosen_is_chosen_and_its_ghost_asked_for(qtbot):
    dialog = MoveToGroupDialog("indexer-1", CHOICES)
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.ghostRequested) as told:
        dialog.show()
    assert told.args == ["indexer-1", "auditors"]


def test_the_ghost_is_shown(dialog, qtbot):
    qtbot.wait(1)
    move = GhostMove("commits", 3, "auditors", Party("auditor-1", 1, "B"), Party("indexer-1", 0, "A"))
    dialog.set_ghost(Ghost("indexer-1 to auditors", (move,), 5, "Generation 1 to 2."))
    assert any("1 partition moves, 5 stay." in label.text() for label in dialog.findChildren(QLabel))
    assert dialog.moves.accessibleDescription() == "commits/3 from auditor-1 to indexer-1"
    assert not dialog.grab().isNull()


def test_arrows_and_enter_move_to_the_bench(dialog, qtbot):
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.chosen) as told:
        qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    assert told.args == ["indexer-1", "", "earliest"]


def test_where_it_is_already_cannot_be_chosen_and_says_why(dialog, qtbot):
    heard = []
    dialog.chosen.connect(lambda *args: heard.append(args))
    qtbot.keyClick(dialog.list, Qt.Key.Key_Up)
    assert not dialog.accept_button.isEnabled()
    assert dialog.problem.text() == "indexer-1 is in this group already."
    qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    assert heard == []


def test_a_new_group_wants_a_good_name(dialog, qtbot):
    dialog.choose(NEW_GROUP)
    assert dialog.problem.text() == "Enter a name for the new group."
    qtbot.keyClicks(dialog.name, "taken")
    assert dialog.problem.text() == "That name is taken."
    assert not dialog.accept_button.isEnabled()
    dialog.name.selectAll()
    qtbot.keyClicks(dialog.name, "archivers")
    with qtbot.waitSignal(dialog.chosen) as told:
        qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    assert told.args == ["indexer-1", "archivers", "earliest"]


def test_a_new_group_has_a_name_to_be_typed_over_and_asks_where_it_starts(qtbot):
    dialog = MoveToGroupDialog("indexer-1", CHOICES, new_name="indexers-2")
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.start.isVisible()
    dialog.choose(NEW_GROUP)
    assert dialog.accept_button.isEnabled() and dialog.name.selectedText() == "indexers-2"
    assert dialog.start.isVisible()
    qtbot.keyClick(dialog.start, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.chosen) as told:
        qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    assert told.args == ["indexer-1", "indexers-2", "latest"]


def test_choosing_a_new_group_from_the_keyboard_puts_the_cursor_into_its_name(dialog, qtbot):
    qtbot.keyClick(dialog.list, Qt.Key.Key_End)
    assert dialog.choice().target == NEW_GROUP
    assert QApplication.focusWidget() is dialog.name
    qtbot.keyClick(dialog.name, Qt.Key.Key_Up)
    assert dialog.choice().target == BENCH
    assert QApplication.focusWidget() is dialog.list


def test_letters_that_are_typed_in_the_list_name_the_new_group(dialog, qtbot):
    dialog.choose(NEW_GROUP)
    dialog.list.setFocus()
    qtbot.keyClick(dialog.list, "n")
    qtbot.keyClicks(QApplication.focusWidget(), "ew")
    assert dialog.name.text() == "new"
    assert dialog.choice().target == NEW_GROUP


def test_letters_in_the_list_search_it_where_no_new_group_is_chosen(dialog, qtbot):
    qtbot.keyClick(dialog.list, "n")
    assert dialog.name.text() == ""


def test_what_is_chosen_is_whole_whatever_line_appears(dialog, qtbot):
    dialog.resize(640, 300)
    before = dialog.list.height()
    dialog.choose(NEW_GROUP)
    qtbot.keyClicks(dialog.name, "taken")
    qtbot.waitUntil(lambda: dialog.list.height() < before)
    item = dialog.list.currentItem()
    qtbot.waitUntil(lambda: dialog.list.viewport().rect().contains(dialog.list.visualItemRect(item)))
    shown = dialog.list.height()
    dialog.name.setText("good")
    QApplication.processEvents()
    assert dialog.problem.text() == ""
    assert dialog.list.height() == shown


def test_a_target_says_all_of_itself_in_its_tool_tip(dialog):
    assert [dialog.list.item(place).toolTip() for place in range(2)] == [
        "indexers\nindexer-1 is in this group already.", "auditors\nStable, 2 members",
    ]  # fmt: skip


def test_a_target_has_room_for_both_of_its_lines_in_large_type(qapp, dialog):
    try:
        apply_theme(qapp, LIGHT, 2.0)
        lines = sum(QFontMetrics(ui_font(pixels)).height() for pixels in (13, 12))
        assert dialog.list.sizeHintForRow(0) >= lines
    finally:
        apply_theme(qapp, LIGHT, 1.0)


def test_buttons_of_dialogs_carry_no_icons_where_the_desktop_would_give_them_some():
    # The platform of the tests gives none, so the rule itself is asked for.
    for theme in (LIGHT, DARK):
        assert "QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }" in style_sheet(theme)


def test_escape_moves_nothing(dialog, qtbot):
    heard = []
    dialog.chosen.connect(lambda *args: heard.append(args))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert heard == []
    assert not dialog.isVisible()


SESSIONS = (
    SessionChoice("/sessions/one", "First session", "2026-11-21 10:00"),
    SessionChoice("/sessions/two", "Work queue", "2026-11-21 11:00"),
    SessionChoice("/sessions/three", "Hot key"),
)


PARTS = {"throughput": "Throughput", "lag": "Lag"}


def export_dialog(qtbot, folder, chosen="/sessions/one"):
    dialog = ExportReportDialog(str(folder), SESSIONS, PARTS, chosen)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_the_report_goes_where_it_is_told(qtbot, tmp_path):
    dialog = export_dialog(qtbot, tmp_path / "report")
    qtbot.mouseClick(
        dialog.open_when_finished, Qt.MouseButton.LeftButton, pos=dialog.open_when_finished.rect().center() * 0.1
    )
    with qtbot.waitSignal(dialog.exportRequested) as told:
        qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    usual, parts = frozenset({"html", "csv", "parquet"}), frozenset({"throughput", "lag"})
    assert told.args == [ReportWish("/sessions/one", str(tmp_path / "report"), None, None, usual, parts, (), False)]


def test_in_a_small_window_its_buttons_stay_in_sight_and_the_rest_scrolls(qtbot, tmp_path):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 300)
    dialog = ExportReportDialog(str(tmp_path), SESSIONS, PARTS, "/sessions/one", parent=window)
    dialog.show()
    assert dialog.height() < window.height()
    for button in (dialog.accept_button, dialog.cancel_button):
        corner = button.mapTo(dialog, button.rect().bottomRight())
        assert dialog.rect().contains(corner), corner
        assert button.visibleRegion().boundingRect() == button.rect()


def test_session_part_and_forms_are_what_was_asked_for(qtbot, tmp_path):
    dialog = export_dialog(qtbot, tmp_path / "report")
    dialog.list.setCurrentRow(2)
    dialog.from_time.setText("0:30")
    dialog.to_time.setText("95.5")
    dialog.formats["csv"].setChecked(False)
    with qtbot.waitSignal(dialog.exportRequested) as told:
        qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    (wish,) = told.args
    assert wish.session == "/sessions/three"
    assert (wish.from_ns, wish.to_ns) == (30_000_000_000, 95_500_000_000)
    assert wish.formats == {"html", "parquet"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda dialog: dialog.list.setCurrentItem(None), "Choose a session."),
        (lambda dialog: dialog.from_time.setText("half past"), "A time is mm:ss, or a number of seconds."),
        (lambda dialog: dialog.from_time.setText("1:75"), "A time is mm:ss, or a number of seconds."),
        (
            lambda dialog: (dialog.from_time.setText("60"), dialog.to_time.setText("1:00")),
            "The time range is empty: it ends before it begins.",
        ),
        (lambda dialog: [box.setChecked(False) for box in dialog.formats.values()], "Choose at least one form."),
        (lambda dialog: dialog.parts.tick_all(False), "Choose at least one part."),
    ],
    ids=["no session", "words", "seconds above 59", "empty time", "no form", "no part"],
)
def test_what_makes_no_report_is_said_and_cannot_be_exported(qtbot, tmp_path, change, sentence):
    dialog = export_dialog(qtbot, tmp_path)
    change(dialog)
    assert dialog.problem.text() == sentence == dialog.accept_button.toolTip()
    assert not dialog.accept_button.isEnabled()


def test_a_folder_that_cannot_be_is_refused_while_it_is_typed(qtbot, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    dialog = export_dialog(qtbot, tmp_path)
    assert dialog.accept_button.isEnabled()
    for text, sentence in (
        ("", "Choose a folder for the report."),
        ("relative/path", "Enter the absolute path of the folder."),
        (str(file), "This is a file, not a folder; choose a folder."),
        (str(file / "below"), "That folder is not writable; choose another one."),
    ):
        dialog.folder.setText(text)
        assert dialog.problem.text() == sentence == folder_problem(text)
        assert not dialog.accept_button.isEnabled()
        assert dialog.accept_button.toolTip() == sentence


def test_a_report_that_is_there_is_said_to_be_replaced(qtbot, tmp_path):
    (tmp_path / "report.html").write_text("old")
    dialog = export_dialog(qtbot, tmp_path)
    assert dialog.problem.text() == "An existing report is replaced."
    assert dialog.accept_button.isEnabled()
