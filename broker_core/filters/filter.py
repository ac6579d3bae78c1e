from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from functools import cached_property
from typing import Any, TypeVar

from broker_core.filters.condition import COMPARISONS, EVERYTHING, Condition, Equals, Flag, Get, Test, leaves, possible
from broker_core.filters.field import Fields, folded
from broker_core.filters.parser import Parser

R = TypeVar("R")


class Filter:
    """A parsed filter. `text` is the original text."""

    def __init__(self, text: str, condition: Condition) -> None:
        self.text = text
        self._condition = condition

    @property
    def takes_all(self) -> bool:
        """True for the empty filter."""
        return self._condition == EVERYTHING

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of what is compared, each once, in order."""
        return tuple(dict.fromkeys(leaf.name for leaf in leaves(self._condition) if isinstance(leaf, COMPARISONS)))

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the flags that are asked for, each once, in order."""
        return tuple(dict.fromkeys(leaf.name for leaf in leaves(self._condition) if isinstance(leaf, Flag)))

    @property
    def only_compares(self) -> bool:
        """False if words or flags are looked for as well, or nothing."""
        return not self.takes_all and all(isinstance(leaf, COMPARISONS) for leaf in leaves(self._condition))

    def may_match(self, row: Mapping[str, Any], unknown: Container[str]) -> bool:
        """Whether a row fits that is `row` and has any values in the fields `unknown`. Words may stand in any row."""
        return possible(self._condition, True, _Mappings(), row, unknown)

    def must_match(self, row: Mapping[str, Any]) -> bool:
        """Whether a row fits whatever the values are that are None in it, but for fields that are asked for none."""
        asked = {leaf.name for leaf in leaves(self._condition) if isinstance(leaf, Equals) and leaf.value.is_none}
        unknown = {name for name in self.fields if row.get(folded(name)) is None} - asked
        return not possible(self._condition, False, _Mappings(), row, unknown)

    def values_of(self, name: str) -> tuple[str, ...]:
        """The values that the field is asked to be equal to."""
        asked = leaves(self._condition, excluded=False)
        equals = (each for each in asked if isinstance(each, Equals) and each.name == name)
        return tuple(each.value.text for each in equals if not each.value.is_none)

    def tells_apart(self, name: str, values: Collection[str]) -> bool:
        """Whether it asks for some of `values` of a field and not for all: a part of it fits some of them only."""
        parts = [leaf for leaf in leaves(self._condition) if isinstance(leaf, COMPARISONS) and leaf.name == name]
        return any(len({part.test(_Mappings())({name: value}) for value in values}) > 1 for part in parts)

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Whether a row fits; its keys are names of fields, folded. Bare words look in `row[""]`, else in all texts."""
        return self._mapping_test(row)

    def tester(self, getters: Mapping[str, Callable[[R], Any]], haystack: Callable[[R], str]) -> Callable[[R], bool]:
        """Fast for many rows: `getters` by folded field name, `haystack` for the casefolded text of bare words."""
        return self._condition.test(_Getters(getters, haystack))

    @cached_property
    def _mapping_test(self) -> Test:
        return self._condition.test(_Mappings())


class _Getters:
    def __init__(self, getters: Mapping[str, Get], haystack: Callable[[Any], str]) -> None:
        self._getters = getters
        self.haystack = haystack

    def getter(self, name: str) -> Get:
        return self._getters.get(folded(name), lambda _row: None)


class _Mappings:
    def getter(self, name: str) -> Get:
        key = folded(name)
        return lambda row: row.get(key)

    def haystack(self, row: Mapping[str, Any]) -> str:
        text = row.get("")
        if text is None:
            text = "\n".join(_said(value) for value in row.values() if not isinstance(value, bool))
        return str(text).casefold()


def _said(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, tuple | list | set | frozenset):
        return "\n".join(_said(one) for one in value)
    return "" if value is None else str(value)


def parse(text: str, fields: Fields | None = None) -> Filter:
    """Read a filter; `fields` are those that may be asked for, any if it is None. Raises FilterError only."""
    return Filter(text, Parser(text, fields).parse())
