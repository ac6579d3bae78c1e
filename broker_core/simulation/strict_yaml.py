"""YAML as data only: no tags, no aliases, no duplicate keys, bounded depth, and a line for every place.

Words such as `on` and `12:30` stay the text that was written; only `true`, `false`, `null` and plain numbers are
anything else.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

MAX_DEPTH = 30  # scenarios need 5; deeper is an attack on the stack
MAX_BYTES = 1_048_576  # a scenario is written by hand
MAX_DIGITS = 400  # no number in a scenario means anything by more

Path = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+(_+[0-9]+)*(\.[0-9]+)?|([0-9][0-9_]*)?\.[0-9]+)([eE][-+]?[0-9]+)?")
NUMBER = re.compile(f"(?:{_INTEGER.pattern}|{_FLOAT.pattern})$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


class YamlError(Exception):
    """One sentence with the line, counted from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line, self.sentence = line, sentence


class Document:
    """Plain lists, dicts, strings, numbers, booleans and None, with the line of each place."""

    def __init__(self, text: str) -> None:
        """Parse `text`. Raises `YamlError`."""
        self._lines: dict[Path, int] = {}
        encoded = text.encode()
        if len(encoded) > MAX_BYTES:
            raise YamlError(1, f"the file is larger than {MAX_BYTES} bytes.")
        # Events come one by one: a hostile document is refused before anything recurses into it.
        self._events = yaml.parse(encoded, Loader=yaml.CSafeLoader)
        try:
            self.value = self._document()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = error.problem or ""
            plain = next((plain for words, plain in _PLAIN.items() if words in problem), problem)
            raise YamlError(_line(mark), f"this is not YAML: {plain}.") from error
        except yaml.reader.ReaderError as error:
            line = encoded.count(b"\n", 0, error.position) + 1
            raise YamlError(line, f"this is not YAML: the character {error.character:#x} is not allowed.") from error

    def line_of(self, path: Path) -> int:
        """The line of the place at `path`, or of the nearest place around it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _document(self) -> Any:
        value: Any = None
        starts = (event for event in self._events if isinstance(event, yaml.DocumentStartEvent))
        for number, start in enumerate(starts):
            if number:
                raise YamlError(_line(start.start_mark), "this is not YAML: there is a second document; write one.")
            value = self._build(next(self._events), (), 1)
        return value

    def _build(self, event: yaml.Event, path: Path, depth: int) -> Any:
        _refuse_decorations(event)
        line = _line(event.start_mark)
        self._lines.setdefault(path, line)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if depth > MAX_DEPTH:
            raise YamlError(line, f"nested more than {MAX_DEPTH} deep.")
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                items.append(self._build(item, (*path, len(items)), depth + 1))
            return items
        entries: dict[str, Any] = {}
        while not isinstance(key_event := next(self._events), yaml.MappingEndEvent):
            key = self._key(key_event, entries)
            self._lines[(*path, key)] = _line(key_event.start_mark)
            entries[key] = self._build(next(self._events), (*path, key), depth + 1)
        return entries

    @staticmethod
    def _key(event: yaml.Event, entries: dict[str, Any]) -> str:
        _refuse_decorations(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise YamlError(_line(event.start_mark), "a key must be a plain word.")
        key = str(event.value)
        if key in entries:
            raise YamlError(_line(event.start_mark), f"the key '{key}' is there twice.")
        return key

    @staticmethod
    def _scalar(event: yaml.ScalarEvent) -> Any:
        text = str(event.value)
        if event.style in {"'", '"', "|", ">"}:
            return text
        if len(text) > MAX_DIGITS and (_INTEGER.fullmatch(text) or _FLOAT.fullmatch(text)):
            raise YamlError(_line(event.start_mark), f"a number of more than {MAX_DIGITS} digits.")
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text.replace("_", ""))
        return float(text.replace("_", "")) if _FLOAT.fullmatch(text) else text


# Messages of the parser, with what they mean and what to do.
_PLAIN = {
    "mapping values are not allowed": "no key is allowed here; check the indentation, and put a text with a colon in "
    "quotes",
    "did not find expected key": "the indentation matches no line above",
    "did not find expected '-' indicator": "the indentation matches no line above",
    "could not find expected ':'": "a key has no colon after it",
    "found a tab character": "there is a tab; indent with spaces",
    "found unexpected end of stream": "a quote is not closed",
    "did not find expected node content": "a value is missing, or a bracket is not closed",
    "did not find expected ',' or": "a comma is missing, or a bracket is not closed",
    "did not find expected <document start>": "it does not belong to what is above; check the indentation",
    "found unexpected ':'": "put a text with a colon in quotes",
    "that cannot start any token": "a text that begins with this character must be in quotes",
}


def _refuse_decorations(event: yaml.Event) -> None:
    if getattr(event, "anchor", None):  # an alias has the name of its anchor
        raise YamlError(_line(event.start_mark), "anchors and aliases are not allowed; write the value out.")
    if tag := getattr(event, "tag", None):
        raise YamlError(_line(event.start_mark), f"the tag {tag} is not allowed.")


def _line(mark: Any) -> int:
    return mark.line + 1 if mark is not None else 1
