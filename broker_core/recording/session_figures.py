"""Computes the figures of one session from its events: the figures of `resources.measures`, of all and of each group or
queue.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind, is_users
from resources.measures import DURATION_GROWTH, MEASURES, REPLAY_GRACE_NS, TURNED_AWAY, ZERO_BUCKET

QUANTILES = {"p50_ns": 0.5, "p99_ns": 0.99, "p999_ns": 0.999}
FIRST, _DONE = "delivered", "acknowledged"
_WAITS = ["kind", "group", "attempt", "time_ns", "published_ns", "count"]


@dataclass
class Durations:
    """Messages by how long they took, in buckets of 1 %."""

    buckets: Counter[int] = field(default_factory=Counter)
    max_ns: int = 0

    def quantile_ns(self, quantile: float) -> int | None:
        """The duration that so large a share of the messages had at most; None without messages."""
        ordered = sorted(self.buckets)
        reached = accumulate(self.buckets[bucket] for bucket in ordered)
        wanted = math.ceil(self.buckets.total() * quantile)
        for bucket, rank in zip(ordered, reached, strict=True):
            if rank >= wanted:
                middle = 0 if bucket == ZERO_BUCKET else round(DURATION_GROWTH ** (bucket + 0.5))
                return min(middle, self.max_ns)
        return None


class SessionFigures:
    """Give it all `control` events of a session first, then its `messages`, as the recording has them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.groups: dict[str, Counter[str]] = defaultdict(Counter)  # rebalances, rebalancing_ns, moved
        #: By kind (`FIRST` deliveries or acknowledgements) and group or queue, "" for all.
        self.durations: dict[tuple[str, str], Durations] = defaultdict(Durations)
        self._joined_ns: dict[str, int] = {}
        self._reset_ns: dict[str, int] = {}
        self._blocked: dict[tuple[str, str], int] = {}
        self._handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.REBALANCE_STARTED: lambda event: self._add(event.group, "rebalances", 1),
            EventKind.REBALANCE_COMPLETED: self._rebalanced,
            EventKind.FAULT: lambda event: self.counts.update(faults=1),
            EventKind.USER_ACTION: lambda event: self.counts.update(user_actions=int(is_users(event))),
            EventKind.MEMBER_JOINED: lambda event: self._joined_ns.setdefault(event.group, event.time_ns),
            EventKind.OFFSETS_RESET: lambda event: self._reset_ns.update({event.group: event.time_ns}),
            EventKind.PRODUCER_BLOCKED: self._blocks,
            EventKind.PRODUCER_UNBLOCKED: self._blocks,
        }

    def control(self, event: Event) -> None:
        self.counts["events"] += 1
        if (handler := self._handlers.get(event.kind)) is not None:
            handler(event)

    def messages(self, batch: pa.RecordBatch) -> None:
        table = pa.Table.from_batches([batch])
        self.counts["events"] += table.num_rows
        first = pc.fill_null(pc.less_equal(table["attempt"], 1), True)
        sums = (
            table.select(["kind", "count", "size_bytes"])
            .append_column("first", first)
            .group_by(["kind", "first"])
            .aggregate([("count", "sum"), ("size_bytes", "sum")])
        )
        for row in sums.to_pylist():
            kind, count = row["kind"], row["count_sum"]
            self.counts["turned_away" if kind in TURNED_AWAY else kind] += count
            if kind == EventKind.PUBLISHED:
                self.counts["bytes"] += row["size_bytes_sum"]
            if kind == FIRST and not row["first"]:
                self.counts["redelivered"] += count
        waits = pc.or_(pc.and_(pc.equal(table["kind"], FIRST), first), pc.equal(table["kind"], _DONE))
        self._waits(table.select(_WAITS).filter(pc.and_(waits, pc.is_valid(table["published_ns"]))))

    def values(self, length_ns: int) -> dict[str, float | None]:
        """All of `MEASURES`, of a session that lasted so long; None for a figure that it does not have."""
        found: dict[str, float | None] = {name: self.counts[name] for name in MEASURES}
        blocked_ns = sum(max(0, length_ns - since_ns) for since_ns in self._blocked.values())
        found |= {"length_ns": length_ns, "blocked_ns": self.counts["blocked_ns"] + blocked_ns}
        seconds = length_ns / NS_PER_S
        for name, count in (("published", "published"), ("delivered", "delivered"), ("bytes", "bytes")):
            found[f"{name}_per_s"] = self.counts[count] / seconds if seconds else None
        first, done = self.durations[FIRST, ""], self.durations[_DONE, ""]
        found |= {name: first.quantile_ns(quantile) for name, quantile in QUANTILES.items()}
        found["max_ns"] = first.max_ns if first.buckets else None
        found["acknowledged_p99_ns"] = done.quantile_ns(QUANTILES["p99_ns"])
        return found

    # -- inside

    def _add(self, group: str, name: str, number: int) -> None:
        self.counts[name] += number
        self.groups[group][name] += number

    def _rebalanced(self, event: Event) -> None:
        detail = event.told
        before, after = ({tuple(owned) for owned in detail.get(name, ())} for name in ("before", "after"))
        self._add(event.group, "rebalancing_ns", event.time_ns - int(detail.get("started_ns", event.time_ns)))
        if before:  # the first one of a group takes nothing from anybody
            self._add(event.group, "moved", len(after - before))

    def _blocks(self, event: Event) -> None:
        key = (event.topic, event.client)
        since_ns = self._blocked.pop(key, None)
        if since_ns is not None:
            self.counts["blocked_ns"] += event.time_ns - since_ns
        if event.kind is EventKind.PRODUCER_BLOCKED:
            self._blocked[key] = event.time_ns

    def _waits(self, table: pa.Table) -> None:
        for group in pc.unique(table["group"]).to_pylist():
            mine = table.filter(pc.equal(table["group"], group))
            born, now = mine["published_ns"], mine["time_ns"]
            old = pc.less(born, self._joined_ns.get(group, 0) - REPLAY_GRACE_NS)
            reset_ns = self._reset_ns.get(group)
            if reset_ns is not None:
                before_reset = pc.less(born, reset_ns - REPLAY_GRACE_NS)
                old = pc.or_(old, pc.and_(before_reset, pc.greater_equal(now, reset_ns)))
            took_ns = pc.max_element_wise(pc.subtract(now, born), 0)
            logarithm = pc.divide(
                pc.ln(pc.max_element_wise(pc.cast(took_ns, pa.float64()), 1.0)), math.log(DURATION_GROWTH)
            )
            bucket = pc.if_else(pc.less(took_ns, 1), ZERO_BUCKET, pc.cast(pc.floor(logarithm), pa.int64()))
            counted = (
                pa.table({"kind": mine["kind"], "bucket": bucket, "count": mine["count"], "took_ns": took_ns})
                .filter(pc.invert(old))
                .group_by(["kind", "bucket"])
                .aggregate([("count", "sum"), ("took_ns", "max")])
            )
            for row in counted.to_pylist():
                for durations in (self.durations[row["kind"], group], self.durations[row["kind"], ""]):
                    durations.buckets[row["bucket"]] += row["count_sum"]
                    durations.max_ns = max(durations.max_ns, row["took_ns_max"])
