"""The data of a session without Spark: what its passes bring home, made with Polars from events in memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import polars as pl

from spark_reports.passes import counts
from spark_reports.pipeline.session_data import SessionData
from spark_reports.scale import Scale
from spark_reports.spark.bounds import Names
from tests.spark_reports.tables import rows as by_hand


class InMemory(SessionData):
    """`messages` and `control_events` are Polars data with the columns of a recording."""

    def __init__(
        self, messages: pl.DataFrame, control: pl.DataFrame, scale: Scale, totals: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(None, (messages.lazy(), control.lazy()), scale, totals)  # type: ignore[arg-type] # nothing asks Spark
        self._messages = messages

    @cached_property
    def _rollup_and_names(self) -> tuple[pl.DataFrame, Names | None]:
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
