from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from resources.outcomes import OUTCOMES, in_words
from spark_reports import text
from spark_reports.rows import Tables, is_unread_time_known
from spark_reports.scale import Scale


class Figure(NamedTuple):
    """One tile. `alarming` marks a bad number."""

    label: str
    value: str
    note: str
    section: str
    alarming: bool = False


MOST_FIGURES = 6  # side by side, above everything else


def first_figures(figures: Sequence[Figure]) -> list[Figure]:
    """The six that the page begins with, in their order: a bad number before one that is asked for less."""
    chosen = sorted(figures, key=lambda one: (not one.alarming, one.label in _ASKED_FOR_LESS))
    return [one for one in figures if one in chosen[:MOST_FIGURES]]


_ASKED_FOR_LESS = frozenset({"Acknowledged", "Producers blocked"})


def key_figures(made: Tables, scale: Scale) -> list[Figure]:
    """The tiles, in order: those whose tables were made."""
    tiles = (
        (_published, ("totals", "throughput_series")),
        (_delivered, ("totals", "throughput_series")),
        (_acknowledged, ("totals", "latency")),
        (_median, ("latency",)),
        (_lag, ("lag_series",)),
        (_rebalances, ("rebalances", "unserved")),
        (_dead, ("dead_letters",)),
        (_blocked, ("backpressure_series",)),
    )
    found = [tile(made, scale) for tile, tables in tiles if made.keys() >= set(tables)]
    return [tile for tile in found if tile is not None]


def _totals(made: Tables) -> dict[str, int]:
    return {row["name"]: row["recorded"] for row in made["totals"]}


def _published(made: Tables, scale: Scale) -> Figure:
    count = _totals(made)["published"]
    per_s = None if scale.is_moment else count / (scale.duration_ns / 1e9)
    sizes = [row["bytes"] for row in made["throughput_series"] if row["dimension"] == "topic"]
    size = "" if sizes and None in sizes else f", {text.size(sum(sizes))}"
    return Figure("Published", text.count(count), text.per_second(per_s) + size, "throughput")


def _delivered(made: Tables, scale: Scale) -> Figure | None:
    total = _totals(made)
    if "delivered" not in total:
        return None
    again = f"{text.count(total['redelivered'])} of them repeated"
    return Figure("Delivered", text.count(total["delivered"]), again, "throughput")


def _latency(made: Tables, measure: str, name: str) -> str:
    row = next((row for row in made["latency"] if row["measure"] == measure), None)
    return text.duration(None if row is None else row[name])


def _acknowledged(made: Tables, scale: Scale) -> Figure:
    note = f"p99 {_latency(made, 'acknowledged', 'p99_ns')} after publishing"
    return Figure("Acknowledged", text.count(_totals(made)["acknowledged"]), note, "latency")


def _median(made: Tables, scale: Scale) -> Figure:
    note = f"to first delivery; p99 {_latency(made, 'delivered', 'p99_ns')}"
    return Figure("Median latency", _latency(made, "delivered", "p50_ns"), note, "latency")


def _lag(made: Tables, scale: Scale) -> Figure:
    known = [row for row in made["lag_series"] if row["max_lag"] is not None]
    worst = max(known, key=lambda row: row["max_lag"], default=None)
    if worst is None:
        return Figure("Highest lag", text.NOT_THERE, "nothing committed", "lag")
    note = f"one partition: {worst['group']} on {text.place(worst['topic'], worst['partition'])}"
    most = "≤ " if worst.get("at_most") and worst["max_lag"] else ""
    return Figure("Highest lag", most + text.count(worst["max_lag"]), note, "lag")


def _rebalances(made: Tables, scale: Scale) -> Figure:
    """The number of rebalances, and the longest time that a partition went unread, which may begin long before one."""
    pauses = [row["pause_ns"] for row in made["unserved"]]
    note = f"a partition unread for up to {text.duration(max(pauses))}" if pauses else "none stopped a partition"
    note = note if is_unread_time_known(made) else "how long nobody read is not known"
    return Figure("Rebalances", text.count(len(made["rebalances"])), note, "rebalances")


def _dead(made: Tables, scale: Scale) -> Figure:
    died, redriven = (sum(row[name] for row in made["dead_letters"]) for name in ("dead_lettered", "redriven"))
    note = f"{text.count(redriven)} redriven for good"  # the redrive of others may have been undone
    return Figure("Dead-lettered", text.count(died), note, "dead-letters", died > 0)


def _blocked(made: Tables, scale: Scale) -> Figure:
    rows = made["backpressure_series"]
    blocked_ns = sum(row["blocked_ns"] for row in rows)
    lost = in_words({kind: sum(row[kind] for row in rows) for kind in OUTCOMES})
    note = lost or "nothing was refused"
    return Figure("Producers blocked", text.duration(blocked_ns), note, "backpressure", bool(lost))
