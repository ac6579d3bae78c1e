"""When was each reader there: a member of its group, or a worker, whose process ran? When had it something in hand, and
what did a message take it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from spark_reports.scale import Scale
from spark_reports.spark.bounds import OTHERS
from spark_reports.tables.details import places
from spark_reports.tables.latency import quantile_ns, ranked
from spark_reports.tables.schema import rows

SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, there_ns BIGINT, with_partitions_ns BIGINT, "
    "delivered BIGINT, acknowledged BIGINT, busy_ns BIGINT, idle_ns BIGINT, utilisation DOUBLE, in_hand DOUBLE, "
    "each_p50_ns BIGINT, each_p99_ns BIGINT, outside BOOLEAN"
)
CLIENT = ("group", "client")
OUT = ("acknowledged", "nacked", "released", "lease_expired")  # out of the hand
WORKED = ("acknowledged", "nacked")  # after some work
_COUNTED = ("delivered", "acknowledged")


def consumers(
    rollup: pl.DataFrame,
    detailed: pl.DataFrame,
    lives: pl.DataFrame,
    ownership: pl.DataFrame,
    hands: pl.DataFrame,
    scale: Scale,
) -> pl.DataFrame:
    """One row per group or queue and client, least busy last. A client is busy while it has a message in hand.
    `there_ns` leaves out when it had stopped, crashed or left. `with_partitions_ns` is null if nobody assigns
    partitions. A client that never read has the group ""; one from `outside` is not run by the session.
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = (
        rollup.filter((pl.col("start_ns") >= scale.from_ns) & kind.is_in(_COUNTED))
        .group_by(CLIENT)
        .agg(messages.filter(kind == name).sum().alias(name) for name in _COUNTED)
    )
    there = lives.group_by(CLIENT).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max(), (pl.col("to_ns") - pl.col("from_ns")).sum().alias("there_ns")
    )
    in_hand = hands.drop_nulls("start_ns").group_by(CLIENT).agg(pl.col("busy_ns", "held").sum())
    members = ownership.select("group").unique().with_columns(assigned=pl.lit(True))
    own = detailed.filter((kind == "client_started") & pl.col("held_from").is_null())["client"].unique()
    there_ns = pl.col("there_ns")
    busy = pl.min_horizontal(pl.col("busy_ns").fill_null(0), there_ns)
    found = there
    for other in (counted, in_hand, _covered(ownership), _each(hands)):
        found = found.join(other, on=CLIENT, how="left")
    return (
        found.join(members, on="group", how="left")
        .with_columns(
            with_partitions_ns=pl.when(pl.col("assigned")).then(pl.col("covered_ns").fill_null(0)),
            busy_ns=busy,
            idle_ns=there_ns - busy,
            utilisation=pl.when(there_ns > 0).then(busy / there_ns).otherwise(0.0),
            outside=~pl.col("client").is_in(own.implode()),
            in_hand=pl.when(there_ns > 0).then(pl.col("held").fill_null(0.0) / there_ns).otherwise(0.0),
        )
        .with_columns(pl.col(_COUNTED).fill_null(0))
        .sort("utilisation", *CLIENT, descending=[True, False, False])
    )


def _each(hands: pl.DataFrame) -> pl.DataFrame:
    """Percentiles of the time that a message took each reader."""
    counted = hands.select(*CLIENT, "log_bucket", messages="done", max_ns=pl.lit(None, pl.Int64))
    asked = (quantile_ns(share).alias(name) for name, share in (("each_p50_ns", 0.5), ("each_p99_ns", 0.99)))
    return ranked(counted.drop_nulls("log_bucket"), *CLIENT).group_by(CLIENT).agg(asked)


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


LIVES_SCHEMA = "group STRING, client STRING, from_ns BIGINT, to_ns BIGINT, end_seq BIGINT"
_READERS = ("consumer", "worker")
_LEFT = ("member_left", "partitions_revoked")
_KINDS = ("client_started", "client_stopped", "fault", "member_joined", "partitions_assigned", *_LEFT)
Reader = tuple[str, str]  # group or queue, client


class _Lives:
    """Told what happened, in order. `reads` is what each client reads, while its process runs, without joining it."""

    def __init__(self, reads: Mapping[str, set[str]], since: Mapping[Reader, int]) -> None:
        self.found: list[tuple[str, str, int, int, int | None]] = []
        self._reads = reads
        self._since = dict(since)
        self._newest: dict[Reader, str] = {}  # member id
        self._down: dict[str, set[Reader]] = {}  # by client: where it is a member, and crashed

    def tell(self, event: dict[str, Any]) -> None:
        kind, group, client, time_ns = (event[name] for name in ("kind", "group", "client", "time_ns"))
        reader = (group, client)
        if kind in _LEFT and reader not in {**self._since, **self._newest}:
            self._since[reader], self._newest[reader] = 0, event["member_id"]  # it was there before the session began
        if client == OTHERS:
            self._since.setdefault(reader, time_ns)
        elif kind == "member_left":
            if self._newest.get(reader, event["member_id"]) == event["member_id"]:  # else it is there as another member
                self._over(reader, time_ns, event["seq"])
                self._down.get(client, set()).discard(reader)
        elif group and kind != "partitions_revoked":  # which may come after its crash
            self._since.setdefault(reader, time_ns)
            self._newest[reader] = event["member_id"]
        elif kind == "client_started" or event["ended"] == "crash":
            # A static member that is back in time is told of by nothing else.
            for back in (*((queue, client) for queue in self._reads.get(client, ())), *self._down.pop(client, ())):
                self._since.setdefault(back, time_ns)
        elif kind == "client_stopped" or event["fault"] == "crash":
            for one in [one for one in self._since if one[1] == client]:
                if one in self._newest and kind == "fault":
                    self._down.setdefault(client, set()).add(one)
                self._over(one, time_ns, event["seq"])

    def end(self, time_ns: int) -> None:
        for reader in list(self._since):
            self._over(reader, time_ns, None)

    def _over(self, reader: Reader, time_ns: int, seq: int | None) -> None:
        since_ns = self._since.pop(reader, None)
        if since_ns is not None:
            self.found.append((*reader, since_ns, time_ns, seq))


def lives(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group or queue, client and stretch of time in which it was there. A member is there from its joining
    until it leaves, is given up, stops or crashes; a client that reads without joining, while its process runs, or else
    from its first delivery. One of the group "" read for nobody. `end_seq` is the event that ended it, null at the end.
    """
    told = detailed.filter(pl.col("kind").is_in(_KINDS) & (pl.col("client") != ""))
    joined = set(told.filter(pl.col("group") != "").select("group", "client").iter_rows())
    runs = set(told.filter((pl.col("kind") == "client_started") & pl.col("role").is_in(_READERS))["client"])
    first = (
        rollup.filter((pl.col("kind") == "delivered") & (pl.col("group") != ""))
        .group_by("group", "client")
        .agg(pl.col("first_ns").min())
    )
    reads: dict[str, set[str]] = {}
    since: dict[Reader, int] = {}
    for group, client, first_ns in first.iter_rows():
        if (group, client) not in joined and client in runs:
            reads.setdefault(client, set()).add(group)
        elif (group, client) not in joined:
            since[group, client] = first_ns
    reads |= {client: {""} for client in runs - reads.keys() - {client for _group, client in joined}}
    found = _Lives(reads, since)
    for event in told.select("seq", "kind", "time_ns", "group", "client", "member_id", "fault", "ended").iter_rows(
        named=True
    ):
        found.tell(event)
    found.end(scale.to_ns)
    return (
        rows(LIVES_SCHEMA, sorted(found.found))
        .filter(pl.col("to_ns") >= scale.from_ns)
        .with_columns(pl.col("from_ns").clip(lower_bound=scale.from_ns))
    )


TAKEN_SCHEMA = "group STRING, client STRING, topic STRING, partition INT, seq BIGINT, time_ns BIGINT"


def taken(rollup: pl.DataFrame, detailed: pl.DataFrame, lives: pl.DataFrame) -> pl.DataFrame:
    """When each reader lost what it had in hand of a partition: with the partition, or as its life ended."""
    given = rollup.filter((pl.col("kind") == "delivered") & (pl.col("group") != ""))
    over = lives.drop_nulls("end_seq").join(given.select(*CLIENT, "topic", "partition").unique(), on=CLIENT)
    names = list(rows(TAKEN_SCHEMA, []).columns)
    ends = over.select(*names[:4], seq="end_seq", time_ns="to_ns")
    return pl.concat([places(detailed, "partitions_revoked").select(names), ends]).unique(names[:5])


TIME_SCHEMA = (
    "`group` STRING, client STRING, start_ns BIGINT, there_ns BIGINT, busy_ns BIGINT, in_hand DOUBLE, done BIGINT, "
    "each_ns DOUBLE"
)


def over_time(hands: pl.DataFrame, lives: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Per group, client and time bucket: how long it was there and busy, its mean number of messages in hand, what it
    finished, and how long each of that took it on average.
    """
    there = (
        lives.with_columns(last_ns=pl.max_horizontal(pl.col("to_ns") - 1, "from_ns"))
        .with_columns(start_ns=pl.int_ranges(scale.start_of("from_ns"), scale.start_of("last_ns") + 1, scale.width_ns))
        .explode("start_ns", empty_as_null=False, keep_nulls=False)
        .with_columns(end_ns=pl.min_horizontal("to_ns", pl.col("start_ns") + scale.width_ns))
        .group_by(*CLIENT, "start_ns")
        .agg((pl.col("end_ns") - pl.max_horizontal("from_ns", "start_ns")).sum().alias("there_ns"))
    )
    return (
        hands.filter(pl.col("start_ns") >= scale.from_ns)
        .join(there, on=[*CLIENT, "start_ns"], how="full", coalesce=True)
        .with_columns(
            pl.col("there_ns", "busy_ns", "done").fill_null(0),
            in_hand=pl.col("held").fill_null(0.0) / scale.width_ns,
            each_ns=pl.when(pl.col("done") > 0).then(pl.col("worked_ns") / pl.col("done")),
        )
        .filter(pl.col("group") != "")
        .sort(*CLIENT, "start_ns")
    )
