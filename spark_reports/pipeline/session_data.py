"""The data of one session: passes over its events, made on first use, and intermediate results that tables share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

import polars as pl

from broker_core.events import EventKind
from broker_core.recording.schema import CONTROL, MESSAGES
from spark_reports.errors import TooMany
from spark_reports.passes import counts, durations, fold, redrives
from spark_reports.passes.series import Series
from spark_reports.scale import Scale, scale_of
from spark_reports.sessions.events import read_events, scan_events
from spark_reports.sessions.session import SessionInfo
from spark_reports.spark.bounds import Names, bring, capped, local, named
from spark_reports.spark.tuning import is_small
from spark_reports.tables import (
    audit,
    backpressure,
    consumers,
    dead_letters,
    details,
    groups,
    lag,
    latency,
    ownership,
    presence,
    queues,
    recording,
    throughput,
    transactions,
)
from spark_reports.tables.schema import rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KINDS = frozenset(kind.value for kind in EventKind)
FROM_THE_MIDDLE = "The recording began while the broker was at work: what was done before is not known."
CONTROL_COLUMNS = (
    *("seq", "time_ns", "kind", "topic", "partition", "offset", "count", "client", "group", "generation", "cause"),
    *("to_topic", "detail"),
)
MOST_CONTROL = 500_000  # of the events beside the messages, which come home themselves
LOOK_NS = 2_000_000_000  # what an observer of a cluster needs to find a rate


class SessionData:
    """The data of one session, or of the part covered by `scale`.

    `messages` and `control` begin with the session whatever the part, for what is owned, waiting or behind at its
    beginning comes from before; they end with the part. `counted` and `happening` are the part alone. `summary` is what
    the broker counted, `program_cost` what the program noted of its own. `all_events` (0 if unknown) and `all_ns` are
    those of the whole session. `notes` are sentences for the reader, what had to be put together; the passes add to
    them, so they are complete once all have been made.
    """

    def __init__(
        self,
        messages: DataFrame,
        lazy_tables: tuple[pl.LazyFrame, pl.LazyFrame],
        scale: Scale,
        summary: Mapping[str, int] | None = None,
        program_cost: Mapping[str, float] | None = None,
        *,
        all_events: int = 0,
        all_ns: int = 1,
        missing: tuple[str, ...] = (),
        deliveries: bool = True,
    ) -> None:
        """`lazy_tables` are the messages and the control events for Polars. `missing` is why nothing can be judged,
        `deliveries` whether they are known.
        """
        self.scale: Scale = scale
        self.summary: pl.DataFrame = rows(recording.SUMMARY_SCHEMA, list((summary or {}).items()))
        self.program_cost: Mapping[str, float] = program_cost or {}
        self.all_events, self.all_ns = all_events, all_ns
        self.notes: list[str] = []
        self._all_messages, self._lazy_tables = messages, lazy_tables
        self._missing, self._deliveries = missing, deliveries

    # The passes of `collect.PASSES`.

    @cached_property
    def rollup(self) -> pl.DataFrame:
        """The counts that most tables share."""
        return self._rollup_and_names[0]

    @cached_property
    def _rollup_and_names(self) -> tuple[pl.DataFrame, Names | None]:
        """The rollup; and the names that keep rows of their own if there are too many, None if all do."""
        try:
            return bring(counts.rollup(self._all_messages, self.scale)), None
        except TooMany:
            names = Names.of(self._lazy_tables[0])
            self.notes += names.notes
            return bring(counts.rollup(capped(self._all_messages, names), self.scale)), names

    @property
    def _names(self) -> Names | None:
        return self._rollup_and_names[1]

    @cached_property
    def messages(self) -> DataFrame:
        """For Spark; names that keep no rows of their own are put together."""
        return self._all_messages if self._names is None else capped(self._all_messages, self._names)

    @property
    def lazy_messages(self) -> pl.LazyFrame:
        """`messages` for Polars, which is faster than Spark where a few moments are looked up."""
        return self._lazy_tables[0] if self._names is None else named(self._lazy_tables[0], self._names)

    @cached_property
    def control(self) -> pl.DataFrame:
        found = self._lazy_tables[1].select(CONTROL_COLUMNS).head(MOST_CONTROL + 1).collect().sort("seq")
        found = found if self._names is None else named(found, self._names)
        return self._first(found, MOST_CONTROL, "of the events beside the messages")

    @cached_property
    def folded_events(self) -> fold.FoldedEvents:
        """Results that need every event in order, from the beginning of the session to the end of the part."""
        events = int(self.rollup["events"].sum()) + self.control.height
        if unknown := sorted({*self.rollup["kind"], *self.control["kind"]} - _KINDS):
            self.notes.append(
                f"This version does not know events of the kind {', '.join(unknown)}, and passes over them: update "
                "Brokerscope, and report once more."
            )
        series = Series(partial(named, names=self._names) if self._names else None)
        return fold.fold_events(self._lazy_tables, events, series, self.lost_in_flight, self.scale)

    @cached_property
    def broken(self) -> pl.DataFrame:
        """Where the numbers of the events are not whole."""
        return self._first(
            self.folded_events.broken, fold.MOST_BROKEN, "places where numbers of events are missing or twice"
        )

    @cached_property
    def latency_buckets(self) -> pl.DataFrame:
        since = latency.replays(self.control)
        replays = local(self.messages.sparkSession, since) if since.height else None
        return bring(durations.latency_buckets(self.messages, replays, self.scale))

    @cached_property
    def hot_keys(self) -> pl.DataFrame:
        """The keys that most messages have, and how many have keys that are not known."""
        return bring(counts.hot_keys(self._all_messages, self.scale))

    @cached_property
    def dead_letters(self) -> pl.DataFrame:
        """One row per message that died."""
        most = dead_letters.MOST_CAUSES
        any_died = "dead_lettered" in self.rollup["kind"]
        found = redrives.dead_letters(self.lazy_messages if any_died else self.lazy_messages.head(0), self.scale)
        if found.select("group", "cause").n_unique() > most:
            self.notes.append(f"Only the {most:,} most frequent causes of dead letters are listed, by group.")
        return found

    @cached_property
    def held(self) -> pl.DataFrame:
        return transactions.held(self.lazy_messages, transactions.asked(self.transactions, self.scale))

    @cached_property
    def published_in_pauses(self) -> pl.DataFrame:
        """The messages that were published to partitions without a reader, by pause."""
        return ownership.published_in(self.lazy_messages, self.pauses)

    def _first(self, found: pl.DataFrame, most: int, what: str) -> pl.DataFrame:
        if found.height > most:
            self.notes.append(f"Only the first {most:,} {what} are listed.")
        return found.head(most)

    # What several tables share.

    @cached_property
    def counted(self) -> pl.DataFrame:
        return self.rollup.filter(pl.col("start_ns") >= self.scale.from_ns)

    @cached_property
    def detailed(self) -> pl.DataFrame:
        return details.detailed(self.control)

    @cached_property
    def happening(self) -> pl.DataFrame:
        return self.control.filter(pl.col("time_ns") >= self.scale.from_ns)

    @cached_property
    def totals(self) -> pl.DataFrame:
        found = recording.totals(self.counted, self.happening)
        return found if self._deliveries else found.filter(pl.col("name").is_in(recording.SEEN_FROM_OUTSIDE))

    @cached_property
    def judged(self) -> audit.JudgedAccount:
        missing = ("Events are missing from the recording, or are there twice.",) if self.broken.height else ()
        return audit.JudgedAccount(self.folded_events.account, self.folded_events.order, (*self._missing, *missing))

    @cached_property
    def presence(self) -> pl.DataFrame:
        return presence.intervals(self.rollup, self.detailed, self.scale)

    @cached_property
    def lost_in_flight(self) -> pl.DataFrame:
        return presence.lost_in_flight(self.rollup, self.detailed, self.presence)

    @cached_property
    def transactions(self) -> pl.DataFrame:
        return transactions.each(self.detailed, self.scale)

    @cached_property
    def stable_waits(self) -> pl.DataFrame:
        passed = details.passed(self.detailed)
        return transactions.waits(self.transactions, self.held, self.rollup, passed, self.scale)

    @cached_property
    def ownership(self) -> pl.DataFrame:
        return ownership.ownership(self.folded_events.owners, self.scale)

    @cached_property
    def rebalances(self) -> pl.DataFrame:
        found = groups.rebalances(self.detailed, self.scale)
        return found if self._deliveries else groups.seen_from_outside(found)

    @cached_property
    def pauses(self) -> pl.DataFrame:
        """Partitions that nobody read, each from the last read before to the first read after."""
        found = ownership.pauses(self.folded_events.owners, self.rebalances, self.scale)
        return found if self._deliveries else found.clear()

    @cached_property
    def consumers(self) -> pl.DataFrame:
        in_flight = self.folded_events.in_flight_time
        return consumers.consumers(self.rollup, self.detailed, self.presence, self.ownership, in_flight, self.scale)

    @cached_property
    def partitions(self) -> pl.DataFrame:
        return throughput.partitions(self.counted, self.hot_keys)

    @cached_property
    def blocks(self) -> pl.DataFrame:
        return backpressure.backpressure(self.control, self.scale)

    @cached_property
    def throughput(self) -> pl.DataFrame:
        found = throughput.throughput(self.counted, self.scale)
        return found if self._deliveries else throughput.seen_from_outside(found)

    @cached_property
    def lag(self) -> pl.DataFrame:
        return lag.lag(self.rollup, self.detailed, self.scale)

    @cached_property
    def queues(self) -> pl.DataFrame:
        return queues.queues(self.rollup, self.control, self.scale)

    @cached_property
    def behind(self) -> pl.DataFrame:
        return groups.behind(self.lag, self.queues)


def read_session_data(
    spark: SparkSession, info: SessionInfo, from_ns: int | None = None, to_ns: int | None = None
) -> SessionData:
    """The frames of the session `info`, or of its part; a part has no totals of the broker to be compared with."""
    known = info.metadata
    messages, scans = read_events(spark, info, MESSAGES), [scan_events(info, folder) for folder in (MESSAGES, CONTROL)]
    if is_small(info.events):
        messages = messages.coalesce(1)  # one task for each pass: nothing is shuffled, and no stage waits for another
    last_ns = (scan.select(pl.col("time_ns").max()).collect().item() or 0 for scan in scans)
    duration_ns = known.duration_ns or max(1, *last_ns)
    scale, deliveries = scale_of(duration_ns, from_ns, to_ns), known.knows("deliveries")
    if not deliveries:
        # All that a look finds has its time: in shorter buckets rates would rise and fall with the looks.
        scale = Scale(scale.from_ns, scale.to_ns, max(scale.width_ns, LOOK_NS))
    if to_ns is not None:
        messages = messages.where(f"time_ns < {to_ns}")
        scans = [scan.filter(pl.col("time_ns") < to_ns) for scan in scans]
    summary = (known.totals or {}) | ({} if known.events is None else {"events": known.events})
    lacks = info.events < (known.events or 0)
    return SessionData(
        messages,
        (scans[0], scans[1]),
        scale,
        summary if from_ns is None and to_ns is None else {},
        _noted(known.extra.get("cost")),
        all_events=known.events or 0,
        all_ns=duration_ns,
        missing=(*(() if known.knows("beginning") else (FROM_THE_MIDDLE,)), *(info.problems if lacks else ())),
        deliveries=deliveries,
    )


def _noted(cost: object) -> dict[str, float]:
    found = cost.items() if isinstance(cost, dict) else ()
    return {str(name): float(value) for name, value in found if isinstance(value, int | float)}
