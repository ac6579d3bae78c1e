"""The frames of a session without Spark: what its passes bring home, made with Polars from events in memory.

What no session of these tests has is not made: redrives, events that are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import polars as pl

from spark_reports.passes import counts
from spark_reports.pipeline.frames import Frames
from spark_reports.scale import Scale
from spark_reports.spark.bounds import Names
from spark_reports.tables import dead_letters
from spark_reports.tables.schema import columns, rows
from tests.spark_reports.tables import rows as by_hand


class InMemory(Frames):
    """`messages` and `control_events` are Polars frames with the columns of a recording."""

    def __init__(
        self, messages: pl.DataFrame, control: pl.DataFrame, scale: Scale, totals: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(None, (messages.lazy(), control.lazy()), scale, totals)  # type: ignore[arg-type] # nothing asks Spark
        self._messages = messages

    @cached_property
    def _rolled(self) -> tuple[pl.DataFrame, Names | None]:
        return by_hand.rolled(self._messages, self.scale), None

    @cached_property
    def latency_buckets(self) -> pl.DataFrame:
        return by_hand.late(self._messages, self.scale, self.control)

    @cached_property
    def hot_keys(self) -> pl.DataFrame:
        known = pl.col("key").is_not_null()
        return (
            self._messages.filter((pl.col("kind") == "published") & (known | (pl.col("count") > 1)))
            .group_by("topic", "key", "partition")
            .agg(pl.col("count").sum().alias("messages"), pl.col("size_bytes").sum().alias("bytes"))
            .sort("messages", "key", "partition", descending=[True, False, False])
            .with_columns(rank=pl.when(known).then(pl.int_range(1, pl.len() + 1).over("topic", known)).cast(pl.Int32))
            .filter(~known | (pl.col("rank") <= counts.TOP))
            .select("topic", "rank", pl.col("key").cast(pl.String), "partition", "messages", "bytes")
        )

    @cached_property
    def dead_letters(self) -> pl.DataFrame:
        each = (
            self._messages.filter((pl.col("kind") == "dead_lettered") & (pl.col("count") > 0))
            .with_columns(step=pl.int_ranges(0, pl.col("count")))
            .explode("step", empty_as_null=False, keep_nulls=False)
            .with_columns(
                offset=pl.col("offset") + pl.col("step"), key=pl.col("key").cast(pl.String), bin="to_topic",
                bin_offset=pl.col("to_offset") + pl.col("step"),
            )
        )  # fmt: skip
        nothing = {name: pl.lit(None) for name in ("redriven_ns", "fate", "fate_ns")}
        sums = {"dead_lettered": pl.len(), **{n: pl.lit(0) for n in ("redriven", "recovered", "died_again", "waiting")}}
        times = {"first_ns": pl.col("time_ns").min(), "last_ns": pl.col("time_ns").max()}
        of_message = ("time_ns", "topic", "partition", "attempt", "published_ns", "bin", "bin_offset")
        ways = []
        for way, by in (
            (dead_letters.BY_CAUSE, ("group", "cause")),
            (dead_letters.BY_KEY, ("group", "key")),
            (dead_letters.EACH, ("seq", "offset")),
        ):
            others = [pl.col(name).first() for name in ("seq", "offset", "group", "key", "cause") if name not in by]
            found = each.group_by(by, maintain_order=True).agg(*others, *map(pl.first, of_message), **sums, **times)
            if way != dead_letters.EACH:
                found = found.sort("dead_lettered", descending=True, maintain_order=True)
                found = found.with_columns(seq=pl.lit(-1), offset=pl.lit(None))
            if way == dead_letters.BY_CAUSE:
                found = found.with_columns(key=pl.lit(None))
            ways.append(found.with_columns(**nothing, way=pl.lit(way), place=pl.int_range(1, pl.len() + 1)))
        found = pl.concat([one.select(sorted(one.columns)) for one in ways], how="vertical_relaxed")
        schema = rows(dead_letters.COUNTED_SCHEMA, []).schema
        names = [name for name, _ in columns(dead_letters.COUNTED_SCHEMA)]
        return found.select(pl.col(name).cast(schema[name]) for name in names)
