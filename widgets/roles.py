from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from PySide6.QtCore import Qt


class Role(IntEnum):
    """A model's data for a cell in addition to Qt's own roles; None if a cell has none.

    `index.data(Role.STATE)` works as it is: the members are plain integers from `Qt.UserRole` on.
    """

    STATE = Qt.ItemDataRole.UserRole + 1
    """str: a state word of `theme_states`, drawn as colour, icon and word."""
    HUE = Qt.ItemDataRole.UserRole + 3
    """int: the owner's index into `Theme.owner_hues`."""
    BADGE = Qt.ItemDataRole.UserRole + 4
    """str: the owner's letter, one or two characters."""
    TREND = Qt.ItemDataRole.UserRole + 5
    """str: "rising", "falling" or "steady"."""
    COUNTDOWN = Qt.ItemDataRole.UserRole + 6
    """float 0..1: the share of a lease that is left."""
    SORT = Qt.ItemDataRole.UserRole + 7
    """int, float or str: what the column sorts by; a column keeps to one type."""
    TOOLTIP = Qt.ItemDataRole.UserRole + 8
    """str: plain text for the tool tip; the view escapes it."""
    KEY = Qt.ItemDataRole.UserRole + 9
    """str or tuple: the identity of the row, the same for as long as it lives."""
    OWNED_TIMES = Qt.ItemDataRole.UserRole + 10
    """tuple of `OwnedTime`: who owned a partition, from the first to the last."""
    NUMERIC = Qt.ItemDataRole.UserRole + 12
    """bool: digits, set flush right in the fixed-width face."""
    WARN = Qt.ItemDataRole.UserRole + 13
    """str: a colour token of `Theme` for the text of the cell, "" for the usual one."""
    WHY_DISABLED = Qt.ItemDataRole.UserRole + 14
    """str: why the row cannot be acted on, "" where it can."""
    LOOK = Qt.ItemDataRole.UserRole + 15
    """`ColumnLook`, of a header: how its column is drawn."""


CellKind = Literal["text", "mono", "place", "number", "chip", "state", "countdown", "owners"]


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """How a column is drawn, its least width in pixels, its share of the space that is left, and whether it may go.

    A "place" that is cut keeps its end, where the offset is. Where the least widths do not fit, columns with the
    highest `spare` are hidden first; 0 stays.
    """

    kind: CellKind = "text"
    width: int = 90
    stretch: int = 1
    spare: int = 0
