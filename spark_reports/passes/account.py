"""Which events the reducers of the window must be told, and which are put together before, so that what they say is the
same: of a partition, messages that are published, delivered for the first time and acknowledged while nothing else
happens to it are one event each. `told` are events as `Series` numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from spark_reports.passes.series import MESSAGES

_GIVES = ("delivered", "passed_over")
_USUAL = {"published": 0, **dict.fromkeys(_GIVES, 1), "acknowledged": 2}  # in which order they are folded
_UNASKED = ("lease_extended", "rejected")  # by the account
#: What concerns more than its own partition.
_APART = pl.col("series").is_null() | pl.col("kind").is_in(["redriven", "purged"])
#: What was given before may be given no more.
_ANEW = pl.col("kind").is_in(["topic_created", "topic_deleted", "queue_created", "group_state"])
_END = pl.col("offset") + pl.col("count")
_KEPT = ("series", "row", *MESSAGES)  # what events are made of
_ORDER = ("stretch", "place", "turn", "order")
_FIRST = (pl.col("kind") == "delivered") & (pl.col("attempt") == 1).fill_null(False)


def merged(told: pl.DataFrame) -> pl.DataFrame:
    """Fewer events with the same account. What is usual is put together between two events of its partition that are
    not, if these events show that all was given once, and before it was acknowledged: then it is no matter in which
    order they are folded.
    """
    order, gives = pl.col("kind").replace_strict(_USUAL, default=-1, return_dtype=pl.Int8), pl.col("kind").is_in(_GIVES)
    before = _END.cum_max().shift(1).over("epoch", "reader").fill_null(0)
    given = pl.when(gives).then(_END).otherwise(0).cum_max().over("epoch", "reader")
    plain = (order >= 0) & ((pl.col("kind") != "delivered") | _FIRST) & ~_APART
    plain &= ~gives | (pl.col("offset") >= before)
    plain &= (order != 2) | (given >= _END)
    asked = (
        told.filter(~pl.col("kind").is_in(_UNASKED))
        .with_columns(epoch=_ANEW.cum_sum(), stretch=_APART.cum_sum())
        .with_columns(plain=plain, place=pl.when(_APART).then(-1).otherwise("place"))
        .with_columns(
            turn=(~pl.col("plain")).cum_sum().over("place") + pl.col("stretch"),
            order=pl.when("plain").then(order).otherwise(-1),
        )
        .select(*_KEPT, *_ORDER, "plain")
    )
    return pl.concat([asked.filter(~pl.col("plain")), _runs(asked.filter("plain"))]).sort(*_ORDER, "seq")


def _runs(plain: pl.DataFrame) -> pl.DataFrame:
    """Events that follow one another in their partition are one event."""
    # Who has published it is no matter.
    alike = pl.when(pl.col("order") == 0).then(-1 - pl.col("place")).otherwise("series").cast(pl.Int64)
    key, sums = pl.col("key"), ("count", "seq", "time_ns")  # one number is sorted sooner than two
    told = plain.select("offset", *sums, key=alike * 2**32 + pl.col("turn"), at=pl.int_range(pl.len()))
    begins = ((key != key.shift(1)) | (pl.col("offset") != _END.shift(1))).fill_null(True)
    found = (
        told.sort("key", "offset", maintain_order=True)
        .group_by(begins.cum_sum().alias("run"), maintain_order=True)
        .agg(pl.col("count").sum(), pl.col("seq", "time_ns").min(), pl.col("at").first())
    )
    return plain[found["at"]].with_columns(found.select(sums)).select(plain.columns)


def moves(told: pl.DataFrame, kinds: Iterable[str]) -> pl.DataFrame:
    """The events by which partitions get and lose their readers; between two, the first and last delivery of a
    series.
    """
    given = pl.col("kind") == "delivered"
    asked = told.filter(pl.col("kind").is_in(list(kinds))).with_columns(turn=(~given).cum_sum())
    ends = asked.filter(given).group_by("turn", "series").agg(first=pl.col("seq").min(), last=pl.col("seq").max())
    return asked.filter(~given | pl.col("seq").is_in(pl.concat([ends["first"], ends["last"]]).implode()))


def unknown_keys(told: pl.DataFrame) -> int:
    """How many messages are published in batches that do not tell their keys."""
    batches = told.filter((pl.col("kind") == "published") & pl.col("key").is_null() & (pl.col("count") > 1))
    return int(batches["count"].sum())


def unordered(told: pl.DataFrame) -> pl.DataFrame:
    """The publishing and first deliveries of topics in which a key may come to a reader out of order. It cannot if the
    reader gets each partition from its beginning to its end, with the times of publishing, and each key has one.
    """
    first, keyed = told.filter(_FIRST), told.filter((pl.col("kind") == "published") & pl.col("key").is_not_null())
    born = pl.col("published_ns").fill_null(0)
    back = first.filter(
        (pl.col("offset") < _END.cum_max().shift(1).over("reader")) | (born < born.shift(1).over("reader"))
    )
    spread = keyed.group_by("log", "key").agg(pl.col("place").n_unique()).filter(pl.col("place") > 1)
    suspects = pl.concat([back["log"], spread["log"]]).unique()
    return pl.concat([first, keyed]).filter(pl.col("log").is_in(suspects.implode())).sort("seq")
