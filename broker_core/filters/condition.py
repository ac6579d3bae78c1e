"""The parts of a filter that has been read, and how each is asked of a row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, Protocol

import msgspec

from broker_core.filters.value import AtLeast, Value

Get = Callable[[Any], Any]
Test = Callable[[Any], bool]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Source(Protocol):
    def getter(self, name: str) -> Get:
        """A function that returns a row's value of a field; None if the row has no such field."""

    def haystack(self, row: Any) -> str:
        """All of a row that bare words are looked for in, casefolded."""


class Condition(Protocol):
    def test(self, source: Source) -> Test:
        """A function that tests for it."""


class Combined(msgspec.Struct, frozen=True):
    parts: tuple[Condition, ...]
    every: bool

    def test(self, source: Source) -> Test:
        tests = [part.test(source) for part in self.parts]
        if self.every:
            return lambda row: all(test(row) for test in tests)
        return lambda row: any(test(row) for test in tests)


EVERYTHING = Combined((), every=True)  # the empty filter


class Not(msgspec.Struct, frozen=True):
    part: Condition

    def test(self, source: Source) -> Test:
        test = self.part.test(source)
        return lambda row: not test(row)


class Words(msgspec.Struct, frozen=True):
    text: str

    def test(self, source: Source) -> Test:
        wanted, haystack = self.text.casefold(), source.haystack
        return lambda row: wanted in haystack(row)


class Flag(msgspec.Struct, frozen=True):
    name: str

    def test(self, source: Source) -> Test:
        get = source.getter(self.name)
        return lambda row: bool(get(row))


class Contains(msgspec.Struct, frozen=True):
    name: str
    text: str

    def test(self, source: Source) -> Test:
        get, wanted = source.getter(self.name), self.text.casefold()
        return lambda row: any(wanted in text for text in _texts(get(row)))


class Fits(msgspec.Struct, frozen=True):
    """The field's text has a match of a regular expression; `search` looks for one."""

    name: str
    search: Callable[[str], object]

    def test(self, source: Source) -> Test:
        get, search = source.getter(self.name), self.search
        return lambda row: any(search(text) is not None for text in _texts(get(row), folded=False))


class Equals(msgspec.Struct, frozen=True):
    name: str
    value: Value

    def test(self, source: Source) -> Test:
        """Numbers as numbers, texts in any case; of many values any may fit."""
        get, value = source.getter(self.name), self.value
        if value.is_none:
            return lambda row: get(row) in (None, "", b"", ())
        text, number, until = value.text, value.number, value.until
        wanted, plain = text.casefold(), text.isascii()

        def same(found: Any) -> bool:
            if type(found) is str:  # nearly always, so first and quick
                if found == text:
                    return True
                if plain and len(found) != len(text) and found.isascii():
                    return False
                return found.casefold() == wanted
            if isinstance(found, bool):
                return wanted in ({"yes", "true", "1"} if found else {"no", "false", "0"})
            if isinstance(found, AtLeast):
                return False
            if isinstance(found, int | float):
                return number is not None and (number <= found < until if until else found == number)
            return wanted in _texts(found)

        return lambda row: same(get(row))


class Compares(msgspec.Struct, frozen=True):
    """The field's value lies on one side of another: numbers by size, texts by the alphabet."""

    name: str
    operator: str
    value: Value

    def test(self, source: Source) -> Test:
        get, number, holds = source.getter(self.name), self.value.number, _ORDER[self.operator]
        wanted = self.value.text.casefold()

        def lies(found: Any) -> bool:
            if isinstance(found, int | float):
                known = not isinstance(found, AtLeast) or self.operator in (">", ">=")
                return known and number is not None and holds(found, number)
            return any(holds(text, wanted) for text in _texts(found))

        return lambda row: lies(get(row))


#: Those of a field with a value.
COMPARISONS = (Contains, Fits, Equals, Compares)


def possible(condition: Condition, wanted: bool, source: Source, row: Any, unknown: Container[str]) -> bool:
    """Whether `condition` may come out as `wanted` for a row like `row`, whose fields `unknown` may have any value."""
    match condition:
        case Not():
            return possible(condition.part, not wanted, source, row, unknown)
        case Combined():
            quantifier = all if condition.every is wanted else any
            return quantifier(possible(part, wanted, source, row, unknown) for part in condition.parts)
        case Words():
            return True
        case Flag() | Contains() | Fits() | Equals() | Compares() if condition.name in unknown:
            return True
    return condition.test(source)(row) is wanted


def leaves(condition: Condition, *, excluded: bool = True) -> Iterator[Condition]:
    """The conditions that are made of no others, in order; perhaps without the `excluded`, those below a `Not`."""
    if isinstance(condition, Combined):
        for part in condition.parts:
            yield from leaves(part, excluded=excluded)
    elif not isinstance(condition, Not):
        yield condition
    elif excluded:
        yield from leaves(condition.part)


def _texts(found: Any, *, folded: bool = True) -> Iterable[str]:
    if found is None:
        return ()
    if isinstance(found, str):
        text = found
    elif isinstance(found, bytes):
        text = found.decode(errors="replace")
    elif isinstance(found, tuple | list | frozenset | set):
        return (text for one in found for text in _texts(one, folded=folded))
    else:
        text = str(found)
    return (text.casefold() if folded else text,)
