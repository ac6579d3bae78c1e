"""Question 11 of twenty: was this message delivered twice, to whom? Open Messages of the queue, click the message."""

from PySide6.QtCore import Qt

from app.environment.paths import find_scenario
from app.presenters.redeliveries import RedeliveriesPanel
from broker_core.events import EventKind
from widgets.panels.messages import MessagesPanel, Start


def test_a_click_on_a_message_says_how_often_and_to_whom_it_was_delivered(hand):
    hand.pass_time(20)
    events = list(hand.workbench.controller.collectors.events.since(0))
    given: dict[tuple[int, int], list[str]] = {}
    for event in events:
        if event.kind is EventKind.DELIVERED and event.group == "builds":
            for offset in range(event.offset, event.offset + event.count):
                given.setdefault((event.partition, offset), []).append(event.client)
    place = next(at for at, who in given.items() if len(who) == 2 and len(set(who)) == 2)
    partition, offset = place
    window = hand.workbench.window
    window.show_tab("messages")
    hand.show()
    panel = window.tab(MessagesPanel)
    hand.qtbot.waitUntil(lambda: (hand.show(), panel.topic.findText("builds") >= 0)[1])
    panel.browse("builds", partition, Start("offset", offset))
    hand.qtbot.waitUntil(lambda: (hand.show(), panel.model.rowCount() > 0)[1])
    hand.qtbot.waitUntil(lambda: (hand.show(), panel.model.index(offset, 2).data() == f"{offset:,}")[1])
    at = panel.table.visualRect(panel.model.index(offset, 4)).center()
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    inspector = window.parts.inspector

    def told():
        hand.show()
        sections = dict(inspector.facts.sections)
        assert sections.get("Deliveries", ("",))[0] == ("builds", f"twice, to {', '.join(dict.fromkeys(given[place]))}")
        words = [step.state for step in inspector.facts.steps]
        assert words[0] == "Published"
        assert words.count("Delivered") == 2, inspector.facts
        assert "Nacked" in words or "Lease expired" in words

    hand.qtbot.waitUntil(told)
    # A step leads to its moment, and to the client that took part.
    moments: list[int] = []
    inspector.momentChosen.connect(moments.append)
    step = inspector.facts.steps[1]
    inspector.life.momentChosen.emit(step.time_ns)
    assert moments == [step.time_ns]
    text, target = step.links[0]
    inspector.life.linkFollowed.emit(target)
    hand.show()
    assert inspector.facts.name == text
    assert hand.workbench.registry.trigger("inspect_back")
    assert inspector.facts.name == f"builds/{partition} at {offset}"
    assert hand.workbench.registry.trigger("inspect_forward")
    assert inspector.facts.name == text


def test_the_list_of_all_such_messages_is_filtered_and_leads_to_each(hand):
    hand.pass_time(20)
    window = hand.workbench.window
    redelivered = hand.workbench.controller.snapshot.totals.redelivered
    assert redelivered
    assert hand.workbench.registry.trigger("show_redeliveries")
    panel = window.tab(RedeliveriesPanel)
    hand.workbench.draw()  # without the events that bring the answer
    assert panel.empty_state._sentence.text() == "Counting..."
    hand.qtbot.waitUntil(lambda: (hand.show(), panel.model.rowCount() > 0)[1])
    assert sum(row.messages for row in panel.model.rows) == redelivered
    panel.set_filter_text("reader = builds and why = nacked")
    panel.model.settle()
    assert 0 < panel.model.rowCount() < panel.model.total
    assert {panel.model.index(place, 8).data() for place in range(panel.model.rowCount())} == {"Nacked"}
    row = panel.model.row_at(0)
    # By keyboard: down to the first row, which is inspected; Enter, to its messages.
    panel.table.setFocus()
    hand.qtbot.keyClick(panel.table, Qt.Key.Key_Home)
    hand.show()
    assert hand.workbench.views.selected == f"message:builds/{row.delivered.partition}/{row.offset}"
    assert hand.canvas._selected_id == "queue:builds"
    hand.qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    hand.show()
    assert window.shown_tab() == "messages"
    messages = window.tab(MessagesPanel)
    hand.qtbot.waitUntil(lambda: (hand.show(), messages.current_key() is not None)[1])
    assert str(messages.current_key()) == f"builds/{row.delivered.partition} at {row.offset:,}"
    # Another session begins without any.
    window.show_tab("redeliveries")
    hand.workbench.controller.open(find_scenario("first-session"))
    hand.show()
    assert panel.model.total == 0
