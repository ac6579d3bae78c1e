"""When was each reader there: a member of its group, or a worker, whose process ran?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from spark_reports.bounds import OTHERS
from spark_reports.scale import Scale
from spark_reports.tables.details import places
from spark_reports.tables.schema import rows

SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, there_ns BIGINT, with_partitions_ns BIGINT, "
    "delivered BIGINT, acknowledged BIGINT, busy_ns BIGINT, idle_ns BIGINT, utilisation DOUBLE, in_hand DOUBLE, "
    "longest_idle_ns BIGINT, outside BOOLEAN"
)
_COUNTED = ("delivered", "acknowledged")
_CLIENT = ("group", "client")


def consumers(
    rollup: pl.DataFrame,
    detailed: pl.DataFrame,
    lives: pl.DataFrame,
    ownership: pl.DataFrame,
    spans: pl.DataFrame,
    scale: Scale,
) -> pl.DataFrame:
    """One row per group or queue and client, least busy last. `spans` are those within `lives`. A client is busy while
    a message is in flight to it. `there_ns` leaves out when it had stopped, crashed or left. `with_partitions_ns` is
    null if nobody assigns partitions. A client that never read has the group ""; one from `outside` is not run by the
    session.
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = (
        rollup.filter((pl.col("start_ns") >= scale.from_ns) & kind.is_in(_COUNTED))
        .group_by(_CLIENT)
        .agg(messages.filter(kind == name).sum().alias(name) for name in _COUNTED)
    )
    there = lives.group_by(_CLIENT).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max(), (pl.col("to_ns") - pl.col("from_ns")).sum().alias("there_ns")
    )
    in_flight = spans.group_by(_CLIENT).agg(pl.col("busy_ns").sum(), pl.col("held").sum())
    members = ownership.select("group").unique().with_columns(assigned=pl.lit(True))
    own = detailed.filter((kind == "client_started") & pl.col("held_from").is_null())["client"].unique()
    there_ns = pl.col("there_ns")
    busy = pl.min_horizontal(pl.col("busy_ns").fill_null(0), there_ns)
    found = there
    for other in (counted, in_flight, _covered(ownership), _longest_idle(lives, spans)):
        found = found.join(other, on=_CLIENT, how="left")
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
        .sort("utilisation", *_CLIENT, descending=[True, False, False])
    )


def _longest_idle(lives: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """The longest time of each life without a message in hand: before the first, between two, after the last."""
    life = [*_CLIENT, "life"]
    lived = lives.with_columns(life=pl.int_range(pl.len()).over(_CLIENT))
    held = (
        spans.filter(pl.col("held") > 0)
        .select(*_CLIENT, held_ns="from_ns", free_ns="to_ns")
        .sort("held_ns")
        .join_asof(
            lived.select(*life, "from_ns").sort("from_ns"),
            left_on="held_ns",
            right_on="from_ns",
            by=_CLIENT,
            check_sortedness=False,
        )
    )
    begins, ends = (lived.select(*life, held_ns=at, free_ns=at) for at in ("from_ns", "to_ns"))
    free = pl.col("held_ns") - pl.col("free_ns").cum_max().shift(1).over(life)
    return (
        pl.concat([begins, held.select(begins.columns), ends])
        .sort(*life, "held_ns", "free_ns")
        .with_columns(idle=free)
        .group_by(_CLIENT)
        .agg(pl.col("idle").max().clip(lower_bound=0).alias("longest_idle_ns"))
    )


def _covered(ownership: pl.DataFrame) -> pl.DataFrame:
    """How long each client had at least one partition: each span counts from where the ones before it ended."""
    until = pl.col("to_ns").cum_max().shift(1).over(_CLIENT).fill_null(0)
    fresh = (pl.col("to_ns") - pl.max_horizontal("from_ns", "until")).clip(lower_bound=0)
    return (
        ownership.sort(*_CLIENT, "from_ns", "to_ns")
        .with_columns(until=until)
        .group_by(_CLIENT)
        .agg(fresh.sum().alias("covered_ns"))
    )


LIVES_SCHEMA = "group STRING, client STRING, from_ns BIGINT, to_ns BIGINT"
_READERS = ("consumer", "worker")
_KINDS = ("client_started", "client_stopped", "fault", "member_joined", "member_left", "partitions_assigned")
Reader = tuple[str, str]  # group or queue, client


class _Lives:
    """Told what happened, in order. `reads` is what each client reads, while its process runs, without joining it."""

    def __init__(self, reads: Mapping[str, set[str]], since: Mapping[Reader, int]) -> None:
        self.found: list[tuple[str, str, int, int]] = []
        self._reads = reads
        self._since = dict(since)
        self._newest: dict[Reader, str] = {}  # member id

    def tell(self, event: dict[str, Any]) -> None:
        kind, group, client, time_ns = (event[name] for name in ("kind", "group", "client", "time_ns"))
        reader = (group, client)
        if client == OTHERS:
            self._since.setdefault(reader, time_ns)
        elif kind == "member_left":
            if self._newest.get(reader, event["member_id"]) == event["member_id"]:  # else it is there as another member
                self._over(reader, time_ns)
        elif group:
            self._since.setdefault(reader, time_ns)
            self._newest[reader] = event["member_id"]
        elif kind == "client_started" or event["ended"] == "crash":
            for queue in self._reads.get(client, ()):
                self._since.setdefault((queue, client), time_ns)
        elif kind == "client_stopped" or event["fault"] == "crash":
            for one in [one for one in self._since if one[1] == client]:
                self._over(one, time_ns)

    def end(self, time_ns: int) -> None:
        for reader in list(self._since):
            self._over(reader, time_ns)

    def _over(self, reader: Reader, time_ns: int) -> None:
        since_ns = self._since.pop(reader, None)
        if since_ns is not None:
            self.found.append((*reader, since_ns, time_ns))


def lives(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group or queue, client and stretch of time in which it was there. A member is there from its joining
    until it leaves, is given up, stops or crashes; a client that reads without joining, while its process runs, or else
    from its first delivery. One of the group "" read for nobody.
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
    for event in told.select("kind", "time_ns", "group", "client", "member_id", "fault", "ended").iter_rows(named=True):
        found.tell(event)
    found.end(scale.to_ns)
    return (
        rows(LIVES_SCHEMA, sorted(found.found))
        .filter(pl.col("to_ns") >= scale.from_ns)
        .with_columns(pl.col("from_ns").clip(lower_bound=scale.from_ns))
    )


TIME_SCHEMA = "`group` STRING, client STRING, start_ns BIGINT, busy_ns BIGINT, in_hand DOUBLE"
_PLACE = ("group", "client", "topic", "partition")
_LONG = pl.col("to_ns") - pl.col("from_ns")
_BUSY = pl.min_horizontal(pl.col("held").ceil().cast(pl.Int64), _LONG)


def spans(slots: pl.DataFrame, detailed: pl.DataFrame, lives: pl.DataFrame, scale: Scale, slot_ns: int) -> pl.DataFrame:
    """The time of each client in spans: slots in which its hand changed, and the time between. `held` is messages in
    hand x ns. What a client had not committed leaves its hand with the partition or the member's life; a lease lasts
    until an event ends it.
    """
    per_client = _changes(slots, detailed, lives, scale, slot_ns)
    steps = per_client.with_columns(
        after=pl.col("change").cum_sum().over(_CLIENT),
        end_ns=pl.max_horizontal((pl.col("slot_ns") + slot_ns).clip(upper_bound=scale.to_ns), "slot_ns"),
        next_ns=pl.col("slot_ns").shift(-1).over(_CLIENT).fill_null(scale.to_ns),
    )
    before = pl.col("after") - pl.col("change")
    held = before * (pl.col("end_ns") - pl.col("slot_ns")) + pl.col("area")
    inside = steps.filter(pl.col("slot_ns") >= scale.from_ns).select(
        *_CLIENT, from_ns="slot_ns", to_ns="end_ns", held=held.clip(lower_bound=0.0)
    )
    kept = (pl.col("after") * (pl.col("next_ns") - pl.col("end_ns"))).cast(pl.Float64)
    between = steps.filter(pl.col("next_ns") > pl.col("end_ns")).select(
        *_CLIENT, from_ns="end_ns", to_ns="next_ns", held=kept
    )
    return pl.concat([inside, between]).filter(_LONG > 0).with_columns(busy_ns=_BUSY)


def within(spans: pl.DataFrame, lives: pl.DataFrame, slot_ns: int) -> pl.DataFrame:
    """The parts of `spans` in which the client was there. What it held in a slot, it held while it was there."""
    whole = pl.col("ends_ns") - pl.col("began_ns")
    share = pl.when(whole > slot_ns).then(_LONG / whole).otherwise(1.0)
    return (
        spans.rename({"from_ns": "began_ns", "to_ns": "ends_ns"})
        .join(lives, on=_CLIENT)
        .with_columns(from_ns=pl.max_horizontal("began_ns", "from_ns"), to_ns=pl.min_horizontal("ends_ns", "to_ns"))
        .filter(_LONG > 0)
        .with_columns(held=pl.col("held") * share)
        .with_columns(busy_ns=_BUSY)
        .select(spans.columns)
    )


def _changes(
    slots: pl.DataFrame, detailed: pl.DataFrame, lives: pl.DataFrame, scale: Scale, slot_ns: int
) -> pl.DataFrame:
    """Per client and slot, in order: by how much its hand changed, and that summed over the rest of the slot."""
    members = detailed.filter(pl.col("kind").is_in(["member_joined", "partitions_assigned"])).select("group")
    over = (
        lives.join(members, on="group", how="semi")
        .join(slots.select(_PLACE).unique(), on=_CLIENT)
        .select(*_PLACE, time_ns="to_ns")
    )
    taken = pl.concat([places(detailed, "partitions_revoked").select(*_PLACE, "time_ns"), over]).select(
        *_PLACE, slot_ns=scale.start_of("time_ns", slot_ns), change=pl.lit(0, pl.Int64), area=0.0, taken=1
    )
    came = slots.select(*_PLACE, "slot_ns", "change", "area", taken=0)
    sofar, turn = pl.col("sofar"), (*_PLACE, "turn")
    return (
        pl.concat([came, taken])
        .sort(*_PLACE, "slot_ns", "taken")
        .with_columns(turn=pl.col("taken").cum_sum().over(_PLACE))
        .with_columns(sofar=pl.col("change").cum_sum().over(turn))
        # A commit may cover more than was delivered; a client never has less than none in flight.
        .with_columns(after=sofar - sofar.cum_min().over(turn).clip(upper_bound=0))
        .with_columns(before=pl.col("after").shift(1).over(_PLACE).fill_null(0))
        .group_by(*_CLIENT, "slot_ns")
        .agg((pl.col("after") - pl.col("before")).sum().alias("change"), pl.col("area").sum())
        .filter((pl.col("change") != 0) | (pl.col("area") != 0))
        .sort(*_CLIENT, "slot_ns")
    )


def in_hand_over_time(spans: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Per group, client and time bucket: how long it was busy, and its mean number of messages in hand."""
    width = scale.width_ns
    last = scale.start_of("last_ns") + width
    end = pl.min_horizontal("to_ns", pl.col("start_ns") + width)
    overlap = end - pl.max_horizontal("from_ns", "start_ns")
    share = overlap / (pl.col("to_ns") - pl.col("from_ns"))
    return (
        spans.with_columns(last_ns=pl.max_horizontal(pl.col("to_ns") - 1, "from_ns"))
        .with_columns(start_ns=pl.int_ranges(scale.start_of("from_ns"), last, width))
        .explode("start_ns", empty_as_null=False, keep_nulls=False)
        .group_by(*_CLIENT, "start_ns")
        .agg(
            (pl.col("busy_ns") * share).sum().round().cast(pl.Int64).alias("busy_ns"),
            ((pl.col("held") * share).sum() / width).alias("in_hand"),
        )
        .sort(*_CLIENT, "start_ns")
    )
