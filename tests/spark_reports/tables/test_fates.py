"""What became of messages: redeliveries, dead letters, backpressure; keys and markers."""

from __future__ import annotations

from spark_reports.scale import Scale
from spark_reports.tables import backpressure, dead_letters, markers
from tests.spark_reports.tables.rows import S, check, committed, events, happened, leased, rolled

SCALE = Scale(0, 10 * S, S)


def test_redeliveries_are_a_ladder_of_attempts() -> None:
    table = events(
        leased("delivered", 0, 0, 5), leased("acknowledged", 1, 0, 3), leased("nacked", 1, 3, 1),
        leased("lease_expired", 2, 4, 1), leased("delivered", 3, 3, 2, attempt=2),
        leased("dead_lettered", 4, 3, 2, attempt=2), committed(5, 0, 0, 2),
        {"kind": "delivered", "time_ns": 6 * S, "group": "g", "topic": "t", "count": 1, "attempt": 2},
    )  # fmt: skip
    check(
        dead_letters.redeliveries(rolled(table, SCALE)),
        dead_letters.REDELIVERIES_SCHEMA,
        [
            ("g", "t", 1, 0, 2, 0, 0, 0, 0),
            ("g", "t", 2, 1, None, 0, 0, 0, 0),
            ("q", "q", 1, 5, 3, 1, 0, 1, 0),
            ("q", "q", 2, 2, 0, 0, 0, 0, 2),
        ],
    )


def test_backpressure_pairs_blocks_and_closes_open_ones_at_the_end() -> None:
    control = happened(
        {"kind": "producer_blocked", "time_ns": S // 2, "topic": "t", "client": "p", "cause": "block: r"},
        {"kind": "producer_blocked", "time_ns": S, "topic": "t", "client": "p2", "cause": "block: r"},
        {"kind": "producer_unblocked", "time_ns": 3 * S // 2, "topic": "t", "client": "p", "cause": ""},
    )
    table = events(
        {"kind": "rejected", "time_ns": 0, "topic": "t", "count": 2},
        {"kind": "dropped", "time_ns": 3 * S, "topic": "u", "count": 1},
    )
    blocks = backpressure.backpressure(control, Scale(0, 3 * S, S))
    check(
        blocks,
        backpressure.SCHEMA,
        [("t", "p", "block: r", S // 2, 3 * S // 2, S, True), ("t", "p2", "block: r", S, 3 * S, 2 * S, False)],
    )
    found = rolled(table, SCALE)
    check(
        backpressure.series(blocks, found),
        backpressure.SERIES_SCHEMA,
        [("t", 2, 3 * S, 2 * S, 2, 0, 0, 0), ("u", 0, 0, 0, 0, 1, 0, 0)],
    )
    check(
        backpressure.over_time(blocks, found, SCALE),
        backpressure.TIME_SCHEMA,
        [("t", 0, S // 2, 2, 0), ("t", S, 3 * S // 2, 0, 0), ("t", 2 * S, S, 0, 0), ("u", 3 * S, 0, 0, 1)],
    )


def test_markers_are_what_somebody_did() -> None:
    control = happened(
        {"kind": "fault", "time_ns": 5, "client": "w", "cause": "crash"},
        {"kind": "group_state", "time_ns": 6, "group": "g"},
        {"kind": "user_action", "time_ns": 7, "cause": "Paused"},
    )
    check(
        markers.markers(control),
        markers.SCHEMA,
        [(5, "fault", "", "w", "", "crash"), (7, "user_action", "", "", "", "Paused")],
    )
