"""How long was each client present, how long did it have messages in flight, and what did a message take it?"""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.latency import quantile_ns, ranked

SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, there_ns BIGINT, with_partitions_ns BIGINT, "
    "delivered BIGINT, acknowledged BIGINT, busy_ns BIGINT, idle_ns BIGINT, utilisation DOUBLE, in_hand DOUBLE, "
    "each_p50_ns BIGINT, each_p99_ns BIGINT, outside BOOLEAN"
)
CLIENT = ("group", "client")
_COUNTED = ("delivered", "acknowledged")


def consumers(
    rollup: pl.DataFrame,
    detailed: pl.DataFrame,
    presence: pl.DataFrame,
    ownership: pl.DataFrame,
    in_flight_time: pl.DataFrame,
    scale: Scale,
) -> pl.DataFrame:
    """One row per group or queue and client, least busy last. A client is busy while it has a message in flight.
    `there_ns` is how long it was present, without when it had stopped, crashed or left. `with_partitions_ns` is null if
    nobody assigns partitions. A client that never read has the group ""; one from `outside` is not run by the session.
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = (
        rollup.filter((pl.col("start_ns") >= scale.from_ns) & kind.is_in(_COUNTED))
        .group_by(CLIENT)
        .agg(messages.filter(kind == name).sum().alias(name) for name in _COUNTED)
    )
    present = presence.group_by(CLIENT).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max(), (pl.col("to_ns") - pl.col("from_ns")).sum().alias("there_ns")
    )
    sums = pl.col("busy_ns", "in_flight_message_ns").sum()
    in_flight = in_flight_time.drop_nulls("start_ns").group_by(CLIENT).agg(sums)
    assigned_groups = ownership.select("group").unique().with_columns(assigned=pl.lit(True))
    own = detailed.filter((kind == "client_started") & pl.col("held_from").is_null())["client"].unique()
    there_ns = pl.col("there_ns")
    busy = pl.min_horizontal(pl.col("busy_ns").fill_null(0), there_ns)
    found = present
    for other in (counted, in_flight, _covered(ownership), _each(in_flight_time)):
        found = found.join(other, on=CLIENT, how="left")
    return (
        found.join(assigned_groups, on="group", how="left")
        .with_columns(
            with_partitions_ns=pl.when(pl.col("assigned")).then(pl.col("covered_ns").fill_null(0)),
            busy_ns=busy,
            idle_ns=there_ns - busy,
            utilisation=pl.when(there_ns > 0).then(busy / there_ns).otherwise(0.0),
            outside=~pl.col("client").is_in(own.implode()),
            in_hand=pl.when(there_ns > 0).then(pl.col("in_flight_message_ns").fill_null(0.0) / there_ns).otherwise(0.0),
        )
        .with_columns(pl.col(_COUNTED).fill_null(0))
        .sort("utilisation", *CLIENT, descending=[True, False, False])
    )


def _each(in_flight_time: pl.DataFrame) -> pl.DataFrame:
    """Percentiles of the time that a message took each reader."""
    durations = in_flight_time.select(*CLIENT, "log_bucket", messages="done", max_ns=pl.lit(None, pl.Int64))
    asked = (quantile_ns(share).alias(name) for name, share in (("each_p50_ns", 0.5), ("each_p99_ns", 0.99)))
    return ranked(durations.drop_nulls("log_bucket"), *CLIENT).group_by(CLIENT).agg(asked)


def _covered(ownership: pl.DataFrame) -> pl.DataFrame:
    """How long each client had at least one partition: each span counts from where the ones before it ended."""
    until = pl.col("to_ns").cum_max().shift(1).over(CLIENT).fill_null(0)
    fresh = (pl.col("to_ns") - pl.max_horizontal("from_ns", "until")).clip(lower_bound=0)
    return (
        ownership.sort(*CLIENT, "from_ns", "to_ns")
        .with_columns(until=until)
        .group_by(CLIENT)
        .agg(fresh.sum().alias("covered_ns"))
    )


TIME_SCHEMA = (
    "`group` STRING, client STRING, start_ns BIGINT, there_ns BIGINT, busy_ns BIGINT, in_hand DOUBLE, done BIGINT, "
    "each_ns DOUBLE"
)


def over_time(in_flight_time: pl.DataFrame, presence: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Per group, client and time bucket: how long it was present and busy, its mean number of messages in flight,
    what it finished, and how long each of that took it on average.
    """
    present = (
        presence.with_columns(last_ns=pl.max_horizontal(pl.col("to_ns") - 1, "from_ns"))
        .pipe(scale.each_bucket, "from_ns", "last_ns")
        .with_columns(end_ns=pl.min_horizontal("to_ns", pl.col("start_ns") + scale.width_ns))
        .group_by(*CLIENT, "start_ns")
        .agg((pl.col("end_ns") - pl.max_horizontal("from_ns", "start_ns")).sum().alias("there_ns"))
    )
    lasts_ns = pl.min_horizontal(pl.lit(scale.width_ns), scale.to_ns - pl.col("start_ns"))  # the last may be shorter
    return (
        in_flight_time.filter(pl.col("start_ns") >= scale.from_ns)
        .join(present, on=[*CLIENT, "start_ns"], how="full", coalesce=True)
        .with_columns(
            pl.col("there_ns", "busy_ns", "done").fill_null(0),
            in_hand=pl.col("in_flight_message_ns").fill_null(0.0) / lasts_ns,
            each_ns=pl.when(pl.col("done") > 0).then(pl.col("worked_ns") / pl.col("done")),
        )
        .filter(pl.col("group") != "")
        .sort(*CLIENT, "start_ns")
    )
