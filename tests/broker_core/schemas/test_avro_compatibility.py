"""A18: which Avro schemas read what others wrote, checked against what fastavro does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings

from broker_core.schemas.avro_schema import AvroSchema
from broker_core.schemas.avro_types import PRIMITIVES
from broker_core.schemas.languages import cannot_read
from broker_core.schemas.problem import InvalidDataError, InvalidSchemaError
from tests.broker_core.schemas.avro_strategies import evolutions
from tests.long_form import examples


def schema(document: Any) -> AvroSchema:
    return AvroSchema(json.dumps(document))


def record(*fields: tuple[Any, ...], name: str = "R", **more: Any) -> dict[str, Any]:
    listed = [dict(zip(("name", "type", "default"), field, strict=False)) for field in fields]
    return {"type": "record", "name": name, "fields": listed, **more}


def colours(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Colour", "symbols": list(symbols), **more}


def fixed(size: int, name: str = "F") -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


LIST = record(("next", ["null", "R"]), ("value", "int"))
LIST_OF_LONG = record(("next", ["null", "R"]), ("value", "long"))
LIST_OF_TEXT = record(("next", ["null", "R"]), ("value", "string"))

READABLE = {
    "field with a default added": (record(("a", "int")), record(("a", "int"), ("b", "int", 0))),
    "field dropped": (record(("a", "int"), ("b", "int")), record(("a", "int"))),
    "fields in another order": (record(("a", "int"), ("b", "int")), record(("b", "int"), ("a", "int"))),
    "int as long": ("int", "long"),
    "long as double": ("long", "double"),
    "text as bytes": ("string", "bytes"),
    "made optional": ("int", ["null", "int"]),
    "symbol added": (colours("RED"), colours("RED", "BLUE")),
    "symbol dropped where there is a default": (colours("RED", "BLUE"), colours("RED", default="RED")),
    "renamed with an alias": (record(("a", "int"), name="Old"), record(("a", "int"), name="New", aliases=["Old"])),
    "another namespace": (record(("a", "int")), record(("a", "int"), namespace="elsewhere")),
    "union that had only what is read": (["int", "long"], "double"),
    "recursive, promoted": (LIST, LIST_OF_LONG),
    "same decimal": (decimal(9, 2), decimal(9, 2)),
}

UNREADABLE = {
    "field without a default added": (record(("a", "int")), record(("a", "int"), ("b", "int")), "/fields/1", '"b"'),
    "long as int": (record(("a", "long")), record(("a", "int")), "/fields/0/type", "as long"),
    "text as int": ("string", "int", "", "as string"),
    "no longer optional": (["null", "int"], "int", "", "as null"),
    "symbol dropped": (colours("RED", "BLUE"), colours("RED"), "/symbols", "BLUE"),
    "renamed without an alias": (record(name="Old"), record(name="New"), "", "record Old"),
    "fixed of another size": (fixed(4), fixed(5), "", "fixed F"),
    "items": ({"type": "array", "items": "string"}, {"type": "array", "items": "int"}, "/items", "as string"),
    "values": ({"type": "map", "values": "string"}, {"type": "map", "values": "int"}, "/values", "as string"),
    "inside a union": (
        ["null", record(("a", "string"))],
        ["null", record(("a", "int"))],
        "/1/fields/0/type",
        "as string",
    ),
    "recursive": (LIST, LIST_OF_TEXT, "/fields/1/type", "as int"),
    "decimal of another scale": (decimal(9, 2), decimal(9, 3), "", "precision and scale"),
}


@pytest.mark.parametrize("name", READABLE)
def test_what_the_specification_resolves_is_compatible(name):
    writer, reader = READABLE[name]
    assert cannot_read(schema(reader), schema(writer))[0] == []


# "Schema Resolution" of Avro's specification, by the writer's type; every type reads itself.
READ_AS = {
    "int": {"long", "float", "double"},
    "long": {"float", "double"},
    "float": {"double"},
    "string": {"bytes"},
    "bytes": {"string"},
}


@pytest.mark.parametrize("writer", PRIMITIVES)
@pytest.mark.parametrize("reader", PRIMITIVES)
def test_a_primitive_reads_what_the_specification_promotes_and_nothing_else(writer: str, reader: str):
    allowed = reader == writer or reader in READ_AS.get(writer, ())
    for wrapped in (lambda kind: kind, lambda kind: record(("a", kind))):
        assert (cannot_read(schema(wrapped(reader)), schema(wrapped(writer)))[0] == []) is allowed


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_incompatible_change_is_told_with_its_place(name):
    writer, reader, pointer, words = UNREADABLE[name]
    problems = cannot_read(schema(reader), schema(writer))[0]
    assert [problem.pointer for problem in problems] == [pointer]
    assert words in problems[0].message


def check_resolution(older: Any, newer: Any, values: list[Any]) -> None:
    try:
        writer, reader = schema(older), schema(newer)
    except InvalidSchemaError:
        assume(False)
    compatible = cannot_read(reader, writer)[0] == []
    event(f"compatible: {compatible}")
    for value in values:
        data = writer.encode(value)
        assert writer.decode(data) == value
        if compatible:
            # What comes out is a value of the reader's schema (a long that became a float may have lost digits).
            assert reader.problems_of_binary(reader.encode(writer.decode(data, reader=reader))) == []


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(evolutions())
def test_a_value_written_with_the_old_schema_is_read_with_a_new_one_that_passes(evolution):
    older, newer, values = evolution
    check_resolution(older, newer, values)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(evolutions())
def test_a_value_written_with_the_old_schema_is_read_with_a_new_one_at_length(evolution):
    older, newer, values = evolution
    check_resolution(older, newer, values)


def test_what_is_told_as_unreadable_is_what_fastavro_cannot_read():
    """Not for all: a union may hold only branches that both know. These are the plain ones."""
    values = {
        "field without a default added": {"a": 1},
        "text as int": "x",
        "no longer optional": None,
        "symbol dropped": "BLUE",
        "fixed of another size": b"abcd",
        "items": ["x"],
        "values": {"k": "x"},
    }
    for name, value in values.items():
        writer, reader = (schema(document) for document in UNREADABLE[name][:2])
        with pytest.raises(InvalidDataError):
            writer.decode(writer.encode(value), reader=reader)
