"""A filter, read by recursive descent.

filter     = [ either ]
either     = both { "or" both }
both       = single { [ "and" ] single }
single     = ( "not" | "!" ) single | "(" either ")" | "~" flag | comparison | text
comparison = field [ "(" text ")" ] ( "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=" | "contains" | "~=" ) value
value      = text | number [ unit ] | session time
text       = word | quoted text
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

import re2

from broker_core.filters import condition
from broker_core.filters.error import FilterError, Sentence
from broker_core.filters.field import KIND_WORDS, Field, Fields, called
from broker_core.filters.value import Value, is_unit, starts_with_number, value_of

MAX_CHARS = 2_000
MAX_DEPTH = 40
_KEYWORDS = {"and", "or", "not"}
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
_OPTIONS.case_sensitive = False
_OPTIONS.max_mem = 1_048_576
# Of the operators the longer ones come first: "<=" is not "<" and "=". A quote that is not closed begins a word.
_PIECE = re.compile(
    r"""(?P<SPACE>\s+)|(?P<OPEN>\()|(?P<CLOSE>\))|(?P<TEXT>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<OPERATOR>==|!=|<>|<=|>=|~=|=|<|>)|(?P<NOT>!)|(?P<WORD>.(?:(?!!=|~=)[^\s()"=<>])*)""",
    re.DOTALL,
)


class Part(Enum):
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

    @property
    def is_operator(self) -> bool:
        return self.part is Part.OPERATOR or (self.part is Part.WORD and self.text.casefold() == "contains")


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


class Parser:
    """Reads one text. `fields` None: any field may be asked for."""

    def __init__(self, text: str, fields: Fields | None) -> None:
        if len(text) > MAX_CHARS:
            raise FilterError(
                Sentence("A filter has at most {count:,} characters; make it shorter.", count=MAX_CHARS), MAX_CHARS + 1
            )
        self._tokens = tokens(text)
        self._fields = fields
        self._at = 0
        self._depth = 0

    def parse(self) -> condition.Condition:
        if self._next.part is Part.END:
            return condition.EVERYTHING
        found = self._either()
        if self._next.part is Part.CLOSE:
            raise FilterError(Sentence("This bracket was never opened; remove it."), self._next.column)
        return found

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        if token.part is not Part.END:
            self._at += 1
        return token

    def _is_word(self, *words: str) -> bool:
        token = self._next
        return token.part is Part.WORD and token.text.casefold() in words

    def _either(self) -> condition.Condition:
        parts = [self._both()]
        while self._is_word("or"):
            self._take()
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else condition.Combined(tuple(parts), every=False)

    def _both(self) -> condition.Condition:
        parts = [self._single()]
        while not self._is_word("or") and self._next.part not in {Part.END, Part.CLOSE}:
            if self._is_word("and"):
                self._take()
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else condition.Combined(tuple(parts), every=True)

    def _single(self) -> condition.Condition:
        token = self._take()
        if token.part is Part.NOT or (token.part is Part.WORD and token.text.casefold() == "not"):
            return condition.Not(self._deeper(token, self._single))
        if token.part is Part.OPEN:
            found = self._deeper(token, self._either)
            if self._next.part is not Part.CLOSE:
                raise FilterError(Sentence("This bracket is not closed; end it with )"), token.column)
            self._take()
            return found
        if token.part is Part.FLAG:
            return self._flag(token)
        if token.part is Part.WORD and token.text.casefold() not in _KEYWORDS:
            return self._comparison(token) if self._is_compared(token) else condition.Words(token.text)
        if token.part is Part.TEXT:
            if self._next.part is Part.OPERATOR:
                raise FilterError(Sentence("The name of a field is written without quotes."), token.column)
            return condition.Words(token.text)
        raise FilterError(_expected(token), token.column)

    def _deeper(self, token: Token, read: Callable[[], condition.Condition]) -> condition.Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FilterError(Sentence("The brackets are nested too deeply; write it with fewer."), token.column)
        found = read()
        self._depth -= 1
        return found

    def _flag(self, token: Token) -> condition.Condition:
        if self._fields is None:
            return condition.Flag(token.text)
        field = self._fields.get(token.text)
        if field is None or field.kind != "flag":
            raise FilterError(self._fields.unknown_flag(token.text), token.column)
        return condition.Flag(field.name)

    def _is_compared(self, token: Token) -> bool:
        field = None if self._fields is None else self._fields.get(token.text)
        if self._next.part is Part.OPEN:
            return (field is not None and field.argument != "") or self._is_called()
        known = self._fields is None or field is not None
        return self._next.part is Part.OPERATOR or (known and self._next.is_operator)

    def _is_called(self) -> bool:
        """True if one name in brackets follows, and then an operator."""
        if len(self._tokens) < self._at + 4:
            return False
        _open, name, close, operator = self._tokens[self._at : self._at + 4]
        return name.part in {Part.WORD, Part.TEXT} and close.part is Part.CLOSE and operator.is_operator

    def _comparison(self, token: Token) -> condition.Condition:
        field = None
        if self._fields is not None:
            field = self._fields.get(token.text)
            if field is None:
                raise FilterError(self._fields.unknown(token.text), token.column)
        name = token.text if field is None else field.name
        if self._next.part is Part.OPEN:
            if field is not None and not field.argument:
                raise FilterError(
                    Sentence("{name} does not refer to a single thing; remove the brackets.", name=name),
                    self._next.column,
                )
            name = called(name, self._argument(name, "" if field is None else field.argument))
        if not self._next.is_operator:
            raise FilterError(Sentence("After {words} comes an operator, such as =.", words=name), self._next.column)
        operator, word = self._take(), self._take()
        if word.part not in {Part.WORD, Part.TEXT}:
            raise FilterError(Sentence("After {words} a value is missing.", words=operator.text), word.column)
        if operator.text.casefold() == "contains":
            return condition.Contains(name, word.text)
        if operator.text == "~=":
            return condition.Fits(name, _search(word))
        value = self._value(word, field)
        if field is not None:
            _check(field, value, word)
            if field.words and not value.is_none:
                value = _word(field, word)
        if operator.text in {"=", "=="}:
            return condition.Equals(name, value)
        if operator.text in {"!=", "<>"}:
            return condition.Not(condition.Equals(name, value))
        return condition.Compares(name, operator.text, value)

    def _argument(self, name: str, example: str) -> str:
        bracket, word, end = self._take(), self._take(), self._take()
        if word.part not in {Part.WORD, Part.TEXT} or end.part is not Part.CLOSE:
            raise FilterError(
                Sentence("These brackets take one name, as in {example}.", example=f'{name}("{example}")'),
                bracket.column,
            )
        return word.text

    def _value(self, word: Token, field: Field | None) -> Value:
        if word.part is Part.TEXT:
            return Value(word.text, quoted=True)
        measured = field is None or field.kind not in {"text", "flag"}
        follows = self._next
        if measured and starts_with_number(word.text) and follows.part is Part.WORD and is_unit(follows.text):
            self._take()
            return value_of(word.text, follows.text)
        return value_of(word.text)


def _search(word: Token) -> Callable[[str], object]:
    try:
        search: Callable[[str], object] = re2.compile(word.text, _OPTIONS).search
    except (re2.error, ValueError):
        raise FilterError(Sentence("This is not a regular expression that RE2 can read."), word.column) from None
    return search


def _check(field: Field, value: Value, word: Token) -> None:
    """Raises FilterError if a value cannot be one of the field's."""
    if field.kind in {"text", "flag"} or value.is_none:
        return
    what = Sentence("{name} is {kind}", name=field.name, kind=Sentence(KIND_WORDS[field.kind]))
    fits = {
        "number": value.number is not None and value.measure == "",
        "duration": value.measure in {"duration", "time"} or value.number == 0,
        "size": value.measure == "size" or (value.number is not None and value.measure == ""),
        "time": value.measure in {"duration", "time"} or value.number == 0,
    }
    examples = {"number": "100", "duration": "5 s", "size": "3 KiB", "time": "00:31"}
    if not fits[field.kind]:
        raise FilterError(
            Sentence("{what}; write it like {examples}.", what=what, examples=examples[field.kind]), word.column
        )


def _word(field: Field, word: Token) -> Value:
    found = field.word(word.text)
    if found is None:
        raise FilterError(field.unknown_word(word.text), word.column)
    return Value(found, quoted=True)


def _expected(token: Token) -> Sentence:
    if token.part is Part.END:
        return Sentence("Something is missing at the end: a word, or a condition such as lag > 100.")
    if token.part is Part.CLOSE:
        return Sentence("There is nothing before this bracket; write a condition or remove the bracket.")
    if token.part is Part.OPERATOR:
        return Sentence("Before {words} comes the name of a field.", words=token.text)
    return Sentence(
        'Put a condition on both sides of {words}, or "{words}" in quotes to look for the word.', words=token.text
    )
