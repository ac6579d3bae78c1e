"""Partitions without a reader: for how long, and how many messages waited.

What an owner read last, and the next one first, is looked up in the messages (`passes.unserved`); the window's reducer
(`broker_core.recording.ownership`) is then given the control events and those deliveries, and says who owned what and
where the gaps are.
"""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl

from broker_core.events import Event, EventKind
from broker_core.recording.ownership import Ownership
from spark_reports.scale import Scale
from spark_reports.tables.details import PLACE
from spark_reports.tables.schema import rows

SCHEMA = (
    "`group` STRING, topic STRING, partition INT, client STRING, generation INT, from_ns BIGINT, "
    "to_ns BIGINT, held_ns BIGINT"
)


def ownership(owners: Ownership, events: list[Event], scale: Scale) -> pl.DataFrame:
    """One row per interval in which a client held a partition; what it is assigned again begins no new one."""
    generations = {event.seq: event.generation for event in events}
    found: list[tuple[object, ...]] = []
    for place, span in owners.owned():
        end_ns = scale.to_ns if span.end_ns is None else span.end_ns
        begin_ns = max(span.start_ns, scale.from_ns)
        if end_ns >= scale.from_ns:
            found.append((*place, span.owner, generations[span.start_seq], begin_ns, end_ns, end_ns - begin_ns))
    return rows(SCHEMA, found).sort(*PLACE, "from_ns")


UNSERVED_SCHEMA = (
    "`group` STRING, started_ns BIGINT, topic STRING, partition INT, owner_before STRING, owner_after STRING, "
    "from_ns BIGINT, to_ns BIGINT, pause_ns BIGINT, published BIGINT, revoked_ns BIGINT, assigned_ns BIGINT, "
    "cause STRING"
)
PAUSES_SCHEMA = UNSERVED_SCHEMA.replace("published BIGINT, ", "") + ", pause BIGINT"
ASKED_SCHEMA = (
    "ask BIGINT, group STRING, topic STRING, partition INT, client STRING, member STRING, from_ns BIGINT, "
    "to_ns BIGINT, after_seq BIGINT, before_seq BIGINT"
)
READ_ON_SCHEMA = (
    "seq BIGINT, time_ns BIGINT, group STRING, client STRING, member STRING, topic STRING, partition INT, "
    "published_ns BIGINT"
)
PUBLISHED_SCHEMA = "pause BIGINT, published BIGINT"  # what `passes.unserved` brings home
MOST_WINDOWS = 50
_KINDS = (
    *("partitions_assigned", "partitions_revoked", "rebalance_started", "rebalance_completed", "fault"),
    *("member_joined", "member_left"),
)
_END = 1 << 62
Place = tuple[str, str, int]  # group, topic, partition
Reader = tuple[str, str]  # group, and member id or client


def told(control: pl.DataFrame) -> list[Event]:
    columns = ("seq", "time_ns", "kind", "client", "group", "generation", "cause", "detail")
    return [
        Event(
            *(seq, time_ns, EventKind(kind)),
            client=client, group=group, generation=generation, cause=cause,
            detail=msgspec.json.decode(detail) if detail else None,
        )
        for seq, time_ns, kind, client, group, generation, cause, detail in (
            control.filter(pl.col("kind").is_in(_KINDS)).sort("seq").select(columns).iter_rows()
        )
    ]  # fmt: skip


class _Asks:
    """Walks through the control events, and notes which deliveries tell when somebody read."""

    def __init__(self, read_by: dict[tuple[Place, str], list[tuple[int, int]]], end_ns: int) -> None:
        """`read_by` are the number and the time of the last delivery of each count, by place and client."""
        self.found: list[tuple[Any, ...]] = []
        self._count = 0
        self._read_by = read_by
        self._end_ns = end_ns
        self._owned: dict[Reader, set[Place]] = {}
        self._had: dict[Reader, set[Place]] = {}  # ever
        self._open: dict[Place, Event] = {}  # the revocation that took it, while nobody has it
        self._ids: dict[Reader, set[str]] = {}  # member ids by group and client

    def take(self, event: Event) -> None:
        detail = event.detail or {}
        member = (event.group, str(detail.get("member_id", "")))
        heard_ns = detail.get("heard_ns")
        if event.kind is EventKind.PARTITIONS_ASSIGNED:
            self._assigned(event, member, _places(event))
        elif event.kind is EventKind.PARTITIONS_REVOKED:
            for place in _places(event):
                self._owned.get(member, set()).discard(place)
                self._open.setdefault(place, event)
        elif event.kind is EventKind.MEMBER_LEFT and heard_ns is not None:
            self._ask(self._had.get(member, set()), event.client, member[1], (heard_ns, event.time_ns), (-1, event.seq))
        elif event.kind is EventKind.MEMBER_JOINED:
            self._ids.setdefault((event.group, event.client), set()).add(member[1])
            old = (event.group, str(detail.get("replaces", "")))
            if old in self._owned:
                if heard_ns is not None:
                    self._ask(self._had[old], event.client, old[1], (heard_ns, event.time_ns), (-1, event.seq))
                self._assigned(event, member, self._owned.pop(old))

    def _assigned(self, event: Event, member: Reader, places: set[Place]) -> None:
        self._owned.setdefault(member, set()).update(places)
        self._had.setdefault(member, set()).update(places)
        taken = [self._open.pop(place) for place in sorted(places) if place in self._open]
        for revoked in {one.seq: one for one in taken}.values():
            old, times = str((revoked.detail or {}).get("member_id", "")), (revoked.time_ns, event.time_ns)
            self._ask(_places(revoked), revoked.client, old, times, (revoked.seq, event.seq))
        until = [found for place in places if (found := self._read_after(place, event)) is not None]
        if until:
            seq, time_ns = min(until)
            if len(self._ids.get((event.group, event.client), ())) > 1:  # the counts do not tell them apart
                seq, time_ns = _END, self._end_ns
            self._ask(places, event.client, member[1], (event.time_ns, time_ns), (event.seq, seq + 1))

    def _read_after(self, place: Place, event: Event) -> tuple[int, int] | None:
        """The number and the time of a delivery that is no earlier than the first one after `event`."""
        read_by = self._read_by.get((place, event.client), [])
        return next((found for found in read_by if found[0] > event.seq), None)

    def _ask(
        self, places: set[Place], client: str, member: str, times_ns: tuple[int, int], numbers: tuple[int, int]
    ) -> None:
        self.found += [(self._count, *place, client, member, *times_ns, *numbers) for place in places]
        self._count += 1


def _places(event: Event) -> set[Place]:
    return {(event.group, str(topic), int(part)) for topic, part in (event.detail or {}).get("partitions", ())}


def asked(events: list[Event], rollup: pl.DataFrame) -> pl.DataFrame:
    """Which deliveries tell when somebody read: the first and last of each `ask`. `rollup` bounds the first."""
    last: dict[tuple[Place, str], list[tuple[int, int]]] = {}
    given = rollup.filter(pl.col("kind") == "delivered").sort("last_seq")
    names = ("group", "topic", "partition", "client", "last_seq", "last_ns")
    for group, topic, partition, client, seq, time_ns in given.select(names).iter_rows():
        last.setdefault(((group, topic, partition), client), []).append((seq, time_ns))
    asks = _Asks(last, max((each[-1][1] for each in last.values()), default=0))
    for event in events:
        asks.take(event)
    return rows(ASKED_SCHEMA, asks.found)


def reduced(events: list[Event], read_on: pl.DataFrame) -> Ownership:
    """The window's reducer after the control events and the deliveries that tell when somebody read."""
    reads = [
        Event(
            *(seq, time_ns, EventKind.DELIVERED, topic, partition, 0, 1),
            group=group, client=client, member=member, published_ns=published_ns,
        )
        for seq, time_ns, group, client, member, topic, partition, published_ns in read_on.iter_rows()
    ]  # fmt: skip
    ownership = Ownership(keeps_all=True)
    for event in sorted([*events, *reads], key=lambda one: one.seq):
        ownership(event)
    return ownership


def pauses(ownership: Ownership, rebalances: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per partition and time in which nobody read it, with its number as `pause`. `started_ns` is the rebalance
    that took it from its owner, null if a static member came back; `owner_after` is null if nobody had it by the
    end; `cause` is the crash, pause or silence of its owner, "" if it was taken from one that read it up to then.
    """
    started = set(rebalances.select("group", "started_ns").iter_rows())
    found: list[tuple[Any, ...]] = []
    for rebalance, gap in ownership.all_gaps():
        begin_ns = max(gap.start_ns, scale.from_ns)
        end_ns = scale.to_ns if gap.end_ns is None else gap.end_ns
        if end_ns >= scale.from_ns:
            group, topic, partition = gap.place
            since_ns = rebalance[1] if rebalance in started and not gap.came_back else None
            row = (group, since_ns, topic, partition, gap.owner_before, gap.owner_after, begin_ns, end_ns)
            found.append((*row, end_ns - begin_ns, gap.revoked_ns, gap.assigned_ns, gap.cause, None))
    found.sort(key=lambda row: (row[8], row[:4]))
    return rows(PAUSES_SCHEMA, found).with_columns(pause=pl.int_range(pl.len()))


def windows(pauses: pl.DataFrame) -> list[tuple[int, int]]:
    """The times of `pauses`, few enough to be written into a filter; nearby ones are joined if there are many."""
    spans = pauses.select("from_ns", "to_ns").unique().sort("from_ns", "to_ns")
    begins = pl.col("from_ns") > pl.col("to_ns").cum_max().shift(1)
    joined = (
        spans.with_columns(window=begins.fill_null(True).cum_sum())
        .group_by("window", maintain_order=True)
        .agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    )
    # The widest gaps stay, as many as there may be windows.
    gap = pl.col("from_ns") - pl.col("to_ns").shift(1)
    wide = gap.rank("ordinal", descending=True) < MOST_WINDOWS
    few = joined.with_columns(window=wide.fill_null(True).cum_sum())
    few = few.group_by("window", maintain_order=True).agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    return list(few.select("from_ns", "to_ns").iter_rows())


def unserved(pauses: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """The pauses, longest first. `published` are the messages that were appended during each, by `pause`."""
    keys = ("pause_ns", "started_ns", "group", "topic", "partition")
    return (
        pauses.join(published, on="pause", how="left")
        .with_columns(pl.col("published").fill_null(0))
        .sort(keys, descending=[True, False, False, False, False])
    )
