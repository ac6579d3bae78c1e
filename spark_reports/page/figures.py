"""The key figures: what one asks first of any run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from spark_reports.page import text
from spark_reports.scale import Scale

Rows = Sequence[Mapping[str, Any]]


class Figure(NamedTuple):
    """One tile. `alarming` where the number is one that nobody wants."""

    label: str
    value: str
    note: str
    section: str
    alarming: bool = False


def _field(row: Mapping[str, Any] | None, name: str) -> Any:
    return None if row is None else row[name]


def key_figures(tables: Mapping[str, Rows], scale: Scale) -> list[Figure]:
    """The tiles, in order."""
    total = {row["name"]: row["recorded"] for row in tables["totals"]}
    published_per_s = None if scale.is_moment else total["published"] / (scale.duration_ns / 1e9)
    topics = [row for row in tables["throughput_series"] if row["dimension"] == "topic"]
    latency = {row["measure"]: row for row in tables["latency"]}
    delivered, acknowledged = latency.get("delivered"), latency.get("acknowledged")
    lags = [row for row in tables["lag_series"] if row["max_lag"] is not None]
    worst_lag = max(lags, key=lambda row: row["max_lag"], default=None)
    blocked_ns = sum(row["blocked_ns"] for row in tables["backpressure_series"])
    lost = total["rejected"] + total["dropped"] + total["evicted"] + total["expired"]
    pauses = [row["pause_ns"] for row in tables["rebalances"] if row["stopped"]]
    return [
        Figure(
            "Published",
            text.count(total["published"]),
            f"{text.per_second(published_per_s)}, {text.size(sum(row['bytes'] or 0 for row in topics))}",
            "throughput",
        ),
        Figure(
            "Delivered",
            text.count(total["delivered"]),
            f"{text.count(total['redelivered'])} of them again",
            "throughput",
        ),
        Figure(
            "Acknowledged",
            text.count(total["acknowledged"]),
            f"p99 {text.duration(_field(acknowledged, 'p99_ns'))} after publishing",
            "latency",
        ),
        Figure(
            "Median latency",
            text.duration(_field(delivered, "p50_ns")),
            f"to first delivery; p99 {text.duration(_field(delivered, 'p99_ns'))}",
            "latency",
        ),
        Figure(
            "Highest lag",
            text.count(_field(worst_lag, "max_lag")),
            f"{worst_lag['group']} on {text.place(worst_lag['topic'], worst_lag['partition'])}"
            if worst_lag
            else "nothing committed",
            "lag",
        ),
        Figure(
            "Rebalances",
            text.count(total["rebalances"]),
            f"longest pause {text.duration(max(pauses))}" if pauses else "none stopped a partition",
            "rebalances",
        ),
        Figure(
            "Dead letters",
            text.count(total["dead_lettered"]),
            f"{text.count(total['redriven'])} redriven",
            "dead-letters",
            total["dead_lettered"] > 0,
        ),
        Figure(
            "Producers blocked",
            text.duration(blocked_ns),
            f"{text.count(lost)} refused or dropped",
            "backpressure",
            lost > 0,
        ),
    ]
