"""What is counted: the rollup, totals, throughput."""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables import recording, throughput
from spark_reports.tables.schema import rows
from tests.spark_reports.tables.rows import S, check, events, happened, leased, published, rolled

SCALE = Scale(0, 10 * S, S)


def test_totals_count_every_message_of_every_range() -> None:
    table = events(
        published(0, 0, 0, 1000),
        leased("delivered", 1, 0, 4),
        leased("delivered", 2, 0, 3, attempt=2),
        leased("delivered", 2, 0, 2, attempt=None),  # by a client that had them already
        leased("acknowledged", 3, 0, 4),
        leased("dead_lettered", 4, 4, 2),
        {"kind": "rejected", "topic": "t", "count": 5},
        {"kind": "dropped", "topic": "t", "count": 6},
        leased("purged", 5, 6, 3),
        leased("purged", 5, 0, 2, topic="q.dlq"),
    )
    control = happened({"kind": "rebalance_started", "group": "g"}, {"kind": "fault"})
    answer = recording.totals(rolled(table, SCALE), control).sort("name")
    expected = {
        "published": 1000, "delivered": 9, "redelivered": 3, "fetched_again": 2, "acknowledged": 4, "dead_lettered": 2,
        "rejected": 5, "dropped": 6, "redriven": 0, "expired": 0, "evicted": 0, "purged": 3, "rebalances": 1,
        "events": 12,
    }  # fmt: skip
    check(answer, recording.TOTALS_SCHEMA, sorted(expected.items()))


def test_the_last_bucket_is_no_peak() -> None:
    """It is closed at both ends: of one message a tenth of a second, it has eleven."""
    table = events(*(published(at * S // 10, 0, at) for at in range(101)), published(10 * S, 1, 0))
    answer = throughput.throughput_series(throughput.throughput(rolled(table, SCALE), SCALE), SCALE)
    peaks = {
        row["name"]: row["peak_messages_per_s"] for row in answer.rows(named=True) if row["dimension"] == "partition"
    }
    assert peaks == {"0": 10.0, "1": 1.0}  # of partition 1 there is no other


def test_totals_of_an_empty_session_are_zero() -> None:
    answer = recording.totals(rolled(events(), SCALE), happened()).rows(named=True)
    assert len(answer) == 14 and all(row["recorded"] == 0 for row in answer)


def test_reconciliation_puts_what_differs_first() -> None:
    counted = rows(recording.TOTALS_SCHEMA, [("published", 10), ("delivered", 9), ("purged", 0)])
    summary = rows(recording.SUMMARY_SCHEMA, [("published", 10), ("delivered", 10)])
    check(
        recording.reconciliation(counted, summary),
        recording.RECONCILIATION_SCHEMA,
        [("delivered", 10, 9, -1, False), ("published", 10, 10, 0, True)],
    )


def test_throughput_is_per_second_of_the_bucket() -> None:
    wide = Scale(0, 7 * S, 2 * S)
    table = events(
        published(0, 0, 0, 4), published(S, 1, 0, 2), published(5 * S, 0, 4),
        leased("delivered", 2 * S, 0, 3, size_bytes=30),
    )  # fmt: skip
    answer = throughput.throughput(rolled(table, wide), wide)
    check(
        answer,
        throughput.SCHEMA,
        [
            ("consumer", "q", "w", 2 * S, 3, 30, 1.5, 15.0),
            ("partition", "t", "0", 0, 4, 40, 2.0, 20.0),
            ("partition", "t", "0", 4 * S, 1, 10, 0.5, 5.0),
            ("partition", "t", "1", 0, 2, 20, 1.0, 10.0),
            ("producer", "t", "p", 0, 6, 60, 3.0, 30.0),
            ("producer", "t", "p", 4 * S, 1, 10, 0.5, 5.0),
            ("topic", "t", "t", 0, 6, 60, 3.0, 30.0),
            ("topic", "t", "t", 4 * S, 1, 10, 0.5, 5.0),
        ],
    )
    series = throughput.throughput_series(answer, wide).filter(pl.col("dimension") == "topic")
    check(series, throughput.SERIES_SCHEMA, [("topic", "t", "t", 7, 70, 1.0, 10.0, 3.0)])
