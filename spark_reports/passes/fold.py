"""Results that need every event in order, folded as the window does it: the account of every message, owners of
partitions, the order of each key, and what clients have in flight. Events come slice by slice, and are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from broker_core.events import Event
from broker_core.recording.account import Account
from broker_core.recording.columns import events_of
from broker_core.recording.ownership import Ownership
from broker_core.recording.schema import EVENT_SCHEMA
from broker_core.recording.verdicts import Order
from spark_reports.passes import account, series
from spark_reports.passes.broken_numbers import broken
from spark_reports.passes.in_flight_time import InFlightTime
from spark_reports.passes.series import Series
from spark_reports.scale import Scale
from spark_reports.spark.bounds import MOST_ROWS

_SLICE = 500_000  # events: some 300 MB
_BATCH = 100_000
MOST_BROKEN = 10_000
_BLANK = {**dict.fromkeys(("topic", "client", "group", "cause", "to_topic", "member"), ""), "count": 0, "size_bytes": 0}


class FoldedEvents:
    """Fed with the events in slices, then `end`ed. `order` is None if the session is too large to look at every key;
    else all of it is one slice. `broken` is where the numbers of events are not whole, at most `MOST_BROKEN` places.
    """

    def __init__(self, known: Series, lost_in_flight: pl.DataFrame, scale: Scale, *, keys: bool = True) -> None:
        self.account, self.owners = Account(), Ownership(keeps_all=True)
        self.order = Order() if keys else None
        self._last = (-1, 0)  # the number and time of the event before
        self.broken = broken(pl.DataFrame(schema={"seq": pl.Int64, "time_ns": pl.Int64}), *self._last)
        self._series = known
        self._in_flight = InFlightTime(known, lost_in_flight, scale)

    def add(self, messages: pl.DataFrame, control: pl.DataFrame) -> None:
        """A slice: of messages `series.TEXTS`, `series.MESSAGES`, and the key if it is asked for; control events as
        recorded.
        """
        rows = self._series.numbered(messages, control)
        numbers = rows.select("seq", "time_ns")
        rows = rows.drop_nulls("kind")  # of kinds that are not known
        for event in self._events(account.merged(rows), control):
            self.account(event)
        for found_again in (self.account.again, self.account.fetched_again, self.account.unsound):
            found_again.sort(key=lambda each: each.event.seq)
        if self.order is not None:
            self.order.unknown += account.unknown_keys(rows)
            for event in self._events(account.unordered(rows), control):
                self.order(event)
        for event in self._events(account.moves(rows, self.owners.kinds), control):
            self.owners(event)
        self._in_flight.add(rows)
        self.broken = pl.concat([self.broken, broken(numbers, *self._last)]).head(MOST_BROKEN + 1)
        self._last = next(numbers.tail(1).iter_rows(), self._last)

    def end(self) -> None:
        self.in_flight_time = self._in_flight.counted()

    def _events(self, rows: pl.DataFrame, control: pl.DataFrame) -> Iterator[Event]:
        placed = rows.with_row_index("at")
        happened = control.with_row_index("row").with_columns(pl.col("row").cast(pl.Int32))
        of_messages = ("at", "series", *series.MESSAGES, *({"key"} & set(rows.columns)))
        both = [
            placed.filter(pl.col("row").is_null()).select(of_messages).join(self._series.texts, on="series"),
            placed.select("at", "row").drop_nulls().join(happened, on="row"),
        ]
        yield from events(pl.concat(both, how="diagonal").sort("at"))


def fold_events(
    tables: tuple[pl.LazyFrame, pl.LazyFrame], count: int, known: Series, lost_in_flight: pl.DataFrame, scale: Scale
) -> FoldedEvents:
    """Fold the `count` events of `tables`: (messages, control events). The order of keys only up to `MOST_ROWS`."""
    made = FoldedEvents(known, lost_in_flight, scale, keys=count <= MOST_ROWS)
    messages, control = tables
    asked = [*series.TEXTS, *series.MESSAGES, *(["key"] if made.order is not None else [])]
    slices = ((messages, asked), (control, EVENT_SCHEMA.names))
    step = _SLICE if made.order is None else MOST_ROWS
    for first in range(0, max(count, 1), step):
        # Where numbers are missing, the last ones are higher than there are events.
        inside = pl.col("seq") >= first
        if first + step < count:
            inside &= pl.col("seq") < first + step
        made.add(*(table.filter(inside).select(names).collect() for table, names in slices))
    made.end()
    return made


def events(rows: pl.DataFrame) -> Iterator[Event]:
    """The events of rows; what they lack is as in an event that has none of it."""
    lacking = [pl.lit(None).alias(name) for name in EVENT_SCHEMA.names if name not in rows.columns]
    for start in range(0, rows.height, _BATCH):
        part = rows[start : start + _BATCH].with_columns(lacking).select(EVENT_SCHEMA.names)
        filled = part.with_columns(pl.col(name).fill_null(value) for name, value in _BLANK.items())
        for batch in filled.to_arrow().cast(EVENT_SCHEMA).combine_chunks().to_batches():
            yield from events_of(batch)
