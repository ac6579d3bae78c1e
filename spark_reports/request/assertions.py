"""Assertions about a session in the filter language, `p99 < 200 ms`, `lag("billing") < 100`: does it hold?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from broker_core.filters import Field, Fields, Filter, FilterError, parse
from broker_core.filters.field import Kind, called, folded, lacking
from spark_reports.errors import ReportError
from spark_reports.request.parts import PARTS
from spark_reports.rows import Tables
from spark_reports.text import count, duration, rate

MOST: Final = 200
#: Values by what they are asked of; "" is all of it.
Values = Mapping[str, float]


class AssertedFigure(NamedTuple):
    """A figure of a part of the report; `values` are nanoseconds for durations, `of` is what it may be asked of."""

    name: str
    about: str
    part: str
    values: Callable[[Tables], Values]
    of: str = ""
    kind: Kind = "number"


class Verdict(NamedTuple):
    """`found` says what the figures were, or why it cannot hold."""

    assertion: str
    holds: bool
    found: str

    @property
    def sentence(self) -> str:
        """p99 < 200 ms holds: p99 is 120 ms."""
        word = "holds" if self.holds else "does not hold"
        return f"{self.assertion} {word}: {self.found}" + ("" if self.found.endswith("?") else ".")


def _percentile(column: str, measure: str = "delivered") -> Callable[[Tables], Values]:
    def values(tables: Tables) -> Values:
        whole = [row[column] for row in tables["latency"] if row["measure"] == measure]
        found = {"": whole[0]} if whole else {}
        for row in tables["latency_by_group"]:
            if row["measure"] == measure and row[column] is not None:
                found[row["group"]] = max(row[column], found.get(row["group"], 0))
        return found

    return values


def _at_ends(table: str, name: str, value: str, *, last: bool) -> Callable[[Tables], Values]:
    """The highest of the sums at the end of each bucket, or the last of them."""

    def values(tables: Tables) -> Values:
        sums: dict[str, dict[int, int]] = {}
        for row in tables[table]:
            if row[value] is not None:
                series = sums.setdefault(row[name], {})
                series[row["start_ns"]] = series.get(row["start_ns"], 0) + row[value]
        found = {key: series[max(series)] if last else max(series.values()) for key, series in sums.items()}
        return {"": max(found.values(), default=0)} | found

    return values


def _sum(table: str, name: str, *columns: str) -> Callable[[Tables], Values]:
    def values(tables: Tables) -> Values:
        found: dict[str, float] = {"": 0}
        for row in tables[table]:
            count = sum(row[column] or 0 for column in columns)
            found[""] += count
            if name:
                found[row[name]] = found.get(row[name], 0) + count
        return found

    return values


def _total(name: str) -> Callable[[Tables], Values]:
    def values(tables: Tables) -> Values:
        found = [row["recorded"] for row in tables["totals"] if row["name"] == name]
        return {"": found[0]} if found else {}

    return values


def _published(column: str) -> Callable[[Tables], Values]:
    def values(tables: Tables) -> Values:
        found = {row["name"]: row[column] or 0 for row in tables["throughput_series"] if row["dimension"] == "topic"}
        return {"": sum(found.values())} | found

    return values


def _longest_unread(tables: Tables) -> Values:
    if any(row["stopped"] is None for row in tables["rebalances"]):  # nobody knows
        return {}
    found: dict[str, float] = {}
    for row in tables["unserved"]:
        found[row["group"]] = max(found.get(row["group"], 0), row["pause_ns"])
    return {"": max(found.values(), default=0)} | found


def _left(tables: Tables) -> Values:
    found: dict[str, float] = {"": 0}
    for row in tables["dead_letters"]:
        left = (row["dead_lettered"] or 0) - (row["redriven"] or 0)
        found[""] += left
        found[row["group"]] = found.get(row["group"], 0) + left
    return found


def _broken(tables: Tables) -> Values:
    return {"": sum(row["messages"] for row in tables["audit"] if not row["ok"])}


_GROUP, _QUEUE, _TOPIC = "a group or queue", "a queue", "a topic"
_LAG, _WAITING = partial(_at_ends, "lag", "group", "lag"), partial(_at_ends, "queues", "queue", "waiting")
_TURNED_AWAY = _sum("backpressure_series", "topic", "rejected", "dropped", "evicted", "expired")
_BLOCKED = _sum("backpressure", "client", "blocked_ns")
_DONE_P99 = _percentile("p99_ns", "acknowledged")
FIGURES: Final = (
    *(
        AssertedFigure(name, f"{word}, publish to first delivery", "latency", _percentile(column), _GROUP, "duration")
        for name, word, column in (
            *(("p50", "median", "p50_ns"), ("p90", "p90", "p90_ns"), ("p99", "p99", "p99_ns")),
            *(("p999", "p99.9", "p999_ns"), ("max", "longest", "max_ns")),
        )
    ),
    AssertedFigure("acknowledged_p99", "p99, publish to acknowledgement", "latency", _DONE_P99, _GROUP, "duration"),
    AssertedFigure("lag", "greatest lag of a group", "lag", _LAG(last=False), "a group"),
    AssertedFigure("last_lag", "lag at the end", "lag", _LAG(last=True), "a group"),
    AssertedFigure("waiting", "greatest number of messages waiting in a queue", "queues", _WAITING(last=False), _QUEUE),
    AssertedFigure("last_waiting", "messages waiting at the end", "queues", _WAITING(last=True), _QUEUE),
    AssertedFigure("expired_leases", "leases that expired", "queues", _sum("leases", "queue", "expired"), _QUEUE),
    AssertedFigure("published", "messages published", "throughput", _published("messages"), _TOPIC),
    AssertedFigure(
        "published_per_s", "messages published per second", "throughput", _published("messages_per_s"), _TOPIC
    ),
    AssertedFigure("delivered", "deliveries", "throughput", _total("delivered")),
    AssertedFigure("acknowledged", "messages acknowledged", "throughput", _total("acknowledged")),
    AssertedFigure("redelivered", "repeated deliveries", "throughput", _total("redelivered")),
    AssertedFigure(
        "dead_letters", "messages that died", "dead-letters", _sum("dead_letters", "group", "dead_lettered"), _GROUP
    ),
    AssertedFigure("dead_letters_left", "messages in the dead letters at the end", "dead-letters", _left, _GROUP),
    AssertedFigure(
        "turned_away", "messages refused, dropped, evicted or expired", "backpressure", _TURNED_AWAY, _TOPIC
    ),
    AssertedFigure("blocked", "producers' time blocked", "backpressure", _BLOCKED, "a producer", "duration"),
    AssertedFigure("rebalances", "rebalances", "rebalances", lambda tables: {"": len(tables["rebalances"])}),
    AssertedFigure(
        "unread", "longest time that nobody read a partition", "rebalances", _longest_unread, "a group", "duration"
    ),
    AssertedFigure(
        "lost", "messages lost before a reader acknowledged them", "audit", _sum("account", "reader", "lost"), _GROUP
    ),
    AssertedFigure("broken", "messages that broke a rule of the audit", "audit", _broken),
    AssertedFigure("missing", "events missing from the recording", "recording", _sum("recording", "", "missing")),
)
_BY_NAME: Final = {figure.name: figure for figure in FIGURES}
FIELDS: Final = Fields(Field(figure.name, figure.kind, f"{figure.about}.", figure.of) for figure in FIGURES)


def check(assertions: Iterable[str], parts: Collection[str]) -> None:
    """Raises `ReportError` for what cannot be read, and for what is in no part that is asked for."""
    for text in assertions:
        for name in _read(text).fields:
            part = _BY_NAME[name.partition("(")[0]].part
            if part not in parts:
                raise ReportError(f"{text!r} cannot be judged: it needs the part {part}, which was not requested.")


def read_file(path: Path) -> tuple[str, ...]:
    """The assertions of a file, one a line; # begins a comment. Raises `ReportError`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"The assertions in {path} cannot be read: {error}.") from None
    return tuple(text for line in lines if (text := line.strip()) and not text.startswith("#"))


def judge(assertions: Iterable[str], tables: Tables) -> list[Verdict]:
    known = {
        figure.name: figure.values(tables) for figure in FIGURES if tables.keys() >= set(PARTS[figure.part].tables)
    }
    return [_judged(text, known) for text in assertions]


def verdicts_table(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The verdicts as a table of the report; none if nothing was asserted."""
    import pyarrow as pa

    schema = pa.schema([("assertion", pa.string()), ("holds", pa.bool_()), ("found", pa.string())])
    return {"assertions": pa.Table.from_pylist([one._asdict() for one in verdicts], schema)} if verdicts else {}


def _read(text: str) -> Filter:
    try:
        found = parse(text, FIELDS)
    except FilterError as error:
        raise ReportError(f"{text!r} cannot be read: {error}") from None
    if found.takes_all or not found.only_compares:
        raise ReportError(f"{text!r} asserts nothing: compare a figure with a value, such as p99 < 200 ms.")
    return found


def _judged(text: str, known: Mapping[str, Values]) -> Verdict:
    found = _read(text)
    given: dict[str, float | None] = {}
    told = []
    for asked in found.fields:
        name, _, of = asked.partition("(")
        figure, of = _BY_NAME[name], of.removesuffix(")")
        values = known.get(name, {})
        unknown = lacking(of, name, filter(None, values)) if of else None
        if unknown is not None:
            return Verdict(text, False, str(unknown).removesuffix("."))
        given[folded(asked)] = values.get(of)
        told.append(f"{called(name, of) if of else name} is {_words(values.get(of), figure.kind)}")
    holds = found.tester({name: itemgetter(name) for name in given}, lambda _row: "")(given)
    return Verdict(text, holds, ", ".join(told))


def _words(value: float | None, kind: Kind) -> str:
    if value is None or kind == "duration":
        return duration(value)
    return count(value) if value == int(value) else rate(value)
