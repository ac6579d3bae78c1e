"""Assertions about a session in the filter language, `p99 < 200 ms`, `lag("billing") < 100`: does it hold?"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import resources
from broker_core.filters import Field, Fields, Filter, FilterError, parse
from broker_core.filters.field import Kind, called, field_and_argument, folded, lacking
from spark_reports.errors import ReportError
from spark_reports.request.parts import PARTS
from spark_reports.rows import Rows, Tables, is_unread_time_known
from spark_reports.text import count, duration, rate

MAX_ASSERTIONS: Final = 200
_UNKNOWN = math.nan  # so is every sum of it
#: Values by what they are asked of; "" is all of it.
Values = Mapping[str, float]  # `_UNKNOWN` where it is not known


class AssertedFigure(NamedTuple):
    """A row of `resources/report/assertions.toml`, which says what the fields are. Durations are nanoseconds."""

    name: str
    about: str
    part: str
    table: str
    reduce: str
    columns: Sequence[str] = ()
    by: str = ""
    subject: str = ""
    kind: Kind = "number"
    where: Mapping[str, object] | None = None


class AssertionVerdict(NamedTuple):
    """`found` says what the figures were, or why it cannot hold."""

    assertion: str
    holds: bool
    found: str

    @property
    def sentence(self) -> str:
        """p99 < 200 ms holds: p99 is 120 ms."""
        word = "holds" if self.holds else "does not hold"
        return f"{self.assertion} {word}: {self.found}" + ("" if self.found.endswith("?") else ".")


def _rows(figure: AssertedFigure, tables: Tables) -> Rows:
    where = (figure.where or {}).items()
    return [row for row in tables[figure.table] if all(row[column] == value for column, value in where)]


def _sum(figure: AssertedFigure, tables: Tables) -> Values:
    found: dict[str, float] = {"": 0}
    for row in _rows(figure, tables):
        for name in {"", row[figure.by]} if figure.by else ("",):
            values = (_UNKNOWN if row[column] is None else row[column] for column in figure.columns)
            found[name] = found.get(name, 0) + sum(values)
    return found


def _only(figure: AssertedFigure, tables: Tables) -> Values:
    """The figure's value in the only row of its table; empty without rows."""
    rows = _rows(figure, tables)
    return {"": rows[0][figure.columns[0]]} if rows else {}


def _left(figure: AssertedFigure, tables: Tables) -> Values:
    redriven = _sum(figure._replace(columns=("redriven",)), tables)
    return {name: died - redriven[name] for name, died in _sum(figure, tables).items()}


def _max(figure: AssertedFigure, tables: Tables) -> Values:
    found: dict[str, float] = {}
    for row in _rows(figure, tables):
        if (value := row[figure.columns[0]]) is not None:
            found[row[figure.by]] = max(value, found.get(row[figure.by], 0))
    return _with_max(found)


def _percentile(figure: AssertedFigure, tables: Tables) -> Values:
    """A table of its own has those of the whole."""
    of_groups = {name: value for name, value in _max(figure, tables).items() if name}
    return {**_only(figure._replace(table="latency"), tables), **of_groups}


def _at_ends(figure: AssertedFigure, tables: Tables) -> dict[str, dict[int, float]]:
    """By name, the figure's sum at the end of each bucket. Before the last one, what is not known has not begun."""
    sums: dict[str, dict[int, float]] = {}
    rows = _rows(figure, tables)
    last_ns = max((row["start_ns"] for row in rows), default=0)
    for row in rows:
        value = row[figure.columns[0]]
        if value is None and row["start_ns"] == last_ns:
            value = _UNKNOWN
        if value is not None:
            series = sums.setdefault(row[figure.by], {})
            series[row["start_ns"]] = series.get(row["start_ns"], 0) + value
    return sums


def _highest(figure: AssertedFigure, tables: Tables) -> Values:
    return _with_max({name: _greatest(series.values()) for name, series in _at_ends(figure, tables).items()})


def _last(figure: AssertedFigure, tables: Tables) -> Values:
    return _with_max({name: series[max(series)] for name, series in _at_ends(figure, tables).items()})


def _with_max(found: Values) -> Values:
    return {"": _greatest(found.values()), **found}


def _greatest(values: Iterable[float]) -> float:
    """`_UNKNOWN` if one of them is; 0 without any."""
    return max(values, key=lambda value: (math.isnan(value), value), default=0)


_REDUCTIONS: Final[Mapping[str, Callable[[AssertedFigure, Tables], Values]]] = {
    "sum": _sum,
    "count": lambda figure, tables: {"": len(_rows(figure, tables))},
    "only": _only,
    "left": _left,
    "max": _max,
    "percentile": _percentile,
    "longest_unread": lambda figure, tables: _max(figure, tables) if is_unread_time_known(tables) else {},
    "highest": _highest,
    "last": _last,
}
FIGURES: Final = tuple(
    AssertedFigure(name, **row) for name, row in resources.table("report", "assertions.toml").items()
)
_BY_NAME: Final = {figure.name: figure for figure in FIGURES}
FIELDS: Final = Fields(Field(figure.name, figure.kind, f"{figure.about}.", figure.subject) for figure in FIGURES)


def check(assertions: Iterable[str], parts: Collection[str]) -> None:
    """Raises `ReportError` for what cannot be read, and for what is in no part that is asked for."""
    for text in assertions:
        for name in _read(text).fields:
            part = _BY_NAME[field_and_argument(name)[0]].part
            if part not in parts:
                raise ReportError(f"{text!r} cannot be judged: it needs the part {part}, which was not requested.")


def read_file(path: Path) -> tuple[str, ...]:
    """The assertions of a file, one a line; # begins a comment. Raises `ReportError`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"The assertions in {path} cannot be read: {error}.") from None
    return tuple(text for line in lines if (text := line.strip()) and not text.startswith("#"))


def judge(assertions: Iterable[str], tables: Tables) -> list[AssertionVerdict]:
    known = {
        figure.name: _REDUCTIONS[figure.reduce](figure, tables)
        for figure in FIGURES
        if tables.keys() >= set(PARTS[figure.part].tables)
    }
    return [_judged(text, known) for text in assertions]


def verdicts_table(verdicts: Sequence[AssertionVerdict]) -> dict[str, Any]:
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


def _judged(text: str, known: Mapping[str, Values]) -> AssertionVerdict:
    found = _read(text)
    given: dict[str, float | None] = {}
    told = []
    for asked in found.fields:
        name, subject = field_and_argument(asked)
        figure = _BY_NAME[name]
        values = known.get(name, {})
        unknown = lacking(subject, name, filter(None, values)) if subject else None
        if unknown is not None:
            return AssertionVerdict(text, False, str(unknown).removesuffix("."))
        value = values.get(subject)
        value = None if value is not None and math.isnan(value) else value
        given[folded(asked)] = value
        told.append(f"{called(name, subject) if subject else name} is {_words(value, figure.kind)}")
    return AssertionVerdict(text, found.must_match(given), ", ".join(told))


def _words(value: float | None, kind: Kind) -> str:
    if value is None or kind == "duration":
        return duration(value)
    return count(value) if value == int(value) else rate(value)
