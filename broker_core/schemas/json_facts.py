from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import chain, product
from typing import Any

from broker_core.schemas.json_draft import local_target
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.json_text import write_json

Schemas = tuple[Any, ...]  # a conjunction

KINDS = frozenset({"null", "boolean", "integer", "fraction", "string", "array", "object"})  # disjoint
_KINDS_OF_TYPE = {"number": frozenset({"integer", "fraction"})}


def kinds_of(schema: dict[str, Any]) -> frozenset[str]:
    """The kinds allowed by `type`; a number is an integer or a fraction."""
    types = schema.get("type")
    if types is None:
        return KINDS
    listed = [types] if isinstance(types, str) else types
    return frozenset(chain.from_iterable(_KINDS_OF_TYPE.get(name, frozenset({name})) for name in listed))


def value_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if value == int(value) else "fraction"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


class SchemaFacts:
    """A conjunction of subschemas of `schema`, with references and `allOf` expanded."""

    def __init__(self, schema: JsonSchema, together: Schemas) -> None:
        self.schema = schema
        self.together = together
        self.parts: list[dict[str, Any]] = []
        self.nothing = False  # whether no document is accepted
        waiting, seen = list(together), set()
        while waiting:
            part = waiting.pop()
            if part is False:
                self.nothing = True
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            form = schema.modern(part)
            if "$ref" in form:
                waiting.append(local_target(schema.document, form["$ref"]))
            self.parts.append(form)
            waiting.extend(form.get("allOf", ()))
        self.kinds = KINDS
        for part in self.parts:
            self.kinds &= kinds_of(part)
        for value in self._finite_sets():
            self.kinds &= {value_type(item) for item in value}
        self.required = frozenset(chain.from_iterable(part.get("required", ()) for part in self.parts))
        self.nothing = self.nothing or not self.kinds

    def _finite_sets(self) -> Iterator[list[Any]]:
        for part in self.parts:
            if "const" in part:
                yield [part["const"]]
            if "enum" in part:
                yield part["enum"]

    def values(self) -> list[Any] | None:
        """All accepted documents where they are finitely many, otherwise None."""
        smallest = min(self._finite_sets(), key=len, default=None)
        if smallest is None:
            if not self.kinds <= {"null", "boolean"}:
                return None
            smallest = [None, True, False]
        return [item for item in smallest if all(self.schema.accepts(item, part) for part in self.together)]

    def tightest(self, keyword: str, *, highest: bool) -> Any:
        """The strictest value of a bound, or None."""
        found = [part[keyword] for part in self.parts if keyword in part]
        return (max if highest else min)(found) if found else None

    def says(self, keyword: str, value: Any) -> bool:
        return any(keyword in part and part[keyword] == value for part in self.parts)

    def multiples(self) -> list[Fraction]:
        """Numbers of which all accepted numbers are multiples."""
        found = [Fraction(str(part["multipleOf"])) for part in self.parts if "multipleOf" in part]
        return [*found, Fraction(1)] if "fraction" not in self.kinds else found

    # -- properties

    def property_names(self) -> set[str]:
        return set(chain.from_iterable(part.get("properties", {}) for part in self.parts))

    def patterns(self) -> set[str]:
        return set(chain.from_iterable(part.get("patternProperties", {}) for part in self.parts))

    def of_property(self, name: str) -> Schemas:
        """The schemas of the property `name`, if it is present."""
        return tuple(chain.from_iterable(self.schemas_for(part, name) for part in self.parts))

    def schemas_for(self, part: dict[str, Any], name: str) -> list[Any]:
        found = [part["properties"][name]] if name in part.get("properties", {}) else []
        found += [
            inner for source, inner in part.get("patternProperties", {}).items() if self.schema.finds(source, name)
        ]
        return found or [part.get("additionalProperties", True)]

    def of_other_properties(self, matching: str | None, besides: Collection[str]) -> Iterator[Schemas]:
        """The possible conjunctions for properties that no part names, that match `matching` and none of `besides`."""
        choices: list[list[Any]] = []
        for part in self.parts:
            patterns = part.get("patternProperties", {})
            if matching in patterns:
                choices.append([patterns[matching]])
            else:
                others = [inner for source, inner in patterns.items() if source not in besides]
                choices.append([part.get("additionalProperties", True), *others])
        return product(*choices)

    def cannot_have(self, name: str) -> bool:
        return False in self.of_property(name)

    # -- items

    def item(self, index: int) -> Schemas:
        """The schemas of the item at `index`, if it is present."""
        found = [items_of(part) for part in self.parts]
        return tuple(first[index] if index < len(first) else rest for first, rest in found)

    def first_items(self) -> int:
        return max((len(items_of(part)[0]) for part in self.parts), default=0)


def items_of(part: dict[str, Any]) -> tuple[list[Any], Any]:
    """(schemas of the first items, schema of the rest)."""
    return part.get("prefixItems", []), part.get("items", True)


def same(first: JsonSchema, one: Any, second: JsonSchema, other: Any) -> bool:
    """Whether two parts of two schemas are equal, including their references."""
    if first.draft is not second.draft:
        return False
    waiting, seen = [(one, other)], set()
    while waiting:
        here, there = waiting.pop()
        if write_json(here) != write_json(there):
            return False
        for ref in _refs(here):
            if ref not in seen:
                seen.add(ref)
                try:
                    waiting.append((local_target(first.document, ref), local_target(second.document, ref)))
                except KeyError:
                    return False
    return True


def _refs(part: Any) -> Iterator[str]:
    waiting = [part]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if isinstance(found.get("$ref"), str):
                yield found["$ref"]
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
