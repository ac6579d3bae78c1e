"""Values over the moments of a session, as little text as they can be: each leaf of a tree has its changes alone.

A text is taken apart into a template and its numbers, so "1,204 messages" that becomes "1,205 messages" costs one small
number. Nothing is rounded: the texts come out as they went in.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from widgets.bytes_text import contained

# What stands for a number in a template, by how it is written: plain, with commas, with leading zeros to n digits.
PLAIN, COMMAS, PADDED = "\x01", "\x02", "\x0e"
# What a template that is no text begins with: a number, and what JSON has a word for.
NUMBER, WORD = "\x05", "\x06"
_MOST_PADDED = 9
_MOST_KEPT = 50_000
_ABSENT = object()
_HOLDERS = (dict, list, tuple)
LENGTH = "*"  # the name of the leaf that has how many items a list has
_DIGITS = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])|\d+", re.ASCII)
_MOST_DIGITS = 15  # that a number of JavaScript has for certain


class LeafColumn:
    """A leaf: at which moments it changed, to which template, and to which numbers; differences all.

    In the file: three lists, each by its number among all lists, for many columns change at the same moments alike.
    """

    __slots__ = ("_moment", "_numbers", "moments", "numbers", "template", "templates")

    def __init__(self) -> None:
        self.template = 0  # the last one
        self.moments, self.templates, self.numbers = array("q"), array("q"), array("q")
        self._moment = 0
        self._numbers: dict[int, tuple[int, ...]] = {}

    def add(self, moment: int, template: int, numbers: tuple[int, ...]) -> None:
        self.moments.append(moment - self._moment)
        self.templates.append(template - self.template)
        before = self._numbers.get(template)
        self.numbers.extend([new - old for new, old in zip(numbers, before, strict=True)] if before else numbers)
        self._moment, self.template, self._numbers[template] = moment, template, numbers


class Columns:
    """Trees of dicts, lists, texts, numbers, booleans and None, one a moment, in order.

    A leaf that is not there at a moment has template 0. Direction marks and control characters of texts are escaped.
    """

    def __init__(self) -> None:
        self.templates: list[str] = [""]
        self._numbers: dict[str, int] = {}
        self._split: dict[Any, tuple[int, tuple[int, ...]]] = {}
        self._root: dict[str, Any] = {}
        self._last: Any = {}
        self._moment = 0

    def add(self, tree: dict[str, Any]) -> None:
        self._walk(self._root, self._last, tree)
        self._last = tree
        self._moment += 1

    def plain(self) -> dict[str, Any]:
        """As JSON has it: the templates, the lists, and the tree with a column at each leaf."""
        lists: dict[tuple[int, ...], int] = {}
        root = _plain(self._root, lists)
        return {"templates": self.templates, "lists": list(lists), "root": root, "moments": self._moment}

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
            self._walk(child, last if isinstance(last, _HOLDERS) else (), value)
        else:
            self._leaf(node, name, value)

    def _leaf(self, node: dict[str, Any], name: str, value: Any) -> None:
        column = node.get(name)
        if column is None:
            column = node[name] = LeafColumn()
        assert type(column) is LeafColumn, f"{name} is a value at one moment, and holds others at another"
        key = (type(value), value)
        found = self._split.get(key)
        if found is None:
            if len(self._split) == _MOST_KEPT:
                self._split.clear()  # most texts with a time in them come once
            found = self._split[key] = self._taken_apart(value)
        column.add(self._moment, *found)

    def _gone(self, node: dict[str, Any] | LeafColumn) -> None:
        if isinstance(node, LeafColumn):
            if node.template:
                node.add(self._moment, 0, ())
            return
        for child in node.values():
            self._gone(child)

    def _taken_apart(self, value: Any) -> tuple[int, tuple[int, ...]]:
        if isinstance(value, bool) or value is None:
            return self._number({True: "true", False: "false", None: "null"}[value], WORD), ()
        if isinstance(value, int | float):
            return self._with_holes(repr(value), NUMBER)
        return self._with_holes(contained(value), "")

    def _with_holes(self, text: str, head: str) -> tuple[int, tuple[int, ...]]:
        numbers: list[int] = []

        def hole(found: re.Match[str]) -> str:
            digits = found[0]
            if "," in digits:
                if digits[0] == "0" or len(digits) > _MOST_DIGITS:
                    return digits
                numbers.append(int(digits.replace(",", "")))
                return COMMAS
            if len(digits) > _MOST_DIGITS:
                return digits
            is_padded = digits[0] == "0" and len(digits) > 1
            if is_padded and len(digits) > _MOST_PADDED:
                return digits
            numbers.append(int(digits))
            return chr(ord(PADDED) + len(digits)) if is_padded else PLAIN

        template = _DIGITS.sub(hole, text)
        return self._number(template, head), tuple(numbers)

    def _number(self, template: str, head: str) -> int:
        whole = head + template
        found = self._numbers.get(whole)
        if found is None:
            self.templates.append(whole)
            found = self._numbers[whole] = len(self.templates) - 1
        return found


def _items(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    named = {str(at): item for at, item in enumerate(value)}
    # An empty list is there, too: it has a length.
    return {LENGTH: len(value), **named} if value or isinstance(value, list) else named


def _plain(node: dict[str, Any], lists: dict[tuple[int, ...], int]) -> dict[str, Any]:
    def numbered(column: LeafColumn) -> list[int]:
        three = (column.moments, column.templates, column.numbers)
        return [lists.setdefault(tuple(each), len(lists)) for each in three]

    return {
        name: numbered(child) if isinstance(child, LeafColumn) else _plain(child, lists) for name, child in node.items()
    }
