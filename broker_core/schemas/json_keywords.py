"""Validators of JSON documents with bounded work: jsonschema's keywords with a cost, some replaced by our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from broker_core.limits import MAX_VALIDATION_STEPS
from broker_core.schemas.json_draft import Draft
from broker_core.schemas.json_text import write_json
from broker_core.schemas.pattern import Pattern
from broker_core.schemas.problem import TooComplexError, shown

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Work:
    """The remaining work of a validation, the weights of the document's parts, and the compiled patterns."""

    __slots__ = ("_left", "_weights", "patterns")

    def __init__(self, document: Any, patterns: Mapping[str, Pattern]) -> None:
        self.patterns = patterns
        self._left = MAX_VALIDATION_STEPS
        self._weights = _weights(document)

    def charge(self, steps: int) -> None:
        """Subtract `steps`. Raises TooComplexError if no work is left."""
        self._left -= steps
        if self._left < 0:
            raise TooComplexError

    def weight(self, part: Any) -> int:
        """The cost of a check of `part`, which jsonschema formats into its messages."""
        if isinstance(part, str):
            return 1 + len(part) // 1_000
        return self._weights.get(id(part), 1)

    def finds(self, source: str, text: str) -> bool:
        pattern = self.patterns[source]
        self.charge(pattern.steps(text))
        return pattern.found_in(text)


WORK: ContextVar[Work] = ContextVar("work")  # of the running validation


def _weights(document: Any) -> dict[int, int]:
    """Weights of objects and lists by id: 1, plus 1 for each 64 values or 1,000 characters inside."""
    order: list[tuple[Any, int]] = [(document, -1)]
    for place, (part, _) in enumerate(order):  # grows during the iteration
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


def _additional_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`additionalItems` as in jsonschema, whose own implementation fails where `items` is true or false."""
    first = schema.get("items")
    if isinstance(instance, list) and isinstance(first, list):
        for index, item in enumerate(instance[len(first) :], len(first)):
            if value is False:
                yield ValidationError("the schema allows no further items", path=(index,))
                continue
            yield from validator.descend(item, value, path=index)


def _required(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in value:
            if name not in instance:
                yield ValidationError("it is required, and missing", path=(name,))


def _multiple_of(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, int | float) and not isinstance(instance, bool) and not is_multiple(instance, value):
        yield ValidationError(f"{shown(instance)} is not a multiple of {value}")


def is_multiple(number: float, of: float) -> bool:
    """Whether `number` is a multiple of `of` in exact decimal arithmetic: 0.3 is a multiple of 0.1."""
    return (Fraction(str(number)) / Fraction(str(of))).denominator == 1


def _unique_items(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if value and isinstance(instance, list):
        forms = {write_json(_comparable(item)) for item in instance}
        if len(forms) < len(instance):
            yield ValidationError("the list has equal items, and the schema allows none")


def _comparable(item: Any) -> Any:
    """`item` in a form that is equal for equal JSON values: 1 and 1.0 are equal, true and 1 are not."""
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if isinstance(item, list):
        return [_comparable(inner) for inner in item]
    return {name: _comparable(inner) for name, inner in item.items()} if isinstance(item, dict) else item


_OURS: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "additionalItems": _additional_items,
    "required": _required,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}


def _bounded(validator: Any) -> Any:
    return extend(validator, {name: _priced(_OURS.get(name, known)) for name, known in validator.VALIDATORS.items()})


#: Validators that charge the `Work` of their context.
VALIDATORS = {draft: _bounded(draft.validator) for draft in Draft}
