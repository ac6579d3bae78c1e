"""How long each reader had a message in hand, and what a message took it. Exact: every event is a step in time."""

from __future__ import annotations

import math

import polars as pl

from resources.measures import DURATION_GROWTH, ZERO_BUCKET
from spark_reports.passes.series import HAND, WORKER, Series
from spark_reports.scale import Scale
from spark_reports.tables.consumers import OUT, WORKED

_OUT = pl.col("kind").is_in(OUT)
_STEP = ("change", "lease", "out", "done")
_SUMS = ("busy_ns", "held", "leased", "done", "worked_ns")
_AT = pl.col("time_ns")


class Hands:
    """Fed with events in slices, numbered by `series`. Between two, the last step of each worker is kept, which lasts
    until its next one.
    """

    def __init__(self, series: Series, taken: pl.DataFrame, scale: Scale) -> None:
        """`taken` are the places whose messages left a hand at an event, without being done."""
        self._series, self._taken, self._scale = series, taken, scale
        self._held = pl.DataFrame(schema={"hand": pl.Int32, "in_hand": pl.Int64})
        #: The last step of each worker; and what it had in hand before, and since when it has worked on that.
        self._last = pl.DataFrame(
            schema={"worker": pl.Int32, "time_ns": pl.Int64, **dict.fromkeys(_STEP, pl.Int64)}
            | {"hand_before": pl.Int64, "lease_before": pl.Int64, "since_before": pl.Int64}
        )
        self._found: list[pl.DataFrame] = []

    def add(self, told: pl.DataFrame) -> None:
        self._step(self._changes(told))

    def counted(self) -> pl.DataFrame:
        """Per reader and time bucket, in nanoseconds: `busy_ns`, with at least one message in hand; `held`, and
        `leased` with what it had lost, messages x ns; the messages `done` and the time they took, `worked_ns`. Per
        reader and duration (`log_bucket`; `start_ns` is null) the messages done in it. Bound: readers x (241 buckets +
        some 300 durations).
        """
        self._step(None)
        found = pl.concat(self._found).group_by("worker", "start_ns", "log_bucket").agg(pl.col(_SUMS).sum())
        return found.join(self._series.numbers.select(*WORKER, "worker").unique(), on="worker").drop("worker")

    def _changes(self, told: pl.DataFrame) -> pl.DataFrame:
        """By how much each event changes what is in hand, and what is leased."""
        count, given = pl.col("count"), pl.when("had").then(0).otherwise("count")
        came = told.filter(((pl.col("kind") == "delivered") | _OUT) & pl.col("is_read")).select(
            *("seq", "time_ns", "hand", "worker"),
            change=pl.when(_OUT).then(-count).otherwise(given),  # the client had it already
            out=pl.when(_OUT).then("count").otherwise(0),
            done=pl.when(pl.col("kind").is_in(WORKED)).then("count").otherwise(0),
            taken=pl.lit(0),
        )
        is_now = pl.col("seq") <= (told["seq"].max() or 0)
        now, self._taken = self._taken.filter(is_now), self._taken.filter(~is_now)
        if now.height:
            known = self._series.numbers.select(*HAND, "hand", "worker").unique()
            none = {name: pl.lit(0, pl.Int64) for name in ("change", "out", "done")}
            gone = now.join(known, on=HAND).select("seq", "time_ns", "hand", "worker", **none, taken=pl.lit(1))
            came = pl.concat([came, gone]).sort("seq")
        came = came.with_columns(lease="change")
        # A commit may cover more than was delivered; nobody has less than nothing in hand.
        before = pl.col("in_hand").fill_null(0)
        sofar, turn = before + pl.col("change").cum_sum().over("hand"), pl.col("taken").cum_sum().over("hand")
        least = pl.col("sofar").cum_min().over("hand", "turn")
        hand = pl.col("sofar") - pl.when(pl.col("turn") == 0).then(least.clip(upper_bound=0)).otherwise(least)
        steps = came.join(self._held, on="hand", how="left", maintain_order="left").with_columns(sofar=sofar, turn=turn)
        steps = steps.with_columns(now=hand)
        steps = steps.with_columns(change=pl.col("now") - pl.col("now").shift(1).over("hand").fill_null(before))
        self._held = pl.concat([self._held, steps.select("hand", in_hand="now")]).unique("hand", keep="last")
        return steps

    def _step(self, steps: pl.DataFrame | None) -> None:
        """Count how long the steps lasted; without any, until the end."""
        columns = ("worker", "time_ns", *_STEP)
        summed = self._last.select(columns)
        if steps is not None:
            summed = pl.concat([summed, steps.select(columns)]).group_by("worker", "time_ns").agg(pl.col(_STEP).sum())
        before = pl.col("hand_before").fill_null(0)
        hand, held = pl.col("in_hand") > 0, before + pl.col("change").cum_sum().over("worker")
        found = (
            summed.join(self._last.select("worker", "^.*_before$"), on="worker", how="left")
            .sort("worker", "time_ns")
            .with_columns(
                in_hand=held,
                in_lease=pl.col("lease_before").fill_null(0) + pl.col("lease").cum_sum().over("worker"),
                next_ns=_AT.shift(-1).over("worker"),
            )
            .with_columns(
                began=pl.when(hand & ~hand.shift(1).over("worker").fill_null(before > 0)).then("time_ns"),
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
        if steps is not None:
            self._last = found.filter(pl.col("next_ns").is_null()).select(
                *columns, hand_before=pl.col("in_hand") - pl.col("change"),
                lease_before=pl.col("in_lease") - pl.col("lease"), since_before="since",
            )  # fmt: skip
            found = found.filter(pl.col("next_ns").is_not_null())
        self._found.append(self._counted(found.with_columns(pl.col("next_ns").fill_null(self._scale.to_ns))))

    def _counted(self, found: pl.DataFrame) -> pl.DataFrame:
        scale, start, each, long = self._scale, pl.col("start_ns"), pl.col("each"), pl.col("long")
        last_ns = pl.max_horizontal(pl.col("next_ns") - 1, "began_ns")
        # The last bucket has no end: what happens at the very end belongs to it.
        until = pl.when(start >= scale.last_ns).then("next_ns").otherwise(start + scale.width_ns)
        bucket = (each.log() / math.log(DURATION_GROWTH)).floor().cast(pl.Int32, strict=False)
        pieces = (
            found.with_columns(
                began_ns=pl.max_horizontal("time_ns", pl.lit(scale.from_ns)),
                each=pl.when((pl.col("done") > 0) & (scale.from_ns <= _AT)).then(
                    (_AT - pl.col("since")) / pl.col("done")
                ),
            )
            .filter(pl.col("next_ns") >= pl.col("began_ns"))
            .with_columns(first=scale.start_of("began_ns"), last_ns=last_ns)
            .with_columns(start_ns=pl.int_ranges("first", scale.start_of("last_ns") + 1, scale.width_ns))
            .explode("start_ns", empty_as_null=False, keep_nulls=False)
            .with_columns(
                long=pl.min_horizontal("next_ns", until) - pl.max_horizontal("began_ns", "start_ns"),
                own=(start == pl.col("first")) & each.is_not_null(),
            )
            .select(
                *("worker", "start_ns"),
                log_bucket=pl.when("own").then(pl.when(each < 1).then(ZERO_BUCKET).otherwise(bucket)),
                busy_ns=pl.when(pl.col("in_hand") > 0).then("long").otherwise(0),
                held=pl.col("in_hand").clip(lower_bound=0).cast(pl.Float64) * long,
                leased=pl.col("in_lease").clip(lower_bound=0).cast(pl.Float64) * long,
                done=pl.when("own").then("done").otherwise(0),
                worked_ns=pl.when("own").then(each * pl.col("done")).otherwise(0.0),
            )
        )
        of_durations = pieces.drop_nulls("log_bucket").group_by("worker", "log_bucket").agg(pl.col(_SUMS).sum())
        over_time = pieces.group_by("worker", "start_ns").agg(pl.col(_SUMS).sum())
        return pl.concat([over_time, of_durations], how="diagonal")
