from __future__ import annotations

import polars as pl


def broken(seen: pl.DataFrame, after: int, after_ns: int) -> pl.DataFrame:
    """One row per place where numbers of events are missing or doubled. `seen` has `seq` and `time_ns` of events that
    follow the number `after`, in order. A lost end cannot be seen here.
    """
    seq, time_ns = pl.col("seq"), pl.col("time_ns")
    before, before_ns = seq.shift(1).fill_null(after), time_ns.shift(1).fill_null(after_ns)
    each = seen.select(seq, time_ns, before=before, before_ns=before_ns)
    missing = each.filter(seq > pl.col("before") + 1).select(
        **{"first_seq": pl.col("before") + 1, "last_seq": seq - 1, "missing": seq - pl.col("before") - 1},
        **{"doubled": pl.lit(0, pl.Int64), "from_ns": pl.col("before_ns"), "to_ns": time_ns},
    )
    doubled = (
        each.filter(seq == pl.col("before"))
        .with_columns(apart=(seq - seq.shift(1) > 1).fill_null(True).cum_sum())
        .group_by("apart", maintain_order=True)
        .agg(
            *(seq.min().alias("first_seq"), seq.max().alias("last_seq")),
            *(pl.lit(0, pl.Int64).alias("missing"), pl.len().cast(pl.Int64).alias("doubled")),
            *(time_ns.min().alias("from_ns"), time_ns.max().alias("to_ns")),
        )
        .drop("apart")
    )
    return pl.concat([missing, doubled]).sort("first_seq")
