"""Values over the moments of a session, as little text as they can be: each leaf of a tree has its changes alone, and
each value stands once.
"""

from __future__ import annotations

from array import array
from typing import Any

from widgets.bytes_text import contained

_ABSENT = object()
_HOLDERS = (dict, list, tuple)
LENGTH = "*"  # the name of the leaf that has how many items a list has


class LeafColumn:
    """A leaf: `moments` and `values` are differences to the one before; `values` are indexes into `Columns.values`.

    In the file: two lists, each by its number among all lists, for many columns change at the same moments alike.
    """

    __slots__ = ("_moment", "moments", "value", "values")

    def __init__(self) -> None:
        self.value = self._moment = 0  # the last ones
        self.moments, self.values = array("q"), array("q")

    def add(self, moment: int, value: int) -> None:
        self.moments.append(moment - self._moment)
        self.values.append(value - self.value)
        self._moment, self.value = moment, value


class Columns:
    """Trees of dicts, lists, texts, numbers, booleans and None, one a moment, in order.

    A leaf that is not there at a moment has value 0. Direction marks and control characters of texts are escaped.
    """

    def __init__(self) -> None:
        self.values: list[Any] = [None]
        self._numbers: dict[tuple[type, Any], int] = {}
        self._root: dict[str, Any] = {}
        self._last: Any = {}
        self._moment = 0

    def add(self, tree: dict[str, Any]) -> None:
        self._walk(self._root, self._last, tree)
        self._last = tree
        self._moment += 1

    def plain(self) -> dict[str, Any]:
        """The columns as JSON values: the values, the lists, and the tree with a column at each leaf."""
        lists: dict[tuple[int, ...], int] = {}
        root = _plain(self._root, lists)
        return {"values": self.values, "lists": list(lists), "root": root, "moments": self._moment}

    def _walk(self, node: dict[str, Any], old: Any, new: Any) -> None:
        if type(old) is type(new) is list and len(old) == len(new):
            for at, value in enumerate(new):
                if old[at] is not value:
                    self._put(node, str(at), old[at], value)
            return
        before, now = _items(old), _items(new)
        for name, value in now.items():
            last = before.get(name, _ABSENT)
            if last is not value:
                self._put(node, name, last, value)
        if before.keys() != now.keys():
            for name in before.keys() - now.keys():
                self._gone(node[name])

    def _put(self, node: dict[str, Any], name: str, last: Any, value: Any) -> None:
        if type(last) is type(value) and last == value:
            return
        if isinstance(value, _HOLDERS):
            child = node.setdefault(name, {})
            assert type(child) is dict, f"{name} is a value at one moment, and holds others at another"
            self._walk(child, last if isinstance(last, _HOLDERS) else {}, value)
        else:
            self._leaf(node, name, value)

    def _leaf(self, node: dict[str, Any], name: str, value: Any) -> None:
        column = node.get(name)
        if column is None:
            column = node[name] = LeafColumn()
        assert type(column) is LeafColumn, f"{name} is a value at one moment, and holds others at another"
        number = self._numbers.setdefault((type(value), value), len(self.values))
        if number == len(self.values):
            self.values.append(contained(value) if isinstance(value, str) else value)
        column.add(self._moment, number)

    def _gone(self, node: dict[str, Any] | LeafColumn) -> None:
        if isinstance(node, LeafColumn):
            if node.value:
                node.add(self._moment, 0)
            return
        for child in node.values():
            self._gone(child)


def _items(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    # An empty list is there, too: it has a length.
    return {LENGTH: len(value), **{str(at): item for at, item in enumerate(value)}}


def _plain(node: dict[str, Any], lists: dict[tuple[int, ...], int]) -> dict[str, Any]:
    def numbered(column: LeafColumn) -> list[int]:
        return [lists.setdefault(tuple(each), len(lists)) for each in (column.moments, column.values)]

    return {
        name: numbered(child) if isinstance(child, LeafColumn) else _plain(child, lists) for name, child in node.items()
    }
