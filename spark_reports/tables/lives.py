"""When was each reader there: a member of its group, or a worker, whose process ran?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from spark_reports.bounds import OTHERS
from spark_reports.scale import Scale
from spark_reports.tables.schema import rows

SCHEMA = "group STRING, client STRING, from_ns BIGINT, to_ns BIGINT"
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
        rows(SCHEMA, sorted(found.found))
        .filter(pl.col("to_ns") >= scale.from_ns)
        .with_columns(pl.col("from_ns").clip(lower_bound=scale.from_ns))
    )
