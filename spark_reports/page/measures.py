"""The figures that sessions are compared by, as people read them."""

from __future__ import annotations

from resources.measures import MEASURES
from spark_reports.page import text


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
