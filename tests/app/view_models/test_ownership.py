"""Who owned what and since when, at any moment, out of the events."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.view_models.owners import Owners
from app.view_models.ownership import KEPT, OwnershipFeed, OwnershipModel, Span
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind, EventStream
from broker_core.snapshots import Snapshot

PLACE = ("g", "orders", 3)


class Stream:
    """A group whose rebalances the test writes down."""

    def __init__(self) -> None:
        self.feed = OwnershipFeed()
        self._events = EventStream()
        self._events.attach(self.feed)

    def rebalance(self, start_s: float, end_s: float, owner: str, *, revoked: bool = True) -> None:
        if revoked:
            detail = {"partitions": [["orders", 3]], "member_id": "x"}
            self._events.emit(round(start_s * NS_PER_S), EventKind.PARTITIONS_REVOKED, group="g", detail=detail)
        after = [["orders", 3, owner]] if owner else []
        self._events.emit(
            round(end_s * NS_PER_S), EventKind.REBALANCE_COMPLETED, group="g", detail={"before": [], "after": after}
        )


def seconds(spans: tuple[Span, ...]) -> list[tuple[str, float, float | None]]:
    return [(one.owner, one.start_ns / NS_PER_S, one.end_ns and one.end_ns / NS_PER_S) for one in spans]


def test_a_change_of_owner_ends_at_its_revocation_and_begins_at_the_end_of_the_rebalance() -> None:
    stream = Stream()
    stream.rebalance(0, 1, "a", revoked=False)
    stream.rebalance(5, 7, "b")
    stream.rebalance(9, 10, "")
    assert seconds(stream.feed.spans(PLACE, 20 * NS_PER_S)) == [("a", 1, 5), ("b", 7, 9)]
    # Looked at from the past, what came later has not happened.
    assert seconds(stream.feed.spans(PLACE, 8 * NS_PER_S)) == [("a", 1, 5), ("b", 7, None)]
    assert seconds(stream.feed.spans(PLACE, 3 * NS_PER_S)) == [("a", 1, None)]
    assert stream.feed.since_ns(PLACE, "a", 3 * NS_PER_S) == NS_PER_S
    assert stream.feed.since_ns(PLACE, "a", 8 * NS_PER_S) is None


def test_who_keeps_a_partition_through_a_rebalance_keeps_its_time() -> None:
    stream = Stream()
    for start in range(0, 30, 3):
        stream.rebalance(start, start + 1, "a")
    assert seconds(stream.feed.spans(PLACE, 40 * NS_PER_S)) == [("a", 1, None)]


def test_the_history_of_a_partition_is_bounded() -> None:
    stream = Stream()
    for start in range(3 * KEPT):
        stream.rebalance(start, start + 0.5, "ab"[start % 2])
    spans = stream.feed.spans(PLACE, 10**18)
    assert len(spans) == KEPT and spans[-1].start_ns == round((3 * KEPT - 0.5) * NS_PER_S)


def test_the_matrix_has_a_column_a_member_and_tells_all_spans_on_hover(qtbot: QtBot) -> None:
    stream = Stream()
    stream.rebalance(0, 1, "a", revoked=False)
    stream.rebalance(5, 7, "b")
    stream.rebalance(9, 10, "a")
    model = OwnershipModel(Owners())
    model.follow(stream.feed)
    model.meet(Snapshot(20 * NS_PER_S, 0), "g")
    heads = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())]
    assert heads == ["a", "b"] and model.headerData(0, Qt.Orientation.Vertical) == "orders/3"
    assert model.index(0, 0).data() == "since 00:10.000"
    assert model.index(0, 1).data() == "00:07.000 to 00:09.000"
    assert "00:01.000 to 00:05.000" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    model.meet(Snapshot(6 * NS_PER_S, 0), "g")
    assert model.columnCount() == 1 and model.index(0, 0).data() == "00:01.000 to 00:05.000"
