"""The dialogs around sessions, alone: an answer with its table, a list, a condition, a line of text."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from widgets.dialogs.choose_session import ChooseSessionDialog, SessionLine
from widgets.dialogs.facts_table import FactsTable, FactsTableDialog
from widgets.theme import current_theme, qcolour

ROWS = tuple((f"<b>row {number}</b>", f"{number:,}") for number in range(20))


def test_an_answer_waits_then_shows_plain_text_and_is_copied(qtbot: QtBot) -> None:
    dialog = FactsTableDialog("Question", "Working...")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.set_progress(0.5)
    assert dialog.progress.isVisible() and dialog.progress.value() == 500 and not dialog.table.isVisible()
    dialog.set_facts(
        FactsTable("All is <i>well</i>.", ("What", "Count"), ROWS, frozenset({3}), frozenset({1}), "A note.")
    )
    assert not dialog.progress.isVisible() and dialog.table.isVisible()
    assert dialog.sentence.text() == "All is <i>well</i>."
    assert dialog.sentence.textFormat() is Qt.TextFormat.PlainText
    assert dialog.texts() == list(ROWS)
    dialog.filter.setText("row 7")
    assert [row for row in range(20) if not dialog.table.isRowHidden(row)] == [7]
    dialog._copy()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[:3] == ["All is <i>well</i>.", "What\tCount", "<b>row 0</b>\t0"] and len(copied) == 22


def test_an_answer_is_as_large_as_its_rows_and_its_headers_are_whole(qtbot: QtBot) -> None:
    headers, window = tuple(f"A longer header {number}" for number in range(6)), QWidget()
    window.resize(1024, 700)
    qtbot.addWidget(window)
    sizes = []
    for rows in (0, 1, 20, 400):
        dialog = FactsTableDialog("Question", "Working...", window)
        qtbot.addWidget(dialog)
        dialog.show()
        centre = dialog.geometry().center()
        row = tuple("12" for _header in headers)
        dialog.set_facts(FactsTable("All is well.", headers if rows else (), (row,) * rows, note="A note."))
        QApplication.processEvents()
        assert (dialog.geometry().center() - centre).manhattanLength() <= 2, "it stays in the middle of its window"
        header = dialog.table.horizontalHeader()
        sections = range(header.count())
        assert all(header.sectionSize(at) >= header.sectionSizeHint(at) for at in sections)
        assert not dialog.table.horizontalScrollBar().isVisible()
        sizes.append(dialog.size())
    nothing, one, twenty, many = (size.height() for size in sizes)
    assert nothing < one < 260 and one < twenty <= many < 700
    assert sizes[0].width() < sizes[1].width() <= 1024


def test_folded_rows_come_on_demand_and_verdicts_have_colour_icon_and_word(qtbot: QtBot) -> None:
    dialog = FactsTableDialog("Question", "Working...")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.set_facts(
        FactsTable(
            "2 differ.", ("What", "Is"), ROWS, folded=frozenset(range(2, 20)), verdicts={0: (1, "failure", "warning")}
        )
    )

    def shown() -> list[int]:
        return [row for row in range(20) if not dialog.table.isRowHidden(row)]

    assert shown() == [0, 1] and "18" in dialog.unfold.text()
    dialog.filter.setText("row 1")
    assert shown() == [1]
    dialog.unfold.click()
    assert shown() == [1, *range(10, 20)]
    worse, plain = dialog.table.item(0, 1), dialog.table.item(1, 1)
    assert worse is not None and plain is not None
    assert not worse.icon().isNull() and plain.icon().isNull() and worse.text() == "0"
    assert worse.foreground().color() == qcolour(current_theme().colour("failure"))


def test_an_answer_without_rows_is_a_sentence(qtbot: QtBot) -> None:
    dialog = FactsTableDialog("Question", "Working...")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.set_facts(FactsTable("It could not be read.", state="failure"))
    assert dialog.sentence.text() == "It could not be read." and not dialog.table.isVisible()


def lines(count: int) -> list[SessionLine]:
    return [
        SessionLine(f"/s/{number}", (f"Run {number}", "today", "1 s", "stopped", f"/s/{number}"))
        for number in range(count)
    ]


def test_one_session_is_chosen_by_filter_and_enter_and_two_where_two_are_wanted(qtbot: QtBot) -> None:
    one = ChooseSessionDialog("Open", "About.", lines(3))
    two = ChooseSessionDialog("Compare", "About.", lines(3), many=2, browse=False)
    chosen: list[list[str]] = []
    for dialog in (one, two):
        qtbot.addWidget(dialog)
        dialog.chosen.connect(chosen.append)
        dialog.show()
    one.filter.setText("Run 2")
    assert not one.accept_button.isEnabled() and one._items[0].isHidden()
    one.list.setCurrentItem(one._items[2])
    qtbot.mouseClick(one.accept_button, Qt.MouseButton.LeftButton)
    two._items[2].setSelected(True)
    assert not two.accept_button.isEnabled()
    two._items[0].setSelected(True)
    qtbot.mouseClick(two.accept_button, Qt.MouseButton.LeftButton)
    assert chosen == [["/s/2"], ["/s/0", "/s/2"]]


def test_an_empty_list_says_how_there_will_be_something(qtbot: QtBot) -> None:
    dialog = ChooseSessionDialog("Open", "About.", [])
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.empty.isVisible() and not dialog.list.isVisible() and not dialog.accept_button.isEnabled()
