from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol, runtime_checkable

from PySide6.QtCore import Qt, SignalInstance


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


@runtime_checkable
class HeldRows(Protocol):
    """A model that can keep rows in their places, and that gives the keys of many rows at once."""

    @property
    def gone(self) -> Set[Hashable]:
        """Keys of rows that are shown only to keep the others in their places; always the same set."""

    @property
    def waiting_changed(self) -> SignalInstance:
        """Emitted with the number of new rows that are kept back."""

    def keys(self, first: int = 0, last: int | None = None) -> list[Hashable]:
        """Keys of the rows shown from `first` to `last`, both included; to the end if it is None."""

    def hold(self, on: bool, *, gone: bool = False) -> None:
        """Keep rows where they are while it is on; `gone` keeps what is no more, too."""

    def let_in(self) -> None:
        """Show what waits."""

    def settle(self) -> None:
        """Show rows that are still being filtered or sorted."""
