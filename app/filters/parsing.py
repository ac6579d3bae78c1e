"""A filter as it is typed."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.filters import Fields, Filter, FilterError, parse
from widgets.i18n import tr


def parsed(text: str, fields: Fields, tell: Callable[[str], object]) -> Filter | None:
    """`parse`, or None where it cannot be read; `tell` gets the sentence that says why, "" where nothing is wrong."""
    try:
        found = parse(text, fields)
    except FilterError as error:
        tell(error.translated(tr))
        return None
    tell("")
    return found
