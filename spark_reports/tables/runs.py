"""The figures of many sessions, one row a session, and each as a measure that can be compared."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from statistics import fmean, linear_regression, median, pvariance, stdev

import polars as pl

from resources.measures import MEASURES, SAME, noise, unlike, verdict
from spark_reports.rows import grouped
from spark_reports.tables.latency import DONE, FIRST, latency
from spark_reports.tables.schema import columns, rows

ABOUT_SCHEMA = (
    "session INT, name STRING, scenario STRING, seed BIGINT, started_at STRING, ended STRING, duration_ns BIGINT, "
    "recorded_events BIGINT"
)
FIGURES = {name: "DOUBLE" if one.section in ("Throughput", "Latency") else "BIGINT" for name, one in MEASURES.items()}
SCHEMA = f"{ABOUT_SCHEMA}, " + ", ".join(f"{name} {kind}" for name, kind in FIGURES.items())

#: What a session is, whatever is asked of it: without its length nobody can say what may be compared.
ALWAYS = ("length_ns", "events")
#: Percentiles with their measure and column in tables of latency.
_PERCENTILES = {
    **{name: (FIRST, name) for name in ("p50_ns", "p99_ns", "p999_ns", "max_ns")},
    "acknowledged_p99_ns": (DONE, "p99_ns"),
}
LATENCY = tuple(_PERCENTILES)
MOVES = ("rebalancing_ns", "moved")
BLOCKED = ("blocked_ns",)
#: Whether more of it is better, or less; what is neither is not judged.
BETTER = {name: measure.better for name, measure in MEASURES.items() if measure.better}


def wanted(figures: Collection[str]) -> list[str]:
    return [name for name in FIGURES if name in figures or name in ALWAYS]


def schema(figures: Collection[str]) -> str:
    kept = (*(name for name, _ in columns(ABOUT_SCHEMA)), *wanted(figures))
    return ", ".join(f"{name} {kind}" for name, kind in columns(SCHEMA) if name in kept)


def ends(about: pl.DataFrame, from_ns: int | None = None, to_ns: int | None = None) -> pl.DataFrame:
    end = pl.col("duration_ns") if to_ns is None else pl.min_horizontal("duration_ns", pl.lit(to_ns))
    return about.select("session", end.alias("end_ns"), (end - (from_ns or 0)).clip(lower_bound=0).alias("length_ns"))


def runs(
    about: pl.DataFrame, ends: pl.DataFrame, parts: Iterable[pl.DataFrame], figures: Collection[str]
) -> pl.DataFrame:
    """One row per session of `about`, in its order, with `figures` and `ALWAYS`. `parts` and `latencies` have a row for
    each session that they know.
    """
    found = about.join(ends, on="session", maintain_order="left")
    for part in parts:
        found = found.join(part.with_columns(pl.col("session").cast(pl.Int32)), on="session", how="left")
    missing = [name for name in FIGURES if name not in found.columns and not name.endswith("_per_s")]
    found = found.with_columns(pl.lit(None, pl.Int64).alias(name) for name in missing)
    counts = [name for name, kind in FIGURES.items() if kind == "BIGINT" and name != "length_ns"]
    seconds = pl.when(pl.col("length_ns") > 0).then(pl.col("length_ns") / 1e9)
    per_s = {"published_per_s": "published", "delivered_per_s": "delivered", "bytes_per_s": "bytes"}
    events = pl.col("message_events").fill_null(0) + pl.col("control_events").fill_null(0)
    return (
        found.with_columns(pl.col("bytes").fill_null(0), events=events)
        .with_columns(pl.col(counts).fill_null(0), pl.col("length_ns").fill_null(0))
        .with_columns((pl.col(of) / seconds).alias(name) for name, of in per_s.items())
        .select(*about.columns, *wanted(figures))
        .sort("session")
    )


def latencies(buckets: pl.DataFrame) -> pl.DataFrame:
    """Percentiles of the first delivery and of the acknowledgement, one row a session."""
    return (
        latency(buckets, "session")
        .group_by("session")
        .agg(
            pl.col(column).filter(pl.col("measure") == measure).first().cast(pl.Float64).alias(name)
            for name, (measure, column) in _PERCENTILES.items()
        )
    )


def measures(runs: pl.DataFrame) -> pl.DataFrame:
    """Every figure of every session as a row of its own, so that figures can be compared."""
    names = [name for name in runs.columns if name in FIGURES]
    ids = ("session", "name", "scenario", "started_at")
    figures = runs.select(*ids, pl.col(names).cast(pl.Float64))
    return figures.unpivot(names, index=ids, variable_name="measure", value_name="value").sort("session", "measure")


COMPARISON_SCHEMA = (
    "measure STRING, better STRING, session INT, name STRING, value DOUBLE, base DOUBLE, difference DOUBLE, "
    "change DOUBLE, noise DOUBLE, verdict STRING"
)
TRENDS_SCHEMA = (
    "scenario STRING, measure STRING, better STRING, `runs` BIGINT, first DOUBLE, last DOUBLE, median DOUBLE, "
    "least DOUBLE, most DOUBLE, per_run DOUBLE, change DOUBLE, steady DOUBLE, verdict STRING, odd_session INT, "
    "odd_name STRING, odd_value DOUBLE"
)
ODD = 3.0  # times the usual distance from the median; of many runs the furthest is further by chance alone
_MEDIAN_DISTANCE = 0.6745  # of a normal distribution, in standard deviations

#: Rates with what they count: one of n messages varies by a share of 1 / sqrt(n).
_RATES = {"published_per_s": "published", "delivered_per_s": "delivered", "bytes_per_s": "published"}


def errors(runs: pl.DataFrame, over_time: Mapping[int, pl.DataFrame]) -> dict[tuple[int, str], float]:
    """The standard error of each figure, by session and measure, if known. `over_time` is latency_over_time by session.
    A percentile varies as those of single time buckets do; the maximum by all of that, as it is no mean of many.
    """
    found: dict[tuple[int, str], float] = {}
    for row in runs.iter_rows(named=True):
        for name, of in _RATES.items():
            if row.get(name) is not None and row.get(of):
                found[row["session"], name] = row[name] / row[of] ** 0.5
    for session, told in over_time.items():
        for name, (measure, column) in _PERCENTILES.items():
            values = [value for value in told.filter(pl.col("measure") == measure)[column] if value is not None]
            if len(values) > 1:
                found[session, name] = stdev(values) / (1.0 if name == "max_ns" else len(values) ** 0.5)
    return found


def comparison(measures: pl.DataFrame, errors: Mapping[tuple[int, str], float]) -> pl.DataFrame:
    """One row per measure and session beside the first. `change` is a share of the base, null if that is 0; within
    `noise` nothing is judged; `verdict` is from `resources.measures`.
    """
    values = {(row["session"], row["measure"]): row["value"] for row in measures.rows(named=True)}
    found: list[tuple[object, ...]] = []
    for row in measures.sort("measure", "session").rows(named=True):
        session, name, value = row["session"], row["measure"], row["value"]
        base, measure = values.get((0, name)), MEASURES[name]
        length, first = (values.get((each, "length_ns")) for each in (session, 0))
        differ = length is not None and first is not None and unlike(length, first)
        error = math.hypot(errors.get((0, name), 0.0), errors.get((session, name), 0.0))
        difference = chance = None
        if value is not None and base is not None:
            difference, chance = value - base, noise(measure, value, base, error)
        change = difference / base if base and difference is not None else None
        judged = verdict(measure, value, base, lengths_differ=differ, error=error) or None
        found.append((name, measure.better, session, row["name"], value, base, difference, change, chance, judged))
    return rows(COMPARISON_SCHEMA, found)


def trends(measures: pl.DataFrame) -> pl.DataFrame:
    """One row per scenario and measure of at least two runs, in order of recording. `per_run` is the slope of a line
    through all, `change` its whole rise as a share of the first value, `steady` its R squared. The odd run is the
    furthest from the median, if `ODD` times as far as usual. Sums over runs of different lengths are not judged.
    """
    known = grouped(measures.drop_nulls("value").sort("session").rows(named=True), "scenario", "measure")
    values = {key: [float(row["value"]) for row in mine] for key, mine in known.items()}
    found: list[tuple[object, ...]] = []
    for (scenario, name), each in sorted(values.items()):
        if len(each) < 2:
            continue
        measure, middle, spread = MEASURES[name], median(each), pvariance(each)
        per_run = linear_regression(range(len(each)), each).slope
        steady = per_run**2 * pvariance(range(len(each))) / spread if spread else 1.0
        drift = per_run * (len(each) - 1)
        start = abs(fmean(each) - drift / 2)
        lengths = values.get((scenario, "length_ns"), [0.0])
        if abs(drift) <= start * SAME:
            judged = "same"
        elif not measure.better or (measure.is_sum and unlike(max(lengths), min(lengths))):
            judged = "different"
        else:
            judged = "better" if (drift > 0) == (measure.better == "more") else "worse"
        away = [abs(value - middle) for value in each]
        by_chance = math.sqrt(2 * math.log(len(each))) / _MEDIAN_DISTANCE * 2
        far = max(away) > max(median(away) * max(by_chance, ODD), abs(middle) * 0.1)
        odd = known[scenario, name][away.index(max(away))] if far else {}
        seen = (len(each), each[0], each[-1], middle, min(each), max(each))
        fit = (per_run, drift / start if start else None, steady, judged)
        found.append((scenario, name, measure.better, *seen, *fit, *map(odd.get, ("session", "name", "value"))))
    return rows(TRENDS_SCHEMA, found)
