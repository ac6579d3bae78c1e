"""Question 20 of twenty: what does the log hold on disk right now? The panel Log on disk, a click on a segment."""

from PySide6.QtCore import Qt

from app.presenters.segments import LogOnDiskPanel
from resources.units import byte_size
from tests.widgets.reading import facts_of


def test_the_panel_lists_every_segment_and_a_click_says_how_its_partition_is_kept(open_workbench):
    hand = open_workbench("compaction")
    hand.pass_time(25)
    window = hand.workbench.window
    hand.qtbot.mouseClick(window.tabs.tab("log_on_disk"), Qt.MouseButton.LeftButton)
    panel = window.tab(LogOnDiskPanel)

    def truth(simulation):
        broker = simulation.broker
        return [
            (name, number, segment.view())
            for name in broker.topics.names()
            for number in range(broker.logs.partition_count(name))
            for segment in broker.logs.partition(name, number).segments
        ]

    asked = hand.simulated.look(truth)

    def told():
        hand.show()
        wanted = asked.result()
        model = panel.model
        shown = [[model.index(row, at).data() for at in (0, 1, 2, 4, 7)] for row in range(model.rowCount())]
        assert len(wanted) > 2
        assert shown == [
            [name, str(number), segment.name, f"{segment.base_offset:,}", byte_size(segment.size_bytes)]
            for name, number, segment in wanted
        ]

    hand.qtbot.waitUntil(told)
    at = panel.table.visualRect(panel.model.index(0, 0)).center()
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    facts = dict(facts_of(panel.facts))
    assert "compaction" in facts["Cleaned up by"]
    assert "memory" in facts["Kept"] or "files" in facts["Kept"]
    assert facts["Corruption"] == "none found"
    assert byte_size(sum(segment.size_bytes for _, _, segment in asked.result())) in panel.summary.text()
    states = {panel.model.index(row, 3).data() for row in range(panel.model.rowCount())}
    assert "Active" in states
    assert states & {"Sealed", "Compacted"}
