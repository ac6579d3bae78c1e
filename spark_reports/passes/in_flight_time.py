"""How long each client had a message in flight, and what a message took it. Exact: every event is a step in time."""

from __future__ import annotations

import math

import polars as pl

from resources.measures import DURATION_GROWTH, ZERO_BUCKET
from spark_reports.passes.kinds import ENDS_IN_FLIGHT, WORKED
from spark_reports.passes.series import HOLDER, WORKER, Series
from spark_reports.scale import Scale

_KIND, _TIME = pl.col("kind"), pl.col("time_ns")
_ENDS = _KIND.is_in(ENDS_IN_FLIGHT)
_CHANGES = ("change", "lease", "out", "done")  # of a step
_STEP = ("worker", "time_ns", *_CHANGES)
_SUMS = ("busy_ns", "in_flight_message_ns", "leased_message_ns", "done", "worked_ns")


class InFlightTime:
    """Fed with events in slices, numbered by `series`. Between two, the last step of each worker is kept, which lasts
    until its next one. A holder is a worker that reads one partition.
    """

    def __init__(self, series: Series, lost_in_flight: pl.DataFrame, scale: Scale) -> None:
        """`lost_in_flight` are the holders that lost all that they had at an event, without its being done."""
        self._series, self._lost_rows, self._scale = series, lost_in_flight, scale
        self._holder_rows = pl.DataFrame(schema={"holder": pl.Int32, "in_flight": pl.Int64})
        #: The last step of each worker; and what it had in flight before, and since when it has worked on that.
        self._last_rows = pl.DataFrame(
            schema={"worker": pl.Int32, "time_ns": pl.Int64, **dict.fromkeys(_CHANGES, pl.Int64)}
            | {"in_flight_before": pl.Int64, "lease_before": pl.Int64, "since_before": pl.Int64}
        )
        self._counted_rows: list[pl.DataFrame] = []

    def add(self, events: pl.DataFrame) -> None:
        rows = self._lasting(self._steps(events))
        self._last_rows = rows.filter(pl.col("next_ns").is_null()).select(
            *_STEP,
            in_flight_before=pl.col("in_flight") - pl.col("change"),
            lease_before=pl.col("in_lease") - pl.col("lease"),
            since_before="since",
        )
        self._counted_rows.append(self._count(rows.drop_nulls("next_ns")))

    def counted(self) -> pl.DataFrame:
        """Per worker and time bucket, in nanoseconds: `busy_ns`, with at least one message in flight;
        `in_flight_message_ns`, messages x time, and `leased_message_ns` with what it had lost; the messages `done` and
        the time they took, `worked_ns`. Per worker and duration (`log_bucket`; `start_ns` is null) the messages done in
        it. Bound: workers x (241 buckets + some 300 durations).
        """
        until_end = self._lasting(self._last_rows.clear()).with_columns(next_ns=pl.lit(self._scale.to_ns))
        counted = pl.concat([*self._counted_rows, self._count(until_end)])
        sums = counted.group_by("worker", "start_ns", "log_bucket").agg(pl.col(_SUMS).sum())
        return sums.join(self._series.numbers.select(*WORKER, "worker").unique(), on="worker").drop("worker")

    def _steps(self, events: pl.DataFrame) -> pl.DataFrame:
        """How much each event changes the number of messages that its holder has in flight and has leased."""
        count = pl.col("count")
        delivered = pl.when("fetched_again").then(0).otherwise("count")  # the client had it already
        rows = events.filter(((_KIND == "delivered") | _ENDS) & pl.col("is_read")).select(
            *("seq", "time_ns", "holder", "worker"),
            change=pl.when(_ENDS).then(-count).otherwise(delivered),
            out=pl.when(_ENDS).then("count").otherwise(0),
            done=pl.when(_KIND.is_in(WORKED)).then("count").otherwise(0),
            loses_all=pl.lit(0),
        )
        happened = pl.col("seq") <= (events["seq"].max() or 0)
        lost_rows, self._lost_rows = self._lost_rows.filter(happened), self._lost_rows.filter(~happened)
        if lost_rows.height:
            holders = self._series.numbers.select(*HOLDER, "holder", "worker").unique()
            none = {name: pl.lit(0, pl.Int64) for name in ("change", "out", "done")}
            lost_rows = lost_rows.join(holders, on=HOLDER)
            lost_rows = lost_rows.select("seq", "time_ns", "holder", "worker", **none, loses_all=pl.lit(1))
            rows = pl.concat([rows, lost_rows]).sort("seq")
        before = pl.col("in_flight").fill_null(0)
        rows = (
            rows.with_columns(lease="change")
            .join(self._holder_rows, on="holder", how="left", maintain_order="left")
            .with_columns(
                total=before + pl.col("change").cum_sum().over("holder"),
                losses=pl.col("loses_all").cum_sum().over("holder"),
            )
        )
        # A commit may cover more than was delivered; nobody has less than nothing in flight.
        least = pl.col("total").cum_min().over("holder", "losses")
        excess = pl.when(pl.col("losses") == 0).then(least.clip(upper_bound=0)).otherwise(least)
        rows = rows.with_columns(now=pl.col("total") - excess)
        rows = rows.with_columns(change=pl.col("now") - pl.col("now").shift(1).over("holder").fill_null(before))
        holder_rows = pl.concat([self._holder_rows, rows.select("holder", in_flight="now")])
        self._holder_rows = holder_rows.unique("holder", keep="last")
        return rows

    def _lasting(self, steps: pl.DataFrame) -> pl.DataFrame:
        """The last steps so far and these, one a worker and time, each with what its worker then has and since when it
        has worked on that; `next_ns` is when the next one ends it, null for the last.
        """
        before = pl.col("in_flight_before").fill_null(0)
        has_some = pl.col("in_flight") > 0
        return (
            pl.concat([self._last_rows.select(_STEP), steps.select(_STEP)])
            .group_by("worker", "time_ns")
            .agg(pl.col(_CHANGES).sum())
            .join(self._last_rows.select("worker", "^.*_before$"), on="worker", how="left")
            .sort("worker", "time_ns")
            .with_columns(
                in_flight=before + pl.col("change").cum_sum().over("worker"),
                in_lease=pl.col("lease_before").fill_null(0) + pl.col("lease").cum_sum().over("worker"),
                next_ns=_TIME.shift(-1).over("worker"),
            )
            .with_columns(
                began=pl.when(has_some & ~has_some.shift(1).over("worker").fill_null(before > 0)).then("time_ns"),
                done_ns=pl.when(pl.col("out") > 0).then("time_ns"),
            )
            # One after the other: a message is worked on from when the one before was done, or from when it came.
            .with_columns(
                since=pl.max_horizontal(
                    "since_before",
                    *(pl.col(name).shift(1).forward_fill().over("worker") for name in ("began", "done_ns")),
                )
            )
        )

    def _count(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The sums of these steps by worker and time bucket, and by worker and duration."""
        scale, start, each, long = self._scale, pl.col("start_ns"), pl.col("each"), pl.col("long")
        last_ns = pl.max_horizontal(pl.col("next_ns") - 1, "began_ns")
        # The last bucket has no end: what happens at the very end belongs to it.
        until = pl.when(start >= scale.last_ns).then("next_ns").otherwise(start + scale.width_ns)
        bucket = (each.log() / math.log(DURATION_GROWTH)).floor().cast(pl.Int32, strict=False)
        pieces = (
            rows.with_columns(
                began_ns=pl.max_horizontal("time_ns", pl.lit(scale.from_ns)),
                each=pl.when((pl.col("done") > 0) & (scale.from_ns <= _TIME)).then(
                    (_TIME - pl.col("since")) / pl.col("done")
                ),
            )
            .filter(pl.col("next_ns") >= pl.col("began_ns"))
            .with_columns(first=scale.polars_bucket_start("began_ns"), last_ns=last_ns)
            .pipe(scale.each_bucket, "began_ns", "last_ns")
            .with_columns(
                long=pl.min_horizontal("next_ns", until) - pl.max_horizontal("began_ns", "start_ns"),
                own=(start == pl.col("first")) & each.is_not_null(),
            )
            .select(
                *("worker", "start_ns"),
                log_bucket=pl.when("own").then(pl.when(each < 1).then(ZERO_BUCKET).otherwise(bucket)),
                busy_ns=pl.when(pl.col("in_flight") > 0).then("long").otherwise(0),
                in_flight_message_ns=pl.col("in_flight").clip(lower_bound=0).cast(pl.Float64) * long,
                leased_message_ns=pl.col("in_lease").clip(lower_bound=0).cast(pl.Float64) * long,
                done=pl.when("own").then("done").otherwise(0),
                worked_ns=pl.when("own").then(each * pl.col("done")).otherwise(0.0),
            )
        )
        of_durations = pieces.drop_nulls("log_bucket").group_by("worker", "log_bucket").agg(pl.col(_SUMS).sum())
        over_time = pieces.group_by("worker", "start_ns").agg(pl.col(_SUMS).sum())
        return pl.concat([over_time, of_durations], how="diagonal")
