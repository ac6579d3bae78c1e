"""What sessions are compared by: figures, words and judgement; and how the window and the report count durations."""

from __future__ import annotations

from typing import Literal, NamedTuple

Unit = Literal["count", "duration", "rate", "size"]
Verdict = Literal["", "same", "noise", "better", "worse", "different"]

SAME = 0.02  # of the value: closer together is the same
LEAST: dict[str, float] = {"duration": 1_000_000, "rate": 0.1}  # by unit: a smaller difference is none
TELLING = 0.1  # of the value: what differs by less is not judged
CHANCE = 2.0  # standard errors: what differs by less may be chance
AS_LONG = 0.1  # of the length: sums of sessions that are closer together may be compared

#: Durations are counted in buckets, each 1 % longer than the one before it: exact to 0.5 %.
DURATION_GROWTH = 1.01
ZERO_BUCKET = -1  # durations below 1 ns, which virtual time has
#: What a group reads from more than this before it was there, or before its offsets were reset, is read again or late
#: through no fault of anybody, and is in no percentile.
REPLAY_GRACE_NS = 1_000_000_000

#: Kinds of events: messages that a topic or queue did not take, or did not keep for its readers.
TURNED_AWAY = ("rejected", "dropped", "evicted", "expired")


class Measure(NamedTuple):
    """`label` begins a row; `unit` says how values are written; `section` groups rows.

    `better` says whether more of it is better, or less; "" is not judged. `grows`: with the length of a session, and
    between sessions of different lengths it says nothing.
    """

    label: str
    unit: Unit
    section: str
    better: Literal["", "more", "less"] = ""
    grows: bool = False


MEASURES = {
    "length_ns": Measure("Session time", "duration", "What was done"),
    "published": Measure("Published", "count", "Messages"),
    "delivered": Measure("Delivered", "count", "Messages"),
    "acknowledged": Measure("Acknowledged", "count", "Messages", "more", grows=True),
    "redelivered": Measure("Delivered again", "count", "Messages", "less", grows=True),
    "dead_lettered": Measure("Dead letters", "count", "Messages", "less", grows=True),
    "turned_away": Measure("Turned away or discarded", "count", "Messages", "less", grows=True),
    "published_per_s": Measure("Published a second", "rate", "Throughput"),
    "delivered_per_s": Measure("Delivered a second", "rate", "Throughput", "more"),
    "bytes_per_s": Measure("Bytes a second", "size", "Throughput"),
    "p50_ns": Measure("First delivery, p50", "duration", "Latency", "less"),
    "p99_ns": Measure("First delivery, p99", "duration", "Latency", "less"),
    "p999_ns": Measure("First delivery, p99.9", "duration", "Latency", "less"),
    "max_ns": Measure("First delivery, maximum", "duration", "Latency", "less", grows=True),
    "acknowledged_p99_ns": Measure("Acknowledgement, p99", "duration", "Latency", "less"),
    "rebalances": Measure("Rebalances", "count", "Groups", "less", grows=True),
    "rebalancing_ns": Measure("Time in rebalances", "duration", "Groups", "less", grows=True),
    "moved": Measure("Partitions that changed owner", "count", "Groups", "less", grows=True),
    "blocked_ns": Measure("Producers blocked", "duration", "Flow", "less", grows=True),
    "faults": Measure("Faults", "count", "What was done"),
    "user_actions": Measure("User actions", "count", "What was done"),
    "events": Measure("Events", "count", "What was done"),
}


def unlike(length_ns: float, base_ns: float) -> bool:
    """Whether two sessions lasted so differently that their sums cannot be compared."""
    return abs(length_ns - base_ns) > base_ns * AS_LONG


def noise(measure: Measure, value: float, base: float) -> float:
    """The difference up to which nothing is judged: a tenth of `base`, or what chance does. Counts of messages vary by
    their square roots, what waits too.
    """
    of_messages = measure.unit == "count" and measure.section in {"Messages", "Waiting"}
    by_chance = (value + base) ** 0.5 * CHANCE if of_messages else 0.0
    return max(abs(base) * TELLING, by_chance)


def verdict(measure: Measure, value: float | None, base: float | None, *, lengths_differ: bool) -> Verdict:
    """What `value` is beside `base`, of which `noise` says how much may be chance; "" where one of them is not known,
    "different" where nobody can say what is better.
    """
    if value is None or base is None:
        return ""
    difference = value - base
    if abs(difference) <= max(abs(base) * SAME, LEAST.get(measure.unit, 0)):
        return "same"
    if abs(difference) <= noise(measure, value, base):
        return "noise"
    if not measure.better or (lengths_differ and measure.grows):
        return "different"
    return "better" if (difference > 0) == (measure.better == "more") else "worse"
