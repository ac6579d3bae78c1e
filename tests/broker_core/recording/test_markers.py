"""Markers take offsets, and are no messages."""

from __future__ import annotations

from broker_core.events import Event, EventKind
from broker_core.recording.markers import Markers


def test_markers_are_counted_between_offsets() -> None:
    markers = Markers()
    markers.add(Event(0, 0, EventKind.TRANSACTION_ENDED, detail={"markers": [["t", 0, 9]]}))
    assert [markers.between(("t", 0), *span) for span in ((0, 9), (0, 10))] == [0, 1]
    assert markers.between(("t", 1), 0, 10) == 0
