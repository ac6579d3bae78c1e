"""The navigator alone: sections, filter, selection that survives, and what a click, Enter and the menu key tell."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QRegion

from widgets.navigator import ROWS_MAX, Navigator, NavRow, NavSection


def sections(lag="lag 3", topics=("orders", "mails"), state="Stable"):
    rows = tuple(NavRow(f"topic:{name}", name, "", "5/s", (1.0, 2.0, 0.0)) for name in topics)
    groups = (NavRow("group:billing", "billing", state, lag),)
    return (
        NavSection("topics", "Topics", "topic", rows, "No topic yet."),
        NavSection("groups", "Groups", "group", groups, "No group yet."),
    )


@pytest.fixture
def navigator(qtbot):
    made = Navigator()
    qtbot.addWidget(made)
    made.resize(236, 500)
    made.show()
    made.set_sections(sections())
    qtbot.waitExposed(made)
    return made


def place_of(navigator, item_id):
    return navigator.tree.visualItemRect(navigator._items[item_id]).center()


def test_a_click_tells_the_id_and_a_selection_from_outside_tells_nothing(navigator, qtbot):
    told: list[str] = []
    navigator.chosen.connect(told.append)
    qtbot.mouseClick(navigator.tree.viewport(), Qt.MouseButton.LeftButton, pos=place_of(navigator, "topic:mails"))
    assert told == ["topic:mails"]
    navigator.select("group:billing")
    assert navigator.current_id() == "group:billing"
    navigator.select("consumer:nobody")
    assert navigator.current_id() == ""
    assert told == ["topic:mails"]


def test_enter_and_a_double_click_open(navigator, qtbot):
    told: list[str] = []
    navigator.opened.connect(told.append)
    navigator.select("topic:orders")
    qtbot.keyClick(navigator.tree, Qt.Key.Key_Return)
    where = place_of(navigator, "group:billing")
    qtbot.mouseClick(navigator.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseDClick(navigator.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert told == ["topic:orders", "group:billing"]


def test_what_is_chosen_stays_chosen_when_figures_and_rows_change(navigator):
    told: list[str] = []
    navigator.chosen.connect(told.append)
    navigator.select("topic:mails")
    navigator.set_sections(sections(lag="lag 99", topics=("audits", "orders", "mails")))
    assert navigator.current_id() == "topic:mails"
    assert navigator.rows("groups")[0].figure == "lag 99"
    navigator.set_sections(sections(topics=("orders",)))
    assert navigator.current_id() == ""
    assert told == []


def test_the_filter_is_told_and_what_is_hidden_is_not_shown(navigator, qtbot):
    with qtbot.waitSignal(navigator.filterChanged) as told:
        navigator.filter_field.setText("kind = group")
    assert told.args == ["kind = group"]
    topics, groups = sections()
    navigator.set_sections((replace(topics, rows=()), groups))
    assert navigator._heads["topics"].isHidden()
    assert [row.name for row in navigator.rows("groups")] == ["billing"]
    navigator.set_filter_problem("There is no field x here.")
    assert navigator.filter_field.property("invalid") is True
    assert "no field x" in navigator.filter_field.toolTip()
    assert navigator.filter_field.accessibleDescription() == "There is no field x here."
    assert navigator.problem.isVisible()
    assert navigator.problem.text() == "There is no field x here."
    assert navigator.problem.textFormat() == Qt.TextFormat.PlainText
    navigator.set_filter_problem("")
    assert not navigator.problem.isVisible()
    assert navigator.filter_field.accessibleDescription() == ""


def test_an_empty_section_says_so_and_a_long_one_says_how_many_more(navigator):
    navigator.set_sections(sections(topics=()))
    assert [row.name for row in navigator.rows("topics")] == ["No topic yet."]
    topics, groups = sections(topics=tuple(f"t{n}" for n in range(ROWS_MAX)))
    navigator.set_sections((replace(topics, more=20), groups))
    rows = navigator.rows("topics")
    assert (len(rows), rows[-1].name, rows[-1].id) == (ROWS_MAX + 1, "and 20 more", "")


def test_the_context_menu_is_asked_for_by_id(navigator, qtbot):
    told: list[str] = []
    navigator.contextMenuRequested.connect(lambda item_id, _at: told.append(item_id))
    navigator.tree.customContextMenuRequested.emit(place_of(navigator, "topic:orders"))
    navigator.tree.customContextMenuRequested.emit(QPoint(5, 490))
    assert told == ["topic:orders"]


def test_a_screen_reader_finds_state_and_figure_in_the_text(navigator):
    assert navigator._items["group:billing"].text(0) == "billing Stable lag 3"


def test_a_figure_that_changes_paints_its_row_and_not_the_whole_tree(navigator, qtbot):
    painted: list[QRegion] = []

    class Watch(QObject):
        def eventFilter(self, _watched, event):
            if event.type() is QEvent.Type.Paint:
                painted.append(event.region())
            return False

    watch = Watch()
    navigator.tree.viewport().installEventFilter(watch)
    for lag in ("lag 4", "lag 5"):  # the first rows that a tree ever shows are laid out twice
        painted.clear()
        navigator.set_sections(sections(lag=lag))
        qtbot.waitUntil(lambda: bool(painted))
        qtbot.wait(1)  # what is laid out anew is painted by a timer of 0 ms
    assert not any(region.contains(place_of(navigator, "topic:mails")) for region in painted)
