"""The DataFrames of one session that several tables share, each made once and only when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from spark_reports.questions import (
    audit,
    backpressure,
    consumers,
    cost,
    dead_letters,
    hands,
    keys,
    lag,
    latency,
    markers,
    order,
    ownership,
    queues,
    rebalances,
    rollup,
    throughput,
    totals,
    unserved,
)
from spark_reports.scale import Scale, scale_of
from spark_reports.session import SessionInfo, read_events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Kept in memory, with what a reader sees while each is made: one pass over the messages each.
KEPT = {
    "rollup": "Reading messages",
    "latency_buckets": "Measuring latency",
    "slots": "Watching consumers",
    "words": "Auditing deliveries",
    "late": "Checking the order",
    "dead": "Following dead letters",
}


class Recorded(NamedTuple):
    """How much there is of the whole session, whatever the part; 0 events where nobody knows."""

    events: int
    duration_ns: int


class Frames:
    """The DataFrames of one session, or of the part of it that `scale` is of.

    `messages` and `control` begin with the session whatever the part, for what is owned, waiting or behind at its
    beginning
    comes from before; they end with the part. `counted` and `happened` are the part alone. `summary` is what the
    broker counted.
    """

    def __init__(
        self,
        messages: DataFrame,
        control: DataFrame,
        scale: Scale,
        summary: DataFrame,
        noted: DataFrame | None = None,
        recorded: Recorded | None = None,
    ) -> None:
        self.messages = messages
        self.control = control
        self.scale = scale
        self.summary = summary
        self.noted = noted
        self.recorded = recorded or Recorded(0, scale.duration_ns)
        self.happened = control.where(F.col("time_ns") >= scale.from_ns) if scale.from_ns else control
        self._in_memory: list[DataFrame] = []

    @cached_property
    def rollup(self) -> DataFrame:
        """The counts that most questions share; see `questions.rollup`."""
        return self._kept(rollup.rollup(self.messages, self.scale))

    @cached_property
    def counted(self) -> DataFrame:
        """The rollup of the part alone."""
        return self.rollup.where(F.col("start_ns") >= self.scale.from_ns)

    @cached_property
    def latency_buckets(self) -> DataFrame:
        """The counts by duration; see `questions.latency`."""
        return self._kept(latency.latency_buckets(self.messages, self.control, self.scale))

    @cached_property
    def slots(self) -> DataFrame:
        """What came into and went out of hands; see `questions.hands`."""
        return self._kept(hands.slots(self.messages, self.scale))

    @cached_property
    def words(self) -> DataFrame:
        """What happened to each offset; see `questions.audit`."""
        return self._kept(audit.words(self.messages))

    @cached_property
    def late(self) -> DataFrame:
        """First deliveries behind later ones; see `questions.order`."""
        return self._kept(order.late(self.messages))

    @cached_property
    def dead(self) -> DataFrame:
        """Every dead letter and its fate; see `questions.dead_letters`."""
        return self._kept(dead_letters.dead(self.messages, self.scale))

    def _kept(self, frame: DataFrame) -> DataFrame:
        """`frame`, kept in memory from its first use on until `release`."""
        self._in_memory.append(frame.persist())
        return frame

    def release(self) -> None:
        """Keep nothing in memory any more."""
        for frame in self._in_memory:
            frame.unpersist()

    @cached_property
    def spans(self) -> DataFrame:
        """What each client had in its hands, in spans."""
        return self._kept(hands.spans(self.slots, self.control, self.scale))

    @cached_property
    def ownership(self) -> DataFrame:
        """Who owned which partition."""
        return self._kept(ownership.ownership(self.control, self.scale))

    @cached_property
    def rebalances(self) -> DataFrame:
        """Every rebalance."""
        return self._kept(rebalances.rebalances(self.control, self.scale))

    @cached_property
    def unserved(self) -> DataFrame:
        """Partitions that a rebalance took from their owners."""
        pauses = self._kept(unserved.pauses(self.control, self.rebalances, self.ownership, self.scale))
        return self._kept(unserved.unserved(pauses, self.messages, unserved.windows(pauses)))

    @cached_property
    def consumers(self) -> DataFrame:
        """Every consumer."""
        return self._kept(consumers.consumers(self.rollup, self.control, self.ownership, self.spans, self.scale))

    @cached_property
    def partitions(self) -> DataFrame:
        """The load of each partition."""
        return keys.partitions(self.counted)

    @cached_property
    def blocks(self) -> DataFrame:
        """Every time that a producer was blocked."""
        return self._kept(backpressure.backpressure(self.control, self.scale))

    @cached_property
    def throughput(self) -> DataFrame:
        """Throughput of every series over time."""
        return throughput.throughput(self.counted, self.scale)

    @cached_property
    def lag(self) -> DataFrame:
        """Lag of every partition over time."""
        return self._kept(lag.lag(self.rollup, self.control, self.scale))

    @cached_property
    def queues(self) -> DataFrame:
        """What waits in every queue over time."""
        return self._kept(queues.queues(self.rollup, self.control, self.scale))

    @cached_property
    def markers(self) -> DataFrame:
        """Faults, actions, comings and goings."""
        return self._kept(markers.markers(self.happened))

    @cached_property
    def cost(self) -> DataFrame:
        """What the whole session cost, whatever the part."""
        noted = self.messages.sparkSession.createDataFrame([], cost.NOTED_SCHEMA) if self.noted is None else self.noted
        return cost.cost(noted, *self.recorded)

    @cached_property
    def latency_by_group(self) -> DataFrame:
        """Percentiles of each group or queue over all its topics."""
        return latency.latency(self.latency_buckets, "group")


def read_frames(spark: SparkSession, info: SessionInfo, from_ns: int | None = None, to_ns: int | None = None) -> Frames:
    """The frames of the session `info`, or of its part; a part has no totals of the broker to be compared with."""
    messages, control = read_events(spark, info, "messages"), read_events(spark, info, "control")
    duration_ns = _duration_ns(info, messages, control)
    scale = scale_of(duration_ns, from_ns, to_ns)
    if to_ns is not None:
        messages, control = messages.where(F.col("time_ns") < to_ns), control.where(F.col("time_ns") < to_ns)
    summary = _summary(info) if from_ns is None and to_ns is None else []
    return Frames(
        messages,
        control,
        scale,
        spark.createDataFrame(summary, totals.SUMMARY_SCHEMA),
        spark.createDataFrame(_noted(info), cost.NOTED_SCHEMA),
        Recorded(dict(_summary(info)).get("events", 0), duration_ns),
    )


def _duration_ns(info: SessionInfo, messages: DataFrame, control: DataFrame) -> int:
    known = info.metadata.get("duration_ns")
    if isinstance(known, int) and known > 0:
        return known
    last = messages.select("time_ns").union(control.select("time_ns")).agg({"time_ns": "max"}).first()
    return max(1, (last[0] if last is not None else 0) or 0)


def _noted(info: SessionInfo) -> list[tuple[str, float]]:
    """What the program noted of its own cost, if it did."""
    extra = info.metadata.get("extra")
    noted = extra.get("cost") if isinstance(extra, dict) else None
    found = noted.items() if isinstance(noted, dict) else ()
    return [(str(name), float(value)) for name, value in found if isinstance(value, int | float)]


def _summary(info: SessionInfo) -> list[tuple[str, int]]:
    """What the broker counted itself, with the number of events that the recorder took."""
    counted = info.metadata.get("totals")
    found = {**counted} if isinstance(counted, dict) else {}
    found["events"] = info.metadata.get("events")
    return [(name, value) for name, value in found.items() if isinstance(value, int)]
