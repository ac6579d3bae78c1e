"""A model as a panel may be given one, made of texts alone: no broker behind it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel

from widgets.roles import CellKind, ColumnLook, Role

KINDS: tuple[CellKind, ...] = ("text", "chip", "place", "state", "number", "mono", "countdown")


def columns_of(count: int, rows: int = 0, text: str = "text", **roles: Any) -> QStandardItemModel:
    """A model of so many columns, drawn in every way, with the same text in every cell."""
    kinds = [KINDS[at % len(KINDS)] for at in range(count)]
    model = table_of(kinds, [(number, [text] * count) for number in range(rows)], **roles)
    for at, kind in enumerate(kinds):
        model.setHeaderData(at, Qt.Orientation.Horizontal, ColumnLook(kind, 80, 1), Role.LOOK)
    return model


def table_of(titles: Sequence[str], rows: Sequence[tuple[Hashable, Sequence[str]]], **roles: Any) -> QStandardItemModel:
    """A model with these titles and rows of (key, texts); `roles` maps a role's name to a value for all cells."""
    model = QStandardItemModel()
    model.setHorizontalHeaderLabels(list(titles))
    for key, texts in rows:
        items = []
        for text in texts:
            item = QStandardItem(text)
            item.setData(key, Role.KEY)
            for name, value in roles.items():
                item.setData(value, Role[name])
            items.append(item)
        model.appendRow(items)
    return model


def titles_of(model: QStandardItemModel) -> list[str]:
    """The titles of a model's columns."""
    return [str(model.headerData(place, Qt.Orientation.Horizontal)) for place in range(model.columnCount())]
