from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from broker_core.filters.error import Sentence, mark

Kind = Literal["text", "number", "duration", "size", "time", "flag"]

KIND_WORDS: Mapping[Kind, str] = {
    "text": mark("text"),
    "number": mark("a number"),
    "duration": mark("a length of time"),
    "size": mark("a number of bytes"),
    "time": mark("a session time"),
    "flag": mark("yes or no"),
}

_SHOWN = 3  # of the names that there are
_JOINED = str.maketrans("", "", "-_ ")


@dataclass(frozen=True, slots=True)
class Field:
    """A name, what its values are, and a sentence with an example. In a row durations, times (ns) and sizes (bytes) are
    numbers; flags are asked for with `~name`; a text is str, bytes or a tuple of which any may fit; None is "none". A
    field with an `argument`, such as `lag("billing")`, has the values of the name that `called` makes. One with `words`
    has no other values.
    """

    name: str
    kind: Kind = "text"
    about: str = ""
    argument: str = ""
    words: tuple[str, ...] = ()

    def word(self, text: str) -> str | None:
        """The one of `words` that is meant by `text`, in any case, with or without `-`, `_` and blanks."""
        return next((word for word in self.words if _joined(word) == _joined(text)), None)

    def unknown_word(self, text: str) -> Sentence:
        close = closest(text, self.words)
        if close:
            other = f'"{close}"' if " " in close else close
            return Sentence("{name} is never {value}; did you mean {other}?", name=self.name, value=text, other=other)
        names = ", ".join(self.words)
        return Sentence("{name} is never {value}; it is one of {names}.", name=self.name, value=text, names=names)


class Fields:
    """The fields of one kind of rows, found by name in any case; `-` and blanks in a name count as `_`."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields = {folded(field.name): field for field in fields}

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields.values())

    def get(self, name: str) -> Field | None:
        return self._fields.get(folded(name))

    def unknown(self, name: str) -> Sentence:
        close = closest(folded(name), self._fields)
        if close:
            return Sentence(
                "There is no field {name} here; did you mean {other}?", name=name, other=self._fields[close].name
            )
        names = ", ".join(field.name for field in self._fields.values() if field.kind != "flag")
        return Sentence("There is no field {name} here; there are {names}.", name=name, names=names)

    def unknown_flag(self, name: str) -> Sentence:
        flags = ", ".join(f"~{field.name}" for field in self._fields.values() if field.kind == "flag")
        if flags:
            return Sentence("~{name} has no meaning here; there are {flags}.", name=name, flags=flags)
        return Sentence("~{name} has no meaning here; rows here have no flags.", name=name)


def closest(text: str, words: Iterable[str]) -> str:
    by_joined = {_joined(word): word for word in words}
    found = difflib.get_close_matches(_joined(text), by_joined, 1)
    return by_joined[found[0]] if found else ""


def lacking(name: str, field: str, having: Iterable[str]) -> Sentence | None:
    """A sentence if `field` is asked of `name`, which is not among the things `having` it."""
    names = sorted(set(having))
    if name in names:
        return None
    close = closest(name, names)
    if close:
        return Sentence("{name} has no {field} here; did you mean {other}?", name=name, field=field, other=close)
    if not names:
        return Sentence("{name} has no {field} here; nothing has.", name=name, field=field)
    there, more = ", ".join(names[:_SHOWN]), len(names) - _SHOWN
    if more > 0:
        return Sentence(
            "{name} has no {field} here; there are {names} and {count} more.",
            name=name,
            field=field,
            names=there,
            count=more,
        )
    return Sentence("{name} has no {field} here; there are {names}.", name=name, field=field, names=there)


def called(name: str, argument: str) -> str:
    """The name under which the value of a field for one thing is kept."""
    return f"{name}({argument})"


def field_and_argument(name: str) -> tuple[str, str]:
    """What `called` has made a name of; without an argument, the name and ""."""
    field, _, argument = name.partition("(")
    return field, argument.removesuffix(")")


def _joined(text: str) -> str:
    return text.casefold().translate(_JOINED)


def folded(name: str) -> str:
    """How names are compared; what a field is asked of is data, and stays as it is."""
    field, bracket, argument = name.partition("(")
    return field.casefold().replace("-", "_").replace(" ", "_") + bracket + argument
