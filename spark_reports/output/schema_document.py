"""Every table that a report writes: what its rows are, and of each column the unit and the meaning.

It is written beside the tables as `schema.md`, and into each field of a Parquet file as `unit` and `meaning`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import resources
from resources.account import STATES

if TYPE_CHECKING:
    import pyarrow as pa

MOMENT: Final = "ns of session time"
AT: Final = "_at"  # ends the name of a column that has a moment as time of day


class Meaning(NamedTuple):
    """`unit` is "" for names and words."""

    unit: str
    words: str


_FOUND = resources.table("report", "tables.toml")


def _meaning(found: str | list[str]) -> Meaning:
    return Meaning("", found) if isinstance(found, str) else Meaning(*found)


#: What a row is.
ROWS: Final[dict[str, str]] = _FOUND["rows"]
#: By the name of a column, unless overridden in a table.
COLUMNS: Final = {column: _meaning(found) for column, found in _FOUND["columns"].items()}
ELSEWHERE: Final = {("account", name): Meaning("messages", state.about) for name, state in STATES.items()} | {
    (table, column): _meaning(found)
    for table, columns in _FOUND["elsewhere"].items()
    for column, found in columns.items()
}


def meaning(table: str, column: str) -> Meaning:
    """The meaning of a column. Raises KeyError if there is none."""
    if column.endswith(AT) and column not in COLUMNS:
        of = meaning(table, f"{column.removesuffix(AT)}_ns")
        return Meaning("time of day, UTC", f"{of.words}, on the clock: the beginning of the recording and session time")
    return ELSEWHERE.get((table, column)) or COLUMNS[column]


def moments(table: str, columns: Iterable[str]) -> list[str]:
    return [name for name in columns if name.endswith("_ns") and meaning(table, name).unit == MOMENT]


def described(table: pa.Table, name: str) -> pa.Table:
    import pyarrow as pa

    fields = []
    for field in table.schema:
        unit, words = meaning(name, field.name)
        fields.append(field.with_metadata({"unit": unit, "meaning": words}))
    return table.cast(pa.schema(fields, {"rows": ROWS[name]}))


def document(tables: Mapping[str, pa.Table]) -> str:
    """Markdown: each table with what its rows are, and each of its columns with type, unit and meaning."""
    parts = [
        "# The tables of this report",
        "",
        'In CSV, nothing between two commas is null, and `""` an empty text (DuckDB: `allow_quoted_nulls = false`). '
        f"Session time begins with 0; a column that ends in `{AT}` is the same moment as time of day in UTC: the "
        "beginning of the recording and session time. In virtual time that is what a clock would have shown. In "
        "Parquet every field has unit and meaning as metadata.",
    ]
    for name, table in sorted(tables.items()):
        parts += ["", f"## {name}", "", ROWS[name], "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        for field in table.schema:
            unit, words = meaning(name, field.name)
            parts.append(f"| {field.name} | {field.type} | {unit} | {words} |")
    return "\n".join(parts) + "\n"
