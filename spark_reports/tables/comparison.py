"""How do sessions differ, and by how much? Side by side with the first, or as trends over many runs."""

from __future__ import annotations

import polars as pl

from resources.measures import AS_LONG, SAME
from spark_reports.tables.runs import BETTER, SUMS

SCHEMA = (
    "measure STRING, better STRING, session INT, name STRING, value DOUBLE, base DOUBLE, difference DOUBLE, "
    "change DOUBLE, verdict STRING"
)
TRENDS_SCHEMA = (
    "scenario STRING, measure STRING, better STRING, `runs` BIGINT, first DOUBLE, last DOUBLE, median DOUBLE, "
    "least DOUBLE, most DOUBLE, per_run DOUBLE, change DOUBLE, steady DOUBLE, verdict STRING, odd_session INT, "
    "odd_name STRING, odd_value DOUBLE"
)
ODD = 3.0  # times the usual distance from the median


def comparison(measures: pl.DataFrame) -> pl.DataFrame:
    """One row per measure and session: its value beside that of the first session.

    `change` is the difference as a share of the base; null where the base is 0. `verdict` is better, worse, same or
    different, the last where nobody can say what is better: so are sums over sessions of different lengths.
    """
    value = pl.col("value")
    base = measures.filter(pl.col("session") == 0).select("measure", value.alias("base"))
    length = measures.filter(pl.col("measure") == "length_ns")
    first = length.filter(pl.col("session") == 0).select(value.first()).item() if length.height else None
    unlike = length.select("session", ((value - pl.lit(first)).abs() > pl.lit(first) * AS_LONG).alias("unlike"))
    difference = value - pl.col("base")
    return (
        measures.join(base, on="measure", how="left")
        .join(unlike, on="session", how="left")
        .with_columns(better=_better(), difference=difference)
        .with_columns(
            change=pl.col("difference") / pl.when(pl.col("base") != 0).then("base"),
            verdict=_verdict(pl.col("difference"), pl.col("base").abs()),
        )
        .sort("measure", "session")
    )


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
    """One row per scenario and measure with at least two runs, in the order in which they were recorded.

    `per_run` is the slope of a straight line through all of them, `change` what that line makes of the first value
    by the last run, as a share; `steady` is how well the line fits (R squared). The odd run is the furthest from the
    median, where it is more than three times as far as runs usually are. Sums over runs of different lengths are not
    judged.
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
    far = away.max() > pl.max_horizontal(away.median() * ODD, value.median().abs() * 0.1)
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
