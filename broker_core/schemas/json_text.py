"""Strict JSON (RFC 8259) with limits: no duplicate names, no NaN, no numbers beyond a double."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

from broker_core.limits import MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMA_VALUES, MAX_VALUE_DEPTH, MAX_VALUES
from broker_core.schemas.problem import InvalidSchemaError, Problem, shown


class InvalidJsonError(ValueError):
    """The text is not JSON, or exceeds a limit. `str()` is a sentence without a full stop."""


def read_json(text: bytes | str, *, max_depth: int = MAX_VALUE_DEPTH, max_values: int = MAX_VALUES) -> Any:
    """Parse JSON to None, bool, int, float, str, list or dict. Raises InvalidJsonError."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = _DECODER.decode(text)
        # A lone surrogate can only come from an escape.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InvalidJsonError(f"byte {error.start} is not UTF-8") from None
    except UnicodeEncodeError:
        raise InvalidJsonError("a string holds half of a surrogate pair") from None
    except json.JSONDecodeError as error:
        raise InvalidJsonError(f"this is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidJsonError(_too_deep(max_depth)) from None
    except InvalidJsonError:
        raise
    except ValueError:
        raise InvalidJsonError("a number has more digits than are read") from None
    check_plain(value, max_depth=max_depth, max_values=max_values)
    return value


def write_json(value: Any) -> str:
    """Canonical compact JSON with sorted names: equal values give equal texts. Raises InvalidJsonError."""
    check_plain(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def dump_json(value: Any) -> str:
    """Compact JSON with names in the order of the value. Raises InvalidJsonError."""
    check_plain(value)
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        raise InvalidJsonError("a number has more digits than are written") from None


def check_plain(value: Any, *, max_depth: int = MAX_VALUE_DEPTH, max_values: int = MAX_VALUES) -> None:
    """Raises InvalidJsonError if `value` is not a JSON value, too deep or too large. Does not recurse."""
    for level in levels(value, max_depth, max_values):
        for item in level:
            kind = type(item)
            if kind is dict:
                _check_names(item)
            elif kind is float:
                if not math.isfinite(item):
                    raise InvalidJsonError(f"JSON has no form for the number {item}")
            elif kind not in _OTHERS:
                raise InvalidJsonError(f"JSON has no form for values of the type {kind.__name__}")


def levels(value: Any, max_depth: int = MAX_VALUE_DEPTH, max_values: int = MAX_VALUES) -> Iterator[list[Any]]:
    """[`value`], then all that its collections hold, and so on. Raises InvalidJsonError at a limit."""
    level, depth, count = [value], 0, 0
    while level:
        count += len(level)
        if depth > max_depth:
            raise InvalidJsonError(_too_deep(max_depth))
        if count > max_values:
            raise InvalidJsonError(f"there are more than {max_values:,} values")
        yield level
        holders = [item for item in level if type(item) not in _SCALARS and isinstance(item, _HOLDERS)]
        held = [one.values() if isinstance(one, _MAPPINGS) else one for one in holders if not isinstance(one, _TEXT)]
        level, depth = [*itertools.chain.from_iterable(held)], depth + 1


def _check_names(item: dict[Any, Any]) -> None:
    for name in item:
        if type(name) is not str:
            raise InvalidJsonError(f"the name {shown(name)} is not text")


# The ABCs come last: they take longer.
_MAPPINGS, _HOLDERS = (dict, Mapping), (dict, list, Collection)
_TEXT = (str, bytes, bytearray, memoryview)
_SCALARS = frozenset({*_TEXT, int, float, bool, type(None)})
_OTHERS = frozenset({str, int, bool, type(None), list})


def _too_deep(max_depth: int) -> str:
    return f"it is nested deeper than {max_depth} levels"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidJsonError(f"the name {shown(twice)} occurs twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise InvalidJsonError(f"JSON has no number {name}")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise InvalidJsonError(f"the number {shown(digits)} is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


def read_schema_text(text: str) -> Any:
    """The JSON value in a schema's text, within the limits for schemas. Raises InvalidSchemaError."""
    if len(text.encode(errors="replace")) > MAX_SCHEMA_BYTES:
        raise InvalidSchemaError([Problem("", f"the text has more than {MAX_SCHEMA_BYTES:,} bytes")])
    try:
        return read_json(text, max_depth=MAX_SCHEMA_DEPTH, max_values=MAX_SCHEMA_VALUES)
    except InvalidJsonError as error:
        raise InvalidSchemaError([Problem("", str(error))]) from None
