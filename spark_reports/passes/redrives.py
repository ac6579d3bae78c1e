from __future__ import annotations

import re

import polars as pl

from broker_core.events import WITHDRAWN
from spark_reports.passes.kinds import DIED_AGAIN, RECOVERED, WAITING
from spark_reports.scale import Scale

WORD = 64
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_KIND, _PARTITION = pl.col("kind"), pl.col("partition").fill_null(0)
_BIN = ("bin", "bin_partition", "bin_offset")  # where a dead letter lies
_SENT = ("to_topic", "to_partition", "to_offset")  # where a redrive has put it


def dead_letters(messages: pl.LazyFrame, scale: Scale) -> pl.DataFrame:
    """One row per message that died in `scale`, in order, with the time of its first redrive and what came of it."""
    died = _each(messages, (_KIND == "dead_lettered") & (pl.col("time_ns") >= scale.from_ns)).select(
        *("seq", "time_ns", "group", "topic", "partition", "offset", "cause", "attempt", "published_ns"),
        key=pl.col("key").map_elements(_key_text, return_dtype=pl.String),
        bin="to_topic",
        bin_partition="to_partition",
        bin_offset="to_offset",
    )
    sent = _redriven(messages)
    back = sent.join(_fates(messages, sent), on=_SENT, how="left").select(
        *_BIN, "redriven_ns", pl.col("fate").fill_null(WAITING), "fate_ns"
    )
    return died.join(back, on=_BIN, how="left").sort("seq", "offset").collect()


def _each(messages: pl.LazyFrame, which: pl.Expr) -> pl.LazyFrame:
    """A row a message of these events."""
    some = messages.filter(which & (pl.col("count") > 0)).with_columns(step=pl.int_ranges(0, pl.col("count")))
    return some.explode("step", empty_as_null=False, keep_nulls=False).with_columns(
        pl.col("offset", "to_offset") + pl.col("step"), pl.col("to_partition").fill_null(0)
    )


def _key_text(key: bytes) -> str:
    """A key as text, in the same format as `counts.key_text`."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return f"0x{key.hex().upper()}"
    return f"0x{key.hex().upper()}" if _CONTROL.search(text) else text


def _redriven(messages: pl.LazyFrame) -> pl.LazyFrame:
    """The first redrive of each dead letter that was not undone: from its place in the bin to where it was sent."""
    undone = _each(messages, (_KIND == "purged") & (pl.col("cause") == WITHDRAWN))
    places = undone.select(to_topic="topic", to_partition=_PARTITION, to_offset="offset")
    sent = _each(messages, _KIND == "redriven").join(places, on=_SENT, how="anti").sort("seq")
    return sent.group_by(bin="topic", bin_partition=_PARTITION, bin_offset="offset").agg(
        pl.col("time_ns").min().alias("redriven_ns"), pl.col(*_SENT, "group").first()
    )


def _fates(messages: pl.LazyFrame, redriven: pl.LazyFrame) -> pl.LazyFrame:
    """How each redriven message ended in the group that had given it up. Ranges meet in words of 64 offsets."""
    first, at, end = pl.col("offset"), pl.col("to_offset"), pl.col("offset") + pl.col("count")
    ends = messages.filter(
        _KIND.is_in(["acknowledged", "dead_lettered"]) & first.is_not_null() & (pl.col("count") > 0)
    ).select(
        *("kind", "offset", "count"),
        word=pl.int_ranges(first // WORD, (end - 1) // WORD + 1),
        to_topic="topic",
        to_partition=_PARTITION,
        by="group",
        fate_ns="time_ns",
    )
    died = (_KIND == "dead_lettered").any()
    return (
        ends.explode("word", empty_as_null=False, keep_nulls=False)
        .join(redriven.select(*_SENT, "group", word=at // WORD).unique(), on=["to_topic", "to_partition", "word"])
        .filter((at >= first) & (at < end) & ((pl.col("group") == "") | (pl.col("group") == pl.col("by"))))
        .group_by(_SENT)
        .agg(pl.when(died).then(pl.lit(DIED_AGAIN)).otherwise(pl.lit(RECOVERED)).alias("fate"), pl.col("fate_ns").max())
    )
