"""What the plots draw, as plain JSON: times in seconds, durations in milliseconds, one number per time bucket."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from spark_reports.page import text
from spark_reports.rows import Row, Rows
from spark_reports.scale import Scale


class Numbering:
    """Numbers of flows (topics, queues and groups) and of readers; names without a number get the next ones."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """`rows` of the table `hues`."""
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for row in rows:
            self._numbers[row["kind"]][row["name"]] = row["number"]

    def flow(self, name: str) -> int:
        return self._of("flow", name)

    def reader(self, name: str) -> int:
        return self._of("reader", name)

    def _of(self, kind: str, name: str) -> int:
        known = self._numbers[kind]
        return known.setdefault(name, len(known))


OTHERS = -1  # in place of a hue
TOP_SERIES = 10  # lines that an eye can tell apart; the rest is drawn as one
LAG_ROWS = 60
NO_TIME_NS = 1_000  # shorter than this is "at once" on the heat map
HEAT_STEPS_PER_DECADE = 8


def chart_data(made: Mapping[str, Rows], scale: Scale) -> dict[str, Any]:
    """Everything that the page's script draws; nothing for tables that were not made."""
    tables = defaultdict[str, Rows](tuple, made)
    numbers = Numbering(tables["hues"])
    return {
        "width_s": scale.width_ns / 1e9,
        "buckets": scale.buckets,
        "from_s": scale.from_ns / 1e9,
        "to_s": scale.to_ns / 1e9,
        "rebalances": [_band(row) for row in tables["rebalances"]],
        "markers": [
            {
                "at": row["time_ns"] / 1e9,
                "kind": row["kind"],
                "text": " ".join(filter(None, (row["client"], row["cause"]))),
            }
            for row in tables["markers"]
            if row["kind"] in {"fault", "user_action", "damage", "gap", "alert_raised"}
        ][:60],
        "overview": _overview(scale, tables),
        "throughput": {
            dimension: _throughput(scale, tables["throughput"], tables["throughput_series"], dimension, numbers)
            for dimension in ("topic", "partition", "producer", "consumer")
        },
        "latency_over_time": _latency_over_time(tables["latency_over_time"]),
        "latency_curve": _latency_curve(tables["latency_curve"]),
        "latency_heat": _latency_heat(scale, tables["latency_heat"]),
        "lag": _lag(scale, tables["lag"], tables["lag_series"]),
        "ownership": _ownership(tables["ownership"], numbers),
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
            for row in tables["dead_letters"][:12]
        ],
        "backpressure": _backpressure(scale, tables["backpressure_over_time"], numbers),
        "partitions": _partitions(tables["partitions"]),
    }


def _overview(scale: Scale, tables: Mapping[str, Rows]) -> dict[str, Any]:
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


def _band(row: Row) -> dict[str, Any]:
    return {
        "from": row["started_ns"] / 1e9,
        "to": row["ended_ns"] / 1e9,
        "group": row["group"],
        "cause": row["cause"],
        "stopped": row["stopped"],
    }


def _name(row: Row) -> str:
    if row["dimension"] in {"topic", "producer"}:
        return str(row["name"])
    return text.place(row["topic"], row["name"]) if row["dimension"] == "partition" else f"{row['name']}"


def _throughput(scale: Scale, rows: Rows, series: Rows, dimension: str, numbers: Numbering) -> list[dict[str, Any]]:
    """The busiest series, and the sum of the others. A client on several topics is one series."""
    messages: dict[str, list[float]] = {}
    sizes: dict[str, list[float]] = {}
    for row in rows:
        if row["dimension"] == dimension:
            name, at = _name(row), scale.bucket(row["start_ns"])
            messages.setdefault(name, [0.0] * scale.buckets)[at] += row["messages_per_s"] or 0
            sizes.setdefault(name, [0.0] * scale.buckets)[at] += row["bytes_per_s"] or 0
    order = sorted(messages, key=lambda name: -sum(messages[name]))
    shown, others = order[:TOP_SERIES], order[TOP_SERIES:]
    number_of = {"topic": numbers.flow, "consumer": numbers.reader}.get(dimension)
    found = [
        {
            "name": name,
            "hue": place if number_of is None else number_of(name),
            "messages": _rounded(messages[name]),
            "bytes": _rounded(sizes[name]),
        }
        for place, name in enumerate(sorted(shown))
    ]
    if others:
        found.append(
            {
                "name": f"{len(others)} others",
                "hue": OTHERS,
                "messages": _rounded(map(sum, zip(*(messages[name] for name in others), strict=True))),
                "bytes": _rounded(map(sum, zip(*(sizes[name] for name in others), strict=True))),
            }
        )
    return found


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 2) for value in values]


def _ms(value_ns: float) -> float:
    return round(value_ns / 1e6, 4)


def _latency_over_time(rows: Rows) -> dict[str, list[list[float]]]:
    found: dict[str, list[list[float]]] = {}
    for row in rows:
        line = [
            row["start_ns"] / 1e9,
            *(_ms(row[name]) for name in ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")),
        ]
        found.setdefault(row["measure"], []).append(line)
    return found


def _latency_curve(rows: Rows) -> dict[str, list[list[float]]]:
    """[how many times rarer than always, milliseconds]: 10 is p90, 100 is p99."""
    found: dict[str, list[list[float]]] = {}
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["measure"]] = totals.get(row["measure"], 0) + row["messages"]
    for row in rows:
        left = max(1 - row["share"], 0.5 / totals[row["measure"]])
        found.setdefault(row["measure"], []).append([round(1 / left, 4), _ms(row["duration_ns"])])
    return found


def _latency_heat(scale: Scale, rows: Rows) -> dict[str, Any]:
    """Per measure [time bucket, row, messages] and the duration that begins each row; the bottom one is for less than 1
    µs.
    """
    found: dict[str, Any] = {}
    for measure in sorted({row["measure"] for row in rows}):
        mine = [row for row in rows if row["measure"] == measure]
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
        }
    return found


def _place_name(group: str, topic: str, partition: int, several_groups: bool) -> str:
    place = text.place(topic, partition)
    return f"{text.isolated(group)} · {place}" if several_groups else place


def _lag(scale: Scale, rows: Rows, series: Rows) -> list[dict[str, Any]]:
    by_place: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        by_place.setdefault((row["group"], row["topic"], row["partition"]), []).append(row)
    found = []
    several = len({row["group"] for row in series}) > 1
    for row in series[:LAG_ROWS]:
        place = (row["group"], row["topic"], row["partition"])
        name = _place_name(*place, several)
        found.append({"name": name, "lag": _dense(scale, by_place.get(place, ()), "lag", None)})
    return found


def _ownership(rows: Rows, numbers: Numbering) -> dict[str, Any]:
    places = sorted({(row["group"], row["topic"], row["partition"]) for row in rows})[:LAG_ROWS]
    at = {place: index for index, place in enumerate(places)}
    clients = sorted({row["client"] for row in rows})
    several = len({place[0] for place in places}) > 1
    return {
        "rows": [_place_name(*place, several) for place in places],
        "groups": [place[0] for place in places],
        "clients": clients,
        "hues": [numbers.reader(client) for client in clients],
        "spans": [
            [at[place], row["from_ns"] / 1e9, row["to_ns"] / 1e9, clients.index(row["client"]), row["generation"]]
            for row in rows
            if (place := (row["group"], row["topic"], row["partition"])) in at
        ],
    }


def _busy(scale: Scale, rows: Rows, consumers: Rows) -> list[dict[str, Any]]:
    """The consumers by group, each with its busy share and what it had in hand, bucket by bucket."""
    by_client: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_client.setdefault((row["group"], row["client"]), []).append(row)
    several = len({row["group"] for row in consumers}) > 1
    found = []
    for row in sorted(consumers, key=lambda row: (row["group"], row["client"]))[:LAG_ROWS]:
        mine = by_client.get((row["group"], row["client"]), [])
        busy = _dense(scale, mine, "busy_ns")
        found.append(
            {
                "name": f"{text.isolated(row['group'] or 'no group')} · {text.isolated(row['client'])}"
                if several
                else row["client"],
                "busy": [round(min((value or 0) / scale.width_ns, 1.0), 3) for value in busy],
                "in_hand": [round(value or 0, 2) for value in _dense(scale, mine, "in_hand")],
            }
        )
    return found


def _queues(scale: Scale, rows: Rows, numbers: Numbering) -> list[dict[str, Any]]:
    names = sorted({row["queue"] for row in rows})[:TOP_SERIES]
    found = []
    for name in names:
        mine = [row for row in rows if row["queue"] == name]
        found.append(
            {
                "name": name,
                "hue": numbers.flow(name),
                "waiting": _dense(scale, mine, "waiting"),
                "in_flight": _dense(scale, mine, "in_flight"),
            }
        )
    return found


def _attempts(rows: Rows) -> list[dict[str, Any]]:
    """Only groups that ever delivered again; others have nothing to show."""
    repeated = {(row["group"], row["topic"]) for row in rows if row["attempt"] > 1}
    kinds = ("acknowledged", "nacked", "released", "lease_expired")
    return [
        {"name": f"{text.isolated(row['group'])}, attempt {row['attempt']}", **{kind: row[kind] for kind in kinds}}
        for row in rows
        if (row["group"], row["topic"]) in repeated
    ][:40]


def _backpressure(scale: Scale, rows: Rows, numbers: Numbering) -> list[dict[str, Any]]:
    found = []
    for topic in sorted({row["topic"] for row in rows}):
        mine = [row for row in rows if row["topic"] == topic]
        blocked = _dense(scale, mine, "blocked_ns")
        found.append(
            {
                "name": topic,
                "hue": numbers.flow(topic),
                "blocked": [round((value or 0) / scale.width_ns, 4) for value in blocked],
                "rejected": _dense(scale, mine, "rejected"),
                "dropped": _dense(scale, mine, "dropped"),
            }
        )
    return found


def _partitions(rows: Rows) -> list[dict[str, Any]]:
    topics: dict[str, list[Row]] = {}
    for row in rows:
        topics.setdefault(row["topic"], []).append(row)
    return [
        {
            "name": topic,
            "partitions": [row["partition"] for row in mine],
            "messages": [row["messages"] for row in mine],
            "share": [round(row["share"], 4) for row in mine],
        }
        for topic, mine in topics.items()
        if len(mine) > 1
    ]
