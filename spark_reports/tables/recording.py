"""Counts of messages by outcome, compared with the broker's own counts."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from spark_reports.tables.schema import rows

SCHEMA = "first_seq BIGINT, last_seq BIGINT, missing BIGINT, doubled BIGINT, from_ns BIGINT, to_ns BIGINT"
TOTALS_SCHEMA = "name STRING, recorded BIGINT"
SUMMARY_SCHEMA = "name STRING, summary BIGINT"
RECONCILIATION_SCHEMA = "name STRING, summary BIGINT, recorded BIGINT, difference BIGINT, equal BOOLEAN"

#: Kinds that the broker counts under the same name.
SAME_NAME = (
    *("published", "delivered", "acknowledged", "dead_lettered", "redriven", "rejected", "dropped", "expired"),
    *("evicted", "purged"),
)
#: What an observer of a cluster knows.
SEEN_FROM_OUTSIDE = ("published", "acknowledged", "rebalances", "events")


def totals(rollup: pl.DataFrame, control: pl.DataFrame) -> pl.DataFrame:
    """One row per total of the run's summary, and `events`. As the broker counts: a rebalance when it starts, as purged
    only what was taken out of a queue.
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = rollup.filter((kind != "purged") | (pl.col("topic") == pl.col("group")))
    delivered = counted.filter(kind == "delivered")
    again = delivered.filter(pl.col("attempt") > 1)
    fetched = delivered.filter(pl.col("attempt").is_null())  # by a client that had it already
    found = [(name, counted.filter(kind == name).select(messages.sum()).item()) for name in SAME_NAME]
    return rows(
        TOTALS_SCHEMA,
        [
            *found,
            ("redelivered", again["messages"].sum()),
            ("fetched_again", fetched["messages"].sum()),
            ("rebalances", control.filter(kind == "rebalance_started").height),
            ("events", rollup["events"].sum() + control.height),
        ],
    )


def reconciliation(totals: pl.DataFrame, summary: pl.DataFrame) -> pl.DataFrame:
    """The recorded totals beside those that the broker counted, for each name that both have."""
    difference = pl.col("recorded") - pl.col("summary")
    return (
        totals.join(summary, on="name")
        .with_columns(difference=difference, equal=difference == 0)
        .sort("equal", "summary", "name", descending=[False, True, False])
    )


COST_SCHEMA = "name STRING, value DOUBLE, unit STRING"
_UNITS = ("bytes", "s", "ms", "count")


def cost(noted: Mapping[str, float], events: int, duration_ns: int) -> pl.DataFrame:
    """One row per figure: those the program noted, whose names end in their unit, and what follows from them."""
    known = [_split(name, value) for name, value in noted.items()]
    if noted.get("wall_s", 0.0) > 0:
        known.append(("session_seconds_a_second", duration_ns / 1e9 / noted["wall_s"], ""))
    if events and "process_cpu_s" in noted:
        known.append(("process_cpu_an_event", noted["process_cpu_s"] * 1e9 / events, "ns"))
    return rows(COST_SCHEMA, list(known)).sort("name")


def _split(name: str, value: float) -> tuple[str, float, str]:
    before, _, unit = name.rpartition("_")
    return (before, value, unit) if unit in _UNITS and before else (name, value, "")
