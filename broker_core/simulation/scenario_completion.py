"""Completion of a scenario's text: keys, words and names, derived from the types of its parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from broker_core.operations.spec_kinds import allowed_words, by_key, item_kind, members, required, structs, value_kind
from broker_core.simulation.scenario import Scenario, ScenarioNames

_MARK = "\u2038"  # a caret, which nobody writes: it stands where the cursor is
_BEFORE_COLON = re.compile(r"[\w.-]*\s*:")
_WORD = re.compile(r"[\w.-]*\Z")


class Choice(NamedTuple):
    """`text` may be written: a key, which `is_required` or not, or a value, of which `names` says what it names."""

    text: str
    is_required: bool = False
    names: str = ""


class Completion(NamedTuple):
    """A completion for the word around the cursor, which begins at `start`."""

    start: int
    choices: tuple[Choice, ...]


@dataclass
class _Container:
    """A mapping or a list whose text has begun: what it may be, and what is in it so far."""

    kind: Any
    is_list: bool
    is_indentless: bool = False
    number: int = 0
    key: str = ""
    awaits_value: bool = False
    values: dict[str, str] = field(default_factory=dict)

    def inner(self) -> Any:
        if self.is_list:
            return item_kind(self.kind, self.number)
        return by_key(structs(self.kind, self.values)).get(self.key, value_kind(self.kind))


def complete(text: str, at: int, known: Scenario | None) -> Completion:
    """Completions at `at`; names come from `known`, the last text that was a valid scenario."""
    found = _WORD.search(text, 0, at)
    start = at if found is None else found.start()
    line_end = text.find("\n", at)
    rest = text[at : None if line_end < 0 else line_end]
    for marked in (_MARK, f"{_MARK}:"):
        stack = _containers(text[:start] + marked)
        if stack is not None:
            written = text[start:at].casefold()
            choices = [one for one in _choices(stack, known) if one.text.casefold().startswith(written)]
            if _BEFORE_COLON.match(rest):
                choices = [one._replace(text=one.text.removesuffix(": ")) for one in choices]
            return Completion(start, tuple(choices))
    return Completion(start, ())


def _containers(text: str) -> list[_Container] | None:
    """The mappings and lists that enclose the mark, the innermost last; None if `text` cannot be parsed up to there."""
    nesting = _Nesting()
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.ScalarToken) and token.value == _MARK:
                return nesting.stack or [_Container(Scenario, is_list=False)]
            nesting.take(token)
    except (yaml.YAMLError, IndexError):
        pass
    return None


class _Nesting:
    """Follows YAML's tokens; what is open is in `stack`. Raises IndexError for text that is no mapping."""

    def __init__(self) -> None:
        self.stack: list[_Container] = []
        self._key_comes = False

    def take(self, token: yaml.Token) -> None:
        match token:
            case yaml.BlockMappingStartToken() | yaml.FlowMappingStartToken():
                self.stack.append(_Container(self.stack[-1].inner() if self.stack else Scenario, is_list=False))
            case yaml.BlockSequenceStartToken():
                self._begin_list(-1)
            case yaml.FlowSequenceStartToken():
                self._begin_list(0)
            case yaml.BlockEntryToken() | yaml.FlowEntryToken():
                if isinstance(token, yaml.BlockEntryToken) and not self.stack[-1].is_list:
                    self._begin_list(-1, is_indentless=True)  # not indented below its key
                self.stack[-1].number += 1
                self.stack[-1].awaits_value = False
            case yaml.KeyToken():
                self._end_indentless()
                self._key_comes = True
                self.stack[-1].awaits_value = False
            case yaml.ValueToken():
                self.stack[-1].awaits_value = True
            case yaml.BlockEndToken() | yaml.FlowMappingEndToken() | yaml.FlowSequenceEndToken():
                self._end_indentless()
                self.stack.pop()
                if self.stack:
                    self.stack[-1].awaits_value = False
            case yaml.ScalarToken():
                self._fill(token.value)
            case _:
                pass

    def _begin_list(self, number: int, *, is_indentless: bool = False) -> None:
        self.stack.append(_Container(self.stack[-1].inner(), is_list=True, number=number, is_indentless=is_indentless))

    def _end_indentless(self) -> None:
        if self.stack[-1].is_indentless:
            self.stack.pop()

    def _fill(self, value: str) -> None:
        inmost = self.stack[-1]
        if self._key_comes:
            inmost.key, self._key_comes = value, False
            inmost.values.setdefault(value, "")
        elif not inmost.is_list:
            inmost.values[inmost.key] = value
            inmost.awaits_value = False


def _choices(stack: list[_Container], known: Scenario | None) -> Iterator[Choice]:
    """Keys where a key begins, words and names where a value does, and the keys of a mapping that may begin there."""
    inmost = stack[-1]
    if inmost.is_list or inmost.awaits_value:
        kind = inmost.inner()
        named = inmost if not inmost.is_list else next((one for one in reversed(stack) if not one.is_list), inmost)
        for name in sorted(_names(known, named)):
            yield Choice(name, names=named.key)
        for word in dict.fromkeys((*allowed_words(kind), *(("true", "false") if bool in members(kind) else ()))):
            yield Choice(word)
        yield from _keys_of(kind, {})
    else:
        yield from _keys_of(inmost.kind, inmost.values)


def _keys_of(kind: Any, there: dict[str, str]) -> Iterator[Choice]:
    found = structs(kind, there)
    needed = required(found)
    fields = [name for name in by_key(found) if name not in there]
    for name in sorted(fields, key=lambda name: (name not in needed, fields.index(name))):
        yield Choice(f"{name}: ", name in needed)


def _names(known: Scenario | None, named: _Container) -> set[str]:
    if known is None:
        return set()
    names = ScenarioNames(known)
    parts = [
        "Consumer" if getattr(part, "concerns", "") == "consumer" else part.__name__
        for part in structs(named.kind, named.values)
    ]
    return {name for part in parts for name in names.of_field(named.key, part)}
