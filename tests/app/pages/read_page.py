"""Reads a session's page as its script does, in Python: what is in the file, moment by moment."""

from __future__ import annotations

import base64
import json
import re
import zlib
from bisect import bisect_right
from typing import Any

GONE: Any = object()  # what is not there at a moment


class Page:
    """A page's text, its data, and the tree of each moment."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.data: dict[str, Any] = json.loads(packed(text, "data"))
        columns = self.data["columns"]
        self._values, self._lists, self._root = columns["values"], columns["lists"], columns["root"]
        self.moments_ms: list[float] = self.data["moments_ms"]

    def at(self, time_ms: float) -> dict[str, Any]:
        """Everything of the moment that is shown at a time."""
        return self.moment(bisect_right(self.moments_ms, time_ms) - 1)

    def moment(self, moment: int) -> dict[str, Any]:
        """Everything of a moment, by its number."""
        found = tree(self._root, moment, self._values, self._lists)
        assert isinstance(found, dict)
        return found


def packed(text: str, name: str) -> str:
    """What is packed in an element of a page."""
    found = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', text)
    assert found is not None
    raw = base64.b85decode(found[1].replace('"', "<"))
    return zlib.decompress(raw[4 : 4 + int.from_bytes(raw[:4], "big")]).decode()


def tree(node: Any, moment: int, values: list[Any], lists: list[list[int]]) -> Any:
    """A part of the columns at a moment; GONE where it is not there."""
    if isinstance(node, list):
        return leaf([lists[number] for number in node], moment, values)
    if "*" in node:
        length = tree(node["*"], moment, values, lists)
        return GONE if length is GONE else [tree(node[str(at)], moment, values, lists) for at in range(length)]
    found = {name: tree(child, moment, values, lists) for name, child in node.items()}
    return {name: value for name, value in found.items() if value is not GONE} or GONE


def leaf(column: list[list[int]], moment: int, values: list[Any]) -> Any:
    """The value of a column at a moment."""
    at = number = 0
    value = GONE
    for step, change in zip(*column, strict=True):
        at, number = at + step, number + change
        if at > moment:
            break
        value = values[number] if number else GONE
    return value
