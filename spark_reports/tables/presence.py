"""When each client was present: a member of its group, or a reader without one whose process ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from spark_reports.scale import Scale
from spark_reports.spark.bounds import OTHERS
from spark_reports.tables.details import places
from spark_reports.tables.schema import rows

SCHEMA = "group STRING, client STRING, from_ns BIGINT, to_ns BIGINT, end_seq BIGINT"
_LOST = ("group", "client", "topic", "partition", "seq", "time_ns")
_LEFT = ("member_left", "partitions_revoked")
_KINDS = ("client_started", "client_stopped", "fault", "member_joined", "partitions_assigned", *_LEFT)
_FIELDS = ("seq", "kind", "time_ns", "group", "client", "member_id", "fault", "ended")
_READERS = ("consumer", "worker")
Key = tuple[str, str]  # group or queue, client


class _Presence:
    """Told what happened, in order. `reads` is what each client reads, while its process runs, without joining it."""

    def __init__(self, reads: Mapping[str, set[str]], since: Mapping[Key, int]) -> None:
        self.intervals: list[tuple[str, str, int, int, int | None]] = []
        self._reads = reads
        self._since = dict(since)
        self._member_ids: dict[Key, str] = {}  # the newest
        self._crashed: dict[str, set[Key]] = {}  # by client: where it is a member
        self._by_kind = {
            "client_started": self._start,
            "client_stopped": self._stop,
            "fault": self._fault,
            "member_joined": self._join,
            "partitions_assigned": self._join,
            "member_left": self._leave,
        }

    def tell(self, event: dict[str, Any]) -> None:
        kind, key = event["kind"], (event["group"], event["client"])
        if kind in _LEFT and key not in self._since and key not in self._member_ids:
            self._since[key], self._member_ids[key] = 0, event["member_id"]  # it was present before the session began
        if event["client"] == OTHERS:
            self._since.setdefault(key, event["time_ns"])
        elif kind != "partitions_revoked":  # which may come after its crash
            self._by_kind[kind](event)

    def end(self, time_ns: int) -> None:
        for key in list(self._since):
            self._end_interval(key, time_ns, None)

    def _start(self, event: dict[str, Any]) -> None:
        client = event["client"]
        # A static member that is back in time is told of by nothing else.
        for key in (*((queue, client) for queue in self._reads.get(client, ())), *self._crashed.pop(client, ())):
            self._since.setdefault(key, event["time_ns"])

    def _stop(self, event: dict[str, Any]) -> None:
        for key in [key for key in self._since if key[1] == event["client"]]:
            self._end_interval(key, event["time_ns"], event["seq"])

    def _fault(self, event: dict[str, Any]) -> None:
        client = event["client"]
        if event["ended"] == "crash":
            self._start(event)
        elif event["fault"] == "crash":
            memberships = {key for key in self._since.keys() & self._member_ids.keys() if key[1] == client}
            self._crashed.setdefault(client, set()).update(memberships)
            self._stop(event)

    def _join(self, event: dict[str, Any]) -> None:
        key = event["group"], event["client"]
        self._since.setdefault(key, event["time_ns"])
        self._member_ids[key] = event["member_id"]

    def _leave(self, event: dict[str, Any]) -> None:
        key = event["group"], event["client"]
        if self._member_ids.get(key, event["member_id"]) == event["member_id"]:  # else it is present as another member
            self._end_interval(key, event["time_ns"], event["seq"])
            self._crashed.get(key[1], set()).discard(key)

    def _end_interval(self, key: Key, time_ns: int, seq: int | None) -> None:
        since_ns = self._since.pop(key, None)
        if since_ns is not None:
            self.intervals.append((*key, since_ns, time_ns, seq))


def intervals(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group or queue, client and interval in which it was present. A member is present from its joining
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
    since: dict[Key, int] = {}
    for group, client, first_ns in first.iter_rows():
        if (group, client) not in joined and client in runs:
            reads.setdefault(client, set()).add(group)
        elif (group, client) not in joined:
            since[group, client] = first_ns
    # What runs and was in no group read for nobody.
    reads |= {client: {""} for client in runs - reads.keys() - {client for _group, client in joined}}
    presence = _Presence(reads, since)
    for event in told.select(_FIELDS).iter_rows(named=True):
        presence.tell(event)
    presence.end(scale.to_ns)
    return (
        rows(SCHEMA, sorted(presence.intervals, key=lambda interval: interval[:4]))
        .filter(pl.col("to_ns") >= scale.from_ns)
        .with_columns(pl.col("from_ns").clip(lower_bound=scale.from_ns))
    )


def lost_in_flight(rollup: pl.DataFrame, detailed: pl.DataFrame, presence: pl.DataFrame) -> pl.DataFrame:
    """When each client lost what it had in flight of a partition: with the partition, or as its presence ended."""
    delivered = rollup.filter((pl.col("kind") == "delivered") & (pl.col("group") != ""))
    read = delivered.select("group", "client", "topic", "partition").unique()
    ended = presence.drop_nulls("end_seq").join(read, on=["group", "client"])
    ends = ended.select(*_LOST[:4], seq="end_seq", time_ns="to_ns")
    return pl.concat([places(detailed, "partitions_revoked").select(_LOST), ends]).unique(_LOST[:5])
