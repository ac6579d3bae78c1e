"""What `writing.py` writes is what `kio` reads, and would have written."""

from __future__ import annotations

import io
import random
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any
from uuid import UUID

import pytest
from kio.serial import entity_reader, entity_writer

from broker_core.kafka_messages.reading import Cursor, default_of, is_array, nested_in, types_in
from broker_core.kafka_messages.reading import _entity as entity
from broker_core.kafka_messages.schemas import load_request_schema, load_response_schema
from broker_core.kafka_messages.writing import Parts, writer
from broker_core.listeners.kafka import apis  # noqa: F401 - fills the table
from broker_core.listeners.kafka.call import TABLE

SOME: dict[str, Any] = {
    "string": ["", "ä" * 3, "x" * 127, "x" * 200], "bytes": [b"", b"x" * 20_000], "records": [b"", b"x" * 200],
    "uuid": [UUID(int=0), UUID(int=1 << 100)], "bool": [False, True], "int8": [-128, 127], "error_code": [0, 3, -1],
    "uint16": [0, 65_535], "int16": [-32_768, 32_767], "float64": [0.5],
}  # fmt: skip


def some_value(field: Any, chance: random.Random) -> Any:
    nested = next((part for part in types_in(field.type) if isinstance(part, type) and is_dataclass(part)), None)
    kafka_type = field.metadata.get("kafka_type", "")
    if types.NoneType in typing.get_args(field.type) and "tag" not in field.metadata and chance.random() < 0.3:
        return -1 if kafka_type == "datetime_i64" else None

    def one() -> Any:
        return chance.choice(SOME.get(kafka_type, [0, 7, 1 << 30])) if nested is None else some_body(nested, chance)

    return [one() for _ in range(chance.choice([0, 1, 2, 130 if nested is None else 3]))] if is_array(field) else one()


def some_body(schema: Any, chance: random.Random) -> dict[str, Any]:
    return {each.name: some_value(each, chance) for each in fields(schema) if chance.random() < 0.8}


NO_VALUE = {"uuid": UUID(int=0), "datetime_i64": -1}  # what is read of what is null


def meant(schema: Any, body: Any) -> dict[str, Any]:
    """What a body means, or what was read: what is not given, and a tagged field that is null, has its default."""

    def one(field: Any) -> Any:
        nested, default = nested_in(field), default_of(field)
        value: Any
        value = body.get(field.name, default) if isinstance(body, dict) else getattr(body, field.name)
        if value is None and "tag" in field.metadata:
            value = default
        elif isinstance(body, dict) and field.name not in body and nested is not None and value not in {None, ()}:
            value = {}
        if nested is not None and value is not None:
            return [meant(nested, each) for each in value] if is_array(field) else meant(nested, value)
        value = NO_VALUE.get(field.metadata.get("kafka_type", "")) if value is None else value
        return list(value) if is_array(field) and value is not None else value

    return {each.name: one(each) for each in fields(schema)}


@pytest.mark.parametrize("api", TABLE.values(), ids=lambda each: each.name)
def test_it_is_written_as_by_kio(api: Any):
    chance = random.Random(api.name)
    for version in {api.oldest, api.newest}:
        for schema in (load_request_schema(api.key, version), load_response_schema(api.key, version)):
            for body in ({}, *(some_body(schema, chance) for _ in range(60))):
                parts: Parts = []
                writer(schema)(body, parts)
                data = b"".join(parts)
                read, size = entity_reader(schema)(data, 0)
                again = io.BytesIO()
                entity_writer(schema)(again, read)
                assert (again.getvalue(), size) == (data, len(data)), (version, body)
                ours = entity(schema, schema)(Cursor(data, 0, 1_000_000))
                assert meant(schema, ours) == meant(schema, body), version


def test_what_no_version_has_is_a_mistake():
    api = next(each for each in TABLE.values() if each.name == "Heartbeat")
    with pytest.raises(TypeError, match="has no eror_code"):
        writer(load_response_schema(api.key, api.newest))({"eror_code": 0}, [])
