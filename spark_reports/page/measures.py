"""The figures that sessions are compared by, as people read them."""

from __future__ import annotations

from typing import NamedTuple

from spark_reports.page import text


class Measure(NamedTuple):
    """`label` begins a row; `unit` says how values are written; `section` groups rows."""

    label: str
    unit: str
    section: str


MEASURES = {
    "length_ns": Measure("Session time", "duration", "What was done"),
    "published": Measure("Published", "count", "Messages"),
    "delivered": Measure("Delivered", "count", "Messages"),
    "acknowledged": Measure("Acknowledged", "count", "Messages"),
    "redelivered": Measure("Delivered again", "count", "Messages"),
    "dead_lettered": Measure("Dead letters", "count", "Messages"),
    "turned_away": Measure("Turned away or discarded", "count", "Messages"),
    "published_per_s": Measure("Published a second", "rate", "Throughput"),
    "delivered_per_s": Measure("Delivered a second", "rate", "Throughput"),
    "bytes_per_s": Measure("Bytes a second", "size", "Throughput"),
    "p50_ns": Measure("First delivery, p50", "duration", "Latency"),
    "p99_ns": Measure("First delivery, p99", "duration", "Latency"),
    "p999_ns": Measure("First delivery, p99.9", "duration", "Latency"),
    "max_ns": Measure("First delivery, maximum", "duration", "Latency"),
    "acknowledged_p99_ns": Measure("Acknowledgement, p99", "duration", "Latency"),
    "rebalances": Measure("Rebalances", "count", "Groups"),
    "rebalancing_ns": Measure("Time in rebalances", "duration", "Groups"),
    "moved": Measure("Partitions that changed owner", "count", "Groups"),
    "blocked_ns": Measure("Producers blocked", "duration", "Flow"),
    "faults": Measure("Faults", "count", "What was done"),
    "user_actions": Measure("User actions", "count", "What was done"),
    "events": Measure("Events", "count", "What was done"),
}


def shown(measure: str, value: float | None) -> str:
    """A value with its unit."""
    return text.FILTERS[MEASURES[measure].unit](value)


def change(share: float | None, difference: float | None) -> str:
    """A change as people say it: +42 %, ×3.1, -5 %, from nothing."""
    if difference is None:
        return text.NOT_THERE
    if difference == 0:
        return "none"
    if share is None:
        return "from nothing"
    if share >= 1:
        return f"×{share + 1:.1f}" if share < 99 else f"×{share + 1:,.0f}"
    percent = max(share, -1.0) * 100
    return f"{percent:+.0f}{text.NBSP}%" if abs(percent) >= 10 else f"{percent:+.1f}{text.NBSP}%"
