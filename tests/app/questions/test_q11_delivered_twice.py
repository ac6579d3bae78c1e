"""Question 11 of twenty: was this message delivered twice, to whom? Open Messages of the queue, click the message."""

from PySide6.QtCore import Qt

from broker_core.events import EventKind
from widgets.panels.messages import MessagesPanel, Start


def test_a_click_on_a_message_says_how_often_and_to_whom_it_was_delivered(hand):
    hand.pass_time(20)
    events = list(hand.workbench.controller.events.since(0))
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
        sections = dict(inspector.facts().sections)
        assert sections.get("Deliveries", ("",))[0] == ("builds", f"twice, to {', '.join(dict.fromkeys(given[place]))}")
        words = [step.state for step in inspector.facts().steps]
        assert words[0] == "Published"
        assert words.count("Delivered") == 2, inspector.facts()
        assert "Nacked" in words or "Lease expired" in words

    hand.qtbot.waitUntil(told)
    # A step leads to its moment, and to the client that took part.
    moments: list[int] = []
    hand.workbench.views.momentChosen.connect(moments.append)
    step = inspector.facts().steps[1]
    inspector.life.momentChosen.emit(step.time_ns)
    assert moments == [step.time_ns]
    text, target = step.links[0]
    inspector.life.linkFollowed.emit(target)
    hand.show()
    assert inspector.facts().name == text
    assert hand.workbench.registry.trigger("inspect_back")
    assert inspector.facts().name == f"builds/{partition} at {offset}"
    assert hand.workbench.registry.trigger("inspect_forward")
    assert inspector.facts().name == text
