"""How do sessions differ, and by how much? Side by side with the first, or as trends over many runs."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.questions.runs import BETTER, SUMS

SCHEMA = (
    "measure STRING, better STRING, session INT, name STRING, value DOUBLE, base DOUBLE, difference DOUBLE, "
    "change DOUBLE, verdict STRING"
)
TRENDS_SCHEMA = (
    "scenario STRING, measure STRING, better STRING, `runs` BIGINT, first DOUBLE, last DOUBLE, median DOUBLE, "
    "least DOUBLE, most DOUBLE, per_run DOUBLE, change DOUBLE, steady DOUBLE, verdict STRING, odd_session INT, "
    "odd_name STRING, odd_value DOUBLE"
)
SAME = 0.02  # of the value: closer together is the same
AS_LONG = 0.1  # of the length: sums of sessions that are closer together may be compared
ODD = 3.0  # times the usual distance from the median


def comparison(measures: DataFrame) -> DataFrame:
    """One row per measure and session: its value beside that of the first session.

    `change` is the difference as a share of the base; null where the base is 0. `verdict` is better, worse, same or
    different, the last where nobody can say what is better: so are sums over sessions of different lengths.
    """
    base = measures.where("session = 0").select("measure", F.col("value").alias("base"))
    length = measures.where("measure = 'length_ns'")
    first = length.where("session = 0").select(F.col("value").alias("first"))
    unlike = length.crossJoin(F.broadcast(first)).select(
        "session", (F.abs(F.col("value") - F.col("first")) > F.col("first") * AS_LONG).alias("unlike")
    )
    difference = F.col("value") - F.col("base")
    return (
        measures.join(F.broadcast(base), "measure", "left")
        .join(F.broadcast(unlike), "session", "left")
        .select(
            "measure",
            _better(F.col("measure")).alias("better"),
            *("session", "name", "value", "base"),
            difference.alias("difference"),
            (difference / F.when(F.col("base") != 0, F.col("base"))).alias("change"),
            "unlike",
        )
        .withColumn("verdict", _verdict(F.col("difference"), F.abs("base")))
        .drop("unlike")
        .orderBy("measure", "session")
    )


def _better(measure: Column) -> Column:
    found = F.lit("")
    for word in ("more", "less"):
        found = F.when(measure.isin([name for name, better in BETTER.items() if better == word]), word).otherwise(found)
    return found


def _verdict(difference: Column, size: Column) -> Column:
    """The frame says in `unlike` whether the sessions are of different lengths."""
    same = F.abs(difference) <= size * SAME
    return (
        F.when(difference.isNull(), F.lit(None))
        .when(same, "same")
        .when((F.col("better") == "") | (F.col("unlike") & F.col("measure").isin(*SUMS)), "different")
        .when((difference > 0) == (F.col("better") == "more"), "better")
        .otherwise("worse")
    )


def trends(measures: DataFrame) -> DataFrame:
    """One row per scenario and measure with at least two runs, in the order in which they were recorded.

    `per_run` is the slope of a straight line through all of them, `change` what that line makes of the first value
    by the
    last run, as a share; `steady` is how well the line fits (R squared). The odd run is the furthest from the
    median, where it is
    more than three times as far as runs usually are. Sums over runs of different lengths are not judged.
    """
    order = Window.partitionBy("scenario", "measure").orderBy("session")
    placed = measures.where("value IS NOT NULL").withColumn("run", F.row_number().over(order) - 1)
    summed = (
        placed.groupBy("scenario", "measure")
        .agg(
            F.count("*").alias("runs"),
            F.min_by("value", "run").alias("first"),
            F.max_by("value", "run").alias("last"),
            F.median("value").alias("median"),
            F.min("value").alias("least"),
            F.max("value").alias("most"),
            F.regr_slope("value", F.col("run").cast("double")).alias("per_run"),
            F.regr_intercept("value", F.col("run").cast("double")).alias("start"),
            F.coalesce(F.regr_r2("value", F.col("run").cast("double")), F.lit(0.0)).alias("steady"),
        )
        .where("runs > 1")
    )
    unlike = (
        measures.where("measure = 'length_ns'")
        .groupBy("scenario")
        .agg((F.max("value") > F.min("value") * (1 + AS_LONG)).alias("unlike"))
    )
    away = F.abs(F.col("value") - F.col("median"))
    far = placed.join(summed.select("scenario", "measure", "median"), ["scenario", "measure"])
    odd = (
        far.groupBy("scenario", "measure")
        .agg(
            F.median(away).alias("usual"),
            F.max_by(F.struct("session", "name", "value"), away).alias("odd"),
            F.max(away).alias("furthest"),
            F.first("median").alias("middle"),
        )
        .select(
            *("scenario", "measure"),
            F.when(F.col("furthest") > F.greatest(F.col("usual") * ODD, F.abs("middle") * 0.1), F.col("odd")).alias(
                "odd"
            ),
        )
    )
    drift = F.col("per_run") * (F.col("runs") - 1)
    return (
        summed.join(odd, ["scenario", "measure"])
        .join(F.broadcast(unlike), "scenario", "left")
        .withColumn("better", _better(F.col("measure")))
        .withColumn("verdict", _verdict(drift, F.abs("start")))
        .select(
            *("scenario", "measure", "better", "runs", "first", "last", "median", "least", "most", "per_run"),
            (drift / F.when(F.col("start") != 0, F.abs("start"))).alias("change"),
            *("steady", "verdict"),
            F.col("odd.session").alias("odd_session"),
            F.col("odd.name").alias("odd_name"),
            F.col("odd.value").alias("odd_value"),
        )
        .orderBy("scenario", "measure")
    )
