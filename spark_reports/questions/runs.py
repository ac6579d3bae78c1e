"""The figures of many sessions in one pass, one row a session, and each as a measure that can be compared."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.questions.latency import DONE, FIRST, bucket_value_ns, durations
from spark_reports.sessions import ABOUT_SCHEMA

_FIGURES = {
    "length_ns": "BIGINT",
    "published": "BIGINT",
    "delivered": "BIGINT",
    "acknowledged": "BIGINT",
    "redelivered": "BIGINT",
    "dead_lettered": "BIGINT",
    "turned_away": "BIGINT",
    "published_per_s": "DOUBLE",
    "delivered_per_s": "DOUBLE",
    "bytes_per_s": "DOUBLE",
    "p50_ns": "DOUBLE",
    "p99_ns": "DOUBLE",
    "p999_ns": "DOUBLE",
    "max_ns": "DOUBLE",
    "acknowledged_p99_ns": "DOUBLE",
    "rebalances": "BIGINT",
    "rebalancing_ns": "BIGINT",
    "moved": "BIGINT",
    "blocked_ns": "BIGINT",
    "faults": "BIGINT",
    "user_actions": "BIGINT",
    "events": "BIGINT",
}
SCHEMA = f"{ABOUT_SCHEMA}, " + ", ".join(f"{name} {kind}" for name, kind in _FIGURES.items())
MEASURES_SCHEMA = "session INT, name STRING, scenario STRING, started_at STRING, measure STRING, value DOUBLE"

#: What a session is, whatever is asked of it: without its length nobody can say what may be compared.
ALWAYS = ("length_ns", "events")
_LATENCY = ("p50_ns", "p99_ns", "p999_ns", "max_ns", "acknowledged_p99_ns")
_MOVES = ("rebalancing_ns", "moved")
#: Whether more of it is better, or less; what is neither is not judged.
BETTER = {
    **dict.fromkeys(("acknowledged", "delivered_per_s"), "more"),
    **dict.fromkeys(
        (
            *("redelivered", "dead_lettered", "turned_away", "p50_ns", "p99_ns", "p999_ns", "max_ns"),
            *("acknowledged_p99_ns", "rebalances", "rebalancing_ns", "moved", "blocked_ns"),
        ),
        "less",
    ),
}
#: What grows with the length of a session: between sessions of different lengths it says nothing.
SUMS = (
    *("acknowledged", "redelivered", "dead_lettered", "turned_away"),
    *("rebalances", "rebalancing_ns", "moved", "blocked_ns"),
)
_TURNED_AWAY = ("rejected", "dropped", "evicted", "expired")
_OWNERS = "before ARRAY<ARRAY<STRING>>, after ARRAY<ARRAY<STRING>>, started_ns BIGINT"


def runs(
    messages: DataFrame,
    control: DataFrame,
    about: DataFrame,
    from_ns: int | None = None,
    to_ns: int | None = None,
    figures: Collection[str] = tuple(_FIGURES),
) -> DataFrame:
    """One row per session of `about`, in its order, with `figures` and those of `ALWAYS`. All events have the number of
    their session, and are those from `from_ns` up to `to_ns`, or all of it.
    """
    wanted = [name for name in _FIGURES if name in figures or name in ALWAYS]
    kind, count = F.col("kind"), F.col("count")

    def total(*kinds: str) -> Column:
        return F.sum(F.when(kind.isin(*kinds), count).otherwise(0))

    counted = messages.groupBy("session").agg(
        *(total(name).alias(name) for name in ("published", "delivered", "acknowledged", "dead_lettered")),
        F.sum(F.when((kind == "delivered") & (F.col("attempt") > 1), count).otherwise(0)).alias("redelivered"),
        total(*_TURNED_AWAY).alias("turned_away"),
        F.sum(F.when(kind == "published", F.col("size_bytes")).otherwise(0)).alias("bytes"),
        F.count("*").alias("message_events"),
    )
    told = control.groupBy("session").agg(
        *(
            F.count_if(kind == name).alias(alias)
            for name, alias in (
                ("rebalance_started", "rebalances"),
                ("fault", "faults"),
                ("user_action", "user_actions"),
            )
        ),
        F.count("*").alias("control_events"),
    )
    none = F.lit(0).cast("bigint")
    about = about.withColumn("end_ns", _least("duration_ns", to_ns))
    long = F.col("end_ns") - (from_ns or 0)
    length_ns = F.greatest(long, F.lit(0)).cast("bigint")
    long = F.when(long > 0, long / 1e9)
    found = about.join(counted, "session", "left").join(told, "session", "left")
    if not set(_LATENCY).isdisjoint(wanted):
        found = found.join(_latency(messages, control), "session", "left")
    if not set(_MOVES).isdisjoint(wanted):
        found = found.join(_moves(control), "session", "left")
    if "blocked_ns" in wanted:
        found = found.join(_blocked(control, about), "session", "left")
    known = {
        **{
            name: F.coalesce(name, none)
            for name in wanted
            if not name.endswith("_per_s") and name not in (*_LATENCY, *ALWAYS)
        },
        "length_ns": length_ns,
        "published_per_s": F.coalesce("published", none) / long,
        "delivered_per_s": F.coalesce("delivered", none) / long,
        "bytes_per_s": F.coalesce("bytes", none) / long,
        "events": F.coalesce("message_events", none) + F.coalesce("control_events", none),
    }
    return found.select(
        *(name for name in about.columns if name != "end_ns"),
        *((known[name] if name in known else F.col(name)).alias(name) for name in wanted),
    ).orderBy("session")


def _least(name: str, bound: int | None) -> Column:
    return F.col(name) if bound is None else F.least(name, F.lit(bound))


def _latency(messages: DataFrame, control: DataFrame) -> DataFrame:
    """Percentiles of the first delivery and of the acknowledgement, by buckets of 1 %, without what was replayed."""
    counted = (
        durations(messages, control, "session")
        .where(F.col("measure").isin(FIRST, DONE))
        .groupBy("session", F.col("measure").alias("kind"), "log_bucket")
        .agg(F.sum("count").alias("messages"), F.max("duration").alias("max_ns"))
    )
    place = Window.partitionBy("session", "kind")
    up_to = place.orderBy("log_bucket").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ranked = counted.select(
        "*", F.sum("messages").over(up_to).alias("rank"), F.sum("messages").over(place).alias("total")
    )

    def quantile(share: float, of: str, name: str) -> Column:
        here = (F.col("rank") >= F.ceil(F.col("total") * share)) & (F.col("kind") == of)
        value = F.min(F.when(here, bucket_value_ns(F.col("log_bucket"))))
        return F.least(F.round(value), F.max(F.when(F.col("kind") == of, F.col("max_ns"))).cast("double")).alias(name)

    return ranked.groupBy("session").agg(
        quantile(0.5, FIRST, "p50_ns"),
        quantile(0.99, FIRST, "p99_ns"),
        quantile(0.999, FIRST, "p999_ns"),
        F.max(F.when(F.col("kind") == FIRST, F.col("max_ns"))).cast("double").alias("max_ns"),
        quantile(0.99, DONE, "acknowledged_p99_ns"),
    )


def _moves(control: DataFrame) -> DataFrame:
    """How long groups were rebalancing, summed, and how many partitions changed hands."""
    detail = F.from_json("detail", _OWNERS)
    nothing = F.array().cast("array<array<string>>")
    done = control.where(F.col("kind") == "rebalance_completed").select(
        "session", "time_ns", F.coalesce(detail.started_ns, "time_ns").alias("started_ns"),
        F.coalesce(detail.before, nothing).alias("before"), F.coalesce(detail.after, nothing).alias("after"),
    )  # fmt: skip
    return done.groupBy("session").agg(
        F.sum(F.when(F.size("before") > 0, F.col("time_ns") - F.col("started_ns")).otherwise(0)).alias(
            "rebalancing_ns"
        ),
        F.sum(F.when(F.size("before") > 0, F.size(F.array_except("after", "before"))).otherwise(0)).alias("moved"),
    )


def _blocked(control: DataFrame, about: DataFrame) -> DataFrame:
    """How long producers were blocked, summed over them."""
    order = Window.partitionBy("session", "topic", "client").orderBy("seq")
    return (
        control.where(F.col("kind").isin("producer_blocked", "producer_unblocked"))
        .select("session", "kind", "time_ns", F.lead("time_ns").over(order).alias("next_ns"))
        .where(F.col("kind") == "producer_blocked")
        .join(F.broadcast(about.select("session", "end_ns")), "session")
        .groupBy("session")
        .agg(F.sum(F.coalesce("next_ns", "end_ns") - F.col("time_ns")).alias("blocked_ns"))
    )


def measures(runs: DataFrame) -> DataFrame:
    """Every figure of every session as a row of its own, so that figures can be compared."""
    names = [name for name in runs.columns if name in _FIGURES]
    figures = [F.col(name).cast("double").alias(name) for name in names]
    ids: tuple[str, ...] = ("session", "name", "scenario", "started_at")
    return runs.select(*ids, *figures).unpivot([*ids], [*names], "measure", "value").orderBy("session", "measure")
