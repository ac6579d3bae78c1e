"""Latency on events whose percentiles are known."""

from __future__ import annotations

from random import Random

import pytest

from spark_reports.scale import Scale
from spark_reports.tables import latency
from tests.spark_reports.tables.rows import MS, S, check, events, happened, late, leased, told

WHOLE = latency.SCHEMA
SCALE = Scale(0, 10_000 * S, S)


def test_latency_weighs_messages_and_takes_first_deliveries_only() -> None:
    table = events(
        leased("delivered", 100 * MS, 0, 98, published_ns=90 * MS),
        leased("delivered", 1000 * MS, 98, 2, published_ns=0),
        leased("delivered", 9000 * MS, 0, 1, published_ns=0, attempt=2),
        leased("acknowledged", 5 * MS, 0, 1, published_ns=5 * MS),
        leased("acknowledged", 5 * MS, 0, 7),
    )
    answer = told(latency.latency(late(table, SCALE)), WHOLE)
    zero, first = answer
    assert (zero.measure, zero.messages, zero.p50_ns, zero.max_ns) == ("acknowledged", 1, 0, 0)
    assert (first.measure, first.messages, first.max_ns) == ("delivered", 100, 1000 * MS)
    assert first.p50_ns == pytest.approx(10 * MS, rel=0.005)
    assert first.p90_ns == first.p50_ns
    assert first.p99_ns == pytest.approx(1000 * MS, rel=0.005)
    assert first.mean_ns == pytest.approx((98 * 10 + 2 * 1000) / 100 * MS, rel=0.005)


def test_latency_percentiles_are_within_half_a_percent_of_the_exact_ones() -> None:
    random = Random(7)
    waits = [(int(10 ** random.uniform(3, 9)), 1 + number % 3) for number in range(20_000)]
    table = events(
        *(
            leased("delivered", number * 1000 + wait, number, count, published_ns=number * 1000)
            for number, (wait, count) in enumerate(waits)
        )
    )
    (row,) = latency.latency(late(table, SCALE)).rows(named=True)
    exact = sorted(wait for wait, count in waits for _ in range(count))
    for name, quantile in latency.QUANTILES.items():
        rank = -(-len(exact) * quantile // 1)
        assert row[name] == pytest.approx(exact[int(rank) - 1], rel=0.0051), name
    assert row["max_ns"] == exact[-1]


def test_what_a_new_group_replays_spoils_no_percentile() -> None:
    table = events(
        leased("delivered", 60 * S, 0, 5, published_ns=0),
        leased("acknowledged", 60 * S, 0, 5, published_ns=0),
        leased("delivered", 60 * S, 5, 2, published_ns=59 * S + 1),  # a second of grace
        leased("delivered", 60 * S, 7, 1, published_ns=0, group="old"),
        leased("delivered", 90 * S, 8, 3, published_ns=70 * S),  # after a reset at 80 s
    )
    joined = [
        {"kind": "member_joined", "time_ns": at, "group": g} for at, g in ((60 * S, "q"), (95 * S, "q"), (0, "old"))
    ]
    control = happened(*joined, {"kind": "offsets_reset", "time_ns": 80 * S, "group": "q"})
    answer = told(latency.latency(late(table, SCALE, control)), WHOLE)
    counted = {row.measure: (row.messages, row.max_ns) for row in answer}
    assert counted == {"delivered": (3, 60 * S), "replayed": (8, 60 * S), "replayed and acknowledged": (5, 60 * S)}


def test_latency_curve_ends_at_one_and_the_heat_map_keeps_every_message() -> None:
    table = events(
        leased("delivered", 10 * MS, 0, 3, published_ns=0), leased("delivered", 2 * S, 3, 1, published_ns=1 * S)
    )
    buckets = late(table, SCALE)
    curve = latency.latency_curve(buckets)
    assert [(row.messages, row.share) for row in told(curve, latency.CURVE_SCHEMA)] == [(3, 0.75), (1, 1.0)]
    check(
        latency.latency_heat(buckets),
        latency.HEAT_SCHEMA,
        # Eight rows a decade: row 55 holds 7.5 to 10 ms, row 71 holds 750 ms to 1 s.
        [("delivered", 0, 55, 7_498_942, 3), ("delivered", 2 * S, 71, 749_894_209, 1)],
    )
