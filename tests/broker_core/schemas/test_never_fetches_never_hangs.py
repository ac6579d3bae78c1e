"""Promise 29: schemas never fetch and never hang. Work is counted, not timed; a hang would meet pytest's timeout."""

from __future__ import annotations

import json
import socket
from collections import UserDict, deque
from typing import Any

import numpy as np
import pytest

from broker_core.limits import MAX_SCHEMA_BYTES, MAX_SCHEMA_VALUES, MAX_VALIDATION_STEPS, MAX_VALUE_DEPTH
from broker_core.schemas import json_keywords
from broker_core.schemas.avro_schema import AvroSchema
from broker_core.schemas.json_keywords import WORK, Work
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.pattern import Pattern
from broker_core.schemas.problem import InvalidDataError, InvalidSchemaError, TooComplexError

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
TOO_MANY_STEPS = "checking this against the schema takes more steps than are allowed"

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Any attempt to connect or to look up a name is a failure."""

    def refuse(*args: Any, **more: Any) -> None:
        pytest.fail(f"a schema reached for the network: {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundredth of those that are allowed, so that it gives up sooner."""
    monkeypatch.setattr(json_keywords, "MAX_VALIDATION_STEPS", MAX_VALIDATION_STEPS // 100)


def schema(document: Any) -> JsonSchema:
    return JsonSchema(json.dumps(document))


def refusal(document: Any) -> str:
    with pytest.raises(InvalidSchemaError) as caught:
        schema(document)
    return str(caught.value)


@pytest.mark.parametrize("draft", [None, DRAFT_07])
@pytest.mark.parametrize(
    "ref",
    [
        "http://127.0.0.1:9/schema.json",
        "https://json-schema.org/draft/2020-12/schema",
        "file:///etc/passwd",
        "other.json",
        "other.json#/a",
        "#anchor",
        "urn:x",
    ],
)
def test_a_reference_out_of_the_text_is_refused_when_the_schema_is_read(draft, ref):
    inner = {"properties": {"a": {"items": {"$ref": ref}}}}
    said = refusal(inner if draft is None else {"$schema": draft, **inner})
    assert said.startswith("/properties/a/items/$ref: ") and "is not followed" in said


@pytest.mark.promise("29")
def test_a_remote_reference_is_refused_wherever_it_stands():
    remote = {"$ref": "http://127.0.0.1:9/x"}
    places = [
        {"allOf": [remote]},
        {"if": remote},
        {"$defs": {"unused": remote}},
        {"patternProperties": {"a": remote}},
        {"dependencies": {"a": remote}},
        {"propertyNames": remote},
        {"additionalProperties": remote},
        {"$ref": "#/hidden", "hidden": remote},
    ]
    for document in places:
        assert "is not followed" in refusal(document)


def test_ids_and_dialects_that_would_lead_elsewhere_are_refused_inside():
    assert "/properties/a/$id" in refusal({"properties": {"a": {"$id": "http://127.0.0.1:9/"}}})
    assert "/items/$schema" in refusal({"items": {"$schema": DRAFT_07}})
    assert "/$dynamicRef" in refusal({"$dynamicRef": "http://127.0.0.1:9/#x"})
    assert "dialect" in refusal({"$schema": "http://127.0.0.1:9/mine"})


def test_an_id_of_the_schema_itself_is_no_place_to_fetch_from():
    found = schema(
        {"$id": "http://127.0.0.1:9/", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "null"}}}
    )
    assert found.problems({"a": None}) == []
    assert [problem.pointer for problem in found.problems({"a": 1})] == ["/a"]


EVIL = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){20}$", "^([a-z]+)*$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]


@pytest.mark.promise("29")
@pytest.mark.parametrize("pattern", EVIL)
def test_an_evil_pattern_on_50_000_characters_is_bounded_work(pattern):
    text = "a" * 50_000 + "!"
    for document in (
        {"pattern": pattern},
        {"patternProperties": {pattern: {"type": "null"}}, "additionalProperties": False},
    ):
        found = schema(document)
        assert found.problems(text if "pattern" in document else {text: 1})
    # Linear: twice the text costs about twice the steps, and a fraction of what is allowed.
    steps = Pattern(pattern).steps(text)
    assert steps < MAX_VALIDATION_STEPS / 10
    assert Pattern(pattern).steps(text * 2) <= 2 * steps + 1


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "(?=a)b", "(?<!a)b", "((a{100}){100}){100}", "a{5000}", "[", "x" * 1_001]
)
def test_a_pattern_that_is_not_linear_or_too_large_is_refused(pattern):
    assert refusal({"items": {"pattern": pattern}}).startswith("/items/pattern: the pattern ")
    assert "/patternProperties/" in refusal({"patternProperties": {pattern: True}})


def test_patterns_cost_steps_so_that_many_of_them_end_too():
    expensive = [{"pattern": f"(?:a|b|ab|ba){{0,{count}}}c"} for count in range(900, 990)]
    problems = schema({"allOf": expensive}).problems("ab" * 200_000)
    assert [str(problem) for problem in problems] == [TOO_MANY_STEPS]


def test_ecma_escapes_mean_what_they_mean_in_javascript():
    assert schema({"pattern": r"^\u0041\cA\d\/$"}).problems("A\x015/") == []
    assert schema({"pattern": "^a$"}).problems("a\n") != []
    assert schema({"pattern": r"^\d$"}).problems("٣") != []
    assert schema({"pattern": r"^\p{L}+$"}).problems("é") == []


@pytest.mark.parametrize(
    "document",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}},
        {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"dependencies": {"x": {"$ref": "#"}}},
    ],
)
def test_references_without_an_end_are_refused(document):
    assert "endless loop" in refusal(document)


@pytest.mark.usefixtures("few_steps")
def test_a_schema_that_doubles_its_work_forty_times_gives_up():
    definitions: dict[str, Any] = {"d40": {"type": "integer"}}
    for level in range(40):
        definitions[f"d{level}"] = {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2}
    found = schema({"$ref": "#/$defs/d0", "$defs": definitions})
    assert [str(problem) for problem in found.problems(1)] == [TOO_MANY_STEPS]


@pytest.mark.usefixtures("few_steps")
def test_a_schema_that_doubles_with_the_depth_of_the_document_gives_up():
    found = schema({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]})
    document: dict[str, Any] = {}
    for _ in range(60):
        document = {"a": document}
    assert [str(problem) for problem in found.problems(document)] == [TOO_MANY_STEPS]


@pytest.mark.usefixtures("few_steps")
def test_messages_about_large_parts_are_paid_for():
    large = [["x" * 10] * 10] * 300
    problems = schema({"anyOf": [{"type": "string", "maxLength": count} for count in range(1_000)]}).problems(large)
    assert [str(problem) for problem in problems] == [TOO_MANY_STEPS]
    assert all(len(problem.message) <= 300 for problem in schema({"type": "null"}).problems(large))


def test_unique_items_are_not_compared_each_with_each():
    many = [{"a": place} for place in range(20_000)]
    assert schema({"uniqueItems": True}).problems(many) == []
    assert schema({"uniqueItems": True}).problems([*many, {"a": 0}]) != []


def test_every_check_costs_a_step():
    token = WORK.set(Work([1, 2], {}))
    try:
        WORK.get().charge(MAX_VALIDATION_STEPS)
        with pytest.raises(TooComplexError):
            WORK.get().charge(1)
    finally:
        WORK.reset(token)


@pytest.mark.parametrize("read", [JsonSchema, AvroSchema])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * (MAX_SCHEMA_BYTES + 1), "bytes"),
        (json.dumps({"enum": list(range(MAX_SCHEMA_VALUES))}), "values"),
        ("[" * 500 + "]" * 500, "deeper"),
        ("[" * 100_000, "deeper"),
        ('{"a": 1, "a": 2}', "twice"),
        ("{", "not JSON"),
        ("9" * 100_000, "digits"),
    ],
)
def test_a_text_out_of_bounds_is_no_schema(read, text, words):
    with pytest.raises(InvalidSchemaError, match=words):
        read(text)


def test_nested_avro_data_end_in_an_error_and_not_the_process():
    chain = AvroSchema(json.dumps({"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}))
    for levels in (101, 18_000, 500_000):
        with pytest.raises(InvalidDataError, match="nested deeper"):
            chain.decode(b"\x02" * levels + b"\x00")


@pytest.mark.parametrize("array", [list, deque, lambda items: dict(enumerate(items)).values()])
@pytest.mark.parametrize("record", [dict, UserDict])
def test_nested_values_of_any_type_that_fastavro_writes_end_in_an_error_and_not_the_process(array, record, monkeypatch):
    schema = AvroSchema('{"type":"record","name":"n","fields":[{"name":"inner","type":{"type":"array","items":"n"}}]}')
    value = record({"inner": array([])})
    assert schema.encode(value) == b"\0"
    for _ in range(MAX_VALUE_DEPTH):
        value = record({"inner": array([value])})
    monkeypatch.setattr("fastavro.schemaless_writer", lambda *_args, **_more: pytest.fail("fastavro was given it"))
    with pytest.raises(InvalidDataError, match="nested deeper"):
        schema.encode(value)


def test_a_text_is_one_value_of_any_type_and_what_holds_nothing_is_refused(monkeypatch):
    monkeypatch.setattr("broker_core.schemas.json_text.levels.__defaults__", (MAX_VALUE_DEPTH, 3))
    for schema, value in (("string", np.str_("many")), ("bytes", np.bytes_(b"many"))):
        assert AvroSchema(f'"{schema}"').encode(value) == b"\x08many"
    with pytest.raises(InvalidDataError, match="0-d array"):
        AvroSchema('"int"').encode(np.array(5))


def test_a_few_avro_bytes_cannot_claim_a_billion_values():
    empty = {"type": "record", "name": "E", "fields": [{"name": "a", "type": "null"}]}
    for items in ("null", empty, {"type": "fixed", "name": "F", "size": 0}):
        many = AvroSchema(json.dumps({"type": "array", "items": items}))
        with pytest.raises(InvalidDataError, match="more values"):
            many.decode(b"\xfe\xff\xff\xff\x0f\0")
        assert len(many.decode(b"\x06\0")) == 3
    doubling: Any = "null"
    for level in range(20):
        fields = [{"name": "a", "type": doubling}, {"name": "b", "type": f"L{level - 1}" if level else "null"}]
        doubling = {"type": "record", "name": f"L{level}", "fields": fields}
    with pytest.raises(InvalidDataError, match="more values"):
        AvroSchema(json.dumps(doubling)).decode(b"")


def test_an_avro_record_that_always_holds_itself_is_refused():
    one = {
        "type": "record",
        "name": "A",
        "fields": [{"name": "b", "type": {"type": "record", "name": "B", "fields": []}}],
    }
    one["fields"][0]["type"]["fields"] = [{"name": "a", "type": "A"}]  # type: ignore[index]
    with pytest.raises(InvalidSchemaError, match="always holds itself"):
        AvroSchema(json.dumps(one))
