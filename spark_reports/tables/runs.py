"""The figures of many sessions, one row a session, and each as a measure that can be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import polars as pl

from resources.measures import MEASURES
from spark_reports.tables.latency import DONE, FIRST, quantile_ns, ranked
from spark_reports.tables.schema import columns

ABOUT_SCHEMA = (
    "session INT, name STRING, scenario STRING, seed BIGINT, started_at STRING, ended STRING, duration_ns BIGINT, "
    "recorded_events BIGINT"
)
FIGURES = {name: "DOUBLE" if one.section in ("Throughput", "Latency") else "BIGINT" for name, one in MEASURES.items()}
SCHEMA = f"{ABOUT_SCHEMA}, " + ", ".join(f"{name} {kind}" for name, kind in FIGURES.items())
MEASURES_SCHEMA = "session INT, name STRING, scenario STRING, started_at STRING, measure STRING, value DOUBLE"

#: What a session is, whatever is asked of it: without its length nobody can say what may be compared.
ALWAYS = ("length_ns", "events")
LATENCY = ("p50_ns", "p99_ns", "p999_ns", "max_ns", "acknowledged_p99_ns")
MOVES = ("rebalancing_ns", "moved")
BLOCKED = ("blocked_ns",)
#: Whether more of it is better, or less; what is neither is not judged.
BETTER = {name: measure.better for name, measure in MEASURES.items() if measure.better}
#: What grows with the length of a session: between sessions of different lengths it says nothing.
SUMS = tuple(name for name, measure in MEASURES.items() if measure.is_sum)


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
    each = ranked(buckets, "session", "measure")
    told: Mapping[str, tuple[str, float]] = {
        "p50_ns": (FIRST, 0.5), "p99_ns": (FIRST, 0.99), "p999_ns": (FIRST, 0.999), "acknowledged_p99_ns": (DONE, 0.99),
    }  # fmt: skip
    percentiles = each.group_by("session", "measure").agg(
        *(quantile_ns(quantile).alias(name) for name, (_, quantile) in told.items()), pl.col("max_ns").max()
    )
    value = {name: (pl.col(name), measure) for name, (measure, _) in told.items()}
    value["max_ns"] = (pl.col("max_ns"), FIRST)
    return percentiles.group_by("session").agg(
        column.filter(pl.col("measure") == measure).first().cast(pl.Float64).alias(name)
        for name, (column, measure) in value.items()
    )


def measures(runs: pl.DataFrame) -> pl.DataFrame:
    """Every figure of every session as a row of its own, so that figures can be compared."""
    names = [name for name in runs.columns if name in FIGURES]
    ids = ("session", "name", "scenario", "started_at")
    figures = runs.select(*ids, pl.col(names).cast(pl.Float64))
    return figures.unpivot(names, index=ids, variable_name="measure", value_name="value").sort("session", "measure")
