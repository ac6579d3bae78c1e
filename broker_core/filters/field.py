"""What a filter may ask about."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from broker_core.filters.sentence import Sentence, mark

Kind = Literal["text", "number", "duration", "size", "time", "flag"]

KIND_WORDS: Mapping[Kind, str] = {
    "text": mark("text"),
    "number": mark("a number"),
    "duration": mark("a length of time"),
    "size": mark("a number of bytes"),
    "time": mark("a session time"),
    "flag": mark("yes or no"),
}


@dataclass(frozen=True, slots=True)
class Field:
    """A name, what its values are, and a sentence about it with an example where that helps.

    Values of a row: durations and session times are nanoseconds, sizes are bytes, both as numbers; flags are true or
    false and asked for with `~name`; a text may be str, bytes or a tuple of them, of which any may fit. None is "none".
    One with an `argument`, which says what that is, may be asked of one thing: `lag("billing")`; its values are those
    of the name that `called` makes.
    """

    name: str
    kind: Kind = "text"
    about: str = ""
    argument: str = ""


class Fields:
    """The fields of one kind of rows, found by name in any case; `-` and blanks in a name count as `_`."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields = {folded(field.name): field for field in fields}

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields.values())

    def get(self, name: str) -> Field | None:
        """The field of that name."""
        return self._fields.get(folded(name))

    def unknown(self, name: str) -> Sentence:
        """A sentence for a name that there is not."""
        close = difflib.get_close_matches(folded(name), self._fields, 1)
        if close:
            return Sentence(
                "There is no field {name} here; did you mean {other}?", name=name, other=self._fields[close[0]].name
            )
        names = ", ".join(field.name for field in self._fields.values() if field.kind != "flag")
        return Sentence("There is no field {name} here; there are {names}.", name=name, names=names)

    def unknown_flag(self, name: str) -> Sentence:
        """A sentence for a flag that there is not."""
        flags = ", ".join(f"~{field.name}" for field in self._fields.values() if field.kind == "flag")
        if flags:
            return Sentence("~{name} has no meaning here; there are {flags}.", name=name, flags=flags)
        return Sentence("~{name} has no meaning here; rows here have no flags.", name=name)


def called(name: str, argument: str) -> str:
    """The name under which the value of a field for one thing is kept."""
    return f"{name}({argument})"


def folded(name: str) -> str:
    """How names are compared; what a field is asked of is data, and stays as it is."""
    field, bracket, argument = name.partition("(")
    return field.casefold().replace("-", "_").replace(" ", "_") + bracket + argument
