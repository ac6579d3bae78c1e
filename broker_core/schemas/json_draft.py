"""The drafts of JSON Schema, the locations of subschemas, and one form of all drafts to compare them in."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import jsonschema

_SINGLE = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "contains",
        "items",
        "additionalItems",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
_SAME_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
# What may evaluate properties and items besides the keywords for them.
_ALSO_EVALUATE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"})
_OPEN_BOUNDS = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}


class Draft(enum.IntEnum):
    """A draft, in the order of their years. The default is draft-07, as in other registries."""

    D4 = 2013
    D6 = 2017
    D7 = 2018
    D2019 = 2019
    D2020 = 2020

    @property
    def validator(self) -> Any:
        return _VALIDATORS[self]

    @property
    def id_keyword(self) -> str:
        return "id" if self is Draft.D4 else "$id"

    def counting(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The keywords that count: until draft-07, `$ref` disables all others."""
        if self <= Draft.D7 and "$ref" in schema:
            return {"$ref": schema["$ref"]}
        known = self.validator.VALIDATORS
        beside = {"if": "if", "then": "if", "else": "if", "minContains": "dependentRequired"}
        beside |= {"maxContains": "dependentRequired", "$defs": "$ref", "definitions": "$ref"}
        return {name: value for name, value in schema.items() if beside.get(name, name) in known}

    def form(self, schema: dict[str, Any]) -> dict[str, Any]:
        """`schema` in the keywords of 2020-12; its subschemas are as they were."""
        found = self.counting(schema)
        if self is Draft.D4:
            for bound, opened in _OPEN_BOUNDS.items():
                if schema.get(opened) is True and bound in found:
                    found[opened] = found.pop(bound)
        if self < Draft.D2020:
            items, more = found.pop("items", True), found.pop("additionalItems", True)
            if isinstance(items, list):
                found["prefixItems"], items = items, more
            found |= {"items": items} if items is not True else {}
        for name, asked in found.pop("dependencies", {}).items():
            keyword = "dependentRequired" if isinstance(asked, list) else "dependentSchemas"
            found[keyword] = {**found.get(keyword, {}), name: asked}
        for rest, keyword, more in (
            ("unevaluatedProperties", "additionalProperties", set()),
            ("unevaluatedItems", "items", {"contains"}),
        ):
            if keyword in found:
                found.pop(rest, None)  # nothing is left unevaluated
            elif rest in found and not (_ALSO_EVALUATE | more) & found.keys():
                found[keyword] = found[rest]
        return found

    def subschemas(self, schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any, bool]]:
        """(path, subschema, whether it applies to the same location of the document) of each direct subschema."""
        for keyword, value in self.counting(schema).items():
            here = keyword in _SAME_PLACE
            if keyword in _LISTED and isinstance(value, list):
                for index, inner in enumerate(value):
                    yield (keyword, index), inner, here
            elif keyword in _SINGLE and isinstance(value, dict | bool):
                yield (keyword,), value, here
            elif keyword in _NAMED and isinstance(value, dict):
                for name, inner in value.items():
                    if isinstance(inner, dict | bool):
                        yield (keyword, name), inner, here


_VALIDATORS = {
    Draft.D4: jsonschema.Draft4Validator,
    Draft.D6: jsonschema.Draft6Validator,
    Draft.D7: jsonschema.Draft7Validator,
    Draft.D2019: jsonschema.Draft201909Validator,
    Draft.D2020: jsonschema.Draft202012Validator,
}
#: By the URI without its scheme and fragment.
DRAFTS = {each.validator.META_SCHEMA.get("$schema").partition("://")[2].removesuffix("#"): each for each in Draft}


def path_of(ref: str) -> tuple[str, ...]:
    """The path of a reference into the same document. Raises KeyError for any other reference."""
    if not ref.startswith("#/") and ref != "#":
        raise KeyError(ref)
    parts = unquote(ref[2:]).split("/") if ref != "#" else []
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def local_target(document: Any, ref: str) -> Any:
    """The target schema of a reference into the same document. Raises KeyError if there is none."""
    found = document
    for name in path_of(ref):
        if isinstance(found, list):
            if not name.isascii() or not name.isdigit() or int(name) >= len(found):
                raise KeyError(ref)
            found = found[int(name)]
        elif isinstance(found, dict):
            found = found[name]
        else:
            raise KeyError(ref)
    if not isinstance(found, dict | bool):
        raise KeyError(ref)
    return found
