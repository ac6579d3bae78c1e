"""Every kind of change that Confluent's registry tells apart, in every draft that has its keywords, read both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest

from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.languages import cannot_read

D4, D6, D7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 6, 7))
D19, D20 = (f"https://json-schema.org/draft/{year}/schema" for year in ("2019-09", "2020-12"))
ALL, SINCE_6, SINCE_19 = (D4, D6, D7, D19, D20), (D6, D7, D19, D20), (D19, D20)
OLD = (D4, D6, D7, D19)  # a list of `items`, and `additionalItems`

TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
OPEN = {"type": "object", "properties": {"isbn": TEXT}}
CLOSED = {**OPEN, "additionalProperties": False}
PARTLY = {**OPEN, "additionalProperties": NUMBER}
UNEVALUATED = {**OPEN, "unevaluatedProperties": False}


def having(schema: dict[str, Any], required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    named = {**schema, "properties": {**schema["properties"], **properties}}
    return {**named, "required": list(required)} if required else named


def listed(*first: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": list(first), **more}


def tuple_of(*first: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "prefixItems": list(first), **more}


BOTH, WIDER, NARROWER, NEITHER = (True, True), (True, False), (False, True), (False, False)

# older, newer, (whether newer reads older, whether older reads newer), drafts
CHANGES: dict[str, tuple[Any, Any, tuple[bool, bool], tuple[str, ...]]] = {
    "words about it": ({"title": "a", "description": "b", "default": 1}, {"title": "c"}, BOTH, ALL),
    "type widened": (WHOLE, NUMBER, WIDER, ALL),
    "type added": (TEXT, {"type": ["string", "null"]}, WIDER, ALL),
    "type changed": (TEXT, WHOLE, NEITHER, ALL),
    "type gone": (TEXT, {}, WIDER, ALL),
    "most characters": ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 6}, WIDER, ALL),
    "least characters": ({"type": "string", "minLength": 5}, {"type": "string", "minLength": 4}, WIDER, ALL),
    "pattern gone": ({"type": "string", "pattern": "^[0-9]+$"}, TEXT, WIDER, ALL),
    "pattern changed": ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}, NEITHER, ALL),
    "maximum": ({"type": "number", "maximum": 5}, {"type": "number", "maximum": 6}, WIDER, ALL),
    "minimum gone": ({"type": "number", "minimum": 5}, NUMBER, WIDER, ALL),
    "open maximum": ({"exclusiveMaximum": 5}, {"exclusiveMaximum": 6}, WIDER, SINCE_6),
    "maximum that was open": ({"exclusiveMaximum": 5}, {"maximum": 5}, WIDER, SINCE_6),
    "maximum that was open, in draft-04": ({"maximum": 5, "exclusiveMaximum": True}, {"maximum": 5}, WIDER, (D4,)),
    "multiple of less": ({"type": "integer", "multipleOf": 6}, {"type": "integer", "multipleOf": 3}, WIDER, ALL),
    "multiple of a fraction": (
        {"type": "number", "multipleOf": 0.5},
        {"type": "number", "multipleOf": 0.1},
        WIDER,
        ALL,
    ),
    "multiple of another": ({"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}, NEITHER, ALL),
    "enum longer": ({"enum": ["new", "used"]}, {"enum": ["new", "used", "lost"]}, WIDER, ALL),
    "enum changed": ({"enum": ["new", "used"]}, {"enum": ["new", "lost"]}, NEITHER, ALL),
    "constant changed": ({"const": 1}, {"const": 2}, NEITHER, SINCE_6),
    "constant in an enum": ({"const": 1}, {"enum": [1, 2]}, WIDER, SINCE_6),
    "property of an open model": (OPEN, having(OPEN, price=NUMBER), NARROWER, ALL),
    "anything of an open model": (OPEN, having(OPEN, price={}), BOTH, ALL),
    "property of a closed model": (CLOSED, having(CLOSED, price=NUMBER), WIDER, ALL),
    "property that is covered": (PARTLY, having(PARTLY, price=NUMBER), BOTH, ALL),
    "property that is not covered": (PARTLY, having(PARTLY, price=TEXT), NEITHER, ALL),
    "property by a pattern": (
        {"patternProperties": {"^x-": TEXT}, "additionalProperties": False},
        {"patternProperties": {"^x-": TEXT}, "properties": {"x-a": TEXT}, "additionalProperties": False},
        BOTH,
        ALL,
    ),
    "property of an unevaluated model": (UNEVALUATED, having(UNEVALUATED, price=NUMBER), WIDER, SINCE_19),
    "model closed otherwise": (CLOSED, UNEVALUATED, BOTH, SINCE_19),
    "model opened": (CLOSED, OPEN, WIDER, ALL),
    "model opened in part": (CLOSED, PARTLY, WIDER, ALL),
    "unevaluated opened": (UNEVALUATED, {**OPEN, "unevaluatedProperties": NUMBER}, WIDER, SINCE_19),
    "property required": (having(OPEN, ("isbn",)), OPEN, WIDER, ALL),
    "property required that has a default": (OPEN, having(OPEN, ("isbn",), isbn={**TEXT, "default": ""}), BOTH, ALL),
    "required property with a default, closed": (
        CLOSED,
        having(CLOSED, ("price",), price={**NUMBER, "default": 0}),
        WIDER,
        ALL,
    ),
    "required property without one, closed": (CLOSED, having(CLOSED, ("price",), price=NUMBER), NEITHER, ALL),
    "required property of an open model": (OPEN, having(OPEN, ("x",), x={**NUMBER, "default": 0}), NARROWER, ALL),
    "most properties": ({"maxProperties": 2}, {"maxProperties": 3}, WIDER, ALL),
    "least properties": ({"minProperties": 2}, {"minProperties": 1}, WIDER, ALL),
    "names of properties": ({"propertyNames": {"maxLength": 2}}, {"propertyNames": {"maxLength": 3}}, WIDER, SINCE_6),
    "what a property requires": ({"dependencies": {"a": ["b", "c"]}}, {"dependencies": {"a": ["b"]}}, WIDER, ALL[:3]),
    "what a property requires, since 2019": (
        {"dependentRequired": {"a": ["b", "c"]}},
        {"dependentRequired": {"a": ["b"]}},
        WIDER,
        SINCE_19,
    ),
    "what a property demands": (
        {"dependencies": {"a": {"properties": {"b": WHOLE}}}},
        {"dependencies": {"a": {"properties": {"b": NUMBER}}}},
        WIDER,
        ALL[:3],
    ),
    "what a property demands, since 2019": (
        {"dependentSchemas": {"a": {"maxProperties": 2}}},
        {"dependentSchemas": {"a": {"maxProperties": 3}}},
        WIDER,
        SINCE_19,
    ),
    "items": ({"type": "array", "items": WHOLE}, {"type": "array", "items": NUMBER}, WIDER, ALL),
    "most items": ({"type": "array", "maxItems": 2}, {"type": "array", "maxItems": 3}, WIDER, ALL),
    "least items": ({"type": "array", "minItems": 2}, {"type": "array"}, WIDER, ALL),
    "equal items": ({"type": "array", "uniqueItems": True}, {"type": "array"}, WIDER, ALL),
    "item of a closed list": (
        listed(TEXT, additionalItems=False),
        listed(TEXT, WHOLE, additionalItems=False),
        WIDER,
        OLD,
    ),
    "item of an open list": (listed(TEXT), listed(TEXT, WHOLE), NARROWER, OLD),
    "item that is covered": (
        listed(TEXT, additionalItems=NUMBER),
        listed(TEXT, NUMBER, additionalItems=NUMBER),
        BOTH,
        OLD,
    ),
    "more items": (listed(TEXT, additionalItems=WHOLE), listed(TEXT, additionalItems=NUMBER), WIDER, OLD),
    "tuple, closed": (tuple_of(TEXT, items=False), tuple_of(TEXT, WHOLE, items=False), WIDER, (D20,)),
    "tuple, open": (tuple_of(TEXT), tuple_of(TEXT, WHOLE), NARROWER, (D20,)),
    "tuple, unevaluated": (
        tuple_of(TEXT, unevaluatedItems=False),
        tuple_of(TEXT, WHOLE, unevaluatedItems=False),
        WIDER,
        (D20,),
    ),
    "contained": ({"type": "array", "contains": WHOLE}, {"type": "array", "contains": NUMBER}, WIDER, SINCE_6),
    "contained less often": (
        {"type": "array", "contains": WHOLE, "minContains": 3},
        {"type": "array", "contains": WHOLE, "minContains": 2},
        WIDER,
        SINCE_19,
    ),
    "contained more often": (
        {"type": "array", "contains": WHOLE, "maxContains": 2},
        {"type": "array", "contains": WHOLE, "maxContains": 3},
        WIDER,
        SINCE_19,
    ),
    "contained in a short list": (
        {"type": "array", "contains": WHOLE, "maxItems": 2},
        {"type": "array", "contains": WHOLE, "maxContains": 2},
        WIDER,
        SINCE_19,
    ),
    "less forbidden": ({"not": NUMBER}, {"not": WHOLE}, WIDER, ALL),
    "alternative added": ({"anyOf": [TEXT]}, {"anyOf": [TEXT, WHOLE]}, WIDER, ALL),
    "alternatives in another order": ({"oneOf": [TEXT, WHOLE]}, {"oneOf": [WHOLE, TEXT]}, BOTH, ALL),
    "one of what was alone": (TEXT, {"oneOf": [TEXT, WHOLE]}, WIDER, ALL),
    "less together": ({"allOf": [TEXT, {"maxLength": 3}]}, {"allOf": [TEXT]}, WIDER, ALL),
    "condition": (
        {"if": {"type": "string"}, "then": {"maxLength": 3}, "else": WHOLE},
        {"type": ["string", "number"], "maxLength": 3},
        WIDER,
        (D7, D19, D20),
    ),
    "what stands beside a reference, while it does not count": (
        {"properties": {"a": {"$ref": "#/definitions/a", "maxLength": 1}}, "definitions": {"a": TEXT}},
        {"properties": {"a": {"$ref": "#/definitions/a", "maxLength": 2}}, "definitions": {"a": TEXT}},
        BOTH,
        (D4, D6, D7),
    ),
    "what stands beside a reference": (
        {"properties": {"a": {"$ref": "#/$defs/a", "maxLength": 1}}, "$defs": {"a": TEXT}},
        {"properties": {"a": {"$ref": "#/$defs/a", "maxLength": 2}}, "$defs": {"a": TEXT}},
        WIDER,
        SINCE_19,
    ),
    "what this draft does not know": ({"const": 1, "contains": TEXT}, {"const": 2, "if": TEXT}, BOTH, (D4,)),
    "tuples where they have another name": ({"prefixItems": [TEXT]}, {"prefixItems": [WHOLE]}, BOTH, OLD),
}


@pytest.mark.parametrize("name", CHANGES)
def test_promise_a_change_is_judged_as_its_draft_means_it(name: str):
    older, newer, expected, drafts = CHANGES[name]
    for draft in drafts:
        before, after = (JsonSchema(json.dumps({"$schema": draft, **each})) for each in (older, newer))
        found = tuple(cannot_read(*pair)[0] == [] for pair in ((after, before), (before, after)))
        assert found == expected, draft


def test_without_a_draft_it_is_draft_07():
    plain, told = (
        JsonSchema(json.dumps({**each, **listed(TEXT, additionalItems=False)})) for each in ({}, {"$schema": D7})
    )
    assert plain.draft is told.draft
    for value in (["a"], ["a", 1], [1]):
        assert plain.problems(value) == told.problems(value)
    assert plain.problems(["a"]) == [] != plain.problems(["a", 1])


def test_drafts_read_each_other():
    for old in OLD:
        before = JsonSchema(json.dumps({"$schema": old, **listed(TEXT, additionalItems=False)}))
        after = JsonSchema(json.dumps({"$schema": D20, **tuple_of(TEXT, WHOLE, items=False)}))
        assert cannot_read(after, before)[0] == []
        assert [each.pointer for each in cannot_read(before, after)[0]] == ["/additionalItems"]


def test_a_number_without_a_fraction_is_a_whole_one_but_in_draft_04():
    of_4, of_6 = (JsonSchema(json.dumps({"$schema": draft, **WHOLE})) for draft in (D4, D6))
    assert of_4.problems(1.0) != [] == of_6.problems(1.0)
    assert cannot_read(of_6, of_4)[0] == []
    assert [each.pointer for each in cannot_read(of_4, of_6)[0]] == ["/type"]


@pytest.mark.parametrize(
    ("draft", "broken"),
    [
        (D4, {"exclusiveMaximum": 5}),
        (D4, {"items": True}),
        (D6, {"exclusiveMaximum": True}),
        (D7, {"if": 5}),
        (D19, {"dependentRequired": []}),
        (D20, {"items": [TEXT]}),
    ],
)
def test_a_schema_is_read_as_its_draft_says(draft: str, broken: dict[str, Any]):
    with pytest.raises(ValueError, match="/"):
        JsonSchema(json.dumps({"$schema": draft, **broken}))
    with pytest.raises(ValueError, match="the dialect"):
        JsonSchema(json.dumps({"$schema": f"{draft[:-3]}x", **TEXT}))
