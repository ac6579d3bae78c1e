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
_FLOAT = re.compile(r"[-+]?([0-9][0-9_]*)?\.?[0-9]+([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


class YamlError(Exception):
    """One sentence with the line, counted from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line


class Document:
    """Plain lists, dicts, strings, numbers, booleans and None, with the line of each place."""

    def __init__(self, text: str) -> None:
        """Parse `text`. Raises `YamlError`."""
        self._lines: dict[Path, int] = {}
        if len(text.encode()) > MAX_BYTES:
            raise YamlError(1, f"the file is larger than {MAX_BYTES} bytes.")
        try:
            self._refuse_depth_and_aliases(text)
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise YamlError(
                mark.line + 1 if mark else 1, f"this is not YAML: {_plain(error.problem or '')}."
            ) from error
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise YamlError(line, f"this is not YAML: the character {error.character:#x} is not allowed.") from error
        self.value = None if node is None else self._build(node, ())

    def line_of(self, path: Path) -> int:
        """The line of the place at `path`, or of the nearest place around it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    @staticmethod
    def _refuse_depth_and_aliases(text: str) -> None:
        # Events come one by one: a hostile document is refused before anything recurses into it.
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = _line(event.start_mark)
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise YamlError(line, "anchors and aliases are not allowed; write the value out.")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise YamlError(line, f"nested more than {MAX_DEPTH} deep.")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if tag := getattr(event, "tag", None):
                raise YamlError(line, f"the tag {tag} is not allowed.")

    def _build(self, node: yaml.Node, path: Path) -> Any:
        self._lines.setdefault(path, _line(node.start_mark))
        if isinstance(node, yaml.SequenceNode):
            return [self._build(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = _line(key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlError(line, "a key must be a plain word.")
            key = str(key_node.value)
            if key in built:
                raise YamlError(line, f"the key '{key}' is there twice.")
            self._lines[(*path, key)] = line
            built[key] = self._build(value_node, (*path, key))
        return built

    @staticmethod
    def _scalar(node: yaml.Node) -> Any:
        text = str(node.value)
        if getattr(node, "style", None) in {"'", '"', "|", ">"}:
            return text
        if len(text) > MAX_DIGITS and (_INTEGER.fullmatch(text) or _FLOAT.fullmatch(text)):
            raise YamlError(_line(node.start_mark), f"a number of more than {MAX_DIGITS} digits.")
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text.replace("_", ""))
        if _FLOAT.fullmatch(text):
            return float(text.replace("_", ""))
        return text


# Messages of the parser, with what they mean and what to do.
_PLAIN = {
    "mapping values are not allowed": "no key can be here; mind the indentation, and put a text with a colon in quotes",
    "expected <block end>": "the indentation fits no line above",
    "could not find expected ':'": "a key has no colon after it",
    "found character '\\t'": "there is a tab; indent with spaces",
    "found unexpected end of stream": "a quote is not closed",
    "expected the node content": "a value is missing, or a bracket is not closed",
    "expected ',' or": "a comma is missing, or a bracket is not closed",
    "but found another document": "there is a second document; write one",
    "that cannot start any token": "a text that begins with such a sign must be in quotes",
}


def _plain(problem: str) -> str:
    return next((plain for words, plain in _PLAIN.items() if words in problem), problem)


def _line(mark: Any) -> int:
    return mark.line + 1 if mark is not None else 1
