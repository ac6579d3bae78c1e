"""The validation of JSON documents: jsonschema's keywords, each with a price, and ours where its time is unbounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from broker_core.limits import MAX_VALIDATION_STEPS
from broker_core.schemas.json_draft import Draft
from broker_core.schemas.json_text import write_json
from broker_core.schemas.pattern import Pattern
from broker_core.schemas.problem import TooComplexError, shown

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Work:
    """What one validation may still cost, what its parts weigh, and the schema's compiled patterns."""

    __slots__ = ("_left", "_weights", "patterns")

    def __init__(self, document: Any, patterns: Mapping[str, Pattern]) -> None:
        self.patterns = patterns
        self._left = MAX_VALIDATION_STEPS
        self._weights = _weights(document)

    def charge(self, steps: int) -> None:
        """Raises TooComplexError where nothing is left."""
        self._left -= steps
        if self._left < 0:
            raise TooComplexError

    def weight(self, part: Any) -> int:
        """The price of one look at `part`: jsonschema writes it into its messages, wanted or not."""
        if isinstance(part, str):
            return 1 + len(part) // 1_000
        return self._weights.get(id(part), 1)

    def finds(self, source: str, text: str) -> bool:
        """Whether the pattern is found in `text`."""
        pattern = self.patterns[source]
        self.charge(pattern.steps(text))
        return pattern.found_in(text)


WORK: ContextVar[Work] = ContextVar("work")  # of the validation that runs in this thread


def _weights(document: Any) -> dict[int, int]:
    """For each object and list by its id: 1, and 1 more for each 64 values or 1,000 characters in it."""
    order: list[tuple[Any, int]] = [(document, -1)]
    for place, (part, _) in enumerate(order):  # grows while it is walked
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        order.extend((item, place) for item in inner)
    sizes = [len(part) // 16 + 1 if isinstance(part, str) else 1 for part, _ in order]
    weights: dict[int, int] = {}
    for place in range(len(order) - 1, -1, -1):
        part, parent = order[place]
        if parent >= 0:
            sizes[parent] += sizes[place]
        if isinstance(part, dict | list):
            weights[id(part)] = 1 + sizes[place] // 64
    return weights


def _priced(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        work = WORK.get()
        many = len(value) // 16 if isinstance(value, dict | list) else 0
        work.charge(work.weight(instance) + many)
        return keyword(validator, value, instance, schema)

    return check


def _pattern(_validator: Any, source: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not WORK.get().finds(source, instance):
        yield ValidationError(f"{shown(instance)} does not match the pattern {shown(source)}")


def _pattern_properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        finds = WORK.get().finds
        for source, subschema in value.items():
            for name, part in instance.items():
                if finds(source, name):
                    yield from validator.descend(part, subschema, path=name, schema_path=source)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        finds = WORK.get().finds
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, part in instance.items():
            if name in known or any(finds(source, name) for source in patterns):
                continue
            if value is False:
                message = f"{shown(name)} is not a property of the schema, and no others are allowed"
                yield ValidationError(message, path=(name,))
            else:
                yield from validator.descend(part, value, path=name)


def _required(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in value:
            if name not in instance:
                yield ValidationError("it is required, and missing", path=(name,))


def _multiple_of(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, int | float) and not isinstance(instance, bool) and not is_multiple(instance, value):
        yield ValidationError(f"{shown(instance)} is not a multiple of {value}")


def is_multiple(number: float, of: float) -> bool:
    """Exactly, of what the digits say: 0.3 is a multiple of 0.1."""
    return (Fraction(str(number)) / Fraction(str(of))).denominator == 1


def _unique_items(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if value and isinstance(instance, list):
        forms = {write_json(_comparable(item)) for item in instance}
        if len(forms) < len(instance):
            yield ValidationError("the list has equal items, and the schema allows none")


def _comparable(item: Any) -> Any:
    """1 and 1.0 are equal in JSON; true and 1 are not."""
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if isinstance(item, list):
        return [_comparable(inner) for inner in item]
    return {name: _comparable(inner) for name, inner in item.items()} if isinstance(item, dict) else item


_OURS: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}


def _bounded(validator: Any) -> Any:
    return extend(validator, {name: _priced(_OURS.get(name, known)) for name, known in validator.VALIDATORS.items()})


#: Validators that work within the `Work` of their context.
VALIDATORS = {Draft.D7: _bounded(jsonschema.Draft7Validator), Draft.D2020: _bounded(jsonschema.Draft202012Validator)}
