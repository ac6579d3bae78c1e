"""Errors of scenarios and actions in the words of YAML and JSON, without types of Python, with what would be right."""

from __future__ import annotations

import difflib
import re
from functools import reduce
from operator import getitem
from typing import Any

import msgspec

from broker_core.errors import ErrorCode
from broker_core.limits import MAX_TTL_MS, MAX_WAIT_MS
from broker_core.operations.spec_kinds import allowed_words, by_key, item_kind, structs, value_kind
from broker_core.plurals import counted
from broker_core.simulation.strict_yaml import Path

_SHORT = 40  # letters of a value that are quoted
_FEW = 20  # names that a sentence can list

_ANY_VALUE = "[...]"  # so msgspec calls a value whose key is free

# In the order in which a sentence names them; by the words of msgspec.
_WANTED = {
    "str": "text",
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list",
    "object": "keys with values",
    "null": "nothing",
}
_LIMITS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


def fault(error: msgspec.ValidationError, value: Any, whole: Any, called: str = "the scenario") -> tuple[Path, str]:
    """Where the fault is, and a sentence: `error` came of converting `value` into `whole`, which it is `called`."""
    sentence, _, steps = str(error).partition(" - at ")
    path, kind = _followed(steps.strip("`").removeprefix("$"), value, whole)
    found = reduce(getitem, path, value)
    if unknown := re.search(r"unknown field `([^`]*)`", sentence):
        key = unknown.group(1)
        return (*path, key), f"the key '{key}' is not known here{_known(key, list(by_key(structs(kind, found))))}"
    if missing := re.search(r"missing required field `([^`]*)`", sentence):
        where = f" in {_name(path)}" if path else ""
        words = list(allowed_words(by_key(structs(kind, found)).get(missing.group(1))))
        return path, f"the key '{missing.group(1)}' is missing{where}{_known('', words)}"
    name = _name(path) or called
    if words := list(allowed_words(kind)):
        wrong = "nothing" if found is None else f"'{_shortened(str(found))}'"
        return path, f"{name} cannot be {wrong}{_known(str(found), words)}"
    if length := re.fullmatch(r"Expected `array` of length (\d+), got (\d+)", sentence):
        return path, f"{name} must be a list of {length[1]}, not of {length[2]}."
    if wanted := re.match(r"Expected `([^`]*)`, got", sentence):
        return path, f"{name} must be {_wanted(wanted[1].split(' | '))}, {_but(wanted[1], found)}."
    if "matching regex" in sentence:
        return path, f"{name} must be a name of letters, digits, '.', '_' and '-', not {_value(found)}."
    if limit := re.fullmatch(r"Expected `(?:int|float)` ([<>]=?) (\S+)", sentence):
        return path, f"{name} must be {_LIMITS[limit[1]]} {_bound(float(limit[2]))}, not {_value(found)}."
    if limit := re.fullmatch(r"Expected `(array|str|object)` of length ([<>]=?) (\d+)", sentence):
        what = ("letter", "letters") if limit[1] == "str" else ("entry", "entries")
        return path, f"{name} must have {_LIMITS[limit[2]]} {counted(int(limit[3]), *what)}, not {len(found)}."
    if sentence == "Number out of range":
        return path, f"{name} is a number that is too large."
    # What a part of a scenario has against itself is a sentence already.
    return path, f"{name}: {sentence.removeprefix(f'{ErrorCode.INVALID_CONFIG.sentence}: ').rstrip('.')}."


def _wanted(kinds: list[str]) -> str:
    """ "text or a number" of ["int", "float", "str", "null"]: whole numbers are numbers, and leaving out goes without
    saying."""
    left_out = {"null"} | ({"int"} if "float" in kinds else set())
    words = [word for kind, word in _WANTED.items() if kind in kinds and (kind not in left_out or len(kinds) == 1)]
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _but(wanted: str, found: Any) -> str:
    if found is None:
        return "but nothing is there"
    quotes = "; put it in quotes" if "str" in wanted.split(" | ") and isinstance(found, bool | int | float) else ""
    return f"not {_value(found)}{quotes}"


def _bound(number: float) -> str:
    text = f"{number:.0f}" if number.is_integer() else str(number)
    week = dict.fromkeys((MAX_WAIT_MS, MAX_WAIT_MS // 1_000), ", a week")
    words = {**week, MAX_TTL_MS: ", a century"}.get(int(number), "")
    return text + words


def _value(found: Any) -> str:
    match found:
        case None:
            return "nothing"
        case bool():
            return "true" if found else "false"
        case int() | float():
            return _shortened(f"{found}")
        case list():
            return "a list"
        case dict():
            return "keys with values"
        case _:
            return f"the text '{_shortened(str(found))}'"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."


def _known(found: str, known: list[str]) -> str:
    near = difflib.get_close_matches(found, known, n=1)
    if near:
        return f"; did you mean '{near[0]}'?"
    if not known:
        return "."
    if len(known) > _FEW:
        return f"; there are {', '.join(known[:_FEW])} and others."
    return f"; there {'is' if len(known) == 1 else 'are'} {', '.join(known)}."


def _name(path: Path) -> str:
    if not path:
        return ""
    last = path[-1]
    return last if isinstance(last, str) else f"entry {last + 1} of {_name(path[:-1])}"


# -- along the path of msgspec's message


def _followed(steps: str, value: Any, kind: Any) -> tuple[Path, Any]:
    """(path, kind) that `steps` such as ".topics[0].flow" lead to. If they are not known, the last that is."""
    path: list[str | int] = []
    while steps:
        if index := re.match(r"\[(\d+)\]", steps):
            number = int(index[1])
            path.append(number)
            kind, value, steps = item_kind(kind, number), value[number], steps[index.end() :]
            continue
        if steps.startswith(_ANY_VALUE) and isinstance(value, dict):
            kind = value_kind(kind)
            key = next((key for key, inner in value.items() if not _fits(inner, kind)), None)
            if key is None:
                break
            path.append(key)
            value, steps = value[key], steps.removeprefix(_ANY_VALUE)
            continue
        names = by_key(structs(kind, value))
        # A key may have dots in it: the longest that fits is meant.
        fitting = [name for name in names if re.match(rf"\.{re.escape(name)}(?=[.\[]|$)", steps)]
        if not fitting:
            break
        name = max(fitting, key=len)
        steps = steps[len(name) + 1 :]
        if not isinstance(value, dict) or name not in value:
            kind = names[name]
            break
        path.append(name)
        kind, value = names[name], value[name]
    return tuple(path), kind


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True
