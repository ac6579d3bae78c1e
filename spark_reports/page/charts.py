"""The data of the plots, as plain JSON: times in seconds, durations in milliseconds, one number per time bucket."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spark_reports import text
from spark_reports.rows import Row, Rows, Tables, grouped
from spark_reports.scale import Scale
from spark_reports.tables.details import PLACE
from spark_reports.tables.latency import HEAT_STEPS_PER_DECADE


class Numbering:
    """Numbers of flows (topics, queues and groups) and of readers; names without a number get the next ones."""

    def __init__(self, rows: Rows) -> None:
        """`rows` of the table `hues`."""
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for row in rows:
            self._numbers[row["kind"]][row["name"]] = row["number"]

    def of(self, kind: str, name: str) -> int:
        """`kind` is flow or reader."""
        known = self._numbers[kind]
        return known.setdefault(name, len(known))


Series = dict[str, list[float]]  # a value for each time bucket, by what it is of
OTHERS = -1  # in place of a hue
TOP_SERIES = 10  # lines that an eye can tell apart; the rest is drawn as one
LAG_ROWS, MARKERS, CAUSES, ATTEMPTS = 60, 60, 12, 40  # that are drawn at most
NO_TIME_NS = 1_000  # shorter than this is "at once" on the heat map


def chart_data(made: Tables, scale: Scale) -> dict[str, Any]:
    """Everything that the page's script draws; nothing for tables that were not made."""
    tables = defaultdict[str, Rows](tuple, made)
    numbers = Numbering(tables["hues"])
    return {
        "width_s": scale.width_ns / 1e9,
        "buckets": scale.buckets,
        "from_s": scale.from_ns / 1e9,
        "to_s": scale.to_ns / 1e9,
        "rebalances": [
            {
                "from": row["started_ns"] / 1e9,
                "to": row["ended_ns"] / 1e9,
                **{name: row[name] for name in ("group", "cause", "stopped")},
            }
            for row in tables["rebalances"]
        ],
        "markers": [
            {
                "at": row["time_ns"] / 1e9,
                "kind": row["kind"],
                "text": " ".join(filter(None, (row["client"], row["cause"]))),
            }
            for row in tables["markers"]
            if row["kind"] in {"fault", "user_action", "damage", "gap", "alert_raised"}
        ][:MARKERS],
        "overview": _overview(scale, tables),
        "throughput": {
            dimension: _throughput(scale, tables["throughput"], dimension, kind, numbers)
            for dimension, kind in (("topic", "flow"), ("partition", ""), ("producer", ""), ("consumer", "reader"))
        },
        "latency_over_time": _latency_over_time(tables["latency_over_time"]),
        "latency_curve": _latency_curve(tables["latency_curve"]),
        "latency_heat": _latency_heat(scale, tables["latency_heat"]),
        "lag": _lag(scale, tables["lag"], tables["lag_series"]),
        "ownership": _ownership(tables["ownership"], tables["unserved"], numbers),
        "busy": _busy(scale, tables["consumers_over_time"], tables["consumers"]),
        "queues": _queues(scale, tables["queues"], numbers),
        "attempts": _attempts(tables["redeliveries"]),
        "dead_letters": [
            {
                "cause": row["cause"] or "no cause given",
                "group": row["group"],
                "dead": row["dead_lettered"],
                "redriven": row["redriven"],
            }
            for row in tables["dead_letters"][:CAUSES]
        ],
        "backpressure": _backpressure(scale, tables["backpressure_over_time"], numbers),
        "partitions": _partitions(tables["partitions"]),
    }


def _overview(scale: Scale, tables: Tables) -> dict[str, Any]:
    """The session on one time axis: published per second, lag, waiting and dead messages; empty if not made."""

    def summed(name: str, value: str, empty: float | None) -> list[float | None]:
        values: list[float | None] = [empty] * scale.buckets
        for row in tables[name]:
            if row[value] is not None and row.get("dimension", "topic") == "topic":
                at = scale.bucket(row["start_ns"])
                values[at] = round((values[at] or 0) + row[value], 2)
        return values if tables[name] else []

    return {
        "published": summed("throughput", "messages_per_s", 0),
        "lag": summed("lag", "lag", None),
        "waiting": summed("queues", "waiting", None),
        "dead": summed("dead_letters_over_time", "dead_lettered", 0),
    }


def _dense(scale: Scale, rows: Iterable[Row], value: str, empty: float | None = 0) -> list[float | None]:
    values: list[float | None] = [empty] * scale.buckets
    for row in rows:
        values[scale.bucket(row["start_ns"])] = row[value]
    return values


def _shares(scale: Scale, rows: Iterable[Row], value: str) -> list[float]:
    """`value`, a time in ns, as a share of each bucket."""
    each = zip(_dense(scale, rows, value), scale.bucket_widths_ns, strict=True)
    return [(value_ns or 0) / width_ns for value_ns, width_ns in each]


def _throughput(scale: Scale, rows: Rows, dimension: str, kind: str, numbers: Numbering) -> list[dict[str, Any]]:
    """The busiest series and the sum of the others, with hues of a `kind`. A client of several topics is one."""
    sums: dict[str, Series] = {}
    for row in rows:
        if row["dimension"] == dimension:
            name = text.place(row["topic"], row["name"]) if dimension == "partition" else str(row["name"])
            mine = sums.setdefault(name, {of: [0.0] * scale.buckets for of in ("messages", "bytes")})
            for of, values in mine.items():
                values[scale.bucket(row["start_ns"])] += row[f"{of}_per_s"] or 0
    return _top(sums, "messages", kind, numbers)


def _top(series: Mapping[str, Series], by: str, kind: str, numbers: Numbering) -> list[dict[str, Any]]:
    """The series with the largest sums of `by`, in the order of their names, and the sum of the others; with hues of a
    `kind`, or without one by place.
    """
    order = sorted(series, key=lambda name: (-sum(series[name][by]), name))
    shown, others = order[:TOP_SERIES], [series[name] for name in order[TOP_SERIES:]]
    found = [
        {"name": name, "hue": numbers.of(kind, name) if kind else place, **_rounded(series[name])}
        for place, name in enumerate(sorted(shown))
    ]
    if others:
        rest: Series = {of: list(map(sum, zip(*(one[of] for one in others), strict=True))) for of in others[0]}
        found.append({"name": f"{len(others)} others", "hue": OTHERS, **_rounded(rest)})
    return found


def _rounded(series: Series) -> Series:
    return {name: [round(value, 2) for value in values] for name, values in series.items()}


def _ms(value_ns: float) -> float:
    return round(value_ns / 1e6, 4)


def _latency_over_time(rows: Rows) -> dict[str, list[list[float]]]:
    """Per measure [second, p50, p90, p99, p99.9, maximum]."""
    names = ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
    return {
        measure: [[row["start_ns"] / 1e9, *(_ms(row[name]) for name in names)] for row in mine]
        for (measure,), mine in grouped(rows, "measure").items()
    }


def _latency_curve(rows: Rows) -> dict[str, list[list[float]]]:
    """Per measure [how many times rarer than always, milliseconds]: 10 is p90, 100 is p99."""
    found: dict[str, list[list[float]]] = {}
    for (measure,), mine in grouped(rows, "measure").items():
        rarest = 0.5 / sum(row["messages"] for row in mine)
        found[measure] = [[round(1 / max(1 - row["share"], rarest), 4), _ms(row["duration_ns"])] for row in mine]
    return found


def _latency_heat(scale: Scale, rows: Rows) -> dict[str, Any]:
    """Per measure [time bucket, row, messages] and what duration begins each row; the bottom one may be "at once"."""
    found: dict[str, Any] = {}
    for (measure,), mine in sorted(grouped(rows, "measure").items()):
        slow = [row["row"] for row in mine if row["from_ns"] >= NO_TIME_NS]
        quick = [row for row in mine if row["from_ns"] < NO_TIME_NS]
        lowest, highest = (min(slow), max(slow)) if slow else (0, -1)
        first = lowest - 2 if quick and slow else lowest
        cells: Counter[tuple[int, int]] = Counter()
        for row in mine:
            level = row["row"] - first if row["from_ns"] >= NO_TIME_NS else 0
            cells[scale.bucket(row["start_ns"]), level] += row["messages"]
        found[measure] = {
            "cells": [[at, level, messages] for (at, level), messages in sorted(cells.items())],
            "labels": [_ms(10 ** (row / HEAT_STEPS_PER_DECADE)) for row in range(first, highest + 1)] or [0.0],
            "has_zero": bool(quick),
            "at_once_ms": _ms(NO_TIME_NS),
            "row_ratio": 10 ** (1 / HEAT_STEPS_PER_DECADE),
        }
    return found


def _place_name(of: tuple[Any, ...], several_groups: bool) -> str:
    group, topic, partition = of
    place = text.place(topic, partition)
    return f"{text.isolated(group)} · {place}" if several_groups else place


def _lag(scale: Scale, rows: Rows, series: Rows) -> list[dict[str, Any]]:
    by_place = grouped(rows, *PLACE)
    several = len(grouped(series, "group")) > 1
    return [
        {"name": _place_name(place, several), "lag": _dense(scale, by_place.get(place, ()), "lag", None)}
        for place in list(grouped(series, *PLACE))[:LAG_ROWS]
    ]


def _ownership(rows: Rows, unserved: Rows, numbers: Numbering) -> dict[str, Any]:
    """A bar for each time that an owner read; none where it owned a partition that nobody read."""
    by_place, gaps = grouped(rows, *PLACE), grouped(unserved, *PLACE)
    places = sorted(by_place)[:LAG_ROWS]
    clients = sorted({row["client"] for row in rows})
    several = len({place[0] for place in places}) > 1
    return {
        "rows": [_place_name(place, several) for place in places],
        "groups": [place[0] for place in places],
        "clients": clients,
        "hues": [numbers.of("reader", client) for client in clients],
        "spans": [
            [number, from_ns / 1e9, to_ns / 1e9, clients.index(row["client"]), row["generation"]]
            for number, place in enumerate(places)
            for row in by_place[place]
            for from_ns, to_ns in _without(row["from_ns"], row["to_ns"], gaps.get(place, ()))
        ],
    }


def _without(from_ns: int, to_ns: int, gaps: Rows) -> Iterator[tuple[int, int]]:
    """The parts of `from_ns` to `to_ns` that are in none of the `gaps`."""
    for gap in sorted(gaps, key=lambda row: row["from_ns"]):
        if gap["from_ns"] < to_ns and gap["to_ns"] > from_ns:
            if from_ns < gap["from_ns"]:
                yield from_ns, gap["from_ns"]
            from_ns = max(from_ns, gap["to_ns"])
    if from_ns < to_ns:
        yield from_ns, to_ns


def _busy(scale: Scale, rows: Rows, consumers: Rows) -> list[dict[str, Any]]:
    by_client = grouped(rows, "group", "client")
    several = len(grouped(consumers, "group")) > 1
    return [
        {
            "name": f"{text.isolated(group or 'no group')} · {text.isolated(client)}" if several else client,
            "busy": [round(min(share, 1.0), 3) for share in _shares(scale, mine, "busy_ns")],
            "in_hand": [round(value or 0, 2) for value in _dense(scale, mine, "in_hand")],
        }
        for group, client in sorted(grouped(consumers, "group", "client"))[:LAG_ROWS]
        for mine in [by_client.get((group, client), [])]
    ]


def _queues(scale: Scale, rows: Rows, numbers: Numbering) -> list[dict[str, Any]]:
    by_queue = {
        name: {of: [value or 0 for value in _dense(scale, mine, of)] for of in ("waiting", "in_flight")}
        for (name,), mine in grouped(rows, "queue").items()
    }
    return _top(by_queue, "waiting", "flow", numbers)


def _attempts(rows: Rows) -> list[dict[str, Any]]:
    """Outcomes by group and attempt, only of groups that delivered a message again."""
    repeated = {(row["group"], row["topic"]) for row in rows if row["attempt"] > 1}
    kinds = ("acknowledged", "nacked", "released", "lease_expired")
    return [
        {"name": f"{text.isolated(row['group'])}, attempt {row['attempt']}", **{kind: row[kind] for kind in kinds}}
        for row in rows
        if (row["group"], row["topic"]) in repeated
    ][:ATTEMPTS]


def _backpressure(scale: Scale, rows: Rows, numbers: Numbering) -> list[dict[str, Any]]:
    return [
        {
            "name": topic,
            "hue": numbers.of("flow", topic),
            "blocked": [round(share, 4) for share in _shares(scale, mine, "blocked_ns")],
            **{value: _dense(scale, mine, value) for value in ("rejected", "dropped")},
        }
        for (topic,), mine in sorted(grouped(rows, "topic").items())
    ]


def _partitions(rows: Rows) -> list[dict[str, Any]]:
    return [
        {
            "name": topic,
            "partitions": [row["partition"] for row in mine],
            "messages": [row["messages"] for row in mine],
            "share": [round(row["share"], 4) for row in mine],
        }
        for (topic,), mine in grouped(rows, "topic").items()
        if len(mine) > 1
    ]
