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
        self._templates, self._lists, self._root = columns["templates"], columns["lists"], columns["root"]
        self.moments_ms: list[float] = self.data["moments_ms"]

    def at(self, time_ms: float) -> dict[str, Any]:
        """Everything of the moment that is shown at a time."""
        return self.moment(bisect_right(self.moments_ms, time_ms) - 1)

    def moment(self, moment: int) -> dict[str, Any]:
        """Everything of a moment, by its number."""
        found = tree(self._root, moment, self._templates, self._lists)
        assert isinstance(found, dict)
        return found


def packed(text: str, name: str) -> str:
    """What is packed in an element of a page."""
    found = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', text)
    assert found is not None
    raw = base64.b85decode(found[1].replace('"', "<"))
    return zlib.decompress(raw[4 : 4 + int.from_bytes(raw[:4], "big")]).decode()


def tree(node: Any, moment: int, templates: list[str], lists: list[list[int]]) -> Any:
    """A part of the columns at a moment; GONE where it is not there."""
    if isinstance(node, list):
        return leaf([lists[number] for number in node], moment, templates)
    if "*" in node:
        length = tree(node["*"], moment, templates, lists)
        return GONE if length is GONE else [tree(node[str(at)], moment, templates, lists) for at in range(length)]
    found = {name: tree(child, moment, templates, lists) for name, child in node.items()}
    return {name: value for name, value in found.items() if value is not GONE} or GONE


def leaf(column: list[list[int]], moment: int, templates: list[str]) -> Any:
    """The value of a column at a moment."""
    at = template = next_number = 0
    value, last = GONE, dict[int, list[int]]()
    for step, change in zip(column[0], column[1], strict=True):
        at, template = at + step, template + change
        if at > moment:
            break
        holes = [char for char in templates[template] if ord(char) in {1, 2} or 14 < ord(char) < 24] if template else []
        differences = column[2][next_number : next_number + len(holes)]
        next_number += len(holes)
        before = last.get(template, [0] * len(holes))
        last[template] = [old + new for old, new in zip(before, differences, strict=True)]
        value = _filled(templates[template], last[template]) if template else GONE
    return value


def _filled(template: str, numbers: list[int]) -> Any:
    left = iter(numbers)

    def written(char: str) -> str:
        code = ord(char)
        if code == 1:
            return str(next(left))
        if code == 2:
            return f"{next(left):,}"
        return f"{next(left):0{code - 14}}" if 14 < code < 24 else char

    text = "".join(map(written, template[1:] if template[:1] in {"\x05", "\x06"} else template))
    if template[:1] == "\x05":
        return json.loads(text)
    return {"true": True, "false": False, "null": None}[text] if template[:1] == "\x06" else text
