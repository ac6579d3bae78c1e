"""What a finding is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]
Rows = Sequence[Row]

BAD, WARN, INFO, GOOD = "bad", "warn", "info", "good"
ORDER = (BAD, WARN, INFO, GOOD)


class Finding(NamedTuple):
    """`level` is bad, warn, info or good; `section` the id of the section that shows it; `time_ns` its moment, if it
    has one.
    """

    level: str
    headline: str
    detail: str
    section: str
    time_ns: int | None = None
