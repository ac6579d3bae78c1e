from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from broker_core.filters import Field, Fields
from broker_core.filters.field import Kind, folded
from widgets.formats import Times, count, session_time
from widgets.i18n import tr
from widgets.roles import CellKind, ColumnLook, Role

Row = TypeVar("Row")
Place = tuple[int] | tuple[int, int] | tuple[int, int, int]
Index = QModelIndex | QPersistentModelIndex
WAITING = "…"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: its title (with the unit), the text of a cell, its place in a table, and what else the delegates ask
    for.

    `place` has the least width in pixels, the share of the space that is left, and whether it may go; `look` says how
    it is drawn (see `ColumnLook`). `sort` gives values of one type, the text if it is None. `live` marks a column that
    changes with the clock alone.

    A filter asks for it as `field`, the title without its unit where that is ""; `kind` says what `value` gives, or
    `sort` if there is no `value`. Without a kind a column of numbers has numbers, and any other its text.
    """

    title: str
    text: Callable[[Row], str]
    place: Place = (90, 1)
    look: CellKind = "text"
    sort: Callable[[Row], Any] | None = None
    hint: Callable[[Row], str] | None = None
    roles: Mapping[int, Callable[[Row], object]] = field(default_factory=dict)
    about: str = ""
    live: bool = False
    field: str = ""
    kind: Kind | None = None
    value: Callable[[Row], Any] | None = None

    def asked(self) -> tuple[Field, Callable[[Row], Any]]:
        """The column's filter field, and the function that reads its value."""
        name = folded(self.field or self.title.partition("(")[0].strip())
        kind = self.kind or ("number" if self.numeric and self.sort is not None else "text")
        plain = self.text if kind == "text" else self.sort or self.text
        return Field(name, kind, self.about), self.value or plain

    @property
    def numeric(self) -> bool:
        return self.look in {"number", "countdown"}

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        return _RIGHT if self.numeric else _LEFT


def time_column(
    title: str, time_ns: Callable[[Row], int | None], times: Times, place: Place, *, absent: str = "", **more: Any
) -> Column[Row]:
    """A column of session times, with the wall time on hover. `absent` is the text of None, which sorts first."""

    def text(row: Row) -> str:
        return absent if (at := time_ns(row)) is None else session_time(at)

    def hint(row: Row) -> str:
        return times.hint(time_ns(row))

    return number_column(title, time_ns, place, text=text, hint=hint, kind="time", **more)


def number_column(
    title: str, value: Callable[[Row], Any], place: Place, *, shown: Callable[[Any], str] = count, **more: Any
) -> Column[Row]:
    """A column of numbers, or None, which sorts first; `shown` makes a text of either."""

    def text(row: Row) -> str:
        return shown(value(row))

    def sort(row: Row) -> Any:
        return -1 if (found := value(row)) is None else found

    given = {"text": text, "sort": sort, "value": value, **more}
    return Column(title, place=place, look="number", **given)


def state_column(title: str, word: Callable[[Row], str], place: Place, **more: Any) -> Column[Row]:
    return Column(title, word, place, "state", roles={Role.STATE: word}, **more)


def facts_of(columns: Iterable[Column[Row]], row: Row, *titles: str) -> tuple[tuple[str, str], ...]:
    """The columns of these titles as the inspector has them: label and text; those without a text are left out."""
    by_title = {column.title: column for column in columns}
    found = ((tr(title), by_title[title].text(row)) for title in titles)
    return tuple(fact for fact in found if fact[1])


class ColumnModel(QAbstractTableModel, Generic[Row]):
    """A table model under declared columns; its rows are a subclass's.

    `more` are fields that a filter may ask for and that are no column, with what answers.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        more: Sequence[tuple[Field, Callable[[Row], Any]]],
    ) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self._key = key
        self._getters: list[dict[int, Callable[[Row], object]]] = [self._getters_of(c) for c in self.columns]
        asked = [column.asked() for column in self.columns] + list(more)
        self.fields = Fields(field for field, _ in asked)
        self.answers: dict[str, Callable[[Row], Any]] = {folded(field.name): get for field, get in asked}

    def _getters_of(self, column: Column[Row]) -> dict[int, Callable[[Row], object]]:
        getters: dict[int, Callable[[Row], object]] = {int(role): get for role, get in column.roles.items()}
        getters[int(Qt.ItemDataRole.DisplayRole)] = column.text
        getters[int(Role.SORT)] = column.sort or column.text
        getters[int(Role.KEY)] = self._key
        if column.hint is not None:
            getters[int(Role.TOOLTIP)] = column.hint
        return getters

    @abstractmethod
    def row_at(self, place: int) -> Row | None:
        """The row that is shown at a place; None if it is not here yet."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        place = index.column()
        getter = self._getters[place].get(role)
        if getter is None:
            if role == Role.NUMERIC:
                return self.columns[place].numeric
            return self.columns[place].alignment if role == Qt.ItemDataRole.TextAlignmentRole else None
        row = self.row_at(index.row())
        if row is None:
            return WAITING if role == Qt.ItemDataRole.DisplayRole else None
        return getter(row)

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
        if role == Role.LOOK:
            return ColumnLook(column.look, *column.place)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.about) or None
        return column.numeric if role == Role.NUMERIC else None
