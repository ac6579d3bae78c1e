"""The supported drafts of JSON Schema, and the locations of subschemas."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

DRAFT_URIS = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "https://json-schema.org/draft-07/schema": "draft-07",
}

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


class Draft(enum.Enum):
    """A draft. The default is 2020-12."""

    D7 = "draft-07"
    D2020 = "2020-12"

    def keywords(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The effective keywords of `schema`: in draft-07, `$ref` disables all others."""
        if self is Draft.D7 and "$ref" in schema:
            return {"$ref": schema["$ref"]}
        return schema

    def subschemas(self, schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any, bool]]:
        """(path, subschema, whether it applies to the same location of the document) of each direct subschema."""
        for keyword, value in self.keywords(schema).items():
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
