"""Declared columns: what a table shows of its rows, and what a filter may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from broker_core.filters import Field, Fields
from broker_core.filters.field import Kind, folded
from widgets.formats import Times, session_time
from widgets.i18n import tr
from widgets.roles import Role

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: its title (with the unit), the text of a cell, and what else the delegates ask for.

    `sort` gives values of one type, the text where it is None. `live` marks a column that changes with the clock alone.

    A filter asks for it as `field`, the title without its unit where that is ""; `kind` says what `value` gives, or
    `sort` where there is no `value`. Without a kind a column of numbers has numbers, and any other its text.
    """

    title: str
    text: Callable[[Row], str]
    sort: Callable[[Row], Any] | None = None
    numeric: bool = False
    hint: Callable[[Row], str] | None = None
    roles: Mapping[int, Callable[[Row], object]] = field(default_factory=dict)
    about: str = ""
    live: bool = False
    field: str = ""
    kind: Kind | None = None
    value: Callable[[Row], Any] | None = None

    def asked(self) -> tuple[Field, Callable[[Row], Any]]:
        """What a filter may ask of the column, and what answers."""
        name = folded(self.field or self.title.partition("(")[0].strip())
        kind = self.kind or ("number" if self.numeric and self.sort is not None else "text")
        plain = self.text if kind == "text" else self.sort or self.text
        return Field(name, kind, self.about), self.value or plain

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        """Of its title and its cells: numbers stand at the right."""
        return _RIGHT if self.numeric else _LEFT


def time_column(
    title: str,
    time_ns: Callable[[Row], int | None],
    times: Times,
    *,
    field: str = "",
    about: str = "",
    absent: str = "",
) -> Column[Row]:
    """A column of session times, with the wall time on hover. `absent` is the text of None, which sorts first."""

    def text(row: Row) -> str:
        return absent if (at := time_ns(row)) is None else session_time(at)

    def sort(row: Row) -> int:
        return -1 if (at := time_ns(row)) is None else at

    def hint(row: Row) -> str:
        return times.hint(time_ns(row))

    return Column(title, text, sort, True, hint, about=about, field=field, kind="time", value=time_ns)


class ColumnModel(QAbstractTableModel, Generic[Row]):
    """A table model under declared columns; its rows are a subclass's.

    `more` are fields that a filter may ask for and that are no column, with what answers.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        more: Sequence[tuple[Field, Callable[[Row], Any]]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        asked = [column.asked() for column in self.columns] + list(more)
        self.fields = Fields(field for field, _ in asked)
        self.answers: dict[str, Callable[[Row], Any]] = {folded(field.name): get for field, get in asked}

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(column.title)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return column.alignment
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.about) or None
        return column.numeric if role == Role.NUMERIC else None
