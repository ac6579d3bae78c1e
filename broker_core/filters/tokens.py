from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from broker_core.filters.error import FilterError, Sentence

# Longer ones first: "<=" is not "<" and "=".
OPERATORS = ("==", "!=", "<>", "<=", ">=", "~=", "=", "<", ">")
_QUOTES = "\"'"
_ENDS = '()"=<>'


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
    at = 0
    while at < len(text):
        char, column = text[at], at + 1
        if char.isspace():
            at += 1
        elif char in "()":
            found.append(Token(Part.OPEN if char == "(" else Part.CLOSE, char, column))
            at += 1
        elif char in _QUOTES:
            value, at = _quoted(text, at)
            found.append(Token(Part.TEXT, value, column))
        elif operator := next((one for one in OPERATORS if text.startswith(one, at)), ""):
            found.append(Token(Part.OPERATOR, operator, column))
            at += len(operator)
        elif char == "!":
            found.append(Token(Part.NOT, char, column))
            at += 1
        else:
            end = _word_end(text, at + 1)
            word, at = text[at:end], end
            if word == "~":
                raise FilterError(Sentence("After ~ comes the name of a flag, as in ~dlq."), column)
            if word[0] == "~":
                found.append(Token(Part.FLAG, word[1:], column))
            else:
                found.append(Token(Part.WORD, word, column))
    found.append(Token(Part.END, "", len(text) + 1))
    return found


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _word_end(text: str, at: int) -> int:
    while at < len(text):
        if text[at].isspace() or text[at] in _ENDS or text.startswith(("!=", "~="), at):
            break
        at += 1
    return at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """What is between two quotes, in which a backslash keeps the next character as it is; and where it ends."""
    quote, start = text[at], at
    kept: list[str] = []
    at += 1
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            kept.append(text[at + 1])
            at += 2
        elif text[at] == quote:
            return "".join(kept), at + 1
        else:
            kept.append(text[at])
            at += 1
    raise FilterError(Sentence("This quote is not closed; end it with {quote}", quote=quote), start + 1)
