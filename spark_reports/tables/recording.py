from __future__ import annotations

import polars as pl

SCHEMA = "first_seq BIGINT, last_seq BIGINT, missing BIGINT, doubled BIGINT, from_ns BIGINT, to_ns BIGINT"
BROKEN_SCHEMA = (
    "word BIGINT, events BIGINT, there BIGINT, begin_ns BIGINT, end_ns BIGINT, previous BIGINT, previous_ns BIGINT, "
    "expected BIGINT"
)
_WORD = 64


def is_whole(numbers: pl.DataFrame) -> bool:
    """Whether `passes.recording.numbers` alone proves that every number from 0 on occurs once."""
    whole = (pl.col("first") == 0) & (pl.col("events") == pl.col("last") + 1) & (pl.col("odd") == 0)
    return numbers.select(whole.fill_null(False)).item() is True


def recording(broken: pl.DataFrame) -> pl.DataFrame:
    """One row per place where the recording is not whole: of the numbers `first_seq` to `last_seq`, between `from_ns`
    and `to_ns`, events are `missing` or `doubled`. A lost end cannot be seen here.
    """
    word, begin, end = pl.col("word"), pl.col("begin_ns"), pl.col("end_ns")
    gap = word - pl.col("previous") - 1
    here = (pl.col("there") < pl.col("expected")) | (pl.col("events") > pl.col("there"))
    return (
        broken.sort("word")
        .with_columns(
            first_seq=pl.when(gap > 0).then((pl.col("previous") + 1) * _WORD).otherwise(word * _WORD),
            last_seq=word * _WORD + pl.when(here).then("expected").otherwise(0) - 1,
            missing=gap * _WORD + pl.col("expected") - pl.col("there"),
            doubled=pl.col("events") - pl.col("there"),
            from_ns=pl.when(gap > 0).then(pl.col("previous_ns").fill_null(0)).otherwise(begin),
            to_ns=pl.when(here).then(end).otherwise(begin),
            apart=(word.shift(1) != pl.col("previous")).fill_null(True),
        )
        .with_columns(island=pl.col("apart").cum_sum())
        .group_by("island", maintain_order=True)
        .agg(
            pl.col("first_seq").min(),
            pl.col("last_seq").max(),
            pl.col("missing", "doubled").sum(),
            pl.col("from_ns").min(),
            pl.col("to_ns").max(),
        )
    )
