from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.presenters.filters import parsed
from broker_core.filters import Field, Fields, parse
from broker_core.filters.field import Kind, folded
from widgets.formats import NOT_APPLICABLE, Times, count, plain_text, session_time
from widgets.i18n import tr
from widgets.roles import CellKind, ColumnLook, Role

Row = TypeVar("Row")
Sizing = tuple[int] | tuple[int, int] | tuple[int, int, int]
Index = QModelIndex | QPersistentModelIndex
KeyOf = Callable[[Row], Hashable]
Asked = tuple[Field, Callable[[Row], Any]]  # a field that a filter may ask for, and what answers
WAITING = "…"
KEY_CHARS = 60
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclasses.dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: its title (with the unit), the text of a cell, its width, and what else the delegates ask for.

    `sizing` has the least width in pixels, the share of the space that is left, and whether it may go; `look` says how
    it is drawn (see `ColumnLook`). `sort` gives values of one type, the text if it is None. `live` marks a column that
    changes with the clock alone.

    A filter asks for it as `field`, the title without its unit where that is ""; `kind` says what `value` gives, or
    `sort` if there is no `value`. Without a kind a column of numbers has numbers, and any other its text.
    """

    title: str
    text: Callable[[Row], str]
    sizing: Sizing = (90, 1)
    look: CellKind = "text"
    sort: Callable[[Row], Any] | None = None
    hint: Callable[[Row], str] | None = None
    roles: Mapping[int, Callable[[Row], object]] = dataclasses.field(default_factory=dict)
    about: str = ""
    live: bool = False
    field: str = ""
    kind: Kind | None = None
    value: Callable[[Row], Any] | None = None

    def asked(self) -> Asked[Row]:
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
    title: str, time_ns: Callable[[Row], int | None], times: Times, sizing: Sizing, *, absent: str = "", **more: Any
) -> Column[Row]:
    """A column of session times, with the wall time on hover. `absent` is the text of None, which sorts first."""

    def hint(row: Row) -> str:
        return times.hint(time_ns(row))

    return number_column(title, time_ns, sizing, shown=session_time, absent=absent, hint=hint, kind="time", **more)


def number_column(
    title: str,
    value: Callable[[Row], Any],
    sizing: Sizing,
    *,
    shown: Callable[[Any], str] = count,
    absent: str = NOT_APPLICABLE,
    **more: Any,
) -> Column[Row]:
    """A column of numbers, or None, which sorts first and has the text `absent`; `shown` makes that of a number."""

    def text(row: Row) -> str:
        return absent if (found := value(row)) is None else shown(found)

    def sort(row: Row) -> Any:
        return -math.inf if (found := value(row)) is None else found

    given = {"text": text, "sort": sort, "value": value, **more}
    return Column(title, sizing=sizing, look="number", **given)


def state_column(title: str, word: Callable[[Row], str], sizing: Sizing, **more: Any) -> Column[Row]:
    return Column(title, word, sizing, "state", roles={Role.STATE: word}, **more)


def text_column(title: str, text: Callable[[Row], str], sizing: Sizing, **more: Any) -> Column[Row]:
    """A column of texts that may be cut: they are whole on hover."""
    return Column(title, text, sizing, hint=text, **more)


def key_column(key: Callable[[Row], bytes | None], sizing: Sizing, *, none: str = "", **more: Any) -> Column[Row]:
    """A column of the keys of messages, with their beginning; more of it on hover, and all of it in filters."""

    def text(row: Row) -> str:
        return "" if (found := key(row)) is None else plain_text(found, KEY_CHARS)

    def hint(row: Row) -> str:
        return none if (found := key(row)) is None else plain_text(found, 400)

    given = {"text": text, "hint": hint, "kind": "text", "value": key, **more}
    return Column("Key", sizing=sizing, look="mono", **given)


def facts_of(columns: Iterable[Column[Row]], row: Row, *titles: str) -> tuple[tuple[str, str], ...]:
    """The columns of these titles as the inspector has them: label and text; those without a text are left out."""
    by_title = {column.title: column for column in columns}
    found = ((tr(title), by_title[title].text(row)) for title in titles)
    return tuple(fact for fact in found if fact[1])


class ColumnModel(QAbstractTableModel, Generic[Row]):
    """A table model under declared columns; its rows are a subclass's.

    `more` are fields that a filter may ask for and that are no column, with what answers. `filter_checked(sentence)`
    comes with the error of a filter, or ""; `filter_changed` when others pass than before: those that `filter` takes,
    whose text is "" if it takes all.
    """

    filter_checked = Signal(str)
    filter_changed = Signal()

    def __init__(self, columns: Sequence[Column[Row]], key: KeyOf[Row], more: Sequence[Asked[Row]]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self._key = key
        self._getters: list[dict[int, Callable[[Row], object]]] = [self._getters_of(c) for c in self.columns]
        asked = [column.asked() for column in self.columns] + list(more)
        self.fields = Fields(field for field, _ in asked)
        self.answers: dict[str, Callable[[Row], Any]] = {folded(field.name): get for field, get in asked}
        self.filter = parse("")

    def set_filter(self, text: str) -> None:
        """All pass if the filter cannot be read, and `filter_checked` says why."""
        wanted, problem = parsed(text, self.fields)
        self.filter_checked.emit(problem)
        if wanted.text != self.filter.text:
            self.filter = wanted
            self.filter_changed.emit()

    def _getters_of(self, column: Column[Row]) -> dict[int, Callable[[Row], object]]:
        getters: dict[int, Callable[[Row], object]] = {int(role): get for role, get in column.roles.items()}
        getters[int(Qt.ItemDataRole.DisplayRole)] = column.text
        getters[int(Role.SORT)] = column.sort or column.text
        getters[int(Role.KEY)] = self._key
        if column.hint is not None:
            getters[int(Role.TOOLTIP)] = column.hint
        return getters

    @abstractmethod
    def row_at(self, row: int) -> Row | None:
        """What the row with a number shows; None if it is not here yet."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = index.column()
        getter = self._getters[column].get(role)
        if getter is None:
            if role == Role.NUMERIC:
                return self.columns[column].numeric
            return self.columns[column].alignment if role == Qt.ItemDataRole.TextAlignmentRole else None
        found = self.row_at(index.row())
        if found is None:
            return WAITING if role == Qt.ItemDataRole.DisplayRole else None
        return getter(found)

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
            return ColumnLook(column.look, *column.sizing)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.about) or None
        return column.numeric if role == Role.NUMERIC else None
