"""How do sessions differ, and by how much? Side by side with the first, or as trends over many runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from resources.measures import AS_LONG, MEASURES, SAME, noise, unlike, verdict
from spark_reports.tables.latency import DONE, FIRST
from spark_reports.tables.runs import BETTER, SUMS
from spark_reports.tables.schema import rows

SCHEMA = (
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
#: Percentiles with their measure and column over time.
_PERCENTILES = {
    **{name: (FIRST, name) for name in ("p50_ns", "p99_ns", "p999_ns", "max_ns")},
    "acknowledged_p99_ns": (DONE, "p99_ns"),
}


def errors(runs: pl.DataFrame, over_time: Mapping[int, pl.DataFrame]) -> pl.DataFrame:
    """The standard error of each figure: session, measure, error, where known. `over_time` is latency_over_time by
    session. A percentile varies as those of single time buckets do; the maximum by all of that, as it is no mean of
    many.
    """
    rates = [
        (pl.col(name) / pl.col(of).cast(pl.Float64).sqrt()).alias(name)
        for name, of in _RATES.items()
        if name in runs.columns and of in runs.columns
    ]
    found = runs.select("session", *rates)
    parts = [found.unpivot(index="session", variable_name="measure", value_name="error")]
    for session, told in over_time.items():
        for name, (measure, column) in _PERCENTILES.items():
            values = told.filter(pl.col("measure") == measure)[column].cast(pl.Float64)
            spread = values.std()
            error = None if spread is None else spread / (1.0 if name == "max_ns" else len(values) ** 0.5)
            parts.append(pl.DataFrame({"session": [session], "measure": [name], "error": [error]}))
    return pl.concat(part.cast({"session": pl.Int32, "error": pl.Float64}) for part in parts).drop_nulls().drop_nans()


def comparison(measures: pl.DataFrame, errors: pl.DataFrame) -> pl.DataFrame:
    """One row per measure and session beside the first. `change` is a share of the base, null if that is 0; within
    `noise` nothing is judged; `verdict` is from `resources.measures`.
    """
    known = {(session, name): error for session, name, error in errors.select("session", "measure", "error").rows()}
    values = {(row["session"], row["measure"]): row["value"] for row in measures.rows(named=True)}
    found: list[tuple[object, ...]] = []
    for row in measures.sort("measure", "session").rows(named=True):
        session, name, value = row["session"], row["measure"], row["value"]
        base, measure = values.get((0, name)), MEASURES[name]
        length, first = (values.get((each, "length_ns")) for each in (session, 0))
        differ = length is not None and first is not None and unlike(length, first)
        error = math.hypot(known.get((0, name), 0.0), known.get((session, name), 0.0))
        difference = chance = None
        if value is not None and base is not None:
            difference, chance = value - base, noise(measure, value, base, error)
        change = difference / base if base and difference is not None else None
        judged = verdict(measure, value, base, lengths_differ=differ, error=error) or None
        found.append((name, measure.better, session, row["name"], value, base, difference, change, chance, judged))
    return rows(SCHEMA, found)


def _better() -> pl.Expr:
    return pl.col("measure").replace_strict(BETTER, default="", return_dtype=pl.String)


def _verdict(difference: pl.Expr, size: pl.Expr) -> pl.Expr:
    """The frame says in `unlike` whether the sessions are of different lengths."""
    cannot = (pl.col("better") == "") | (pl.col("unlike").fill_null(False) & pl.col("measure").is_in(SUMS))
    return (
        pl.when(difference.is_null())
        .then(pl.lit(None, pl.String))
        .when(difference.abs() <= size * SAME)
        .then(pl.lit("same"))
        .when(cannot)
        .then(pl.lit("different"))
        .when((difference > 0) == (pl.col("better") == "more"))
        .then(pl.lit("better"))
        .otherwise(pl.lit("worse"))
    )


def trends(measures: pl.DataFrame) -> pl.DataFrame:
    """One row per scenario and measure of at least two runs, in order of recording. `per_run` is the slope of a line
    through all, `change` its whole rise as a share of the first value, `steady` its R squared. The odd run is the
    furthest from the median, if `ODD` times as far as usual. Sums over runs of different lengths are not judged.
    """
    keys = ("scenario", "measure")
    value, run = pl.col("value"), pl.col("run").cast(pl.Float64)
    away = (value - value.median()).abs()
    spread = value.var(ddof=0)
    fit = pl.cov(run, value, ddof=0) / run.var(ddof=0)
    unlike = (
        measures.filter(pl.col("measure") == "length_ns")
        .group_by("scenario")
        .agg((value.max() > value.min() * (1 + AS_LONG)).alias("unlike"))
    )
    by_chance = (2 * pl.len().log()).sqrt() / _MEDIAN_DISTANCE * 2
    far = away.max() > pl.max_horizontal(away.median() * by_chance.clip(ODD), value.median().abs() * 0.1)
    furthest = (pl.col(name).get(away.arg_max()).alias(f"odd_{name}") for name in ("session", "name", "value"))
    odd = (pl.when(pl.col("far")).then(name).alias(name) for name in ("odd_session", "odd_name", "odd_value"))
    drift = pl.col("per_run") * (pl.col("runs") - 1)
    start = pl.col("mean") - pl.col("per_run") * (pl.col("runs") - 1) / 2
    return (
        measures.drop_nulls("value")
        .sort("session")
        .with_columns(run=pl.int_range(pl.len()).over(keys))
        .group_by(keys)
        .agg(
            pl.len().cast(pl.Int64).alias("runs"),
            value.first().alias("first"),
            value.last().alias("last"),
            value.median().alias("median"),
            value.min().alias("least"),
            value.max().alias("most"),
            value.mean().alias("mean"),
            fit.alias("per_run"),
            pl.when(spread == 0).then(1.0).otherwise(fit**2 * run.var(ddof=0) / spread).alias("steady"),
            far.alias("far"),
            *furthest,
        )
        .filter(pl.col("runs") > 1)
        .join(unlike, on="scenario", how="left")
        .with_columns(*odd, better=_better(), start=start, drift=drift)
        .with_columns(
            change=pl.col("drift") / pl.when(pl.col("start") != 0).then(pl.col("start").abs()),
            verdict=_verdict(pl.col("drift"), pl.col("start").abs()),
        )
        .sort(keys)
    )
