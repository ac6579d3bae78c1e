"""What did the session cost the machine that it ran on?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

NOTED_SCHEMA = "name STRING, value DOUBLE"
SCHEMA = "name STRING, value DOUBLE, unit STRING"
_UNITS = ("bytes", "s", "ms", "count")


def cost(noted: DataFrame, events: int, duration_ns: int) -> DataFrame:
    """One row per figure: those that the program noted, whose names end in their unit, and what follows from them.

    `events` is how many were recorded in the `duration_ns` of the whole session, which is what the program measured.
    """
    unit = F.lit("")
    for name in _UNITS:
        unit = F.when(F.col("name").endswith(f"_{name}"), name).otherwise(unit)
    known = noted.select(
        F.regexp_replace("name", f"_({'|'.join(_UNITS)})$", "").alias("name"), "value", unit.alias("unit")
    )
    value = {name: F.max(F.when(F.col("name") == name, F.col("value"))) for name in ("wall_s", "process_cpu_s")}
    derived = noted.agg(
        (F.lit(duration_ns / 1e9) / F.when(value["wall_s"] > 0, value["wall_s"])).alias("session_seconds_a_second"),
        (value["process_cpu_s"] * 1e9 / F.lit(events or None).cast("double")).alias("process_cpu_an_event"),
    )
    names = derived.columns
    told = derived.unpivot([], [*names], "name", "value").where("value IS NOT NULL")
    unit = F.when(F.col("name") == "process_cpu_an_event", "ns").otherwise("")
    return known.union(told.withColumn("unit", unit)).orderBy("name")
