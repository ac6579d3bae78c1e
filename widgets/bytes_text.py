from __future__ import annotations

import json
import unicodedata
from html import escape
from typing import Any, NamedTuple

from widgets.i18n import tr

TEXT_BYTES = 200_000
HEX_BYTES = 64_000
JSON_BYTES = 2_000_000
_LINE_BYTES = 16
# What joins letters and emoji is no danger and would tear them apart as an escape.
_JOINERS = "\u200c\u200d"
_KEPT = "\n\t\u00ad" + _JOINERS
# Control, format and surrogate characters, and the two that end lines and paragraphs.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Shown(NamedTuple):
    text: str
    shown_bytes: int


def readable(data: bytes, limit_bytes: int = TEXT_BYTES) -> Shown:
    """UTF-8 with its line ends and tabs; whatever else cannot be printed is escaped, direction marks included."""
    head = data[:limit_bytes]
    if len(head) < len(data):
        # Not through the middle of a character.
        head = head[: len(head) - _torn(head)]
    text = head.decode("utf-8", errors="backslashreplace")
    if not text.isprintable():
        text = "".join(char if char.isprintable() or char in "\n\t" + _JOINERS else escaped(char) for char in text)
    return Shown(text, len(head))


def contained(text: str) -> str:
    """Text whose direction marks and control characters are escaped, so that none of them reaches what stands beside.

    Line ends, tabs, and what joins letters stay.
    """
    # Lines are the only thing that is not printable in nearly all texts.
    if text.isprintable() or text.replace("\n", "").isprintable():
        return text
    return "".join(
        escaped(char) if unicodedata.category(char) in _UNSEEN and char not in _KEPT else char for char in text
    )


def escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _torn(head: bytes) -> int:
    """How many bytes at the end begin a character that goes on behind it."""
    for back in range(1, min(4, len(head)) + 1):
        byte = head[-back]
        if byte & 0b1100_0000 == 0b1100_0000:
            needs = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needs else 0
        if byte < 0x80:
            return 0
    return 0


def hex_dump(data: bytes, limit_bytes: int = HEX_BYTES) -> Shown:
    head = data[:limit_bytes]
    lines = []
    for at in range(0, len(head), _LINE_BYTES):
        row = head[at : at + _LINE_BYTES]
        left, right = row[:8].hex(" "), row[8:].hex(" ")
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        lines.append(f"{at:08x}  {left:<23}  {right:<23}  {letters}")
    return Shown("\n".join(lines), len(head))


def json_of(data: bytes) -> tuple[bool, Any, str]:
    """(it is JSON, its value, why it is not shown as a tree)."""
    if len(data) > JSON_BYTES:
        return False, None, tr("{count:,} bytes are too many to show as a tree.", count=len(data))
    try:
        return True, json.loads(data), ""
    except (ValueError, RecursionError):
        return False, None, tr("This is not JSON.")


def as_plain(text: str) -> str:
    """Text for a tool tip: Qt would read markup in it, so it is escaped where there could be any."""
    if "<" not in text and "&" not in text:
        return text
    return f"<span style='white-space: pre-wrap'>{escape(text, quote=False)}</span>"
