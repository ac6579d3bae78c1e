"""Question 7 of twenty: which key makes partition 2 hot? A click on the partition."""

from collections import Counter

from PySide6.QtCore import QPoint, Qt

from broker_core.events import EventKind


def test_a_click_on_a_partition_names_its_hottest_keys(hand):
    truth = Counter(
        event.key
        for event in hand.workbench.controller.collectors.events.since(0)
        if event.kind is EventKind.PUBLISHED and (event.topic, event.partition) == ("commits", 2)
    )
    key, number = truth.most_common(1)[0]
    rects = hand.canvas._stage.layout.rects
    at = next((item for item in rects if item == "lane:commits/2"), None)
    if at is not None:
        hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.place(at))
    else:
        box = rects["topic:commits"]
        for step in range(1, 60):
            where = hand.canvas.mapFromScene(box.x + box.w / 2, box.y + box.h * step / 60)
            hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(where))
            if hand.workbench.views.selected == "lane:commits/2":
                break
    assert hand.workbench.views.selected == "lane:commits/2"
    inspector = hand.workbench.window.parts.inspector

    def told():
        hand.show()
        hot = dict(inspector.facts.sections).get("Hot keys", ("",))
        assert hot[0] == (key.decode(), f"{number / truth.total():.1%}, {number} of {truth.total()} messages")

    hand.qtbot.waitUntil(told)
