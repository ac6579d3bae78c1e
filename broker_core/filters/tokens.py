from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from broker_core.filters.error import FilterError, Sentence

# Of the operators the longer ones come first: "<=" is not "<" and "=". A quote that is not closed begins a word.
_PIECE = re.compile(
    r"""(?P<SPACE>\s+)|(?P<OPEN>\()|(?P<CLOSE>\))|(?P<TEXT>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<OPERATOR>==|!=|<>|<=|>=|~=|=|<|>)|(?P<NOT>!)|(?P<WORD>.(?:(?!!=|~=)[^\s()"=<>])*)""",
    re.DOTALL,
)


class Part(Enum):
    """What a piece is."""

    WORD = auto()
    TEXT = auto()
    FLAG = auto()
    OPERATOR = auto()
    NOT = auto()
    OPEN = auto()
    CLOSE = auto()
    END = auto()


class Token(NamedTuple):
    """A piece; `text` of a quoted one is what is between the quotes. `column` counts from 1."""

    part: Part
    text: str
    column: int


def tokens(text: str) -> list[Token]:
    """The pieces, the last one an END. Raises FilterError for a quote that is not closed and a lone `~`."""
    found: list[Token] = []
    for piece in _PIECE.finditer(text):
        kind, said, column = piece.lastgroup or "", piece.group(), piece.start() + 1
        if kind == "TEXT":  # a backslash keeps the next character as it is
            said = re.sub(r"\\(.)", r"\1", said[1:-1], flags=re.DOTALL)
        elif said[0] in "\"'":
            raise FilterError(Sentence("This quote is not closed; end it with {quote}", quote=said[0]), column)
        elif said == "~":
            raise FilterError(Sentence("After ~ comes the name of a flag, as in ~dlq."), column)
        elif kind == "WORD" and said[0] == "~":
            kind, said = "FLAG", said[1:]
        if kind != "SPACE":
            found.append(Token(Part[kind], said, column))
    found.append(Token(Part.END, "", len(text) + 1))
    return found


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
