"""What a reader of committed messages is given nothing for."""

from __future__ import annotations

from broker_core.events import Event, EventKind
from broker_core.recording.markers import Markers

PLACE = ("t", 0)


def test_markers_and_aborted_messages_are_counted_between_offsets() -> None:
    markers = Markers()
    detail = {"markers": [["t", 0, 9]], "aborted": [["t", 0, 4, 5]]}
    markers.add(Event(0, 0, EventKind.TRANSACTION_ENDED, detail=detail))
    assert [markers.aborted_between(PLACE, *span) for span in ((0, 4), (0, 6), (5, 8), (4, 20))] == [0, 2, 3, 5]
    assert [markers.between(PLACE, *span) for span in ((0, 9), (0, 10))] == [0, 1]
    assert markers.passed_over(PLACE, 0, 10) == 6
    assert markers.passed_over(("t", 1), 0, 10) == 0
