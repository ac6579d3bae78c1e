"""A18: whether one JSON Schema accepts all that another accepts; "compatible" must be true, and usual changes known."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from broker_core.limits import MAX_COMPARISON_STEPS
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.languages import cannot_read
from broker_core.schemas.problem import InvalidSchemaError
from tests.broker_core.schemas.json_strategies import DOCUMENTS, pairs
from tests.long_form import both, examples, form

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}


DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def schema(document: Any, draft: str = DRAFT_2020) -> JsonSchema:
    return JsonSchema(json.dumps({"$schema": draft, **document} if isinstance(document, dict) else document))


def thing(properties: dict[str, Any], required: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def tagged(tag: str, **properties: Any) -> dict[str, Any]:
    return thing({"kind": {"const": tag}, **properties}, ("kind",))


def tree(**value: Any) -> dict[str, Any]:
    node = thing({"value": value, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, ("value",))
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


READABLE = {
    "nothing changed": (thing({"a": TEXT}), thing({"a": TEXT})),
    "property added to a closed content model": (
        thing({"a": TEXT}, additionalProperties=False),
        thing({"a": TEXT, "b": TEXT}, additionalProperties=False),
    ),
    "property taken out of an open content model": (thing({"a": TEXT, "b": TEXT}), thing({"a": TEXT})),
    "property no longer required": (thing({"a": TEXT}, ("a",)), thing({"a": TEXT})),
    "integer widened to number": (thing({"a": INTEGER}), thing({"a": NUMBER})),
    "enum extended": ({"enum": ["a", "b"]}, {"enum": ["a", "b", "c"]}),
    "maximum raised": ({"type": "integer", "maximum": 5}, {"type": "integer", "maximum": 6}),
    "exclusive to inclusive": ({"exclusiveMinimum": 5}, {"minimum": 5}),
    "types to alternatives": ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
    "alternatives to types": ({"anyOf": [TEXT, INTEGER]}, {"type": ["string", "integer"]}),
    "alternative added, told apart by a constant": (
        {"oneOf": [tagged("a", x=INTEGER), tagged("b")]},
        {"oneOf": [tagged("a", x=INTEGER), tagged("b"), tagged("c")]},
    ),
    "recursive, requirement dropped": (tree(type="integer"), tree(type="number")),
    "tuple to list": (
        {"type": "array", "prefixItems": [TEXT, INTEGER], "items": False},
        {"type": "array", "items": {"type": ["string", "integer"]}},
    ),
    "condition opened up": (
        {"if": TEXT, "then": {"maxLength": 3}, "else": INTEGER},
        {"type": ["string", "integer"], "maxLength": 3},
    ),
    "draft-07 items to 2020-12": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [TEXT],
            "additionalItems": False,
        },
        {"type": "array", "items": TEXT},
    ),
}

UNREADABLE = {
    "property added to an open content model": (
        thing({"a": TEXT}),
        thing({"a": TEXT, "b": TEXT}),
        "/properties/b",
        "with anything",
    ),
    "property taken out of a closed content model": (
        thing({"a": TEXT, "b": TEXT}, additionalProperties=False),
        thing({"a": TEXT}, additionalProperties=False),
        "/additionalProperties",
        '"b"',
    ),
    "content model closed": (
        thing({}),
        thing({}, additionalProperties=False),
        "/additionalProperties",
        "other properties",
    ),
    "property required": (thing({"a": TEXT}), thing({"a": TEXT}, ("a",)), "/required", '"a" is required'),
    "number narrowed to integer": (thing({"a": NUMBER}), thing({"a": INTEGER}), "/properties/a/type", "number"),
    "enum shortened": ({"enum": ["a", "b"]}, {"enum": ["a"]}, "", 'value "b"'),
    "minimum raised": ({"type": "integer", "minimum": 5}, {"type": "integer", "minimum": 6}, "/minimum", "below 6"),
    "texts shortened": (TEXT, {"type": "string", "maxLength": 9}, "/maxLength", "more characters than 9"),
    "pattern added": (TEXT, {"type": "string", "pattern": "^a"}, "/pattern", "do not match"),
    "alternative gone": ({"oneOf": [tagged("a"), tagged("b")]}, {"oneOf": [tagged("a")]}, "/oneOf", "no alternative"),
    "alternatives that overlap": (TEXT, {"oneOf": [TEXT, {"maxLength": 3}]}, "/oneOf/1", "only one must"),
    "recursive, type changed": (
        tree(type="integer"),
        tree(type="string"),
        "/$defs/node/properties/value/type",
        "integer",
    ),
    "a case that anything fits": ({"anyOf": [True]}, TEXT, "/type", "is not accepted"),
}


@pytest.mark.parametrize("name", READABLE)
def test_a_reader_that_accepts_all_that_was_written_is_compatible(name):
    writer, reader = READABLE[name]
    assert cannot_read(schema(reader), schema(writer))[0] == []


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_incompatible_change_is_told_with_its_place(name):
    writer, reader, pointer, words = UNREADABLE[name]
    problems = cannot_read(schema(reader), schema(writer))[0]
    assert pointer in {problem.pointer for problem in problems}
    assert any(words in problem.message for problem in problems)


def check_containment(older: Any, newer: Any, documents: list[Any]) -> None:
    try:
        writer, reader = schema(older), schema(newer)
    except InvalidSchemaError:
        assume(False)
    for new, old in ((reader, writer), (writer, reader)):
        compatible = cannot_read(new, old)[0] == []
        event(f"compatible: {compatible}")
        if compatible:
            for document in documents:
                if not old.problems(document):
                    assert new.problems(document) == [], (old.text, new.text, document)


@settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs(), st.lists(DOCUMENTS, min_size=10, max_size=20))
def test_what_passes_as_compatible_reads_every_document(pair, documents):
    older, newer = pair
    check_containment(older, newer, documents)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs(), st.lists(DOCUMENTS, min_size=20, max_size=30))
def test_what_passes_as_compatible_reads_every_document_at_length(pair, documents):
    older, newer = pair
    check_containment(older, newer, documents)


@both
def test_a_comparison_that_would_never_end_gives_up_and_says_so():
    cases = [{"anyOf": [{"minimum": level}, {"maximum": -level}, {"multipleOf": level + 2}]} for level in range(20)]
    reader, writer = schema({"type": "number", "minimum": 1_000}), schema({"type": "number", "allOf": cases})
    problems, _ = cannot_read(reader, writer, form(1_000, MAX_COMPARISON_STEPS))
    assert [str(problem) for problem in problems] == ["the two schemas are too complex to be compared"]
