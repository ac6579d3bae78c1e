"""A18: a value that a schema refuses is refused with a pointer to the field."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from broker_core.schemas import json_keywords
from broker_core.schemas.avro_schema import AvroSchema
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.problem import InvalidDataError, InvalidSchemaError
from tests.broker_core.schemas.json_strategies import DOCUMENTS, schemas
from tests.long_form import examples

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "price": {"multipleOf": 0.01},
        "lines": {"type": "array", "items": {"type": "object", "required": ["sku"]}, "uniqueItems": True},
        "a/b~c": {"type": "null"},
    },
    "patternProperties": {"^x-": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}


def json_schema(document: Any) -> JsonSchema:
    return JsonSchema(json.dumps(document))


@pytest.mark.promise("A18")
@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        ({}, "/id", "required, and missing"),
        ({"id": "1"}, "/id", "not of type 'integer'"),
        ({"id": 0}, "/id", "less than the minimum of 1"),
        ({"id": 1, "price": 0.001}, "/price", "not a multiple of 0.01"),
        ({"id": 1, "lines": [{"sku": 1}, {}]}, "/lines/1/sku", "missing"),
        ({"id": 1, "lines": [{"sku": 1}, {"sku": 1.0}]}, "/lines", "equal items"),
        ({"id": 1, "x-note": 5}, "/x-note", "not of type 'string'"),
        ({"id": 1, "surprise": 5}, "/surprise", "no others are allowed"),
        ({"id": 1, "a/b~c": 5}, "/a~1b~0c", "not of type 'null'"),
        ([], "", "not of type 'object'"),
    ],
)
@pytest.mark.parametrize("draft", ["2020-12", "2019-09", "-07", "-06", "-04"])
def test_a_json_value_is_refused_with_a_pointer_to_the_field(draft, value, pointer, words):
    uri = f"http://json-schema.org/draft{'' if draft[0] == '-' else '/'}{draft}/schema"
    problems = json_schema({"$schema": uri, **ORDER}).problems(value)
    assert [problem.pointer for problem in problems] == [pointer]
    assert any(word in problems[0].message for word in words.split("|"))


def test_a_json_value_that_fits_has_no_problems():
    value = {"id": 1, "price": 0.07, "lines": [{"sku": True}, {"sku": 1}], "x-note": "hi", "a/b~c": None}
    assert json_schema(ORDER).problems(value) == []


def test_a_large_answer_is_cut():
    problems = json_schema({"items": {"type": "string"}}).problems(list(range(1_000)))
    assert len(problems) == 20


def test_the_best_alternative_is_the_one_that_is_told():
    cases = [{"type": "string"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]
    assert [str(problem) for problem in json_schema({"anyOf": cases}).problems({"n": "x"})] == [
        "/n: 'x' is not of type 'integer'"
    ]


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(schemas(), st.lists(DOCUMENTS, min_size=1, max_size=8))
def test_our_bounded_keywords_say_what_jsonschema_says(document, values):
    """Python's `re` and RE2 agree on the patterns of the strategy, so that the library is an oracle."""
    try:
        ours = json_schema(document)
    except InvalidSchemaError:
        assume(False)
    library = jsonschema.validators.validator_for(document, jsonschema.Draft7Validator)(document)
    for value in values:
        told = ours.problems(value) == []
        with contextlib.suppress(TypeError):  # it fails for `additionalItems` beside `items: true`
            assert told == library.is_valid(value)


def test_additional_items_count_beside_a_list_of_items_only():
    for items, more in (({}, []), (True, []), ([{"type": "null"}], ["/1"])):
        schema = json_schema({"items": items, "additionalItems": False})
        assert [each.pointer for each in schema.problems([None, 1])] == more


def test_validations_in_several_threads_do_not_share_their_allowance(monkeypatch: pytest.MonkeyPatch):
    """Each of these takes more than half of the steps that one validation is allowed."""
    found = json_schema({"type": "array", "items": {"type": "integer"}})
    monkeypatch.setattr(json_keywords, "MAX_VALIDATION_STEPS", 2_500)
    value = list(range(1_300))
    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(found.problems, [value] * 3)] == [[]] * 3


AVRO_ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "paid", "type": "boolean"},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "notes", "type": {"type": "map", "values": ["null", "string"]}},
        {"name": "when", "type": {"type": "int", "logicalType": "date"}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    ],
}
ID, PAID, RED, NO_TAGS, NO_NOTES, DAY, TOTAL = b"\x02", b"\x01", b"\x00", b"\x00", b"\x00", b"\x02", b"\x02\x05"


@pytest.mark.promise("A18")
@pytest.mark.parametrize(
    ("parts", "pointer", "words"),
    [
        ([b"\xff" * 11], "/id", "more than ten bytes"),
        ([b"\xff" * 9 + b"\x7f"], "/id", "64 bits"),
        ([ID, b"\x02"], "/paid", "neither 0 nor 1"),
        ([ID, PAID, b"\x04"], "/colour", "no symbol 2"),
        ([ID, PAID, b"\x01"], "/colour", "no symbol -1"),
        ([ID, PAID, RED, b"\x02\x02\xff\x00"], "/tags/0", "not UTF-8"),
        ([ID, PAID, RED, b"\x02\x01"], "/tags/0", "a length is negative"),
        ([ID, PAID, RED, b"\x04\x02a\x04b"], "/tags/1", "too early"),
        ([ID, PAID, RED, NO_TAGS, b"\x02\x02k\x04"], "/notes/k", "no branch 2"),
        ([ID, PAID, RED, NO_TAGS, NO_NOTES, b"\xfe\xff\xff\xff\xff\x01"], "/when", "32 bits"),
        ([ID, PAID, RED, NO_TAGS, NO_NOTES, DAY, TOTAL, b"!"], "", "after the end"),
        ([ID, PAID, RED, NO_TAGS, NO_NOTES, b"\xfe\xff\xff\xff\x0f", TOTAL], "", "Error"),
    ],
)
def test_avro_data_are_refused_with_a_pointer_to_the_field(parts, pointer, words):
    schema = AvroSchema(json.dumps(AVRO_ORDER))
    problems = schema.problems_of_binary(b"".join(parts))
    assert [problem.pointer for problem in problems] == [pointer]
    assert words in problems[0].message


def test_every_cut_and_every_flipped_bit_of_avro_data_is_read_or_refused():
    schema = AvroSchema(json.dumps(AVRO_ORDER))
    data = schema.encode(
        {
            "id": 7,
            "paid": True,
            "colour": "BLUE",
            "tags": ["a", "bc"],
            "notes": {"k": None},
            "when": 3,
            "total": Decimal("1.50"),
        }
    )
    assert schema.problems_of_binary(data) == []
    for cut in range(len(data)):
        assert schema.problems_of_binary(data[:cut])
    for place in range(len(data) * 8):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        if not schema.problems_of_binary(bytes(changed)):
            schema.decode(bytes(changed))


def test_a_value_of_a_union_comes_back_as_it_was():
    """fastavro alone writes bytes as a list of ints, and a large int as the float next to it."""
    union = AvroSchema(json.dumps([{"type": "array", "items": "int"}, "float", "double", "long", "bytes"]))
    for value in (b"abc", [97, 98], 2**62 + 1, 16_777_217, 0.1, -1):
        back = union.decode(union.encode(value))
        assert (back, type(back)) == (value, type(value))
    with pytest.raises(InvalidDataError):
        AvroSchema('["null", "string"]').encode(5)


AVRO_TEXTS = {
    "unknown name": ({"type": "record", "name": "x", "fields": [{"name": "a", "type": "Nope"}]}, "/fields/0/type"),
    "no type": (5, ""),
    "negative size": ({"type": "fixed", "name": "f", "size": -1}, "/size"),
    "size as a boolean": ({"type": "fixed", "name": "f", "size": True}, "/size"),
    "huge size": ({"type": "fixed", "name": "f", "size": 10**12}, "/size"),
    "no items": ({"type": "array"}, "/items"),
    "bad name": ({"type": "enum", "name": "a b", "symbols": ["x"]}, "/name"),
    "symbol twice": ({"type": "enum", "name": "e", "symbols": ["x", "x"]}, "/symbols"),
    "default no symbol": ({"type": "enum", "name": "e", "symbols": ["A"], "default": "B"}, "/default"),
    "branch twice": (["int", "int"], "/1"),
    "union in a union": ([["int"]], "/0"),
    "name of a primitive": ({"type": "fixed", "name": "int", "size": 2}, "/name"),
    "field twice": ({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}] * 2}, "/fields/1/name"),
    "wrong default": (
        {"type": "record", "name": "r", "fields": [{"name": "a", "type": "int", "default": "x"}]},
        "/fields/0/default",
    ),
    "no fields": ({"type": "record", "name": "r"}, "/fields"),
    "defined twice": (
        [{"type": "fixed", "name": "f", "size": 1}, {"type": "fixed", "name": "f", "size": 2}],
        "/1/name",
    ),
}


@pytest.mark.parametrize("name", AVRO_TEXTS)
def test_an_avro_schema_that_is_none_is_refused_with_its_place(name):
    document, pointer = AVRO_TEXTS[name]
    with pytest.raises(InvalidSchemaError) as caught:
        AvroSchema(json.dumps(document))
    assert pointer in {problem.pointer for problem in caught.value.problems}


@pytest.mark.parametrize("more", [{}, {"precision": 2, "scale": 3}, {"precision": "2"}, {"precision": 0}])
@pytest.mark.parametrize("kind", [{"type": "bytes"}, {"type": "fixed", "name": "f", "size": 1}])
def test_a_logical_type_that_is_wrong_is_ignored_as_specified(kind: dict[str, Any], more: dict[str, Any]):
    schema = AvroSchema(json.dumps({**kind, "logicalType": "decimal", **more}))
    assert schema.decode(schema.encode(b"a")) == b"a"


def test_as_for_java_a_schema_may_have_no_value_yet():
    documents: tuple[Any, ...] = ({"type": "enum", "name": "e", "symbols": []}, [])
    for document in documents:
        with pytest.raises(InvalidDataError):
            AvroSchema(json.dumps(document)).decode(b"\0")
    optional = {"type": "record", "name": "r", "fields": [{"name": "a", "type": []}]}
    nothing = AvroSchema(json.dumps({"type": "array", "items": optional}))
    assert nothing.decode(nothing.encode([])) == []


def test_fastavro_is_not_told_to_trust_a_text_that_says_it_was_parsed():
    text = json.dumps({"type": "record", "name": "r", "fields": [], "__fastavro_parsed": True, "__named_schemas": {}})
    assert AvroSchema(text).encode({}) == b""
