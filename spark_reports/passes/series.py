"""Series: events of messages that are equal but for which messages they are about, and when. A session has millions of
events and few series, so each has a number, and what its events have in common is looked up once.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from broker_core.events import FETCHED_AGAIN, EventKind
from spark_reports.spark.bounds import bounded

TEXTS = ("kind", "topic", "partition", "group", "client", "member", "attempt", "cause", "to_topic", "to_partition")
MESSAGES = ("seq", "time_ns", "offset", "count", "published_ns", "to_offset")  # what differs in a series
WORKER = ("group", "client")
_PLACE = ("topic", "partition")
_READER = (*_PLACE, "group")
HOLDER = (*_READER, "client")
_NUMBERED = {"log": ("topic",), "place": _PLACE, "reader": _READER, "holder": HOLDER, "worker": WORKER}
_CAUSED = ("delivered", "passed_over", "released", "purged")  # others are folded alike, whatever their cause
_KIND = pl.Enum([kind.value for kind in EventKind])
_CAUSE = pl.when(pl.col("kind").is_in(_CAUSED)).then("cause").otherwise(pl.lit("")).alias("cause")


class Series:
    """The series of a session as far as its events were `numbered`: their texts, and numbers that are equal where some
    of the texts are. Bound: kinds x partitions x clients x groups x members x attempts.
    """

    def __init__(self, named: Callable[[pl.DataFrame], pl.DataFrame] | None = None) -> None:
        """`named` puts clients and groups together that are too many to tell apart."""
        self._named = named
        self._known: dict[str, dict[tuple[object, ...], int]] = {name: {} for name in _NUMBERED}
        self.texts = self.numbers = pl.DataFrame()

    def numbered(self, messages: pl.DataFrame, control: pl.DataFrame) -> pl.DataFrame:
        """Events in their order with the numbers of their series; `row` is that of a row of `control`."""
        hashed = messages.with_columns(_CAUSE).with_columns(hash=pl.struct(TEXTS).hash())
        self._learn(hashed.filter(pl.col("hash").is_first_distinct()).select("hash", *TEXTS))
        flags = self.numbers.select(
            *("hash", "series", *_NUMBERED, "attempt"),
            pl.col("kind").cast(_KIND, strict=False),
            is_read=pl.col("group") != "",
            fetched_again=pl.col("cause") == FETCHED_AGAIN,
        )
        happened = control.select(
            *("seq", "time_ns"), pl.col("kind").cast(_KIND, strict=False), row=pl.int_range(pl.len(), dtype=pl.Int32)
        )
        return pl.concat([hashed.drop(TEXTS).join(flags, on="hash").drop("hash"), happened], how="diagonal").sort("seq")

    def _learn(self, found: pl.DataFrame) -> None:
        if self.numbers.height:
            found = found.join(self.numbers, on="hash", how="anti")
        new = self._named(found) if self._named else found
        numbers = [pl.int_range(pl.len(), dtype=pl.Int32).alias("series") + self.numbers.height]
        for name, columns in _NUMBERED.items():
            known = self._known[name]
            told = [known.setdefault(row, len(known)) for row in new.select(columns).iter_rows()]
            numbers.append(pl.lit(pl.Series(name, told, pl.Int32)))
        self.numbers = bounded(pl.concat([self.numbers, new.with_columns(numbers)]))
        self.texts = self.numbers.select("series", *TEXTS)
