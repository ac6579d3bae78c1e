"""Transactions: how they ended, how long they were open, and who waited for them at the last stable offset."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.schema import rows

SCHEMA = (
    "transactional_id STRING, client STRING, committed BIGINT, aborted BIGINT, timed_out BIGINT, fenced BIGINT, "
    "open BIGINT, mean_open_ns BIGINT, longest_open_ns BIGINT, timeout_ns BIGINT"
)
LIST_SCHEMA = (
    "transactional_id STRING, client STRING, outcome STRING, from_ns BIGINT, to_ns BIGINT, open_ns BIGINT, "
    "partitions INT"
)
WAITS_SCHEMA = (
    "`group` STRING, topic STRING, partition INT, transactional_id STRING, client STRING, outcome STRING, "
    "from_ns BIGINT, to_ns BIGINT, waited_ns BIGINT, messages BIGINT"
)
HELD_SCHEMA = (
    "transaction BIGINT, topic STRING, partition INT, group STRING, first BIGINT, first_ns BIGINT, end BIGINT, "
    "reached BIGINT, last_ns BIGINT"
)
COMMITTED, ABORTED, TIMED_OUT, OPEN = "committed", "aborted", "timed out", "open"
LISTED = 500
LOOKED_AT = 50  # of those that were open longest: who waited for them
_NEVER = 1 << 62


def each(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Every transaction, numbered as `transaction` from the first on; one without an end is `OPEN`."""
    kind, mine = pl.col("kind"), "transactional_id"
    following = {name: pl.col(name).shift(-1).over(mine) for name in ("kind", "seq", "time_ns", "cause", "markers")}
    ended = following["kind"] == "transaction_ended"
    return (
        detailed.filter(kind.is_in(["transaction_started", "transaction_ended"]))
        .with_columns(
            end_seq=pl.when(ended).then(following["seq"]).otherwise(_NEVER),
            to_ns=pl.when(ended).then(following["time_ns"]).otherwise(scale.to_ns),
            outcome=pl.when(ended).then(following["cause"]).otherwise(pl.lit(OPEN)),
            partitions=pl.when(ended).then(following["markers"].list.len()),
        )
        .filter((kind == "transaction_started") & (pl.col("to_ns") >= scale.from_ns))
        .with_columns(open_ns=pl.col("to_ns") - pl.col("time_ns"))
        .select(
            *(mine, "client", "outcome", "to_ns", "open_ns", "end_seq", "partitions"),
            from_ns="time_ns",
            start_seq="seq",
            timeout_ns=pl.col("timeout_ms") * 1_000_000,
            transaction=pl.int_range(pl.len()),
        )
    )


def transactions(each: pl.DataFrame) -> pl.DataFrame:
    """One row per transactional id. `fenced` ended otherwise than by its producer or its timeout."""
    outcome, open_ns = pl.col("outcome"), pl.col("open_ns")
    named = {"committed": COMMITTED, "aborted": ABORTED, "timed_out": TIMED_OUT, "open": OPEN}
    return (
        each.group_by("transactional_id")
        .agg(
            pl.col("client").last(),
            *((outcome == word).sum().alias(name) for name, word in named.items()),
            (~outcome.is_in(list(named.values()))).sum().alias("fenced"),
            open_ns.mean().round().cast(pl.Int64).alias("mean_open_ns"),
            open_ns.max().alias("longest_open_ns"),
            pl.col("timeout_ns").max(),
        )
        .sort("transactional_id")
    )


def transaction_list(each: pl.DataFrame) -> pl.DataFrame:
    return each.sort("open_ns", "from_ns", descending=[True, False]).head(LISTED)


def asked(each: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """The transactions that `held` looks at, each from the beginning of its first time bucket."""
    return (
        transaction_list(each)
        .head(LOOKED_AT)
        .select(
            *("transaction", "to_ns", "start_seq", "end_seq"),
            from_ns=scale.polars_bucket_start("from_ns").clip(upper_bound=pl.col("from_ns")),
            producer="client",
        )
    )


def held(messages: pl.LazyFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """Per transaction of `asked`, topic, partition and group, before it ended: how far the group had `reached`, and
    when it was given the last of that (`last_ns`). Rows of the log (group ""): the transaction's `first` offset, when
    that came, and the `end` of the partition.
    """
    at, after, published = pl.col("time_ns"), pl.col("offset") + pl.col("count"), pl.col("kind") == "published"
    told = messages.filter(pl.col("kind").is_in(["published", "delivered"]), pl.col("offset").is_not_null())
    looks = []
    for one in asked.iter_rows(named=True):
        own = published & (pl.col("client") == one["producer"]) & (pl.col("seq") > one["start_seq"])
        looks.append(
            told.filter(at.is_between(one["from_ns"], one["to_ns"]), pl.col("seq") < one["end_seq"])
            .group_by("topic", "partition", group=pl.when(published).then(pl.lit("")).otherwise("group"))
            .agg(
                first=pl.col("offset").filter(own).min(),
                first_ns=at.filter(own).min(),
                end=after.filter(published).max(),
                reached=after.filter(~published).max(),
                last_ns=at.filter(~published).max(),
            )
            .with_columns(transaction=pl.lit(one["transaction"], pl.Int64))
        )
    nothing = rows(HELD_SCHEMA, [])
    found = pl.collect_all(looks, engine="streaming")
    return pl.concat([nothing, *(each.select(nothing.columns) for each in found)])


class _Passed:
    """How many offsets of a partition readers of committed messages pass over."""

    def __init__(self, passed: pl.DataFrame) -> None:
        self._ranges: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        of_log = passed.filter(pl.col("group") == "").sort("at")
        for (topic, partition), found in of_log.group_by("topic", "partition", maintain_order=True):
            before = list(accumulate(found["count"], initial=0))
            self._ranges[str(topic), int(partition)] = found["at"].to_list(), before

    def between(self, place: tuple[str, int], first: int, end: int) -> int:
        """Ranges lie inside or outside: those of one transaction are open together."""
        begins, before = self._ranges.get(place, ([], [0]))
        return before[bisect_left(begins, end)] - before[bisect_left(begins, first)]


def waits(
    each: pl.DataFrame, held: pl.DataFrame, rollup: pl.DataFrame, passed: pl.DataFrame, scale: Scale
) -> pl.DataFrame:
    """One row per group and partition that waited at the last stable offset for one of the transactions open longest,
    with `messages` behind it; the longest first. A group that reads undecided messages waits for none.
    """
    known = {row["transaction"]: row for row in each.iter_rows(named=True)}
    found = list(_stood(known, held, rollup, _Passed(passed), scale))
    uncommitted = {row[0] for row, ahead in found if ahead}
    told: list[tuple[Any, ...]] = [
        row for row, ahead in found if not ahead and row[0] not in uncommitted and row[8] > 0
    ]
    told.sort(key=lambda row: (-row[8], *row[:3]))
    return rows(WAITS_SCHEMA, told)


def _stood(
    known: dict[int, dict[str, Any]], held: pl.DataFrame, rollup: pl.DataFrame, passed: _Passed, scale: Scale
) -> Iterator[tuple[tuple[Any, ...], bool]]:
    place = ("topic", "partition", "group")
    read = rollup.filter((pl.col("kind") == "delivered") & (pl.col("group") != "")).select(
        *place, "start_ns", pl.col("reached_offset").alias("before")
    )
    logs = held.filter((pl.col("group") == "") & pl.col("first").is_not_null()).drop("group", "reached", "last_ns")
    given = held.filter(pl.col("group") != "").select("transaction", *place, "reached", "last_ns")
    for log in logs.sort("transaction", "topic", "partition").iter_rows(named=True):
        one = known[log["transaction"]]
        bucket = pl.DataFrame({"at": [one["from_ns"]]}).select(scale.polars_bucket_start("at")).item()
        here = (pl.col("topic") == log["topic"]) & (pl.col("partition") == log["partition"])
        earlier = read.filter(here & (pl.col("start_ns") < bucket)).group_by("group").agg(pl.col("before").max())
        meanwhile = given.filter(here & (pl.col("transaction") == log["transaction"]))
        for row in earlier.join(meanwhile, on="group", how="full", coalesce=True).sort("group").iter_rows(named=True):
            reached = max(row["before"] or 0, row["reached"] or 0)
            at, first = (log["topic"], log["partition"]), log["first"]
            ahead = reached > first
            if ahead or first - reached == passed.between(at, reached, first):
                since_ns = max(log["first_ns"], row["last_ns"] or 0)
                behind = log["end"] - first - passed.between(at, first, log["end"])
                named = (one["transactional_id"], one["client"], one["outcome"])
                waited_ns = one["to_ns"] - since_ns
                yield (row["group"], *at, *named, since_ns, one["to_ns"], waited_ns, behind), ahead
