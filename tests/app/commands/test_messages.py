"""The panel Messages on a real broker: browse, filter, read, copy, produce - with mouse and keys."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.commands.messages import MessageHandlers
from app.environment.paths import find_scenario
from app.sessions.history.life import Place
from broker_core.clock import NS_PER_S
from broker_core.simulation.actions.topics import Produce
from tests.widgets.reading import facts_of
from widgets.dialogs.produce import ProduceDialog
from widgets.panels.messages import MessagesPanel, Start


@pytest.fixture
def panel(hand):
    hand.workbench.registry.trigger("show_messages")
    made = hand.workbench.window.tab(MessagesPanel)
    hand.wait_until(lambda: made.model.rowCount() > 0)
    return made


def column(panel, place, count=5):
    return [panel.model.index(row, place).data() for row in range(min(count, panel.model.rowCount()))]


def test_while_messages_are_read_nobody_says_that_there_are_none(hand):
    panel = hand.workbench.window.tab(MessagesPanel)
    hand.workbench.registry.trigger("show_events")
    hand.workbench.controller.open(find_scenario("first-session"))
    hand.pass_time(10)
    assert panel.model.rowCount() == 0
    hand.workbench.registry.trigger("show_messages")
    said = set()

    def listed():
        said.add(panel.empty_state._sentence.text())
        return panel.model.rowCount() > 0

    assert not listed()
    hand.workbench.draw()
    hand.wait_until(listed)
    assert said == {"Reading..."}


def test_all_partitions_are_merged_the_newest_first(panel, hand):
    times = column(panel, 0, 50)
    assert times == sorted(times, reverse=True)
    assert len(set(column(panel, 1, 50))) > 2


def test_the_count_is_of_the_messages_that_there_are_not_of_those_that_are_loaded(panel, hand):
    hand.pass_time(20)
    panel.browse("commits", None, Start("newest"))
    hand.wait_until(lambda: panel.model.rowCount() >= 200)
    topic = next(topic for topic in hand.workbench.controller.snapshot.topics if topic.name == "commits")
    whole = sum(part.end_offset - part.start_offset for part in topic.partitions)
    assert whole > panel.model.rowCount()
    assert panel.count_label.text() == f"{panel.model.rowCount():,} of {whole:,} are shown"


def test_one_partition_has_a_row_for_each_offset_and_a_click_reads_the_message(panel, hand):
    panel.browse("commits", 0, Start("oldest"))
    end = (
        next(topic for topic in hand.workbench.controller.snapshot.topics if topic.name == "commits")
        .partitions[0]
        .end_offset
    )
    hand.wait_until(lambda: panel.model.rowCount() == end and column(panel, 2)[:3] == ["0", "1", "2"])
    at = panel.table.visualRect(panel.model.index(2, 4)).center()
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    hand.wait_until(lambda: "repo" in panel.details.payload.text.toPlainText())
    assert hand.workbench.views.selected == Place("commits", 0, 2).id
    hand.workbench.registry.trigger("copy_message")
    copied = json.loads(QApplication.clipboard().text())
    assert (copied["topic"], copied["offset"]) == ("commits", 2)
    assert "repo" in copied["value"]


def test_browsing_begins_at_an_offset_or_a_time(panel, hand):
    panel.browse("commits", 0, Start("offset", 20))
    hand.wait_until(lambda: panel.current_key() == Place("commits", 0, 20))
    panel.browse("commits", None, Start("time", 5_000_000_000))
    hand.wait_until(lambda: column(panel, 0, 1) != [] and column(panel, 0, 1)[0] >= "00:05.000")
    assert column(panel, 0, 1)[0] < "00:06.000"


def test_a_filter_looks_through_everything_and_says_how_far_it_came(panel, hand):
    panel.browse("commits", None, Start("oldest"))
    panel.set_filter_text("partition = 3 and value contains kafka")
    hand.wait_until(lambda: "all of them" in panel.note.text())
    assert set(column(panel, 1, 500)) == {"3"}
    assert all("kafka" in text for text in column(panel, 4, 500))
    panel.set_filter_text("prtition = 3")
    assert "did you mean partition" in panel.problem.text()
    hand.wait_until(panel.model.rowCount)
    assert set(column(panel, 1, 500)) > {"3"}, "nothing is filtered"


def test_the_live_tail_follows(panel, hand):
    panel.browse("commits", None, Start("tail"))
    hand.wait_until(lambda: panel.model.rowCount() > 0)
    before = panel.model.rowCount()
    hand.pass_time(3)
    hand.wait_until(lambda: panel.model.rowCount() > before)
    assert panel.is_at_end()


def test_the_newest_say_how_many_have_come_since_and_a_click_shows_them(panel, hand):
    panel.browse("commits", None, Start("newest"))
    hand.wait_until(lambda: panel.model.rowCount() > 0)
    before, latest = hand.workbench.controller.snapshot, column(panel, 0, 1)
    assert not panel.newer.isVisible()
    hand.pass_time(5)
    since = ends(hand.workbench.controller.snapshot) - ends(before)
    assert since > 0 and panel.newer.text() == f"{since} newer" and panel.newer.isVisible()
    assert column(panel, 0, 1) == latest, "it stands still while it is looked at"
    hand.qtbot.mouseClick(panel.newer, Qt.MouseButton.LeftButton)
    hand.wait_until(lambda: panel.model.rowCount() > 0 and column(panel, 0, 1) > latest)
    assert not panel.newer.isVisible()
    panel.browse("commits", None, Start("tail"))
    hand.pass_time(2)
    assert not panel.newer.isVisible(), "the tail follows by itself"


def test_the_newest_are_read_again_when_the_panel_is_shown_unless_one_of_them_is_read(panel, hand):
    panel.browse("commits", None, Start("newest"))
    hand.wait_until(lambda: panel.model.rowCount() > 0)
    latest = column(panel, 0, 1)
    hand.workbench.window.show_tab("events")
    hand.pass_time(3)
    hand.workbench.window.show_tab("messages")
    hand.wait_until(lambda: panel.model.rowCount() > 0 and column(panel, 0, 1) > latest)
    panel.select(2)
    key = panel.current_key()
    hand.workbench.window.show_tab("events")
    hand.pass_time(3)
    hand.workbench.window.show_tab("messages")
    hand.show()
    assert panel.current_key() == key and panel.newer.isVisible()


def test_a_list_that_is_open_over_a_restart_begins_with_the_first_message(panel, hand):
    panel.browse("commits", None, Start("newest"))
    hand.wait_until(lambda: panel.model.rowCount() > 0)
    hand.workbench.controller.open(find_scenario("first-session"))  # as a restart does, without running at once
    hand.wait_until(lambda: panel.model.rowCount() == ends(hand.workbench.controller.snapshot))
    while not ends(hand.workbench.controller.snapshot):
        hand.pass_time(0.1)
    hand.wait_until(lambda: panel.model.rowCount() > 0)
    assert hand.workbench.controller.snapshot.time_ns < NS_PER_S


def ends(snapshot):
    return sum(part.end_offset for topic in snapshot.topics if topic.name == "commits" for part in topic.partitions)


def test_a_message_is_produced_and_found_again(panel, hand):
    hand.qtbot.mouseClick(panel.buttons["produce"], Qt.MouseButton.LeftButton)
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, ProduceDialog) and one.isVisible())
    dialog.form.key.setText("mine")
    dialog.form.value.setPlainText("<b>one</b> $number \u202e \U0001f600")
    dialog.form.headers.setPlainText("trace: 7\nwrong")
    assert not dialog.accept_button.isEnabled()
    assert "colon" in dialog.problem.text()
    dialog.form.headers.setPlainText("trace: 7")
    dialog.set_values({"count": 3})
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    dialog.close()
    hand.show()
    panel.set_filter_text("key = mine")
    hand.wait_until(lambda: panel.model.rowCount() == 3)
    panel.select(0)
    hand.wait_until(lambda: "<b>one</b>" in panel.details.payload.text.toPlainText())
    text = panel.details.payload.text.toPlainText()
    assert text == "<b>one</b> 2 \\u202e \U0001f600"
    assert facts_of(panel.details.sections.parts[1][1]) == [("trace", "7")]


def test_the_dialog_says_what_came_of_its_message(panel, hand, monkeypatch):
    dialog = hand.workbench.family(MessageHandlers).ask_produce("builds")
    dialog.form.value.setPlainText("one")
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.show()
    assert dialog.problem.text() == "Sent 1 message to builds."
    assert dialog.problem.property("role") == "muted", "red is for what is wrong"
    dialog.chosen.emit({**dialog.values(), "priority": 7})
    hand.show()
    assert dialog.problem.text() == "The message was refused: builds has priority 0 only, and none of 7."
    monkeypatch.setattr(hand.workbench.controller.source, "why_not", lambda _kind: "It is locked.")
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert dialog.problem.text() == "It is locked."
    dialog.close()


def test_a_session_that_has_ended_can_be_browsed_and_takes_nothing(panel, hand):
    hand.workbench.controller.stop()
    hand.workbench.draw()
    panel.browse("commits", 1, Start("oldest"))

    def told():
        hand.workbench.draw()
        assert column(panel, 2)[:2] == ["0", "1"]

    hand.qtbot.waitUntil(told)
    panel.select(0)
    hand.qtbot.waitUntil(lambda: "repo" in panel.details.payload.text.toPlainText())
    panel.set_filter_text("value contains kafka")
    hand.qtbot.waitUntil(lambda: "all of them" in panel.note.text())
    assert hand.workbench.registry.reason("produce")
    assert hand.workbench.family(MessageHandlers).ask_produce() is None


def test_a_large_payload_is_cut_only_with_a_word(panel, hand):
    hand.workbench.controller.perform(Produce("commits", "x" * 900_000 + "end", key="large"))
    hand.show()
    panel.set_filter_text("key = large")
    hand.wait_until(lambda: panel.model.rowCount() == 1)
    panel.select(0)
    hand.wait_until(lambda: "200,000 of 900,003 bytes" in panel.details.payload.note.text())
    panel.details.payload.copy.click()
    assert QApplication.clipboard().text().endswith("end")


def test_in_the_past_nothing_is_produced_and_no_message_of_later_is_read(panel, hand):
    panel.select_row(0)
    hand.wait_until(lambda: panel.details.payload.data is not None)
    assert panel.buttons["produce"].isEnabled()
    hand.workbench.controller.travel.to(NS_PER_S)
    hand.wait_until(lambda: not panel.buttons["produce"].isEnabled())
    assert "past" in panel.buttons["produce"].toolTip()
    hand.wait_until(lambda: not panel.details.payload.isVisible())
    hand.workbench.controller.travel.to_present()
    hand.wait_until(panel.buttons["produce"].isEnabled)
