"""Which events the window's reducers need, and which of them may be merged into one without changing what they say.
`events` are rows as `Series.numbered` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from spark_reports.passes.series import MESSAGES

_KIND, _OFFSET = pl.col("kind"), pl.col("offset")
_END = _OFFSET + pl.col("count")
_GIVES = ("delivered", "passed_over")
_PHASES = {"published": 0, **dict.fromkeys(_GIVES, 1), "acknowledged": 2}  # of a message; merged in this order
_NO_ACCOUNT = ("lease_extended", "rejected")  # they change nothing in the account
#: What concerns more than its own partition.
_SHARED = pl.col("series").is_null() | _KIND.is_in(["redriven", "purged"])
#: What was delivered before may be delivered no more.
_RESTARTS = _KIND.is_in(["topic_created", "topic_deleted", "queue_created", "group_state"])
_EVENT = ("series", "row", *MESSAGES)  # what events are made of
_ORDER = ("shared_events", "place", "unusual_events", "phase")
_IS_FIRST = (_KIND == "delivered") & (pl.col("attempt") == 1).fill_null(False)


def merged(events: pl.DataFrame) -> pl.DataFrame:
    """Fewer events, from which `recording.account.Account` folds the same account. Of a partition, what is published,
    delivered for the first time and acknowledged between two unusual events becomes few events with larger ranges: all
    published, then all deliveries, then all acknowledgements. That order is equal to the recorded one only where each
    message was delivered once, and before it was acknowledged: an event that breaks this is unusual, and stays alone.
    """
    phase = _KIND.replace_strict(_PHASES, default=-1, return_dtype=pl.Int8)
    gives = _KIND.is_in(_GIVES)
    delivered_end = pl.when(gives).then(_END).otherwise(0).cum_max().over("restarts", "reader")
    end_before = _END.cum_max().shift(1).over("restarts", "reader").fill_null(0)
    is_usual = (phase >= 0) & ((_KIND != "delivered") | _IS_FIRST) & ~_SHARED
    is_usual &= ~gives | (end_before <= _OFFSET)
    is_usual &= (phase != 2) | (delivered_end >= _END)
    rows = (
        events.filter(~_KIND.is_in(_NO_ACCOUNT))
        .with_columns(restarts=_RESTARTS.cum_sum(), shared_events=_SHARED.cum_sum())  # how many there were so far
        .with_columns(is_usual=is_usual, place=pl.when(_SHARED).then(-1).otherwise("place"))
        .with_columns(
            unusual_events=(~pl.col("is_usual")).cum_sum().over("place") + pl.col("shared_events"),
            phase=pl.when("is_usual").then(phase).otherwise(-1),
        )
        .select(*_EVENT, *_ORDER, "is_usual")
    )
    return pl.concat([rows.filter(~pl.col("is_usual")), _ranges(rows.filter("is_usual"))]).sort(*_ORDER, "seq")


def _ranges(usual: pl.DataFrame) -> pl.DataFrame:
    """One event for those of a series, `unusual_events` and phase whose ranges follow one another."""
    # Who has published it is no matter.
    series = pl.when(pl.col("phase") == 0).then(-1 - pl.col("place")).otherwise("series").cast(pl.Int64)
    sort_key, sums = pl.col("sort_key"), ("count", "seq", "time_ns")  # one number is sorted sooner than two
    rows = usual.select("offset", *sums, sort_key=series * 2**32 + pl.col("unusual_events"), at=pl.int_range(pl.len()))
    begins = ((sort_key != sort_key.shift(1)) | (_END.shift(1) != _OFFSET)).fill_null(True)
    ranges = (
        rows.sort("sort_key", "offset", maintain_order=True)
        .group_by(begins.cum_sum().alias("range"), maintain_order=True)
        .agg(pl.col("count").sum(), pl.col("seq", "time_ns").min(), pl.col("at").first())
    )
    return usual[ranges["at"]].with_columns(ranges.select(sums)).select(usual.columns)


def moves(events: pl.DataFrame, kinds: Iterable[str]) -> pl.DataFrame:
    """The events by which partitions get and lose their readers; between two, the first and last delivery of a
    series.
    """
    is_delivery, seq = _KIND == "delivered", pl.col("seq")
    rows = events.filter(_KIND.is_in(list(kinds))).with_columns(owner_changes=(~is_delivery).cum_sum())
    ends = rows.filter(is_delivery).group_by("owner_changes", "series").agg(first=seq.min(), last=seq.max())
    return rows.filter(~is_delivery | seq.is_in(pl.concat([ends["first"], ends["last"]]).implode()))


def unknown_keys(events: pl.DataFrame) -> int:
    """How many messages are published in batches that do not tell their keys."""
    batches = events.filter((_KIND == "published") & pl.col("key").is_null() & (pl.col("count") > 1))
    return int(batches["count"].sum())


def unordered(events: pl.DataFrame) -> pl.DataFrame:
    """The publishing and first deliveries of topics in which a key may come to a reader out of order. It cannot if the
    reader gets each partition from its beginning to its end, with the times of publishing, and each key has one.
    """
    first, keyed = events.filter(_IS_FIRST), events.filter((_KIND == "published") & pl.col("key").is_not_null())
    born = pl.col("published_ns").fill_null(0)
    back = first.filter((_END.cum_max().shift(1).over("reader") > _OFFSET) | (born < born.shift(1).over("reader")))
    spread = keyed.group_by("log", "key").agg(pl.col("place").n_unique()).filter(pl.col("place") > 1)
    suspects = pl.concat([back["log"], spread["log"]]).unique()
    return pl.concat([first, keyed]).filter(pl.col("log").is_in(suspects.implode())).sort("seq")
