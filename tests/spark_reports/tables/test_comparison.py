"""Many sessions as one dataset: their figures, differences and trends."""

from __future__ import annotations

import random
from types import SimpleNamespace

import polars as pl
import pytest

from spark_reports.tables import recording, runs
from spark_reports.tables.schema import arrow, rows
from tests.spark_reports.tables.rows import S, check

MEASURES = "session INT, name STRING, scenario STRING, started_at STRING, measure STRING, value DOUBLE"


def _measures(values: dict[str, list[float | None]]) -> pl.DataFrame:
    found: list[tuple] = [
        (number, f"run-{number}", "same", f"2026-01-0{number + 1}", measure, value)
        for measure, series in values.items()
        for number, value in enumerate(series)
    ]
    return rows(MEASURES, found)


NO_ERRORS: dict[tuple[int, str], float] = {}


def _judged(
    measure: str, values: list[float | None], told: list[dict[str, object]], late: dict[int, list[float]] | None = None
) -> str:
    """What is said of the second of two sessions, of which these figures are told."""
    over_time = {
        number: pl.DataFrame({"measure": ["delivered"] * len(each)} | dict.fromkeys(_LATE, each))
        for number, each in (late or {}).items()
    }
    errors = runs.errors(pl.DataFrame(told), over_time)
    found = runs.comparison(_measures({measure: values}), errors).filter(pl.col("session") == 1)
    return str(found["verdict"].item())


_LATE = ("p50_ns", "p99_ns", "p999_ns", "max_ns")


@pytest.mark.parametrize(("died", "verdict"), [(125, "noise"), (140, "worse"), (60, "better"), (101, "same")])
def test_a_count_is_judged_only_beyond_chance(died: int, verdict: str) -> None:
    told: list[dict[str, object]] = [{"session": 0, "dead_lettered": 100}, {"session": 1, "dead_lettered": died}]
    assert _judged("dead_lettered", [100.0, died], told) == verdict


@pytest.mark.parametrize(("delivered", "verdict"), [(100, "noise"), (10_000, "worse")])
def test_a_rate_of_few_messages_is_judged_only_beyond_chance(delivered: int, verdict: str) -> None:
    told: list[dict[str, object]] = [
        {"session": 0, "delivered": delivered, "delivered_per_s": 10.0},
        {"session": 1, "delivered": delivered, "delivered_per_s": 8.0},
    ]
    assert _judged("delivered_per_s", [10.0, 8.0], told) == verdict


@pytest.mark.parametrize("measure", _LATE)
@pytest.mark.parametrize(("spread_s", "verdict"), [(0.1, "worse"), (30.0, "noise")])
def test_a_percentile_is_judged_only_beyond_what_it_varies(measure: str, spread_s: float, verdict: str) -> None:
    late = {
        number: [(around + spread_s * (at % 2 - 0.5)) * S for at in range(20)]
        for number, around in enumerate((50.0, 58.0))
    }
    told: list[dict[str, object]] = [{"session": 0}, {"session": 1}]
    assert _judged(measure, [50.0 * S, 58.0 * S], told, late) == verdict


def test_differences_have_a_size_and_a_direction() -> None:
    measures = _measures(
        {"p99_ns": [100.0 * S, 50.0 * S, 101.0 * S], "dead_lettered": [0.0, 30.0, 0.0], "published": [50.0, 90.0, None]}
    )
    check(
        runs.comparison(measures, NO_ERRORS).filter(pl.col("session") > 0),
        runs.COMPARISON_SCHEMA,
        [
            ("dead_lettered", "less", 1, "run-1", 30.0, 0.0, 30.0, None, pytest.approx(2 * 30**0.5), "worse"),
            ("dead_lettered", "less", 2, "run-2", 0.0, 0.0, 0.0, None, 0.0, "same"),
            ("p99_ns", "less", 1, "run-1", 50.0 * S, 100.0 * S, -50.0 * S, -0.5, 10.0 * S, "better"),
            ("p99_ns", "less", 2, "run-2", 101.0 * S, 100.0 * S, 1.0 * S, 0.01, 10.0 * S, "same"),
            ("published", "", 1, "run-1", 90.0, 50.0, 40.0, 0.8, pytest.approx(2 * 140**0.5), "different"),
            ("published", "", 2, "run-2", None, 50.0, None, None, None, None),
        ],
    )  # fmt: skip


def test_sums_over_sessions_of_different_lengths_are_not_judged() -> None:
    told: dict[str, list[float | None]] = {
        "length_ns": [10.0 * S, 20.0 * S, 10.5 * S],
        "dead_lettered": [100.0, 200.0, 200.0],
        "p99_ns": [1.0 * S, 2.0 * S, 2.0 * S],
    }
    verdicts = {
        (row["measure"], row["session"]): row["verdict"]
        for row in runs.comparison(_measures(told), NO_ERRORS).rows(named=True)
    }
    assert [verdicts["dead_lettered", session] for session in range(3)] == ["same", "different", "worse"]
    assert [verdicts["p99_ns", session] for session in range(3)] == ["same", "worse", "worse"]
    trends = {row["measure"]: row["verdict"] for row in runs.trends(_measures(told)).rows(named=True)}
    assert (trends["dead_lettered"], trends["p99_ns"]) == ("different", "worse")
    told["length_ns"] = [10.0 * S] * 3
    trends = {row["measure"]: row["verdict"] for row in runs.trends(_measures(told)).rows(named=True)}
    assert (trends["dead_lettered"], trends["length_ns"]) == ("worse", "same")


def test_trends_tell_a_drift_from_one_run_that_is_out_of_line() -> None:
    measures = _measures(
        {"p99_ns": [10.0, 20.0, 30.0, 40.0, 50.0], "delivered_per_s": [7.0, 7.0, 70.0, 7.0, 7.0], "moved": [1.0]}
    )
    found = arrow(runs.trends(measures), runs.TRENDS_SCHEMA).to_pylist()
    odd, drift = (SimpleNamespace(**row) for row in found)
    assert (drift.measure, drift.runs, drift.first, drift.last, drift.median) == ("p99_ns", 5, 10.0, 50.0, 30.0)
    assert (drift.per_run, drift.verdict, drift.odd_session) == (pytest.approx(10.0), "worse", None)
    assert drift.change == pytest.approx(4.0) and drift.steady == pytest.approx(1.0)
    assert (odd.measure, odd.odd_session, odd.odd_name, odd.odd_value) == ("delivered_per_s", 2, "run-2", 70.0)
    assert odd.steady == pytest.approx(0.0) and odd.verdict == "same"


def test_of_many_runs_the_furthest_is_no_exception() -> None:
    """Of a thousand runs some are three times as far from the median as most: each figure had one to tell of."""
    chance = random.Random(1)
    values: list[float | None] = [chance.lognormvariate(0, 0.3) for _ in range(1_000)]
    assert _odd(values) is None
    assert _odd([*values, 20.0]) == 1_000


def _odd(values: list[float | None]) -> object:
    many = [(number, "run", "same", "2026", "p99_ns", value) for number, value in enumerate(values)]
    return runs.trends(rows(MEASURES, [*many]))["odd_session"].item()


def test_what_a_session_cost_has_its_units_and_what_follows() -> None:
    noted = {
        "wall_s": 4.0,
        "process_cpu_s": 2.0,
        "peak_memory_bytes": 5e6,
        "frames_drawn_count": 300.0,
        "frame_cost_p99_ms": 12.5,
    }
    check(
        recording.cost(noted, 1000, 8 * S),
        recording.COST_SCHEMA,
        [
            ("frame_cost_p99", 12.5, "ms"),
            ("frames_drawn", 300.0, "count"),
            ("peak_memory", 5e6, "bytes"),
            ("process_cpu", 2.0, "s"),
            ("process_cpu_an_event", 2_000_000.0, "ns"),
            ("session_seconds_a_second", 2.0, ""),
            ("wall", 4.0, "s"),
        ],
    )
    check(recording.cost({}, 0, 8 * S), recording.COST_SCHEMA, [])
