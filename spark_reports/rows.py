from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Rows = Sequence[Row]
Tables = Mapping[str, Rows]


def is_unread_time_known(tables: Tables) -> bool:
    """Whether it is known for how long nobody read a partition: from outside, what a rebalance stopped is not."""
    return all(row["stopped"] is not None for row in tables["rebalances"])


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """The rows by their values of these columns, in order of appearance."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found
