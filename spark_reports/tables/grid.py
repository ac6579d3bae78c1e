from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale


def grid(rows: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Every row of `rows` once per time bucket, with `start_ns`, in order of time, and for what came before `scale`."""
    first = scale.from_ns - (scale.width_ns if scale.from_ns else 0)
    end = scale.from_ns + scale.buckets * scale.width_ns
    starts = pl.int_range(first, end, scale.width_ns, dtype=pl.Int64, eager=True).alias("start_ns")
    return rows.sort(rows.columns).join(starts.to_frame(), how="cross")
