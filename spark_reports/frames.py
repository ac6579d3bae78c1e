"""The data of one session: passes over its events, made on first use, and intermediate results that tables share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from spark_reports.bounds import Names, bring, capped, local
from spark_reports.errors import TooMany
from spark_reports.passes import audit as audit_pass
from spark_reports.passes import counts, lookups
from spark_reports.passes import dead_letters as dead_pass
from spark_reports.passes import latency as latency_pass
from spark_reports.passes import recording as recording_pass
from spark_reports.scale import Scale, scale_of
from spark_reports.session import SessionInfo, read_events
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
    queues,
    recording,
    throughput,
    transactions,
)
from spark_reports.tables.schema import rows
from spark_reports.tuning import is_small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker_core.events import Event
    from broker_core.recording.ownership import Ownership

#: Steps that read the session, with the text of the progress bar, in order of use.
PASSES = {
    "control": "Reading what happened",
    "rollup": "Reading messages",
    "broken": "Auditing deliveries",
    "latency_buckets": "Measuring latency",
    "slots": "Watching consumers",
    "broken_numbers": "Looking for gaps",
    "hot_keys": "Counting keys",
    "dead_letters": "Following dead letters",
    "read_on": "Finding the last and first readers",
    "held": "Following transactions",
    "published_in_pauses": "Counting unread messages",
    "happened": "Tracing broken rules",
}
LOOK_NS = 2_000_000_000  # what an observer of a cluster needs to find a rate


class Frames:
    """The data of one session, or of the part covered by `scale`.

    `messages` and `control_events` begin with the session whatever the part, for what is owned, waiting or behind at
    its beginning comes from before; they end with the part. `counted` and `happening` are the part alone. `summary` is
    what the broker counted, `noted` what the program noted of its cost, `recorded` how many events the whole session
    has (0 if unknown) and how many ns. `notes` are sentences for the reader: what had to be put together.
    """

    def __init__(
        self,
        messages: DataFrame,
        control_events: DataFrame,
        scale: Scale,
        summary: Mapping[str, int] | None = None,
        noted: Mapping[str, float] | None = None,
        recorded: tuple[int, int] = (0, 1),
        *,
        from_the_middle: bool = False,
        deliveries: bool = True,
    ) -> None:
        self.messages = messages
        self.control_events = control_events
        self.scale: Scale = scale
        self.summary: pl.DataFrame = rows(recording.SUMMARY_SCHEMA, list((summary or {}).items()))
        self.noted: Mapping[str, float] = noted or {}
        self.recorded: tuple[int, int] = recorded
        self.notes: list[str] = []
        self._from_the_middle = from_the_middle  # a broker was observed that had run before
        self._deliveries = deliveries  # whether they are known
        self._outdated = False  # whether names were put together after something else was read

    def settle(self) -> None:
        """Forget what was read with names that have been put together since. Nothing may be on its way."""
        if self._outdated:
            self.__dict__.pop("control", None)
        self._outdated = False

    # The passes, in the order of PASSES.

    @cached_property
    def control(self) -> pl.DataFrame:
        found = bring(counts.control(self.control_events)).sort("seq")
        return self._first(found, counts.MOST_CONTROL, "of the events beside the messages")

    @cached_property
    def rollup(self) -> pl.DataFrame:
        """The counts that most tables share; puts names together if there are too many to tell apart."""
        try:
            return bring(counts.rollup(self.messages, self.scale))
        except TooMany:
            names = Names.of(self.messages)
            self.messages, self.control_events = (capped(one, names) for one in (self.messages, self.control_events))
            self.notes += names.notes
            self._outdated = True
            return bring(counts.rollup(self.messages, self.scale))

    @cached_property
    def broken(self) -> pl.DataFrame:
        """The words of offsets that break a check of the audit; not looked at one by one if their sums are sound."""
        offsets = audit.with_starts(bring(audit_pass.offsets(self.messages)), details.deletions(self.control))
        passed = details.passed(self.detailed)
        if not passed.height and audit.is_sound(offsets):
            return rows(audit.BROKEN_SCHEMA, [])
        return bring(audit_pass.broken(self.messages, self._local(audit.reach(offsets)), self._local(passed)))

    @cached_property
    def latency_buckets(self) -> pl.DataFrame:
        replays = self._local(latency.replays(self.control))
        return bring(latency_pass.latency_buckets(self.messages, replays, self.scale))

    @cached_property
    def slots(self) -> pl.DataFrame:
        return bring(counts.slots(self.messages, self.scale, self._slot_ns))

    @cached_property
    def broken_numbers(self) -> pl.DataFrame:
        """Where the numbers of the events are not whole; without looking where their sums say that they are."""
        if recording.is_whole(bring(recording_pass.numbers(self.messages, self.control_events))):
            return rows(recording.BROKEN_SCHEMA, [])
        found = bring(recording_pass.broken_numbers(self.messages, self.control_events)).sort("word")
        return self._first(found, recording_pass.MOST, "places where numbers of events are missing or twice")

    @cached_property
    def hot_keys(self) -> pl.DataFrame:
        """The keys that most messages have, and how many have keys that are not known."""
        return bring(counts.hot_keys(self.messages, self.scale))

    @cached_property
    def dead_letters(self) -> pl.DataFrame:
        """Dead letters, counted by cause and key, and the first ones; no query if there are none."""
        kinds = set(self.rollup["kind"].unique())
        if "dead_lettered" not in kinds:
            return rows(dead_letters.COUNTED_SCHEMA, [])
        most = dead_pass.MOST_CAUSES
        found = bring(dead_pass.dead_letters(dead_pass.dead(self.messages, self.scale, "redriven" in kinds)))
        beyond = (pl.col("way") == dead_letters.BY_CAUSE) & (pl.col("place") > most)
        if found.filter(beyond).height:
            self.notes.append(f"Only the {most:,} most frequent causes of dead letters are listed, by group.")
        return found.filter(~beyond)

    @cached_property
    def read_on(self) -> pl.DataFrame:
        """The last deliveries to former owners and the first to the next ones."""
        asked = ownership.asked(self._moves, self.rollup)
        return self._looked_up(lookups.read_on, asked, ownership.READ_ON_SCHEMA)

    @cached_property
    def held(self) -> pl.DataFrame:
        asked = transactions.asked(self.transactions, self.scale)
        return self._looked_up(lookups.held, asked, transactions.HELD_SCHEMA)

    @cached_property
    def published_in_pauses(self) -> pl.DataFrame:
        """The messages that were published to partitions without a reader, by pause."""
        pauses = self.pauses.select("pause", "topic", "partition", "from_ns", "to_ns")
        return self._looked_up(lookups.published_in, pauses, ownership.PUBLISHED_SCHEMA)

    @cached_property
    def happened(self) -> pl.DataFrame:
        """All that happened to what broke a rule; without asking if nothing did."""
        singly = audit.suspects(self.audited).filter(~audit.is_run())
        suspects = self._local(singly.select("check", *details.PLACE, "word").unique())
        if suspects is None:
            return rows(audit.HAPPENED_SCHEMA, [])
        found = bring(audit_pass.happened(self.messages, suspects)).sort("seq")
        return self._first(found, audit_pass.MOST_HAPPENED, "events of messages that broke a rule")

    def _first(self, found: pl.DataFrame, most: int, what: str) -> pl.DataFrame:
        if found.height > most:
            self.notes.append(f"Only the first {most:,} {what} are listed.")
        return found.head(most)

    def _local(self, frame: pl.DataFrame) -> DataFrame | None:
        """`frame` for the executors; None if it is empty."""
        return local(self.messages.sparkSession, frame) if frame.height else None

    def _looked_up(self, query: Callable[..., DataFrame], asked: pl.DataFrame, schema: str) -> pl.DataFrame:
        """The result of `query` for `asked` in the row groups of its moments; no query if nothing is asked."""
        found = self._local(asked)
        return rows(schema, []) if found is None else bring(query(self.messages, found, ownership.windows(asked)))

    @cached_property
    def _slot_ns(self) -> int:
        places = self.rollup.filter(pl.col("kind") == "delivered").select(counts.PLACE).unique()
        return self.scale.slot_ns(places.height)

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
    def audited(self) -> pl.DataFrame:
        return audit.explained(self.broken, self.control, from_the_middle=self._from_the_middle)

    @cached_property
    def lives(self) -> pl.DataFrame:
        return consumers.lives(self.rollup, self.detailed, self.scale)

    @cached_property
    def spans(self) -> pl.DataFrame:
        """Messages in flight of each client, in spans."""
        return consumers.spans(self.slots, self.detailed, self.lives, self.scale, self._slot_ns)

    @cached_property
    def spans_there(self) -> pl.DataFrame:
        return consumers.within(self.spans, self.lives, self._slot_ns)

    @cached_property
    def transactions(self) -> pl.DataFrame:
        return transactions.each(self.detailed, self.scale)

    @cached_property
    def stable_waits(self) -> pl.DataFrame:
        passed = details.passed(self.detailed)
        return transactions.waits(self.transactions, self.held, self.rollup, passed, self.scale)

    @cached_property
    def ownership(self) -> pl.DataFrame:
        return ownership.ownership(self._owners, self._moves, self.scale)

    @cached_property
    def rebalances(self) -> pl.DataFrame:
        found = groups.rebalances(self.detailed, self.scale)
        return found if self._deliveries else groups.seen_from_outside(found)

    @cached_property
    def _moves(self) -> list[Event]:
        """The events by which partitions get and lose their readers."""
        return ownership.told(self.control)

    @cached_property
    def _owners(self) -> Ownership:
        """Owners and gaps, as the window has them."""
        return ownership.reduced(self._moves, self.read_on)

    @cached_property
    def pauses(self) -> pl.DataFrame:
        """Partitions that nobody read, each from the last read before to the first read after."""
        found = ownership.pauses(self._owners, self.rebalances, self.scale)
        return found if self._deliveries else found.clear()

    @cached_property
    def consumers(self) -> pl.DataFrame:
        return consumers.consumers(self.rollup, self.detailed, self.lives, self.ownership, self.spans_there, self.scale)

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


def read_frames(spark: SparkSession, info: SessionInfo, from_ns: int | None = None, to_ns: int | None = None) -> Frames:
    """The frames of the session `info`, or of its part; a part has no totals of the broker to be compared with."""
    messages, control = read_events(spark, info, "messages"), read_events(spark, info, "control")
    if is_small(info.metadata.get("events")):
        # One task for each pass: nothing is shuffled, and no stage waits for another.
        messages, control = messages.coalesce(1), control.coalesce(1)
    duration_ns = _duration_ns(info, messages, control)
    scale, deliveries = scale_of(duration_ns, from_ns, to_ns), info.knows("deliveries")
    if not deliveries:
        # All that a look finds has its time: in shorter buckets rates would rise and fall with the looks.
        scale = Scale(scale.from_ns, scale.to_ns, max(scale.width_ns, LOOK_NS))
    if to_ns is not None:
        messages, control = (frame.where(f"time_ns < {to_ns}") for frame in (messages, control))
    summary = _summary(info) if from_ns is None and to_ns is None else {}
    recorded = (_summary(info).get("events", 0), duration_ns)
    observed = info.metadata.get("clock") == "observed"
    return Frames(
        messages,
        control,
        scale,
        summary,
        _noted(info),
        recorded,
        from_the_middle=observed,
        deliveries=deliveries,
    )


def _duration_ns(info: SessionInfo, messages: DataFrame, control: DataFrame) -> int:
    if known := info.metadata.get("duration_ns"):
        return int(known)
    last = messages.select("time_ns").union(control.select("time_ns")).agg({"time_ns": "max"}).first()
    return max(1, (last[0] if last is not None else 0) or 0)


def _noted(info: SessionInfo) -> dict[str, float]:
    noted = info.metadata.get("extra", {}).get("cost")
    found = noted.items() if isinstance(noted, dict) else ()
    return {str(name): float(value) for name, value in found if isinstance(value, int | float)}


def _summary(info: SessionInfo) -> dict[str, int]:
    events = info.metadata.get("events")
    return {**(info.metadata.get("totals") or {}), **({} if events is None else {"events": events})}
