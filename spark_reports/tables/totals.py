"""How many messages met which fate, and whether that is what the broker itself counted?"""

from __future__ import annotations

import polars as pl

from spark_reports.tables.schema import rows

SCHEMA = "name STRING, recorded BIGINT"
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
        SCHEMA,
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
